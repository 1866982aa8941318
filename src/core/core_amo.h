/* SPDX-License-Identifier: BSD-3-Clause */
/* core_amo.h - atomics on mapped peers, inline for the API's typed forms.
 * They are the processor's own, so they are exclusive with every other access
 * that uses them: of any thread, through any context, by any PE of the node.
 * Relaxed order would do for the specification; acq_rel costs nothing on
 * x86 and lets programs that pass data under an atomic flag work. */
#ifndef CORE_CORE_AMO_H
#define CORE_CORE_AMO_H

#include "core/core_rma.h"

force_inline struct core_spot core_amo_target(const char *call,
                                              const struct core_ctx *ctx,
                                              const void *sym, size_t size,
                                              int pe)
{
    core_need_aligned(call, sym, size);
    return core_word(call, ctx, sym, size, pe);
}

/* For op in fetch_add, fetch_and, fetch_or, fetch_xor, exchange. */
#define CORE_AMO_FETCH_OP(op, call, ctx, dest, value, pe)                   \
    __extension__({                                                         \
        struct core_spot at_ = core_amo_target(call, ctx, dest,             \
                                           sizeof *(dest), pe);             \
        __typeof__(dest) to_ = (__typeof__(dest))at_.near;                  \
        __typeof__(*(dest)) old_ =                                          \
            __atomic_##op(to_, value, __ATOMIC_ACQ_REL);                    \
        core_wake(at_, sizeof *(dest));                                     \
        old_;                                                               \
    })

/* The generic builtins also serve float and double. */
#define CORE_AMO_SWAP(call, ctx, dest, value, pe)                           \
    __extension__({                                                         \
        struct core_spot at_ = core_amo_target(call, ctx, dest,             \
                                           sizeof *(dest), pe);             \
        __typeof__(dest) to_ = (__typeof__(dest))at_.near;                  \
        __typeof__(*(dest)) new_ = (value), old_;                           \
        __atomic_exchange(to_, &new_, &old_, __ATOMIC_ACQ_REL);             \
        core_wake(at_, sizeof *(dest));                                     \
        old_;                                                               \
    })

#define CORE_AMO_SET(call, ctx, dest, value, pe)                            \
    __extension__({                                                         \
        struct core_spot at_ = core_amo_target(call, ctx, dest,             \
                                           sizeof *(dest), pe);             \
        __typeof__(dest) to_ = (__typeof__(dest))at_.near;                  \
        __typeof__(*(dest)) new_ = (value);                                 \
        __atomic_store(to_, &new_, __ATOMIC_RELEASE);                       \
        core_wake(at_, sizeof *(dest));                                     \
    })

#define CORE_AMO_FETCH(call, ctx, source, pe)                               \
    __extension__({                                                         \
        struct core_spot at_ = core_amo_target(call, ctx, source,           \
                                           sizeof *(source), pe);           \
        __typeof__(source) from_ = (__typeof__(source))at_.near;            \
        __typeof__(+*(source)) wide_;                                       \
        __typeof__(wide_) now_;                                             \
        __atomic_load((__typeof__(wide_) *)from_, &now_, __ATOMIC_ACQUIRE); \
        now_;                                                               \
    })

#define CORE_AMO_CSWAP(call, ctx, dest, cond, value, pe)                    \
    __extension__({                                                         \
        struct core_spot at_ = core_amo_target(call, ctx, dest,             \
                                           sizeof *(dest), pe);             \
        __typeof__(dest) to_ = (__typeof__(dest))at_.near;                  \
        __typeof__(*(dest)) old_ = (cond);                                  \
        __atomic_compare_exchange_n(to_, &old_, value, 0, __ATOMIC_ACQ_REL, \
                                    __ATOMIC_ACQUIRE);                      \
        core_wake(at_, sizeof *(dest));                                     \
        old_;                                                               \
    })

#endif
