/* SPDX-License-Identifier: BSD-3-Clause */
/* budget.h - as many rounds as there is time for.
 * A round in which PEs wait for each other costs less than a microsecond
 * where each has a core, and some changes of process where others want the
 * cores too: a number of rounds that is much for one is far too much for the
 * other. */
#ifndef BUDGET_H
#define BUDGET_H

#include "../t.h"

#include <shmem.h>

static int budget_over;         /* set by PE 0 */

static T_UNUSED double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Collective: is there time for this round, counted from 1?  The same on all
 * PEs, which synchronize here now and then. */
static T_UNUSED bool in_time(uint64_t round, double seconds)
{
    static double start;
    int over;

    if (round == 1)
        start = now();
    if (round % 64)
        return true;
    over = now() - start > seconds;
    shmem_barrier_all();
    if (shmem_my_pe() == 0)     /* one answer for all */
        for (int pe = 0; pe < shmem_n_pes(); pe++)
            shmem_int_p(&budget_over, over, pe);
    shmem_barrier_all();
    return !budget_over;
}

#endif
