/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of all stream op rings, and walks over it.
 *
 * The list's lock is for the list and the table of stream_ring_table.c alone:
 * no thread holds it for longer than it takes to follow some pointers, so a
 * call on one stream never waits for a transfer of another one.  A ring that
 * is locked stays in the list.  Called by the progress thread, the watchdog
 * and the API; only stream_ring_free() waits for the network. */
#include "stream/ring/stream_ring_list.h"
#include "base/fault.h"
#include "stream/ring/stream_ring.h"

#include <errno.h>
#include <sched.h>
#include <time.h>

struct base_lock stream_rings_lock = LOCK_INIT;
struct list_link stream_rings = LIST_INIT(stream_rings);
uint64_t stream_rings_freed;
bool stream_rings_exist;

/* The thread that holds the lock releases it soon. */
void stream_ring_lock(struct stream_ring *q)
{
    while (!stream_ring_trylock(q))
        sched_yield();
}

static bool stream_ring_host_idle(const struct stream_ring *q)
{
    return __atomic_load_n(&q->completed, __ATOMIC_ACQUIRE) ==
           __atomic_load_n(&q->posted, __ATOMIC_RELAXED);
}

bool stream_ring_empty(const struct stream_ring *q)
{
    return stream_ring_host_idle(q) && stream_nic_idle(&q->nic) &&
           !__atomic_load_n(&q->n_tasks, __ATOMIC_ACQUIRE);
}

void stream_ring_enlist(struct stream_ring *q)
{
    list_append(&stream_rings, &q->link);
    __atomic_store_n(&stream_rings_exist, true, __ATOMIC_RELAXED);
}

/* It is in no table; no stream waits for what it may have under way. */
void stream_ring_free(struct stream_ring *q)
{
    stream_ring_lock(q);
    lock_acquire(&stream_rings_lock);
    list_remove(&q->link);
    stream_rings_freed++;
    lock_release(&stream_rings_lock);
    stream_ring_delete(q);
}

struct stream_ring *stream_rings_next(struct stream_ring *q, bool *skips)
{
    struct stream_ring *next = NULL;
    struct list_link *l;

    lock_acquire(&stream_rings_lock);
    for (l = q ? q->link.next : stream_rings.next; l != &stream_rings && !next;
         l = l->next) {
        next = list_entry(l, struct stream_ring, link);
        if (!stream_ring_trylock(next)) {
            next = NULL;
            *skips = true;
        }
    }
    if (q)
        stream_ring_unlock(q);
    lock_release(&stream_rings_lock);
    return next;
}

/* ---- all rings ---- */

bool stream_rings_visit_heads(stream_ring_visitor *visit)
{
    const struct timespec delay = { 0, 50000000 };
    const struct stream_op *op;
    bool skips = false, held = false;
    struct stream_ring *q;

    for (q = stream_rings_next(NULL, &skips); q;
         q = stream_rings_next(q, &skips)) {
        op = q->exec.begun ? stream_ring_head(q) : NULL;
        if (op)
            visit(q, op);
        if (fault_hit(FAULT_STREAM_POLL))       /* a test has it take long */
            nanosleep(&delay, NULL);
        held = true;
    }
    /* The progress thread may have skipped a ring that was locked here. */
    if (held)
        stream_progress_wake();
    return !skips;
}

bool stream_ring_transfer_due(struct stream_ring *q)
{
    const struct stream_op *op = stream_ring_head(q);

    return op && op->kind < STREAM_FENCE &&
           __atomic_load_n(&q->counters->trigger, __ATOMIC_ACQUIRE) >= op->seq;
}

bool stream_rings_transfer_due(void)
{
    struct stream_ring *q;
    bool owe = false;

    for (q = stream_rings_next(NULL, &owe); q; q = stream_rings_next(q, &owe))
        owe |= stream_ring_transfer_due(q);
    if (owe)
        stream_progress_wake(); /* it may have forwarded one by that was held */
    return owe;
}

uint64_t stream_posted_ops(void)
{
    struct list_link *l, *next;
    uint64_t n = 0;

    lock_acquire(&stream_rings_lock);
    list_each(l, next, &stream_rings) n += __atomic_load_n(
        &list_entry(l, struct stream_ring, link)->posted, __ATOMIC_RELAXED);
    lock_release(&stream_rings_lock);
    return n;
}

/* Of a queue's ring only what its stream releases will complete: the rest of a
 * start that failed in the middle never does. */
static bool holds(const struct stream_ring *q)
{
    return q->for_queue
               ? __atomic_load_n(&q->completed, __ATOMIC_ACQUIRE) < q->triggered
               : !stream_ring_host_idle(q);
}

/* *nic: that of one has more to do, if the stream has. */
static bool any_holds(const void *stream, uint64_t id, bool *nic)
{
    struct list_link *l, *next;
    bool is = false;

    lock_acquire(&stream_rings_lock);
    list_each(l, next, &stream_rings) {
        const struct stream_ring *q = list_entry(l, struct stream_ring, link);

        if (q->id != id && (q->id != STREAM_ID_UNKNOWN || q->handle != stream))
            continue;
        is |= holds(q);
        *nic |= !stream_nic_idle(&q->nic);
    }
    lock_release(&stream_rings_lock);
    return is;
}

bool stream_pending(void *stream)
{
    bool is = gtl->owes_ops(stream), nic = false;
    uint64_t id;

    if (is || gtl->stream_check(stream, &id))
        return is;
    return any_holds(stream, id, &nic) ||
           (nic && gtl->stream_query(stream) == -EAGAIN);
}
