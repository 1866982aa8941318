/* SPDX-License-Identifier: BSD-3-Clause */
/* xport_amo.h - an atomic of a transport, done by the processor. */
#ifndef XPORT_XPORT_AMO_H
#define XPORT_XPORT_AMO_H

#include "xport/xport.h"

/* Done by the processor on memory that is mapped here: what the word was. */
#define XPORT_LOCAL(T)                                                       \
    force_inline uint64_t xport_local_##T(T *at, const struct xport_amo *a)  \
    {                                                                       \
        T was = (T)a->cond, v = (T)a->value;                                \
                                                                            \
        switch (a->op) {                                                    \
        case XPORT_FETCH:                                                   \
            return __atomic_load_n(at, __ATOMIC_ACQUIRE);                   \
        case XPORT_SET:                                                     \
        case XPORT_SWAP:                                                    \
            return __atomic_exchange_n(at, v, __ATOMIC_ACQ_REL);            \
        case XPORT_CSWAP:                                                   \
            __atomic_compare_exchange_n(at, &was, v, false,                 \
                                        __ATOMIC_ACQ_REL,                   \
                                        __ATOMIC_ACQUIRE);                  \
            return was;                                                     \
        case XPORT_ADD:                                                     \
            return __atomic_fetch_add(at, v, __ATOMIC_ACQ_REL);             \
        case XPORT_AND:                                                     \
            return __atomic_fetch_and(at, v, __ATOMIC_ACQ_REL);             \
        case XPORT_OR:                                                      \
            return __atomic_fetch_or(at, v, __ATOMIC_ACQ_REL);              \
        default:                                                            \
            return __atomic_fetch_xor(at, v, __ATOMIC_ACQ_REL);             \
        }                                                                   \
    }
XPORT_LOCAL(uint32_t)
XPORT_LOCAL(uint64_t)
force_inline uint64_t xport_amo_local(void *word, const struct xport_amo *a)
{
    return a->size == 4 ? xport_local_uint32_t(word, a)
                        : xport_local_uint64_t(word, a);
}

#endif
