/* SPDX-License-Identifier: BSD-3-Clause */
/* eventcount.h - sleeping until something changes, without losing a wake-up.
 *
 * An event count stands for a condition that other threads make true:
 *
 *     sleeper                                signaller
 *     seen = eventcount_now(&ec);            make the condition true
 *     if (!condition)                        eventcount_signal(&ec);
 *         eventcount_wait(&ec, seen, 0);
 *
 * The sleeper reads the count before it examines the condition.  A signaller
 * that makes the condition true after that examination raises the count
 * afterwards, so either eventcount_wait() finds another count and returns at
 * once, or the kernel does, or the signaller finds the sleeper announced and
 * wakes it.  The announcement and the count are one store-buffering pattern
 * (each side stores, then loads what the other side stores), which is why all
 * four accesses are sequentially consistent.
 *
 * A signal costs one locked instruction and one load while no thread sleeps,
 * and a system call otherwise.  The count wraps: only a sleeper that is held up
 * for 2^32 signals between its two loads would miss them.
 *
 * Any number of sleepers and signallers, all of one process; a wait that other
 * processes end has its own announcement (core_wait.c) and uses futex.h. */
#ifndef BASE_EVENTCOUNT_H
#define BASE_EVENTCOUNT_H

#include "base/futex.h"

struct eventcount {
    uint32_t count;             /* atomic; the futex word */
    uint32_t sleepers;          /* atomic: threads that sleep or are going to */
};

static inline uint32_t eventcount_now(const struct eventcount *ec)
{
    /* seq_cst: pairs with eventcount_signal(), see above. */
    return __atomic_load_n(&ec->count, __ATOMIC_SEQ_CST);
}

/* Sleeps unless the count has left `seen`: at most ns, or without an end for 0.
 * True if the count has changed.  Wakes without a cause are possible: the
 * caller examines its condition again. */
bool eventcount_wait(struct eventcount *ec, uint32_t seen, uint64_t ns);

/* The slow half of eventcount_signal(). */
void eventcount_wake(struct eventcount *ec);

/* Stores of the calling thread before it are visible to a thread that gets the
 * new count from eventcount_wait() or eventcount_now(). */
static inline void eventcount_signal(struct eventcount *ec)
{
    __atomic_fetch_add(&ec->count, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&ec->sleepers, __ATOMIC_SEQ_CST))
        eventcount_wake(ec);
}

#endif
