/* SPDX-License-Identifier: BSD-3-Clause */
/* The executor's turns: steps of all stream op rings on the progress thread,
 * and of one ring on the thread of a stream of the software device.  A step
 * waits for nothing; stream_ring_consume.c does it. */
#include "base/lock.h"
#include "stream/ring/stream_ring.h"
#include "stream/ring/stream_ring_list.h"
#include "stream/stream_upper.h"

enum { STEPS = 32 };            /* of a ring before the next one's turn */

/* The ring that a start has left to the wait behind it, on the thread of a
 * stream; if no ring was freed since. */
static __thread struct {
    struct stream_ring *ring;
    uint64_t freed;
} deferred;

/* By the holder of its lock. */
static bool is_over(const struct stream_ring *q)
{
    return __atomic_load_n(&q->gone, __ATOMIC_ACQUIRE) &&
           stream_ring_empty(q) && stream_ring_net_idle(q);
}

/* Not so many that others wait long. */
static bool step_some(struct stream_ring *q, bool *posted, bool *busy)
{
    bool any = false;

    for (int i = 0; i < STEPS && stream_ring_step(q, posted, busy); i++) {
        any = true;
        if (q->exec.part.copied)
            break;
    }
    return any;
}

static bool advance(struct stream_ring *q, bool *posted, bool *busy)
{
    bool nic = false, any = stream_nic_forward(q, &nic);

    any |= step_some(q, posted, busy);
    any |= stream_tasks_progress(q);
    if (nic || q->n_tasks || !stream_ring_net_idle(q))
        *busy = true;
    if (nic)
        xport_trig->progress();
    return any;
}

bool stream_rings_progress(bool *posted, bool *busy)
{
    bool any = false, skips = false;
    struct stream_ring *q, *gone = NULL;

    *busy |= stream_upper->poll();
    *busy |= stream_nic_triggers_busy();
    for (q = stream_rings_next(NULL, &skips); q;
         q = stream_rings_next(q, &skips)) {
        if (gone)
            stream_ring_free(gone);
        any |= advance(q, posted, busy);
        /* It deferred the list when there is a next one to go on from. */
        gone = is_over(q) ? q : NULL;
    }
    if (gone)
        stream_ring_free(gone);
    /* The ring's holder wakes this thread if it must, but not for the NIC. */
    *busy |= skips && xport_trig != &xport_trig_none;
    return any;
}

/* ---- what a start defers to the wait behind it ---- */

bool stream_ring_has_deferred(void)
{
    return deferred.ring != NULL;
}

void stream_ring_defer(struct stream_ring *q)
{
    lock_acquire(&stream_rings_lock);
    deferred.ring = q;
    deferred.freed = stream_rings_freed;
    lock_release(&stream_rings_lock);
}

/* NULL: another thread has it, or may have freed it.  If another ring was
 * freed, this one is the progress thread's now. */
static struct stream_ring *trylock_deferred(void)
{
    struct stream_ring *q = NULL;
    bool any_freed;

    lock_acquire(&stream_rings_lock);
    any_freed = deferred.freed != stream_rings_freed;
    if (any_freed)
        deferred.ring = NULL;
    else if (deferred.ring && stream_ring_trylock(deferred.ring))
        q = deferred.ring;
    lock_release(&stream_rings_lock);
    if (any_freed)
        stream_progress_wake();
    return q;
}

bool stream_ring_progress_deferred(void)
{
    bool posted = false, busy = false, any = false;
    struct stream_ring *q = trylock_deferred();

    if (!q)
        return false;
    any = step_some(q, &posted, &busy);
    any |= stream_tasks_progress(q);
    if (q->completed >= q->counters->trigger && !q->n_tasks)
        deferred.ring = NULL;
    stream_ring_unlock(q);
    return any;
}
