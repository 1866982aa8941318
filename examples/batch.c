/* SPDX-License-Identifier: BSD-3-Clause */
/* batch.c - every PE sends a block to every PE: one start, one wait.
 *
 * Shows: a queue.  Puts are put in beforehand; a kernel then makes the data,
 * and one store of the device starts them all, however many they are.  After
 * the wait all are at their targets; the barrier, a step of the stream too,
 * says that the others' are here. */
#include "example.h"

enum { WORDS = 64 };                    /* of a block */

struct work {
    long *out;
    long me, n;
};

/* Word w of the block for PE p says from whom, to whom, and which it is. */
KERNEL(make, struct work)
{
    arg->out[i] = (arg->me * arg->n + i / WORDS) * WORDS + i % WORDS;
}

int main(void)
{
    shmemx_queue_config_t config = { 0 };
    shmemx_stream_t s;
    shmemx_queue_t q;
    struct work work;
    long *in, *got;
    int me, n, wrong = 0;

    begin();
    me = shmem_my_pe();
    n = shmem_n_pes();
    work.out = (long *)device_calloc(n * WORDS, sizeof(long));
    work.me = me;
    work.n = n;
    in = (long *)device_calloc(n * WORDS, sizeof(long));
    got = (long *)calloc(n * WORDS, sizeof *got);
    if (!got)
        shmem_global_exit(1);
    TRY(shmemx_stream_create(&s));
    config.depth = n;                   /* no memory is asked for later */
    TRY(shmemx_queue_create(s, &config, SHMEMX_QUEUE_DEPTH, &q));

    for (int pe = 0; pe < n; pe++)
        TRY(shmemx_enqueue_putmem(q, &in[me * WORDS], &work.out[pe * WORDS],
                                  WORDS * sizeof(long), pe, NULL));
    LAUNCH(s, make, n * WORDS, &work);
    TRY(shmemx_enqueue_start(q));
    /* What does not need the blocks could run here. */
    TRY(shmemx_enqueue_wait(q));
    TRY(shmemx_barrier_all_on_stream(s));
    TRY(shmemx_stream_copy(s, got, in, n * WORDS * sizeof *got));
    TRY(shmemx_stream_sync(s));

    for (int i = 0; i < n * WORDS; i++)
        wrong |= got[i] != ((i / WORDS) * n + me) * WORDS + i % WORDS;
    free(got);
    TRY(shmemx_queue_destroy(q));
    TRY(shmemx_stream_destroy(s));
    return finish("batch: blocks to all, one start and one wait", wrong);
}
