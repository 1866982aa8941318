/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a program that knows only shmem.h puts between host and device
 * memory, all four ways, and frees everything by shmem_free.
 * PEs: 2 4
 * Ppn: 2/1 4/2 */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 1000, FORMS = 4 };

static int failed;

/* What came from the PE before, FORMS times, each with its own mark. */
static void check(const int *got, int before)
{
    for (int w = 0; w < FORMS; w++)
        for (int i = 0; i < N; i++)
            if (got[w * N + i] != before * 100000 + w * 10000 + i && !failed++)
                fprintf(stderr, "way %d, element %d: %d\n", w, i,
                        got[w * N + i]);
}

int main(void)
{
    int me, next, before, n, on = -1;
    int *hsrc, *hdst, *dsrc, *ddst, *mine;

    shmem_init();
    me = shmem_my_pe();
    n = shmem_n_pes();
    next = (me + 1) % n;
    before = (me + n - 1) % n;
    hsrc = shmem_malloc(FORMS * N * sizeof *hsrc);
    hdst = shmem_malloc(FORMS * N * sizeof *hdst);
    dsrc = shmem_space_malloc(SHMEM_SPACE_DEVICE, FORMS * N * sizeof *dsrc);
    ddst = shmem_space_malloc(SHMEM_SPACE_DEVICE, FORMS * N * sizeof *ddst);
    mine = malloc(FORMS * N * sizeof *mine);
    if (!hsrc || !hdst || !dsrc || !ddst || !mine) {
        fprintf(stderr, "no memory\n");
        shmem_global_exit(1);
    }
    shmem_query_device_awareness(&on);
    if (on != 1) {
        fprintf(stderr, "not aware of the device that is in use\n");
        failed++;
    }
    for (int w = 0; w < FORMS; w++)
        for (int i = 0; i < N; i++)
            hsrc[w * N + i] = me * 100000 + w * 10000 + i;
    /* Only the device may touch its memory: a put to oneself fills it. */
    shmem_int_put(dsrc, hsrc, FORMS * N, me);
    shmem_quiet();

    shmem_int_put(hdst, hsrc, N, next);
    shmem_int_put(hdst + N, dsrc + N, N, next);
    shmem_int_put(ddst + 2 * N, hsrc + 2 * N, N, next);
    shmem_int_put(ddst + 3 * N, dsrc + 3 * N, N, next);
    shmem_barrier_all();

    for (int i = 0; i < 2 * N; i++)
        mine[i] = hdst[i];
    shmem_int_get(mine + 2 * N, ddst + 2 * N, 2 * N, me);
    check(mine, before);

    /* Four puts to one place: the one that comes last is there. */
    shmem_int_put(ddst, hsrc, 1, next);
    shmem_int_put(ddst, hsrc + N, 1, next);
    shmem_int_put(ddst, dsrc + 2 * N, 1, next);
    shmem_fence();
    shmem_int_put(ddst, dsrc + 3 * N, 1, next);
    shmem_barrier_all();
    if (shmem_int_g(ddst, me) != before * 100000 + 3 * 10000) {
        fprintf(stderr, "the put after the fence is not the last\n");
        failed++;
    }
    shmem_free(ddst);
    shmem_free(dsrc);
    shmem_free(hdst);
    shmem_free(hsrc);
    free(mine);
    shmem_finalize();
    return failed != 0;
}
