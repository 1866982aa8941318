/* SPDX-License-Identifier: BSD-3-Clause */
/* ring.c - everybody gets everybody's block, in n - 1 steps around a ring.
 *
 * Shows: a stream of the vendor's making, which this library is just given, and
 * the vendor's own calls between its steps; a pipeline in which each step waits
 * for the block that it passes on. */
#include "example.h"

enum { WORDS = 100 };                   /* of a block */

struct work {
    long *block;
    long me;
};

KERNEL(make, struct work)
{
    arg->block[i] = 1000 * arg->me + i;
}

static shmemx_stream_t make_stream(void)
{
#ifdef GPU
    GPU(Stream_t) s;

    TRY(GPU(StreamCreateWithFlags)(&s, GPU(StreamNonBlocking)));
#else
    shmemx_stream_t s;

    TRY(shmemx_stream_create(&s));
#endif
    return (shmemx_stream_t)s;
}

static void end_stream(shmemx_stream_t s)
{
#ifdef GPU
    TRY(GPU(StreamSynchronize)((GPU(Stream_t))s));
    TRY(GPU(StreamDestroy)((GPU(Stream_t))s));
#else
    TRY(shmemx_stream_sync(s));
    TRY(shmemx_stream_destroy(s));
#endif
}

int main(void)
{
    shmemx_stream_t s;
    struct work work;
    long *all, *got;
    uint64_t *come;
    int me, n, next, wrong = 0;

    begin();
    me = shmem_my_pe();
    n = shmem_n_pes();
    next = (me + 1) % n;
    all = (long *)device_calloc(n * WORDS, sizeof *all);
    come = (uint64_t *)device_calloc(1, sizeof *come);
    got = (long *)calloc(n * WORDS, sizeof *got);
    if (!got)
        shmem_global_exit(1);
    s = make_stream();

    work.block = all + me * WORDS;
    work.me = me;
    LAUNCH(s, make, WORDS, &work);
    for (int step = 1; step < n; step++) {
        long *block = all + (me - step + 1 + n) % n * WORDS;

        TRY(shmemx_long_put_signal_on_stream(block, block, WORDS, come, 1,
                                             SHMEM_SIGNAL_ADD, next, s));
        /* The block of the PE before; the next step passes it on. */
        TRY(shmemx_signal_wait_until_on_stream(NULL, come, SHMEM_CMP_GE, step,
                                               s));
    }
    TRY(shmemx_stream_copy(s, got, all, n * WORDS * sizeof *got));
    TRY(shmemx_quiet_on_stream(s));
    end_stream(s);

    for (int i = 0; i < n * WORDS; i++)
        wrong |= got[i] != 1000L * (i / WORDS) + i % WORDS;
    free(got);
    return finish("ring: blocks passed on by a stream", wrong);
}
