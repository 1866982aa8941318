/* SPDX-License-Identifier: BSD-3-Clause */
/* xport_trig.h - deferred work: operations that a device triggers and the NIC
 * does.
 *
 * A trigger belongs to one stream: operations are armed with it one after
 * another, and each increment of its counter releases the next ones, in that
 * order, without a processor.  Its flag is a counter in memory of this PE that
 * the device reads: the NIC raises it to the value that flag() asked for when
 * all that was armed before has completed.  That is exact as long as nothing
 * armed later is released before the flag is seen.
 *
 * NICs have few entries (see arm()), and the stream layer's thread does an
 * operation that finds none: no call waits.  Threads: any, but one at a time
 * for each trigger; progress(), increment(), completed() and
 * completed_in_order() may be called beside it. */
#ifndef XPORT_XPORT_TRIG_H
#define XPORT_XPORT_TRIG_H

#include "xport/xport.h"

struct xport_trig;

enum xport_trig_kind { XPORT_TRIG_PUT, XPORT_TRIG_GET, XPORT_TRIG_AMO };

enum { XPORT_TRIG_BYTES = 32 };

struct xport_trig_op {
    enum xport_trig_kind kind;
    const char *call;           /* of the program's, for a line */
    struct xport_addr at;
    /* A put's source, a get's dest, where the word before an atomic goes or
     * NULL: read and written when the NIC does it. */
    void *local;
    size_t len;
    bool value;                 /* local is copied now: XPORT_TRIG_BYTES */
    struct xport_amo amo;
    bool signals;               /* a put: and then this, when it is there */
    struct xport_addr sig_at;
    struct xport_amo sig;
};

/* Reports a failed operation, a "put", before it counts as completed. */
typedef void xport_trig_failed(void *arg, const char *call, const char *what,
                               int pe, const char *cause);

/* Entries that are armed now, and the maximum. */
struct xport_trig_counts {
    uint64_t used_entries, most_entries;
};

struct xport_trig_ops {
    const char *name;           /* of the provider; "" where no NIC has it */
    /* 0; -ENOSYS: no NIC has deferred work. */
    int (*ready)(void);
    /* -ENOSYS, or -ENOSPC: this NIC has no counters left.  failed: flags are
     * raised all the same.  free: it may be incremented further than what is
     * armed. */
    int (*open)(struct xport_trig **out, bool free, xport_trig_failed *failed,
                void *arg);
    /* Operations that are armed and not released are not done.  False: the NIC
     * keeps their entries, or increments may still come: it has the counters to
     * the end. */
    bool (*close)(struct xport_trig *t);
    /* Would it take that operation, given a free entry?  Asks no NIC. */
    bool (*can)(const struct xport_trig_op *op);
    /* Arms op as the next one: `step` increments after the last one, 1 where
     * each increment releases one.  -EAGAIN: no entry is free, nothing was
     * armed; -EIO: an operation of this trigger has failed, and it takes no
     * more. */
    int (*arm)(struct xport_trig *t, const struct xport_trig_op *op,
               uint64_t step);
    /* *least: the value that the flag then has at least.  -EAGAIN, -EIO. */
    int (*flag)(struct xport_trig *t, uint64_t *least);
    uint64_t *(*word)(struct xport_trig *t);
    /* The doorbell: the device stores there how many more are released, once;
     * NULL: the processor has to call increment(). */
    uint64_t *(*doorbell)(struct xport_trig *t);
    void (*increment)(struct xport_trig *t, uint64_t n);
    /* The increments so far: a round trip to the NIC. */
    uint64_t (*count)(struct xport_trig *t);
    /* How many operations have completed, in any order; and how many of the
     * first ones are known to have completed all. */
    uint64_t (*completed)(struct xport_trig *t);
    uint64_t (*completed_in_order)(struct xport_trig *t);
    /* Frees the entries of completed operations and sees failures; to be called
     * now and then. */
    void (*progress)(void);
    /* On return the failed operations behind a raised flag have been reported:
     * for calls that return to the host whether all succeeded. */
    void (*report_failures)(void);
    void (*counts)(struct xport_trig_counts *out);
    /* A two-input trigger releases an operation when two sides have added to
     * its counter, each by an atomic to {this PE, XPORT_TRIG_COUNTER, *off};
     * its flag is word, in the host segment.  -ENOSYS; -ENOSPC: no counters
     * are left. */
    int (*open_two_input)(struct xport_trig **out, uint64_t *off,
                          uint64_t *word, xport_trig_failed *failed,
                          void *arg);
    /* In place of arm(), where that had no entry: the caller does the next
     * operation itself, when is_released() says that the counter has come to
     * its n-th one, which is slow to ask; skip_done() says that the operation
     * has completed. */
    void (*skip_post)(struct xport_trig *t);
    bool (*is_released)(struct xport_trig *t, uint64_t n);
    void (*skip_done)(struct xport_trig *t);
};
extern hidden const struct xport_trig_ops *xport_trig;  /* never NULL */
extern hidden const struct xport_trig_ops xport_trig_none;

#endif
