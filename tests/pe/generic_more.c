/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: with shmemx.h, the deprecated atomics without a type take all
 * types of the atomics, waits and tests of arrays also short ones, and the
 * names that begin with shmemx_ exist without a type, too.
 * PEs: 2
 * Ppn: 2/1 */
#include "../t.h"

#include <shmem.h>
#include <shmemx.h>

#define AMO_TYPES(X)                                                        \
    X(int) X(long) X(long long) X(unsigned) X(unsigned long)                \
    X(unsigned long long) X(int32_t) X(int64_t) X(uint32_t) X(uint64_t)     \
    X(size_t) X(ptrdiff_t)
#define TYPES(X)                                                            \
    X(float) X(double) X(long double) X(char) X(signed char) X(short)       \
    X(unsigned char) X(unsigned short) X(int8_t) X(int16_t) X(uint8_t)      \
    X(uint16_t) AMO_TYPES(X)

static _Alignas(16) char d_[256], s_[256];
static uint64_t sig;
static int me, peer;
static shmem_ctx_t ctx;

static void complete_all(void)
{
    shmem_quiet();
    shmem_ctx_quiet(ctx);
    shmem_barrier_all();
}

#define OLD_EXT(T)                                                          \
    do {                                                                    \
        T *d = (T *)(void *)d_;                                             \
        *d = 3;                                                             \
        complete_all();                                                     \
        if (me == 0) {                                                      \
            T_TRUE(shmem_fetch((const T *)d, 1) == 3);                      \
            shmem_set(d, (T)4, 1);                                          \
            shmem_quiet();                                                  \
            T_TRUE(shmem_swap(d, (T)5, 1) == 4);                            \
        }                                                                   \
        complete_all();                                                     \
        T_TRUE(*d == (me ? 5 : 3));                                         \
        complete_all();                                                     \
    } while (0);
#define OLD_AMO(T)                                                          \
    do {                                                                    \
        T *d = (T *)(void *)d_;                                             \
        *d = 10;                                                            \
        complete_all();                                                     \
        if (me == 0) {                                                      \
            T_TRUE(shmem_cswap(d, (T)10, (T)20, 1) == 10);                  \
            T_TRUE(shmem_finc(d, 1) == 20);                                 \
            shmem_inc(d, 1);                                                \
            shmem_quiet();                                                  \
            T_TRUE(shmem_fadd(d, (T)100, 1) == 22);                         \
            shmem_add(d, (T)1000, 1);                                       \
        }                                                                   \
        complete_all();                                                     \
        T_TRUE(*d == (me ? 1122 : 10));                                     \
        complete_all();                                                     \
    } while (0);

T(deprecated_atomics_take_all_types)
{
    OLD_EXT(float)
    OLD_EXT(double)
    AMO_TYPES(OLD_EXT)
    AMO_TYPES(OLD_AMO)
}

#define SETS(T)                                                             \
    do {                                                                    \
        T *v = (T *)(void *)d_, each[2] = { (T)1, (T)60000 };               \
        size_t at[2] = { 9, 9 };                                            \
        v[0] = v[1] = 0;                                                    \
        complete_all();                                                     \
        shmem_p(&v[0], (T)1, peer);                                         \
        shmem_p(&v[1], (T)60000, peer);                                     \
        shmem_wait_until_all_vector(v, 2, NULL, SHMEM_CMP_EQ, each);        \
        shmem_wait_until_all(v, 2, NULL, SHMEM_CMP_NE, (T)0);               \
        T_TRUE(shmem_wait_until_any(v, 2, NULL, SHMEM_CMP_EQ, (T)60000)     \
               == 1);                                                       \
        T_TRUE(shmem_wait_until_any_vector(v + 1, 1, NULL, SHMEM_CMP_EQ,    \
                                           each + 1) == 0);                 \
        T_TRUE(shmem_wait_until_some(v, 2, at, NULL, SHMEM_CMP_EQ, (T)1)    \
               == 1 && at[0] == 0);                                         \
        T_TRUE(shmem_wait_until_some_vector(v, 2, at, NULL, SHMEM_CMP_EQ,   \
                                            each) == 2);                    \
        T_TRUE(shmem_test_all(v, 2, NULL, SHMEM_CMP_NE, (T)0) == 1);        \
        T_TRUE(shmem_test_all_vector(v, 2, NULL, SHMEM_CMP_EQ, each) == 1); \
        T_TRUE(shmem_test_any(v, 2, NULL, SHMEM_CMP_EQ, (T)60000) == 1);    \
        T_TRUE(shmem_test_any_vector(v, 2, NULL, SHMEM_CMP_NE, each)        \
               == SIZE_MAX);                                                \
        /* As an unsigned number it is more than 1, else less. */           \
        T_TRUE(shmem_test_some(v, 2, at, NULL, SHMEM_CMP_GT, (T)1)          \
               == ((T)60000 > 0));                                          \
        T_TRUE(shmem_test_some_vector(v, 2, at, NULL, SHMEM_CMP_EQ, each)   \
               == 2);                                                       \
        complete_all();                                                     \
    } while (0);

T(arrays_of_short_are_waited_for)
{
    SETS(short)
    SETS(unsigned short)
    SETS(int)
}

#define BLOCKED(T)                                                          \
    do {                                                                    \
        T *d = (T *)(void *)d_, *s = (T *)(void *)s_, l[2] = { 0 };         \
        for (int i = 0; i < 4; i++) {                                       \
            s[i] = (T)(10 * me + i);                                        \
            d[i] = 0;                                                       \
        }                                                                   \
        complete_all();                                                     \
        shmemx_ibput(d, s, 1, 2, 1, 2, peer);                               \
        shmemx_ibput(ctx, d + 2, s + 1, 1, 2, 1, 2, peer);                  \
        shmemx_ibget(l, s, 1, 3, 1, 2, peer);                               \
        T_TRUE(l[0] == (T)(10 * peer) && l[1] == (T)(10 * peer + 3));       \
        shmemx_ibget(ctx, l, s + 1, 2, 2, 2, 1, peer);                      \
        T_TRUE(l[0] == (T)(10 * peer + 1) && l[1] == (T)(10 * peer + 2));   \
        complete_all();                                                     \
        T_TRUE(d[0] == (T)(10 * peer) && d[1] == (T)(10 * peer + 2) &&      \
               d[2] == (T)(10 * peer + 1) && d[3] == (T)(10 * peer + 3));   \
        complete_all();                                                     \
    } while (0);
#define SCANS(T)                                                            \
    do {                                                                    \
        T *d = (T *)(void *)d_, *s = (T *)(void *)s_;                       \
        *s = (T)(me + 1);                                                   \
        complete_all();                                                     \
        T_EQ(shmemx_sum_inscan(SHMEM_TEAM_WORLD, d, s, 1), 0);              \
        T_EQ(shmemx_sum_exscan(SHMEM_TEAM_WORLD, d + 1, s, 1), 0);          \
        T_TRUE(d[0] == (T)(me ? 3 : 1) && d[1] == (T)(me ? 1 : 0));         \
        complete_all();                                                     \
    } while (0);

T(names_of_other_libraries)
{
    TYPES(BLOCKED)
    TYPES(SCANS)
    SCANS(float _Complex)
    SCANS(double _Complex)
    sig = 0;
    complete_all();
    shmemx_signal_add(&sig, 1, peer);
    shmemx_signal_add(ctx, &sig, 2, peer);
    shmem_signal_wait_until(&sig, SHMEM_CMP_EQ, 3);
    complete_all();
    shmemx_signal_set(&sig, 8, peer);
    shmem_quiet();
    shmemx_signal_set(ctx, &sig, 9, peer);
    shmem_signal_wait_until(&sig, SHMEM_CMP_EQ, 9);
    complete_all();
}

int main(void)
{
    shmem_init();
    me = shmem_my_pe();
    peer = (me + 1) % shmem_n_pes();
    T_PE(me);
    T_EQ(shmem_ctx_create(0, &ctx), 0);
    T_RUN(deprecated_atomics_take_all_types);
    T_RUN(arrays_of_short_are_waited_for);
    T_RUN(names_of_other_libraries);
    shmem_ctx_destroy(ctx);
    shmem_finalize();
    return T_DONE();
}
