/* SPDX-License-Identifier: BSD-3-Clause */
#include "api/api.h"
#include "core/core_rma.h"

/* F and C: the names without and with a context; size: of one element. */
#define API_XFER(F, C, T, size, op)                                         \
    void p##F(T *dest, const T *source, size_t nelems, int pe)              \
    {                                                                       \
        op(__func__, API_DEFAULT, dest, source,                             \
           core_bytes(__func__, nelems, size), pe);                         \
    }                                                                       \
    void p##C(shmem_ctx_t ctx, T *dest, const T *source, size_t nelems,     \
              int pe)                                                       \
    {                                                                       \
        op(__func__, API_CTX(ctx), dest, source,                            \
           core_bytes(__func__, nelems, size), pe);                         \
    }                                                                       \
    API_ALIAS(F) API_ALIAS(C)

/* A mapped peer's memory is written at once, so there the nbi forms are done
 * when they return; quiet orders them. */
#define API_RMA_TYPED(NAME, T)                                              \
    API_XFER(shmem_##NAME##_put, shmem_ctx_##NAME##_put, T, sizeof(T),      \
             core_put)                                                      \
    API_XFER(shmem_##NAME##_get, shmem_ctx_##NAME##_get, T, sizeof(T),      \
             core_get)                                                      \
    API_XFER(shmem_##NAME##_put_nbi, shmem_ctx_##NAME##_put_nbi, T,         \
             sizeof(T), core_put_nbi)                                       \
    API_XFER(shmem_##NAME##_get_nbi, shmem_ctx_##NAME##_get_nbi, T,         \
             sizeof(T), core_get_nbi)
SHMEMI_RMA_TYPES(API_RMA_TYPED)

#define API_RMA_SIZED(S, BYTES)                                             \
    API_XFER(shmem_put##S, shmem_ctx_put##S, void, BYTES, core_put)         \
    API_XFER(shmem_get##S, shmem_ctx_get##S, void, BYTES, core_get)         \
    API_XFER(shmem_put##S##_nbi, shmem_ctx_put##S##_nbi, void, BYTES,       \
             core_put_nbi)                                                  \
    API_XFER(shmem_get##S##_nbi, shmem_ctx_get##S##_nbi, void, BYTES,       \
             core_get_nbi)
SHMEMI_SIZES(API_RMA_SIZED)
API_RMA_SIZED(mem, 1)

#define API_PG(NAME, T)                                                     \
    void pshmem_##NAME##_p(T *dest, T value, int pe)                        \
    {                                                                       \
        core_put_word(__func__, API_DEFAULT, dest, &value, sizeof value,    \
                      pe);                                                  \
    }                                                                       \
    void pshmem_ctx_##NAME##_p(shmem_ctx_t ctx, T *dest, T value, int pe)   \
    {                                                                       \
        core_put_word(__func__, API_CTX(ctx), dest, &value, sizeof value,   \
                      pe);                                                  \
    }                                                                       \
    T pshmem_##NAME##_g(const T *source, int pe)                            \
    {                                                                       \
        T value;                                                            \
        core_get_word(__func__, API_DEFAULT, &value, source, sizeof value,  \
                      pe);                                                  \
        return value;                                                       \
    }                                                                       \
    T pshmem_ctx_##NAME##_g(shmem_ctx_t ctx, const T *source, int pe)       \
    {                                                                       \
        T value;                                                            \
        core_get_word(__func__, API_CTX(ctx), &value, source, sizeof value, \
                      pe);                                                  \
        return value;                                                       \
    }                                                                       \
    API_ALIAS(shmem_##NAME##_p) API_ALIAS(shmem_ctx_##NAME##_p)             \
    API_ALIAS(shmem_##NAME##_g) API_ALIAS(shmem_ctx_##NAME##_g)
SHMEMI_RMA_TYPES(API_PG)
