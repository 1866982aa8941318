/* SPDX-License-Identifier: BSD-3-Clause */
/* shmem_overload.h - the type-generic names for C++, as overloads; included by
 * shmem.h, unless SHMEM_STRICT is defined.  The standard gives these names to
 * C11 only; with and without a context, by the type of the buffers. */
#ifndef SHMEM_OVERLOAD_H
#define SHMEM_OVERLOAD_H

#include "shmem.h"

#ifdef __cplusplus
extern "C++" {          /* also where the program includes us in extern "C" */

/* A call with and without a context: parameters and arguments, each in
 * parentheses; RET is void or the type. */
#define SHMEMI_O_ARGS(...) __VA_ARGS__
#define SHMEMI_O_PLAIN(RET, NAME, OP, PARAMS, ARGS)                         \
    static inline RET shmem_##OP(SHMEMI_O_ARGS PARAMS)                      \
    {                                                                       \
        return shmem_##NAME##_##OP(SHMEMI_O_ARGS ARGS);                     \
    }
#define SHMEMI_O_EITHER(RET, NAME, OP, PARAMS, ARGS)                        \
    SHMEMI_O_PLAIN(RET, NAME, OP, PARAMS, ARGS)                             \
    static inline RET shmem_##OP(shmem_ctx_t ctx, SHMEMI_O_ARGS PARAMS)     \
    {                                                                       \
        return shmem_ctx_##NAME##_##OP(ctx, SHMEMI_O_ARGS ARGS);            \
    }

/* ---- Remote memory access, signals ---- */
#define SHMEMI_O_XFER(NAME, T, OP)                                          \
    SHMEMI_O_EITHER(void, NAME, OP,                                         \
        (T *dest, const T *source, size_t nelems, int pe),                  \
        (dest, source, nelems, pe))
#define SHMEMI_O_STRIDED(NAME, T, OP)                                       \
    SHMEMI_O_EITHER(void, NAME, OP,                                         \
        (T *dest, const T *source, ptrdiff_t dst, ptrdiff_t sst,            \
         size_t nelems, int pe),                                            \
        (dest, source, dst, sst, nelems, pe))
#define SHMEMI_O_BLOCKED(NAME, T, OP)                                       \
    SHMEMI_O_EITHER(void, NAME, OP,                                         \
        (T *dest, const T *source, ptrdiff_t dst, ptrdiff_t sst,            \
         size_t bsize, size_t nblocks, int pe),                             \
        (dest, source, dst, sst, bsize, nblocks, pe))
#define SHMEMI_O_SIGNALLED(NAME, T, OP)                                     \
    SHMEMI_O_EITHER(void, NAME, OP,                                         \
        (T *dest, const T *source, size_t nelems, uint64_t *sig_addr,       \
         uint64_t signal, int sig_op, int pe),                              \
        (dest, source, nelems, sig_addr, signal, sig_op, pe))
#define SHMEMI_O_RMA(NAME, T)                                               \
    SHMEMI_O_XFER(NAME, T, put)                                             \
    SHMEMI_O_XFER(NAME, T, get)                                             \
    SHMEMI_O_XFER(NAME, T, put_nbi)                                         \
    SHMEMI_O_XFER(NAME, T, get_nbi)                                         \
    SHMEMI_O_STRIDED(NAME, T, iput)                                         \
    SHMEMI_O_STRIDED(NAME, T, iget)                                         \
    SHMEMI_O_BLOCKED(NAME, T, ibput)                                        \
    SHMEMI_O_BLOCKED(NAME, T, ibget)                                        \
    SHMEMI_O_SIGNALLED(NAME, T, put_signal)                                 \
    SHMEMI_O_SIGNALLED(NAME, T, put_signal_nbi)                             \
    SHMEMI_O_EITHER(void, NAME, p, (T *dest, T value, int pe),              \
                    (dest, value, pe))                                      \
    SHMEMI_O_EITHER(T, NAME, g, (const T *source, int pe), (source, pe))
SHMEMI_RMA_BASE(SHMEMI_O_RMA)

static inline void shmem_signal_add(shmem_ctx_t ctx, uint64_t *sig_addr,
                                    uint64_t signal, int pe)
{
    shmem_ctx_signal_add(ctx, sig_addr, signal, pe);
}

static inline void shmem_signal_set(shmem_ctx_t ctx, uint64_t *sig_addr,
                                    uint64_t signal, int pe)
{
    shmem_ctx_signal_set(ctx, sig_addr, signal, pe);
}

/* ---- Atomics ---- */
#define SHMEMI_O_FETCHING(NAME, T, OP)                                      \
    SHMEMI_O_EITHER(T, NAME, OP, (T *dest, T value, int pe),                \
                    (dest, value, pe))                                      \
    SHMEMI_O_EITHER(void, NAME, OP##_nbi,                                   \
                    (T *fetch, T *dest, T value, int pe),                   \
                    (fetch, dest, value, pe))
#define SHMEMI_O_UPDATE(NAME, T, OP)                                        \
    SHMEMI_O_EITHER(void, NAME, OP, (T *dest, T value, int pe),             \
                    (dest, value, pe))
#define SHMEMI_O_EXT(NAME, T)                                               \
    SHMEMI_O_EITHER(T, NAME, atomic_fetch, (const T *source, int pe),       \
                    (source, pe))                                           \
    SHMEMI_O_EITHER(void, NAME, atomic_fetch_nbi,                           \
                    (T *fetch, const T *source, int pe),                    \
                    (fetch, source, pe))                                    \
    SHMEMI_O_UPDATE(NAME, T, atomic_set)                                    \
    SHMEMI_O_FETCHING(NAME, T, atomic_swap)
#define SHMEMI_O_STD(NAME, T)                                               \
    SHMEMI_O_EITHER(T, NAME, atomic_compare_swap,                           \
                    (T *dest, T cond, T value, int pe),                     \
                    (dest, cond, value, pe))                                \
    SHMEMI_O_EITHER(void, NAME, atomic_compare_swap_nbi,                    \
                    (T *fetch, T *dest, T cond, T value, int pe),           \
                    (fetch, dest, cond, value, pe))                         \
    SHMEMI_O_EITHER(T, NAME, atomic_fetch_inc, (T *dest, int pe),           \
                    (dest, pe))                                             \
    SHMEMI_O_EITHER(void, NAME, atomic_fetch_inc_nbi,                       \
                    (T *fetch, T *dest, int pe), (fetch, dest, pe))         \
    SHMEMI_O_EITHER(void, NAME, atomic_inc, (T *dest, int pe), (dest, pe))  \
    SHMEMI_O_FETCHING(NAME, T, atomic_fetch_add)                            \
    SHMEMI_O_UPDATE(NAME, T, atomic_add)
#define SHMEMI_O_BIT(NAME, T)                                               \
    SHMEMI_O_FETCHING(NAME, T, atomic_fetch_and)                            \
    SHMEMI_O_FETCHING(NAME, T, atomic_fetch_or)                             \
    SHMEMI_O_FETCHING(NAME, T, atomic_fetch_xor)                            \
    SHMEMI_O_UPDATE(NAME, T, atomic_and)                                    \
    SHMEMI_O_UPDATE(NAME, T, atomic_or)                                     \
    SHMEMI_O_UPDATE(NAME, T, atomic_xor)
SHMEMI_AMO_FLOATS(SHMEMI_O_EXT)
SHMEMI_AMO_BASE(SHMEMI_O_EXT)
SHMEMI_AMO_BASE(SHMEMI_O_STD)
SHMEMI_AMO_BIT_BASE(SHMEMI_O_BIT)
SHMEMI_O_BIT(int32, int32_t)
SHMEMI_O_BIT(int64, int64_t)

/* ---- Collectives ---- */
static inline int shmem_sync(shmem_team_t team)
{
    return shmem_team_sync(team);
}
#define SHMEMI_O_BLOCK(NAME, T, OP)                                         \
    SHMEMI_O_PLAIN(int, NAME, OP,                                           \
        (shmem_team_t team, T *dest, const T *source, size_t nelems),       \
        (team, dest, source, nelems))
#define SHMEMI_O_COLL(NAME, T)                                              \
    SHMEMI_O_BLOCK(NAME, T, alltoall)                                       \
    SHMEMI_O_PLAIN(int, NAME, alltoalls,                                    \
        (shmem_team_t team, T *dest, const T *source, ptrdiff_t dst,        \
         ptrdiff_t sst, size_t nelems),                                     \
        (team, dest, source, dst, sst, nelems))                             \
    SHMEMI_O_PLAIN(int, NAME, broadcast,                                    \
        (shmem_team_t team, T *dest, const T *source, size_t nelems,        \
         int PE_root),                                                      \
        (team, dest, source, nelems, PE_root))                              \
    SHMEMI_O_BLOCK(NAME, T, collect)                                        \
    SHMEMI_O_BLOCK(NAME, T, fcollect)                                       \
    SHMEMI_O_BLOCK(NAME, T, max_reduce)                                     \
    SHMEMI_O_BLOCK(NAME, T, min_reduce)                                     \
    SHMEMI_O_SUMS(NAME, T)
#define SHMEMI_O_SUMS(NAME, T)                                              \
    SHMEMI_O_BLOCK(NAME, T, sum_reduce)                                     \
    SHMEMI_O_BLOCK(NAME, T, prod_reduce)                                    \
    SHMEMI_O_BLOCK(NAME, T, sum_inscan)                                     \
    SHMEMI_O_BLOCK(NAME, T, sum_exscan)
#define SHMEMI_O_BITWISE(NAME, T)                                           \
    SHMEMI_O_BLOCK(NAME, T, and_reduce)                                     \
    SHMEMI_O_BLOCK(NAME, T, or_reduce)                                      \
    SHMEMI_O_BLOCK(NAME, T, xor_reduce)
SHMEMI_RMA_BASE(SHMEMI_O_COLL)
SHMEMI_REDUCE_COMPLEX(SHMEMI_O_SUMS)
/* The complex types of C, which compilers also have in C++ and which have the
 * memory layout of std::complex: names with and without a type. */
__extension__ typedef __complex__ float shmemi_c_complexf;
__extension__ typedef __complex__ double shmemi_c_complexd;
#define SHMEMI_O_BUFFERS(T)                                                 \
    reinterpret_cast<T *>(dest), reinterpret_cast<const T *>(source)
#define SHMEMI_O_C_BLOCK(NAME, T, CT, OP)                                   \
    static inline int shmem_##NAME##_##OP(                                  \
        shmem_team_t team, CT *dest, const CT *source, size_t nelems)       \
    {                                                                       \
        return shmem_##NAME##_##OP(team, SHMEMI_O_BUFFERS(T), nelems);      \
    }
#define SHMEMI_O_C_TO_ALL(NAME, T, CT, OP)                                  \
    static inline void shmem_##NAME##_##OP(                                 \
        CT *dest, const CT *source, int nreduce, int PE_start,              \
        int logPE_stride, int PE_size, CT *pWrk, long *pSync)               \
    {                                                                       \
        shmem_##NAME##_##OP(SHMEMI_O_BUFFERS(T), nreduce, PE_start,         \
                            logPE_stride, PE_size,                          \
                            reinterpret_cast<T *>(pWrk), pSync);            \
    }
#define SHMEMI_O_C_COMPLEX(NAME, T)                                         \
    SHMEMI_O_C_BLOCK(NAME, T, shmemi_c_##NAME, sum_reduce)                  \
    SHMEMI_O_C_BLOCK(NAME, T, shmemi_c_##NAME, prod_reduce)                 \
    SHMEMI_O_C_BLOCK(NAME, T, shmemi_c_##NAME, sum_inscan)                  \
    SHMEMI_O_C_BLOCK(NAME, T, shmemi_c_##NAME, sum_exscan)                  \
    SHMEMI_O_C_TO_ALL(NAME, T, shmemi_c_##NAME, sum_to_all)                 \
    SHMEMI_O_C_TO_ALL(NAME, T, shmemi_c_##NAME, prod_to_all)                \
    SHMEMI_O_SUMS(NAME, shmemi_c_##NAME)
SHMEMI_REDUCE_COMPLEX(SHMEMI_O_C_COMPLEX)
SHMEMI_REDUCE_BIT_BASE(SHMEMI_O_BITWISE)
SHMEMI_O_BITWISE(int8, int8_t)
SHMEMI_O_BITWISE(int16, int16_t)
SHMEMI_O_BITWISE(int32, int32_t)
SHMEMI_O_BITWISE(int64, int64_t)

/* ---- Point-to-point synchronization ---- */
#define SHMEMI_O_TEST_ONE(NAME, T)                                          \
    SHMEMI_O_PLAIN(int, NAME, test, (T *ivar, int cmp, T cmp_value),        \
                   (ivar, cmp, cmp_value))
#define SHMEMI_O_WAIT_ONE(NAME, T)                                          \
    SHMEMI_O_PLAIN(void, NAME, wait_until, (T *ivar, int cmp, T cmp_value), \
                   (ivar, cmp, cmp_value))
#define SHMEMI_O_SET(R, NAME, T, VERB, SUFFIX, CMP)                         \
    SHMEMI_O_PLAIN(R, NAME, VERB##_all##SUFFIX,                             \
        (T *ivars, size_t nelems, const int *status, int cmp, CMP values),  \
        (ivars, nelems, status, cmp, values))                               \
    SHMEMI_O_PLAIN(size_t, NAME, VERB##_any##SUFFIX,                        \
        (T *ivars, size_t nelems, const int *status, int cmp, CMP values),  \
        (ivars, nelems, status, cmp, values))                               \
    SHMEMI_O_PLAIN(size_t, NAME, VERB##_some##SUFFIX,                       \
        (T *ivars, size_t nelems, size_t *indices, const int *status,       \
         int cmp, CMP values),                                              \
        (ivars, nelems, indices, status, cmp, values))
#define SHMEMI_O_SYNC(NAME, T)                                              \
    SHMEMI_O_TEST_ONE(NAME, T)                                              \
    SHMEMI_O_SET(void, NAME, T, wait_until, , T)                            \
    SHMEMI_O_SET(void, NAME, T, wait_until, _vector, const T *)             \
    SHMEMI_O_SET(int, NAME, T, test, , T)                                   \
    SHMEMI_O_SET(int, NAME, T, test, _vector, const T *)
SHMEMI_AMO_BASE(SHMEMI_O_SYNC)
SHMEMI_WAIT_OLD_TYPES(SHMEMI_O_TEST_ONE)
SHMEMI_WAIT_OLD_TYPES(SHMEMI_O_WAIT_ONE)
/* That of long is a C function. */
SHMEMI_O_WAIT_ONE(int, int)
SHMEMI_O_WAIT_ONE(longlong, long long)
SHMEMI_O_WAIT_ONE(uint, unsigned int)
SHMEMI_O_WAIT_ONE(ulong, unsigned long)
SHMEMI_O_WAIT_ONE(ulonglong, unsigned long long)

#undef SHMEMI_O_ARGS
#undef SHMEMI_O_PLAIN
#undef SHMEMI_O_EITHER
#undef SHMEMI_O_XFER
#undef SHMEMI_O_STRIDED
#undef SHMEMI_O_BLOCKED
#undef SHMEMI_O_SIGNALLED
#undef SHMEMI_O_RMA
#undef SHMEMI_O_FETCHING
#undef SHMEMI_O_UPDATE
#undef SHMEMI_O_EXT
#undef SHMEMI_O_STD
#undef SHMEMI_O_BIT
#undef SHMEMI_O_BLOCK
#undef SHMEMI_O_COLL
#undef SHMEMI_O_SUMS
#undef SHMEMI_O_BUFFERS
#undef SHMEMI_O_C_BLOCK
#undef SHMEMI_O_C_TO_ALL
#undef SHMEMI_O_C_COMPLEX
#undef SHMEMI_O_BITWISE
#undef SHMEMI_O_TEST_ONE
#undef SHMEMI_O_WAIT_ONE
#undef SHMEMI_O_SET
#undef SHMEMI_O_SYNC

}
#endif /* __cplusplus */

#endif
