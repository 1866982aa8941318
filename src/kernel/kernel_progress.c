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
static bool comes;              /* atomic: its next turn has a time */

/* The progress thread leaves a ring for so long to the kernel's thread that
 * issues its requests: two would wake each other and fight for the network. */
#define TENDED_NS ((uint64_t)100000)

struct steps {
    bool any;                   /* something advanced */
    bool busy;                  /* something is under way */
    bool tended;                /* so it is in a ring left to a kernel */
};

static bool is_tended(const struct kernel_ring *r, uint64_t now)
{
    uint64_t then = __atomic_load_n(&r->tended_ns, __ATOMIC_RELAXED);

    return then && (int64_t)(now - then) < (int64_t)TENDED_NS;
}

/* now: of the progress thread; 0: of a kernel's that waits for a word: none is
 * left to it, and it waits for no completion. */
static struct steps step_rings(uint64_t now) REQUIRES(rings_lock)
{
    struct list_link *pos, *tmp;
    struct kernel_ring *r;
    struct steps s = { 0 };

    list_each(pos, tmp, &rings) {
        r = list_entry(pos, struct kernel_ring, link);
        if (now && is_tended(r, now)) {
            s.tended = true;
        } else if (kernel_ring_trylock(r)) {
            s.any |= kernel_ring_step(r, now != 0, &s.busy);
            kernel_ring_unlock(r);
        } else {
            s.busy = true;
        }
    }
    return s;
}

/* When it is to be called again. */
static uint64_t step_all(void)
{
    struct steps s;
    uint64_t ns;
    bool timed;

    lock_acquire(&rings_lock);
    s = step_rings(clock_ns());
    lock_release(&rings_lock);
    if (s.tended && !s.any && !s.busy)
        return TENDED_NS;
    if (s.busy && xport_net)
        s.any |= xport_progress->poll();
    if (s.any) {
        advanced_ns = clock_ns();
        return PROGRESS_AGAIN;
    }
    timed = s.busy || !gtl_device.host_streams;
    ns = progress_back_off(clock_ns() - advanced_ns, core_status.oversubscribed,
                           unlikely(env.ST_SPIN) && timed);
    return timed || ns == PROGRESS_AGAIN ? ns : PROGRESS_WHEN_WOKEN;
}

static void set_comes(uint64_t ns)
{
    __atomic_store_n(&comes, ns != PROGRESS_WHEN_WOKEN, __ATOMIC_RELAXED);
}

static uint64_t turn(struct progress_poller *p, const struct progress_turn *t)
{
    uint64_t ns = step_all();

    (void)p;
    (void)t;
    set_comes(ns);
    if (ns != PROGRESS_WHEN_WOKEN)
        return ns;
    /* Pairs with kernel_progress_wake_soon(). */
    atomics_full_fence();
    ns = step_all();
    set_comes(ns);
    return ns;
}

bool kernel_progress_step(void)
{
    struct steps s;

    if (!lock_try(&rings_lock))
        return false;
    s = step_rings(0);
    lock_release(&rings_lock);
    return s.any;
}

void kernel_progress_wake(void)
{
    progress_wake(&poller);
}

void kernel_progress_wake_soon(void)
{
    /* seq_cst: pairs with turn(): it sees what is under way, or this sees that
     * it sleeps. */
    atomics_full_fence();
    if (!__atomic_load_n(&comes, __ATOMIC_RELAXED))
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
