/* SPDX-License-Identifier: BSD-3-Clause */
/* Atomic memory operations: the public functions, typed by macros.  Each
 * passes its name for messages to the inline operations of core_amo.h and
 * holds no logic of its own. */
#include "api/api.h"
#include "core/core_amo.h"

/* The macros below make these public names: TYPENAME is a type name of
 * shmem_types.h.
 *   shmem_ctx_TYPENAME_atomic_fetch shmem_ctx_TYPENAME_atomic_fetch_nbi
 *   shmem_ctx_TYPENAME_atomic_set shmem_ctx_TYPENAME_atomic_swap
 *   shmem_ctx_TYPENAME_atomic_swap_nbi shmem_ctx_TYPENAME_atomic_add
 *   shmem_ctx_TYPENAME_atomic_and shmem_ctx_TYPENAME_atomic_compare_swap
 *   shmem_ctx_TYPENAME_atomic_compare_swap_nbi
 *   shmem_ctx_TYPENAME_atomic_fetch_add
 *   shmem_ctx_TYPENAME_atomic_fetch_add_nbi
 *   shmem_ctx_TYPENAME_atomic_fetch_and
 *   shmem_ctx_TYPENAME_atomic_fetch_and_nbi
 *   shmem_ctx_TYPENAME_atomic_fetch_inc
 *   shmem_ctx_TYPENAME_atomic_fetch_inc_nbi
 *   shmem_ctx_TYPENAME_atomic_fetch_or
 *   shmem_ctx_TYPENAME_atomic_fetch_or_nbi
 *   shmem_ctx_TYPENAME_atomic_fetch_xor
 *   shmem_ctx_TYPENAME_atomic_fetch_xor_nbi shmem_ctx_TYPENAME_atomic_inc
 *   shmem_ctx_TYPENAME_atomic_or shmem_ctx_TYPENAME_atomic_xor
 *   shmem_TYPENAME_atomic_fetch shmem_TYPENAME_atomic_fetch_nbi
 *   shmem_TYPENAME_atomic_set shmem_TYPENAME_atomic_swap
 *   shmem_TYPENAME_atomic_swap_nbi shmem_TYPENAME_fetch shmem_TYPENAME_set
 *   shmem_TYPENAME_swap shmem_TYPENAME_add shmem_TYPENAME_atomic_add
 *   shmem_TYPENAME_atomic_and shmem_TYPENAME_atomic_compare_swap
 *   shmem_TYPENAME_atomic_compare_swap_nbi shmem_TYPENAME_atomic_fetch_add
 *   shmem_TYPENAME_atomic_fetch_add_nbi shmem_TYPENAME_atomic_fetch_and
 *   shmem_TYPENAME_atomic_fetch_and_nbi shmem_TYPENAME_atomic_fetch_inc
 *   shmem_TYPENAME_atomic_fetch_inc_nbi shmem_TYPENAME_atomic_fetch_or
 *   shmem_TYPENAME_atomic_fetch_or_nbi shmem_TYPENAME_atomic_fetch_xor
 *   shmem_TYPENAME_atomic_fetch_xor_nbi shmem_TYPENAME_atomic_inc
 *   shmem_TYPENAME_atomic_or shmem_TYPENAME_atomic_xor shmem_TYPENAME_cswap
 *   shmem_TYPENAME_fadd shmem_TYPENAME_finc shmem_TYPENAME_inc
 * Their generic names of C11 and C++:
 *   shmem_atomic_fetch shmem_atomic_fetch_nbi shmem_atomic_set
 *   shmem_atomic_swap shmem_atomic_swap_nbi shmem_atomic_add
 *   shmem_atomic_and shmem_atomic_compare_swap shmem_atomic_compare_swap_nbi
 *   shmem_atomic_fetch_add shmem_atomic_fetch_add_nbi shmem_atomic_fetch_and
 *   shmem_atomic_fetch_and_nbi shmem_atomic_fetch_inc
 *   shmem_atomic_fetch_inc_nbi shmem_atomic_fetch_or
 *   shmem_atomic_fetch_or_nbi shmem_atomic_fetch_xor
 *   shmem_atomic_fetch_xor_nbi shmem_atomic_inc shmem_atomic_or
 *   shmem_atomic_xor shmem_fetch shmem_set shmem_swap shmem_add shmem_cswap
 *   shmem_fadd shmem_finc shmem_inc */

/* Defines F and its context form C: the parameters of both after the context,
 * and statements that do it in the context ctx_. */
#define API_BOTH(R, F, C, PARAMS, CTX_PARAMS, DO)                           \
    R p##F PARAMS                                                           \
    {                                                                       \
        const struct core_ctx *ctx_ = API_DEFAULT;                          \
        DO;                                                                 \
    }                                                                       \
    R p##C CTX_PARAMS                                                       \
    {                                                                       \
        const struct core_ctx *ctx_ = API_CTX(ctx);                         \
        DO;                                                                 \
    }                                                                       \
    API_ALIAS(F) API_ALIAS(C)

#define ARGS(...) (__VA_ARGS__)
#define CTX_ARGS(...) (shmem_ctx_t ctx, __VA_ARGS__)

/* The result is returned, or in *fetch by the next quiet: a bad place for it is
 * reported before anything is done. */
#define RETURNED(T, KIND, COND, EXPR, value)                                \
    CORE_AMO_RETURN(T, __func__, ctx_, KIND, dest, value, COND, pe, EXPR)
#define FETCHED(T, XOP, COND, EXPR, value)                                  \
    core_need_local(__func__, "fetch", fetch, sizeof *fetch);               \
    CORE_AMO_NBI(T, __func__, ctx_, XOP, dest, value, COND, pe, EXPR, fetch)
#define PLAIN(T, KIND, EXPR, value)                                         \
    CORE_AMO_PLAIN(T, __func__, ctx_, KIND, dest, value, pe, EXPR)

/* value op, fetching: the plain name and the nbi one */
#define API_FETCHING(NAME_OP, NAME, T, KIND, OP, EXPR)                      \
    API_BOTH(T, shmem_##NAME##_atomic_##NAME_OP,                            \
             shmem_ctx_##NAME##_atomic_##NAME_OP,                           \
             ARGS(T *dest, T value, int pe),                                \
             CTX_ARGS(T *dest, T value, int pe),                            \
             RETURNED(T, KIND, 0, EXPR, value))                             \
    API_BOTH(void, shmem_##NAME##_atomic_##NAME_OP##_nbi,                   \
             shmem_ctx_##NAME##_atomic_##NAME_OP##_nbi,                     \
             ARGS(T *fetch, T *dest, T value, int pe),                      \
             CTX_ARGS(T *fetch, T *dest, T value, int pe),                  \
             FETCHED(T, AMO_##OP, 0, EXPR, value))

#define API_PLAIN(NAME_OP, NAME, T, KIND, EXPR)                             \
    API_BOTH(void, shmem_##NAME##_atomic_##NAME_OP,                         \
             shmem_ctx_##NAME##_atomic_##NAME_OP,                           \
             ARGS(T *dest, T value, int pe),                                \
             CTX_ARGS(T *dest, T value, int pe), PLAIN(T, KIND, EXPR, value))

#define READ_RETURNED(T)                                                    \
    CORE_AMO_FETCH(T, __func__, ctx_, source, pe)
#define READ_FETCHED(T)                                                     \
    core_need_local(__func__, "fetch", fetch, sizeof *fetch);               \
    CORE_AMO_FETCH_NBI(T, __func__, ctx_, source, pe, fetch)

#define API_EXT(NAME, T)                                                    \
    API_BOTH(T, shmem_##NAME##_atomic_fetch,                                \
             shmem_ctx_##NAME##_atomic_fetch,                               \
             ARGS(const T *source, int pe),                                 \
             CTX_ARGS(const T *source, int pe), READ_RETURNED(T))           \
    API_BOTH(void, shmem_##NAME##_atomic_fetch_nbi,                         \
             shmem_ctx_##NAME##_atomic_fetch_nbi,                           \
             ARGS(T *fetch, const T *source, int pe),                       \
             CTX_ARGS(T *fetch, const T *source, int pe), READ_FETCHED(T))  \
    API_PLAIN(set, NAME, T, SET, CORE_DO_SET(value))                        \
    API_FETCHING(swap, NAME, T, SWAP, SWAP, CORE_DO_SWAP(value))
SHMEMI_AMO_EXT_TYPES(API_EXT)

#define API_STD(NAME, T)                                                    \
    API_BOTH(T, shmem_##NAME##_atomic_compare_swap,                         \
             shmem_ctx_##NAME##_atomic_compare_swap,                        \
             ARGS(T *dest, T cond, T value, int pe),                        \
             CTX_ARGS(T *dest, T cond, T value, int pe),                    \
             RETURNED(T, CSWAP, cond, CORE_DO_CSWAP(cond, value),           \
                      value))                                               \
    API_BOTH(void, shmem_##NAME##_atomic_compare_swap_nbi,                  \
             shmem_ctx_##NAME##_atomic_compare_swap_nbi,                    \
             ARGS(T *fetch, T *dest, T cond, T value, int pe),              \
             CTX_ARGS(T *fetch, T *dest, T cond, T value, int pe),          \
             FETCHED(T, AMO_CSWAP, cond, CORE_DO_CSWAP(cond, value),        \
                     value))                                                \
    API_BOTH(T, shmem_##NAME##_atomic_fetch_inc,                            \
             shmem_ctx_##NAME##_atomic_fetch_inc, ARGS(T *dest, int pe),    \
             CTX_ARGS(T *dest, int pe),                                     \
             RETURNED(T, FADD, 0, CORE_DO_ADD(1), 1))                       \
    API_BOTH(void, shmem_##NAME##_atomic_fetch_inc_nbi,                     \
             shmem_ctx_##NAME##_atomic_fetch_inc_nbi,                       \
             ARGS(T *fetch, T *dest, int pe),                               \
             CTX_ARGS(T *fetch, T *dest, int pe),                           \
             FETCHED(T, AMO_ADD, 0, CORE_DO_ADD(1), 1))                     \
    API_BOTH(void, shmem_##NAME##_atomic_inc,                               \
             shmem_ctx_##NAME##_atomic_inc, ARGS(T *dest, int pe),          \
             CTX_ARGS(T *dest, int pe), PLAIN(T, ADD, CORE_DO_ADD(1), 1))   \
    API_FETCHING(fetch_add, NAME, T, FADD, ADD, CORE_DO_ADD(value))         \
    API_PLAIN(add, NAME, T, ADD, CORE_DO_ADD(value))
SHMEMI_AMO_TYPES(API_STD)

#define API_BIT(NAME, T)                                                    \
    API_FETCHING(fetch_and, NAME, T, FAND, AND, CORE_DO_AND(value))         \
    API_FETCHING(fetch_or, NAME, T, FOR, OR, CORE_DO_OR(value))             \
    API_FETCHING(fetch_xor, NAME, T, FXOR, XOR, CORE_DO_XOR(value))         \
    API_PLAIN(and, NAME, T, AND, CORE_DO_AND(value))                        \
    API_PLAIN(or, NAME, T, OR, CORE_DO_OR(value))                           \
    API_PLAIN(xor, NAME, T, XOR, CORE_DO_XOR(value))
SHMEMI_AMO_BIT_TYPES(API_BIT)

/* Deprecated names. */
#define API_OLD_NAME(R, OLD, PARAMS, DO)                                    \
    R p##OLD PARAMS                                                         \
    {                                                                       \
        const struct core_ctx *ctx_ = API_DEFAULT;                          \
        DO;                                                                 \
    }                                                                       \
    API_ALIAS(OLD)

#define API_OLD(NAME, T)                                                    \
    API_OLD_NAME(T, shmem_##NAME##_fetch, (const T *source, int pe),        \
                 READ_RETURNED(T))                                          \
    API_OLD_NAME(void, shmem_##NAME##_set, (T *dest, T value, int pe),      \
                 PLAIN(T, SET, CORE_DO_SET(value), value))                  \
    API_OLD_NAME(T, shmem_##NAME##_swap, (T *dest, T value, int pe),        \
                 RETURNED(T, SWAP, 0, CORE_DO_SWAP(value), value))
SHMEMI_AMO_OLD_TYPES(API_OLD)

#define API_OLD_INT(NAME, T)                                                \
    API_OLD_NAME(T, shmem_##NAME##_cswap,                                   \
                 (T *dest, T cond, T value, int pe),                        \
                 RETURNED(T, CSWAP, cond, CORE_DO_CSWAP(cond, value),       \
                          value))                                           \
    API_OLD_NAME(T, shmem_##NAME##_finc, (T *dest, int pe),                 \
                 RETURNED(T, FADD, 0, CORE_DO_ADD(1), 1))                   \
    API_OLD_NAME(void, shmem_##NAME##_inc, (T *dest, int pe),               \
                 PLAIN(T, ADD, CORE_DO_ADD(1), 1))                          \
    API_OLD_NAME(T, shmem_##NAME##_fadd, (T *dest, T value, int pe),        \
                 RETURNED(T, FADD, 0, CORE_DO_ADD(value), value))           \
    API_OLD_NAME(void, shmem_##NAME##_add, (T *dest, T value, int pe),      \
                 PLAIN(T, ADD, CORE_DO_ADD(value), value))
SHMEMI_AMO_OLD_INTS(API_OLD_INT)

/* The same for the other types, beyond the standard. */
SHMEMI_AMO_OLD_MORE(API_OLD)
SHMEMI_AMO_OLD_MORE(API_OLD_INT)
