/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: time of barrier_all, each one timed alone as OSU does, so a
 * reading of the clock is in it. */
#include "osu.h"

#include <shmem.h>
#include <stdlib.h>

static int entered;                     /* PEs that came to a checked barrier */

static const struct osu_prog prog = {
    .name = "osu_oshm_barrier",
    .title = "OSU OpenSHMEM Barrier Latency Test",
    .kind = OSU_BARRIER,
};

static void barriers(struct osu *o, double *laps)
{
    double start;

    for (int i = -o->skip; i < o->iters; i++) {
        start = osu_now();
        shmem_barrier_all();
        if (i >= 0)
            laps[i] = osu_now() - start;
    }
    shmem_barrier_all();
}

/* No PE may leave barrier k before all have entered it. */
static int count_early(struct osu *o)
{
    int early = 0, rounds = o->iters < 1000 ? o->iters : 1000;

    for (int i = 1; i <= rounds; i++) {
        for (int pe = 0; pe < o->npes; pe++)
            shmem_int_atomic_inc(&entered, (o->pe + pe) % o->npes);
        shmem_barrier_all();
        early += shmem_int_atomic_fetch(&entered, o->pe) < i * o->npes;
    }
    return early;
}

int main(int argc, char **argv)
{
    struct osu o;
    double *laps;
    int wrong = 0;

    if (osu_open(&o, &prog, argc, argv))
        return osu_close(&o);
    laps = osu_host_buffer(&o, sizeof *laps * (size_t)o.iters);
    barriers(&o, laps);
    if (o.check)
        wrong = count_early(&o);
    osu_row_barrier(&o, laps, wrong);
    free(laps);
    return osu_close(&o);
}
