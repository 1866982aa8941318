/* SPDX-License-Identifier: BSD-3-Clause */
/* xport.c - the state of the transports: routes, the network in use, the locks
 * of device heaps, and callbacks of core. Transports fill it at start. */
#include "xport/xport.h"
#include "base/log.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>

hot_data struct xport_route *xport_routes;
hot_data const struct xport_ops *xport_net;

uint32_t *xport_device_lock;
void (*xport_flusher)(void);
static void *routes_block;

static uint32_t *lock_of(int pe)
{
    return (uint32_t *)xport_ptr(pe, xport_device_lock,
                                  sizeof *xport_device_lock);
}

/* Held for some copies: a thread that waits yields. */
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

void (*xport_data_arrived)(const void *at, size_t len) = ignore;
void (*xport_wait_stalled)(struct xport_wait *w) = ignore_wait;
void (*xport_wait_resumed)(struct xport_wait *w) = ignore_wait;
__thread const char *xport_call;
bool xport_oversubscribed;

int xport_open(int n_pes)
{
    const uintptr_t line = _Alignof(struct xport_route);

    /* Not aligned_alloc: pages of routes without entries stay untouched. */
    routes_block = calloc((size_t)n_pes + 1, sizeof *xport_routes);
    if (routes_block) {
        xport_routes = (struct xport_route *)
            (((uintptr_t)routes_block + line - 1) & ~(line - 1));
        return 0;
    }
    log_error(ERR_LIMIT, "no memory for the routes to %d PEs", n_pes);
    return -ENOMEM;
}

void xport_close(void)
{
    free(routes_block);
    routes_block = NULL;
    xport_routes = NULL;
    xport_device_lock = NULL;
    xport_flusher = NULL;
    xport_data_arrived = ignore;
    xport_wait_stalled = ignore_wait;
    xport_wait_resumed = ignore_wait;
}
