/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: shmem_malloc_with_hints with SHMEMX_MALLOC_NO_BARRIER returns
 * before the other PEs call it; the blocks belong together all the same.
 * PEs: 1 2 4
 * Ppn: 2/1 4/2 4/2:SHMEM_CHECK=1 */
#include "../t.h"

#include <shmem.h>
#include <shmemx.h>

enum { BLOCKS = 100, PATIENCE_S = 10 };

static long arrived;
static int me, n_pes;

static void *allocate(size_t bytes)
{
    return shmem_malloc_with_hints(bytes, SHMEMX_MALLOC_NO_BARRIER);
}

/* PE 0 speaks between its call and those of the others. */
T(the_call_returns_before_others_make_it)
{
    double end = shmemx_wtime() + PATIENCE_S;
    long *block;

    shmem_barrier_all();
    if (me) {
        while (!shmem_test(&arrived, SHMEM_CMP_EQ, 1L) && shmemx_wtime() < end)
            ;
        T_EQ(arrived, 1);
    }
    block = allocate(sizeof *block);
    T_NE(block, NULL);
    for (int pe = 1; me == 0 && pe < n_pes; pe++)
        shmem_long_p(&arrived, 1, pe);
    shmem_barrier_all();
    shmem_free(block);
}

T(blocks_belong_together)
{
    long *block[BLOCKS];
    int next = (me + 1) % n_pes, before = (me + n_pes - 1) % n_pes;

    for (int i = 0; i < BLOCKS; i++) {
        block[i] = allocate((size_t)(i + 1) * sizeof(long));
        T_NE(block[i], NULL);
        block[i][i] = -1;
    }
    shmem_barrier_all();
    for (int i = 0; i < BLOCKS; i++)
        shmem_long_p(&block[i][i], 1000 * me + i, next);
    shmem_barrier_all();
    for (int i = 0; i < BLOCKS; i++)
        T_EQ(block[i][i], 1000 * before + i);
    for (int i = 0; i < BLOCKS; i++)
        shmem_free(block[i]);
}

/* No room: NULL on all PEs, and a line of PE 0; nothing else is lost by it. */
T(nothing_is_null)
{
    T_EQ(allocate(0), NULL);
    T_EQ(allocate(SIZE_MAX / 2), NULL);
    shmem_free(shmem_malloc(64));
}

int main(void)
{
    shmem_init();
    me = shmem_my_pe();
    n_pes = shmem_n_pes();
    T_PE(me);
    T_RUN(the_call_returns_before_others_make_it);
    T_RUN(blocks_belong_together);
    T_RUN(nothing_is_null);
    shmem_finalize();
    return T_DONE();
}
