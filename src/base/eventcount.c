/* SPDX-License-Identifier: BSD-3-Clause */
/* The halves of an event count that make system calls.  Called by every layer
 * whose threads sleep; the protocol and its proof stand in eventcount.h. */
#include "base/eventcount.h"

bool eventcount_wait(struct eventcount *ec, uint32_t seen, uint64_t ns)
{
    /* seq_cst: the announcement comes before the look at the count. */
    __atomic_fetch_add(&ec->sleepers, 1, __ATOMIC_SEQ_CST);
    if (eventcount_now(ec) == seen)
        futex_wait(&ec->count, seen, ns, FUTEX_OF_PROCESS);
    __atomic_fetch_sub(&ec->sleepers, 1, __ATOMIC_RELAXED);
    return eventcount_now(ec) != seen;
}

void eventcount_wake(struct eventcount *ec)
{
    futex_wake_all(&ec->count, FUTEX_OF_PROCESS);
}
