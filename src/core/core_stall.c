/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports which PEs a long wait is for.  Called by a thread that waits, from
 * core_wait.c and from the transport, and by the layers that watch operations;
 * nothing here may wait itself.
 *
 * The PEs are examined in scans, one each SHMEM_STALL seconds.  The candidates
 * are the PEs that may be missing: the members of the team, the PEs that may
 * hold the lock, the partner of a message, or, where any PE may be meant, some
 * off-node PEs.  Mapped PEs
 * are read; off-node PEs are queried, a window of them at a time, and a PE that
 * does not reply in a second is reported as silent.  Of the members that have
 * arrived only the first prints a line: the scans of the others stop where they
 * find that member.
 *
 * Queries stay open beyond their scan, whatever this PE does meanwhile: the
 * oldest one without a reply shows whether a PE is lost. */
#include "core/core_stall.h"
#include "base/clock.h"
#include "base/env.h"
#include "base/lock.h"
#include "base/symbol.h"
#include "core/core_describe.h"
#include "core/core_device.h"
#include "core/core_lock.h"
#include "core/core_query.h"
#include "rt/rt.h"

#include <stdlib.h>

enum { REMOTE_PER_SCAN = 64, LOCK_PER_SCAN = 256, NAMED = 3 };
/* The time that a query has before its PE counts as silent. */
#define REPLY_NS 1000000000u
#define SECOND_NS 1000000000u
/* Longer than that between two steps, and this PE was not running. */
#define PAUSE_NS 500000000u
/* A wait that made no step for that long, or for two periods of the watchdog,
 * has ended. */
#define ENDED_NS (2 * PAUSE_NS)

static struct base_lock scan_lock = LOCK_INIT;
static uint64_t last_step_ns GUARDED_BY(scan_lock);

/* ---- the scan ---- */

/* PEs of one kind: how many, and the words for the first of them. */
struct named {
    int n, listed;
    struct line text;
};

static struct scan {
    const void *of;             /* the waiter; NULL: no scan runs */
    uint64_t since_ns;          /* of the waiter, whose memory is reused */
    uint64_t stepped_ns;
    int next, end;              /* candidates still to be examined */
    uint64_t queried_ns;        /* the window is queried; 0: not yet */
    int window;                 /* its end */
    int arrived;                /* at this call */
    bool seen_self;             /* this PE is the first that has arrived */
    bool suspects;              /* one that may have finalized */
    struct named missing, other, past;  /* not arrived; in another call; gone
                                         * on to a later call */
} scan GUARDED_BY(scan_lock);
/* Where the next scan over off-node PEs begins. */
static int rotation GUARDED_BY(scan_lock);
/* A wait for a call that all other members have gone on from, and since when
 * that is known. */
static struct {
    uint64_t wait_ns, since_ns;
} alone GUARDED_BY(scan_lock);
/* The off-node PE that was found to have finalized, or -1. */
static int suspect GUARDED_BY(scan_lock) = -1;

static const struct core_team *team_of(const struct core_waiter *w)
{
    return w->info.what == CORE_FOR_ALL ? core_activity_team : NULL;
}

static const char *call_of(const struct core_waiter *w)
{
    const char *call = w->info.call ? w->info.call : xport_call;

    return call ? symbol_public(call) : "start-up";
}

static const struct core_outstanding *
outstanding_of(const struct core_waiter *w)
{
    return (const struct core_outstanding *)(const void *)w;
}

static int candidates(const struct core_waiter *w)
{
    int n = core_world.n_pes;

    if (w->info.what == CORE_FOR_OUTSTANDING) {
        n = outstanding_of(w)->pe >= 0 ? 1 : n - (n > 1);
        return n < REMOTE_PER_SCAN ? n : REMOTE_PER_SCAN;
    }
    if (team_of(w))
        return team_of(w)->n_pes;
    if (w->info.what == CORE_FOR_LOCK)
        return n < LOCK_PER_SCAN ? n : LOCK_PER_SCAN;
    if (!xport_net || w->info.what == CORE_FOR_STREAM)
        return 0;
    if (w->info.raiser)
        return 1;
    return n < REMOTE_PER_SCAN ? n : REMOTE_PER_SCAN;
}

static int candidate(const struct core_waiter *w, int i) REQUIRES(scan_lock)
{
    uint64_t first = (uint64_t)rotation;

    if (team_of(w))
        return core_team_world_pe(team_of(w), i);
    if (w->info.what == CORE_FOR_LOCK)
        first = w->info.value == CORE_LOCK_BEHIND ? 0 : w->info.value;
    else if (w->info.raiser)
        first = w->info.raiser - 1;
    if (w->info.what == CORE_FOR_OUTSTANDING)
        first = outstanding_of(w)->pe >= 0
                ? (uint64_t)outstanding_of(w)->pe
                : (uint64_t)core_world.my_pe + 1;
    return (int)((first + (uint64_t)i) % (uint64_t)core_world.n_pes);
}

/* The symmetric variable that shows what candidate i does, or NULL; NULL also
 * where it lies in the device heap of an off-node PE: try_get reads none. */
static const void *flag_of(const struct core_waiter *w, int i)
    REQUIRES(scan_lock)
{
    const struct core_team *t = team_of(w);

    if (t)
        return (const void *)(heap_segs[HEAP_HOST].base +
                              core_team_area_at(t, i) +
                              offsetof(struct core_team_area, entry));
    if (w->info.what != CORE_FOR_LOCK ||
        (!xport_routes[candidate(w, i)].map[HEAP_HOST] &&
         heap_find(w->addr, 1) == HEAP_DEVICE))
        return NULL;
    return w->addr;
}

/* Counts a PE; true: it is one of the first, and the caller adds words for
 * it. */
static bool count(struct named *l, int pe)
{
    l->n++;
    if (l->listed == NAMED)
        return false;
    line_add(&l->text, l->listed++ ? ", " : " ");
    core_describe_pe(&l->text, pe);
    return true;
}

static void count_active(struct named *l, int pe, const struct core_activity *a)
{
    if (!count(l, pe))
        return;
    core_describe_activity(&l->text, pe, a);
    line_add(&l->text, ")");
}

/* A PE that had finalized before its flag was read can never arrive.  The
 * replies of an off-node PE come in no order, so that takes two scans: the
 * first suspect of one scan is queried again in the next. */
static void check_finalized(struct scan *r, const struct core_waiter *w, int pe)
    REQUIRES(scan_lock)
{
    if (!xport_routes[pe].map[HEAP_HOST] && suspect != pe) {
        if (!r->suspects)
            suspect = pe;
        r->suspects = true;
        return;
    }
    core_fatal(ERR_COLL, call_of(w), "waits for PE %d, which has made fewer "
               "collective calls and is in shmem_finalize%s", pe, core_status.checks ? ""
               : "; SHMEM_CHECK=1 names calls that do not match");
}

/* Sorts member i into the kinds.  False: an earlier member waits for the same,
 * and its scan finds the same.  entry, a: as the member has published them. */
static bool examine_member(struct scan *r, const struct core_waiter *w, int i,
                           int pe, uint64_t entry,
                           const struct core_activity *a) REQUIRES(scan_lock)
{
    const struct core_team *t = team_of(w);
    int32_t ahead = (int32_t)((uint32_t)entry - (uint32_t)t->entries);
    bool on_node = xport_routes[pe].map[HEAP_HOST];

    if (i == t->my_pe) {
        r->arrived++;
        r->seen_self = true;
    } else if (ahead < 0) {
        if (a->last_sync)
            check_finalized(r, w, pe);
        count_active(&r->missing, pe, a);
    } else if (ahead > 0) {
        count_active(&r->past, pe, a);
    } else if (entry >> 32 != core_activity_call_id(call_of(w))) {
        count_active(&r->other, pe, a);
    } else if (on_node && core_process_is_stopped(a->pid)) {
        r->arrived++;
        count_active(&r->missing, pe, a);
    } else {
        r->arrived++;
        if (!r->seen_self && a->waits)
            return false;
    }
    return true;
}

/* flag, a: as candidate i has published them.  False: this scan is for another
 * PE to report. */
static bool examine(struct scan *r, const struct core_waiter *w, int i, int pe,
                    uint64_t flag, const struct core_activity *a)
    REQUIRES(scan_lock)
{
    if (team_of(w))
        return examine_member(r, w, i, pe, flag, a);
    if (w->info.what == CORE_FOR_OUTSTANDING)
        count_active(&r->missing, pe, a);
    if (w->info.what != CORE_FOR_LOCK || !core_lock_holds(flag) ||
        pe == core_world.my_pe)
        return true;
    count_active(&r->missing, pe, a);
    r->next = r->window = r->end;       /* only one PE holds it */
    return true;
}

static uint64_t flag_at(int pe, const void *sym)
{
    uintptr_t addr = xport_ptr(pe, sym, sizeof(uint64_t));

    if (unlikely(!addr))
        return core_device_load((void *)core_device_address(pe, sym),
                                sizeof(uint64_t));
    return __atomic_load_n((const uint64_t *)addr, __ATOMIC_RELAXED);
}

static bool examine_mapped(struct scan *r, const struct core_waiter *w, int i,
                           int pe) REQUIRES(scan_lock)
{
    const char *base = (const char *)xport_routes[pe].map[HEAP_HOST];
    const void *flag = flag_of(w, i);
    struct core_activity a;
    uint64_t v = 0;

    /* acquire: the record comes before the flag, for check_finalized(). */
    for (size_t k = 0; k < sizeof a / sizeof(uint64_t); k++)
        ((uint64_t *)(void *)&a)[k] = __atomic_load_n(
            (const uint64_t *)(const void *)
                (base + offsetof(struct core_ctl, activity)) + k,
            __ATOMIC_ACQUIRE);
    if (flag)
        v = flag_at(pe, flag);
    return examine(r, w, i, pe, v, &a);
}

/* False: the scan is for another PE to report. */
static bool examine_window(struct scan *r, const struct core_waiter *w,
                           uint64_t now) REQUIRES(scan_lock)
{
    bool ok = true;
    struct core_query *q;
    int pe, i;

    while (ok && r->next < r->window) {
        i = r->next++;
        pe = candidate(w, i);
        if (xport_routes[pe].map[HEAP_HOST]) {
            ok = examine_mapped(r, w, i, pe);
            continue;
        }
        q = core_query_find(pe);
        if (!q)
            continue;
        if (core_query_answered(q)) {
            /* A query of an earlier scan may be for another variable. */
            if (q->sym == flag_of(w, i))
                ok = examine(r, w, i, pe, q->reply->value, &q->reply->activity);
            q->open = false;
        } else if (!q->busy) {
            if (count(&r->missing, pe))
                line_addf(&r->missing.text, ", asked %llu s ago, no answer)",
                          line_seconds(now - q->since_ns));
        }
    }
    return ok;
}

static void query_window(struct scan *r, const struct core_waiter *w,
                         uint64_t now) REQUIRES(scan_lock)
{
    struct core_query *q;
    int pe, n = 0;

    for (r->window = r->next; r->window < r->end && n < CORE_QUERIES;
         r->window++) {
        pe = candidate(w, r->window);
        if (xport_routes[pe].map[HEAP_HOST])
            continue;
        n++;
        q = core_query_find(pe);
        /* The reply to an old query may be an old one, too. */
        if (q && core_query_answered(q))
            q->open = false;
        if (!q || !q->open)
            core_query_start(pe, flag_of(w, r->window), now);
    }
    r->queried_ns = now;
}

/* Has each PE of the window replied, or had the time to? */
static bool window_is_done(const struct scan *r, const struct core_waiter *w,
                           uint64_t now) REQUIRES(scan_lock)
{
    const struct core_query *q;

    for (int i = r->next; i < r->window; i++) {
        q = core_query_find(candidate(w, i));
        if (q && !core_query_answered(q) && now - q->since_ns < REPLY_NS)
            return false;
    }
    return true;
}

/* ---- the line ---- */

static void add_named(struct line *l, const char *what, const struct named *k)
{
    if (!k->n)
        return;
    line_addf(l, "%s%s", what, k->text.at);
    if (k->n > k->listed)
        line_addf(l, " and %d other%s", k->n - k->listed,
                  k->n - k->listed == 1 ? "" : "s");
}

static void add_members(struct line *l, const struct scan *r,
                        const struct core_team *team)
{
    line_addf(l, ": %d of %d PEs%s arrived", r->arrived + r->past.n,
              team->n_pes, team == &core_world ? "" : " of the team");
    add_named(l, "; missing", &r->missing);
    add_named(l, "; in another call", &r->other);
    add_named(l, "; gone on", &r->past);
    if (r->other.n && !core_status.checks)
        line_add(l, "; SHMEM_CHECK=1 names the first call that does not match");
}

static void report_outstanding(const struct scan *r,
                               const struct core_outstanding *o)
{
    struct line l;

    line_begin(&l);
    line_add(&l, o->text);
    add_named(&l, o->who, &r->missing);
    if (o->advice)
        line_add(&l, o->advice);
    *o->reported = true;
    log_warn(ERR_STALL, "%s", l.at);
}

static void report_wait(const struct scan *r, const struct core_waiter *w,
                        uint64_t now)
{
    const bool lock = w->info.what == CORE_FOR_LOCK;
    struct line l;

    line_begin(&l);
    line_addf(&l, "%s waits for %llu s", call_of(w),
              line_seconds(now - w->wait_began_ns));
    if (team_of(w)) {
        add_members(&l, r, team_of(w));
    } else {
        if (w->info.what != CORE_FOR_ALL) {
            line_add(&l, " for ");
            core_describe_wait(&l, w, false);
        }
        if (lock && !r->missing.n && w->info.value != CORE_LOCK_BEHIND)
            line_addf(&l, ", behind PE %llu",
                      (unsigned long long)w->info.value);
        add_named(&l, lock ? ", held by" : "; silent is", &r->missing);
    }
    log_warn(ERR_STALL, "%s", l.at);
}

/* ---- steps ---- */

/* All PEs say the same of a lost one, whatever each waits for: oshrun makes one
 * line of that. */
_Noreturn static void report_lost(int pe)
{
    struct line l;

    line_begin(&l);
    core_describe_pe(&l, pe);
    /* The launcher reports a peer that died. */
    core_await_end();
    log_error(ERR_NET, "no answer from %s) in %lld s (SHMEM_TIMEOUT): it is "
              "stopped, or the network between the nodes is down", l.at,
              (long long)env.TIMEOUT);
    rt_fail();
}

/* The time in which this PE was stopped itself counts against no other PE. */
static void forgive_pause(uint64_t now) REQUIRES(scan_lock)
{
    uint64_t pause = now - last_step_ns;

    last_step_ns = now;
    if (pause > PAUSE_NS) {
        core_query_extend(pause);
        alone.since_ns += pause;
    }
}

/* All other members have gone on: a connection lost their messages. */
static void check_alone(const struct scan *r, const struct core_waiter *w,
                        uint64_t now) REQUIRES(scan_lock)
{
    if (!team_of(w) || !xport_net || !env.TIMEOUT ||
        r->past.n < team_of(w)->n_pes - 1)
        return;
    if (alone.wait_ns != w->wait_began_ns) {
        alone.wait_ns = w->wait_began_ns;
        alone.since_ns = now;
    }
    if (now - alone.since_ns > (uint64_t)env.TIMEOUT * SECOND_NS)
        core_fatal(ERR_NET, call_of(w), "all other PEs have gone on for %lld "
                   "s (SHMEM_TIMEOUT), and what they sent has not come: it was "
                   "lost with a connection", (long long)env.TIMEOUT);
}

static void check_lost(uint64_t now) REQUIRES(scan_lock)
{
    uint64_t most = (uint64_t)env.TIMEOUT * SECOND_NS;
    int pe = most ? core_query_lost(now, most) : -1;

    if (pe >= 0)
        report_lost(pe);
}

static void begin_scan(struct core_waiter *w, const void *of, uint64_t now)
    REQUIRES(scan_lock)
{
    scan = (struct scan){ .of = of, .since_ns = w->wait_began_ns,
                          .stepped_ns = now, .end = candidates(w) };
    w->examined_ns = now;
}

static bool line_is_due(struct core_waiter *w, uint64_t now)
{
    if (!diag_stall_is_reported() ||
        !diag_line_is_due(w->wait_began_ns, w->printed_ns, now))
        return false;
    w->printed_ns = now;
    return true;
}

/* True: the scan is over. */
static bool advance_scan(struct scan *r, struct core_waiter *w,
                         uint64_t now) REQUIRES(scan_lock)
{
    while (r->next < r->end) {
        if (!r->queried_ns)
            query_window(r, w, now);
        if (now - r->queried_ns < REPLY_NS && !window_is_done(r, w, now))
            return false;
        if (!examine_window(r, w, now))
            return true;
        r->queried_ns = 0;
    }
    if (!team_of(w) && w->info.what != CORE_FOR_LOCK &&
        w->info.what != CORE_FOR_OUTSTANDING)
        rotation = (rotation + r->end) % core_world.n_pes;
    check_alone(r, w, now);
    if (!line_is_due(w, now))
        return true;
    if (w->info.what == CORE_FOR_OUTSTANDING)
        report_outstanding(r, outstanding_of(w));
    else
        report_wait(r, w, now);
    return true;
}

/* of: identifies the wait in all its steps. */
static void step(struct core_waiter *w, const void *of, uint64_t now)
{
    uint64_t ended = diag_stall_ns / 4 > ENDED_NS ? diag_stall_ns / 4
                                                  : ENDED_NS;
    bool mine;

    if (!core_ctl || core_state() != CORE_UP)
        return;
    /* Another thread takes a step, or this one does, and waits in there. */
    if (!lock_try(&scan_lock))
        return;
    forgive_pause(now);
    core_query_send(now);
    check_lost(now);
    mine = scan.of == of && scan.since_ns == w->wait_began_ns;
    if (mine)
        scan.stepped_ns = now;
    else if (scan.of && now > scan.stepped_ns &&    /* read before the lock */
             now - scan.stepped_ns > ended)
        scan.of = NULL;         /* its wait has ended meanwhile */
    if (!scan.of && (!w->examined_ns || now - w->examined_ns > diag_stall_ns)) {
        begin_scan(w, of, now);
        mine = true;
    }
    if (mine && scan.of && advance_scan(&scan, w, now))
        scan.of = NULL;
    lock_release(&scan_lock);
}

static void step_waiter(struct core_waiter *w, uint64_t now)
{
    step(w, w, now);
}

void core_stall_outstanding(struct core_outstanding *o, uint64_t now)
{
    o->w.info.what = CORE_FOR_OUTSTANDING;
    step(&o->w, o, now);
}

/* ---- waits in the transport ---- */

/* For one off-node PE: no other is to be examined. */
static void report_one(struct xport_wait *w, uint64_t now)
{
    struct line l;

    if (!diag_stall_is_reported() ||
        !diag_line_is_due(w->since_ns, w->printed_ns, now))
        return;
    w->printed_ns = now;
    line_begin(&l);
    core_describe_pe(&l, w->pe);
    log_warn(ERR_STALL, "%s waits for %llu s for %s)",
             xport_call ? symbol_public(xport_call) : "start-up",
             line_seconds(now - w->since_ns), l.at);
}

static void step_transport(struct xport_wait *w)
{
    struct core_waiter all = { .info.what = CORE_FOR_REMOTE,
                               .wait_began_ns = w->since_ns,
                               .examined_ns = w->examined_ns,
                               .printed_ns = w->printed_ns };
    uint64_t now = clock_ns();

    core_activity_transport(w, now);
    if (w->pe >= 0) {
        report_one(w, now);
    } else if (now - w->since_ns > diag_stall_ns) {
        step(&all, w, now);
        w->examined_ns = all.examined_ns;
        w->printed_ns = all.printed_ns;
    }
}

int core_stall_open(void)
{
    core_wait_stalled = step_waiter;
    xport_wait_stalled = step_transport;
    xport_wait_resumed = core_activity_transport_end;
    return core_query_open();
}

void core_stall_close(void)
{
    core_wait_stalled = NULL;
    lock_acquire(&scan_lock);
    core_query_close();
    scan.of = NULL;
    suspect = -1;
    lock_release(&scan_lock);
}
