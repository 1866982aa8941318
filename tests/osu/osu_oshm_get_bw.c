/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: bandwidth of windows of nonblocking gets, a quiet after each
 * window; a MB is 10^6 bytes.  A window longer than the buffers wraps. */
#include "osu.h"

#include <shmem.h>

static char src[OSU_BW_BYTES] __attribute__((aligned(4096)));
static char dst[OSU_BW_BYTES] __attribute__((aligned(4096)));

static const struct osu_prog prog = {
    .name = "osu_oshm_get_bw",
    .title = "OSU OpenSHMEM Get Bandwidth Test",
    .kind = OSU_BANDWIDTH,
    .is_get = true,
    .src = src,
    .dst = dst,
    .bytes = OSU_BW_BYTES,
};

static inline void window(struct osu *o, size_t n)
{
    const size_t last = OSU_BW_BYTES - OSU_GUARD - n;
    size_t at = 0;

    for (int i = 0; i < OSU_BW_WINDOW; i++) {
        shmem_getmem_nbi(o->dst + at, o->src + at, n, 1);
        at = at + n <= last ? at + n : 0;
    }
    shmem_quiet();
}

static double windows_us(struct osu *o, size_t n)
{
    double start = 0;

    for (int i = -o->skip; i < o->iters; i++) {
        if (i == 0)
            start = osu_now();
        window(o, n);
    }
    return osu_now() - start;
}

int main(int argc, char **argv)
{
    return osu_copies(&prog, windows_us, window, argc, argv);
}
