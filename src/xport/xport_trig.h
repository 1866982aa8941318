/* SPDX-License-Identifier: BSD-3-Clause */
/* xport_trig.h - operations that the NIC does when a device lets them go.
 *
 * A trigger is one stream's: operations are armed with it one after another,
 * and each bump lets the next ones go, in that order, without a processor.
 * Its flag counts in memory of this PE that the device reads: what flag() asks
 * for is raised by the NIC when all that was armed before it has ended.  That
 * is exact as long as nothing armed later is let go before the flag is seen.
 *
 * Room is short (see arm()), and what finds none is somebody else's to do: no
 * call waits.  Threads: any, but one at a time for each trigger; progress(),
 * increment(), completed() and completed_in_order() may be called beside it. */
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

/* An operation, a "put", failed; before it counts as ended. */
typedef void xport_trig_failed(void *arg, const char *call, const char *what,
                               int pe, const char *cause);

/* Entries that are armed now, and at most. */
struct xport_trig_counts {
    uint64_t used_entries, most_entries;
};

struct xport_trig_ops {
    const char *name;           /* of the provider; "" where no NIC does it */
    /* 0, or -ENOSYS: none does. */
    int (*ready)(void);
    /* -ENOSYS, or -ENOSPC: this NIC has no counters left.  failed: flags are
     * raised all the same. */
    int (*open)(struct xport_trig **out, xport_trig_failed *failed, void *arg);
    /* What was armed and never let go is dropped. */
    void (*close)(struct xport_trig *t);
    /* Would it do that one, if it had room?  Asks nobody. */
    bool (*can)(const struct xport_trig_op *op);
    /* As the next one.  -EAGAIN: no room, nothing was armed; -EIO: an
     * operation of this trigger has failed, and none is taken any more. */
    int (*arm)(struct xport_trig *t, const struct xport_trig_op *op);
    /* *least: what the flag's word then is, or more.  -EAGAIN, -EIO. */
    int (*flag)(struct xport_trig *t, uint64_t *least);
    uint64_t *(*word)(struct xport_trig *t);
    /* Where the device stores how many more are let go, once; NULL: the
     * processor has to, by increment(). */
    uint64_t *(*doorbell)(struct xport_trig *t);
    void (*increment)(struct xport_trig *t, uint64_t n);
    /* How many operations have ended, in whatever order; and of how many all
     * have, the first ones, as far as that is known. */
    uint64_t (*completed)(struct xport_trig *t);
    uint64_t (*completed_in_order)(struct xport_trig *t);
    /* Room is given back, and failures are seen, when somebody calls this. */
    void (*progress)(void);
    /* Failed operations that a raised flag stands for have been reported when
     * it returns: for calls that tell the host whether all went well. */
    void (*report_failures)(void);
    void (*counts)(struct xport_trig_counts *out);
    /* A gate: a trigger whose operations go when two sides have come to them,
     * each by an atomic to {this PE, XPORT_TRIG_COUNTER, *off}; word, in the
     * host segment, is its flag.  -ENOSYS; -ENOSPC: no counters are left. */
    int (*open_two_input)(struct xport_trig **out, uint64_t *off,
                          uint64_t *word,
                xport_trig_failed *failed, void *arg);
    /* Where it had no room for one: that is somebody else's to do, who asks
     * whether so many may go, which is slow, and tells when it has ended. */
    void (*skip_post)(struct xport_trig *t);
    bool (*is_released)(struct xport_trig *t, uint64_t n);
    void (*skip_done)(struct xport_trig *t);
};
extern hidden const struct xport_trig_ops *xport_trig;  /* never NULL */
extern hidden const struct xport_trig_ops xport_trig_none;

#endif
