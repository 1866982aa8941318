/* SPDX-License-Identifier: BSD-3-Clause */
/* Strided and blocked puts and gets: the public functions, typed and sized by
 * macros.  Scales the arguments; core moves the blocks. */
#include "api/api.h"
#include "core/core_rma.h"

/* The macros below make these public names: TYPENAME is a type name of
 * shmem_types.h, SIZE a number of bits.
 *   shmem_TYPENAME_ibget shmem_TYPENAME_ibput shmem_TYPENAME_iget
 *   shmem_TYPENAME_iput shmem_ctx_TYPENAME_ibget shmem_ctx_TYPENAME_ibput
 *   shmem_ctx_TYPENAME_iget shmem_ctx_TYPENAME_iput shmem_ctx_ibgetSIZE
 *   shmem_ctx_ibputSIZE shmem_ctx_igetSIZE shmem_ctx_iputSIZE
 *   shmem_ibgetSIZE shmem_ibputSIZE shmem_igetSIZE shmem_iputSIZE */

static void strided(const char *call, const struct core_ctx *ctx, void *dest,
                    const void *source, const struct core_strided *s, int pe,
                    bool put)
{
    if (put)
        core_put_strided(call, ctx, dest, source, s, pe);
    else
        core_get_strided(call, ctx, dest, source, s, pe);
}

/* An element is a block of one. */
#define API_STRIDED(F, C, T, size, put)                                     \
    void p##F(T *dest, const T *source, ptrdiff_t dst, ptrdiff_t sst,       \
              size_t nelems, int pe)                                        \
    {                                                                       \
        struct core_strided s;                                              \
        core_strided_make(__func__, dst, sst, 1, nelems, size, &s);         \
        strided(__func__, API_DEFAULT, dest, source, &s, pe, put);          \
    }                                                                       \
    void p##C(shmem_ctx_t ctx, T *dest, const T *source, ptrdiff_t dst,     \
              ptrdiff_t sst, size_t nelems, int pe)                         \
    {                                                                       \
        struct core_strided s;                                              \
        core_strided_make(__func__, dst, sst, 1, nelems, size, &s);         \
        strided(__func__, API_CTX(ctx), dest, source, &s, pe, put);         \
    }                                                                       \
    API_ALIAS(F) API_ALIAS(C)

#define API_BLOCKED(F, C, T, size, put)                                     \
    void p##F(T *dest, const T *source, ptrdiff_t dst, ptrdiff_t sst,       \
              size_t bsize, size_t nblocks, int pe)                         \
    {                                                                       \
        struct core_strided s;                                              \
        core_strided_make(__func__, dst, sst, bsize, nblocks, size, &s);    \
        strided(__func__, API_DEFAULT, dest, source, &s, pe, put);          \
    }                                                                       \
    void p##C(shmem_ctx_t ctx, T *dest, const T *source, ptrdiff_t dst,     \
              ptrdiff_t sst, size_t bsize, size_t nblocks, int pe)          \
    {                                                                       \
        struct core_strided s;                                              \
        core_strided_make(__func__, dst, sst, bsize, nblocks, size, &s);    \
        strided(__func__, API_CTX(ctx), dest, source, &s, pe, put);         \
    }                                                                       \
    API_ALIAS(F) API_ALIAS(C)

#define API_TYPED(NAME, T)                                                  \
    API_STRIDED(shmem_##NAME##_iput, shmem_ctx_##NAME##_iput, T, sizeof(T), \
                true)                                                       \
    API_STRIDED(shmem_##NAME##_iget, shmem_ctx_##NAME##_iget, T, sizeof(T), \
                false)                                                      \
    API_BLOCKED(shmem_##NAME##_ibput, shmem_ctx_##NAME##_ibput, T,          \
                sizeof(T), true)                                            \
    API_BLOCKED(shmem_##NAME##_ibget, shmem_ctx_##NAME##_ibget, T,          \
                sizeof(T), false)
SHMEMI_RMA_TYPES(API_TYPED)

#define API_SIZED(S, BYTES)                                                 \
    API_STRIDED(shmem_iput##S, shmem_ctx_iput##S, void, BYTES, true)        \
    API_STRIDED(shmem_iget##S, shmem_ctx_iget##S, void, BYTES, false)       \
    API_BLOCKED(shmem_ibput##S, shmem_ctx_ibput##S, void, BYTES, true)      \
    API_BLOCKED(shmem_ibget##S, shmem_ctx_ibget##S, void, BYTES, false)
SHMEMI_SIZES(API_SIZED)
