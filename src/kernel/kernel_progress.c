/* SPDX-License-Identifier: BSD-3-Clause */
/* The poller of the rings on the progress thread.  Kernels of the software
 * device wake it; a GPU's kernel only fills a ring, which the poller examines,
 * seldom when nothing has come for long (SHMEM_ST_SPIN asks for more).  A turn
 * waits for nothing. */
#include "base/clock.h"
#include "base/env.h"
#include "base/lock.h"
#include "kernel/kernel_int.h"

static uint64_t turn(struct progress_poller *p,
                     const struct progress_turn *t);

static struct progress_poller poller = { .turn = turn };
static struct base_lock rings_lock = LOCK_INIT;
static struct list_link rings GUARDED_BY(rings_lock) = LIST_INIT(rings);
static uint64_t advanced_ns;    /* the progress thread's */

static bool step_rings(bool *busy) REQUIRES(rings_lock)
{
    struct list_link *pos, *tmp;
    struct kernel_ring *r;
    bool any = false;

    list_each(pos, tmp, &rings) {
        r = list_entry(pos, struct kernel_ring, link);
        if (!kernel_ring_trylock(r)) {
            *busy = true;
            continue;
        }
        any |= kernel_ring_step(r, busy);
        kernel_ring_unlock(r);
    }
    return any;
}

static bool step_all(bool *busy)
{
    bool any;

    lock_acquire(&rings_lock);
    any = step_rings(busy);
    lock_release(&rings_lock);
    return any;
}

static uint64_t turn(struct progress_poller *p, const struct progress_turn *t)
{
    bool busy = false, any = step_all(&busy), timed;
    uint64_t ns;

    (void)p;
    (void)t;
    if (busy && xport_net)
        any |= xport_progress->poll();
    if (any) {
        advanced_ns = clock_ns();
        return PROGRESS_AGAIN;
    }
    timed = busy || !gtl_device.host_streams;
    ns = progress_back_off(clock_ns() - advanced_ns, core_status.oversubscribed,
                           unlikely(env.ST_SPIN) && timed);
    return timed || ns == PROGRESS_AGAIN ? ns : PROGRESS_WHEN_WOKEN;
}

bool kernel_progress_step(void)
{
    bool busy = false, any;

    if (!lock_try(&rings_lock))
        return false;
    any = step_rings(&busy);
    lock_release(&rings_lock);
    return any;
}

void kernel_progress_wake(void)
{
    progress_wake(&poller);
}

void kernel_progress_add(struct kernel_ring *r)
{
    lock_acquire(&rings_lock);
    list_append(&rings, &r->link);
    lock_release(&rings_lock);
}

void kernel_progress_remove(struct kernel_ring *r)
{
    lock_acquire(&rings_lock);
    list_remove(&r->link);
    lock_release(&rings_lock);
}

void kernel_progress_each(void (*visit)(struct kernel_ring *r, void *arg),
                          void *arg)
{
    struct list_link *pos, *tmp;

    lock_acquire(&rings_lock);
    list_each(pos, tmp, &rings)
        visit(list_entry(pos, struct kernel_ring, link), arg);
    lock_release(&rings_lock);
}

int kernel_progress_open(void)
{
    advanced_ns = clock_ns();
    return progress_register(&poller);
}

void kernel_progress_close(void)
{
    progress_unregister(&poller);
}
