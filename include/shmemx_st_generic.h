/* SPDX-License-Identifier: BSD-3-Clause */
/* shmemx_st_generic.h - the type-generic names of calls on streams for C11,
 * included by shmemx_st.h: by the type of the first buffer, with and without a
 * context. */
#ifndef SHMEMX_ST_GENERIC_H
#define SHMEMX_ST_GENERIC_H

#include "shmemx_st.h"

#define SHMEMI_ON_EITHER(TYPES, OP, ...)                                    \
    SHMEMI_EITHER_OF(shmemx, TYPES, OP##_on_stream, __VA_ARGS__)
#define SHMEMI_ON_PLAIN(OP, ...)                                            \
    SHMEMI_PLAIN_OF(shmemx, AMO, OP##_on_stream, __VA_ARGS__)
/* Selection by the argument after the place for a result. */
#define SHMEMI_ON_SECOND(OP, ...)                                           \
    SHMEMI_SECOND_OF(shmemx, AMO, OP##_on_stream, __VA_ARGS__)

/* ---- Remote memory access, signals ---- */
#define shmemx_put_on_stream(...) SHMEMI_ON_EITHER(RMA, put, __VA_ARGS__)
#define shmemx_get_on_stream(...) SHMEMI_ON_EITHER(RMA, get, __VA_ARGS__)
#define shmemx_put_nbi_on_stream(...)                                       \
    SHMEMI_ON_EITHER(RMA, put_nbi, __VA_ARGS__)
#define shmemx_get_nbi_on_stream(...)                                       \
    SHMEMI_ON_EITHER(RMA, get_nbi, __VA_ARGS__)
#define shmemx_p_on_stream(...) SHMEMI_ON_EITHER(RMA, p, __VA_ARGS__)
#define shmemx_g_on_stream(...) SHMEMI_ON_EITHER(RMA, g, __VA_ARGS__)
#define shmemx_iput_on_stream(...) SHMEMI_ON_EITHER(RMA, iput, __VA_ARGS__)
#define shmemx_iget_on_stream(...) SHMEMI_ON_EITHER(RMA, iget, __VA_ARGS__)
#define shmemx_ibput_on_stream(...) SHMEMI_ON_EITHER(RMA, ibput, __VA_ARGS__)
#define shmemx_ibget_on_stream(...) SHMEMI_ON_EITHER(RMA, ibget, __VA_ARGS__)
#define shmemx_put_signal_on_stream(...)                                    \
    SHMEMI_ON_EITHER(RMA, put_signal, __VA_ARGS__)
#define shmemx_put_signal_nbi_on_stream(...)                                \
    SHMEMI_ON_EITHER(RMA, put_signal_nbi, __VA_ARGS__)

#define SHMEMI_6TH(a, b, c, d, e, f, ...) f
#define shmemx_signal_add_on_stream(...)                                    \
    SHMEMI_6TH(__VA_ARGS__, shmemx_ctx_signal_add_on_stream,                \
               shmemx_signal_add_on_stream, , , , )(__VA_ARGS__)
#define shmemx_signal_set_on_stream(...)                                    \
    SHMEMI_6TH(__VA_ARGS__, shmemx_ctx_signal_set_on_stream,                \
               shmemx_signal_set_on_stream, , , , )(__VA_ARGS__)

/* ---- Atomics ---- */
#define shmemx_atomic_fetch_on_stream(...)                                  \
    SHMEMI_ON_EITHER(EXT, atomic_fetch, __VA_ARGS__)
#define shmemx_atomic_set_on_stream(...)                                    \
    SHMEMI_ON_EITHER(EXT, atomic_set, __VA_ARGS__)
#define shmemx_atomic_swap_on_stream(...)                                   \
    SHMEMI_ON_EITHER(EXT, atomic_swap, __VA_ARGS__)
#define shmemx_atomic_compare_swap_on_stream(...)                           \
    SHMEMI_ON_EITHER(AMO, atomic_compare_swap, __VA_ARGS__)
#define shmemx_atomic_fetch_inc_on_stream(...)                              \
    SHMEMI_ON_EITHER(AMO, atomic_fetch_inc, __VA_ARGS__)
#define shmemx_atomic_inc_on_stream(...)                                    \
    SHMEMI_ON_EITHER(AMO, atomic_inc, __VA_ARGS__)
#define shmemx_atomic_fetch_add_on_stream(...)                              \
    SHMEMI_ON_EITHER(AMO, atomic_fetch_add, __VA_ARGS__)
#define shmemx_atomic_add_on_stream(...)                                    \
    SHMEMI_ON_EITHER(AMO, atomic_add, __VA_ARGS__)
#define shmemx_atomic_fetch_and_on_stream(...)                              \
    SHMEMI_ON_EITHER(BIT, atomic_fetch_and, __VA_ARGS__)
#define shmemx_atomic_and_on_stream(...)                                    \
    SHMEMI_ON_EITHER(BIT, atomic_and, __VA_ARGS__)
#define shmemx_atomic_fetch_or_on_stream(...)                               \
    SHMEMI_ON_EITHER(BIT, atomic_fetch_or, __VA_ARGS__)
#define shmemx_atomic_or_on_stream(...)                                     \
    SHMEMI_ON_EITHER(BIT, atomic_or, __VA_ARGS__)
#define shmemx_atomic_fetch_xor_on_stream(...)                              \
    SHMEMI_ON_EITHER(BIT, atomic_fetch_xor, __VA_ARGS__)
#define shmemx_atomic_xor_on_stream(...)                                    \
    SHMEMI_ON_EITHER(BIT, atomic_xor, __VA_ARGS__)

/* ---- Point-to-point synchronization ---- */
#define shmemx_wait_until_on_stream(...)                                    \
    SHMEMI_ON_PLAIN(wait_until, __VA_ARGS__)
#define shmemx_wait_until_all_on_stream(...)                                \
    SHMEMI_ON_PLAIN(wait_until_all, __VA_ARGS__)
#define shmemx_wait_until_any_on_stream(...)                                \
    SHMEMI_ON_SECOND(wait_until_any, __VA_ARGS__)
#define shmemx_wait_until_some_on_stream(...)                               \
    SHMEMI_ON_SECOND(wait_until_some, __VA_ARGS__)
#define shmemx_wait_until_all_vector_on_stream(...)                         \
    SHMEMI_ON_PLAIN(wait_until_all_vector, __VA_ARGS__)
#define shmemx_wait_until_any_vector_on_stream(...)                         \
    SHMEMI_ON_SECOND(wait_until_any_vector, __VA_ARGS__)
#define shmemx_wait_until_some_vector_on_stream(...)                        \
    SHMEMI_ON_SECOND(wait_until_some_vector, __VA_ARGS__)

#endif
