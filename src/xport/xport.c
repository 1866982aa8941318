/* SPDX-License-Identifier: BSD-3-Clause */
#include "xport/xport.h"
#include "base/log.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>

hot_data struct xport_route *xport_routes;
hot_data const struct xport_ops *xport_far;

uint32_t *xport_device_lock;

static uint32_t *lock_of(int pe)
{
    return (uint32_t *)xport_near(pe, xport_device_lock,
                                  sizeof *xport_device_lock);
}

/* Held for some copies: a thread that waits lets others run. */
void xport_device_enter(int pe)
{
    if (!xport_device_lock)
        return;
    while (__atomic_exchange_n(lock_of(pe), 1, __ATOMIC_ACQUIRE))
        sched_yield();
}

void xport_device_leave(int pe)
{
    if (xport_device_lock)
        __atomic_store_n(lock_of(pe), 0, __ATOMIC_RELEASE);
}

static void ignore(const void *at, size_t len)
{
    (void)at;
    (void)len;
}

static void ignore_wait(struct xport_wait *w)
{
    (void)w;
}

void (*xport_arrived)(const void *at, size_t len) = ignore;
void (*xport_stalled)(struct xport_wait *w) = ignore_wait;
void (*xport_went_on)(struct xport_wait *w) = ignore_wait;
__thread const char *xport_call;

int xport_open(int n_pes)
{
    xport_routes = calloc((size_t)n_pes, sizeof *xport_routes);
    if (xport_routes)
        return 0;
    log_error(ERR_LIMIT, "no memory for the routes to %d PEs", n_pes);
    return -ENOMEM;
}

void xport_close(void)
{
    free(xport_routes);
    xport_routes = NULL;
    xport_device_lock = NULL;
    xport_arrived = ignore;
    xport_stalled = ignore_wait;
    xport_went_on = ignore_wait;
}

#define HERE(T)                                                             \
    static uint64_t here_##T(T *at, const struct xport_amo *a)              \
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
HERE(uint32_t)
HERE(uint64_t)

uint64_t xport_amo_here(void *word, const struct xport_amo *a)
{
    return a->size == 4 ? here_uint32_t(word, a) : here_uint64_t(word, a);
}
