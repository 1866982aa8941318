/* SPDX-License-Identifier: BSD-3-Clause */
/* The watchdog: when the layers look for objects that last too long.  The diag
 * thread calls diag_watchdog_run(); another thread that polls, as the progress
 * thread does, could call it as well.  A thread that waits in the library
 * reports its own wait and needs no watchdog: see core_stall.c.  Nothing here
 * knows what an object is, and no check may wait for the program. */
#include "diag/diag_int.h"
#include "base/clock.h"
#include "base/env.h"
#include "base/lock.h"

#define SECOND_NS 1000000000u
/* Seconds after which a lost peer is looked for where SHMEM_STALL is 0. */
enum { QUIET_STALL = 10 };
/* Checks in diag_stall_ns. */
enum { CHECKS = 8 };
/* A check that is later than that, or than another period, shows that this
 * process was not running. */
#define PAUSE_NS ((uint64_t)500000000)

uint64_t diag_stall_ns = UINT64_MAX;

static void (*called)(void);    /* atomic */
/* Held while checks run, so that a stop can wait for their end. */
static struct base_lock run_lock = LOCK_INIT;
static unsigned users GUARDED_BY(run_lock);     /* starts without a stop */
static uint64_t next_ns GUARDED_BY(run_lock);

bool diag_stall_is_reported(void)
{
    return env.STALL != 0;
}

void diag_watchdog_open(void)
{
    diag_stall_ns = (env.STALL ? (uint64_t)env.STALL : QUIET_STALL) * SECOND_NS;
}

void diag_watchdog_close(void)
{
    lock_acquire(&run_lock);
    users = 0;
    __atomic_store_n(&called, NULL, __ATOMIC_RELAXED);
    lock_release(&run_lock);
    diag_stall_ns = UINT64_MAX;
}

static uint64_t period_ns(void)
{
    return diag_stall_ns / CHECKS;
}

int diag_watchdog_start(void)
{
    lock_acquire(&run_lock);
    if (!users++)
        next_ns = clock_ns() + period_ns();
    lock_release(&run_lock);
    return diag_thread_start(false);
}

void diag_watchdog_stop(void)
{
    lock_acquire(&run_lock);
    if (users)
        users--;
    lock_release(&run_lock);
}

void diag_watchdog_call(void (*fn)(void))
{
    /* release: fn reads what its caller has stored. */
    if (!__atomic_exchange_n(&called, fn, __ATOMIC_ACQ_REL) && fn)
        diag_thread_wake();
    if (!fn) {                  /* it may run just now */
        lock_acquire(&run_lock);
        lock_release(&run_lock);
    }
}

static void check_all(uint64_t now, uint64_t pause) REQUIRES(run_lock)
{
    const struct diag_source *s;

    for (unsigned i = 0; (s = diag_source(i)); i++) {
        if (pause && s->paused)
            s->paused(pause, now);
        if (s->check)
            s->check(now);
    }
}

static void run_checks(uint64_t now) REQUIRES(run_lock)
{
    uint64_t period = period_ns(), late = now - next_ns;
    uint64_t most = period < PAUSE_NS ? period : PAUSE_NS;

    check_all(now, late > most ? late : 0);
    next_ns = clock_ns() + period;
}

uint64_t diag_watchdog_run(void)
{
    uint64_t now = clock_ns(), next = UINT64_MAX;
    void (*fn)(void);

    lock_acquire(&run_lock);
    fn = __atomic_exchange_n(&called, NULL, __ATOMIC_ACQ_REL);
    if (fn)
        fn();
    if (users) {
        if (now >= next_ns)
            run_checks(now);
        next = next_ns;
    }
    lock_release(&run_lock);
    return next;
}
