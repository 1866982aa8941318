/* SPDX-License-Identifier: BSD-3-Clause */
/* A stream of the software device gets to an armed operation.
 *
 * Its thread does the operation itself where that holds the stream up no more
 * than it is: it is sent at once, or the stream waits for its end anyway.
 * The agent does the rest, and what takes long. */
#include "stream/stream_queue.h"
#include "base/clock.h"

#include <sched.h>

enum { QUICK = 4096 };          /* bytes that are sent at once */
#define SPIN_NS ((uint64_t)2000)
#define PATIENCE_NS ((uint64_t)200000)

/* Is it the next one, and no more than what its stream waits for, or than what
 * is sent at once? */
static bool is_quick(const struct stream_queue *q, const struct stream_op *op)
{
    return q->ended + 1 == op->ticket && !q->begun &&
           (op->waits || (op->len <= QUICK && stream_queue_idle(q)));
}

/* The stream would wait for it now: a while it does the agent's work, which
 * costs no change of threads. */
static void see_to_its_end(struct stream_queue *q, uint64_t ticket)
{
    uint64_t start = clock_ns(), now = start;
    bool armed, busy;

    while (!stream_queue_step(q, &armed, &busy) && q->ended < ticket) {
        if ((xport_far && xport_far->progress()) || now - start < SPIN_NS)
            atomics_pause();
        else
            sched_yield();
        now = clock_ns();
        if (now - start > PATIENCE_NS)
            break;
    }
}

/* Nothing behind it has been fired yet.  Once its word is raised and nobody
 * holds the queue, that may go. */
void stream_fired(void *arg)
{
    struct stream_op *op = arg;
    struct stream_queue *q = op->queue;
    uint64_t ticket = op->ticket, *fire = &q->words->fire;
    bool waits = op->waits, mine = stream_queue_hold(q);
    bool quick = mine && is_quick(q, op), left = true, armed, busy;

    __atomic_store_n(fire, ticket, __ATOMIC_RELEASE);
    if (quick) {
        stream_queue_step(q, &armed, &busy);
        if (waits && q->ended < ticket)
            see_to_its_end(q, ticket);
        left = q->ended < ticket || q->n_sends || !stream_queue_idle(q);
    }
    if (mine)
        stream_queue_let_go(q);
    if (left)
        stream_agent_ring();
}
