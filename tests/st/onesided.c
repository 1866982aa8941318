/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: each kind of one-sided operation does on a stream what the call
 * of OpenSHMEM does, in the order of the stream, to near and far PEs and
 * between both heaps.
 * PEs: 1 2 4
 * Ppn: 2/1 4/2 3/1
 * Env: SHMEM_DEVICE_SYMMETRIC_SIZE=16M */
#include "st.h"

enum { N = 3000, BIG = 400000 };

static shmemx_stream_t s;
static uint64_t *signals;       /* in host memory */

/* Device memory is looked at by copies only. */
static void store(void *to, const void *from, size_t n)
{
    T_EQ(shmemx_stream_copy(s, to, from, n), 0);
    T_EQ(shmemx_stream_sync(s), 0);
}

static void load(void *to, const void *from, size_t n)
{
    T_EQ(shmemx_stream_copy(s, to, from, n), 0);
    T_EQ(shmemx_stream_sync(s), 0);
}

static void *both(int k, size_t n)
{
    void *p = shmem_space_calloc(k ? SHMEM_SPACE_DEVICE : SHMEM_SPACE_CPU, 1,
                                 n);

    T_TRUE(p != NULL);
    return p;
}

T(puts_and_gets_move_data_between_both_heaps)
{
    static long here[BIG], there[BIG];

    for (int k = 0; k < 4; k++) {
        long *src = both(k & 1, sizeof here);
        long *dst = both(k >> 1, sizeof here);

        for (int nbi = 0; nbi < 2; nbi++) {
            size_t sizes[] = { 1, 7, 512, 600, N, BIG };

            for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
                size_t n = sizes[i];

                for (size_t j = 0; j < n; j++)
                    here[j] = (long)(1000000 * (me + 1) + j + i + (size_t)nbi);
                store(src, here, n * sizeof *here);
                shmem_barrier_all();
                if (nbi)
                    T_EQ(shmemx_long_put_nbi_on_stream(dst, src, n, next, s),
                         0);
                else
                    T_EQ(shmemx_long_put_on_stream(dst, src, n, next, s), 0);
                T_EQ(shmemx_quiet_on_stream(s), 0);
                T_EQ(shmemx_stream_sync(s), 0);
                shmem_barrier_all();
                load(there, dst, n * sizeof *there);
                for (size_t j = 0; j < n; j++)
                    if (there[j] != here[j] - 1000000 * (me - prev)) {
                        T_EQ(there[j], here[j] - 1000000 * (me - prev));
                        break;
                    }
                /* and what I have put there comes back */
                memset(there, 0, n * sizeof *there);
                if (nbi)
                    T_EQ(shmemx_getmem_nbi_on_stream(there, dst,
                                                     n * sizeof *there, next,
                                                     s), 0);
                else
                    T_EQ(shmemx_getmem_on_stream(there, dst,
                                                 n * sizeof *there, next, s),
                         0);
                if (nbi)
                    T_EQ(shmemx_quiet_on_stream(s), 0);
                T_EQ(shmemx_stream_sync(s), 0);
                T_TRUE(!memcmp(there, here, n * sizeof *there));
                shmem_barrier_all();
            }
        }
        shmem_free(src);
        shmem_free(dst);
    }
}

T(a_signal_comes_after_its_data)
{
    for (int k = 0; k < 2; k++) {
        long *dst = both(k, N * sizeof *dst);
        static long here[N], there[N];

        for (int round = 1; round <= 20; round++) {
            for (int j = 0; j < N; j++)
                here[j] = round * 10 + me + j;
            T_EQ(shmemx_long_put_signal_on_stream(
                     dst, here, N, &signals[0], 1, SHMEM_SIGNAL_ADD, next, s),
                 0);
            T_EQ(shmemx_signal_wait_until_on_stream(
                     NULL, &signals[0], SHMEM_CMP_GE, (uint64_t)round, s), 0);
            T_EQ(shmemx_stream_copy(s, there, dst, sizeof there), 0);
            T_EQ(shmemx_signal_set_on_stream(&signals[1], (uint64_t)round,
                                             prev, s), 0);
            T_EQ(shmemx_uint64_wait_until_on_stream(
                     &signals[1], SHMEM_CMP_EQ, (uint64_t)round, s), 0);
            T_EQ(shmemx_stream_sync(s), 0);
            for (int j = 0; j < N; j++)
                if (there[j] != round * 10 + prev + j) {
                    T_EQ(there[j], round * 10 + prev + j);
                    break;
                }
        }
        shmem_barrier_all();
        signals[0] = signals[1] = 0;
        shmem_barrier_all();
        shmem_free(dst);
    }
}

T(atomics_are_atomic_and_fetch_what_was)
{
    for (int k = 0; k < 2; k++) {
        long *word = both(k, 2 * sizeof *word);
        unsigned *half = both(k, sizeof *half);
        long was[100], now = 0;
        unsigned u = 0;

        for (int i = 0; i < 100; i++)
            T_EQ(shmemx_long_atomic_fetch_add_on_stream(&was[i], word, 1, 0,
                                                        s), 0);
        for (int i = 0; i < 100; i++)
            T_EQ(shmemx_uint_atomic_inc_on_stream(half, 0, s), 0);
        T_EQ(shmemx_uint_atomic_or_on_stream(half, 0x80000000u, 0, s), 0);
        T_EQ(shmemx_quiet_on_stream(s), 0);
        T_EQ(shmemx_stream_sync(s), 0);
        for (int i = 1; i < 100; i++)
            T_TRUE(was[i] > was[i - 1]);
        shmem_barrier_all();
        T_EQ(shmemx_long_g_on_stream(&now, word, 0, s), 0);
        T_EQ(shmemx_uint_atomic_fetch_on_stream(&u, half, 0, s), 0);
        T_EQ(shmemx_stream_sync(s), 0);
        T_EQ(now, 100 * n_pes);
        T_EQ(u, 0x80000000u + 100u * (unsigned)n_pes);
        shmem_barrier_all();
        /* One wins. */
        T_EQ(shmemx_long_atomic_compare_swap_on_stream(&was[0], &word[1], 0,
                                                       me + 1, 0, s), 0);
        T_EQ(shmemx_long_atomic_swap_on_stream(&was[1], word, -1, 0, s), 0);
        T_EQ(shmemx_stream_sync(s), 0);
        shmem_barrier_all();
        now = 0;
        T_EQ(shmemx_long_g_on_stream(&now, &word[1], 0, s), 0);
        T_EQ(shmemx_stream_sync(s), 0);
        T_TRUE(now >= 1 && now <= n_pes);
        T_EQ(was[0] == 0, now == me + 1);
        T_TRUE(was[1] == 100 * n_pes || was[1] == -1);
        shmem_barrier_all();
        shmem_free(word);
        shmem_free(half);
    }
}

T(single_values_and_strides_arrive)
{
    for (int k = 0; k < 2; k++) {
        char *c = both(k, 16);
        short *h = both(k, 16);
        double *d = both(k, 16);
        long double *ld = both(k, 32);
        int *st = both(k, 400), here[100], back[100] = { 0 };
        struct { char c; short h; double d; long double ld; } got = { 0 };

        T_EQ(shmemx_char_p_on_stream(c, (char)(me + 3), next, s), 0);
        T_EQ(shmemx_short_p_on_stream(h, (short)(me + 300), next, s), 0);
        T_EQ(shmemx_double_p_on_stream(d, me + 0.5, next, s), 0);
        T_EQ(shmemx_longdouble_p_on_stream(ld, me + 0.25L, next, s), 0);
        for (int i = 0; i < 100; i++)
            here[i] = 1000 * me + i;
        T_EQ(shmemx_int_iput_on_stream(st, here, 3, 2, 30, next, s), 0);
        T_EQ(shmemx_quiet_on_stream(s), 0);
        T_EQ(shmemx_stream_sync(s), 0);
        shmem_barrier_all();
        load(&got.c, c, sizeof got.c);
        load(&got.h, h, sizeof got.h);
        load(&got.d, d, sizeof got.d);
        load(&got.ld, ld, sizeof got.ld);
        T_EQ(got.c, prev + 3);
        T_EQ(got.h, prev + 300);
        T_TRUE(got.d == prev + 0.5);
        T_TRUE(got.ld == prev + 0.25L);
        T_EQ(shmemx_int_ibget_on_stream(back, st, 4, 6, 1, 15, next, s), 0);
        T_EQ(shmemx_stream_sync(s), 0);
        for (int i = 0; i < 15; i++)
            T_EQ(back[4 * i], 1000 * me + 4 * i);
        shmem_barrier_all();
        shmem_free(c);
        shmem_free(h);
        shmem_free(d);
        shmem_free(ld);
        shmem_free(st);
    }
}

T(waits_of_every_shape_end_when_they_should)
{
    int *words = shmem_calloc(8, sizeof *words), status[8] = { 1 };
    size_t index = 99, count = 99, indices[8];
    int values[8] = { 5, 5, 5, 5, 5, 5, 5, 5 };

    shmem_barrier_all();
    T_EQ(shmemx_int_wait_until_any_on_stream(&index, words, 8, status,
                                             SHMEM_CMP_NE, 0, s), 0);
    T_EQ(shmemx_int_wait_until_some_on_stream(&count, words, 8, indices,
                                              NULL, SHMEM_CMP_LT, 0, s), 0);
    T_EQ(shmemx_stream_query(s), -EAGAIN);
    shmem_barrier_all();
    shmem_int_p(&words[3], -2, next);
    T_EQ(shmemx_stream_sync(s), 0);
    T_EQ(index, 3);
    T_EQ(count, 1);
    T_EQ(indices[0], 3);
    T_EQ(shmemx_int_wait_until_all_vector_on_stream(words, 8, status,
                                                    SHMEM_CMP_GE, values, s),
         0);
    shmem_barrier_all();
    for (int i = 1; i < 8; i++)
        shmem_int_p(&words[i], 5 + i, next);
    T_EQ(shmemx_stream_sync(s), 0);
    T_EQ(shmemx_int_wait_until_on_stream(&words[0], SHMEM_CMP_EQ, 0, s), 0);
    T_EQ(shmemx_int_wait_until_all_on_stream(NULL, 0, NULL, SHMEM_CMP_EQ, 0,
                                             s), 0);
    T_EQ(shmemx_stream_sync(s), 0);
    shmem_barrier_all();
    shmem_free(words);
}

T(wrong_arguments_are_refused_and_nothing_is_done)
{
    long *p = shmem_calloc(4, sizeof *p), x = 1;
    shmemx_stream_t gone;

    T_EQ(shmemx_long_put_on_stream(p, &x, 1, n_pes, s), -EINVAL);
    T_EQ(shmemx_long_put_on_stream(p, &x, 1, -1, s), -EINVAL);
    T_EQ(shmemx_long_put_on_stream(&x, &x, 1, me, s), -EINVAL);
    T_EQ(shmemx_long_put_on_stream(NULL, &x, 1, me, s), -EINVAL);
    T_EQ(shmemx_long_put_on_stream(p, NULL, 1, me, s), -EINVAL);
    T_EQ(shmemx_long_put_on_stream(p, &x, SIZE_MAX, me, s), -EINVAL);
    T_EQ(shmemx_long_put_on_stream(p, NULL, 0, me, s), 0);
    T_EQ(shmemx_long_get_on_stream(NULL, p, 1, me, s), -EINVAL);
    T_EQ(shmemx_long_iput_on_stream(p, &x, 0, 1, 2, me, s), -EINVAL);
    T_EQ(shmemx_ctx_long_put_on_stream(SHMEM_CTX_INVALID, p, &x, 1, me, s),
         -EINVAL);
    T_EQ(shmemx_ctx_quiet_on_stream(SHMEM_CTX_INVALID, s), -EINVAL);
    T_EQ(shmemx_long_atomic_add_on_stream((long *)((char *)p + 1), 1, me, s),
         -EINVAL);
    T_EQ(shmemx_long_atomic_fetch_on_stream(NULL, p, me, s), -EINVAL);
    T_EQ(shmemx_signal_op_on_stream((uint64_t *)p, 1, 77, me, s), -EINVAL);
    T_EQ(shmemx_long_wait_until_on_stream(p, 77, 1, s), -EINVAL);
    T_EQ(shmemx_long_wait_until_on_stream(&x, SHMEM_CMP_EQ, 1, s), -EINVAL);
    T_EQ(shmemx_stream_create(&gone), 0);
    T_EQ(shmemx_stream_destroy(gone), 0);
    T_EQ(shmemx_long_put_on_stream(p, &x, 1, next, gone), -EINVAL);
    T_EQ(shmemx_stream_sync(s), 0);
    T_EQ(p[0], 0);
    shmem_barrier_all();
    shmem_free(p);
}

T(a_context_of_a_team_counts_its_pes)
{
    shmem_team_t team;
    shmem_ctx_t ctx;
    long *p = shmem_calloc(1, sizeof *p), x = me + 1;
    int mine;

    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, n_pes, NULL, 0, &team);
    T_EQ(shmem_team_create_ctx(team, 0, &ctx), 0);
    mine = shmem_team_my_pe(team);
    T_EQ(shmemx_ctx_long_put_on_stream(ctx, p, &x, 1, (mine + 1) % n_pes, s),
         0);
    T_EQ(shmemx_ctx_fence_on_stream(ctx, s), 0);
    T_EQ(shmemx_ctx_long_atomic_add_on_stream(ctx, p, 100,
                                              (mine + 1) % n_pes, s), 0);
    T_EQ(shmemx_ctx_quiet_on_stream(ctx, s), 0);
    T_EQ(shmemx_stream_sync(s), 0);
    shmem_barrier_all();
    T_EQ(*p, prev + 101);
    shmem_ctx_destroy(ctx);
    shmem_team_destroy(team);
    shmem_free(p);
}

int main(void)
{
    st_begin();
    signals = shmem_calloc(2, sizeof *signals);
    for (int k = 0; k < 2; k++) {
        s = NULL;               /* the default stream, too */
        if (k)
            T_EQ(shmemx_stream_create(&s), 0);
        T_RUN(puts_and_gets_move_data_between_both_heaps);
        T_RUN(a_signal_comes_after_its_data);
        T_RUN(atomics_are_atomic_and_fetch_what_was);
        T_RUN(single_values_and_strides_arrive);
        T_RUN(waits_of_every_shape_end_when_they_should);
        T_RUN(wrong_arguments_are_refused_and_nothing_is_done);
        T_RUN(a_context_of_a_team_counts_its_pes);
    }
    T_EQ(shmemx_stream_destroy(s), 0);
    return st_end();
}
