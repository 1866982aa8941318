/* SPDX-License-Identifier: BSD-3-Clause */
/* The network's poller on the progress thread: advances operations and answers
 * the messages of peers while the program computes.
 *
 * The poller backs off from a program that polls by itself.  Each thread that
 * polls the completion queues raises ofi_progress_polls; as long as that number
 * changes, the poller backs off for a millisecond at a time, or for longer and
 * longer where puts, gets and atomics are the NIC's.  Once no thread has polled
 * for that long, or the program goes to sleep (ofi_progress_program_sleeps), it
 * polls the queues, and between two polls the progress thread sleeps on the
 * file descriptor of the endpoint that peers address.  Where there is none, or
 * operations of this PE are under way, it sleeps for a time that grows up to a
 * millisecond.
 *
 * A turn waits for nothing; it says how long the thread may sleep. */
#include "ofi/net/ofi_rail.h"
#include "ofi/net/ofi_sockets.h"
#include "base/log.h"
#include "progress/progress.h"

#include <errno.h>

/* Where the NIC executes the peers' operations on this PE's memory, the
 * back-off beside a program that polls grows to BACK_OFF_MOST_MS, and ends with
 * a message; or to BACK_OFF_NO_EVENT_MS, where no descriptor announces one. */
enum { BACK_OFF_MOST_MS = 128, BACK_OFF_NO_EVENT_MS = 8 };
enum { BACK_OFF_MS = 1, SLEEP_LEAST_US = 50, SLEEP_MOST_US = 1000,
       POLL_MS = 200, SOCKETS_MS = 20 };
#define MS ((uint64_t)1000000)
#define US ((uint64_t)1000)

/* The sleep before a turn. */
enum mode {
    STARTS,                     /* none */
    BACKS_OFF,                  /* beside a program that polls */
    BACKS_OFF_ON_FDS,           /* the same, until a message comes */
    POLLS,                      /* for a time, or not at all */
    POLLS_ON_FDS,               /* until something comes */
    YIELDS_TO_PROGRAM           /* after an event that woke it */
};

#define FAULT_NS ((uint64_t)100000000)

static uint64_t net_turn(struct progress_poller *p,
                         const struct progress_turn *t);
static int net_fds(int fds[PROGRESS_FDS]);

uint64_t ofi_progress_polls;
static struct {
    struct progress_poller poller;
    bool registered;
    int program_asleep;         /* atomic: threads of the program that sleep */
    uint32_t program_sleeps;    /* atomic: how often one fell asleep */
    uint64_t events;            /* atomic: turns that brought something */
    /* atomic: the thread may sleep long: what ends the sleep */
    bool backs_off;             /* a thread of the program that goes to sleep */
    bool on_fds;                /* ofi_progress_request() */
    /* The progress thread's. */
    enum mode mode;
    long back_off_ms, next_back_off_ms, sleep_us;
    uint64_t until_ns;          /* end of the sleep, if nothing ends it */
    uint64_t polls_seen;
    uint64_t turned_ns;         /* with FAULT_OFI_TURN: the last turn */
    bool advanced;
} net = { .poller = { .turn = net_turn, .wait_fds = net_fds } };

static bool program_is_asleep(void)
{
    /* seq_cst: pairs with ofi_progress_program_sleeps(). */
    return __atomic_load_n(&net.program_asleep, __ATOMIC_SEQ_CST) > 0;
}

static uint64_t polls(void)
{
    return __atomic_load_n(&ofi_progress_polls, __ATOMIC_RELAXED);
}

/* Is something under way whose end no descriptor announces? */
static bool is_busy(void)
{
    int n = __atomic_load_n(&ofi.n_eps, __ATOMIC_ACQUIRE);

    /* A NIC needs no poll for what it does itself. */
    for (int i = 1; i < n && !ofi.offloads; i++)
        if (__atomic_load_n(&ofi.eps[i]->in_flight, __ATOMIC_RELAXED))
            return true;
    /* seq_cst: pairs with ofi_progress_request(), before which its callers
     * count. */
    for (const int *const *c = ofi_work_counts; *c; c++)
        if (__atomic_load_n(*c, __ATOMIC_SEQ_CST))
            return true;
    return ofi_rails_in_flight() != 0;
}

/* ---- sleeping ---- */

/* Descriptors announce what arrives from now on: -1 if something is there. */
static int net_fds(int fds[PROGRESS_FDS])
{
    struct fid *fid = &ofi.eps[0]->rx->fid;
    int rails;

    fds[0] = ofi.eps[0]->fd;
    if (ofi_sockets_watched()) {        /* of rails, too */
        ofi_sockets_update();
        return 1;
    }
    rails = ofi_rails_wait_fds(fds + 1);
    return rails < 0 || fi_trywait(ofi.fabric, &fid, 1) ? -1 : 1 + rails;
}

/* On the descriptors, for so long.  False: something is under way, which
 * wants polls. */
static bool sleep_on_fds(uint64_t now, long ms, enum mode mode)
{
    /* seq_cst: pairs with ofi_progress_request(), which counts before it
     * looks. */
    __atomic_store_n(&net.on_fds, true, __ATOMIC_SEQ_CST);
    if (is_busy()) {
        __atomic_store_n(&net.on_fds, false, __ATOMIC_RELAXED);
        return false;
    }
    net.poller.uses_fds = true;
    net.until_ns = now + (uint64_t)ms * MS;
    net.mode = mode;
    return true;
}

static long most_back_off(void)
{
    return !ofi.offloads || is_busy() ? BACK_OFF_MS
           : ofi.wait_fd ? BACK_OFF_MOST_MS : BACK_OFF_NO_EVENT_MS;
}

static uint64_t start_polling(void)
{
    net.polls_seen = polls();
    net.sleep_us = SLEEP_LEAST_US;
    net.mode = POLLS;
    return PROGRESS_AGAIN;
}

static uint64_t start_back_off(uint64_t now)
{
    long most = most_back_off(), ms = net.next_back_off_ms;

    ms = ms < most ? ms : most;
    net.polls_seen = polls();
    net.next_back_off_ms = BACK_OFF_MS;
    net.back_off_ms = ms;
    if (ms > BACK_OFF_MS && ofi.wait_fd)
        return sleep_on_fds(now, ms, BACKS_OFF_ON_FDS) ? (uint64_t)ms * MS
                                                       : start_polling();
    /* seq_cst: a thread that goes to sleep after this finds that it has to
     * wake the progress thread; one that did before is seen here. */
    __atomic_store_n(&net.backs_off, true, __ATOMIC_SEQ_CST);
    if (program_is_asleep() || (ms > BACK_OFF_MS && is_busy())) {
        __atomic_store_n(&net.backs_off, false, __ATOMIC_RELAXED);
        return start_polling();
    }
    net.mode = BACKS_OFF;
    return (uint64_t)ms * MS;
}

/* The program polls by itself as long as the number of polls changes. */
static uint64_t end_back_off(uint64_t now, bool event)
{
    if (event || program_is_asleep() || (ofi.offloads && is_busy()) ||
        polls() == net.polls_seen)
        return start_polling();
    net.next_back_off_ms = 2 * net.back_off_ms;
    return start_back_off(now);
}

/* ---- polling ---- */

static uint64_t after_poll(uint64_t now)
{
    uint64_t n = polls();
    long ms;

    /* One poll was the turn's own; the program may also have polled while the
     * progress thread slept. */
    if (n != net.polls_seen + 1 && !program_is_asleep())
        return start_back_off(now);
    net.polls_seen = n;
    net.mode = POLLS;
    if (net.advanced) {
        net.sleep_us = SLEEP_LEAST_US;
        return PROGRESS_AGAIN;
    }
    ms = ofi_sockets_watched() ? SOCKETS_MS : POLL_MS;
    if (ofi.wait_fd && !is_busy() && sleep_on_fds(now, ms, POLLS_ON_FDS))
        return (uint64_t)ms * MS;
    n = (uint64_t)net.sleep_us * US;
    net.sleep_us = 2 * net.sleep_us > SLEEP_MOST_US ? SLEEP_MOST_US
                                                    : 2 * net.sleep_us;
    return n;
}

/* Remote puts and gets leave no entry in the queue, so after any event the
 * threads that wait for memory check it. */
static uint64_t poll_and_wake(uint64_t now, bool event)
{
    uint32_t sleeps;

    net.advanced = ofi_progress();
    /* Before the program is woken: see below. */
    sleeps = __atomic_load_n(&net.program_sleeps, __ATOMIC_SEQ_CST);
    if (!net.advanced && !event)
        return after_poll(now);
    __atomic_fetch_add(&net.events, 1, __ATOMIC_RELAXED);
    xport_data_arrived(NULL, 0);
    if (!program_is_asleep())
        return after_poll(now);
    /* A thread that was woken polls by itself, perhaps on this very core,
     * unless it has gone to sleep again. */
    __atomic_store_n(&net.backs_off, true, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&net.program_sleeps, __ATOMIC_SEQ_CST) == sleeps) {
        net.mode = YIELDS_TO_PROGRAM;
        return BACK_OFF_MS * MS;
    }
    __atomic_store_n(&net.backs_off, false, __ATOMIC_RELAXED);
    return after_poll(now);
}

static uint64_t net_turn(struct progress_poller *p,
                         const struct progress_turn *t)
{
    /* A message, or a thread that has something under way, ended the sleep. */
    bool event = t->event || t->now_ns < net.until_ns;
    const char *call = xport_call;
    uint64_t ns = PROGRESS_AGAIN;

    (void)p;
    if (fault_hit(FAULT_OFI_TURN)) {
        if (t->now_ns - net.turned_ns < FAULT_NS)
            return FAULT_NS - (t->now_ns - net.turned_ns);
        net.turned_ns = t->now_ns;
    }
    if (t->event)
        ofi_sockets_drain();
    xport_call = NULL;          /* errors of the turn are of no call */
    __atomic_store_n(&net.backs_off, false, __ATOMIC_RELAXED);
    __atomic_store_n(&net.on_fds, false, __ATOMIC_RELAXED);
    switch (net.mode) {
    case STARTS:
        ns = start_back_off(t->now_ns);
        break;
    case BACKS_OFF:
        ns = end_back_off(t->now_ns, false);
        break;
    case BACKS_OFF_ON_FDS:
        ns = end_back_off(t->now_ns, event);
        break;
    case POLLS:
        ns = poll_and_wake(t->now_ns, false);
        break;
    case POLLS_ON_FDS:
        ns = poll_and_wake(t->now_ns, event);
        break;
    case YIELDS_TO_PROGRAM:
        ns = after_poll(t->now_ns);
        break;
    }
    xport_call = call;
    return ns;
}

/* ---- other threads ---- */

void ofi_progress_request(void)
{
    if (__atomic_load_n(&net.on_fds, __ATOMIC_SEQ_CST) ||
        (ofi.offloads && __atomic_load_n(&net.backs_off, __ATOMIC_SEQ_CST)))
        progress_wake(&net.poller);
}

uint64_t ofi_progress_program_sleeps(bool asleep)
{
    if (!asleep) {
        __atomic_fetch_sub(&net.program_asleep, 1, __ATOMIC_RELAXED);
    } else {
        __atomic_fetch_add(&net.program_asleep, 1, __ATOMIC_SEQ_CST);
        __atomic_fetch_add(&net.program_sleeps, 1, __ATOMIC_SEQ_CST);
        if (__atomic_load_n(&net.backs_off, __ATOMIC_SEQ_CST))
            progress_wake(&net.poller);
    }
    return __atomic_load_n(&net.events, __ATOMIC_RELAXED);
}

/* ---- opening ---- */

int ofi_progress_open(void)
{
    int rc;

    net.program_asleep = 0;
    net.backs_off = net.on_fds = false;
    net.mode = STARTS;
    net.next_back_off_ms = BACK_OFF_MS;
    rc = progress_register(&net.poller);
    net.registered = !rc;
    errno = -rc;
    if (rc)
        log_error(ERR_LIMIT, "progress needs a thread: pthread_create: %m; "
                  "raise the limit of processes of this user (ulimit -u)");
    return rc;
}

void ofi_progress_close(void)
{
    if (net.registered)
        progress_unregister(&net.poller);
    net.registered = false;
}
