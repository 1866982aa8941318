/* SPDX-License-Identifier: BSD-3-Clause */
/* Waits without burning a core that the peer needs.  Called by the blocking
 * calls of api, coll, stream and msg, from any thread; a wait must not allocate
 * memory, and holds no lock while it sleeps.
 *
 * A sleeper announces in its ctl block which bytes it waits for, reads them
 * once more, and sleeps on wake_seq.  A writer that stores there raises
 * wake_seq and wakes the sleeper.  A fence between the store and the writer's
 * read of the range would double the cost of a small put.  So the sleeper makes
 * all PEs of the machine pass a fence between its announcement and its last
 * read (membarrier.h): a store that this read misses comes after the fence, and
 * its writer sees the announcement.
 *
 * That fence interrupts each processor that runs a PE.  Where it costs more
 * than the sleep that it precedes, as where many PEs share many cores, it
 * comes before a longer sleep; where the kernel refuses it, there is none.
 * Then a writer may miss a sleeper, and stores through shmem_ptr always do:
 * each sleep is bounded by a fraction of the time waited so far.  Stores of
 * off-node peers appear when the transport advances: the waiter itself polls it
 * while it is awake.
 *
 * wait_from and wait_to are offsets from the PE's mapped host heap; static data
 * precedes it in the slot. */
#include "base/clock.h"
#include "base/futex.h"
#include "base/lock.h"
#include "core/core_spin.h"
#include "core/core.h"
#include "core/core_report.h"
#include "diag/diag.h"

#include <sched.h>

enum { SPINS_PER_CHECK = 32, SPINS_SHORT = 2, YIELDS_OVERSUBSCRIBED = 4 };
#define SLEEP_LEAST_NS 50000u
#define SLEEP_MOST_NS 5000000u
#define SLEEP_NO_EVENT_NS 100000u
enum { FENCE_FADES = 64 };
#define FENCE_MOST_NS 200000u
#define YIELD_NS 200000u
#define YIELD_NET_NS 1000000u
#define YIELD_NO_EVENT_NS 1000000000u
#define YIELD_NO_EVENT_SHARED_NS 20000000u
#define AWAKE_MOST_NS 16000000u
#define NAME_HOLDS_NS 200000000u        /* of what a hang report calls a wait */
/* A wait for on-node PEs polls the network at each CHECKS_PER_POLL-th check.  A
 * wait whose yields return at once yields at each CHECKS_PER_YIELD-th. */
enum { CHECKS_PER_POLL = 8, CHECKS_PER_YIELD = 64 };
/* Where all a wait does is to poll, as with a core to itself, it reads the clock
 * at each such check: a reading costs a third of an empty poll. */
enum { CHECKS_PER_CLOCK = 8 };

void (*core_wait_stalled)(struct core_waiter *w, uint64_t now);
unsigned core_wait_quick = CORE_QUICK_SPINS;    /* atomic */
static struct base_lock announce_lock = LOCK_INIT;
/* Threads that have announced a sleep, and threads whose wait is noted: of the
 * latter some are awake for a moment. */
static unsigned sleepers GUARDED_BY(announce_lock);
static unsigned waiters GUARDED_BY(announce_lock);
static struct core_wait_counts counts;  /* atomic */
/* The average cost of a fence of all PEs; atomic, an estimate. */
static uint64_t fence_ns;

/* Do peers have it as far from the host heap as this PE?  Not device memory, nor
 * static data beside a heap of huge pages, in a file of its own. */
static bool is_beside_heap(int seg)
{
    const uintptr_t *map = xport_routes[core_world.my_pe].map;

    return seg == HEAP_HOST ||
           (seg == HEAP_DATA && map[HEAP_DATA] - map[HEAP_HOST] ==
                                    heap_segs[HEAP_HOST].size);
}

/* The range in which the peers see the bytes of w; where they are not symmetric,
 * or not beside the heap, all of memory. */
static void waited_range(const struct core_waiter *w, int64_t *from,
                         int64_t *to)
{
    int me = core_world.my_pe;
    uintptr_t addr = xport_ptr(me, w->addr, w->bytes);

    if (addr && is_beside_heap(heap_find(w->addr, 1))) {
        *from = (int64_t)(addr - xport_routes[me].map[HEAP_HOST]);
        *to = *from + (int64_t)w->bytes;
    } else {
        *from = INT64_MIN;
        *to = INT64_MAX;
    }
}

/* Counts without a locked instruction: of two threads' counts one may be
 * lost. */
static void count(uint64_t *n)
{
    __atomic_store_n(n, __atomic_load_n(n, __ATOMIC_RELAXED) + 1,
                     __ATOMIC_RELAXED);
}

/* Fences all PEs before a sleep of that length, unless the fence costs more
 * than the sleep.  True: done.  An estimate that is too high wears off. */
static bool fence_all(uint64_t sleep_ns)
{
    uint64_t cost = __atomic_load_n(&fence_ns, __ATOMIC_RELAXED), start;
    bool fenced = false;

    if (!membarrier_works())
        return false;
    if (cost > sleep_ns) {
        cost -= cost / FENCE_FADES;
    } else {
        start = clock_ns();
        fenced = membarrier_all();
        start = clock_ns() - start;
        cost += (start < FENCE_MOST_NS ? start : FENCE_MOST_NS) / 8 - cost / 8;
    }
    __atomic_store_n(&fence_ns, cost, __ATOMIC_RELAXED);
    return fenced;
}

static void announce(struct core_waiter *w)
{
    int64_t from, to;

    waited_range(w, &from, &to);
    lock_acquire(&announce_lock);
    waiters += !w->noted;
    core_report_wait(w);
    if (sleepers++) {           /* another thread sleeps too: cover both */
        if (core_ctl->wait_from < from)
            from = core_ctl->wait_from;
        if (core_ctl->wait_to > to)
            to = core_ctl->wait_to;
    }
    __atomic_store_n(&core_ctl->wait_from, from, __ATOMIC_RELAXED);
    __atomic_store_n(&core_ctl->wait_to, to, __ATOMIC_RELAXED);
    lock_release(&announce_lock);
    w->announced = true;
    w->seen = __atomic_load_n(&core_ctl->wake_seq, __ATOMIC_ACQUIRE);
    /* The range is visible before the caller reads the bytes again. */
    w->fenced = fence_all(SLEEP_LEAST_NS);
    if (!w->fenced)
        atomics_full_fence();
}

static void withdraw(struct core_waiter *w) REQUIRES(announce_lock)
{
    if (!w->announced)
        return;
    w->announced = false;
    if (--sleepers)
        return;
    __atomic_store_n(&core_ctl->wait_to, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&core_ctl->wait_from, 0, __ATOMIC_RELAXED);
}

void core_wait_stop(struct core_waiter *w)
{
    lock_acquire(&announce_lock);
    /* The store came without a wake-up: its writer missed the announcement, or
     * is about to wake this thread. */
    if (w->announced && w->timed_out &&
        __atomic_load_n(&core_ctl->wake_seq, __ATOMIC_RELAXED) == w->seen)
        count(&counts.late);
    withdraw(w);
    core_report_wait_end(w, --waiters == 0);
    lock_release(&announce_lock);
    w->noted = false;
}

/* The time for which a wait for off-node PEs stays awake: a request that
 * reaches this PE while it sleeps costs two changes of threads.  Atomic. */
static uint64_t awake_ns = YIELD_NET_NS;

/* The time for which a wait yields before it sleeps.  A poll of the network
 * takes longer than a read of memory; and a waiter that the network cannot wake
 * yields longer, then sleeps at most 0.1 ms. */
static uint64_t yield_ns(void)
{
    if (!xport_net)
        return YIELD_NS;
    /* Each of a peer's operations would wait for the end of a sleep. */
    if (!xport_progress->wakes_sleepers())
        return core_status.oversubscribed ? YIELD_NO_EVENT_SHARED_NS
                                          : YIELD_NO_EVENT_NS;
    return core_status.oversubscribed ? AWAKE_MOST_NS
           : __atomic_load_n(&awake_ns, __ATOMIC_RELAXED);
}

/* The network has ended a sleep of that length.  A short sleep lengthens the
 * time awake, a long one resets it. */
static void slept_for(uint64_t ns)
{
    uint64_t awake = __atomic_load_n(&awake_ns, __ATOMIC_RELAXED);

    awake = ns > awake ? YIELD_NET_NS : 2 * awake;
    __atomic_store_n(&awake_ns, awake < AWAKE_MOST_NS ? awake : AWAKE_MOST_NS,
                     __ATOMIC_RELAXED);
}

static uint64_t sleep_most_ns(void)
{
    return xport_progress->wakes_sleepers() ? SLEEP_MOST_NS : SLEEP_NO_EVENT_NS;
}

struct core_wait_counts core_wait_counts_take(void)
{
    /* relaxed: the counts are independent. */
    return (struct core_wait_counts){
        .checks = __atomic_exchange_n(&counts.checks, 0, __ATOMIC_RELAXED),
        .yields = __atomic_exchange_n(&counts.yields, 0, __ATOMIC_RELAXED),
        .sleeps = __atomic_exchange_n(&counts.sleeps, 0, __ATOMIC_RELAXED),
        .fenced = __atomic_exchange_n(&counts.fenced, 0, __ATOMIC_RELAXED),
        .late = __atomic_exchange_n(&counts.late, 0, __ATOMIC_RELAXED)
    };
}

void core_wait_print_counts(void)
{
    struct core_wait_counts c = core_wait_counts_take();

    log_print("waits: %lu polls, %lu yields, %lu sleeps (%lu after a fence on "
              "all PEs); %lu updates woke no PE", (unsigned long)c.checks,
              (unsigned long)c.yields, (unsigned long)c.sleeps,
              (unsigned long)c.fenced, (unsigned long)c.late);
}

/* The remainder of a request changes, so its name is read repeatedly. */
static void publish_name(struct core_waiter *w)
{
    uint64_t before = w->named_ns ? w->named_ns : w->wait_began_ns;
    uint64_t now = clock_ns();
    char text[CORE_WAIT_NAME];

    if (now - before < NAME_HOLDS_NS || !core_report_shows(w))
        return;
    w->named_ns = now;
    if ((!w->info.named && w->info.what != CORE_FOR_QUEUE) ||
        !w->info.name(w->info.named, text, sizeof text))
        return;
    lock_acquire(&announce_lock);
    core_report_name(w, text);
    lock_release(&announce_lock);
}

static void sleep_bounded(struct core_waiter *w, uint64_t waited_ns)
{
    uint64_t ns = waited_ns / 8, events = 0;
    uint32_t was = w->seen;

    if (ns < SLEEP_LEAST_NS)
        ns = SLEEP_LEAST_NS;
    if (ns > sleep_most_ns())
        ns = sleep_most_ns();
    /* The caller reads the bytes once more after the fence. */
    if (unlikely(!w->fenced)) {
        w->fenced = fence_all(ns);
        if (w->fenced)
            return;
    }
    count(&counts.sleeps);
    if (w->fenced)
        count(&counts.fenced);
    if (unlikely(!core_report_has_wait())) {
        lock_acquire(&announce_lock);
        core_report_wait(w);
        lock_release(&announce_lock);
    }
    if (unlikely(w->info.name))
        publish_name(w);
    if (xport_net)
        events = xport_progress->set_asleep(true);
    w->timed_out = futex_wait(&core_ctl->wake_seq, was, ns, FUTEX_OF_NODE);
    w->seen = __atomic_load_n(&core_ctl->wake_seq, __ATOMIC_ACQUIRE);
    w->timed_out &= w->seen == was;
    /* Data from the network seldom comes alone, and a thread that is awake
     * sees it at once. */
    if (xport_net && xport_progress->set_asleep(false) != events) {
        lock_acquire(&announce_lock);
        withdraw(w);
        lock_release(&announce_lock);
        w->steps = 0;
        slept_for(clock_ns() - w->asleep_ns);
    }
}

static bool polls_network(const struct core_waiter *w)
{
    return xport_net && (!w->on_node || w->checks % CHECKS_PER_POLL == 0);
}

/* Polls the network and nothing else; false: the wait has more to do. */
static bool only_polled(struct core_waiter *w)
{
    if (w->on_node || w->announced || w->steps <= CORE_QUICK_SPINS ||
        (w->checks + 1) % CHECKS_PER_CLOCK == 0)
        return false;
    w->checks++;
    count(&counts.checks);
    xport_progress->poll();
    return true;
}

void core_wait_long(struct core_waiter *w)
{
    uint64_t now, waited;
    uint64_t spin = core_status.oversubscribed ? 0 : core_spin_ns();
    bool has_core = spin && spin == core_spin_most_ns();

    if (xport_net && has_core && only_polled(w))
        return;
    now = clock_ns();
    count(&counts.checks);
    if (w->steps <= CORE_QUICK_SPINS) {
        w->steps = CORE_QUICK_SPINS + 1;
        w->awake_since_ns = now;
    }
    if (!w->wait_began_ns)
        w->wait_began_ns = now;
    if (unlikely(now - w->wait_began_ns > diag_stall_ns) && !w->info.silent &&
        core_wait_stalled)
        core_wait_stalled(w, now);
    waited = now - w->awake_since_ns;
    if (xport_net && w->info.call)
        xport_call = w->info.call;
    w->checks++;
    if (polls_network(w) && xport_progress->poll())
        return;
    if (w->announced) {
        sleep_bounded(w, waited);
    } else if (core_status.oversubscribed && !xport_net) {
        if (w->steps++ < CORE_QUICK_SPINS + 1 + YIELDS_OVERSUBSCRIBED) {
            count(&counts.yields);
            sched_yield();
        } else {
            announce(w);
        }
    } else if (waited < spin) {
        if (xport_net && !w->on_node)
            return;
        for (int i = spin < core_spin_most_ns() ? SPINS_SHORT : SPINS_PER_CHECK;
             i; i--)
            atomics_pause();
    } else if (waited < spin + yield_ns()) {
        if (xport_net && has_core && w->checks % CHECKS_PER_YIELD)
            return;
        count(&counts.yields);
        core_spin_yield();
    } else {
        w->asleep_ns = now;
        announce(w);
    }
}

void core_arrived(const void *at, size_t len)
{
    struct core_ctl *ctl = __atomic_load_n(&core_ctl, __ATOMIC_RELAXED);
    int me = core_world.my_pe;
    uintptr_t addr;

    if (!ctl)
        return;                 /* the library is being closed */
    addr = at ? xport_ptr(me, at, len) : 0;
    if (addr)
        core_wake((struct core_target){ addr, core_peer_ctl(me) }, len);
    else if (__atomic_load_n(&ctl->wait_to, __ATOMIC_RELAXED) !=
             __atomic_load_n(&ctl->wait_from, __ATOMIC_RELAXED))
        core_wake_sleepers(ctl);
}

uint64_t core_wait_ns(const struct core_waiter *w)
{
    return clock_ns() - w->awake_since_ns;
}

void core_wake_sleepers(struct core_ctl *peer)
{
    /* release: the caller's store comes before the new count. */
    __atomic_fetch_add(&peer->wake_seq, 1, __ATOMIC_RELEASE);
    futex_wake_all(&peer->wake_seq, FUTEX_OF_NODE);
}
