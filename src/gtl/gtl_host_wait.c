/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams that wait for a word.
 *
 * A wait that is not over soon goes to a list and its thread sleeps.  What a
 * stream of this process stores is looked for at once, by that stream.  What
 * others store is found by one of the sleepers, which looks at all words as
 * often as the youngest wait deserves, at least every millisecond: it may come
 * late by a 32nd of the time it took. */
#include "gtl/gtl_host_int.h"
#include "base/list.h"
#include "base/lock.h"

#define LOOK_LEAST ((uint64_t)20000)
#define LOOK_MOST ((uint64_t)1000000)
enum { LATE = 32 };

struct waiter {
    struct list_link link;
    uint64_t *word, least;
    bool over;
    uint32_t sleeps;            /* futex: 0 ends the sleep */
};

unsigned gtl_host_waiting;
static struct base_lock lock = LOCK_INIT;
static struct list_link waiters GUARDED_BY(lock) = LIST_INIT(waiters);
static struct waiter *looker GUARDED_BY(lock);
static uint64_t looks_every GUARDED_BY(lock), newest GUARDED_BY(lock);

static bool is_there(const uint64_t *word, uint64_t least)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE) >= least;
}

static void rouse(struct waiter *w)
{
    __atomic_store_n(&w->sleeps, 0, __ATOMIC_RELAXED);
    gtl_host_wake(&w->sleeps);
}

static void end(struct waiter *w) REQUIRES(lock)
{
    w->over = true;
    list_remove(&w->link);
    __atomic_fetch_sub(&gtl_host_waiting, 1, __ATOMIC_RELAXED);
    if (looker == w)
        looker = NULL;
}

/* Ends the waits that are over but leaves it to `self` to wake itself. */
static void look(const struct waiter *self) REQUIRES(lock)
{
    bool all = __atomic_load_n(&gtl_host_closing, __ATOMIC_RELAXED);
    struct list_link *pos, *tmp;

    list_each(pos, tmp, &waiters) {
        struct waiter *w = list_entry(pos, struct waiter, link);

        if (!all && !is_there(w->word, w->least))
            continue;
        end(w);
        if (w != self)
            rouse(w);
    }
    if (!looker && !list_empty(&waiters)) {
        looker = list_entry(waiters.next, struct waiter, link);
        if (looker != self)
            rouse(looker);
    }
}

void gtl_host_look(void)
{
    lock_acquire(&lock);
    look(NULL);
    lock_release(&lock);
}

static uint64_t next_look(void) REQUIRES(lock)
{
    uint64_t t = (gtl_host_now() - newest) / LATE;

    return t < LOOK_LEAST ? LOOK_LEAST : t > LOOK_MOST ? LOOK_MOST : t;
}

static bool sleep_for(uint64_t *word, uint64_t least)
{
    struct waiter w = { .word = word, .least = least };
    uint64_t time;

    lock_acquire(&lock);
    list_append(&waiters, &w.link);
    __atomic_fetch_add(&gtl_host_waiting, 1, __ATOMIC_SEQ_CST);
    atomics_full_fence();       /* who stores later sees that we wait */
    newest = gtl_host_now();
    if (looker && looks_every > 2 * LOOK_LEAST)
        rouse(looker);
    for (;;) {
        time = 0;
        if (!looker || looker == &w) {
            looker = &w;
            look(&w);
            time = looks_every = next_look();
        } else if (is_there(word, least)) {
            end(&w);
        }
        if (w.over)
            break;
        __atomic_store_n(&w.sleeps, 1, __ATOMIC_RELAXED);
        lock_release(&lock);
        gtl_host_sleep(&w.sleeps, 1, time);
        lock_acquire(&lock);
    }
    lock_release(&lock);
    return is_there(word, least);
}

bool gtl_host_await(uint64_t *word, uint64_t least)
{
    uint64_t start;

    if (is_there(word, least))
        return true;
    start = gtl_host_now();
    while (gtl_host_linger(start))
        if (is_there(word, least))
            return true;
    return sleep_for(word, least);
}

void gtl_host_wait_fork(enum gtl_host_fork when)
    LOCK_ATTR(no_thread_safety_analysis)
{
    if (when == HOST_FORK_BEFORE) {
        lock_acquire(&lock);
        return;
    }
    if (when == HOST_FORK_CHILD) {
        waiters.next = waiters.prev = &waiters;
        looker = NULL;
        gtl_host_waiting = 0;
    }
    lock_release(&lock);
}
