/* SPDX-License-Identifier: BSD-3-Clause */
/* soft_thread.h - how threads of the software device start, wait and sleep, and
 * what their steps cost (soft_thread.c). */
#ifndef GTL_SOFT_THREAD_H
#define GTL_SOFT_THREAD_H

#include "base/atomics.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Times that are added to steps, in nanoseconds. */
enum gtl_soft_cost {
    SOFT_COST_LAUNCH, SOFT_COST_COPY, SOFT_COST_WRITE, SOFT_COST_WAIT,
    SOFT_COST_CALL, SOFT_COST_DOORBELL, SOFT_COST_SYNC, SOFT_COSTS
};
extern hidden uint64_t gtl_soft_costs[SOFT_COSTS];
/* The device closes: a wait that is not over ends its stream. */
extern hidden bool gtl_soft_closing;
/* Streams end waits, too, and the program's begin nothing more. */
extern hidden bool gtl_soft_stopping;

/* Spins for so long, and counts it (gtl_charged_ns). */
void gtl_soft_charge(uint64_t ns) __attribute__((cold));
/* Starts a thread that takes no signals. */
int gtl_soft_thread(pthread_t *out, void *(*run)(void *), void *arg);

static inline void gtl_soft_charge_cost(enum gtl_soft_cost what)
{
    if (unlikely(gtl_soft_costs[what]))
        gtl_soft_charge(gtl_soft_costs[what]);
}

/* One turn of a loop that began at `start`: pauses, then yields.  False: it
 * has lasted long enough for the thread to sleep. */
bool gtl_soft_backoff(uint64_t start);

/* Of two threads that each store and then load what the other one stores, at
 * least one sees the other's store.  The thread that does so often passes the
 * light fence; the one that does so before it sleeps passes the heavy fence,
 * which makes all threads of the process pass one.  Where the system has no
 * such call, both are full fences. */
extern hidden bool gtl_soft_fences;
void gtl_soft_fence_open(void);
void gtl_soft_heavy_fence(void);
static inline void gtl_soft_light_fence(void)
{
    if (unlikely(gtl_soft_fences))
        atomics_full_fence();
    else
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

#endif
