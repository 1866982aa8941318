/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_exec_nic.h - operations that a queue has the NIC do. */
#ifndef STREAM_STREAM_EXEC_NIC_H
#define STREAM_STREAM_EXEC_NIC_H

#include "xport/xport_trig.h"

#include <stdbool.h>
#include <stdint.h>

struct stream_op;
struct stream_ring;
struct stream_where;

/* The NIC's part in a queue's operations. */
struct stream_nic {
    struct xport_trig *trig;    /* NULL: none, or not yet */
    bool tried;
    bool soft;           /* the progress thread got some since the last quiet */
    bool full;                  /* the last one found no room */
    bool none;                  /* it had no counter for a trigger */
    uint64_t posted;             /* atomic */
    uint64_t released, quieted;   /* so many of them */
    uint64_t flag, flag_posted;     /* atomic: the last one, and for how many */
    uint64_t total, forwarded;     /* increments: by the stream, by host */
    uint64_t declined;          /* for want of an entry or a counter */
    const char *call;           /* of the last one that was posted */
    int pe;
};

/* The same operation as the NIC's.  False: it is none that it knows. */
bool stream_nic_translate(const struct stream_op *op,
                          struct xport_trig_op *out);
/* In two steps: the second enqueues the release of all that was posted.
 * STREAM_DECLINED: the progress thread has to do the operation. */
int stream_nic_post(struct stream_ring *q, const struct stream_op *op,
                    void *stream);
int stream_nic_release(struct stream_ring *q, void *stream);
/* The word of the trigger is raised to *least when all posted so far
 * completed. */
int stream_nic_post_flag(struct stream_ring *q, uint64_t *least);
/* Have so many completed, or all?  Have the first ones? */
bool stream_nic_completed(struct stream_ring *q, uint64_t posted);
bool stream_nic_completed_first(struct stream_ring *q, uint64_t posted);
bool stream_nic_idle(const struct stream_nic *n);
/* So many have not. */
uint64_t stream_nic_outstanding(const struct stream_nic *n);
/* On the progress thread: forwards increments of the stream to the trigger.
 * True: it did.  *again: the trigger is to be polled again. */
bool stream_nic_forward(struct stream_ring *q, bool *again);
/* Two-input triggers exist, which belong to no ring: the progress thread polls
 * them as long as stream_nic_triggers_busy(). */
void stream_nic_watch_triggers(void);
bool stream_nic_triggers_busy(void);
void stream_nic_close(struct stream_nic *n);

#endif
