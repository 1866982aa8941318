/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: kernels written with NVSHMEM's names do what those calls do, by
 * the headers of include/compat: moves, signals, waits, atomics, barriers,
 * teams, collectives, and the host's set-up, memory and streams.
 * PEs: 1 2 4
 * Ppn: 2/1 4/2
 * Env: SHMEM_DEVICE=software SHMEM_DEVICE_SYMMETRIC_SIZE=16M */
#include "../t.h"
#include <compat/nvshmem.h>
#include <compat/nvshmemx.h>
#include <string.h>

enum { N = 40, ITEMS = 33 };
static int me, n_pes, next, prev, wrong;        /* wrong: atomic */
static shmemx_stream_t stream;
static int *to, *from, *got;
static uint64_t *signals;
static long *words;

static void check(bool right)
{
    if (!right)
        __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
}

static void run(shmemx_kernel_t body, void *arg, unsigned items,
                unsigned phases)
{
    shmemx_grid_t g = { .groups = 1, .items = items, .phases = phases };

    T_EQ(shmemx_stream_launch(stream, &g, body, arg), 0);
    T_EQ(shmemx_stream_sync(stream), 0);
    T_EQ(wrong, 0);
}

static bool is_from(const int *p, int pe, int n)
{
    bool right = true;

    for (int i = 0; i < n; i++)
        right &= p[i] == pe * 1000 + i;
    return right;
}

/* ---- moves and signals ---- */

static void moves(const shmemx_item_t *it, void *unused)
{
    (void)it;
    (void)unused;
    check(nvshmem_my_pe() == me && nvshmem_n_pes() == n_pes);
    check(nvshmem_ptr(to, me) == to);
    nvshmem_int_put(to, from, 8, next);
    nvshmem_putmem_nbi(to + 8, from + 8, 8 * sizeof(int), next);
    nvshmem_put32(to + 16, from + 16, 7, next);
    nvshmem_int_p(to + 23, from[23], next);
    nvshmem_int_iput(to + 24, from + 24, 1, 1, 4, next);
    nvshmem_fence();
    nvshmem_int_put_signal(to + 28, from + 28, 4, signals, 5,
                           NVSHMEM_SIGNAL_SET, next);
    nvshmem_putmem_signal_nbi(to + 32, from + 32, 8 * sizeof(int),
                              signals + 1, 2, NVSHMEM_SIGNAL_ADD, next);
    nvshmem_quiet();
    nvshmemx_signal_op(signals + 2, 9, NVSHMEM_SIGNAL_SET, next);
    check(nvshmem_signal_wait_until(signals + 2, NVSHMEM_CMP_EQ, 9) == 9);
    check(nvshmem_signal_fetch(signals) == 5);
    check(is_from(to, prev, N) && signals[1] == 2);
    nvshmem_int_get(got, from, 4, next);
    nvshmem_getmem_nbi(got + 4, from + 4, 4 * sizeof(int), next);
    nvshmem_get32(got + 8, from + 8, 3, next);
    nvshmem_int_iget(got + 11, from + 11, 1, 1, 4, next);
    got[15] = nvshmem_int_g(from + 15, next);
    nvshmem_quiet();
    check(is_from(got, next, 16));
}

T(moves_and_signals)
{
    memset(to, 0, N * sizeof *to);
    memset(signals, 0, 3 * sizeof *signals);
    nvshmem_barrier_all();
    run(moves, NULL, 1, 1);
    nvshmem_barrier_all();
}

/* ---- by block and warp: a call is a phase of its own ---- */

static void by_block(const shmemx_item_t *it, void *unused)
{
    (void)unused;
    switch (it->phase) {
    case 0: nvshmemx_int_put_nbi_block(to, from, 10, next); break;
    case 1: nvshmemx_putmem_warp(to + 10, from + 10, 40, next); break;
    case 2: nvshmemx_put32_block(to + 20, from + 20, 10, next); break;
    case 3:
        nvshmemx_int_put_signal_block(to + 30, from + 30, 10, signals, 1,
                                      NVSHMEM_SIGNAL_ADD, next);
        break;
    case 4: nvshmemx_barrier_all_block(); break;
    case 5: check(is_from(to, prev, N) && signals[0] == 1); break;
    case 6: nvshmemx_int_get_block(got, from, N, next); break;
    case 7: check(is_from(got, next, N)); break;
    default: check(nvshmemx_sync_block(NVSHMEM_TEAM_WORLD) == 0);
    }
}

T(blocks_and_warps)
{
    memset(to, 0, N * sizeof *to);
    memset(got, 0, N * sizeof *got);
    signals[0] = 0;
    nvshmem_barrier_all();
    run(by_block, NULL, ITEMS, 9);
    nvshmem_barrier_all();
}

/* ---- atomics and waits ---- */

static void atomics(const shmemx_item_t *it, void *unused)
{
    const int all[2] = { 0, 0 };
    size_t which[2];
    long values[2] = { 41, 7 };

    (void)it;
    (void)unused;
    nvshmem_long_atomic_add(words, 40, next);
    nvshmem_quiet();
    check(nvshmem_long_atomic_fetch_inc(words, next) == 40);
    nvshmem_long_atomic_set(words + 1, 7, next);
    nvshmem_quiet();
    check(nvshmem_long_atomic_compare_swap(words + 2, 0, 3, next) == 0);
    check(nvshmem_long_atomic_fetch_or(words + 2, 4, next) == 3);
    nvshmem_long_wait_until_all(words, 2, all, NVSHMEM_CMP_GT, 0);
    nvshmem_long_wait_until(words, NVSHMEM_CMP_EQ, 41);
    check(nvshmem_long_test(words + 1, NVSHMEM_CMP_EQ, 7));
    check(nvshmem_long_test_all_vector(words, 2, all, NVSHMEM_CMP_EQ, values));
    check(nvshmem_long_wait_until_any(words, 2, all, NVSHMEM_CMP_EQ, 7) == 1);
    check(nvshmem_long_test_some(words, 2, which, all, NVSHMEM_CMP_GE, 7) == 2);
    nvshmem_barrier_all();
    check(nvshmem_long_atomic_fetch(words + 2, next) == 7);
}

T(atomics_and_waits)
{
    memset(words, 0, 3 * sizeof *words);
    nvshmem_barrier_all();
    run(atomics, NULL, 1, 1);
    nvshmem_barrier_all();
}

/* ---- teams and collectives ---- */

static void collectives(const shmemx_item_t *it, void *arg)
{
    nvshmem_team_t team = *(const nvshmem_team_t *)arg;
    int mine = nvshmem_team_my_pe(team), n = nvshmem_team_n_pes(team), sum = 0;

    (void)it;
    for (int i = 0; i < n; i++)
        sum += nvshmem_team_translate_pe(team, i, NVSHMEM_TEAM_WORLD);
    got[0] = me;
    check(!nvshmem_int_sum_reduce(team, to, got, 1) && to[0] == sum);
    check(!nvshmem_int_fcollect(team, to, got, 1));
    for (int i = 0; i < n; i++)
        check(to[i] ==
              nvshmem_team_translate_pe(team, i, NVSHMEM_TEAM_WORLD));
    check(!nvshmem_broadcastmem(team, to, got, sizeof(int), n - 1));
    check(to[0] == nvshmem_team_translate_pe(team, n - 1,
                                             NVSHMEM_TEAM_WORLD));
    for (int i = 0; i < n; i++)
        got[i] = mine * 10 + i;
    check(!nvshmemx_int_alltoall_block(team, to, got, 1));
    for (int i = 0; i < n; i++)
        check(to[i] == i * 10 + mine);
    check(!nvshmemx_int_max_reducescatter_block(team, to, got, 1) &&
          to[0] == (n - 1) * 10 + mine);
    check(nvshmem_team_sync(team) == 0 && nvshmem_barrier(team) == 0);
}

T(teams_and_collectives)
{
    nvshmem_team_t team = NVSHMEM_TEAM_WORLD, pair, half;

    run(collectives, &team, 1, 1);
    nvshmem_barrier_all();
    T_EQ(nvshmem_team_split_2d(team, n_pes > 1 ? 2 : 1, NULL, 0, &pair, NULL,
                               0, &half), 0);
    run(collectives, &pair, 1, 1);
    nvshmem_barrier_all();
    run(collectives, &half, 1, 1);
    nvshmem_barrier_all();
    nvshmem_team_destroy(half);
    nvshmem_team_destroy(pair);
}

/* ---- the host ---- */

/* Without a quiet: it is the barrier on the stream that completes it. */
static void put_and_end(const shmemx_item_t *it, void *unused)
{
    (void)it;
    (void)unused;
    nvshmem_int_p(to, me + 7, next);
    nvshmem_putmem_nbi(to + 1, from + 1, (N - 1) * sizeof(int), next);
    nvshmem_long_atomic_add(words, 3, next);
}

T(a_barrier_on_a_stream_completes_kernels)
{
    shmemx_grid_t g = { .groups = 1, .items = 1, .phases = 1 };
    long seen;

    for (int i = 0; i < 200; i++) {
        memset(to, 0, N * sizeof *to);
        words[0] = 0;
        shmem_barrier_all();
        T_EQ(shmemx_stream_launch(stream, &g, put_and_end, NULL), 0);
        nvshmemx_barrier_all_on_stream(stream);
        T_EQ(shmemx_stream_copy(stream, got, to, N * sizeof *to), 0);
        T_EQ(shmemx_stream_copy(stream, &seen, words, sizeof seen), 0);
        T_EQ(shmemx_stream_sync(stream), 0);
        T_EQ(got[0], prev + 7);
        for (int k = 1; k < N; k++)
            T_EQ(got[k], prev * 1000 + k);
        T_EQ(seen, 3);
    }
}

T(calls_of_the_host)
{
    memset(to, 0, N * sizeof *to);
    signals[0] = 0;
    nvshmem_barrier_all();
    nvshmemx_int_put_on_stream(to, from, 10, next, stream);
    nvshmemx_putmem_on_stream(to + 10, from + 10, 40, next, stream);
    nvshmemx_int_p_on_stream(to + 20, from[20], next, stream);
    nvshmemx_quiet_on_stream(stream);
    nvshmemx_putmem_signal_on_stream(to + 21, from + 21, 40, signals, 1,
                                     NVSHMEM_SIGNAL_ADD, next, stream);
    nvshmemx_signal_wait_until_on_stream(signals, NVSHMEM_CMP_GE, 1, stream);
    nvshmemx_barrier_all_on_stream(stream);
    T_EQ(shmemx_stream_sync(stream), 0);
    T_TRUE(is_from(to, prev, 31));
    nvshmem_barrier_all();
}

int main(void)
{
    int level;

    nvshmem_init();
    nvshmem_query_thread(&level);
    me = nvshmem_my_pe();
    n_pes = nvshmem_n_pes();
    T_PE(me);
    T_TRUE(level >= NVSHMEM_THREAD_SERIALIZED);
    next = (me + 1) % n_pes;
    prev = (me + n_pes - 1) % n_pes;
    T_EQ(shmemx_stream_create(&stream), 0);
    to = nvshmem_malloc(N * sizeof *to);
    from = nvshmem_calloc(N, sizeof *from);
    got = nvshmem_align(64, N * sizeof *got);
    signals = nvshmem_calloc(3, sizeof *signals);
    words = nvshmem_calloc(3, sizeof *words);
    for (int i = 0; i < N; i++)
        from[i] = me * 1000 + i;
    T_RUN(moves_and_signals);
    T_RUN(blocks_and_warps);
    T_RUN(atomics_and_waits);
    T_RUN(teams_and_collectives);
    T_RUN(a_barrier_on_a_stream_completes_kernels);
    T_RUN(calls_of_the_host);
    nvshmem_free(words);
    nvshmem_free(signals);
    nvshmem_free(got);
    nvshmem_free(from);
    nvshmem_free(to);
    T_EQ(shmemx_stream_destroy(stream), 0);
    nvshmem_finalize();
    return T_DONE();
}
