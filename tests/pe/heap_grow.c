/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: blocks are reached by all PEs as soon as the call that gives
 * them returns, however far into the heap they lie, and so are those before.
 * PEs: 3
 * Ppn: 2/1 4/2
 * Launch: -x SHMEM_SYMMETRIC_SIZE=96m */
#include "t.h"

#include <shmem.h>
#include <shmemx.h>

#define MIB ((size_t)1 << 20)
enum { STEPS = 12 };

static long *block[STEPS];
static size_t words[STEPS];
static shmem_ctx_t ctx;

static long value(int step, size_t i, int pe)
{
    return (long)step << 40 | (long)pe << 32 | (long)(i & 0xffffffff);
}

/* Its first and last words, by every kind of operation. */
static void reach(int step)
{
    int me = shmem_my_pe(), n = shmem_n_pes();
    int to = (me + 1) % n, from = (me + n - 1) % n;
    long *b = block[step], *back = b + 8, got = 0;
    size_t last = words[step] - 1;

    for (size_t i = 0; i < 16; i++)
        b[i] = b[last - i] = -1;
    shmem_barrier_all();
    shmem_long_p(b, value(step, 0, me), to);
    shmem_ctx_long_p(ctx, b + last, value(step, last, me), to);
    shmem_ctx_quiet(ctx);
    shmem_long_atomic_add(b + 1, 1, to);
    shmem_long_atomic_add(b + last - 1, me + 1, to);
    shmem_barrier_all();
    T_EQ(b[0], value(step, 0, from));
    T_EQ(b[last], value(step, last, from));
    T_EQ(b[1], 0);
    T_EQ(b[last - 1], from);
    shmem_long_get(back, b + last, 1, to);      /* into the heap, too */
    T_EQ(*back, value(step, last, me));
    shmem_long_get_nbi(&got, b, 1, to);
    shmem_quiet();
    T_EQ(got, value(step, 0, me));
    shmem_long_put_signal(b + 2, b, 1, (uint64_t *)b + 3, 5, SHMEM_SIGNAL_SET,
                          to);
    shmem_wait_until((uint64_t *)b + 3, SHMEM_CMP_EQ, 5);
    T_EQ(b[2], value(step, 0, (from + n - 1) % n));
    shmem_long_iput(b + last - 5, b, 2, 1, 2, to);
    shmem_barrier_all();
    T_EQ(b[last - 5], value(step, 0, (from + n - 1) % n));
    shmem_barrier_all();
}

T(shmem_malloc_gives_blocks_that_far_pes_reach)
{
    size_t size = 1000;

    for (int s = 0; s < STEPS; s++) {
        words[s] = size / sizeof(long);
        block[s] = s % 3 == 1 ? shmem_calloc(words[s], sizeof(long))
                 : s % 3 == 2 ? shmem_align(4096, size) : shmem_malloc(size);
        if (!T_NE(block[s], NULL))
            return;
        for (int i = s; i >= 0; i -= 3)
            reach(i);
        size = size * 5 / 2;
    }
    for (int s = 0; s < STEPS; s++)
        shmem_free(block[s]);
}

T(shmem_realloc_gives_blocks_that_far_pes_reach)
{
    block[0] = shmem_malloc(MIB);
    words[0] = MIB / sizeof(long);
    block[0] = shmem_realloc(block[0], 80 * MIB);
    if (!T_NE(block[0], NULL))
        return;
    words[0] = 80 * MIB / sizeof(long);
    reach(0);
    shmem_free(block[0]);
}

T(shmem_space_malloc_gives_blocks_that_far_pes_reach)
{
    shmem_space_config_t c = { .size = 86 * MIB,
                               .device_type = SHMEM_DEVICE_CPU };
    shmem_space_t space;

    if (T_EQ(shmem_space_create(&c, &space, NULL), 0)) {
        words[1] = 85 * MIB / sizeof(long);
        block[1] = shmem_space_malloc(space, 85 * MIB);
        reach(1);
        T_EQ(shmem_space_destroy(space), 0);
    }
}

/* With a word: the network has a limit of locked memory. */
T(shmem_malloc_gives_null_where_the_network_takes_no_more)
{
    words[0] = MIB / sizeof(long);
    block[0] = shmem_malloc(MIB);
    if (!T_NE(block[0], NULL))
        return;
    for (int i = 0; i < 3; i++)
        T_EQ(shmem_malloc(80 * MIB), NULL);
    reach(0);
    block[0] = shmem_malloc(MIB);
    if (T_NE(block[0], NULL))
        reach(0);
    /* Less than is registered at a time where there is no limit. */
    block[1] = shmem_malloc(2 * MIB);
    words[1] = 2 * MIB / sizeof(long);
    if (T_NE(block[1], NULL))
        reach(1);
}

int main(int argc, char **argv)
{
    (void)argv;
    shmem_init();
    T_PE(shmem_my_pe());
    if (argc > 1) {
        T_EQ(shmem_ctx_create(0, &ctx), 0);
        T_RUN(shmem_malloc_gives_null_where_the_network_takes_no_more);
        shmem_finalize();
        return T_DONE();
    }
    T_EQ(shmem_ctx_create(0, &ctx), 0);
    T_RUN(shmem_malloc_gives_blocks_that_far_pes_reach);
    T_RUN(shmem_realloc_gives_blocks_that_far_pes_reach);
    T_RUN(shmem_space_malloc_gives_blocks_that_far_pes_reach);
    shmem_ctx_destroy(ctx);
    shmem_finalize();
    return T_DONE();
}
