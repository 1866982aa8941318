/* SPDX-License-Identifier: BSD-3-Clause */
/* partitioned.c - a message travels in pieces, each as soon as its kernel has
 * computed it.
 *
 * Shows: a partitioned send and receive, made and matched once and started in
 * each iteration; a kernel that makes partitions ready; and a receiver that
 * works on the partitions that have arrived while others are under way. */
#include "example.h"
#include <shmemx_part.h>

enum { PARTS = 8, WORDS = 64, ALL = PARTS * WORDS, ITERATIONS = 20 };

struct work {
    shmemx_prequest_t out;
    long *array;
    long first;
};

/* One item for each partition. */
KERNEL(compute, struct work)
{
    for (int k = 0; k < WORDS; k++)
        arg->array[i * WORDS + k] = arg->first + i * WORDS + k;
    shmemx_dev_pready(&arg->out, i);
}

int main(void)
{
    shmemx_req_t ends[2];
    shmemx_stream_t s;
    static struct work work;
    static long got[WORDS];
    long *array, *there;
    int me, n, prev, wrong = 0;

    begin();
    me = shmem_my_pe();
    n = shmem_n_pes();
    prev = (me + n - 1) % n;
    array = (long *)device_calloc(ALL, sizeof *array);
    there = (long *)device_calloc(ALL, sizeof *there);
    TRY(shmemx_stream_create(&s));
    TRY(shmemx_psend_init(array, PARTS, WORDS * sizeof *array, (me + 1) % n, 0,
                          &ends[0]));
    TRY(shmemx_precv_init(there, PARTS, WORDS * sizeof *there, prev, 0,
                          &ends[1]));
    TRY(shmemx_matchall(2, ends));
    TRY(shmemx_prequest_create(ends[0], NULL, 0, &work.out));
    work.array = array;
    for (int i = 0; i < ITERATIONS; i++) {
        int arrived, left = PARTS;
        char seen[PARTS] = { 0 };

        TRY(shmemx_req_startall(2, ends));
        work.first = 100000 * me + i;
        LAUNCH(s, compute, PARTS, &work);
        while (left)
            for (int p = 0; p < PARTS; p++) {
                if (seen[p])
                    continue;
                TRY(shmemx_parrived(ends[1], p, &arrived));
                if (!arrived)
                    continue;
                shmem_getmem(got, there + p * WORDS, sizeof got, me);
                for (int k = 0; k < WORDS; k++)
                    wrong |= got[k] != 100000L * prev + i + p * WORDS + k;
                seen[p] = 1;
                left--;
            }
        TRY(shmemx_req_wait(ends[1]));
        TRY(shmemx_req_wait(ends[0]));  /* the array may be written again */
        TRY(shmemx_stream_sync(s));
    }
    TRY(shmemx_prequest_free(&work.out));
    for (int i = 0; i < 2; i++)
        TRY(shmemx_req_free(&ends[i]));
    TRY(shmemx_stream_destroy(s));
    return finish("partitioned: partitions used as they arrive", wrong);
}
