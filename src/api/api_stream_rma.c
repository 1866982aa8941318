/* SPDX-License-Identifier: BSD-3-Clause */
/* The one-sided calls of OpenSHMEM as operations of a stream.  Programs make
 * these calls; src/stream checks the arguments and enqueues. */
#include "api/api_stream.h"

#include <errno.h>
#include <string.h>

/* The macros below make these public names: TYPENAME is a type name of
 * shmem_types.h, SIZE a number of bits.
 *   shmemx_TYPENAME_g_on_stream shmemx_TYPENAME_get_nbi_on_stream
 *   shmemx_TYPENAME_get_on_stream shmemx_TYPENAME_ibget_on_stream
 *   shmemx_TYPENAME_ibput_on_stream shmemx_TYPENAME_iget_on_stream
 *   shmemx_TYPENAME_iput_on_stream shmemx_TYPENAME_p_on_stream
 *   shmemx_TYPENAME_put_nbi_on_stream shmemx_TYPENAME_put_on_stream
 *   shmemx_TYPENAME_put_signal_nbi_on_stream
 *   shmemx_TYPENAME_put_signal_on_stream shmemx_ctx_TYPENAME_g_on_stream
 *   shmemx_ctx_TYPENAME_get_nbi_on_stream shmemx_ctx_TYPENAME_get_on_stream
 *   shmemx_ctx_TYPENAME_ibget_on_stream shmemx_ctx_TYPENAME_ibput_on_stream
 *   shmemx_ctx_TYPENAME_iget_on_stream shmemx_ctx_TYPENAME_iput_on_stream
 *   shmemx_ctx_TYPENAME_p_on_stream shmemx_ctx_TYPENAME_put_nbi_on_stream
 *   shmemx_ctx_TYPENAME_put_on_stream
 *   shmemx_ctx_TYPENAME_put_signal_nbi_on_stream
 *   shmemx_ctx_TYPENAME_put_signal_on_stream
 *   shmemx_ctx_TYPENAME_atomic_fetch_on_stream
 *   shmemx_ctx_TYPENAME_atomic_set_on_stream
 *   shmemx_ctx_TYPENAME_atomic_swap_on_stream
 *   shmemx_ctx_getSIZE_nbi_on_stream shmemx_ctx_getSIZE_on_stream
 *   shmemx_ctx_getmem_nbi_on_stream shmemx_ctx_getmem_on_stream
 *   shmemx_ctx_ibgetSIZE_on_stream shmemx_ctx_ibputSIZE_on_stream
 *   shmemx_ctx_igetSIZE_on_stream shmemx_ctx_TYPENAME_atomic_add_on_stream
 *   shmemx_ctx_TYPENAME_atomic_and_on_stream
 *   shmemx_ctx_TYPENAME_atomic_compare_swap_on_stream
 *   shmemx_ctx_TYPENAME_atomic_fetch_add_on_stream
 *   shmemx_ctx_TYPENAME_atomic_fetch_and_on_stream
 *   shmemx_ctx_TYPENAME_atomic_fetch_inc_on_stream
 *   shmemx_ctx_TYPENAME_atomic_fetch_or_on_stream
 *   shmemx_ctx_TYPENAME_atomic_fetch_xor_on_stream
 *   shmemx_ctx_TYPENAME_atomic_inc_on_stream
 *   shmemx_ctx_TYPENAME_atomic_or_on_stream
 *   shmemx_ctx_TYPENAME_atomic_xor_on_stream shmemx_ctx_iputSIZE_on_stream
 *   shmemx_ctx_putSIZE_nbi_on_stream shmemx_ctx_putSIZE_on_stream
 *   shmemx_ctx_putSIZE_signal_nbi_on_stream
 *   shmemx_ctx_putSIZE_signal_on_stream shmemx_ctx_putmem_nbi_on_stream
 *   shmemx_ctx_putmem_on_stream shmemx_ctx_putmem_signal_nbi_on_stream
 *   shmemx_ctx_putmem_signal_on_stream shmemx_ctx_signal_add_on_stream
 *   shmemx_ctx_signal_op_on_stream shmemx_ctx_signal_set_on_stream
 *   shmemx_TYPENAME_atomic_fetch_on_stream
 *   shmemx_TYPENAME_atomic_set_on_stream
 *   shmemx_TYPENAME_atomic_swap_on_stream shmemx_getSIZE_nbi_on_stream
 *   shmemx_getSIZE_on_stream shmemx_getmem_nbi_on_stream
 *   shmemx_getmem_on_stream shmemx_ibgetSIZE_on_stream
 *   shmemx_ibputSIZE_on_stream shmemx_igetSIZE_on_stream
 *   shmemx_TYPENAME_atomic_add_on_stream
 *   shmemx_TYPENAME_atomic_and_on_stream
 *   shmemx_TYPENAME_atomic_compare_swap_on_stream
 *   shmemx_TYPENAME_atomic_fetch_add_on_stream
 *   shmemx_TYPENAME_atomic_fetch_and_on_stream
 *   shmemx_TYPENAME_atomic_fetch_inc_on_stream
 *   shmemx_TYPENAME_atomic_fetch_or_on_stream
 *   shmemx_TYPENAME_atomic_fetch_xor_on_stream
 *   shmemx_TYPENAME_atomic_inc_on_stream shmemx_TYPENAME_atomic_or_on_stream
 *   shmemx_TYPENAME_atomic_xor_on_stream shmemx_iputSIZE_on_stream
 *   shmemx_putSIZE_nbi_on_stream shmemx_putSIZE_on_stream
 *   shmemx_putSIZE_signal_nbi_on_stream shmemx_putSIZE_signal_on_stream
 *   shmemx_putmem_nbi_on_stream shmemx_putmem_on_stream
 *   shmemx_putmem_signal_nbi_on_stream shmemx_putmem_signal_on_stream
 *   shmemx_signal_add_on_stream shmemx_signal_op_on_stream
 *   shmemx_signal_set_on_stream
 * Their generic names of C11 and C++:
 *   shmemx_g_on_stream shmemx_get_nbi_on_stream shmemx_get_on_stream
 *   shmemx_ibget_on_stream shmemx_ibput_on_stream shmemx_iget_on_stream
 *   shmemx_iput_on_stream shmemx_p_on_stream shmemx_put_nbi_on_stream
 *   shmemx_put_on_stream shmemx_put_signal_nbi_on_stream
 *   shmemx_put_signal_on_stream shmemx_atomic_fetch_on_stream
 *   shmemx_atomic_set_on_stream shmemx_atomic_swap_on_stream
 *   shmemx_atomic_add_on_stream shmemx_atomic_and_on_stream
 *   shmemx_atomic_compare_swap_on_stream shmemx_atomic_fetch_add_on_stream
 *   shmemx_atomic_fetch_and_on_stream shmemx_atomic_fetch_inc_on_stream
 *   shmemx_atomic_fetch_or_on_stream shmemx_atomic_fetch_xor_on_stream
 *   shmemx_atomic_inc_on_stream shmemx_atomic_or_on_stream
 *   shmemx_atomic_xor_on_stream */

const struct core_ctx *api_stream_ctx(shmem_ctx_t ctx, const char *call)
{
    const struct core_ctx *ctx_;

    if (ctx == SHMEM_CTX_INVALID || ctx == SHMEM_DEVICE_CTX_DEFAULT)
        return NULL;
    ctx_ = core_ctx_of(ctx, call);
    return ctx_->options & SHMEM_DEVICE_CTX ? NULL : ctx_;
}

/* Defines F and its form C with a context: the parameters of both before the
 * stream, and the work, with w_ for the call, context and stream. */
#define ON(F, C, PARAMS, DO)                                                \
    int pshmemx_##F##_on_stream(ARGS PARAMS, shmemx_stream_t stream)        \
    {                                                                       \
        CORE_TRACE_CALL(__func__);                                          \
        struct stream_where w_ = API_ON(API_DEFAULT, stream);               \
        int rc_ = api_stream_need(__func__);                                \
                                                                            \
        return unlikely(rc_) ? rc_ : DO;                                    \
    }                                                                       \
    int pshmemx_##C##_on_stream(shmem_ctx_t ctx, ARGS PARAMS,               \
                                shmemx_stream_t stream)                     \
    {                                                                       \
        CORE_TRACE_CALL(__func__);                                          \
        struct stream_where w_ = API_ON(                                    \
            api_stream_ctx(ctx, __func__), stream);                         \
        int rc_ = api_stream_need(__func__);                                \
                                                                            \
        return unlikely(rc_) ? rc_ : DO;                                    \
    }                                                                       \
    API_ALIAS(shmemx_##F##_on_stream) API_ALIAS(shmemx_##C##_on_stream)
#define ARGS(...) __VA_ARGS__

/* ---- puts, gets, signals ---- */

#define XFER(F, C, T, SIZE, DO, NBI)                                        \
    ON(F, C, (T *dest, const T *source, size_t nelems, int pe),             \
       DO(&w_, dest, source, nelems, SIZE, pe, NBI))
#define XFERS(PUT, GET, CPUT, CGET, NBI, T, SIZE)                           \
    XFER(PUT, CPUT, T, SIZE, stream_put, false)                             \
    XFER(GET, CGET, T, SIZE, stream_get, false)                             \
    XFER(PUT##NBI, CPUT##NBI, T, SIZE, stream_put, true)                    \
    XFER(GET##NBI, CGET##NBI, T, SIZE, stream_get, true)
#define BLOCKS(F, C, T, SIZE, PUTS)                                         \
    ON(F, C, (T *dest, const T *source, ptrdiff_t dst, ptrdiff_t sst,       \
              size_t bsize, size_t nblocks, int pe),                        \
       stream_move_blocks(&w_, PUTS, dest, source,                          \
                          (&(struct stream_blocks){                         \
                              dst, sst, bsize, nblocks, SIZE }), pe))
#define STRIDED(F, C, T, SIZE, PUTS)                                        \
    ON(F, C, (T *dest, const T *source, ptrdiff_t dst, ptrdiff_t sst,       \
              size_t nelems, int pe),                                       \
       stream_move_blocks(&w_, PUTS, dest, source,                          \
                          (&(struct stream_blocks){                         \
                              dst, sst, 1, nelems, SIZE }), pe))
#define SIGNALLED(F, C, T, SIZE, NBI)                                       \
    ON(F, C, (T *dest, const T *source, size_t nelems, uint64_t *sig_addr,  \
              uint64_t signal, int sig_op, int pe),                         \
       stream_put_signal(&w_, dest, source, nelems, SIZE,                   \
                         (&(struct stream_signal){ sig_addr, signal,        \
                                                   sig_op }), pe, NBI))

#define TYPED(NAME, T)                                                      \
    XFERS(NAME##_put, NAME##_get, ctx_##NAME##_put, ctx_##NAME##_get, _nbi, \
          T, sizeof(T))                                                     \
    STRIDED(NAME##_iput, ctx_##NAME##_iput, T, sizeof(T), true)             \
    STRIDED(NAME##_iget, ctx_##NAME##_iget, T, sizeof(T), false)            \
    BLOCKS(NAME##_ibput, ctx_##NAME##_ibput, T, sizeof(T), true)            \
    BLOCKS(NAME##_ibget, ctx_##NAME##_ibget, T, sizeof(T), false)           \
    SIGNALLED(NAME##_put_signal, ctx_##NAME##_put_signal, T, sizeof(T),     \
              false)                                                        \
    SIGNALLED(NAME##_put_signal_nbi, ctx_##NAME##_put_signal_nbi, T,        \
              sizeof(T), true)                                              \
    ON(NAME##_p, ctx_##NAME##_p, (T *dest, T value, int pe),                \
       stream_put_value(&w_, dest, &value, sizeof value, pe))               \
    ON(NAME##_g, ctx_##NAME##_g, (T *value, const T *source, int pe),       \
       (w_.local_arg = "value",                                             \
        stream_get(&w_, value, source, 1, sizeof *value, pe, false)))
SHMEMI_RMA_TYPES(TYPED)

#define CONTIG(S, BYTES)                                                    \
    XFERS(put##S, get##S, ctx_put##S, ctx_get##S, _nbi, void, BYTES)        \
    SIGNALLED(put##S##_signal, ctx_put##S##_signal, void, BYTES, false)     \
    SIGNALLED(put##S##_signal_nbi, ctx_put##S##_signal_nbi, void, BYTES,    \
              true)
#define SIZED(S, BYTES)                                                     \
    CONTIG(S, BYTES)                                                        \
    STRIDED(iput##S, ctx_iput##S, void, BYTES, true)                        \
    STRIDED(iget##S, ctx_iget##S, void, BYTES, false)                       \
    BLOCKS(ibput##S, ctx_ibput##S, void, BYTES, true)                       \
    BLOCKS(ibget##S, ctx_ibget##S, void, BYTES, false)
SHMEMI_SIZES(SIZED)
CONTIG(mem, 1)

#define SIGNAL(OP)                                                          \
    stream_signal(&w_, (&(struct stream_signal){ sig_addr, signal, OP }), pe)
ON(signal_set, ctx_signal_set, (uint64_t *sig_addr, uint64_t signal, int pe),
   SIGNAL(SHMEM_SIGNAL_SET))
ON(signal_add, ctx_signal_add, (uint64_t *sig_addr, uint64_t signal, int pe),
   SIGNAL(SHMEM_SIGNAL_ADD))
ON(signal_op, ctx_signal_op,
   (uint64_t *sig_addr, uint64_t signal, int sig_op, int pe), SIGNAL(sig_op))

/* ---- atomics ---- */

/* As a bit pattern. */
#define BITS(v)                                                             \
    ({                                                                      \
        __typeof__(v) v_ = (v);                                             \
        uint64_t bits_ = 0;                                                 \
                                                                            \
        memcpy(&bits_, &v_, sizeof v_);                                     \
        bits_;                                                              \
    })
#define AMO(T, OP, SYM, VALUE, COND, FETCHES, FETCH)                        \
    stream_amo(&w_, (&(struct stream_amo){                                  \
                   OP, FETCHES, sizeof(T), (void *)(SYM), VALUE, COND,      \
                   FETCH }), pe)
#define PLAIN(NAME, T, CALL, OP)                                            \
    ON(NAME##_atomic_##CALL, ctx_##NAME##_atomic_##CALL,                    \
       (T *dest, T value, int pe),                                          \
       AMO(T, OP, dest, BITS(value), 0, false, NULL))
#define FETCHING(NAME, T, CALL, OP)                                         \
    ON(NAME##_atomic_##CALL, ctx_##NAME##_atomic_##CALL,                    \
       (T *fetch, T *dest, T value, int pe),                                \
       AMO(T, OP, dest, BITS(value), 0, true, fetch))
#define EXT(NAME, T)                                                        \
    ON(NAME##_atomic_fetch, ctx_##NAME##_atomic_fetch,                      \
       (T *fetch, const T *source, int pe),                                 \
       AMO(T, AMO_FETCH, source, 0, 0, true, fetch))                        \
    PLAIN(NAME, T, set, AMO_SET)                                            \
    FETCHING(NAME, T, swap, AMO_SWAP)
SHMEMI_AMO_EXT_TYPES(EXT)
#define STD(NAME, T)                                                        \
    ON(NAME##_atomic_compare_swap, ctx_##NAME##_atomic_compare_swap,        \
       (T *fetch, T *dest, T cond, T value, int pe),                        \
       AMO(T, AMO_CSWAP, dest, BITS(value), BITS(cond), true, fetch))       \
    ON(NAME##_atomic_fetch_inc, ctx_##NAME##_atomic_fetch_inc,              \
       (T *fetch, T *dest, int pe),                                         \
       AMO(T, AMO_ADD, dest, 1, 0, true, fetch))                            \
    ON(NAME##_atomic_inc, ctx_##NAME##_atomic_inc, (T *dest, int pe),       \
       AMO(T, AMO_ADD, dest, 1, 0, false, NULL))                            \
    FETCHING(NAME, T, fetch_add, AMO_ADD)                                   \
    PLAIN(NAME, T, add, AMO_ADD)
SHMEMI_AMO_TYPES(STD)
#define BIT(NAME, T)                                                        \
    FETCHING(NAME, T, fetch_and, AMO_AND)                                   \
    FETCHING(NAME, T, fetch_or, AMO_OR)                                     \
    FETCHING(NAME, T, fetch_xor, AMO_XOR)                                   \
    PLAIN(NAME, T, and, AMO_AND)                                            \
    PLAIN(NAME, T, or, AMO_OR)                                              \
    PLAIN(NAME, T, xor, AMO_XOR)
SHMEMI_AMO_BIT_TYPES(BIT)
