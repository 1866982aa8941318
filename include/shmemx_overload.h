/* SPDX-License-Identifier: BSD-3-Clause */
/* shmemx_overload.h - the type-generic names of shmemx.h for C++, as overloads;
 * included by it, unless SHMEM_STRICT is defined. */
#ifndef SHMEMX_OVERLOAD_H
#define SHMEMX_OVERLOAD_H

#include "shmemx.h"

#ifdef __cplusplus
extern "C++" {          /* also where the program includes us in extern "C" */

/* A call of shmemx_ with and without a context: parameters and arguments, each
 * in parentheses. */
#define SHMEMI_X_ARGS(...) __VA_ARGS__
#define SHMEMI_X_EITHER(NAME, OP, PARAMS, ARGS)                             \
    static inline void shmemx_##OP(SHMEMI_X_ARGS PARAMS)                    \
    {                                                                       \
        shmemx_##NAME##_##OP(SHMEMI_X_ARGS ARGS);                           \
    }                                                                       \
    static inline void shmemx_##OP(shmem_ctx_t ctx, SHMEMI_X_ARGS PARAMS)   \
    {                                                                       \
        shmemx_ctx_##NAME##_##OP(ctx, SHMEMI_X_ARGS ARGS);                  \
    }

#define SHMEMI_X_BLOCKED(NAME, T, OP)                                       \
    SHMEMI_X_EITHER(NAME, OP,                                               \
        (T *dest, const T *source, ptrdiff_t dst, ptrdiff_t sst,            \
         size_t bsize, size_t nblocks, int pe),                             \
        (dest, source, dst, sst, bsize, nblocks, pe))
#define SHMEMI_X_XFER(NAME, T, OP)                                          \
    SHMEMI_X_EITHER(NAME, OP,                                               \
        (T *dest, const T *source, size_t nelems, int pe,                   \
         void **handle = nullptr),                                          \
        (dest, source, nelems, pe, handle))
#define SHMEMI_X_RMA(NAME, T)                                               \
    SHMEMI_X_BLOCKED(NAME, T, ibput)                                        \
    SHMEMI_X_BLOCKED(NAME, T, ibget)                                        \
    SHMEMI_X_XFER(NAME, T, put_nb)                                          \
    SHMEMI_X_XFER(NAME, T, get_nb)
SHMEMI_RMA_BASE(SHMEMI_X_RMA)

/* FN(NAME): with a type in the name; CT is T, or the complex type of C. */
#define SHMEMI_X_SCAN(NAME, T, CT, FN, OP)                                  \
    static inline int FN(shmem_team_t team, CT *dest, const CT *source,     \
                         size_t nelems)                                     \
    {                                                                       \
        return shmemx_##NAME##_##OP(team, reinterpret_cast<T *>(dest),      \
                                    reinterpret_cast<const T *>(source),    \
                                    nelems);                                \
    }
#define SHMEMI_X_SCANS(NAME, T)                                             \
    SHMEMI_X_SCAN(NAME, T, T, shmemx_sum_inscan, sum_inscan)                \
    SHMEMI_X_SCAN(NAME, T, T, shmemx_sum_exscan, sum_exscan)
#define SHMEMI_X_C_SCANS(NAME, T)                                           \
    SHMEMI_X_SCAN(NAME, T, shmemi_c_##NAME, shmemx_sum_inscan, sum_inscan)  \
    SHMEMI_X_SCAN(NAME, T, shmemi_c_##NAME, shmemx_sum_exscan, sum_exscan)  \
    SHMEMI_X_SCAN(NAME, T, shmemi_c_##NAME, shmemx_##NAME##_sum_inscan,     \
                  sum_inscan)                                               \
    SHMEMI_X_SCAN(NAME, T, shmemi_c_##NAME, shmemx_##NAME##_sum_exscan,     \
                  sum_exscan)
SHMEMI_RMA_BASE(SHMEMI_X_SCANS)
SHMEMI_REDUCE_COMPLEX(SHMEMI_X_SCANS)
SHMEMI_REDUCE_COMPLEX(SHMEMI_X_C_SCANS)

static inline void shmemx_signal_add(shmem_ctx_t ctx, uint64_t *sig_addr,
                                     uint64_t signal, int pe)
{
    shmemx_ctx_signal_add(ctx, sig_addr, signal, pe);
}

static inline void shmemx_signal_set(shmem_ctx_t ctx, uint64_t *sig_addr,
                                     uint64_t signal, int pe)
{
    shmemx_ctx_signal_set(ctx, sig_addr, signal, pe);
}

/* ---- Deprecated atomics ---- */
#define SHMEMI_X_SWAP(NAME, T)                                              \
    static inline T shmem_swap(T *dest, T value, int pe)                    \
    {                                                                       \
        return shmem_##NAME##_swap(dest, value, pe);                        \
    }
#define SHMEMI_X_EXT(NAME, T)                                               \
    static inline T shmem_fetch(const T *source, int pe)                    \
    {                                                                       \
        return shmem_##NAME##_fetch(source, pe);                            \
    }                                                                       \
    static inline void shmem_set(T *dest, T value, int pe)                  \
    {                                                                       \
        shmem_##NAME##_set(dest, value, pe);                                \
    }
#define SHMEMI_X_STD(NAME, T)                                               \
    static inline T shmem_cswap(T *dest, T cond, T value, int pe)           \
    {                                                                       \
        return shmem_##NAME##_cswap(dest, cond, value, pe);                 \
    }                                                                       \
    static inline T shmem_finc(T *dest, int pe)                             \
    {                                                                       \
        return shmem_##NAME##_finc(dest, pe);                               \
    }                                                                       \
    static inline void shmem_inc(T *dest, int pe)                           \
    {                                                                       \
        shmem_##NAME##_inc(dest, pe);                                       \
    }                                                                       \
    static inline T shmem_fadd(T *dest, T value, int pe)                    \
    {                                                                       \
        return shmem_##NAME##_fadd(dest, value, pe);                        \
    }                                                                       \
    static inline void shmem_add(T *dest, T value, int pe)                  \
    {                                                                       \
        shmem_##NAME##_add(dest, value, pe);                                \
    }
SHMEMI_AMO_FLOATS(SHMEMI_X_EXT)
SHMEMI_AMO_BASE(SHMEMI_X_EXT)
SHMEMI_AMO_BASE(SHMEMI_X_STD)
SHMEMI_AMO_FLOATS(SHMEMI_X_SWAP)
/* That of long is a C function. */
SHMEMI_X_SWAP(int, int)
SHMEMI_X_SWAP(longlong, long long)
SHMEMI_X_SWAP(uint, unsigned int)
SHMEMI_X_SWAP(ulong, unsigned long)
SHMEMI_X_SWAP(ulonglong, unsigned long long)

/* ---- Waits and tests of arrays of short ---- */
#define SHMEMI_X_SET(R, NAME, T, VERB, SUFFIX, CMP)                         \
    static inline R shmem_##VERB##_all##SUFFIX(                             \
        T *ivars, size_t nelems, const int *status, int cmp, CMP values)    \
    {                                                                       \
        return shmem_##NAME##_##VERB##_all##SUFFIX(ivars, nelems, status,   \
                                                   cmp, values);            \
    }                                                                       \
    static inline size_t shmem_##VERB##_any##SUFFIX(                        \
        T *ivars, size_t nelems, const int *status, int cmp, CMP values)    \
    {                                                                       \
        return shmem_##NAME##_##VERB##_any##SUFFIX(ivars, nelems, status,   \
                                                   cmp, values);            \
    }                                                                       \
    static inline size_t shmem_##VERB##_some##SUFFIX(                       \
        T *ivars, size_t nelems, size_t *indices, const int *status,        \
        int cmp, CMP values)                                                \
    {                                                                       \
        return shmem_##NAME##_##VERB##_some##SUFFIX(                        \
            ivars, nelems, indices, status, cmp, values);                   \
    }
#define SHMEMI_X_SETS(NAME, T)                                              \
    SHMEMI_X_SET(void, NAME, T, wait_until, , T)                            \
    SHMEMI_X_SET(void, NAME, T, wait_until, _vector, const T *)             \
    SHMEMI_X_SET(int, NAME, T, test, , T)                                   \
    SHMEMI_X_SET(int, NAME, T, test, _vector, const T *)
SHMEMI_WAIT_OLD_TYPES(SHMEMI_X_SETS)

#undef SHMEMI_X_ARGS
#undef SHMEMI_X_EITHER
#undef SHMEMI_X_BLOCKED
#undef SHMEMI_X_XFER
#undef SHMEMI_X_RMA
#undef SHMEMI_X_SCAN
#undef SHMEMI_X_SCANS
#undef SHMEMI_X_C_SCANS
#undef SHMEMI_X_SWAP
#undef SHMEMI_X_EXT
#undef SHMEMI_X_STD
#undef SHMEMI_X_SET
#undef SHMEMI_X_SETS

}
#endif /* __cplusplus */

#endif
