/* SPDX-License-Identifier: BSD-3-Clause */
/* The loop of the progress thread, and how it sleeps.  The layers ofi, stream
 * and whatever else has pollers call it; it knows none of them, and waits for
 * nothing but its own sleep.
 *
 * The thread sleeps on an event count.  Where a poller has descriptors, it
 * sleeps in ppoll(), to which an eventfd belongs that progress_wake() writes
 * to.  Pollers stand in slots: a slot is filled by progress_register() and
 * emptied by the thread, so that the loop takes no lock. */
#include "progress/progress.h"
#include "base/atomics.h"
#include "base/clock.h"
#include "base/env.h"
#include "base/eventcount.h"
#include "base/fd.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/thread.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>

/* While other pollers keep the thread awake, descriptors are polled in such
 * intervals. */
#define FD_EVERY_NS ((uint64_t)200000)
#define FOREVER UINT64_MAX
enum { TIMER_SLACK_NS = 1000 };

static struct {
    /* Of registration, which starts and ends the thread. */
    struct base_lock lock;
    unsigned pollers MEMBER_GUARDED_BY(lock);
    pthread_t thread;
    int fd;                     /* ends a sleep in ppoll() */
    struct eventcount calls, departures;
    bool in_poll;               /* atomic: the thread sleeps on fd */
    bool stop;                  /* atomic */
    struct progress_poller *slots[PROGRESS_POLLERS];    /* atomic */
    uint64_t sleeps;            /* atomic, the thread's */
    uint64_t fds_at_ns;         /* the thread's: descriptors were examined */
} progress = { .lock = LOCK_INIT, .fd = -1 };

static struct progress_poller *slot(int i)
{
    /* acquire: the poller was filled in before it was registered. */
    return __atomic_load_n(&progress.slots[i], __ATOMIC_ACQUIRE);
}

/* ---- wake-ups ---- */

static void wake_thread(void)
{
    uint64_t one = 1;

    eventcount_signal(&progress.calls);
    /* seq_cst: pairs with sleep_on_fds(), which announces before it looks. */
    if (__atomic_load_n(&progress.in_poll, __ATOMIC_SEQ_CST) &&
        write(progress.fd, &one, sizeof one) < 0 && errno != EAGAIN)
        log_info(LOG_PROGRESS, "waking the progress thread: %m");
}

void progress_wake(struct progress_poller *p)
{
    /* release: pairs with take_turns(). */
    __atomic_store_n(&p->due, true, __ATOMIC_RELEASE);
    wake_thread();
}

uint64_t progress_sleeps(void)
{
    return __atomic_load_n(&progress.sleeps, __ATOMIC_RELAXED);
}

/* ---- sleeping ---- */

struct fd_set_of_sleep {
    struct pollfd p[1 + PROGRESS_POLLERS * PROGRESS_FDS];
    struct progress_poller *of[1 + PROGRESS_POLLERS * PROGRESS_FDS];
    nfds_t n;
};

/* Adds the poller's descriptors.  False: it is due at once. */
static bool add_fds(struct progress_poller *p, struct fd_set_of_sleep *s)
{
    int fds[PROGRESS_FDS], n = p->wait_fds(fds);

    if (n < 0) {
        p->event = true;
        return false;
    }
    for (int i = 0; i < n; i++, s->n++) {
        s->p[s->n] = (struct pollfd){ .fd = fds[i], .events = POLLIN };
        s->of[s->n] = p;
    }
    return true;
}

/* All descriptors, and the eventfd first.  False: a poller is due at once. */
static bool collect_fds(struct fd_set_of_sleep *s)
{
    bool quiet = true;

    s->p[0] = (struct pollfd){ .fd = progress.fd, .events = POLLIN };
    s->n = 1;
    for (int i = 0; i < PROGRESS_POLLERS; i++) {
        struct progress_poller *p = slot(i);

        if (p && p->uses_fds && !add_fds(p, s))
            quiet = false;
    }
    return quiet;
}

static void sleep_on_fds(uint32_t seen, uint64_t ns)
{
    struct timespec t = { (time_t)(ns / 1000000000u),
                          (long)(ns % 1000000000u) };
    struct fd_set_of_sleep s;
    uint64_t calls;

    if (ns)
        __atomic_store_n(&progress.in_poll, true, __ATOMIC_SEQ_CST);
    /* seq_cst: a caller that this look misses finds in_poll set. */
    if (ns && eventcount_now(&progress.calls) != seen) {
        __atomic_store_n(&progress.in_poll, false, __ATOMIC_RELAXED);
        return;
    }
    if (collect_fds(&s) &&
        ppoll(s.p, s.n, ns == FOREVER ? NULL : &t, NULL) > 0) {
        if (s.p[0].revents && read(progress.fd, &calls, sizeof calls) < 0)
            log_info(LOG_PROGRESS, "a call of the progress thread: %m");
        for (nfds_t i = 1; i < s.n; i++)
            s.of[i]->event |= s.p[i].revents != 0;
    }
    __atomic_store_n(&progress.in_poll, false, __ATOMIC_RELAXED);
    progress.fds_at_ns = clock_ns();
}

static bool uses_fds(void)
{
    for (int i = 0; i < PROGRESS_POLLERS; i++) {
        struct progress_poller *p = slot(i);

        if (p && p->uses_fds)
            return true;
    }
    return false;
}

/* Until `until`, or a call after `seen` was read. */
static void sleep_until(uint32_t seen, uint64_t until)
{
    uint64_t now = clock_ns();
    uint64_t ns = until == FOREVER ? FOREVER : until > now ? until - now : 0;
    bool fds = uses_fds();

    /* A call may have come each time: then no sleep examines them. */
    if (!ns || eventcount_now(&progress.calls) != seen) {
        if (fds && now - progress.fds_at_ns > FD_EVERY_NS)
            sleep_on_fds(seen, 0);
        return;
    }
    __atomic_store_n(&progress.sleeps, progress.sleeps + 1, __ATOMIC_RELAXED);
    if (fds)
        sleep_on_fds(seen, ns);
    else
        eventcount_wait(&progress.calls, seen, ns == FOREVER ? 0 : ns);
}

/* ---- turns ---- */

static void take_turn(struct progress_poller *p, uint64_t now)
{
    struct progress_turn t = { .now_ns = now, .event = p->event };
    uint64_t ns;

    p->event = false;
    p->uses_fds = false;
    ns = p->turn(p, &t);
    p->at_ns = ns == PROGRESS_AGAIN ? 0
               : ns == PROGRESS_WHEN_WOKEN ? FOREVER : clock_ns() + ns;
}

/* The poller of slot i, unless it leaves: then the slot is empty. */
static struct progress_poller *poller_of(int i)
{
    struct progress_poller *p = slot(i);

    if (p && __atomic_load_n(&p->leaves, __ATOMIC_ACQUIRE)) {
        __atomic_store_n(&progress.slots[i], NULL, __ATOMIC_RELAXED);
        /* release: the caller of progress_unregister() may free it. */
        __atomic_store_n(&p->left, true, __ATOMIC_RELEASE);
        eventcount_signal(&progress.departures);
        return NULL;
    }
    return p;
}

/* Turns of those that are due.  Gives the time of the next one. */
static uint64_t take_turns(void)
{
    uint64_t next = FOREVER, now = clock_ns();

    for (int i = 0; i < PROGRESS_POLLERS; i++) {
        struct progress_poller *p = poller_of(i);

        if (!p)
            continue;
        /* acquire: pairs with progress_wake(), also of a second caller that
         * comes before the exchange. */
        if ((__atomic_load_n(&p->due, __ATOMIC_RELAXED) &&
             __atomic_exchange_n(&p->due, false, __ATOMIC_ACQUIRE)) ||
            p->event || p->at_ns <= now)
            take_turn(p, now);
        if (p->at_ns < next)
            next = p->at_ns;
    }
    return next;
}

static __thread bool here;

bool progress_is_here(void)
{
    return here;
}

static void *run(void *arg)
{
    uint32_t seen;
    uint64_t next;

    here = true;
    prctl(PR_SET_NAME, "sluice-progress", 0, 0, 0);
    prctl(PR_SET_TIMERSLACK, TIMER_SLACK_NS, 0, 0, 0);
    for (;;) {
        /* Before the turns: a request after this ends the sleep. */
        seen = eventcount_now(&progress.calls);
        if (__atomic_load_n(&progress.stop, __ATOMIC_ACQUIRE))
            return arg;
        next = take_turns();
        sleep_until(seen, next);
    }
}

/* ---- registration ---- */

static int start_thread(void) REQUIRES(progress.lock)
{
    int rc;

    progress.fd = fd_keep(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (progress.fd < 0)
        return -errno;
    progress.stop = false;
    progress.sleeps = 0;
    rc = thread_start(&progress.thread, run, NULL);
    if (rc) {
        close(progress.fd);
        progress.fd = -1;
    }
    return rc;
}

static void end_thread(void) REQUIRES(progress.lock)
{
    /* release: pairs with run(). */
    __atomic_store_n(&progress.stop, true, __ATOMIC_RELEASE);
    wake_thread();
    pthread_join(progress.thread, NULL);
    close(progress.fd);
    progress.fd = -1;
    if (env.STATS.on)
        log_print("progress thread: %lu sleeps",
                  (unsigned long)progress.sleeps);
}

int progress_register(struct progress_poller *p)
{
    int rc = 0, i = 0;

    /* relaxed: one that was registered before may be woken at any time. */
    __atomic_store_n(&p->due, true, __ATOMIC_RELAXED);
    __atomic_store_n(&p->leaves, false, __ATOMIC_RELAXED);
    __atomic_store_n(&p->left, false, __ATOMIC_RELAXED);
    p->event = p->uses_fds = false;
    p->at_ns = 0;
    lock_acquire(&progress.lock);
    while (i < PROGRESS_POLLERS && slot(i))
        i++;
    if (i == PROGRESS_POLLERS) {
        rc = -ENOSPC;
    } else {
        __atomic_store_n(&progress.slots[i], p, __ATOMIC_RELEASE);
        rc = progress.pollers ? 0 : start_thread();
    }
    if (!rc) {
        progress.pollers++;
        wake_thread();
    } else if (i < PROGRESS_POLLERS) {
        __atomic_store_n(&progress.slots[i], NULL, __ATOMIC_RELAXED);
    }
    lock_release(&progress.lock);
    return rc;
}

void progress_unregister(struct progress_poller *p)
{
    uint32_t seen;

    lock_acquire(&progress.lock);
    __atomic_store_n(&p->leaves, true, __ATOMIC_RELEASE);
    wake_thread();
    for (;;) {
        seen = eventcount_now(&progress.departures);
        if (__atomic_load_n(&p->left, __ATOMIC_ACQUIRE))
            break;
        eventcount_wait(&progress.departures, seen, 0);
    }
    if (--progress.pollers == 0)
        end_thread();
    lock_release(&progress.lock);
}

/* ---- back-off of pollers ---- */

#define SPIN_NS ((uint64_t)2000)
#define YIELD_NS ((uint64_t)100000)
#define SLEEP_MIN_NS ((uint64_t)20000)
#define SLEEP_MAX_NS ((uint64_t)1000000)
enum { PAUSES = 16 };

uint64_t progress_back_off(uint64_t waited_ns, bool oversubscribed, bool spins)
{
    uint64_t ns = waited_ns / 8;

    if ((waited_ns < SPIN_NS && !oversubscribed) || spins) {
        for (int i = 0; i < PAUSES; i++)
            atomics_pause();
        return PROGRESS_AGAIN;
    }
    if (waited_ns < YIELD_NS) {
        sched_yield();
        return PROGRESS_AGAIN;
    }
    return ns < SLEEP_MIN_NS   ? SLEEP_MIN_NS
           : ns > SLEEP_MAX_NS ? SLEEP_MAX_NS
                               : ns;
}
