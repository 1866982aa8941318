/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: the host side of the draft for GPUs: init bits, its memory
 * calls, device teams as teams, and contexts that only kernels may use.
 * PEs: 1 2 4
 * Ppn: 2/1 4/2 */
#include "calls.h"
#include <shmemg.h>

#define DEVICE_BITS (SHMEM_DEVICE_HOST_INIT | SHMEM_DEVICE_KERNEL_INIT)

T(the_bits_are_granted_as_far_as_they_serve)
{
    int got = -1;

    shmem_query_thread(&got);
    T_EQ(got, SHMEM_THREAD_FUNNELED | DEVICE_BITS);
    T_EQ(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &got), 0);
    T_EQ(got, SHMEM_THREAD_MULTIPLE | DEVICE_BITS);
    shmem_finalize();
    T_NE(shmem_init_thread(SHMEM_THREAD_MULTIPLE | 64, &got), 0);
    T_NE(shmem_init_thread(-1, &got), 0);
    T_EQ(shmem_query_device_awareness(), 1);
}

T(its_memory_lies_in_the_device_heap)
{
    long *p = shmemg_malloc(4 * sizeof *p), *c = shmemg_calloc(4, sizeof *c);
    long *a = shmemg_align(1024, 4 * sizeof *a);
    long *h = shmem_malloc_with_hints(64, SHMEM_DEVICE_MALLOC_HOST_INIT);

    T_TRUE(space_of(p) == SHMEM_SPACE_DEVICE);
    T_TRUE(space_of(c) == SHMEM_SPACE_DEVICE);
    T_TRUE(space_of(a) == SHMEM_SPACE_DEVICE);
    T_TRUE(space_of(h) == SHMEM_SPACE_DEVICE);
    T_EQ((uintptr_t)a % 1024, 0);
    T_EQ(holds(c, 1, 0) + holds(c + 3, 1, 0), 2);
    T_TRUE(!shmemg_malloc(0));
    T_TRUE(!shmemg_align(24, 8));
    shmemg_free(p);
    shmem_free(c);
    shmem_space_free(SHMEM_SPACE_DEVICE, a);
    shmemg_free(h);
}

T(device_teams_are_teams_of_their_own)
{
    const shmem_team_t world = SHMEM_DEVICE_TEAM_WORLD;
    const shmem_team_t shared = SHMEM_DEVICE_TEAM_SHARED;
    int n = shmem_n_pes(), me = shmem_my_pe();
    shmem_team_t half = SHMEM_TEAM_INVALID, x, y;
    shmem_space_t s = SHMEM_SPACE_INVALID;
    static long in, out;

    T_TRUE(world != SHMEM_TEAM_WORLD && shared != SHMEM_TEAM_SHARED);
    T_EQ(shmem_team_n_pes(world), n);
    T_EQ(shmem_team_my_pe(world), me);
    T_EQ(shmem_team_n_pes(shared), shmem_team_n_pes(SHMEM_TEAM_SHARED));
    T_EQ(shmem_team_translate_pe(shared, 0, SHMEM_TEAM_WORLD),
         shmem_team_translate_pe(SHMEM_TEAM_SHARED, 0, SHMEM_TEAM_WORLD));
    T_EQ(shmem_team_translate_pe(world, n - 1, SHMEM_TEAM_WORLD), n - 1);
    in = me + 1;
    shmem_long_sum_reduce(world, &out, &in, 1);
    T_EQ(out, n * (n + 1) / 2);
    for (int i = 0; i < 50; i++) {
        shmem_team_sync(world);
        shmem_team_sync(shared);
    }
    T_EQ(shmem_team_split_strided(world, 0, 2, (n + 1) / 2, NULL, 0, &half), 0);
    T_EQ(half != SHMEM_TEAM_INVALID, me % 2 == 0);
    if (half != SHMEM_TEAM_INVALID) {
        T_EQ(shmem_team_get_space(half, &s), 0);
        T_TRUE(s == SHMEM_SPACE_DEVICE);
        shmem_long_max_reduce(half, &out, &in, 1);
        T_EQ(out, (n - 1) / 2 * 2 + 1);
    }
    shmem_team_destroy(half);
    T_EQ(shmem_team_split_2d(world, 2, NULL, 0, &x, NULL, 0, &y), 0);
    shmem_team_destroy(x);
    shmem_team_destroy(y);
}

T(contexts_of_kernels_are_made_and_destroyed_here)
{
    shmem_ctx_t ctx = SHMEM_CTX_INVALID, host = SHMEM_CTX_INVALID;
    shmem_team_t team = SHMEM_TEAM_INVALID, split;
    long *p = shmem_malloc(sizeof *p);

    T_EQ(shmem_ctx_create(SHMEM_DEVICE_CTX | SHMEM_CTX_PRIVATE, &ctx), 0);
    T_EQ(shmem_ctx_get_team(ctx, &team), 0);
    T_TRUE(team == SHMEM_DEVICE_TEAM_WORLD);
    shmem_ctx_destroy(ctx);
    T_EQ(shmem_ctx_get_team(SHMEM_DEVICE_CTX_DEFAULT, &team), 0);
    T_TRUE(team == SHMEM_DEVICE_TEAM_WORLD);
    shmem_ctx_destroy(SHMEM_DEVICE_CTX_DEFAULT);        /* it stays */
    T_EQ(shmem_team_create_ctx(SHMEM_DEVICE_TEAM_SHARED, SHMEM_DEVICE_CTX,
                               &ctx), 0);
    T_EQ(shmem_ctx_get_team(ctx, &team), 0);
    T_TRUE(team == SHMEM_DEVICE_TEAM_SHARED);
    shmem_ctx_destroy(ctx);
    T_NE(shmem_team_create_ctx(SHMEM_TEAM_WORLD, SHMEM_DEVICE_CTX, &ctx), 0);
    T_TRUE(ctx == SHMEM_CTX_INVALID);

    /* Of a device team, but the host's: it works. */
    T_EQ(shmem_team_create_ctx(SHMEM_DEVICE_TEAM_WORLD, 0, &host), 0);
    *p = 0;
    shmem_barrier_all();
    shmem_ctx_long_atomic_inc(host, p, 0);
    shmem_ctx_quiet(host);
    shmem_barrier_all();
    T_EQ(shmem_long_g(p, 0), shmem_n_pes());
    shmem_ctx_destroy(host);

    /* What its team leaves behind goes with it. */
    T_EQ(shmem_team_split_strided(SHMEM_DEVICE_TEAM_WORLD, 0, 1, shmem_n_pes(),
                                  NULL, 0, &split), 0);
    T_EQ(shmem_team_create_ctx(split, SHMEM_DEVICE_CTX, &ctx), 0);
    shmem_team_destroy(split);
    shmem_free(p);
}

int main(void)
{
    int got = -1;

    T_EQ(shmem_init_thread(SHMEM_THREAD_FUNNELED | DEVICE_BITS, &got), 0);
    T_PE(shmem_my_pe());
    T_EQ(got, SHMEM_THREAD_FUNNELED | DEVICE_BITS);
    T_RUN(the_bits_are_granted_as_far_as_they_serve);
    T_RUN(its_memory_lies_in_the_device_heap);
    T_RUN(device_teams_are_teams_of_their_own);
    T_RUN(contexts_of_kernels_are_made_and_destroyed_here);
    shmem_finalize();
    return T_DONE();
}
