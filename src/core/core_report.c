/* SPDX-License-Identifier: BSD-3-Clause */
/* SIGUSR2 makes a PE print one line on what it does, wherever it is: the
 * handler only reads words and calls write(), so it may interrupt anything.
 * oshrun and shmem_info ask a thread for the same line, which interrupts none.
 * What it reads may change meanwhile: the line is for people. */
#include "base/report_request.h"
#include "base/env.h"
#include "base/lock.h"
#include "base/thread.h"
#include "core/core_stall.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

/* The thread that fell asleep last, of those that still wait. */
static struct shown {
    const void *of;             /* atomic; its waiter, NULL: no thread does */
    struct core_waiter w;
    const char *call;
    int team_pes;               /* 0: no team */
    uint64_t entry;             /* which of its collective calls */
} shown;

const char *core_report_more;

void core_report_wait(struct core_waiter *w)
{
    const struct core_team *t;

    __atomic_store_n(&shown.of, NULL, __ATOMIC_RELAXED);
    if (w->call && !w->noted)
        core_activity_call(w->call);
    core_activity_waits(CORE_WAITS_SLEEP, true);
    w->noted = true;
    t = w->what == CORE_FOR_ALL ? core_activity_team : NULL;
    shown.w = *w;
    shown.call = w->call ? w->call : xport_call;
    shown.team_pes = t ? t->n_pes : 0;
    shown.entry = t ? t->entries : 0;
    __atomic_store_n(&shown.of, w, __ATOMIC_RELEASE);
}

void core_report_wait_end(const struct core_waiter *w, bool last)
{
    if (shown.of == w)
        __atomic_store_n(&shown.of, NULL, __ATOMIC_RELAXED);
    if (last)
        core_activity_waits(CORE_WAITS_SLEEP, false);
}

bool core_report_has_wait(void)
{
    return __atomic_load_n(&shown.of, __ATOMIC_RELAXED);
}

/* ---- words for waits ---- */

const char *core_cmp_sign(int cmp)
{
    switch (cmp) {
    case SHMEM_CMP_EQ: return "==";
    case SHMEM_CMP_NE: return "!=";
    case SHMEM_CMP_GT: return ">";
    case SHMEM_CMP_GE: return ">=";
    case SHMEM_CMP_LT: return "<";
    default: return "<=";
    }
}

const char *core_segment_name(const void *addr, uint64_t *off)
{
    int seg = heap_find(addr, 1);

    if (seg < 0)
        return NULL;
    *off = (uintptr_t)addr - (seg == HEAP_DATA ? heap_program
                                              : heap_segs[seg].base);
    return seg == HEAP_HOST ? "heap"
           : seg == HEAP_DATA ? "static data" : "device heap";
}

/* For a line alone: once the wait is over, the program may store its word as
 * it likes, and who tells of waits, another thread, hears of that later. */
__attribute__((noinline, no_sanitize("thread")))
uint64_t core_wait_value(const struct core_waiter *w)
{
    const void *p = w->addr;

    switch (w->bytes) {
    case 8:
        return __atomic_load_n((const uint64_t *)p, __ATOMIC_RELAXED);
    case 4:
        return w->is_signed
               ? (uint64_t)__atomic_load_n((const int32_t *)p, __ATOMIC_RELAXED)
               : __atomic_load_n((const uint32_t *)p, __ATOMIC_RELAXED);
    default:
        return w->is_signed
               ? (uint64_t)__atomic_load_n((const int16_t *)p, __ATOMIC_RELAXED)
               : __atomic_load_n((const uint16_t *)p, __ATOMIC_RELAXED);
    }
}

/* ---- a line without stdio ---- */

struct line {
    char at[512];
    size_t n;
};

static void add(struct line *l, const char *s)
{
    size_t len = strlen(s), room = sizeof l->at - 1 - l->n;

    if (len > room)
        len = room;
    memcpy(l->at + l->n, s, len);
    l->n += len;
}

static void add_number(struct line *l, uint64_t v, unsigned base)
{
    char digits[24];
    size_t i = sizeof digits - 1;

    digits[i] = '\0';
    do {
        digits[--i] = "0123456789abcdef"[v % base];
        v /= base;
    } while (v);
    add(l, digits + i);
}

static void add_value(struct line *l, uint64_t v, bool is_signed)
{
    if (is_signed && (int64_t)v < 0) {
        add(l, "-");
        v = -v;
    }
    add_number(l, v, 10);
}

static uint64_t age_ns(clockid_t clock, uint64_t since_ns)
{
    struct timespec t;
    uint64_t now;

    clock_gettime(clock, &t);
    now = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
    return now > since_ns ? now - since_ns : 0;
}

static void add_seconds(struct line *l, uint64_t ns)
{
    add_number(l, ns / 1000000000u, 10);
    add(l, " s");
}

static void add_bytes(struct line *l, uint64_t bytes)
{
    static const char *const units[] = { " bytes", " KiB", " MiB", " GiB" };
    unsigned u = 0;

    for (; u < 3 && bytes >= 10240; u++)
        bytes /= 1024;
    add_number(l, bytes, 10);
    add(l, units[u]);
}

static void add_place(struct line *l, const void *addr)
{
    uint64_t off = (uintptr_t)addr;
    const char *place = core_segment_name(addr, &off);

    add(l, place ? place : "address ");
    add(l, place ? "+0x" : "0x");
    add_number(l, off, 16);
}

/* ---- its parts ---- */

static void add_call(struct line *l, const char *call, uint64_t since_ns)
{
    add(l, "in ");
    add(l, call ? core_public_name(call) : "start-up");
    add(l, " for ");
    add_seconds(l, age_ns(CLOCK_MONOTONIC, since_ns));
}

static void add_value_wait(struct line *l, const struct core_waiter *w)
{
    uint64_t off;

    if (w->what == CORE_FOR_SET) {
        add_number(l, w->value, 10);
        add(l, " values at ");
    }
    add_place(l, w->addr);
    if (w->what == CORE_FOR_VALUE && !w->foreign &&
        core_segment_name(w->addr, &off)) {
        add(l, ", now ");
        add_value(l, core_wait_value(w), w->is_signed);
    }
    add(l, ", to be ");
    add(l, core_cmp_sign(w->cmp));
    add(l, " ");
    if (w->what == CORE_FOR_SET && !w->alike)
        add(l, "what is wanted");
    else
        add_value(l, w->what == CORE_FOR_SET ? w->each : w->value,
                  w->is_signed);
}

static void add_wait(struct line *l, const struct shown *s)
{
    add_call(l, s->call, s->w.since_ns);
    if (s->team_pes) {
        add(l, ", its collective call ");
        add_number(l, s->entry, 10);
        add(l, " with a team of ");
        add_number(l, (uint64_t)s->team_pes, 10);
        add(l, " PEs");
    } else if (s->w.what == CORE_FOR_STREAM || s->w.what == CORE_FOR_QUEUE) {
        add(l, s->w.value ? ", waiting for stream 0x"
                          : ", waiting for a stream");
        if (s->w.value)
            add_number(l, s->w.value, 16);
    } else if (s->w.what == CORE_FOR_LOCK) {
        add(l, ", waiting for the lock at ");
        add_place(l, s->w.addr);
        add(l, s->w.value == CORE_LOCK_BEHIND ? ", to hand it over"
                                              : ", behind PE ");
        if (s->w.value != CORE_LOCK_BEHIND)
            add_number(l, s->w.value, 10);
    } else if (s->w.what == CORE_FOR_VALUE || s->w.what == CORE_FOR_SET) {
        add(l, ", waiting for ");
        add_value_wait(l, &s->w);
    }
}

static void add_far_wait(struct line *l, const struct core_transport_wait *s)
{
    add_call(l, s->call, s->since_ns);
    if (s->pe < 0) {
        add(l, ", waiting for other nodes");
        return;
    }
    add(l, ", waiting for PE ");
    add_number(l, (uint64_t)s->pe, 10);
    add(l, s->host[0] ? " (host " : " (on another node");
    add(l, s->host);
    add(l, ")");
}

/* Of what other threads write: a line for people, and the thread sanitizer
 * would take a second for each word of it. */
#define RACY __attribute__((noinline, no_sanitize("thread")))

RACY static void add_last_call(struct line *l, const struct core_activity *d)
{
    char call[sizeof d->call + 1] = "";

    memcpy(call, d->call, sizeof d->call);
    add(l, "not waiting; last noted call: ");
    add(l, call[0] ? call : "none");
    add(l, " (");
    add_number(l, d->calls, 10);
    add(l, d->at_calls == d->calls ? " so far), " : " so far), at most ");
    add_seconds(l, age_ns(CLOCK_REALTIME, d->at_ns));
    add(l, " ago");
}

RACY static void add_heap(struct line *l, const char *which,
                     const struct heap_space *s)
{
    size_t used, total;

    heap_used(s, &used, &total);
    add(l, which);
    add_bytes(l, used);
    add(l, " of ");
    add_bytes(l, total);
    add(l, " in use");
}

RACY static void add_state(struct line *l, const struct core_ctl *ctl)
{
    const char *more = __atomic_load_n(&core_report_more, __ATOMIC_ACQUIRE);
    struct core_transport_wait far = core_transport_wait;
    struct shown s = shown;
    uint64_t n;

    if (far.of)
        add_far_wait(l, &far);
    if (far.of && s.of)
        add(l, "; another thread ");
    if (s.of)
        add_wait(l, &s);
    else if (!far.of)
        add_last_call(l, &ctl->doing);
    n = xport_net ? xport_net->in_flight() : 0;
    if (n) {
        add(l, "; ");
        add_number(l, n, 10);
        add(l, n == 1 ? " operation" : " operations");
        add(l, " to other nodes under way");
    }
    if (more)
        add(l, more);
    add_heap(l, "; heap: ", &heap_default);
    if (heap_device.arena)
        add_heap(l, "; device heap: ", &heap_device);
}

/* ---- the signal ---- */

static struct line head;        /* "sluice: PE 3 (host): ": made before */

static void print_state(int sig)
{
    const struct core_ctl *ctl = __atomic_load_n(&core_ctl, __ATOMIC_RELAXED);
    int saved = errno;
    struct line l = head;

    (void)sig;
    if (core_state() == CORE_FORKED)
        add(&l, "a forked child, which is no PE");
    else if (core_state() != CORE_UP || !ctl)
        add(&l, "not between shmem_init and shmem_finalize");
    else
        add_state(&l, ctl);
    l.at[l.n++] = '\n';
    while (write(STDERR_FILENO, l.at, l.n) < 0 && errno == EINTR)
        ;
    errno = saved;
}

/* ---- the thread that is asked, see base/report_request.h ---- */

static struct {
    pthread_t thread;
    bool runs, ends;            /* ends: atomic */
} answerer;

static bool handler_is_ours(void)
{
    struct sigaction now;

    return !sigaction(SIGUSR2, NULL, &now) && !(now.sa_flags & SA_SIGINFO) &&
           now.sa_handler == print_state;
}

/* A program that has its own handler by now gets the signal for it. */
static void *answer(void *unused)
{
    sigset_t asked;

    prctl(PR_SET_NAME, REPORT_THREAD, 0, 0, 0);
    sigemptyset(&asked);
    sigaddset(&asked, REPORT_SIGNAL);
    for (;;) {
        if (sigwaitinfo(&asked, NULL) < 0)
            continue;
        /* acquire: pairs with core_report_close(). */
        if (__atomic_load_n(&answerer.ends, __ATOMIC_ACQUIRE))
            return unused;
        if (handler_is_ours())
            print_state(SIGUSR2);
        else
            kill(getpid(), SIGUSR2);
    }
}

/* A handler of the program's stays, and one that it installs later replaces
 * this one.  Without the thread the signal itself still asks. */
void core_report_open(void)
{
    struct sigaction act = { .sa_handler = print_state,
                             .sa_flags = SA_RESTART | SA_ONSTACK }, old;

    head.n = 0;
    add(&head, "sluice: PE ");
    add_number(&head, (uint64_t)core_world.my_pe, 10);
    add(&head, " (");
    add(&head, log_host());
    add(&head, "): ");
    if (!env.STATE_SIGNAL || sigaction(SIGUSR2, NULL, &old))
        return;
    if (!handler_is_ours()) {
        if (old.sa_flags & SA_SIGINFO || old.sa_handler != SIG_DFL)
            return;
        sigemptyset(&act.sa_mask);
        sigaction(SIGUSR2, &act, NULL);
    }
}

void core_report_start_thread(void)
{
    if (!env.STATE_SIGNAL || !handler_is_ours())
        return;
    __atomic_store_n(&answerer.ends, false, __ATOMIC_RELAXED);
    answerer.runs = !thread_start(&answerer.thread, answer, NULL);
}

void core_report_close(void)
{
    if (!answerer.runs)
        return;
    answerer.runs = false;
    /* release: pairs with answer(). */
    __atomic_store_n(&answerer.ends, true, __ATOMIC_RELEASE);
    pthread_kill(answerer.thread, REPORT_SIGNAL);
    pthread_join(answerer.thread, NULL);
}
