/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: programs as the drafts of spaces have them: one that uses what
 * the environment enables, one that makes its own, one that mixes both heaps
 * in a signal, a fence and a collective.
 * PEs: 1 2 4
 * Env: SHMEM_ENABLE_SPACE_GPU=1 SHMEM_SPACE_GPU_SYMMETRIC_SIZE=8m
 * Ppn: 2/1 4/2 */
#include "calls.h"
#include <shmemg.h>

enum { N = 64 };

/* Of the environment: each space if it is there, its team for collectives. */
T(spaces_of_the_environment)
{
    shmem_space_t spaces[] = { SHMEM_SPACE_CPU, SHMEM_SPACE_GPU };
    shmem_team_t teams[] = { SHMEM_TEAM_CPU, SHMEM_TEAM_GPU };
    int n = shmem_n_pes(), me = shmem_my_pe();
    long *in, *out, sum;

    for (int i = 0; i < 2; i++) {
        T_TRUE(spaces[i] != SHMEM_SPACE_INVALID);
        T_TRUE(teams[i] != SHMEM_TEAM_INVALID);
        T_EQ(shmem_space_is_available(spaces[i]), 0);
        in = shmem_space_malloc(spaces[i], N * sizeof *in);
        out = shmem_space_calloc(spaces[i], N, sizeof *out);
        store(in, N, me);
        T_EQ(shmem_long_sum_reduce(teams[i], out, in, N), 0);
        shmem_long_get(&sum, out + 5, 1, me);
        T_EQ(sum, n * (n - 1) / 2 + 5 * n);
        shmem_team_sync(teams[i]);      /* out is read no more */
        T_EQ(shmem_long_broadcast(teams[i], out, in, N, n - 1), 0);
        T_EQ(holds(out, N, n - 1), N);
        shmem_team_sync(teams[i]);
        shmem_space_free(spaces[i], out);
        shmem_space_free(spaces[i], in);
    }
}

/* Of the program: a space, its team, what the space can do, the end of both. */
T(a_space_of_the_program)
{
    shmem_space_config_t config = {
        .device_type = SHMEM_DEVICE_GPU, .size = 1 << 20, .flags = 0
    };
    int n = shmem_n_pes(), me = shmem_my_pe(), next = (me + 1) % n;
    shmem_space_cap_t caps = 0;
    shmem_space_t space;
    shmem_team_t team;
    long *p;

    T_EQ(shmem_space_create(&config, &space, &team), 0);
    T_EQ(shmem_space_get_caps(space, &caps), 0);
    T_TRUE(caps & SHMEM_SPACE_CAP_RMA && caps & SHMEM_SPACE_CAP_WORLD_ACCESS);
    p = shmem_space_calloc(space, N, sizeof *p);
    shmem_long_p(p + 1, 40 + me, shmem_team_translate_pe(team, next,
                                                         SHMEM_TEAM_WORLD));
    if (caps & SHMEM_SPACE_CAP_ATOMICS)
        shmem_long_atomic_add(p + 2, 1, 0);
    shmem_quiet();
    shmem_team_sync(team);
    T_EQ(holds(p + 1, 1, 40 + (me + n - 1) % n), 1);
    if (caps & SHMEM_SPACE_CAP_ATOMICS && me == 0)
        T_EQ(holds(p + 2, 1, n), 1);
    shmem_team_sync(team);
    shmem_space_free(space, p);
    shmem_team_destroy(team);
    T_EQ(shmem_space_destroy(space), 0);
}

/* Data in one heap, the signal in the other. */
static void signal_between(shmem_space_t data, shmem_space_t flag)
{
    int n = shmem_n_pes(), me = shmem_my_pe();
    int next = (me + 1) % n, before = (me + n - 1) % n;
    long *to = shmem_space_calloc(data, N, sizeof *to), from[N];
    uint64_t *sig = shmem_space_calloc(flag, 2, sizeof *sig);

    for (int i = 0; i < N; i++)
        from[i] = 1000 * me + i;
    shmem_long_put_signal(to, from, N, sig, 7, SHMEM_SIGNAL_SET, next);
    T_EQ(shmem_signal_wait_until(sig, SHMEM_CMP_EQ, 7), 7);
    T_EQ(holds(to, N, 1000 * before), N);
    shmem_barrier_all();

    /* A fence orders puts to one PE in both heaps. */
    for (int i = 0; i < N; i++)
        from[i]++;
    shmem_long_put(to, from, N, next);
    shmem_fence();
    shmem_uint64_atomic_set(sig + 1, 9, next);
    shmem_uint64_wait_until(sig + 1, SHMEM_CMP_EQ, 9);
    T_EQ(holds(to, N, 1000 * before + 1), N);
    shmem_barrier_all();
    shmem_free(sig);
    shmem_free(to);
}

T(data_and_signal_lie_in_different_heaps)
{
    signal_between(SHMEM_SPACE_CPU, SHMEM_SPACE_GPU);
    signal_between(SHMEM_SPACE_GPU, SHMEM_SPACE_CPU);
    signal_between(SHMEM_SPACE_GPU, SHMEM_SPACE_GPU);
}

T(buffers_of_a_collective_lie_in_different_heaps)
{
    int n = shmem_n_pes(), me = shmem_my_pe();
    long *h = shmem_space_malloc(SHMEM_SPACE_CPU, N * sizeof *h);
    long *d = shmem_space_calloc(SHMEM_SPACE_GPU, (size_t)n, N * sizeof *d);

    store(h, N, 100 * me);
    T_EQ(shmem_long_fcollect(SHMEM_TEAM_WORLD, d, h, N), 0);
    for (int i = 0; i < n; i++)
        T_EQ(holds(d + i * N, N, 100 * i), N);
    shmem_barrier_all();
    store(d, N, 100 * me);
    T_EQ(shmem_long_max_reduce(SHMEM_TEAM_WORLD, h, d, N), 0);
    T_EQ(holds(h, N, 100 * (n - 1)), N);
    shmem_free(d);
    shmem_free(h);
}

int main(void)
{
    shmem_init();
    T_PE(shmem_my_pe());
    T_RUN(spaces_of_the_environment);
    T_RUN(a_space_of_the_program);
    T_RUN(data_and_signal_lie_in_different_heaps);
    T_RUN(buffers_of_a_collective_lie_in_different_heaps);
    shmem_finalize();
    return T_DONE();
}
