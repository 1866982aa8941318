/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: time of a step of the device and a get, made by the device's
 * stream or by the program. */
#include "osu_stream.h"

#include <shmem.h>

static char src[OSU_LAT_BYTES] __attribute__((aligned(4096)));
static char dst[OSU_LAT_BYTES] __attribute__((aligned(4096)));

static void step(struct osu *o, size_t n)
{
    osu_work(o);
    if (osu_by_host(o)) {
        osu_stream_sync(o);
        shmem_getmem(o->dst, o->src, n, 1);
    } else {
        osu_notified(o, shmemx_getmem_on_stream(o->dst, o->src, n, 1,
                                            o->stream->at));
    }
}

static const struct osu_prog prog = {
    .name = "osu_oshm_get_on_stream",
    .title = "OSU OpenSHMEM Get on Stream Test",
    .kind = OSU_LATENCY,
    .is_get = true,
    .src = src,
    .dst = dst,
    .bytes = OSU_LAT_BYTES,
    .on_stream = true,
    .step = step,
};

int main(int argc, char **argv)
{
    return osu_copies(&prog, osu_steps_us, osu_step_once, argc, argv);
}
