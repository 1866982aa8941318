/* SPDX-License-Identifier: BSD-3-Clause */
/* A wait spins for at most a quarter of what its yields cost.
 *
 * Where a PE has its core to itself, a yield returns at once, and a wait spins
 * as long as SHMEM_SPIN_US says.  Where the PE that it waits for shares the
 * core, spinning only keeps that PE from running: a yield lasts until the
 * other PE waits in turn, so that its cost is a change of process and the
 * other PE's work and spinning.  A quarter of that, on both sides, ends at a
 * fraction of a microsecond.  Beside a process that computes, a yield costs a
 * time slice of milliseconds, and spinning is again as long as it may be. */
#include "core/core_spin.h"
#include "base/clock.h"
#include "base/env.h"
#include "core/core.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A yield that takes less has run no other process; or less than so many of
 * the cheapest system calls, where these are slow, as in an emulator. */
#define SWITCH_NS 1000u
enum { SWITCH_CALLS = 4, TRIES = 16 };
/* Each yield that returns at once doubles the estimate, from here. */
#define LEAST_NS 250u
enum { SHARE = 4 };

static uint64_t spin_ns;        /* atomic */
static uint64_t most_ns, switch_ns;     /* constant */
static bool impatient;

static void set(uint64_t ns)
{
    if (ns > most_ns)
        ns = most_ns;
    /* relaxed: estimates, of which threads may overwrite each other's. */
    __atomic_store_n(&spin_ns, ns, __ATOMIC_RELAXED);
    __atomic_store_n(&core_wait_quick,
                     impatient || ns < most_ns / 2 ? 0 : CORE_QUICK_SPINS,
                     __ATOMIC_RELAXED);
}

static uint64_t call_ns(void)
{
    uint64_t least = UINT64_MAX, ns;

    for (int i = 0; i < TRIES; i++) {
        ns = clock_ns();
        syscall(SYS_getppid);
        ns = clock_ns() - ns;
        least = ns < least ? ns : least;
    }
    return least;
}

void core_spin_open(void)
{
    uint64_t slow = SWITCH_CALLS * call_ns();

    switch_ns = slow > SWITCH_NS ? slow : SWITCH_NS;
    impatient = false;
    most_ns = (uint64_t)env.SPIN_US * 1000;
    set(most_ns);
}

void core_spin_impatient(void)
{
    impatient = true;
    set(core_spin_ns());
}

uint64_t core_spin_ns(void)
{
    return __atomic_load_n(&spin_ns, __ATOMIC_RELAXED);
}

uint64_t core_spin_most_ns(void)
{
    return most_ns;
}

void core_spin_yield(void)
{
    uint64_t start = clock_ns(), ns = core_spin_ns();

    sched_yield();
    start = clock_ns() - start;
    if (start >= switch_ns)
        set((ns + (start / SHARE < most_ns ? start / SHARE : most_ns)) / 2);
    else if (unlikely(ns < most_ns))
        set(2 * ns + LEAST_NS);
}
