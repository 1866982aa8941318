/* SPDX-License-Identifier: BSD-3-Clause */
/* Core's part of the hang report.  diag calls the describe functions, in a
 * signal handler or on the diag thread; core_wait.c publishes the wait that is
 * to be described.  The describe functions take no lock and allocate nothing,
 * and what they read may change meanwhile. */
#include "core/core_report.h"
#include "core/core_describe.h"
#include "core/core_lock.h"
#include "diag/diag.h"

#include <string.h>
#include <time.h>

/* The thread that fell asleep last, of those that still wait. */
static struct published {
    const void *of;             /* atomic: its waiter; NULL: no thread waits */
    struct core_waiter w;       /* a copy: the waiter's memory is reused */
    const char *call;
    int team_pes;               /* 0: no team */
    uint64_t entry;             /* the number of the team's collective call */
} published;

void core_report_wait(struct core_waiter *w)
{
    const struct core_team *t;

    __atomic_store_n(&published.of, NULL, __ATOMIC_RELAXED);
    if (w->info.call && !w->noted)
        core_activity_call(w->info.call);
    core_activity_waits(CORE_WAITS_SLEEP, true);
    w->noted = true;
    w->named_ns = 0;            /* what is published anew has no name yet */
    t = w->info.what == CORE_FOR_ALL ? core_activity_team : NULL;
    published.w = *w;
    published.call = w->info.call ? w->info.call : xport_call;
    published.team_pes = t ? t->n_pes : 0;
    published.entry = t ? t->entries : 0;
    /* release: a handler that finds `of` finds the rest. */
    __atomic_store_n(&published.of, w, __ATOMIC_RELEASE);
}

void core_report_wait_end(const struct core_waiter *w, bool last)
{
    if (published.of == w)
        __atomic_store_n(&published.of, NULL, __ATOMIC_RELAXED);
    if (last)
        core_activity_waits(CORE_WAITS_SLEEP, false);
}

void core_report_name(const struct core_waiter *w, const char *text)
{
    static char texts[2][CORE_WAIT_NAME];
    static unsigned turn;

    if (!core_report_shows(w))
        return;
    turn = !turn;               /* a handler may be reading the other one */
    memcpy(texts[turn], text, sizeof texts[0]);
    __atomic_store_n(&published.w.info.said, texts[turn], __ATOMIC_RELEASE);
}

bool core_report_has_wait(void)
{
    return __atomic_load_n(&published.of, __ATOMIC_RELAXED);
}

bool core_report_shows(const struct core_waiter *w)
{
    return __atomic_load_n(&published.of, __ATOMIC_RELAXED) == w;
}

/* ---- waits ---- */

static void add_call(struct line *l, const char *call, uint64_t since_ns)
{
    line_addf(l, "in %s for %llu s", call ? core_public_name(call) : "start-up",
              line_seconds(core_age_ns(CLOCK_MONOTONIC, since_ns)));
}

static void add_wait(struct line *l, const struct published *p)
{
    const struct core_waiter *w = &p->w;

    add_call(l, p->call, w->since_ns);
    if (p->team_pes) {
        line_addf(l, ", its collective call %llu with a team of %d PEs",
                  (unsigned long long)p->entry, p->team_pes);
        return;
    }
    if (w->info.what == CORE_FOR_ALL || w->info.what == CORE_FOR_OUTSTANDING)
        return;
    line_add(l, ", waiting for ");
    core_describe_wait(l, w, true);
    if (w->info.what == CORE_FOR_LOCK && w->info.value == CORE_LOCK_BEHIND)
        line_add(l, ", to hand it over");
    else if (w->info.what == CORE_FOR_LOCK)
        line_addf(l, ", behind PE %llu", (unsigned long long)w->info.value);
}

static void add_transport_wait(struct line *l,
                               const struct core_transport_wait *t)
{
    add_call(l, t->call, t->since_ns);
    if (t->pe < 0)
        line_add(l, ", waiting for other nodes");
    else if (t->host[0])
        line_addf(l, ", waiting for PE %d (host %s)", t->pe, t->host);
    else
        line_addf(l, ", waiting for PE %d (on another node)", t->pe);
}

CORE_RACY static void add_last_call(struct line *l)
{
    const struct core_ctl *ctl = __atomic_load_n(&core_ctl, __ATOMIC_RELAXED);
    char call[sizeof ctl->activity.call + 1] = "";
    const struct core_activity *a;

    if (!ctl) {
        line_add(l, "in shmem_init or shmem_finalize, not waiting");
        return;
    }
    a = &ctl->activity;
    memcpy(call, a->call, sizeof a->call);
    line_addf(l, "not waiting; last noted call: %s (%u so far), %s%llu s ago",
              call[0] ? call : "none", a->calls,
              a->at_calls == a->calls ? "" : "at most ",
              line_seconds(core_age_ns(CLOCK_REALTIME, a->at_ns)));
}

CORE_RACY static void describe_waits(struct line *out)
{
    struct core_transport_wait t = core_transport_wait;
    struct published p = published;

    if (core_fence_describe(out))
        return;
    if (t.of)
        add_transport_wait(out, &t);
    if (t.of && p.of)
        line_add(out, "; another thread ");
    if (p.of)
        add_wait(out, &p);
    else if (!t.of)
        add_last_call(out);
}

/* ---- operations and memory ---- */

CORE_RACY static void describe_operations(struct line *out)
{
    uint64_t n = xport_net ? xport_progress->in_flight() : 0;

    if (n)
        line_addf(out, "; %llu operation%s to other nodes under way",
                  (unsigned long long)n, n == 1 ? "" : "s");
}

CORE_RACY static void add_heap(struct line *l, const char *which,
                               const struct heap_space *s)
{
    size_t used, total;

    heap_used(s, &used, &total);
    line_add(l, which);
    line_add_bytes(l, used);
    line_add(l, " of ");
    line_add_bytes(l, total);
    line_add(l, " in use");
}

static void describe_heaps(struct line *out)
{
    add_heap(out, "; heap: ", &heap_default);
    if (heap_device.arena)
        add_heap(out, "; device heap: ", &heap_device);
}

/* No thread's wait is published; what is described needs no heap. */
static void register_waits(const char *call)
{
    static const struct diag_source waits = {
        .part = DIAG_WAITS, .describe = describe_waits
    };

    __atomic_store_n(&published.of, NULL, __ATOMIC_RELAXED);
    diag_register(&waits);
    core_fence_open(call);
    diag_set_state_text(NULL);
}

void core_report_start(const char *call)
{
    diag_open();
    register_waits(call);
}

void core_report_open(void)
{
    static const struct diag_source operations = {
        .part = DIAG_OPERATIONS, .describe = describe_operations
    }, heaps = {
        .part = DIAG_MEMORY, .describe = describe_heaps
    };

    diag_register(&operations);
    diag_register(&heaps);
}

void core_report_close(void)
{
    diag_close();
    diag_open();
    register_waits("shmem_finalize");
}

void core_report_end(void)
{
    core_fence_close();
    diag_close();
}
