/* SPDX-License-Identifier: BSD-3-Clause */
/* shmemx_generic.h - the type-generic names of shmemx.h for C11, included by
 * it: the names of its own calls, and the names of shmem.h for which it has
 * functions of further types. */
#ifndef SHMEMX_GENERIC_H
#define SHMEMX_GENERIC_H

#include "shmemx.h"

/* ---- Calls that begin with shmemx_ ---- */
#define SHMEMI_X_EITHER(TYPES, OP, ...)                                     \
    SHMEMI_EITHER_OF(shmemx, TYPES, OP, __VA_ARGS__)
#define SHMEMI_X_TEAM(TYPES, OP, ...)                                       \
    SHMEMI_SECOND_OF(shmemx, TYPES, OP, __VA_ARGS__)

#define shmemx_ibput(...) SHMEMI_X_EITHER(RMA, ibput, __VA_ARGS__)
#define shmemx_ibget(...) SHMEMI_X_EITHER(RMA, ibget, __VA_ARGS__)
#define shmemx_put_nb(...) SHMEMI_X_EITHER(RMA, put_nb, __VA_ARGS__)
#define shmemx_get_nb(...) SHMEMI_X_EITHER(RMA, get_nb, __VA_ARGS__)
#define shmemx_sum_inscan(...) SHMEMI_X_TEAM(SUM, sum_inscan, __VA_ARGS__)
#define shmemx_sum_exscan(...) SHMEMI_X_TEAM(SUM, sum_exscan, __VA_ARGS__)
#define shmemx_signal_add(...)                                              \
    SHMEMI_5TH(__VA_ARGS__, shmemx_ctx_signal_add, shmemx_signal_add, , , ) \
        (__VA_ARGS__)
#define shmemx_signal_set(...)                                              \
    SHMEMI_5TH(__VA_ARGS__, shmemx_ctx_signal_set, shmemx_signal_set, , , ) \
        (__VA_ARGS__)

/* ---- Deprecated atomics: the types of the atomics ---- */
#undef shmem_fetch
#undef shmem_set
#undef shmem_swap
#undef shmem_cswap
#undef shmem_finc
#undef shmem_inc
#undef shmem_fadd
#undef shmem_add
#define shmem_fetch(...) SHMEMI_PLAIN_READ(EXT, fetch, __VA_ARGS__)
#define shmem_set(...) SHMEMI_PLAIN(EXT, set, __VA_ARGS__)
#define shmem_swap(...) SHMEMI_PLAIN(EXT, swap, __VA_ARGS__)
#define shmem_cswap(...) SHMEMI_PLAIN(AMO, cswap, __VA_ARGS__)
#define shmem_finc(...) SHMEMI_PLAIN(AMO, finc, __VA_ARGS__)
#define shmem_inc(...) SHMEMI_PLAIN(AMO, inc, __VA_ARGS__)
#define shmem_fadd(...) SHMEMI_PLAIN(AMO, fadd, __VA_ARGS__)
#define shmem_add(...) SHMEMI_PLAIN(AMO, add, __VA_ARGS__)

/* ---- Waits and tests of arrays: also short and unsigned short ---- */
#undef shmem_wait_until_all
#undef shmem_wait_until_any
#undef shmem_wait_until_some
#undef shmem_wait_until_all_vector
#undef shmem_wait_until_any_vector
#undef shmem_wait_until_some_vector
#undef shmem_test_all
#undef shmem_test_any
#undef shmem_test_some
#undef shmem_test_all_vector
#undef shmem_test_any_vector
#undef shmem_test_some_vector
#define shmem_wait_until_all(...)                                           \
    SHMEMI_PLAIN(WAIT, wait_until_all, __VA_ARGS__)
#define shmem_wait_until_any(...)                                           \
    SHMEMI_PLAIN(WAIT, wait_until_any, __VA_ARGS__)
#define shmem_wait_until_some(...)                                          \
    SHMEMI_PLAIN(WAIT, wait_until_some, __VA_ARGS__)
#define shmem_wait_until_all_vector(...)                                    \
    SHMEMI_PLAIN(WAIT, wait_until_all_vector, __VA_ARGS__)
#define shmem_wait_until_any_vector(...)                                    \
    SHMEMI_PLAIN(WAIT, wait_until_any_vector, __VA_ARGS__)
#define shmem_wait_until_some_vector(...)                                   \
    SHMEMI_PLAIN(WAIT, wait_until_some_vector, __VA_ARGS__)
#define shmem_test_all(...) SHMEMI_PLAIN(WAIT, test_all, __VA_ARGS__)
#define shmem_test_any(...) SHMEMI_PLAIN(WAIT, test_any, __VA_ARGS__)
#define shmem_test_some(...) SHMEMI_PLAIN(WAIT, test_some, __VA_ARGS__)
#define shmem_test_all_vector(...)                                          \
    SHMEMI_PLAIN(WAIT, test_all_vector, __VA_ARGS__)
#define shmem_test_any_vector(...)                                          \
    SHMEMI_PLAIN(WAIT, test_any_vector, __VA_ARGS__)
#define shmem_test_some_vector(...)                                         \
    SHMEMI_PLAIN(WAIT, test_some_vector, __VA_ARGS__)

#endif
