/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: each type-generic name of a call on a stream calls the function
 * of its argument's type, with and without a context.
 * PEs: 2
 * Ppn: 2/1 */
#include "../t.h"
#include <shmem.h>
#include <shmemx_st.h>

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
#define EXT_TYPES(X) X(float) X(double) AMO_TYPES(X)
#define BIT_TYPES(X)                                                        \
    X(unsigned) X(unsigned long) X(unsigned long long) X(int32_t)           \
    X(int64_t) X(uint32_t) X(uint64_t)

static _Alignas(16) char d_[256], s_[256];
static uint64_t sig;
static int me, peer;
static shmem_ctx_t ctx;
static shmemx_stream_t st;

static void complete_all(void)
{
    T_EQ(shmemx_quiet_on_stream(st), 0);
    T_EQ(shmemx_ctx_quiet_on_stream(ctx, st), 0);
    T_EQ(shmemx_stream_sync(st), 0);
}

#define ON(op, ...) T_EQ(shmemx_##op##_on_stream(__VA_ARGS__, st), 0)

#define RMA(T)                                                              \
    do {                                                                    \
        T *d = (T *)(void *)d_, *s = (T *)(void *)s_, l[6] = { 0 };         \
        for (int i = 0; i < 9; i++) {                                       \
            s[i] = (T)(me * 10 + i);                                        \
            d[i] = (T)0;                                                    \
        }                                                                   \
        sig = 0;                                                            \
        shmem_barrier_all();                                                \
        ON(put, d, s, 1, peer);                                             \
        ON(put, ctx, d + 1, s + 1, 1, peer);                                \
        ON(p, d + 2, s[2], peer);                                           \
        ON(p, ctx, d + 3, s[3], peer);                                      \
        ON(iput, d + 4, s + 4, 1, 1, 1, peer);                              \
        ON(ibput, ctx, d + 5, s + 5, 1, 1, 1, 1, peer);                     \
        ON(put_nbi, ctx, d + 6, s + 6, 1, peer);                            \
        ON(put_signal, d + 7, s + 7, 1, &sig, 3, SHMEM_SIGNAL_ADD, peer);   \
        ON(put_signal_nbi, ctx, d + 8, s + 8, 1, &sig, 4,                   \
           SHMEM_SIGNAL_ADD, peer);                                         \
        complete_all();                                                     \
        shmem_barrier_all();                                                \
        for (int i = 0; i < 9; i++)                                         \
            T_TRUE(d[i] == (T)(peer * 10 + i));                             \
        T_EQ(sig, 7);                                                       \
        ON(get, l, s, 1, peer);                                             \
        ON(get_nbi, ctx, l + 1, (const T *)s + 1, 1, peer);                 \
        ON(iget, ctx, l + 2, s + 2, 1, 1, 1, peer);                         \
        ON(ibget, l + 3, s + 3, 1, 1, 1, 1, peer);                          \
        ON(g, l + 4, (const T *)s + 4, peer);                               \
        ON(g, ctx, l + 5, s + 5, peer);                                     \
        complete_all();                                                     \
        for (int i = 0; i < 6; i++)                                         \
            T_TRUE(l[i] == (T)(peer * 10 + i));                             \
        shmem_barrier_all();                                                \
    } while (0);

T(rma)
{
    TYPES(RMA)
}

#define BEGIN(T)                                                            \
    T *d = (T *)(void *)d_, l[3] = { 0 };                                   \
    d[0] = (T)12;                                                           \
    shmem_barrier_all();
#define END                                                                 \
    complete_all();                                                         \
    shmem_barrier_all();

#define EXT(T)                                                              \
    do {                                                                    \
        BEGIN(T)                                                            \
        ON(atomic_swap, l, d, (T)7, peer);                                  \
        ON(atomic_fetch, l + 1, (const T *)d, peer);                        \
        ON(atomic_set, ctx, d, (T)9, peer);                                 \
        complete_all();                                                     \
        ON(atomic_fetch, ctx, l + 2, d, peer);                              \
        END                                                                 \
        T_TRUE(l[0] == (T)12 && l[1] == (T)7 && l[2] == (T)9);              \
    } while (0);
#define AMO(T)                                                              \
    do {                                                                    \
        BEGIN(T)                                                            \
        ON(atomic_compare_swap, ctx, l, d, (T)12, (T)20, peer);             \
        ON(atomic_fetch_inc, l + 1, d, peer);                               \
        ON(atomic_inc, ctx, d, peer);                                       \
        ON(atomic_add, d, (T)5, peer);                                      \
        complete_all();                                                     \
        ON(atomic_fetch_add, l + 2, d, (T)1, peer);                         \
        END                                                                 \
        T_TRUE(l[0] == (T)12 && l[1] == (T)20 && l[2] == (T)27);            \
        T_TRUE(d[0] == (T)28);                                              \
    } while (0);
#define BIT(T)                                                              \
    do {                                                                    \
        BEGIN(T)                                                            \
        ON(atomic_fetch_and, l, d, (T)10, peer);                            \
        ON(atomic_fetch_or, ctx, l + 1, d, (T)3, peer);                     \
        ON(atomic_fetch_xor, l + 2, d, (T)15, peer);                        \
        ON(atomic_or, d, (T)8, peer);                                       \
        complete_all();                                                     \
        ON(atomic_and, ctx, d, (T)12, peer);                                \
        complete_all();                                                     \
        ON(atomic_xor, d, (T)6, peer);                                      \
        END                                                                 \
        T_TRUE(l[0] == (T)12 && l[1] == (T)8 && l[2] == (T)11);             \
        T_TRUE(d[0] == (T)10);                                              \
    } while (0);

T(atomics)
{
    EXT_TYPES(EXT)
    AMO_TYPES(AMO)
    BIT_TYPES(BIT)
}

#define WAIT(T)                                                             \
    do {                                                                    \
        T *d = (T *)(void *)d_;                                             \
        static const T want[2] = { 5, 5 };                                  \
        size_t index[2] = { 9, 9 }, count[2] = { 9, 9 }, which[2];          \
                                                                            \
        d[0] = d[1] = 0;                                                    \
        shmem_barrier_all();                                                \
        ON(wait_until_any, &index[0], d, 2, NULL, SHMEM_CMP_EQ, (T)4);      \
        ON(wait_until_any_vector, &index[1], d, 2, NULL, SHMEM_CMP_NE,      \
           want);                                                           \
        ON(wait_until_some, &count[0], d, 2, which, NULL, SHMEM_CMP_EQ,     \
           (T)4);                                                           \
        ON(wait_until_some_vector, &count[1], d, 2, which, NULL,            \
           SHMEM_CMP_LE, want);                                             \
        ON(wait_until, d + 1, SHMEM_CMP_EQ, (T)4);                          \
        ON(wait_until_all, d, 2, NULL, SHMEM_CMP_LE, (T)5);                 \
        ON(wait_until_all_vector, d, 2, NULL, SHMEM_CMP_LT, want);          \
        shmem_p(d + 1, (T)4, peer);                                         \
        T_EQ(shmemx_stream_sync(st), 0);                                    \
        T_EQ(index[0], 1);                                                  \
        T_TRUE(index[1] < 2);                                               \
        T_EQ(count[0], 1);                                                  \
        T_EQ(count[1], 2);                                                  \
        shmem_barrier_all();                                                \
    } while (0);

T(waits)
{
    AMO_TYPES(WAIT)
}

T(signals)
{
    sig = 0;
    shmem_barrier_all();
    ON(signal_set, &sig, 5, peer);
    complete_all();
    ON(signal_add, ctx, &sig, 4, peer);
    complete_all();
    shmem_barrier_all();
    T_EQ(sig, 9);
    shmem_barrier_all();
    ON(signal_set, ctx, &sig, 40, peer);
    complete_all();
    ON(signal_add, &sig, 3, peer);
    complete_all();
    shmem_barrier_all();
    T_EQ(sig, 43);
}

int main(void)
{
    shmem_init();
    T_PE(shmem_my_pe());
    me = shmem_my_pe();
    peer = 1 - me;
    T_EQ(shmem_ctx_create(0, &ctx), 0);
    T_EQ(shmemx_stream_create(&st), 0);
    T_RUN(rma);
    T_RUN(atomics);
    T_RUN(waits);
    T_RUN(signals);
    T_EQ(shmemx_stream_destroy(st), 0);
    shmem_ctx_destroy(ctx);
    shmem_finalize();
    return T_DONE();
}
