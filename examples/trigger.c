/* SPDX-License-Identifier: BSD-3-Clause */
/* trigger.c - a kernel sends each piece of an array as soon as it is computed.
 *
 * Shows: puts that the host posts once and that hits of a kernel release, one
 * for each piece when all of its items have hit; that they arm themselves for
 * the next iteration; and a stream that waits for their completion before the
 * array is written again. */
#include "example.h"
#include <shmemx_trig.h>

enum { PIECES = 8, WORDS = 32, ALL = PIECES * WORDS, ITERATIONS = 50 };

struct work {
    shmemx_trig_dev_t hits;
    long *array;
    long first;
};

KERNEL(compute, struct work)
{
    arg->array[i] = arg->first + i;
    shmemx_dev_trigger(&arg->hits, i / WORDS, 1);
}

int main(void)
{
    shmemx_trig_t trig;
    shmemx_stream_t s;
    static struct work work[ITERATIONS];
    static long got[ALL];
    uint64_t *arrived;
    long *array, *there;
    int me, n, next, prev, wrong = 0;

    begin();
    me = shmem_my_pe();
    n = shmem_n_pes();
    next = (me + 1) % n;
    prev = (me + n - 1) % n;
    array = (long *)device_calloc(ALL, sizeof *array);
    there = (long *)device_calloc(ALL, sizeof *there);
    arrived = (uint64_t *)device_calloc(1, sizeof *arrived);
    TRY(shmemx_stream_create(&s));
    TRY(shmemx_trig_create(SHMEM_CTX_DEFAULT, PIECES, NULL, 0, &trig));
    for (int p = 0; p < PIECES; p++) {
        TRY(shmemx_trig_put_signal(trig, p, WORDS, there + p * WORDS,
                                   array + p * WORDS, WORDS * sizeof *array,
                                   arrived, 1, SHMEM_SIGNAL_ADD, next));
        TRY(shmemx_trig_repeat(trig, p));
    }
    for (int i = 0; i < ITERATIONS; i++) {
        TRY(shmemx_trig_dev(trig, &work[i].hits));
        work[i].array = array;
        work[i].first = 100000 * me + i;
        LAUNCH(s, compute, ALL, &work[i]);
        /* What PE `prev` has sent, and the end of what this one sends. */
        TRY(shmemx_signal_wait_until_on_stream(
            NULL, arrived, SHMEM_CMP_GE, (uint64_t)(i + 1) * PIECES, s));
        for (int p = 0; p < PIECES; p++)
            TRY(shmemx_trig_wait_on_stream(trig, p, (uint64_t)i + 1, s));
        TRY(shmemx_stream_copy(s, got, there, sizeof got));
        TRY(shmemx_stream_sync(s));
        for (int k = 0; k < ALL; k++)
            wrong |= got[k] != 100000L * prev + i + k;
        shmem_barrier_all();    /* before `there` gets the next iteration's */
    }
    TRY(shmemx_trig_free(&trig));
    TRY(shmemx_stream_destroy(s));
    return finish("trigger: pieces sent as they are computed", wrong);
}
