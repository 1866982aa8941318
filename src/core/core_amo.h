/* SPDX-License-Identifier: BSD-3-Clause */
/* core_amo.h - atomics, inline for the API's typed forms.
 * On mapped peers they are the processor's own, so they are exclusive with
 * every other access that uses them: of any thread, through any context, by
 * any PE of the node.  Relaxed order would do for the specification; acq_rel
 * costs nothing on x86, and makes programs work that pass data under an atomic
 * flag.  Whatever the network does is exclusive with these, or the routes map
 * nothing for atomics: see docs/ARCHITECTURE.md. */
#ifndef CORE_CORE_AMO_H
#define CORE_CORE_AMO_H

#include "core/core_rma.h"

/* value, cond and result are words of size bytes, or NULL; cond counts in a
 * compare and swap. */
void core_remote_amo(const char *call, const struct core_ctx *ctx,
                     enum amo_op op, size_t size, const void *sym, int pe,
                     const void *value, const void *cond, void *result,
                     bool nbi) __attribute__((cold, noinline));

/* Puts of the context come before it; no quiet needs to cover it. */
void core_remote_notify(const char *call, const struct core_ctx *ctx,
                        enum amo_op op, uint64_t *sym, uint64_t value,
                        int pe)
    __attribute__((cold, noinline));

/* The same behind a put: one message, where it is short.  source may be reused
 * at once; a quiet need not cover either. */
void core_remote_put_notify(const char *call, const struct core_ctx *ctx,
                            void *dest, const void *source, size_t len,
                            enum amo_op op, uint64_t *sym, uint64_t value,
                            int pe)
    __attribute__((cold, noinline));

/* A value of that size as the first bytes of a word, and back. */
#define CORE_AMO_WORD(v)                                                    \
    __extension__({                                                         \
        __typeof__(v) v_ = (v);                                             \
        uint64_t w_ = 0;                                                    \
        memcpy(&w_, &v_, sizeof v_);                                        \
        w_;                                                                 \
    })
#define CORE_AMO_VALUE(T, word)                                             \
    __extension__({                                                         \
        uint64_t from_ = (word);                                            \
        T to_value_;                                                        \
        memcpy(&to_value_, &from_, sizeof to_value_);                       \
        to_value_;                                                          \
    })

/* Where the word is not in the host's heap of a mapped PE, a function for each
 * operation and size: its arguments fit registers, and a public function that
 * leaves the work to it keeps nothing.  The kinds that fetch give what the
 * word was. */
#define CORE_AMO_KINDS(X)                                                   \
    X(FETCH, FETCH, true) X(SET, SET, false) X(SWAP, SWAP, true)            \
    X(CSWAP, CSWAP, true) X(ADD, ADD, false) X(AND, AND, false)             \
    X(OR, OR, false) X(XOR, XOR, false) X(FADD, ADD, true)                  \
    X(FAND, AND, true) X(FOR, OR, true) X(FXOR, XOR, true)
#define CORE_AMO_KIND(KIND, OP, fetches)                                    \
    uint64_t core_amo_##KIND##_4(const char *call,                          \
                                 const struct core_ctx *ctx,                \
                                 const void *sym, uint64_t value,           \
                                 uint64_t cond, int pe);                    \
    uint64_t core_amo_##KIND##_8(const char *call,                          \
                                 const struct core_ctx *ctx,                \
                                 const void *sym, uint64_t value,           \
                                 uint64_t cond, int pe);
CORE_AMO_KINDS(CORE_AMO_KIND)
#define CORE_AMO_MORE(KIND, call, ctx, sym, value, cond, pe)                \
    (sizeof *(sym) == 4                                                     \
     ? core_amo_##KIND##_4(call, ctx, sym, value, cond, pe)                 \
     : core_amo_##KIND##_8(call, ctx, sym, value, cond, pe))
/* Into *fetch, by the next quiet. */
void core_amo_more_nbi(const char *call, const struct core_ctx *ctx,
                       const struct xport_amo *a, const void *sym, int pe,
                       void *fetch)
    __attribute__((noinline));
/* Wakes the peer and returns value, which the caller then need not keep. */
uint64_t core_amo_wake(struct core_ctl *peer, uint64_t value)
    __attribute__((cold, noinline));

/* EXPR works on `to_`, a pointer to the mapped variable, and gives its old
 * value.  cond belongs to a compare and swap, and is else 0. */
#define CORE_AMO_BEGIN(call, ctx, dest, pe)                                 \
    struct core_target at_;                                                 \
                                                                            \
    core_need_aligned(call, dest, sizeof *(dest));                          \
    at_ = core_mapped_heap_amo(ctx, dest, sizeof *(dest), pe)

/* Makes the enclosing function return the old value. */
#define CORE_AMO_RETURN(T, call, ctx, KIND, dest, value, cond, pe, EXPR)    \
    do {                                                                    \
        CORE_AMO_BEGIN(call, ctx, dest, pe);                                \
        if (likely(at_.addr)) {                                             \
            T *to_ = (T *)at_.addr;                                         \
            atomics_tsan_release();                                         \
            T got_ = EXPR;                                                  \
            atomics_tsan_acquire();                                         \
            xport_flush();                                                  \
            if (core_wakes(at_, sizeof *(dest)))                            \
                return CORE_AMO_VALUE(T,                                    \
                    core_amo_wake(at_.ctl, CORE_AMO_WORD(got_)));           \
            return got_;                                                    \
        }                                                                   \
        return CORE_AMO_VALUE(T,                                            \
            CORE_AMO_MORE(KIND, call, ctx, dest, CORE_AMO_WORD((T)(value)), \
                          CORE_AMO_WORD((T)(cond)), pe));                   \
    } while (0)

/* Stores the old value to *(fetch), by the next quiet. */
#define CORE_AMO_NBI(T, call, ctx, xop, dest, value, cond, pe, EXPR, fetch) \
    do {                                                                    \
        CORE_AMO_BEGIN(call, ctx, dest, pe);                                \
        if (likely(at_.addr && !gtl_device_only)) {                         \
            T *to_ = (T *)at_.addr;                                         \
            atomics_tsan_release();                                         \
            *(fetch) = EXPR;                                                \
            atomics_tsan_acquire();                                         \
            xport_flush();                                                  \
            core_wake(at_, sizeof *(dest));                                 \
        } else {                                                            \
            const struct xport_amo amo_ = {                                 \
                xop, sizeof *(dest), CORE_AMO_WORD((T)(value)),             \
                CORE_AMO_WORD((T)(cond))                                    \
            };                                                              \
            core_amo_more_nbi(call, ctx, &amo_, dest, pe, fetch);           \
        }                                                                   \
    } while (0)

/* Evaluates EXPR and fetches nothing. */
#define CORE_AMO_PLAIN(T, call, ctx, KIND, dest, value, pe, EXPR)           \
    do {                                                                    \
        CORE_AMO_BEGIN(call, ctx, dest, pe);                                \
        if (likely(at_.addr)) {                                             \
            T *to_ = (T *)at_.addr;                                         \
            atomics_tsan_release();                                         \
            EXPR;                                                           \
            core_wake(at_, sizeof *(dest));                                 \
        } else {                                                            \
            CORE_AMO_MORE(KIND, call, ctx, dest, CORE_AMO_WORD((T)(value)), \
                          0, pe);                                           \
        }                                                                   \
    } while (0)

/* A fetch changes nothing, and wakes no waiter. */
#define CORE_AMO_FETCH(T, call, ctx, source, pe)                            \
    do {                                                                    \
        CORE_AMO_BEGIN(call, ctx, source, pe);                              \
        if (likely(at_.addr)) {                                             \
            T got_;                                                         \
            __atomic_load((T *)at_.addr, &got_, __ATOMIC_ACQUIRE);          \
            atomics_tsan_acquire();                                         \
            xport_flush();                                                  \
            return got_;                                                    \
        }                                                                   \
        return CORE_AMO_VALUE(T,                                            \
            CORE_AMO_MORE(FETCH, call, ctx, source, 0, 0, pe));             \
    } while (0)
#define CORE_AMO_FETCH_NBI(T, call, ctx, source, pe, fetch)                 \
    do {                                                                    \
        CORE_AMO_BEGIN(call, ctx, source, pe);                              \
        if (likely(at_.addr && !gtl_device_only)) {                         \
            __atomic_load((T *)at_.addr, fetch, __ATOMIC_ACQUIRE);          \
            atomics_tsan_acquire();                                         \
            xport_flush();                                                  \
        } else if (core_device_only(fetch)) {                               \
            core_get_any(fetch, source, sizeof *(source), pe, call, ctx);   \
        } else {                                                            \
            const struct xport_amo amo_ = {                                 \
                AMO_FETCH, sizeof *(source), 0, 0                           \
            };                                                              \
            core_amo_more_nbi(call, ctx, &amo_, source, pe, fetch);         \
        }                                                                   \
    } while (0)

/* Values of EXPR, on to_ and the parameters value and cond. */
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
