/* SPDX-License-Identifier: BSD-3-Clause */
/* shmem_generic.h - the type-generic names of OpenSHMEM 1.6 for C11, included
 * by shmem.h.  A name without a type becomes the function of its argument's
 * type; calls that begin with a context become those of shmem_ctx_...; where a
 * C function has the same name, the number of arguments decides. */
#ifndef SHMEM_GENERIC_H
#define SHMEM_GENERIC_H

#include "shmem.h"

/* Selected for a type without such a function, and refused by the compiler. */
void shmemi_no_such_type(void);

#define SHMEMI_1(...) SHMEMI_1_(__VA_ARGS__, 0)
#define SHMEMI_1_(a, ...) (a)
#define SHMEMI_2(...) SHMEMI_2_(__VA_ARGS__, 0, 0)
#define SHMEMI_2_(a, b, ...) (b)

/* Associations of a type to PRE_TYPENAME_OP; the names that equal one of
 * these types on every machine need none. */
#define SHMEMI_FOR_AMO(PRE, OP, Q)                                          \
    Q int *: PRE##_int_##OP,                                                \
    Q long *: PRE##_long_##OP,                                              \
    Q long long *: PRE##_longlong_##OP,                                     \
    Q unsigned int *: PRE##_uint_##OP,                                      \
    Q unsigned long *: PRE##_ulong_##OP,                                    \
    Q unsigned long long *: PRE##_ulonglong_##OP
#define SHMEMI_FOR_EXT(PRE, OP, Q)                                          \
    Q float *: PRE##_float_##OP,                                            \
    Q double *: PRE##_double_##OP,                                          \
    SHMEMI_FOR_AMO(PRE, OP, Q)
#define SHMEMI_FOR_BIT(PRE, OP, Q)                                          \
    Q int32_t *: PRE##_int32_##OP,                                          \
    Q int64_t *: PRE##_int64_##OP,                                          \
    Q unsigned int *: PRE##_uint_##OP,                                      \
    Q unsigned long *: PRE##_ulong_##OP,                                    \
    Q unsigned long long *: PRE##_ulonglong_##OP
#define SHMEMI_FOR_RMA(PRE, OP, Q)                                          \
    Q long double *: PRE##_longdouble_##OP,                                 \
    Q char *: PRE##_char_##OP,                                              \
    Q signed char *: PRE##_schar_##OP,                                      \
    Q short *: PRE##_short_##OP,                                            \
    Q unsigned char *: PRE##_uchar_##OP,                                    \
    Q unsigned short *: PRE##_ushort_##OP,                                  \
    SHMEMI_FOR_EXT(PRE, OP, Q)
#define SHMEMI_FOR_SUM(PRE, OP, Q)                                          \
    Q float _Complex *: PRE##_complexf_##OP,                                \
    Q double _Complex *: PRE##_complexd_##OP,                               \
    SHMEMI_FOR_RMA(PRE, OP, Q)
#define SHMEMI_FOR_REDUCE_BIT(PRE, OP, Q)                                   \
    Q signed char *: PRE##_int8_##OP,                                       \
    Q int16_t *: PRE##_int16_##OP,                                          \
    Q unsigned char *: PRE##_uchar_##OP,                                    \
    Q unsigned short *: PRE##_ushort_##OP,                                  \
    SHMEMI_FOR_BIT(PRE, OP, Q)
#define SHMEMI_FOR_WAIT(PRE, OP, Q)                                         \
    Q short *: PRE##_short_##OP,                                            \
    Q unsigned short *: PRE##_ushort_##OP,                                  \
    SHMEMI_FOR_AMO(PRE, OP, Q)
#define SHMEMI_FOR_OLD_INT(PRE, OP, Q)                                      \
    Q int *: PRE##_int_##OP,                                                \
    Q long *: PRE##_long_##OP,                                              \
    Q long long *: PRE##_longlong_##OP
#define SHMEMI_FOR_OLD(PRE, OP, Q)                                          \
    Q float *: PRE##_float_##OP,                                            \
    Q double *: PRE##_double_##OP,                                          \
    SHMEMI_FOR_OLD_INT(PRE, OP, Q)
/* A first argument that is read may point to const. */
#define SHMEMI_FOR_READ(TYPES, PRE, OP)                                     \
    SHMEMI_FOR_##TYPES(PRE, OP, ), SHMEMI_FOR_##TYPES(PRE, OP, const)

/* Selection by the first argument; by the second one after a context, a team or
 * a place for a result. */
#define SHMEMI_PLAIN_OF(PRE, TYPES, OP, ...)                                \
    _Generic(SHMEMI_1(__VA_ARGS__), SHMEMI_FOR_##TYPES(PRE, OP, ))          \
        (__VA_ARGS__)
#define SHMEMI_SECOND_OF(PRE, TYPES, OP, ...)                               \
    _Generic(SHMEMI_2(__VA_ARGS__), SHMEMI_FOR_##TYPES(PRE, OP, ))          \
        (__VA_ARGS__)
#define SHMEMI_EITHER_OF(PRE, TYPES, OP, ...)                               \
    _Generic(SHMEMI_1(__VA_ARGS__),                                         \
        SHMEMI_FOR_##TYPES(PRE, OP, ),                                      \
        shmem_ctx_t: _Generic(SHMEMI_2(__VA_ARGS__),                        \
            SHMEMI_FOR_##TYPES(PRE##_ctx, OP, ),                            \
            default: shmemi_no_such_type))(__VA_ARGS__)
#define SHMEMI_EITHER_READ(TYPES, OP, ...)                                  \
    _Generic(SHMEMI_1(__VA_ARGS__),                                         \
        SHMEMI_FOR_READ(TYPES, shmem, OP),                                  \
        shmem_ctx_t: _Generic(SHMEMI_2(__VA_ARGS__),                        \
            SHMEMI_FOR_READ(TYPES, shmem_ctx, OP),                          \
            default: shmemi_no_such_type))(__VA_ARGS__)
#define SHMEMI_PLAIN_READ(TYPES, OP, ...)                                   \
    _Generic(SHMEMI_1(__VA_ARGS__),                                         \
        SHMEMI_FOR_READ(TYPES, shmem, OP))(__VA_ARGS__)
#define SHMEMI_PLAIN(TYPES, OP, ...)                                        \
    SHMEMI_PLAIN_OF(shmem, TYPES, OP, __VA_ARGS__)
#define SHMEMI_TEAM(TYPES, OP, ...)                                         \
    SHMEMI_SECOND_OF(shmem, TYPES, OP, __VA_ARGS__)
#define SHMEMI_EITHER(TYPES, OP, ...)                                       \
    SHMEMI_EITHER_OF(shmem, TYPES, OP, __VA_ARGS__)

/* ---- Remote memory access, signals ---- */
#define shmem_put(...) SHMEMI_EITHER(RMA, put, __VA_ARGS__)
#define shmem_p(...) SHMEMI_EITHER(RMA, p, __VA_ARGS__)
#define shmem_iput(...) SHMEMI_EITHER(RMA, iput, __VA_ARGS__)
#define shmem_ibput(...) SHMEMI_EITHER(RMA, ibput, __VA_ARGS__)
#define shmem_get(...) SHMEMI_EITHER(RMA, get, __VA_ARGS__)
#define shmem_g(...) SHMEMI_EITHER_READ(RMA, g, __VA_ARGS__)
#define shmem_iget(...) SHMEMI_EITHER(RMA, iget, __VA_ARGS__)
#define shmem_ibget(...) SHMEMI_EITHER(RMA, ibget, __VA_ARGS__)
#define shmem_put_nbi(...) SHMEMI_EITHER(RMA, put_nbi, __VA_ARGS__)
#define shmem_get_nbi(...) SHMEMI_EITHER(RMA, get_nbi, __VA_ARGS__)
#define shmem_put_signal(...) SHMEMI_EITHER(RMA, put_signal, __VA_ARGS__)
#define shmem_put_signal_nbi(...)                                           \
    SHMEMI_EITHER(RMA, put_signal_nbi, __VA_ARGS__)

#define SHMEMI_5TH(a, b, c, d, e, ...) e
#define shmem_signal_add(...)                                               \
    SHMEMI_5TH(__VA_ARGS__, shmem_ctx_signal_add, shmem_signal_add, , , )   \
        (__VA_ARGS__)
#define shmem_signal_set(...)                                               \
    SHMEMI_5TH(__VA_ARGS__, shmem_ctx_signal_set, shmem_signal_set, , , )   \
        (__VA_ARGS__)

/* ---- Atomics ---- */
#define shmem_atomic_fetch(...) SHMEMI_EITHER_READ(EXT, atomic_fetch, __VA_ARGS__)
#define shmem_atomic_set(...) SHMEMI_EITHER(EXT, atomic_set, __VA_ARGS__)
#define shmem_atomic_swap(...) SHMEMI_EITHER(EXT, atomic_swap, __VA_ARGS__)
#define shmem_atomic_compare_swap(...)                                      \
    SHMEMI_EITHER(AMO, atomic_compare_swap, __VA_ARGS__)
#define shmem_atomic_fetch_inc(...)                                         \
    SHMEMI_EITHER(AMO, atomic_fetch_inc, __VA_ARGS__)
#define shmem_atomic_inc(...) SHMEMI_EITHER(AMO, atomic_inc, __VA_ARGS__)
#define shmem_atomic_fetch_add(...)                                         \
    SHMEMI_EITHER(AMO, atomic_fetch_add, __VA_ARGS__)
#define shmem_atomic_add(...) SHMEMI_EITHER(AMO, atomic_add, __VA_ARGS__)
#define shmem_atomic_fetch_and(...)                                         \
    SHMEMI_EITHER(BIT, atomic_fetch_and, __VA_ARGS__)
#define shmem_atomic_and(...) SHMEMI_EITHER(BIT, atomic_and, __VA_ARGS__)
#define shmem_atomic_fetch_or(...)                                          \
    SHMEMI_EITHER(BIT, atomic_fetch_or, __VA_ARGS__)
#define shmem_atomic_or(...) SHMEMI_EITHER(BIT, atomic_or, __VA_ARGS__)
#define shmem_atomic_fetch_xor(...)                                         \
    SHMEMI_EITHER(BIT, atomic_fetch_xor, __VA_ARGS__)
#define shmem_atomic_xor(...) SHMEMI_EITHER(BIT, atomic_xor, __VA_ARGS__)
#define shmem_atomic_fetch_nbi(...)                                         \
    SHMEMI_EITHER(EXT, atomic_fetch_nbi, __VA_ARGS__)
#define shmem_atomic_swap_nbi(...)                                          \
    SHMEMI_EITHER(EXT, atomic_swap_nbi, __VA_ARGS__)
#define shmem_atomic_compare_swap_nbi(...)                                  \
    SHMEMI_EITHER(AMO, atomic_compare_swap_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_inc_nbi(...)                                     \
    SHMEMI_EITHER(AMO, atomic_fetch_inc_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_add_nbi(...)                                     \
    SHMEMI_EITHER(AMO, atomic_fetch_add_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_and_nbi(...)                                     \
    SHMEMI_EITHER(BIT, atomic_fetch_and_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_or_nbi(...)                                      \
    SHMEMI_EITHER(BIT, atomic_fetch_or_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_xor_nbi(...)                                     \
    SHMEMI_EITHER(BIT, atomic_fetch_xor_nbi, __VA_ARGS__)

/* Deprecated names of atomics. */
#define shmem_fetch(...) SHMEMI_PLAIN_READ(OLD, fetch, __VA_ARGS__)
#define shmem_set(...) SHMEMI_PLAIN(OLD, set, __VA_ARGS__)
#define shmem_swap(...) SHMEMI_PLAIN(OLD, swap, __VA_ARGS__)
#define shmem_cswap(...) SHMEMI_PLAIN(OLD_INT, cswap, __VA_ARGS__)
#define shmem_finc(...) SHMEMI_PLAIN(OLD_INT, finc, __VA_ARGS__)
#define shmem_inc(...) SHMEMI_PLAIN(OLD_INT, inc, __VA_ARGS__)
#define shmem_fadd(...) SHMEMI_PLAIN(OLD_INT, fadd, __VA_ARGS__)
#define shmem_add(...) SHMEMI_PLAIN(OLD_INT, add, __VA_ARGS__)

/* ---- Collectives ---- */
#define shmem_sync(...)                                                     \
    SHMEMI_5TH(__VA_ARGS__, shmem_sync, , , shmem_team_sync, )(__VA_ARGS__)
#define shmem_alltoall(...) SHMEMI_TEAM(RMA, alltoall, __VA_ARGS__)
#define shmem_alltoalls(...) SHMEMI_TEAM(RMA, alltoalls, __VA_ARGS__)
#define shmem_broadcast(...) SHMEMI_TEAM(RMA, broadcast, __VA_ARGS__)
#define shmem_collect(...) SHMEMI_TEAM(RMA, collect, __VA_ARGS__)
#define shmem_fcollect(...) SHMEMI_TEAM(RMA, fcollect, __VA_ARGS__)
#define shmem_and_reduce(...) SHMEMI_TEAM(REDUCE_BIT, and_reduce, __VA_ARGS__)
#define shmem_or_reduce(...) SHMEMI_TEAM(REDUCE_BIT, or_reduce, __VA_ARGS__)
#define shmem_xor_reduce(...) SHMEMI_TEAM(REDUCE_BIT, xor_reduce, __VA_ARGS__)
#define shmem_max_reduce(...) SHMEMI_TEAM(RMA, max_reduce, __VA_ARGS__)
#define shmem_min_reduce(...) SHMEMI_TEAM(RMA, min_reduce, __VA_ARGS__)
#define shmem_sum_reduce(...) SHMEMI_TEAM(SUM, sum_reduce, __VA_ARGS__)
#define shmem_prod_reduce(...) SHMEMI_TEAM(SUM, prod_reduce, __VA_ARGS__)
#define shmem_sum_inscan(...) SHMEMI_TEAM(SUM, sum_inscan, __VA_ARGS__)
#define shmem_sum_exscan(...) SHMEMI_TEAM(SUM, sum_exscan, __VA_ARGS__)

/* ---- Point-to-point synchronization ---- */
#define shmem_wait_until(...) SHMEMI_PLAIN(WAIT, wait_until, __VA_ARGS__)
#define shmem_wait_until_all(...) SHMEMI_PLAIN(AMO, wait_until_all, __VA_ARGS__)
#define shmem_wait_until_any(...) SHMEMI_PLAIN(AMO, wait_until_any, __VA_ARGS__)
#define shmem_wait_until_some(...)                                          \
    SHMEMI_PLAIN(AMO, wait_until_some, __VA_ARGS__)
#define shmem_wait_until_all_vector(...)                                    \
    SHMEMI_PLAIN(AMO, wait_until_all_vector, __VA_ARGS__)
#define shmem_wait_until_any_vector(...)                                    \
    SHMEMI_PLAIN(AMO, wait_until_any_vector, __VA_ARGS__)
#define shmem_wait_until_some_vector(...)                                   \
    SHMEMI_PLAIN(AMO, wait_until_some_vector, __VA_ARGS__)
#define shmem_test(...) SHMEMI_PLAIN(WAIT, test, __VA_ARGS__)
#define shmem_test_all(...) SHMEMI_PLAIN(AMO, test_all, __VA_ARGS__)
#define shmem_test_any(...) SHMEMI_PLAIN(AMO, test_any, __VA_ARGS__)
#define shmem_test_some(...) SHMEMI_PLAIN(AMO, test_some, __VA_ARGS__)
#define shmem_test_all_vector(...)                                          \
    SHMEMI_PLAIN(AMO, test_all_vector, __VA_ARGS__)
#define shmem_test_any_vector(...)                                          \
    SHMEMI_PLAIN(AMO, test_any_vector, __VA_ARGS__)
#define shmem_test_some_vector(...)                                         \
    SHMEMI_PLAIN(AMO, test_some_vector, __VA_ARGS__)

#endif
