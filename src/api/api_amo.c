/* SPDX-License-Identifier: BSD-3-Clause */
#include "api/api.h"
#include "core/core_amo.h"

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

/* FETCHING(xop, condition, NEAR, value) with the result returned, or in *fetch
 * by the next quiet: a bad place for it is told before anything is done. */
#define RETURNED(T, XOP, CONDP, NEAR, value)                                \
    T was_;                                                                 \
    CORE_AMO_FETCHING(__func__, ctx_, XOP, dest, value, CONDP, pe, NEAR,    \
                      false, &was_);                                        \
    return was_
#define FETCHED(T, XOP, CONDP, NEAR, value)                                 \
    core_need_local(__func__, fetch, sizeof *fetch);                        \
    CORE_AMO_FETCHING(__func__, ctx_, XOP, dest, value, CONDP, pe, NEAR,    \
                      true, fetch)
#define PLAIN(XOP, NEAR, value)                                             \
    CORE_AMO_PLAIN(__func__, ctx_, XOP, dest, value, pe, NEAR)

/* value op, fetching: the plain name and the nbi one */
#define API_FETCHING(NAME_OP, NAME, T, XOP, NEAR)                           \
    API_BOTH(T, shmem_##NAME##_atomic_##NAME_OP,                            \
             shmem_ctx_##NAME##_atomic_##NAME_OP,                           \
             ARGS(T *dest, T value, int pe),                                \
             CTX_ARGS(T *dest, T value, int pe),                            \
             RETURNED(T, XOP, NULL, NEAR, value))                           \
    API_BOTH(void, shmem_##NAME##_atomic_##NAME_OP##_nbi,                   \
             shmem_ctx_##NAME##_atomic_##NAME_OP##_nbi,                     \
             ARGS(T *fetch, T *dest, T value, int pe),                      \
             CTX_ARGS(T *fetch, T *dest, T value, int pe),                  \
             FETCHED(T, XOP, NULL, NEAR, value))

#define API_PLAIN(NAME_OP, NAME, T, XOP, NEAR)                              \
    API_BOTH(void, shmem_##NAME##_atomic_##NAME_OP,                         \
             shmem_ctx_##NAME##_atomic_##NAME_OP,                           \
             ARGS(T *dest, T value, int pe),                                \
             CTX_ARGS(T *dest, T value, int pe), PLAIN(XOP, NEAR, value))

#define LOOK_RETURNED(T)                                                    \
    T was_;                                                                 \
    CORE_AMO_LOOK(__func__, ctx_, source, pe, false, &was_);                \
    return was_
#define LOOK_FETCHED                                                        \
    core_need_local(__func__, fetch, sizeof *fetch);                        \
    CORE_AMO_LOOK(__func__, ctx_, source, pe, true, fetch)

#define API_EXT(NAME, T)                                                    \
    API_BOTH(T, shmem_##NAME##_atomic_fetch,                                \
             shmem_ctx_##NAME##_atomic_fetch,                               \
             ARGS(const T *source, int pe),                                 \
             CTX_ARGS(const T *source, int pe), LOOK_RETURNED(T))           \
    API_BOTH(void, shmem_##NAME##_atomic_fetch_nbi,                         \
             shmem_ctx_##NAME##_atomic_fetch_nbi,                           \
             ARGS(T *fetch, const T *source, int pe),                       \
             CTX_ARGS(T *fetch, const T *source, int pe), LOOK_FETCHED)     \
    API_PLAIN(set, NAME, T, XPORT_SET, CORE_DO_SET(value))                  \
    API_FETCHING(swap, NAME, T, XPORT_SWAP, CORE_DO_SWAP(value))
SHMEMI_AMO_EXT_TYPES(API_EXT)

#define API_STD(NAME, T)                                                    \
    API_BOTH(T, shmem_##NAME##_atomic_compare_swap,                         \
             shmem_ctx_##NAME##_atomic_compare_swap,                        \
             ARGS(T *dest, T cond, T value, int pe),                        \
             CTX_ARGS(T *dest, T cond, T value, int pe),                    \
             RETURNED(T, XPORT_CSWAP, &cond, CORE_DO_CSWAP(cond, value),    \
                      value))                                               \
    API_BOTH(void, shmem_##NAME##_atomic_compare_swap_nbi,                  \
             shmem_ctx_##NAME##_atomic_compare_swap_nbi,                    \
             ARGS(T *fetch, T *dest, T cond, T value, int pe),              \
             CTX_ARGS(T *fetch, T *dest, T cond, T value, int pe),          \
             FETCHED(T, XPORT_CSWAP, &cond, CORE_DO_CSWAP(cond, value),     \
                     value))                                                \
    API_BOTH(T, shmem_##NAME##_atomic_fetch_inc,                            \
             shmem_ctx_##NAME##_atomic_fetch_inc, ARGS(T *dest, int pe),    \
             CTX_ARGS(T *dest, int pe),                                     \
             RETURNED(T, XPORT_ADD, NULL, CORE_DO_ADD(1), 1))               \
    API_BOTH(void, shmem_##NAME##_atomic_fetch_inc_nbi,                     \
             shmem_ctx_##NAME##_atomic_fetch_inc_nbi,                       \
             ARGS(T *fetch, T *dest, int pe),                               \
             CTX_ARGS(T *fetch, T *dest, int pe),                           \
             FETCHED(T, XPORT_ADD, NULL, CORE_DO_ADD(1), 1))                \
    API_BOTH(void, shmem_##NAME##_atomic_inc,                               \
             shmem_ctx_##NAME##_atomic_inc, ARGS(T *dest, int pe),          \
             CTX_ARGS(T *dest, int pe), PLAIN(XPORT_ADD, CORE_DO_ADD(1), 1))\
    API_FETCHING(fetch_add, NAME, T, XPORT_ADD, CORE_DO_ADD(value))         \
    API_PLAIN(add, NAME, T, XPORT_ADD, CORE_DO_ADD(value))
SHMEMI_AMO_TYPES(API_STD)

#define API_BIT(NAME, T)                                                    \
    API_FETCHING(fetch_and, NAME, T, XPORT_AND, CORE_DO_AND(value))         \
    API_FETCHING(fetch_or, NAME, T, XPORT_OR, CORE_DO_OR(value))            \
    API_FETCHING(fetch_xor, NAME, T, XPORT_XOR, CORE_DO_XOR(value))         \
    API_PLAIN(and, NAME, T, XPORT_AND, CORE_DO_AND(value))                  \
    API_PLAIN(or, NAME, T, XPORT_OR, CORE_DO_OR(value))                     \
    API_PLAIN(xor, NAME, T, XPORT_XOR, CORE_DO_XOR(value))
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
                 LOOK_RETURNED(T))                                          \
    API_OLD_NAME(void, shmem_##NAME##_set, (T *dest, T value, int pe),      \
                 PLAIN(XPORT_SET, CORE_DO_SET(value), value))               \
    API_OLD_NAME(T, shmem_##NAME##_swap, (T *dest, T value, int pe),        \
                 RETURNED(T, XPORT_SWAP, NULL, CORE_DO_SWAP(value), value))
SHMEMI_AMO_OLD_TYPES(API_OLD)

#define API_OLD_INT(NAME, T)                                                \
    API_OLD_NAME(T, shmem_##NAME##_cswap,                                   \
                 (T *dest, T cond, T value, int pe),                        \
                 RETURNED(T, XPORT_CSWAP, &cond, CORE_DO_CSWAP(cond, value),\
                          value))                                           \
    API_OLD_NAME(T, shmem_##NAME##_finc, (T *dest, int pe),                 \
                 RETURNED(T, XPORT_ADD, NULL, CORE_DO_ADD(1), 1))           \
    API_OLD_NAME(void, shmem_##NAME##_inc, (T *dest, int pe),               \
                 PLAIN(XPORT_ADD, CORE_DO_ADD(1), 1))                       \
    API_OLD_NAME(T, shmem_##NAME##_fadd, (T *dest, T value, int pe),        \
                 RETURNED(T, XPORT_ADD, NULL, CORE_DO_ADD(value), value))   \
    API_OLD_NAME(void, shmem_##NAME##_add, (T *dest, T value, int pe),      \
                 PLAIN(XPORT_ADD, CORE_DO_ADD(value), value))
SHMEMI_AMO_OLD_INTS(API_OLD_INT)

/* The same for the other types, beyond the standard. */
SHMEMI_AMO_OLD_MORE(API_OLD)
SHMEMI_AMO_OLD_MORE(API_OLD_INT)
