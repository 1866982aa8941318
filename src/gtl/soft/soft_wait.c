/* SPDX-License-Identifier: BSD-3-Clause */
/* soft_wait.c - streams of the software device that wait for a flag.
 *
 * A wait that is not over soon goes to a list, and its thread sleeps. After a
 * store by a stream of this process, that stream checks the list at once.
 * Stores by others are found by one of the sleeping threads, the poller, which
 * wakes now and then to check all flags: late by at most a 32nd of the time
 * that the youngest wait has lasted, and by 5 ms. */
#include "gtl/soft/soft_int.h"
#include "base/clock.h"
#include "base/futex.h"
#include "base/lock.h"

#define POLL_LEAST ((uint64_t)20000)
#define POLL_MOST ((uint64_t)5000000)
enum { LATE = 32 };

/* The states of a stream's futex: the thread that changes it from ASLEEP wakes
 * the stream's thread.  It is no event count: the state also says why the
 * thread wakes, and changes under the lock only.  OVER and CLOSED end the wait:
 * the word had reached its value, or the device closes. */
enum { AWAKE, ASLEEP, OVER, CLOSED };

unsigned gtl_soft_waiting;
static struct base_lock lock = LOCK_INIT;
/* One array: the poller reads all of it while most of the machine sleeps. */
static struct wait {
    uint64_t *word, least;
    uint32_t *state;
} waits[GTL_SOFT_STREAMS] GUARDED_BY(lock);
static unsigned n_waits GUARDED_BY(lock);
static uint32_t *poller GUARDED_BY(lock);
static uint64_t newest_ns GUARDED_BY(lock), poll_interval GUARDED_BY(lock);

static bool is_reached(const uint64_t *word, uint64_t least)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE) >= least;
}

/* The acquiring side is the thread that sleeps. */
static void wake(uint32_t *state, uint32_t to)
{
    __atomic_store_n(state, to, __ATOMIC_RELEASE);
    futex_wake_all(state, FUTEX_OF_PROCESS);
}

static void set_count(unsigned n) REQUIRES(lock)
{
    n_waits = n;
    __atomic_store_n(&gtl_soft_waiting, n, __ATOMIC_SEQ_CST);
}

/* Ends the waits that are over, and makes one of the others the poller.  self,
 * if not NULL, is awake. */
static void check_all(uint32_t *self) REQUIRES(lock)
{
    bool all = __atomic_load_n(&gtl_soft_closing, __ATOMIC_RELAXED) ||
               __atomic_load_n(&gtl_soft_stopping, __ATOMIC_RELAXED);

    for (unsigned i = 0; i < n_waits; ) {
        struct wait w = waits[i];
        uint32_t end = is_reached(w.word, w.least) ? OVER : CLOSED;

        if (!all && end == CLOSED) {
            i++;
            continue;
        }
        waits[i] = waits[n_waits - 1];
        set_count(n_waits - 1);
        if (poller == w.state)
            poller = NULL;
        if (w.state == self)
            *self = end;
        else
            wake(w.state, end);
    }
    if (!poller && n_waits) {
        poller = waits[n_waits - 1].state;
        if (poller != self)
            wake(poller, AWAKE);
    }
}

void gtl_soft_check_waits(void)
{
    lock_acquire(&lock);
    check_all(NULL);
    lock_release(&lock);
}

bool gtl_soft_wait_of(const uint32_t *futex, uint64_t **word, uint64_t *least)
{
    unsigned i = 0;
    bool is;

    lock_acquire(&lock);
    while (i < n_waits && waits[i].state != futex)
        i++;
    is = i < n_waits;
    if (is) {
        *word = waits[i].word;
        *least = waits[i].least;
    }
    lock_release(&lock);
    return is;
}

void gtl_soft_flags_stored(void)
{
    gtl_soft_check_waits_if_any();
}

static uint64_t next_poll(void) REQUIRES(lock)
{
    uint64_t t = (clock_ns() - newest_ns) / LATE;

    t = t < POLL_LEAST ? POLL_LEAST : t > POLL_MOST ? POLL_MOST : t;
    poll_interval = t;
    return t;
}

/* Checks all waits, and sleeps unless that ended this one. */
static void sleep_once(uint32_t *state)
{
    uint64_t time;

    lock_acquire(&lock);
    check_all(state);
    if (*state >= OVER) {
        lock_release(&lock);
        return;
    }
    time = poller == state ? next_poll() : 0;
    __atomic_store_n(state, ASLEEP, __ATOMIC_RELAXED);
    lock_release(&lock);
    futex_wait(state, ASLEEP, time, FUTEX_OF_PROCESS);
}

/* False: the device closes.  The word may have dropped since the check that
 * ended the wait. */
static bool sleep_for(uint64_t *word, uint64_t least, uint32_t *state)
{
    uint32_t now;

    lock_acquire(&lock);
    *state = AWAKE;
    waits[n_waits] = (struct wait){ word, least, state };
    set_count(n_waits + 1);
    atomics_full_fence();       /* a later store sees this wait */
    newest_ns = clock_ns();
    if (poller && poll_interval > 2 * POLL_LEAST)
        wake(poller, AWAKE);
    lock_release(&lock);
    while ((now = __atomic_load_n(state, __ATOMIC_ACQUIRE)) < OVER)
        sleep_once(state);
    return now == OVER;
}

bool gtl_soft_wait_word(uint64_t *word, uint64_t least, uint32_t *state)
{
    uint64_t start;

    if (is_reached(word, least))
        return true;
    start = clock_ns();
    while (gtl_soft_backoff(start))
        if (is_reached(word, least))
            return true;
    return sleep_for(word, least, state);
}

void gtl_soft_wait_fork(enum gtl_soft_fork when)
    LOCK_ATTR(no_thread_safety_analysis)
{
    if (when == SOFT_FORK_BEFORE) {
        lock_acquire(&lock);
        return;
    }
    if (when == SOFT_FORK_CHILD) {
        set_count(0);
        poller = NULL;
    }
    lock_release(&lock);
}
