/* SPDX-License-Identifier: BSD-3-Clause */
/* prefetch.c - each PE adds up what the next one makes, block by block; while
 * its kernel works on a block, the next block is on its way.
 *
 * Shows: a get that only begins (nbi) and the quiet that completes it, around a
 * kernel; a wait for the maker's flag, on a second stream of the same PE; and
 * that streams of one PE are in no order but that of such words. */
#include "example.h"

enum { BLOCKS = 20, WORDS = 500 };

struct make {
    long *out;
    long first;
};

KERNEL(make_block, struct make)
{
    arg->out[i] = arg->first + i;
}

struct add {
    const long *in;
    long *sum;
};

KERNEL(add_block, struct add)
{
    for (int w = 0; w < WORDS && i == 0; w++)
        *arg->sum += arg->in[w];
}

int main(void)
{
    static struct make making[BLOCKS];
    struct add adding[2];
    shmemx_stream_t maker, taker;
    long *out, *in, *sum, got = 0, right = 0;
    uint64_t *made;
    int me, from;

    begin();
    me = shmem_my_pe();
    from = (me + 1) % shmem_n_pes();
    out = (long *)device_calloc(BLOCKS * WORDS, sizeof *out);
    in = (long *)device_calloc(2 * WORDS, sizeof *in);
    sum = (long *)device_calloc(1, sizeof *sum);
    made = (uint64_t *)device_calloc(1, sizeof *made);
    TRY(shmemx_stream_create(&maker));
    TRY(shmemx_stream_create(&taker));

    for (int b = 0; b < BLOCKS; b++) {
        making[b].out = out + b * WORDS;
        making[b].first = 1000L * me + b;
        LAUNCH(maker, make_block, WORDS, &making[b]);
        /* One more is made: to who takes it, the PE before this one.  Of two
         * sets the first might come last. */
        TRY(shmemx_signal_add_on_stream(made, 1, (me + shmem_n_pes() - 1) %
                                        shmem_n_pes(), maker));
    }
    /* Not written again: kernels that have not run yet read them. */
    for (int half = 0; half < 2; half++) {
        adding[half].in = in + half * WORDS;
        adding[half].sum = sum;
    }
    for (int b = 0; b <= BLOCKS; b++) {
        if (b < BLOCKS) {
            TRY(shmemx_signal_wait_until_on_stream(NULL, made, SHMEM_CMP_GE,
                                                   b + 1, taker));
            TRY(shmemx_long_get_nbi_on_stream(in + b % 2 * WORDS,
                                              out + b * WORDS, WORDS, from,
                                              taker));
        }
        if (b > 0)                      /* meanwhile, the block before */
            LAUNCH(taker, add_block, 1, &adding[!(b % 2)]);
        TRY(shmemx_quiet_on_stream(taker));     /* block b is here */
    }
    TRY(shmemx_stream_copy(taker, &got, sum, sizeof got));
    TRY(shmemx_stream_sync(maker));
    TRY(shmemx_stream_sync(taker));

    for (int b = 0; b < BLOCKS; b++)
        for (int w = 0; w < WORDS; w++)
            right += 1000L * from + b + w;
    TRY(shmemx_stream_destroy(maker));
    TRY(shmemx_stream_destroy(taker));
    return finish("prefetch: 20 blocks got beside kernels", got != right);
}
