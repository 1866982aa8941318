/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: bandwidth of windows of nonblocking puts after a step of the
 * device, a quiet after each window, made by the device's stream or by the
 * program; a MB is 10^6 bytes.  A window longer than the buffers wraps. */
#include "osu_stream.h"

#include <shmem.h>

static char src[OSU_BW_BYTES] __attribute__((aligned(4096)));
static char dst[OSU_BW_BYTES] __attribute__((aligned(4096)));

static void by_host(struct osu *o, size_t n)
{
    const size_t last = OSU_BW_BYTES - OSU_GUARD - n;
    size_t at = 0;

    osu_stream_sync(o);
    for (int i = 0; i < OSU_BW_WINDOW; i++) {
        shmem_putmem_nbi(o->dst + at, o->src + at, n, 1);
        at = at + n <= last ? at + n : 0;
    }
    shmem_quiet();
}

static void by_stream(struct osu *o, size_t n)
{
    const size_t last = OSU_BW_BYTES - OSU_GUARD - n;
    shmemx_stream_t s = o->stream->at;
    size_t at = 0;

    for (int i = 0; i < OSU_BW_WINDOW; i++) {
        osu_notified(o, shmemx_putmem_nbi_on_stream(o->dst + at, o->src + at, n,
                                                    1,
                                                s));
        at = at + n <= last ? at + n : 0;
    }
    osu_notified(o, shmemx_quiet_on_stream(s));
}

static void step(struct osu *o, size_t n)
{
    osu_work(o);
    (osu_by_host(o) ? by_host : by_stream)(o, n);
}

static const struct osu_prog prog = {
    .name = "osu_oshm_put_bw_on_stream",
    .title = "OSU OpenSHMEM Put Bandwidth on Stream Test",
    .kind = OSU_BANDWIDTH,
    .src = src,
    .dst = dst,
    .bytes = OSU_BW_BYTES,
    .on_stream = true,
    .step = step,
};

int main(int argc, char **argv)
{
    return osu_copies(&prog, osu_steps_us, osu_step_once, argc, argv);
}
