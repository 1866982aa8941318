/* SPDX-License-Identifier: BSD-3-Clause */
/* xport_wait.h - what a transport reports about its waits; core, which sets the
 * callbacks, prints it. */
#ifndef XPORT_XPORT_WAIT_H
#define XPORT_XPORT_WAIT_H

#include "base/atomics.h"

#include <stdbool.h>
#include <stdint.h>

/* A wait in the transport. */
struct xport_wait {
    int pe;                     /* for that one; -1: for several, or */
    int likely_pe;              /* for this one, unless that is -1 */
    uint64_t since_ns;          /* CLOCK_MONOTONIC; 0: it has not lasted */
    uint64_t examined_ns, printed_ns;   /* since_ns at first, then core's */
    bool reported;              /* core sets it: it reports the end, too */
};
/* The transport calls the first one again and again while a wait lasts, which
 * ends the job if one of several PEs is lost, and the second one when the wait
 * is over.  Set by core. */
extern hidden void (*xport_wait_stalled)(struct xport_wait *w);
extern hidden void (*xport_wait_resumed)(struct xport_wait *w);

#endif
