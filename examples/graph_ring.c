/* SPDX-License-Identifier: BSD-3-Clause */
/* graph_ring.c - everybody gets everybody's block, as in ring.c; a graph that is
 * launched a thousand times, with new blocks each time.
 *
 * Shows: waits that set their signal back, which the device does by itself.
 * A signal that is set back must not be raised again before, so each step of
 * the ring has one, and the next PE says when it is through with a launch. */
#include "example.h"

enum { WORDS = 100, LAUNCHES = 1000 };

struct work {
    long *all, *sum;
    long *round;                        /* which launch it is */
    long me, n;
};

KERNEL(make, struct work)
{
    arg->all[arg->me * WORDS + i] = 1000 * arg->me + i + *arg->round;
}

/* What came in this launch, added to what came before. */
KERNEL(add, struct work)
{
    for (long pe = 0; pe < arg->n; pe++)
        arg->sum[i] += arg->all[pe * WORDS + i];
}

KERNEL(next_round, struct work)
{
    *arg->round += 1 + i;
}

static void record(struct work *w, uint64_t *come, uint64_t *through,
                   shmemx_stream_t s)
{
    int me = (int)w->me, n = (int)w->n;
    int next = (me + 1) % n, before = (me + n - 1) % n;

    TRY(shmemx_signal_wait_reset_on_stream(through, SHMEM_CMP_GE, 1, s));
    LAUNCH(s, make, WORDS, w);
    for (int step = 1; step < n; step++) {
        long *block = w->all + (me - step + 1 + n) % n * WORDS;

        TRY(shmemx_long_put_signal_on_stream(block, block, WORDS, &come[step],
                                             1, SHMEM_SIGNAL_SET, next, s));
        TRY(shmemx_signal_wait_reset_on_stream(&come[step], SHMEM_CMP_GE, 1,
                                               s));
    }
    LAUNCH(s, add, WORDS, w);
    LAUNCH(s, next_round, 1, w);
    TRY(shmemx_signal_set_on_stream(through, 1, before, s));
}

static long right(long n, long i)
{
    long once = 0;

    for (long pe = 0; pe < n; pe++)
        once += 1000 * pe + i;
    return LAUNCHES * once + n * (LAUNCHES - 1L) * LAUNCHES / 2;
}

int main(void)
{
    long *got = (long *)calloc(WORDS, sizeof *got);
    uint64_t *come, *through;
    shmemx_stream_t s;
    shmemx_graph_t graph;
    struct work work;
    int wrong = 0;

    begin();
    if (!got)
        shmem_global_exit(1);
    work.me = shmem_my_pe();
    work.n = shmem_n_pes();
    work.all = (long *)device_calloc(work.n * WORDS, sizeof *work.all);
    work.sum = (long *)device_calloc(WORDS, sizeof *work.sum);
    work.round = (long *)device_calloc(1, sizeof *work.round);
    come = (uint64_t *)device_calloc(work.n, sizeof *come);
    through = (uint64_t *)device_calloc(1, sizeof *through);
    TRY(shmemx_stream_create(&s));
    TRY(shmemx_signal_set_on_stream(through, 1,
                                    (int)((work.me + work.n - 1) % work.n),
                                    s));

    TRY(shmemx_stream_capture_begin(s));
    record(&work, come, through, s);
    TRY(shmemx_stream_capture_end(s, &graph));
    for (int i = 0; i < LAUNCHES; i++)
        TRY(shmemx_graph_launch(graph, s));
    TRY(shmemx_stream_copy(s, got, work.sum, WORDS * sizeof *got));
    TRY(shmemx_quiet_on_stream(s));     /* and the last signal is there */
    TRY(shmemx_stream_sync(s));

    for (int i = 0; i < WORDS; i++)
        wrong |= got[i] != right(work.n, i);
    free(got);
    shmem_barrier_all();
    TRY(shmemx_graph_destroy(graph));
    TRY(shmemx_stream_destroy(s));
    return finish("graph_ring: 1000 launches", wrong);
}
