/* SPDX-License-Identifier: BSD-3-Clause */
/* osu_coll.c - what the programs of collectives share: each call is timed on
 * every PE, the barrier after it is not, as OSU does.  The calls over active
 * sets are used, since all libraries have them. */
#include "osu.h"
#include "osu_int.h"

#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>

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

/* Once on bytes that identify PE and offset. */
static int check_once(struct osu *o, size_t n, osu_coll_op *op,
                      osu_coll_check *wrong)
{
    size_t all = n * (size_t)o->npes;
    uint32_t *words = osu_host_buffer(o, all);
    int bad;

    for (size_t i = 0; i < n / 4; i++)
        words[i] = osu_coll_word(o->pe, i);
    osu_store(o->src, words, n);
    osu_set(o->dst, 0, all);
    shmem_barrier_all();
    op(o, n, sync_arrays[0]);
    shmem_barrier_all();
    osu_load(words, o->dst, all);
    bad = wrong(o, words, n);
    free(words);
    return bad;
}

int osu_collective(const struct osu_prog *prog, osu_coll_op *op,
                  osu_coll_check *wrong, int argc, char **argv)
{
    struct osu o;
    double us;

    for (int a = 0; a < 2; a++)
        for (size_t i = 0; i < sizeof sync_arrays[0] / sizeof(long); i++)
            sync_arrays[a][i] = SHMEM_SYNC_VALUE;
    if (osu_open(&o, prog, argc, argv))
        return osu_close(&o);
    for (size_t n = (o.min + 3) / 4 * 4; n <= o.max; n *= 2) {
        for (int k = 0; k < o.n_places; k++) {
            osu_place(&o, k);
            osu_begin(&o, n);
            osu_show_progress(&o, n, k);
            us = mean_us(&o, n, op);
            osu_measured_collective(&o, us, o.check ?
                                    check_once(&o, n, op, wrong) : 0);
        }
        osu_row_size(&o, n);
    }
    return osu_close(&o);
}
