/* SPDX-License-Identifier: BSD-3-Clause */
/* amo.h - the atomic operations on a word of 4 or 8 bytes: one list for the
 * transports, the devices and libfabric's tables, and what the processor does
 * for each.  Callable from any thread. */
#ifndef BASE_AMO_H
#define BASE_AMO_H

#include "base/atomics.h"

#include <stdbool.h>
#include <stdint.h>

enum amo_op {
    AMO_FETCH, AMO_SET, AMO_SWAP, AMO_CSWAP, AMO_ADD, AMO_AND, AMO_OR, AMO_XOR
};
enum { AMO_OPS = AMO_XOR + 1 };

/* Sequentially consistent, as streams need it; on x86 and with ARM's atomic
 * instructions that costs no more than acquire and release. */
#define AMO_APPLY(BITS)                                                     \
    force_inline uint64_t amo_apply_##BITS(void *at, enum amo_op op,        \
                                           uint64_t value, uint64_t cond)   \
    {                                                                       \
        typedef uint##BITS##_t __attribute__((may_alias)) bits;             \
        bits *w = at, v = (bits)value, was = (bits)cond;                    \
                                                                            \
        switch (op) {                                                       \
        case AMO_FETCH:                                                     \
            return __atomic_load_n(w, __ATOMIC_SEQ_CST);                    \
        case AMO_SET:                                                       \
        case AMO_SWAP:                                                      \
            return __atomic_exchange_n(w, v, __ATOMIC_SEQ_CST);             \
        case AMO_CSWAP:                                                     \
            __atomic_compare_exchange_n(w, &was, v, false, __ATOMIC_SEQ_CST,\
                                        __ATOMIC_SEQ_CST);                  \
            return was;                                                     \
        case AMO_ADD:                                                       \
            return __atomic_fetch_add(w, v, __ATOMIC_SEQ_CST);              \
        case AMO_AND:                                                       \
            return __atomic_fetch_and(w, v, __ATOMIC_SEQ_CST);              \
        case AMO_OR:                                                        \
            return __atomic_fetch_or(w, v, __ATOMIC_SEQ_CST);               \
        default:                                                            \
            return __atomic_fetch_xor(w, v, __ATOMIC_SEQ_CST);              \
        }                                                                   \
    }
/* amo_apply_32, amo_apply_64 */
AMO_APPLY(32)
AMO_APPLY(64)

/* The old value, in the low bytes. */
force_inline uint64_t amo_apply(void *at, enum amo_op op, int size,
                                uint64_t value, uint64_t cond)
{
    return size == 4 ? amo_apply_32(at, op, value, cond)
                     : amo_apply_64(at, op, value, cond);
}

#endif
