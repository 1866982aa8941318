/* SPDX-License-Identifier: BSD-3-Clause */
/* xport_progress.h - how the network's operations advance: waits and progress
 * threads call these, operations do not.  Any thread. */
#ifndef XPORT_XPORT_PROGRESS_H
#define XPORT_XPORT_PROGRESS_H

#include "base/atomics.h"

#include <stdbool.h>
#include <stdint.h>

struct xport_ctx;

struct xport_progress_ops {
    /* Advances operations.  True: some did. */
    bool (*poll)(void);
    /* The calling thread goes to sleep (true) or is back: meanwhile the
     * transport's own thread has to poll.  Returns the number of its events so
     * far. */
    uint64_t (*set_asleep)(bool asleep);
    /* Does an event of the network wake a sleeping thread?  If not, the thread
     * has to sleep in short turns. */
    bool (*wakes_sleepers)(void);
    /* Called now and then while operations of the context are under way and no
     * thread waits for them in the transport: an operation that gets no answer
     * for too long has failed. */
    void (*check_timeouts)(struct xport_ctx *f, uint64_t now_ns);
    /* The number of operations that are not complete.  Async-signal-safe. */
    uint64_t (*in_flight)(void);
};
extern hidden const struct xport_progress_ops *xport_progress; /* never NULL */
/* Where there is no network. */
extern hidden const struct xport_progress_ops xport_progress_none;

#endif
