/* SPDX-License-Identifier: BSD-3-Clause */
/* core_lock.h - the layout of a lock, for core_lock.c and for the reports on
 * waits for locks. */
#ifndef CORE_CORE_LOCK_H
#define CORE_CORE_LOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* The two halves of the program's long: see core_lock.c. */
struct core_lock {
    uint32_t tail, state;
};
_Static_assert(sizeof(struct core_lock) == sizeof(long),
               "a lock is one long");

/* In `state`: this PE waits; this PE holds the lock; above them 1 + the PE
 * behind. */
enum { CORE_LOCK_WAITING = 1, CORE_LOCK_HELD = 2, CORE_LOCK_NEXT_SHIFT = 2 };

/* A PE's copy of the lock, as one value: does that PE hold the lock? */
static inline bool core_lock_holds(uint64_t copy)
{
    struct core_lock l;

    memcpy(&l, &copy, sizeof l);
    return l.state & CORE_LOCK_HELD;
}

/* In a waiter's `value`: the holder waits for the PE behind it to announce
 * itself. */
#define CORE_LOCK_BEHIND UINT64_MAX

#endif
