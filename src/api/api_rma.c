/* SPDX-License-Identifier: BSD-3-Clause */
/* Puts and gets of contiguous elements, blocking and not: the public
 * functions, typed and sized by macros.  One element in the host heap of a
 * mapped PE is moved right here, without a call. */
#include "api/api.h"
#include "core/core_elems.h"

/* The macros below make these public names: TYPENAME is a type name of
 * shmem_types.h, SIZE a number of bits.
 *   shmem_TYPENAME_g shmem_TYPENAME_get shmem_TYPENAME_get_nbi
 *   shmem_TYPENAME_p shmem_TYPENAME_put shmem_TYPENAME_put_nbi
 *   shmem_ctx_TYPENAME_g shmem_ctx_TYPENAME_get shmem_ctx_TYPENAME_get_nbi
 *   shmem_ctx_TYPENAME_p shmem_ctx_TYPENAME_put shmem_ctx_TYPENAME_put_nbi
 *   shmem_ctx_getSIZE shmem_ctx_getSIZE_nbi shmem_ctx_getmem
 *   shmem_ctx_getmem_nbi shmem_ctx_putSIZE shmem_ctx_putSIZE_nbi
 *   shmem_ctx_putmem shmem_ctx_putmem_nbi shmem_getSIZE shmem_getSIZE_nbi
 *   shmem_getmem shmem_getmem_nbi shmem_putSIZE shmem_putSIZE_nbi
 *   shmem_putmem shmem_putmem_nbi
 * Their generic names of C11 and C++:
 *   shmem_g shmem_get_nbi shmem_p shmem_put_nbi */

/* F and C: the names without and with a context; size: of one element, of
 * which `one` are moved by the function itself. */
#define API_XFER(F, C, T, size, one, op)                                    \
    void p##F(T *dest, const T *source, size_t nelems, int pe)              \
    {                                                                       \
        op(__func__, API_DEFAULT, dest, source, nelems, size, one, pe);     \
    }                                                                       \
    void p##C(shmem_ctx_t ctx, T *dest, const T *source, size_t nelems,     \
              int pe)                                                       \
    {                                                                       \
        op(__func__, API_CTX(ctx), dest, source, nelems, size, one, pe);    \
    }                                                                       \
    API_ALIAS(F) API_ALIAS(C)

/* A mapped peer's memory is written at once, so there the nbi forms are done
 * when they return; quiet orders them. */
#define API_RMA_TYPED(NAME, T)                                              \
    API_XFER(shmem_##NAME##_put, shmem_ctx_##NAME##_put, T, sizeof(T), 1,   \
             core_put_elems)                                                \
    API_XFER(shmem_##NAME##_get, shmem_ctx_##NAME##_get, T, sizeof(T), 1,   \
             core_get_elems)                                                \
    API_XFER(shmem_##NAME##_put_nbi, shmem_ctx_##NAME##_put_nbi, T,         \
             sizeof(T), 1, core_put_elems_nbi)                              \
    API_XFER(shmem_##NAME##_get_nbi, shmem_ctx_##NAME##_get_nbi, T,         \
             sizeof(T), 1, core_get_elems_nbi)
SHMEMI_RMA_TYPES(API_RMA_TYPED)

#define API_RMA_ONE(S, BYTES, one)                                          \
    API_XFER(shmem_put##S, shmem_ctx_put##S, void, BYTES, one,              \
             core_put_elems)                                                \
    API_XFER(shmem_get##S, shmem_ctx_get##S, void, BYTES, one,              \
             core_get_elems)                                                \
    API_XFER(shmem_put##S##_nbi, shmem_ctx_put##S##_nbi, void, BYTES, one,  \
             core_put_elems_nbi)                                            \
    API_XFER(shmem_get##S##_nbi, shmem_ctx_get##S##_nbi, void, BYTES, one,  \
             core_get_elems_nbi)
#define API_RMA_SIZED(S, BYTES) API_RMA_ONE(S, BYTES, 1)
SHMEMI_SIZES(API_RMA_SIZED)
/* Of bytes, eight. */
API_RMA_ONE(mem, 1, 8)

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
