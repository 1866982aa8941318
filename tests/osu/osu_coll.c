/* SPDX-License-Identifier: BSD-3-Clause */
/* osu_coll.c - what the programs of collectives share: each call is timed on
 * every PE, the barrier after it is not, as OSU does.  The calls over active
 * sets are used, since all libraries have them. */
#include "osu.h"

#include <shmem.h>
#include <stdio.h>

/* In turns, so that a fast PE does not come back to one still in use. */
static long sync_arrays[2][SHMEM_COLLECT_SYNC_SIZE + SHMEM_REDUCE_SYNC_SIZE +
                           SHMEM_BCAST_SYNC_SIZE];

static double mean_us(struct osu *o, size_t n, osu_coll_op *op)
{
    double sum = 0, start;

    for (int i = -o->skip; i < o->iters; i++) {
        start = osu_now();
        op(o, n, sync_arrays[i & 1]);
        if (i >= 0)
            sum += osu_now() - start;
        shmem_barrier_all();
    }
    return sum / o->iters;
}

/* Once on bytes that tell PE and place. */
static int check_once(struct osu *o, size_t n, osu_coll_op *op,
                      osu_coll_check *wrong)
{
    uint32_t *src = (uint32_t *)(void *)o->src;

    for (size_t i = 0; i < n / 4; i++)
        src[i] = osu_coll_word(o->pe, i);
    for (size_t i = 0; i < n * (size_t)o->npes; i++)
        o->dst[i] = 0;
    shmem_barrier_all();
    op(o, n, sync_arrays[0]);
    shmem_barrier_all();
    return wrong(o, n);
}

int osu_collective(const struct osu_prog *prog, osu_coll_op *op,
                  osu_coll_check *wrong, int argc, char **argv)
{
    struct osu o;
    int bad;

    for (int a = 0; a < 2; a++)
        for (size_t i = 0; i < sizeof sync_arrays[0] / sizeof(long); i++)
            sync_arrays[a][i] = SHMEM_SYNC_VALUE;
    if (osu_open(&o, prog, argc, argv))
        return osu_close(&o);
    for (size_t n = (o.min + 3) / 4 * 4; n <= o.max; n *= 2) {
        osu_begin(&o, n);
        double us = mean_us(&o, n, op);

        bad = o.check ? check_once(&o, n, op, wrong) : 0;
        osu_row_collective(&o, n, us, bad);
    }
    return osu_close(&o);
}
