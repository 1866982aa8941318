/* SPDX-License-Identifier: BSD-3-Clause */
/* core_amo.h - atomics, inline for the API's typed forms.
 * On mapped peers they are the processor's own, so they are exclusive with
 * every other access that uses them: of any thread, through any context, by
 * any PE of the node.  Relaxed order would do for the specification; acq_rel
 * costs nothing on x86 and lets programs that pass data under an atomic flag
 * work.  Whatever the network does is exclusive with these, or the routes map
 * nothing for atomics: see docs/ARCHITECTURE.md. */
#ifndef CORE_CORE_AMO_H
#define CORE_CORE_AMO_H

#include "core/core_rma.h"

/* value, cond and result are words of size bytes, or NULL. */
void core_far_amo(const char *call, const struct core_ctx *ctx,
                  enum xport_op op, size_t size, const void *sym, int pe,
                  const void *value, const void *cond, void *result, bool nbi)
    __attribute__((cold, noinline));

/* Puts of the context come before it; no quiet needs to cover it. */
void core_far_tell(const char *call, const struct core_ctx *ctx,
                   enum xport_op op, uint64_t *sym, uint64_t value, int pe)
    __attribute__((cold, noinline));

force_inline struct core_spot core_amo_spot(const char *call,
                                            const struct core_ctx *ctx,
                                            const void *sym, size_t size,
                                            int pe)
{
    core_need_aligned(call, sym, size);
    return core_near_amo(ctx, sym, size, pe);
}

/* NEAR is done on `to_`, a pointer to the mapped word, and gives what it was;
 * the same goes to *(fetch): at once, or with nbi by the next quiet. */
#define CORE_AMO_FETCHING(call, ctx, xop, dest, value, condp, pe, NEAR, nbi,\
                          fetch)                                            \
    do {                                                                    \
        struct core_spot at_ = core_amo_spot(call, ctx, dest,               \
                                             sizeof *(dest), pe);           \
        if (likely(at_.near)) {                                             \
            __typeof__(dest) to_ = (__typeof__(dest))at_.near;              \
            atomics_told();                                                 \
            __typeof__(*(dest)) got_ = NEAR;                                \
            atomics_heard();                                                \
            if (nbi && core_foreign(fetch))                                 \
                core_device_copy(fetch, &got_, sizeof got_);                \
            else                                                            \
                *(fetch) = got_;                                            \
            core_wake(at_, sizeof *(dest));                                 \
        } else {                                                            \
            __typeof__(*(dest)) v_ = (value);                               \
            core_far_amo(call, ctx, xop, sizeof v_, dest, pe, &v_, condp,   \
                         fetch, nbi);                                       \
        }                                                                   \
    } while (0)

/* NEAR is done, nothing is fetched. */
#define CORE_AMO_PLAIN(call, ctx, xop, dest, value, pe, NEAR)               \
    do {                                                                    \
        struct core_spot at_ = core_amo_spot(call, ctx, dest,               \
                                             sizeof *(dest), pe);           \
        if (likely(at_.near)) {                                             \
            __typeof__(dest) to_ = (__typeof__(dest))at_.near;              \
            atomics_told();                                                 \
            NEAR;                                                           \
            core_wake(at_, sizeof *(dest));                                 \
        } else {                                                            \
            __typeof__(*(dest)) v_ = (value);                               \
            core_far_amo(call, ctx, xop, sizeof v_, dest, pe, &v_, NULL,    \
                         NULL, false);                                      \
        }                                                                   \
    } while (0)

/* A look changes nothing, and wakes nobody. */
#define CORE_AMO_LOOK(call, ctx, source, pe, nbi, fetch)                    \
    do {                                                                    \
        struct core_spot at_ = core_amo_spot(call, ctx, source,             \
                                             sizeof *(source), pe);         \
        if (nbi && core_foreign(fetch)) {                                   \
            core_get(call, ctx, fetch, source, sizeof *(source), pe);       \
        } else if (likely(at_.near)) {                                      \
            __atomic_load((__typeof__(fetch))at_.near, fetch,               \
                          __ATOMIC_ACQUIRE);                                \
            atomics_heard();                                                \
        } else {                                                            \
            core_far_amo(call, ctx, XPORT_FETCH, sizeof *(source), source,  \
                         pe, NULL, NULL, fetch, nbi);                       \
        }                                                                   \
    } while (0)

/* What NEAR may be, on to_ and the parameters value and cond. */
#define CORE_DO_ADD(value) __atomic_fetch_add(to_, value, __ATOMIC_ACQ_REL)
#define CORE_DO_AND(value) __atomic_fetch_and(to_, value, __ATOMIC_ACQ_REL)
#define CORE_DO_OR(value)  __atomic_fetch_or(to_, value, __ATOMIC_ACQ_REL)
#define CORE_DO_XOR(value) __atomic_fetch_xor(to_, value, __ATOMIC_ACQ_REL)
/* The generic builtins also serve float and double. */
#define CORE_DO_SWAP(value)                                                 \
    __extension__({                                                         \
        __typeof__(*to_) new_ = (value), old_;                              \
        __atomic_exchange(to_, &new_, &old_, __ATOMIC_ACQ_REL);             \
        old_;                                                               \
    })
#define CORE_DO_SET(value)                                                  \
    __extension__({                                                         \
        __typeof__(*to_) new_ = (value);                                    \
        __atomic_store(to_, &new_, __ATOMIC_RELEASE);                       \
    })
#define CORE_DO_CSWAP(cond, value)                                          \
    __extension__({                                                         \
        __typeof__(*to_) old_ = (cond);                                     \
        __atomic_compare_exchange_n(to_, &old_, value, 0, __ATOMIC_ACQ_REL, \
                                    __ATOMIC_ACQUIRE);                      \
        old_;                                                               \
    })

#endif
