/* SPDX-License-Identifier: BSD-3-Clause */
#include "api/api.h"
#include "core/core_amo.h"

/* Defines F and its context form C: the parameters of both after the context,
 * and an expression in `call` and `ctx_` that does it. */
#define API_BOTH(R, F, C, PARAMS, CTX_PARAMS, EXPR)                         \
    R p##F PARAMS                                                           \
    {                                                                       \
        const struct core_ctx *ctx_ = API_DEFAULT;                          \
        EXPR;                                                               \
    }                                                                       \
    R p##C CTX_PARAMS                                                       \
    {                                                                       \
        const struct core_ctx *ctx_ = API_CTX(ctx);                         \
        EXPR;                                                               \
    }                                                                       \
    API_ALIAS(F) API_ALIAS(C)

#define ARGS(...) (__VA_ARGS__)
#define CTX_ARGS(...) (shmem_ctx_t ctx, __VA_ARGS__)

/* The nbi forms: a bad place for the result is told before anything is done. */
#define TO_FETCH(EXPR)                                                      \
    core_need_local(__func__, fetch, sizeof *fetch);                        \
    *fetch = EXPR

/* value op, fetching: the plain name and the nbi one */
#define API_FETCHING(OP, NAME, T, EXPR)                                     \
    API_BOTH(T, shmem_##NAME##_atomic_##OP, shmem_ctx_##NAME##_atomic_##OP, \
             ARGS(T *dest, T value, int pe),                                \
             CTX_ARGS(T *dest, T value, int pe), return EXPR)               \
    API_BOTH(void, shmem_##NAME##_atomic_##OP##_nbi,                        \
             shmem_ctx_##NAME##_atomic_##OP##_nbi,                          \
             ARGS(T *fetch, T *dest, T value, int pe),                      \
             CTX_ARGS(T *fetch, T *dest, T value, int pe), TO_FETCH(EXPR))

#define API_PLAIN(OP, NAME, T, EXPR)                                        \
    API_BOTH(void, shmem_##NAME##_atomic_##OP,                              \
             shmem_ctx_##NAME##_atomic_##OP,                                \
             ARGS(T *dest, T value, int pe),                                \
             CTX_ARGS(T *dest, T value, int pe), EXPR)

#define DO(op) CORE_AMO_FETCH_OP(op, __func__, ctx_, dest, value, pe)

#define API_EXT(NAME, T)                                                    \
    API_BOTH(T, shmem_##NAME##_atomic_fetch,                                \
             shmem_ctx_##NAME##_atomic_fetch,                               \
             ARGS(const T *source, int pe),                                 \
             CTX_ARGS(const T *source, int pe),                             \
             return CORE_AMO_FETCH(__func__, ctx_, source, pe))             \
    API_BOTH(void, shmem_##NAME##_atomic_fetch_nbi,                         \
             shmem_ctx_##NAME##_atomic_fetch_nbi,                           \
             ARGS(T *fetch, const T *source, int pe),                       \
             CTX_ARGS(T *fetch, const T *source, int pe),                   \
             TO_FETCH(CORE_AMO_FETCH(__func__, ctx_, source, pe)))          \
    API_PLAIN(set, NAME, T, CORE_AMO_SET(__func__, ctx_, dest, value, pe))  \
    API_FETCHING(swap, NAME, T,                                             \
                 CORE_AMO_SWAP(__func__, ctx_, dest, value, pe))
SHMEMI_AMO_EXT_TYPES(API_EXT)

#define CSWAP CORE_AMO_CSWAP(__func__, ctx_, dest, cond, value, pe)
#define INC CORE_AMO_FETCH_OP(fetch_add, __func__, ctx_, dest, 1, pe)

#define API_STD(NAME, T)                                                    \
    API_BOTH(T, shmem_##NAME##_atomic_compare_swap,                         \
             shmem_ctx_##NAME##_atomic_compare_swap,                        \
             ARGS(T *dest, T cond, T value, int pe),                        \
             CTX_ARGS(T *dest, T cond, T value, int pe), return CSWAP)      \
    API_BOTH(void, shmem_##NAME##_atomic_compare_swap_nbi,                  \
             shmem_ctx_##NAME##_atomic_compare_swap_nbi,                    \
             ARGS(T *fetch, T *dest, T cond, T value, int pe),              \
             CTX_ARGS(T *fetch, T *dest, T cond, T value, int pe),          \
             TO_FETCH(CSWAP))                                               \
    API_BOTH(T, shmem_##NAME##_atomic_fetch_inc,                            \
             shmem_ctx_##NAME##_atomic_fetch_inc, ARGS(T *dest, int pe),    \
             CTX_ARGS(T *dest, int pe), return INC)                         \
    API_BOTH(void, shmem_##NAME##_atomic_fetch_inc_nbi,                     \
             shmem_ctx_##NAME##_atomic_fetch_inc_nbi,                       \
             ARGS(T *fetch, T *dest, int pe),                               \
             CTX_ARGS(T *fetch, T *dest, int pe), TO_FETCH(INC))            \
    API_BOTH(void, shmem_##NAME##_atomic_inc,                               \
             shmem_ctx_##NAME##_atomic_inc, ARGS(T *dest, int pe),          \
             CTX_ARGS(T *dest, int pe), (void)INC)                          \
    API_FETCHING(fetch_add, NAME, T, DO(fetch_add))                         \
    API_PLAIN(add, NAME, T, (void)DO(fetch_add))
SHMEMI_AMO_TYPES(API_STD)

#define API_BIT(NAME, T)                                                    \
    API_FETCHING(fetch_and, NAME, T, DO(fetch_and))                         \
    API_FETCHING(fetch_or, NAME, T, DO(fetch_or))                           \
    API_FETCHING(fetch_xor, NAME, T, DO(fetch_xor))                         \
    API_PLAIN(and, NAME, T, (void)DO(fetch_and))                            \
    API_PLAIN(or, NAME, T, (void)DO(fetch_or))                              \
    API_PLAIN(xor, NAME, T, (void)DO(fetch_xor))
SHMEMI_AMO_BIT_TYPES(API_BIT)

/* Deprecated names. */
#define API_OLD_NAME(R, OLD, PARAMS, EXPR)                                  \
    R p##OLD PARAMS                                                         \
    {                                                                       \
        const struct core_ctx *ctx_ = API_DEFAULT;                          \
        EXPR;                                                               \
    }                                                                       \
    API_ALIAS(OLD)

#define API_OLD(NAME, T)                                                    \
    API_OLD_NAME(T, shmem_##NAME##_fetch, (const T *source, int pe),        \
                 return CORE_AMO_FETCH(__func__, ctx_, source, pe))         \
    API_OLD_NAME(void, shmem_##NAME##_set, (T *dest, T value, int pe),      \
                 CORE_AMO_SET(__func__, ctx_, dest, value, pe))             \
    API_OLD_NAME(T, shmem_##NAME##_swap, (T *dest, T value, int pe),        \
                 return CORE_AMO_SWAP(__func__, ctx_, dest, value, pe))
SHMEMI_AMO_OLD_TYPES(API_OLD)

#define API_OLD_INT(NAME, T)                                                \
    API_OLD_NAME(T, shmem_##NAME##_cswap,                                   \
                 (T *dest, T cond, T value, int pe), return CSWAP)          \
    API_OLD_NAME(T, shmem_##NAME##_finc, (T *dest, int pe), return INC)     \
    API_OLD_NAME(void, shmem_##NAME##_inc, (T *dest, int pe), (void)INC)    \
    API_OLD_NAME(T, shmem_##NAME##_fadd, (T *dest, T value, int pe),        \
                 return DO(fetch_add))                                      \
    API_OLD_NAME(void, shmem_##NAME##_add, (T *dest, T value, int pe),      \
                 (void)DO(fetch_add))
SHMEMI_AMO_OLD_INTS(API_OLD_INT)

/* The same for the other types, beyond the standard. */
SHMEMI_AMO_OLD_MORE(API_OLD)
SHMEMI_AMO_OLD_MORE(API_OLD_INT)
