/* SPDX-License-Identifier: BSD-3-Clause */
#include "xport/xport.h"
#include "base/log.h"

#include <errno.h>
#include <stdlib.h>

hot_data struct xport_route *xport_routes;
hot_data const struct xport_ops *xport_far;

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
    xport_arrived = ignore;
    xport_stalled = ignore_wait;
    xport_went_on = ignore_wait;
}
