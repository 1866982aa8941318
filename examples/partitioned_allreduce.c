/* SPDX-License-Identifier: BSD-3-Clause */
/* partitioned_allreduce.c - an allreduce that begins while its input is still
 * computed, as gradients are summed up during a backward pass.
 *
 * Shows: a partitioned collective, made once and started in each iteration; a
 * kernel that makes partitions ready; and results that are used as they
 * arrive. */
#include "example.h"
#include <shmemx_pcoll.h>

enum { PARTS = 8, WORDS = 64, ALL = PARTS * WORDS, ITERATIONS = 20 };

struct work {
    shmemx_prequest_t request;
    long *array;
    long first;
};

/* One item for each partition. */
KERNEL(compute, struct work)
{
    for (int k = 0; k < WORDS; k++)
        arg->array[i * WORDS + k] = arg->first + i * WORDS + k;
    shmemx_dev_pready(&arg->request, i);
}

int main(void)
{
    shmemx_req_t req;
    shmemx_stream_t s;
    static struct work work;
    static long got[WORDS];
    long *array, *sums;
    int me, n, wrong = 0;

    begin();
    me = shmem_my_pe();
    n = shmem_n_pes();
    array = (long *)device_calloc(ALL, sizeof *array);
    sums = (long *)device_calloc(ALL, sizeof *sums);
    TRY(shmemx_stream_create(&s));
    TRY(shmemx_pallreduce_init(SHMEM_TEAM_WORLD, sums, array, PARTS, WORDS,
                               SHMEMX_INT64, SHMEMX_SUM, &req));
    TRY(shmemx_prequest_create(req, NULL, 0, &work.request));
    work.array = array;
    for (int i = 0; i < ITERATIONS; i++) {
        int arrived;

        TRY(shmemx_req_start(req));
        work.first = 1000 * me + i;
        LAUNCH(s, compute, PARTS, &work);
        for (int p = 0; p < PARTS; p++) {
            do
                TRY(shmemx_parrived(req, p, &arrived));
            while (!arrived);
            shmem_getmem(got, sums + p * WORDS, sizeof got, me);
            for (int k = 0; k < WORDS; k++)
                wrong |= got[k] != 500L * n * (n - 1) +
                                   n * (long)(i + p * WORDS + k);
        }
        TRY(shmemx_req_wait(req));      /* the array may be written again */
        TRY(shmemx_stream_sync(s));
    }
    TRY(shmemx_prequest_free(&work.request));
    TRY(shmemx_req_free(&req));
    TRY(shmemx_stream_destroy(s));
    return finish("partitioned_allreduce: sums used as they arrive", wrong);
}
