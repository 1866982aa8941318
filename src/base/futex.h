/* SPDX-License-Identifier: BSD-3-Clause */
/* futex.h - the two futex calls that the library uses.
 *
 * A thread sleeps on a 32-bit word as long as the word has the value that the
 * thread saw; another thread changes the word and wakes the sleepers.  The
 * caller's own atomics order everything else: see eventcount.h for a protocol
 * that loses no wake-up.  Any thread. */
#ifndef BASE_FUTEX_H
#define BASE_FUTEX_H

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* The writers of the word: threads of this process, or processes that map
 * it. */
enum futex_scope { FUTEX_OF_PROCESS, FUTEX_OF_NODE };

/* Sleeps at most ns, or without an end for 0, while *word is seen.  True when
 * the time has run out; a wake-up, a signal and a changed word give false. */
static inline bool futex_wait(const uint32_t *word, uint32_t seen, uint64_t ns,
                              enum futex_scope scope)
{
    struct timespec t = { (time_t)(ns / 1000000000u),
                          (long)(ns % 1000000000u) };

    return syscall(SYS_futex, word,
                   scope == FUTEX_OF_PROCESS ? FUTEX_WAIT_PRIVATE : FUTEX_WAIT,
                   seen, ns ? &t : NULL, NULL, 0) && errno == ETIMEDOUT;
}

static inline void futex_wake_all(const uint32_t *word, enum futex_scope scope)
{
    syscall(SYS_futex, word,
            scope == FUTEX_OF_PROCESS ? FUTEX_WAKE_PRIVATE : FUTEX_WAKE,
            INT_MAX, NULL, NULL, 0);
}

#endif
