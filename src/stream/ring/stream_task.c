/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of a ring's tasks: see stream_task.h.  The ring's executor adds
 * them, and the holder of the ring steps them. */
#include "stream/ring/stream_task.h"
#include "stream/ring/stream_ring.h"

void stream_task_add(const struct stream_op *op)
{
    struct stream_ring *ring = op->ring;
    struct stream_task *t = op->task.task;

    t->next = NULL;
    t->call = op->call;
    t->ops->reach(op);
    *ring->last_task = t;
    ring->last_task = &t->next;
    __atomic_fetch_add(&ring->n_tasks, 1, __ATOMIC_RELAXED);
}

bool stream_tasks_progress(struct stream_ring *ring)
{
    struct stream_task **at = &ring->tasks, *t;
    bool any = false;

    while ((t = *at)) {
        if (!t->ops->step(ring, t, &any)) {
            at = &t->next;
            continue;
        }
        *at = t->next;
        any = true;
        if (ring->last_task == &t->next)
            ring->last_task = at;
        t->ops->complete(t);
        __atomic_fetch_sub(&ring->n_tasks, 1, __ATOMIC_RELEASE);
    }
    return any;
}
