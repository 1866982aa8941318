/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: time of a nonblocking put and a quiet. */
#include "osu.h"

#include <shmem.h>

static char src[OSU_LAT_BYTES] __attribute__((aligned(4096)));
static char dst[OSU_LAT_BYTES] __attribute__((aligned(4096)));

static const struct osu_prog prog = {
    .name = "osu_oshm_put_nb",
    .title = "OSU OpenSHMEM Put_nbi Test",
    .kind = OSU_LATENCY,
    .is_get = false,
    .src = src,
    .dst = dst,
    .bytes = OSU_LAT_BYTES,
};

static inline void once(struct osu *o, size_t n)
{
    shmem_putmem_nbi(o->dst, o->src, n, 1);
    shmem_quiet();
}

static double once_us(struct osu *o, size_t n)
{
    double start = 0;

    for (int i = -o->skip; i < o->iters; i++) {
        if (i == 0)
            start = osu_now();          /* rounds below zero warm the path */
        once(o, n);
    }
    return (osu_now() - start) / o->iters;
}

int main(int argc, char **argv)
{
    return osu_copies(&prog, once_us, once, argc, argv);
}
