/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: each type-generic name of C11 calls the function of its
 * argument's type, with and without a context, and the C functions that share
 * a name keep theirs.
 * PEs: 2
 * Ppn: 2/1 */
#include "../t.h"

#include <shmem.h>

#define TYPES(X)                                                            \
    X(float) X(double) X(long double) X(char) X(signed char) X(short)       \
    X(int) X(long) X(long long) X(unsigned char) X(unsigned short)          \
    X(unsigned) X(unsigned long) X(unsigned long long) X(int8_t)            \
    X(int16_t) X(int32_t) X(int64_t) X(uint8_t) X(uint16_t) X(uint32_t)     \
    X(uint64_t) X(size_t) X(ptrdiff_t)
#define AMO_TYPES(X)                                                        \
    X(int) X(long) X(long long) X(unsigned) X(unsigned long)                \
    X(unsigned long long) X(int32_t) X(int64_t) X(uint32_t) X(uint64_t)     \
    X(size_t) X(ptrdiff_t)
#define BIT_TYPES(X)                                                        \
    X(unsigned) X(unsigned long) X(unsigned long long) X(int32_t)           \
    X(int64_t) X(uint32_t) X(uint64_t)
#define REDUCE_BIT_TYPES(X)                                                 \
    X(unsigned char) X(unsigned short) X(int8_t) X(int16_t) X(uint8_t)      \
    X(uint16_t) BIT_TYPES(X) X(size_t)

static _Alignas(16) char d_[256], s_[256];
static uint64_t sig;
static int me, peer, n;
static shmem_ctx_t ctx;

static void synchronize(void)
{
    shmem_barrier_all();
}

/* What was called so far has happened: contexts know no order among them, and
 * what does not fetch may take its time. */
static void complete_all(void)
{
    shmem_quiet();
    shmem_ctx_quiet(ctx);
}

#define RMA(T)                                                              \
    do {                                                                    \
        T *d = (T *)(void *)d_, *s = (T *)(void *)s_, l[4] = { 0 };         \
        for (int i = 0; i < 8; i++) {                                       \
            s[i] = (T)(me * 10 + i);                                        \
            d[i] = (T)0;                                                    \
        }                                                                   \
        sig = 0;                                                            \
        synchronize();                                                      \
        shmem_put(d, s, 1, peer);                                           \
        shmem_put(ctx, d + 1, s + 1, 1, peer);                              \
        shmem_p(d + 2, s[2], peer);                                         \
        shmem_p(ctx, d + 3, s[3], peer);                                    \
        shmem_iput(d + 4, s + 4, 1, 1, 1, peer);                            \
        shmem_ibput(ctx, d + 5, s + 5, 1, 1, 1, 1, peer);                   \
        shmem_put_nbi(ctx, d + 6, s + 6, 1, peer);                          \
        shmem_put_signal(d + 7, s + 7, 1, &sig, 3, SHMEM_SIGNAL_ADD, peer); \
        shmem_put_signal_nbi(ctx, d + 7, s + 7, 1, &sig, 4,                 \
                             SHMEM_SIGNAL_ADD, peer);                       \
        shmem_quiet();                                                      \
        shmem_ctx_quiet(ctx);                                               \
        synchronize();                                                      \
        for (int i = 0; i < 8; i++)                                         \
            T_TRUE(d[i] == (T)(peer * 10 + i));                             \
        T_EQ(sig, 7);                                                       \
        shmem_get(l, s, 1, peer);                                           \
        shmem_get_nbi(ctx, l + 1, s + 1, 1, peer);                          \
        shmem_iget(ctx, l + 2, s + 2, 1, 1, 1, peer);                       \
        shmem_ibget(l + 3, s + 3, 1, 1, 1, 1, peer);                        \
        shmem_ctx_quiet(ctx);                                               \
        for (int i = 0; i < 4; i++)                                         \
            T_TRUE(l[i] == (T)(peer * 10 + i));                             \
        T_TRUE(shmem_g(s, peer) == (T)(peer * 10));                         \
        T_TRUE(shmem_g(ctx, (const T *)s, peer) == (T)(peer * 10));         \
        synchronize();                                                      \
    } while (0);

T(rma)
{
    TYPES(RMA)
}

#define AMO(T)                                                              \
    do {                                                                    \
        T *d = (T *)(void *)d_, old = 0;                                    \
        *d = 5;                                                             \
        synchronize();                                                      \
        if (me == 0) {                                                      \
            T_TRUE(shmem_atomic_fetch(d, 1) == 5);                          \
            shmem_atomic_set(ctx, d, (T)6, 1);                              \
            complete_all();                                                 \
            T_TRUE(shmem_atomic_swap(d, (T)7, 1) == 6);                     \
            T_TRUE(shmem_atomic_compare_swap(ctx, d, (T)7, (T)8, 1) == 7);  \
            T_TRUE(shmem_atomic_fetch_inc(d, 1) == 8);                      \
            shmem_atomic_inc(ctx, d, 1);                                    \
            complete_all();                                                 \
            T_TRUE(shmem_atomic_fetch_add(d, (T)2, 1) == 10);               \
            shmem_atomic_add(ctx, d, (T)3, 1);                              \
            complete_all();                                                 \
            shmem_atomic_fetch_nbi(ctx, &old, (const T *)d, 1);             \
            shmem_ctx_quiet(ctx);                                           \
            T_TRUE(old == 15);                                              \
            shmem_atomic_swap_nbi(&old, d, (T)1, 1);                        \
            complete_all();                                                 \
            shmem_atomic_compare_swap_nbi(&old, d, (T)1, (T)2, 1);          \
            complete_all();                                                 \
            shmem_atomic_fetch_inc_nbi(&old, d, 1);                         \
            complete_all();                                                 \
            shmem_atomic_fetch_add_nbi(&old, d, (T)4, 1);                   \
            shmem_quiet();                                                  \
            T_TRUE(old == 3);                                               \
        }                                                                   \
        synchronize();                                                      \
        if (me == 1) {                                                      \
            T_TRUE(*d == 7);                                                \
            T_TRUE(shmem_test(d, SHMEM_CMP_EQ, (T)7));                      \
            shmem_wait_until(d, SHMEM_CMP_GE, (T)7);                        \
            T_TRUE(shmem_test_all(d, 1, NULL, SHMEM_CMP_EQ, (T)7));         \
            T_EQ(shmem_test_any(d, 1, NULL, SHMEM_CMP_EQ, (T)7), 0);        \
            T_EQ(shmem_wait_until_any(d, 1, NULL, SHMEM_CMP_EQ, (T)7), 0);  \
            shmem_wait_until_all(d, 1, NULL, SHMEM_CMP_NE, (T)0);           \
            T_TRUE(shmem_test_all_vector(d, 1, NULL, SHMEM_CMP_EQ, d));     \
            T_EQ(shmem_test_any_vector(d, 1, NULL, SHMEM_CMP_EQ, d), 0);    \
            T_EQ(shmem_wait_until_any_vector(d, 1, NULL, SHMEM_CMP_EQ, d),  \
                 0);                                                        \
            shmem_wait_until_all_vector(d, 1, NULL, SHMEM_CMP_EQ, d);       \
            size_t where = 9;                                               \
            T_EQ(shmem_test_some(d, 1, &where, NULL, SHMEM_CMP_EQ, (T)7), 1); \
            T_EQ(shmem_wait_until_some(d, 1, &where, NULL, SHMEM_CMP_EQ,    \
                                       (T)7), 1);                           \
            T_EQ(shmem_test_some_vector(d, 1, &where, NULL, SHMEM_CMP_EQ,   \
                                        d), 1);                             \
            T_EQ(shmem_wait_until_some_vector(d, 1, &where, NULL,           \
                                              SHMEM_CMP_EQ, d), 1);         \
            T_EQ(where, 0);                                                 \
        }                                                                   \
        synchronize();                                                      \
    } while (0);
#define BIT(T)                                                              \
    do {                                                                    \
        T *d = (T *)(void *)d_, old = 0;                                    \
        *d = 0x70;                                                          \
        synchronize();                                                      \
        if (me == 0) {                                                      \
            T_TRUE(shmem_atomic_fetch_and(d, (T)0x30, 1) == 0x70);          \
            shmem_atomic_and(ctx, d, (T)0x10, 1);                           \
            complete_all();                                                 \
            T_TRUE(shmem_atomic_fetch_or(ctx, d, (T)1, 1) == 0x10);         \
            shmem_atomic_or(d, (T)2, 1);                                    \
            complete_all();                                                 \
            T_TRUE(shmem_atomic_fetch_xor(d, (T)3, 1) == 0x13);             \
            shmem_atomic_xor(ctx, d, (T)4, 1);                              \
            complete_all();                                                 \
            shmem_atomic_fetch_and_nbi(&old, d, (T)0xff, 1);                \
            complete_all();                                                 \
            shmem_atomic_fetch_or_nbi(ctx, &old, d, (T)0, 1);               \
            complete_all();                                                 \
            shmem_atomic_fetch_xor_nbi(&old, d, (T)0, 1);                   \
            shmem_quiet();                                                  \
            T_TRUE(old == 0x14);                                            \
        }                                                                   \
        synchronize();                                                      \
    } while (0);

T(atomics_and_waits)
{
    float *f = (float *)(void *)d_;

    AMO_TYPES(AMO)
    BIT_TYPES(BIT)
    *f = 1.5f;
    synchronize();
    if (me == 0) {
        T_TRUE(shmem_atomic_swap(f, 2.5f, 1) == 1.5f);
        shmem_atomic_set(ctx, f, 3.5f, 1);
        complete_all();
        T_TRUE(shmem_atomic_fetch(f, 1) == 3.5f);
    }
    synchronize();
}

#define COLL(T)                                                             \
    do {                                                                    \
        T *d = (T *)(void *)d_, *s = (T *)(void *)s_;                       \
        s[0] = (T)(me + 1);                                                 \
        s[1] = (T)(me + 11);                                                \
        synchronize();                                                      \
        T_EQ(shmem_broadcast(SHMEM_TEAM_WORLD, d, s, 1, 1), 0);             \
        T_TRUE(d[0] == (T)2);                                               \
        T_EQ(shmem_alltoall(SHMEM_TEAM_WORLD, d + 2, s, 1), 0);             \
        T_TRUE(d[2] == (T)(me ? 11 : 1) && d[3] == (T)(me ? 12 : 2));       \
        T_EQ(shmem_alltoalls(SHMEM_TEAM_WORLD, d + 4, s, 1, 1, 1), 0);      \
        T_EQ(shmem_collect(SHMEM_TEAM_WORLD, d + 6, s, 1), 0);              \
        synchronize();                                                      \
        T_EQ(shmem_fcollect(SHMEM_TEAM_WORLD, d, s, 1), 0);                 \
        T_TRUE(d[0] == (T)1 && d[1] == (T)2 && d[7] == (T)2);               \
        T_EQ(shmem_max_reduce(SHMEM_TEAM_WORLD, d + 2, s, 1), 0);           \
        T_EQ(shmem_min_reduce(SHMEM_TEAM_WORLD, d + 3, s, 1), 0);           \
        T_TRUE(d[2] == (T)2 && d[3] == (T)1);                               \
        T_EQ(shmem_sum_reduce(SHMEM_TEAM_WORLD, d + 4, s, 1), 0);           \
        T_EQ(shmem_prod_reduce(SHMEM_TEAM_WORLD, d + 5, s, 1), 0);          \
        T_TRUE(d[4] == (T)3 && d[5] == (T)2);                               \
        T_EQ(shmem_sum_inscan(SHMEM_TEAM_WORLD, d + 6, s, 1), 0);           \
        T_EQ(shmem_sum_exscan(SHMEM_TEAM_WORLD, d + 7, s, 1), 0);           \
        T_TRUE(d[6] == (T)(me ? 3 : 1) && d[7] == (T)(me ? 1 : 0));         \
        synchronize();                                                      \
    } while (0);
#define COLL_BIT(T)                                                         \
    do {                                                                    \
        T *d = (T *)(void *)d_, *s = (T *)(void *)s_;                       \
        s[0] = (T)(me + 1);                                                 \
        synchronize();                                                      \
        T_EQ(shmem_and_reduce(SHMEM_TEAM_WORLD, d, s, 1), 0);               \
        T_EQ(shmem_or_reduce(SHMEM_TEAM_WORLD, d + 1, s, 1), 0);            \
        T_EQ(shmem_xor_reduce(SHMEM_TEAM_WORLD, d + 2, s, 1), 0);           \
        T_TRUE(d[0] == (T)0 && d[1] == (T)3 && d[2] == (T)3);               \
        synchronize();                                                      \
    } while (0);

T(collectives)
{
    static double _Complex zs, zd;
    static float _Complex cs, cd;

    TYPES(COLL)
    REDUCE_BIT_TYPES(COLL_BIT)
    zs = 1 + me;
    cs = 1 + me;
    synchronize();
    T_EQ(shmem_sum_reduce(SHMEM_TEAM_WORLD, &zd, &zs, 1), 0);
    T_EQ(shmem_prod_reduce(SHMEM_TEAM_WORLD, &cd, &cs, 1), 0);
    T_TRUE(zd == 3 && cd == 2);
}

/* Names that are also C functions. */
T(counted_arguments)
{
    static long pSync[SHMEM_BARRIER_SYNC_SIZE], word;
    static short s;
    void (*function)(long *, int, long) = shmem_wait_until;

    sig = 0;
    word = s = 0;
    synchronize();
    shmem_signal_add(&sig, 1, peer);
    shmem_signal_add(ctx, &sig, 2, peer);
    shmem_ctx_quiet(ctx);
    shmem_sync(SHMEM_TEAM_WORLD);
    shmem_sync(0, 0, n, pSync);
    shmem_signal_wait_until(&sig, SHMEM_CMP_EQ, 3);
    synchronize();
    shmem_signal_set(&sig, 8, peer);
    shmem_quiet();
    shmem_signal_set(ctx, &sig, 9, peer);
    shmem_signal_wait_until(&sig, SHMEM_CMP_EQ, 9);
    function(&word, SHMEM_CMP_EQ, 0);
    T_TRUE(shmem_test(&s, SHMEM_CMP_EQ, 0));
    shmem_wait_until(&s, SHMEM_CMP_LE, 0);
    synchronize();
}

T(deprecated)
{
    static long l;
    static int i;
    static float f;

    l = i = 1;
    f = 1;
    synchronize();
    if (me == 0) {
        T_EQ(shmem_fetch((const long *)&l, 1), 1);
        shmem_set(&i, 4, 1);
        complete_all();
        T_TRUE(shmem_swap(&f, 3.0f, 1) == 1.0f);
        T_EQ(shmem_cswap(&l, 1, 2, 1), 1);
        T_EQ(shmem_finc(&l, 1), 2);
        shmem_inc(&l, 1);
        complete_all();
        T_EQ(shmem_fadd(&i, 5, 1), 4);
        shmem_add(&i, 1, 1);
    }
    synchronize();
    T_TRUE(me == 0 || (l == 4 && i == 10 && f == 3.0f));
}

int main(void)
{
    shmem_init();
    me = shmem_my_pe();
    n = shmem_n_pes();
    peer = (me + 1) % n;
    T_PE(me);
    T_EQ(shmem_ctx_create(0, &ctx), 0);
    T_RUN(rma);
    T_RUN(atomics_and_waits);
    T_RUN(collectives);
    T_RUN(counted_arguments);
    T_RUN(deprecated);
    shmem_ctx_destroy(ctx);
    shmem_finalize();
    return T_DONE();
}
