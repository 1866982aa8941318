/* SPDX-License-Identifier: BSD-3-Clause */
/* Core's part of the hang report.  diag calls the describe functions, in a
 * signal handler or on the diag thread; core_wait.c publishes the wait that is
 * to be described.  The describe functions take no lock and allocate nothing,
 * and what they read may change meanwhile. */
#include "core/core_report.h"
#include "base/symbol.h"
#include "core/core_describe.h"
#include "core/core_lock.h"
#include "diag/diag.h"
#include "rt/rt.h"

#include <string.h>
#include <time.h>

/* The thread that fell asleep last, of those that still wait. */
static struct published {
    const void *of;             /* atomic: its waiter; NULL: no thread waits */
    struct core_waiter w;       /* a copy: the waiter's memory is reused */
    const char *call;
    /* Of a collective call: the team's members, whose structure may disappear,
     * and the number of the call; n_pes is 0 without a team. */
    struct {
        int n_pes, start, stride;
        uint64_t area_at;
        const uint32_t *area_of;        /* in this PE's heap */
        uint64_t entry;                 /* of the call, as members publish it */
        uint64_t call;                  /* its number in messages; 0: none */
    } team;
} published;
static uint32_t written;        /* atomic; odd: it is being written */
enum { COPIES_MOST = 4 };

void core_report_wait(struct core_waiter *w)
{
    const struct core_team *t;

    __atomic_fetch_add(&written, 1, __ATOMIC_RELAXED);
    atomics_full_fence();       /* a copy of what follows finds it odd */
    __atomic_store_n(&published.of, NULL, __ATOMIC_RELAXED);
    if (w->info.call && !w->noted)
        core_activity_call(w->info.call);
    core_activity_waits(CORE_WAITS_SLEEP, true);
    w->noted = true;
    w->named_ns = 0;            /* what is published anew has no name yet */
    t = w->info.what == CORE_FOR_ALL ? core_activity_team : NULL;
    published.w = *w;
    published.call = w->info.call ? w->info.call : xport_call;
    published.team.n_pes = 0;
    if (t) {
        published.team.start = t->start;
        published.team.stride = t->stride;
        published.team.area_at = t->area_at;
        published.team.area_of = t->area_of;
        published.team.entry = t->entries;
        published.team.call = core_team_call(t);
        published.team.n_pes = t->n_pes;
    }
    /* release: a handler that finds `of` finds the rest. */
    __atomic_store_n(&published.of, w, __ATOMIC_RELEASE);
    __atomic_fetch_add(&written, 1, __ATOMIC_RELEASE);
}

/* Another thread may publish a wait meanwhile, or this one be a handler's in the
 * middle of that: then there is none. */
CORE_RACY static struct published copy_of_published(void)
{
    struct published p;

    for (int i = 0; i < COPIES_MOST; i++) {
        uint32_t before = __atomic_load_n(&written, __ATOMIC_ACQUIRE);

        p = published;
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (!(before & 1) &&
            before == __atomic_load_n(&written, __ATOMIC_RELAXED))
            return p;
    }
    p.of = NULL;
    return p;
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
    line_addf(l, "in %s for %llu s", call ? symbol_public(call) : "start-up",
              line_seconds(core_age_ns(CLOCK_MONOTONIC, since_ns)));
}

enum { NAMED = 3 };

static void add_pe(int32_t *pes, unsigned most, unsigned *n, int pe)
{
    if (*n < most)
        pes[*n] = pe;
    ++*n;
}

/* A member that is in another call in place of this one; pe -1: none. */
struct elsewhere {
    int pe;
    uint32_t call;              /* core_activity_call_id() */
};

/* Members of this node that have not begun the call, or are in another one in
 * its place.  The record may be half of another wait's, so each number is
 * checked before it is used. */
CORE_RACY static unsigned missing(const struct published *p, int32_t *pes,
                                  unsigned most, struct elsewhere *first)
{
    const size_t size = heap_segs[HEAP_HOST].size;
    const uint32_t id = p->call
        ? core_activity_call_id(symbol_public(p->call)) : 0;
    unsigned n = 0;
    uint64_t at, entry;
    int32_t ahead;
    int64_t pe;

    first->pe = -1;
    if (!__atomic_load_n(&core_ctl, __ATOMIC_RELAXED))
        return 0;
    for (int i = 0; i < p->team.n_pes; i++) {
        pe = p->team.start + (int64_t)i * p->team.stride;
        at = p->team.area_of ? (uint64_t)p->team.area_of[i] * 64
                             : p->team.area_at;
        if (pe < 0 || pe >= core_world.n_pes || !xport_is_mapped((int)pe) ||
            size < sizeof(struct core_team_area) ||
            at > size - sizeof(struct core_team_area))
            continue;
        entry = __atomic_load_n(
            &((struct core_team_area *)(xport_routes[pe].map[HEAP_HOST] + at))
                 ->entry, __ATOMIC_RELAXED);
        ahead = (int32_t)((uint32_t)entry - (uint32_t)p->team.entry);
        if (ahead > 0 || (!ahead && entry >> 32 == id))
            continue;
        if (!ahead && first->pe < 0)
            *first = (struct elsewhere){ (int)pe, (uint32_t)(entry >> 32) };
        add_pe(pes, most, &n, (int)pe);
    }
    return n;
}

CORE_RACY static void add_missing(struct line *l, const struct published *p)
{
    char call[sizeof((struct core_activity *)0)->call + 1] = "";
    int32_t pes[NAMED];
    struct elsewhere other;
    unsigned n = missing(p, pes, NAMED, &other);

    for (unsigned i = 0; i < n && i < NAMED; i++)
        line_addf(l, "%s%d", i ? ", " : ", waiting for PE ", pes[i]);
    if (n > NAMED)
        line_addf(l, " and %u other%s", n - NAMED, n - NAMED == 1 ? "" : "s");
    if (other.pe < 0)
        return;
    line_addf(l, "; PE %d is in another call", other.pe);
    /* The record is of all its threads, and that PE may have gone on. */
    memcpy(call, core_peer_ctl(other.pe)->activity.call, sizeof call - 1);
    if (core_activity_call_id(call) == other.call)
        line_addf(l, ": %s", call);
}

static void add_wait(struct line *l, const struct published *p)
{
    const struct core_waiter *w = &p->w;

    add_call(l, p->call, w->wait_began_ns);
    if (p->team.n_pes) {
        if (p->team.call)
            line_addf(l, ", its collective call %llu",
                      (unsigned long long)p->team.call);
        line_addf(l, "%s with a team of %d PEs", p->team.call ? "" : ",",
                  p->team.n_pes);
        add_missing(l, p);
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
    line_addf(l, "not waiting; last noted call: %s (%u noted so far), %s%llu s ago",
              call[0] ? call : "none", a->calls,
              a->at_calls == a->calls ? "" : "at most ",
              line_seconds(core_age_ns(CLOCK_REALTIME, a->at_ns)));
}

CORE_RACY static void describe_waits(struct line *out)
{
    struct core_transport_wait t = core_transport_wait;
    struct published p = copy_of_published();

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

/* The PE that a value wait names, the one before in a lock's queue, those that a
 * collective call lacks, or the peer of a transfer. */
CORE_RACY static unsigned awaited(int32_t *pes, unsigned most)
{
    struct core_transport_wait t = core_transport_wait;
    struct published p = copy_of_published();
    struct elsewhere other;
    unsigned n = 0;

    if (t.of && t.pe >= 0)
        add_pe(pes, most, &n, t.pe);
    if (!p.of || n)
        return n;
    if (p.team.n_pes)
        return missing(&p, pes, most, &other);
    if (p.w.info.what == CORE_FOR_LOCK && p.w.info.value != CORE_LOCK_BEHIND)
        add_pe(pes, most, &n, (int)p.w.info.value);
    else if (p.w.info.raiser)
        add_pe(pes, most, &n, (int)p.w.info.raiser - 1);
    return n;
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

/* No thread's wait is published; the objects described need no heap. */
static void register_waits(const char *call)
{
    static const struct diag_source waits = {
        .part = DIAG_WAITS, .describe = describe_waits, .awaited = awaited
    };

    __atomic_store_n(&published.of, NULL, __ATOMIC_RELAXED);
    diag_register(&waits);
    core_fence_open(call);
    diag_set_state_text(NULL);
}

void core_report_start(const char *call)
{
    diag_set_identity(rt_job.pe, rt_job.n_pes, rt_job_name());
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
    diag_status_close();
}
