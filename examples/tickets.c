/* SPDX-License-Identifier: BSD-3-Clause */
/* tickets.c - PEs share jobs out: a free PE draws the number of the next one.
 *
 * Shows: an atomic with a result, and one without, in the order of a stream.
 * The number goes to device memory, where the kernel behind it finds out what
 * to do; the host never learns it.  Each PE enqueues as many draws as there are
 * jobs, since it might be the only one that works. */
#include "example.h"

enum { JOBS = 60 };

struct work {
    long *next_job, *done;
};

KERNEL(do_job, struct work)
{
    long job = *arg->next_job;

    if (i == 0 && job < JOBS)           /* others: nothing is left */
        arg->done[job] += job + 1;
}

int main(void)
{
    static long mine[JOBS], all[JOBS];
    long *next, *drawn, left = 0;
    struct work work;
    shmemx_stream_t s;
    int me, n, wrong = 0;

    begin();
    me = shmem_my_pe();
    n = shmem_n_pes();
    next = (long *)device_calloc(1, sizeof *next);      /* that of PE 0 */
    drawn = (long *)device_calloc(1, sizeof *drawn);
    work.next_job = (long *)device_calloc(1, sizeof *work.next_job);
    work.done = (long *)device_calloc(JOBS, sizeof *work.done);
    TRY(shmemx_stream_create(&s));

    for (int i = 0; i < JOBS; i++) {
        TRY(shmemx_long_atomic_fetch_add_on_stream(work.next_job, next, 1, 0,
                                                   s));
        LAUNCH(s, do_job, 1, &work);
        TRY(shmemx_long_atomic_inc_on_stream(drawn, n - 1, s));
    }
    TRY(shmemx_stream_copy(s, mine, work.done, sizeof mine));
    TRY(shmemx_barrier_all_on_stream(s));       /* all have counted, too */
    TRY(shmemx_stream_copy(s, &left, drawn, sizeof left));
    TRY(shmemx_stream_sync(s));

    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, all, mine, JOBS);
    for (long job = 0; job < JOBS; job++)
        wrong |= all[job] != job + 1;   /* done, and once */
    if (me == n - 1)
        wrong |= left != (long)n * JOBS;
    TRY(shmemx_stream_destroy(s));
    return finish("tickets: 60 jobs drawn by atomics of streams", wrong);
}
