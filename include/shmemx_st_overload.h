/* SPDX-License-Identifier: BSD-3-Clause */
/* shmemx_st_overload.h - the type-generic names of calls on streams for C++, as
 * overloads; included by shmemx_st.h, unless SHMEM_STRICT is defined. */
#ifndef SHMEMX_ST_OVERLOAD_H
#define SHMEMX_ST_OVERLOAD_H

#include "shmemx_st.h"

#ifdef __cplusplus
extern "C++" {          /* also where the program includes us in extern "C" */

/* Parameters and arguments before the stream, each in parentheses. */
#define SHMEMI_S_ARGS(...) __VA_ARGS__
#define SHMEMI_S_PLAIN(NAME, OP, PARAMS, ARGS)                              \
    static inline int shmemx_##OP##_on_stream(SHMEMI_S_ARGS PARAMS,         \
                                              shmemx_stream_t stream)       \
    {                                                                       \
        return shmemx_##NAME##_##OP##_on_stream(SHMEMI_S_ARGS ARGS,         \
                                                stream);                    \
    }
#define SHMEMI_S_EITHER(NAME, OP, PARAMS, ARGS)                             \
    SHMEMI_S_PLAIN(NAME, OP, PARAMS, ARGS)                                  \
    static inline int shmemx_##OP##_on_stream(                              \
        shmem_ctx_t ctx, SHMEMI_S_ARGS PARAMS, shmemx_stream_t stream)      \
    {                                                                       \
        return shmemx_ctx_##NAME##_##OP##_on_stream(                        \
            ctx, SHMEMI_S_ARGS ARGS, stream);                               \
    }

/* ---- Remote memory access, signals ---- */
#define SHMEMI_S_XFER(NAME, T, OP)                                          \
    SHMEMI_S_EITHER(NAME, OP,                                               \
        (T *dest, const T *source, size_t nelems, int pe),                  \
        (dest, source, nelems, pe))
#define SHMEMI_S_STRIDED(NAME, T, OP)                                       \
    SHMEMI_S_EITHER(NAME, OP,                                               \
        (T *dest, const T *source, ptrdiff_t dst, ptrdiff_t sst,            \
         size_t nelems, int pe),                                            \
        (dest, source, dst, sst, nelems, pe))
#define SHMEMI_S_BLOCKED(NAME, T, OP)                                       \
    SHMEMI_S_EITHER(NAME, OP,                                               \
        (T *dest, const T *source, ptrdiff_t dst, ptrdiff_t sst,            \
         size_t bsize, size_t nblocks, int pe),                             \
        (dest, source, dst, sst, bsize, nblocks, pe))
#define SHMEMI_S_SIGNALLED(NAME, T, OP)                                     \
    SHMEMI_S_EITHER(NAME, OP,                                               \
        (T *dest, const T *source, size_t nelems, uint64_t *sig_addr,       \
         uint64_t signal, int sig_op, int pe),                              \
        (dest, source, nelems, sig_addr, signal, sig_op, pe))
#define SHMEMI_S_RMA(NAME, T)                                               \
    SHMEMI_S_XFER(NAME, T, put)                                             \
    SHMEMI_S_XFER(NAME, T, get)                                             \
    SHMEMI_S_XFER(NAME, T, put_nbi)                                         \
    SHMEMI_S_XFER(NAME, T, get_nbi)                                         \
    SHMEMI_S_STRIDED(NAME, T, iput)                                         \
    SHMEMI_S_STRIDED(NAME, T, iget)                                         \
    SHMEMI_S_BLOCKED(NAME, T, ibput)                                        \
    SHMEMI_S_BLOCKED(NAME, T, ibget)                                        \
    SHMEMI_S_SIGNALLED(NAME, T, put_signal)                                 \
    SHMEMI_S_SIGNALLED(NAME, T, put_signal_nbi)                             \
    SHMEMI_S_EITHER(NAME, p, (T *dest, T value, int pe), (dest, value, pe)) \
    SHMEMI_S_EITHER(NAME, g, (T *value, const T *source, int pe),           \
                    (value, source, pe))
SHMEMI_RMA_BASE(SHMEMI_S_RMA)

static inline int shmemx_signal_add_on_stream(shmem_ctx_t ctx,
                                              uint64_t *sig_addr,
                                              uint64_t signal, int pe,
                                              shmemx_stream_t stream)
{
    return shmemx_ctx_signal_add_on_stream(ctx, sig_addr, signal, pe, stream);
}

static inline int shmemx_signal_set_on_stream(shmem_ctx_t ctx,
                                              uint64_t *sig_addr,
                                              uint64_t signal, int pe,
                                              shmemx_stream_t stream)
{
    return shmemx_ctx_signal_set_on_stream(ctx, sig_addr, signal, pe, stream);
}

/* ---- Atomics ---- */
#define SHMEMI_S_FETCHING(NAME, T, OP)                                      \
    SHMEMI_S_EITHER(NAME, OP, (T *fetch, T *dest, T value, int pe),         \
                    (fetch, dest, value, pe))
#define SHMEMI_S_UPDATE(NAME, T, OP)                                        \
    SHMEMI_S_EITHER(NAME, OP, (T *dest, T value, int pe), (dest, value, pe))
#define SHMEMI_S_EXT(NAME, T)                                               \
    SHMEMI_S_EITHER(NAME, atomic_fetch,                                     \
                    (T *fetch, const T *source, int pe),                    \
                    (fetch, source, pe))                                    \
    SHMEMI_S_UPDATE(NAME, T, atomic_set)                                    \
    SHMEMI_S_FETCHING(NAME, T, atomic_swap)
#define SHMEMI_S_STD(NAME, T)                                               \
    SHMEMI_S_EITHER(NAME, atomic_compare_swap,                              \
                    (T *fetch, T *dest, T cond, T value, int pe),           \
                    (fetch, dest, cond, value, pe))                         \
    SHMEMI_S_EITHER(NAME, atomic_fetch_inc, (T *fetch, T *dest, int pe),    \
                    (fetch, dest, pe))                                      \
    SHMEMI_S_EITHER(NAME, atomic_inc, (T *dest, int pe), (dest, pe))        \
    SHMEMI_S_FETCHING(NAME, T, atomic_fetch_add)                            \
    SHMEMI_S_UPDATE(NAME, T, atomic_add)
#define SHMEMI_S_BIT(NAME, T)                                               \
    SHMEMI_S_FETCHING(NAME, T, atomic_fetch_and)                            \
    SHMEMI_S_FETCHING(NAME, T, atomic_fetch_or)                             \
    SHMEMI_S_FETCHING(NAME, T, atomic_fetch_xor)                            \
    SHMEMI_S_UPDATE(NAME, T, atomic_and)                                    \
    SHMEMI_S_UPDATE(NAME, T, atomic_or)                                     \
    SHMEMI_S_UPDATE(NAME, T, atomic_xor)
SHMEMI_AMO_FLOATS(SHMEMI_S_EXT)
SHMEMI_AMO_BASE(SHMEMI_S_EXT)
SHMEMI_AMO_BASE(SHMEMI_S_STD)
SHMEMI_AMO_BIT_BASE(SHMEMI_S_BIT)
SHMEMI_S_BIT(int32, int32_t)
SHMEMI_S_BIT(int64, int64_t)

/* ---- Point-to-point synchronisation ---- */
#define SHMEMI_S_SET(NAME, T, SUFFIX, CMP)                                  \
    SHMEMI_S_PLAIN(NAME, wait_until_all##SUFFIX,                            \
        (T *ivars, size_t nelems, const int *status, int cmp, CMP values),  \
        (ivars, nelems, status, cmp, values))                               \
    SHMEMI_S_PLAIN(NAME, wait_until_any##SUFFIX,                            \
        (size_t *index, T *ivars, size_t nelems, const int *status,         \
         int cmp, CMP values),                                              \
        (index, ivars, nelems, status, cmp, values))                        \
    SHMEMI_S_PLAIN(NAME, wait_until_some##SUFFIX,                           \
        (size_t *count, T *ivars, size_t nelems, size_t *indices,           \
         const int *status, int cmp, CMP values),                           \
        (count, ivars, nelems, indices, status, cmp, values))
#define SHMEMI_S_SYNC(NAME, T)                                              \
    SHMEMI_S_PLAIN(NAME, wait_until, (T *ivar, int cmp, T cmp_value),       \
                   (ivar, cmp, cmp_value))                                  \
    SHMEMI_S_SET(NAME, T, , T)                                              \
    SHMEMI_S_SET(NAME, T, _vector, const T *)
SHMEMI_AMO_BASE(SHMEMI_S_SYNC)

#undef SHMEMI_S_ARGS
#undef SHMEMI_S_PLAIN
#undef SHMEMI_S_EITHER
#undef SHMEMI_S_XFER
#undef SHMEMI_S_STRIDED
#undef SHMEMI_S_BLOCKED
#undef SHMEMI_S_SIGNALLED
#undef SHMEMI_S_RMA
#undef SHMEMI_S_FETCHING
#undef SHMEMI_S_UPDATE
#undef SHMEMI_S_EXT
#undef SHMEMI_S_STD
#undef SHMEMI_S_BIT
#undef SHMEMI_S_SET
#undef SHMEMI_S_SYNC

}
#endif /* __cplusplus */

#endif
