/* SPDX-License-Identifier: BSD-3-Clause */
/* SIGUSR2 makes a PE print one line on what it does, wherever it is: the
 * handler only reads words and calls write(), so it may interrupt anything.
 * What it reads may change meanwhile: the line is for people. */
#include "base/env.h"
#include "base/lock.h"
#include "core/core_watch.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The thread that fell asleep last. */
static struct shown {
    bool on;                    /* atomic */
    struct core_waiter w;
    const char *call;
    int team_pes;               /* 0: no team */
    uint64_t entry;             /* which of its collective calls */
} shown;

void core_watch_show(struct core_waiter *w)
{
    const struct core_team *t;

    __atomic_store_n(&shown.on, false, __ATOMIC_RELAXED);
    __atomic_store_n(&core_ctl->doing.waits, w != NULL, __ATOMIC_RELAXED);
    if (!w)
        return;
    if (w->call && !w->noted)
        core_watch_call(w->call);
    w->noted = true;
    t = w->what == CORE_FOR_ALL ? core_watched.team : NULL;
    shown.w = *w;
    shown.call = w->call ? w->call : core_watched.call;
    shown.team_pes = t ? t->n_pes : 0;
    shown.entry = t ? t->entries : 0;
    __atomic_store_n(&shown.on, true, __ATOMIC_RELEASE);
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

static void add_seconds(struct line *l, clockid_t clock, uint64_t since_ns)
{
    struct timespec t;
    uint64_t now;

    clock_gettime(clock, &t);
    now = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
    add_number(l, now > since_ns ? (now - since_ns) / 1000000000u : 0, 10);
    add(l, " s");
}

/* ---- its parts ---- */

static void add_wait(struct line *l, const struct shown *s)
{
    uint64_t off = 0;
    const char *place = core_watch_place(s->w.addr, &off);

    add(l, "waits in ");
    add(l, s->call ? core_public_name(s->call) : "start-up");
    add(l, " for ");
    add_seconds(l, CLOCK_MONOTONIC, s->w.since_ns);
    if (s->team_pes) {
        add(l, ", collective call ");
        add_number(l, s->entry, 10);
        add(l, " of a team of ");
        add_number(l, (uint64_t)s->team_pes, 10);
    }
    add(l, ", at ");
    add(l, place ? place : "address ");
    add(l, place ? "+0x" : "0x");
    add_number(l, place ? off : (uintptr_t)s->w.addr, 16);
    if (s->w.what == CORE_FOR_VALUE && place) {
        add(l, ": ");
        add_value(l, core_watch_value(&s->w), s->w.is_signed);
        add(l, ", wanted ");
        add(l, core_watch_sign(s->w.cmp));
        add(l, " ");
        add_value(l, s->w.value, s->w.is_signed);
    } else if (s->w.what == CORE_FOR_LOCK &&
               s->w.value != CORE_LOCK_BEHIND) {
        add(l, ", a lock, behind PE ");
        add_number(l, s->w.value, 10);
    }
}

static void add_last_call(struct line *l, const struct core_doing *d)
{
    char call[sizeof d->call + 1] = "";

    memcpy(call, d->call, sizeof d->call);
    add(l, "sleeps in no wait; last call ");
    add(l, call[0] ? call : "of none");
    add(l, " (");
    add_number(l, d->calls, 10);
    add(l, " noted) ");
    add_seconds(l, CLOCK_REALTIME, d->at_ns);
    add(l, " ago");
}

static void add_state(struct line *l, const struct core_ctl *ctl)
{
    struct shown s;
    size_t used, total;

    s = shown;
    if (s.on)
        add_wait(l, &s);
    else
        add_last_call(l, &ctl->doing);
    if (xport_far) {
        add(l, "; far operations in flight: ");
        add_number(l, xport_far->in_flight(), 10);
    }
    heap_used(&used, &total);
    add(l, "; heap: ");
    add_number(l, used, 10);
    add(l, " of ");
    add_number(l, total, 10);
    add(l, " bytes in use");
}

/* ---- the signal ---- */

static struct line head;        /* "[3 host core] ": made before */

static void print_state(int sig)
{
    const struct core_ctl *ctl = __atomic_load_n(&core_ctl, __ATOMIC_RELAXED);
    int saved = errno;
    struct line l = head;

    (void)sig;
    if (core_status.state == CORE_FORKED)
        add(&l, "a forked child, which is no PE");
    else if (core_status.state != CORE_UP || !ctl)
        add(&l, "not between shmem_init and shmem_finalize");
    else
        add_state(&l, ctl);
    l.at[l.n++] = '\n';
    while (write(STDERR_FILENO, l.at, l.n) < 0 && errno == EINTR)
        ;
    errno = saved;
}

/* A handler of the program's stays, and one that it installs later replaces
 * this one. */
void core_state_open(void)
{
    struct sigaction act = { .sa_handler = print_state,
                             .sa_flags = SA_RESTART | SA_ONSTACK }, old;

    head.n = 0;
    add(&head, "[");
    add_number(&head, (uint64_t)core_world.my_pe, 10);
    add(&head, " ");
    add(&head, log_host());
    add(&head, " core] state: ");
    if (!env.STATE_SIGNAL || sigaction(SIGUSR2, NULL, &old) ||
        old.sa_flags & SA_SIGINFO || old.sa_handler != SIG_DFL)
        return;
    sigemptyset(&act.sa_mask);
    sigaction(SIGUSR2, &act, NULL);
}
