/* SPDX-License-Identifier: BSD-3-Clause */
/* gtl_amo.h - an atomic of the driver table that the processor does: on threads
 * of the software device, and on a thread of a vendor's driver where the
 * device's own atomic would not be one for the processor. */
#ifndef GTL_GTL_AMO_H
#define GTL_GTL_AMO_H

#include "gtl/gtl_ops.h"

/* The old value. */
#define GTL_AMO_APPLY(bits)                                                 \
    static inline uint64_t gtl_amo_apply##bits(const struct gtl_amo *a)     \
    {                                                                       \
        typedef uint##bits##_t __attribute__((may_alias)) word;             \
        word *w = a->word, v = (word)a->value, was = (word)a->cond;         \
                                                                            \
        switch (a->op) {                                                    \
        case GTL_FETCH:                                                     \
            return __atomic_load_n(w, __ATOMIC_SEQ_CST);                    \
        case GTL_SET:                                                       \
        case GTL_SWAP:                                                      \
            return __atomic_exchange_n(w, v, __ATOMIC_SEQ_CST);             \
        case GTL_CSWAP:                                                     \
            __atomic_compare_exchange_n(w, &was, v, false, __ATOMIC_SEQ_CST,\
                                        __ATOMIC_SEQ_CST);                  \
            return was;                                                     \
        case GTL_ADD:                                                       \
            return __atomic_fetch_add(w, v, __ATOMIC_SEQ_CST);              \
        case GTL_AND:                                                       \
            return __atomic_fetch_and(w, v, __ATOMIC_SEQ_CST);              \
        case GTL_OR:                                                        \
            return __atomic_fetch_or(w, v, __ATOMIC_SEQ_CST);               \
        case GTL_XOR:                                                       \
            return __atomic_fetch_xor(w, v, __ATOMIC_SEQ_CST);              \
        }                                                                   \
        return 0;                                                           \
    }
GTL_AMO_APPLY(32)
GTL_AMO_APPLY(64)

/* The old value, in the low bytes; a->result stays as it is. */
static inline uint64_t gtl_amo_apply(const struct gtl_amo *a)
{
    return a->size == 8 ? gtl_amo_apply64(a) : gtl_amo_apply32(a);
}

#endif
