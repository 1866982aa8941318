/* SPDX-License-Identifier: BSD-3-Clause */
/* soft_thread.c - how threads of the software device start and back off, and
 * what their steps cost.  Its other files call it; it calls none of them. */
#include "gtl/soft/soft_int.h"
#include "base/clock.h"
#include "base/thread.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A thread that has nothing to do spins, then yields, then sleeps. */
#define SPIN_NS ((uint64_t)2000)
#define BACKOFF_NS ((uint64_t)30000)

uint64_t gtl_soft_costs[SOFT_COSTS];
bool gtl_soft_closing, gtl_soft_stopping;
static uint64_t charged;

void gtl_soft_charge(uint64_t ns)
{
    uint64_t start = clock_ns();

    /* relaxed: it is read when what it is to cover has ended. */
    __atomic_fetch_add(&charged, ns, __ATOMIC_RELAXED);
    while (clock_ns() - start < ns)
        atomics_pause();
}

uint64_t gtl_charged_ns(void)
{
    return __atomic_load_n(&charged, __ATOMIC_RELAXED);
}

bool gtl_soft_backoff(uint64_t start)
{
    uint64_t lasts = clock_ns() - start;

    if (lasts < SPIN_NS)
        atomics_pause();
    else
        sched_yield();
    return lasts < BACKOFF_NS;
}

bool gtl_soft_fences = true;

void gtl_soft_fence_open(void)
{
    gtl_soft_fences = syscall(SYS_membarrier,
                              MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0,
                              0) != 0;
}

void gtl_soft_heavy_fence(void)
{
    atomics_full_fence();
    if (!gtl_soft_fences)
        syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}

int gtl_soft_thread(pthread_t *out, void *(*run)(void *), void *arg)
{
    int rc = thread_start(out, run, arg);

    return rc ? gtl_fail(-EAGAIN, "thread of the software device",
                         "pthread_create failed; raise ulimit -u", -rc) : 0;
}
