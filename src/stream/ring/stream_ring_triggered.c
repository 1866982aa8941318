/* SPDX-License-Identifier: BSD-3-Clause */
/* A stream of the software device comes to a posted operation.
 *
 * Its thread does the operation itself where that delays the stream no more
 * than it is delayed anyway: the operation is sent at once, or the stream waits
 * for its completion.  The progress thread does the rest, and what takes long.
 * Called on the stream's thread, as the doorbell that stream_ring_trigger()
 * enqueues; it must not wait for a peer. */
#include "stream/ring/stream_ring.h"
#include "base/clock.h"
#include "base/fault.h"

#include <sched.h>

enum { QUICK = 4096,            /* bytes that are sent at once */
       FEW = 8, IN_FLIGHT_MAX = 64 };       /* operations: here, and of all */
#define SPIN_NS ((uint64_t)2000)
#define PATIENCE_NS ((uint64_t)200000)

/* Is it the next one, and no more than what its stream waits for, or than what
 * is sent at once? */
static bool is_quick(const struct stream_ring *q, const struct stream_op *op)
{
    return q->completed + 1 == op->seq && !q->exec.begun &&
           (op->waits || (op->len <= QUICK && stream_ring_net_idle(q)));
}

/* A message is sent without a wait, however long it is, and what a start has
 * besides messages is little. */
static bool is_sent_at_once(const struct stream_ring *q,
                            const struct stream_op *op, uint64_t seq)
{
    return op->message || op->kind >= STREAM_MESSAGE ||
           (op->len <= QUICK && seq - q->completed <= FEW);
}

/* Has something come in, or been sent?  Messages of others do not keep a
 * stream at its start for longer than what may be under way takes. */
static bool more_comes(unsigned *polls)
{
    return ++*polls <= IN_FLIGHT_MAX &&
           (xport_progress->poll() || fault_hit(FAULT_STREAM_TRAFFIC));
}

/* Issues operations that a start has triggered, as far as they are sent at
 * once.  The stream need not wait for their end now. */
static void issue_start(struct stream_ring *q, uint64_t seq)
{
    bool posted, busy, any = true;
    unsigned polls = 0;         /* of which nothing has come for this queue */

    if (q->exec.begun || !xport_net ||
        xport_progress->in_flight() > IN_FLIGHT_MAX)
        return;
    while (q->completed < seq && any) {
        if (!q->exec.begun && !is_sent_at_once(q, stream_ring_head(q), seq))
            break;
        any = stream_ring_step(q, &posted, &busy);
        if (any)
            polls = 0;
        else                    /* what was sent makes room, and ends others */
            any = more_comes(&polls);
    }
    stream_tasks_progress(q);
}

/* The stream would wait for it now: a while it does the progress thread's
 * work, which costs no change of threads. */
static void poll_until_completed(struct stream_ring *q, uint64_t seq)
{
    uint64_t start = clock_ns(), now = start;
    bool posted, busy;

    while (!stream_ring_step(q, &posted, &busy) && q->completed < seq) {
        if ((xport_net && xport_progress->poll()) || now - start < SPIN_NS)
            atomics_pause();
        else
            sched_yield();
        now = clock_ns();
        if (now - start > PATIENCE_NS)
            break;
    }
}

static void do_now(struct stream_ring *q, uint64_t seq, bool waits)
{
    bool posted, busy;

    stream_ring_step(q, &posted, &busy);
    if (waits && q->completed < seq)
        poll_until_completed(q, seq);
}

/* Nothing behind it has been triggered yet.  Once the counter is raised and the
 * ring is unlocked, the ring may be freed. */
void stream_ring_triggered(void *arg)
{
    struct stream_op *op = arg;
    struct stream_ring *q = op->ring;
    uint64_t seq = op->seq, *trigger = &q->counters->trigger;
    bool waits = op->waits, for_queue = q->for_queue,
         mine = stream_ring_trylock(q);
    bool quick = mine && !for_queue && is_quick(q, op), left = true;

    __atomic_store_n(trigger, seq, __ATOMIC_RELEASE);
    if (quick)
        do_now(q, seq, waits);
    else if (mine && for_queue)
        issue_start(q, seq);
    if (mine) {
        /* No stream waits for the completion of messages that were taken. */
        left = q->completed < seq || q->n_tasks ||
               (!for_queue && !stream_ring_net_idle(q));
        if (left && for_queue && stream_wait_is_next()) {
            stream_ring_defer(q);
            left = false;
        }
        stream_ring_unlock(q);
    }
    if (left)
        stream_progress_wake();
}
