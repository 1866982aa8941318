/* SPDX-License-Identifier: BSD-3-Clause */
/* A look at the others is made in rounds, one each SHMEM_STALL seconds.  The
 * candidates are those who may be missing: the members of the team, or whoever
 * may hold the lock, or, where anybody may be meant, some far PEs.  Mapped ones
 * are read; of far ones a window is asked at a time, and who does not answer in
 * a second is told of as such.  Of the members that have come only the first
 * speaks: the others stop where they find him.
 *
 * Questions stay open beyond their round, whatever the PE does meanwhile: the
 * oldest that is not answered tells whether a PE is lost. */
#include "core/core_stall.h"
#include "base/clock.h"
#include "core/core_query.h"
#include "core/core_device.h"
#include "core/core_text.h"
#include "base/env.h"
#include "base/lock.h"
#include "rt/rt.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FAR_PER_ROUND = 64, LOCK_PER_ROUND = 256, NAMED = 3 };
#define PATIENCE_NS 1000000000u
#define SECOND_NS 1000000000u
/* Longer than that between two steps, and this PE was not running. */
#define GAP_NS 500000000u

uint64_t core_stall_ns = UINT64_MAX;

static struct base_lock watch_lock = LOCK_INIT;
static uint64_t last_step_ns GUARDED_BY(watch_lock);

/* ---- a round ---- */

static struct round {
    const void *of;             /* the waiter */
    uint64_t since_ns;          /* of the waiter, whose memory is reused */
    uint64_t begun_ns;
    int next, end;              /* candidates still to be looked at */
    uint64_t asked_ns;          /* the window is asked; 0: not yet */
    int window;                 /* its end */
    int come;                   /* to this call */
    bool met;                   /* this PE: the first of who wait for it */
    bool suspects;              /* one that may have finalized */
    struct named {
        int n, told;
        struct core_text text;
    } missing, other, past;     /* in another call; come and gone on */
} now_round GUARDED_BY(watch_lock);
/* Where the next round over far PEs begins. */
static int turn GUARDED_BY(watch_lock);
/* The wait for a call that all others were found to have gone on from, and
 * since when. */
static struct {
    uint64_t wait_ns, since_ns;
} alone GUARDED_BY(watch_lock);
/* The far PE that was found to have finalized, or -1. */
static int suspect GUARDED_BY(watch_lock) = -1;

static const struct core_team *team_of(const struct core_waiter *w)
{
    return w->what == CORE_FOR_ALL ? core_activity_team : NULL;
}

static const char *call_of(const struct core_waiter *w)
{
    const char *call = w->call ? w->call : xport_call;

    return call ? core_public_name(call) : "start-up";
}

static const struct core_outstanding *lasting_of(const struct core_waiter *w)
{
    return (const struct core_outstanding *)(const void *)w;
}

static int candidates(const struct core_waiter *w)
{
    int n = core_world.n_pes;

    if (w->what == CORE_FOR_OUTSTANDING) {
        n = lasting_of(w)->pe >= 0 ? 1 : n - (n > 1);
        return n < FAR_PER_ROUND ? n : FAR_PER_ROUND;
    }
    if (team_of(w))
        return team_of(w)->n_pes;
    if (w->what == CORE_FOR_LOCK)
        return n < LOCK_PER_ROUND ? n : LOCK_PER_ROUND;
    if (!xport_net || w->what == CORE_FOR_STREAM ||
        w->what == CORE_FOR_QUEUE)
        return 0;
    return n < FAR_PER_ROUND ? n : FAR_PER_ROUND;
}

static int candidate(const struct core_waiter *w, int i) REQUIRES(watch_lock)
{
    uint64_t first = (uint64_t)turn;

    if (team_of(w))
        return core_team_world_pe(team_of(w), i);
    if (w->what == CORE_FOR_LOCK)
        first = w->value == CORE_LOCK_BEHIND ? 0 : w->value;
    if (w->what == CORE_FOR_OUTSTANDING)
        first = lasting_of(w)->pe >= 0 ? (uint64_t)lasting_of(w)->pe
                                       : (uint64_t)core_world.my_pe + 1;
    return (int)((first + (uint64_t)i) % (uint64_t)core_world.n_pes);
}

/* The symmetric word that tells of candidate i, or NULL: also where a far PE's
 * processor would have to be asked for what is on its device. */
static const void *word_of(const struct core_waiter *w, int i)
    REQUIRES(watch_lock)
{
    const struct core_team *t = team_of(w);

    if (t)
        return (const void *)(heap_segs[HEAP_HOST].base +
                              core_team_area_at(t, i) +
                              offsetof(struct core_team_area, entry));
    if (w->what != CORE_FOR_LOCK ||
        (w->foreign && !xport_routes[candidate(w, i)].map[HEAP_HOST]))
        return NULL;
    return w->addr;
}

/* What is said of the first ones follows; of others, false. */
static bool count(struct named *l, int pe)
{
    l->n++;
    if (l->told == NAMED)
        return false;
    core_text_add(&l->text, l->told++ ? ", " : " ");
    core_text_pe(&l->text, pe);
    return true;
}

static void count_doing(struct named *l, int pe, const struct core_activity *d)
{
    if (!count(l, pe))
        return;
    core_text_activity(&l->text, pe, d);
    core_text_add(&l->text, ")");
}

/* Whoever had finalized before its word was read can never come.  The answers
 * of a far PE are in no order, so it takes two rounds: the first that one finds
 * is asked again in the next. */
static void gone(struct round *r, const struct core_waiter *w, int pe)
    REQUIRES(watch_lock)
{
    if (!xport_routes[pe].map[HEAP_HOST] && suspect != pe) {
        if (!r->suspects)
            suspect = pe;
        r->suspects = true;
        return;
    }
    core_fatal(ERR_COLL, call_of(w), "waits for PE %d, which has called "
               "shmem_finalize%s", pe, core_status.checks ? ""
               : "; SHMEM_CHECK=1 names calls that do not match");
}

/* Of member i.  Who waits for the same is found by all others alike. */
static bool judge_member(struct round *r, const struct core_waiter *w, int i,
                         int pe, uint64_t word, const struct core_activity *d)
    REQUIRES(watch_lock)
{
    const struct core_team *t = team_of(w);
    int32_t ahead = (int32_t)((uint32_t)word - (uint32_t)t->entries);
    bool here = xport_routes[pe].map[HEAP_HOST];

    if (i == t->my_pe) {
        r->come++;
        r->met = true;
    } else if (ahead < 0) {
        if (d->last_sync)
            gone(r, w, pe);
        count_doing(&r->missing, pe, d);
    } else if (ahead > 0) {
        count_doing(&r->past, pe, d);
    } else if (word >> 32 != core_activity_call_id(call_of(w))) {
        count_doing(&r->other, pe, d);
    } else if (here && core_text_stopped(d->pid)) {
        r->come++;
        count_doing(&r->missing, pe, d);
    } else {
        r->come++;
        if (!r->met && d->waits)
            return false;
    }
    return true;
}

/* word, d: what candidate i told.  False: this round is for others. */
static bool judge(struct round *r, const struct core_waiter *w, int i, int pe,
                  uint64_t word, const struct core_activity *d)
    REQUIRES(watch_lock)
{
    if (team_of(w))
        return judge_member(r, w, i, pe, word, d);
    if (w->what == CORE_FOR_OUTSTANDING)
        count_doing(&r->missing, pe, d);
    if (w->what != CORE_FOR_LOCK || !core_lock_holds(word) ||
        pe == core_world.my_pe)
        return true;
    count_doing(&r->missing, pe, d);
    r->next = r->window = r->end;       /* there is only one */
    return true;
}

static uint64_t word_at(int pe, const void *sym)
{
    uintptr_t near = xport_ptr(pe, sym, sizeof(uint64_t));

    if (unlikely(!near))
        return core_device_load((void *)core_device_address(pe, sym),
                                sizeof(uint64_t));
    return __atomic_load_n((const uint64_t *)near, __ATOMIC_RELAXED);
}

static bool judge_near(struct round *r, const struct core_waiter *w, int i,
                       int pe) REQUIRES(watch_lock)
{
    const char *base = (const char *)xport_routes[pe].map[HEAP_HOST];
    const void *word = word_of(w, i);
    struct core_activity d;
    uint64_t v = 0;

    /* acquire: in the order of this program, for the sake of gone(). */
    for (size_t k = 0; k < sizeof d / sizeof(uint64_t); k++)
        ((uint64_t *)(void *)&d)[k] = __atomic_load_n(
            (const uint64_t *)(const void *)
                (base + offsetof(struct core_ctl, doing)) + k,
            __ATOMIC_ACQUIRE);
    if (word)
        v = word_at(pe, word);
    return judge(r, w, i, pe, v, &d);
}

/* False: the round is for others. */
static bool judge_window(struct round *r, const struct core_waiter *w,
                         uint64_t now) REQUIRES(watch_lock)
{
    bool ok = true;
    struct core_query *a;
    int pe, i;

    while (ok && r->next < r->window) {
        i = r->next++;
        pe = candidate(w, i);
        if (xport_routes[pe].map[HEAP_HOST]) {
            ok = judge_near(r, w, i, pe);
            continue;
        }
        a = core_query_find(pe);
        if (!a)
            continue;
        if (core_query_answered(a)) {
            /* A question of an earlier round may be about another word. */
            if (a->word == word_of(w, i))
                ok = judge(r, w, i, pe, a->answer->word, &a->answer->doing);
            a->open = false;
        } else if (!a->busy) {
            if (count(&r->missing, pe))
                core_text_add(&r->missing.text,
                              ", asked %llu s ago, no answer)",
                              core_text_seconds(now - a->since_ns));
        }
    }
    return ok;
}

static void ask_window(struct round *r, const struct core_waiter *w,
                       uint64_t now) REQUIRES(watch_lock)
{
    struct core_query *a;
    int pe, n = 0;

    for (r->window = r->next; r->window < r->end && n < CORE_QUERIES;
         r->window++) {
        pe = candidate(w, r->window);
        if (xport_routes[pe].map[HEAP_HOST])
            continue;
        n++;
        a = core_query_find(pe);
        /* The answer to an old question may be an old one, too. */
        if (a && core_query_answered(a))
            a->open = false;
        if (!a || !a->open)
            core_query(pe, word_of(w, r->window), now);
    }
    r->asked_ns = now;
}

/* Or need not be waited for any longer. */
static bool window_answered(const struct round *r, const struct core_waiter *w,
                            uint64_t now) REQUIRES(watch_lock)
{
    const struct core_query *a;

    for (int i = r->next; i < r->window; i++) {
        a = core_query_find(candidate(w, i));
        if (a && !core_query_answered(a) && now - a->since_ns < PATIENCE_NS)
            return false;
    }
    return true;
}

/* ---- the line ---- */

static void add_named(struct core_text *t, const char *what,
                      const struct named *l)
{
    if (!l->n)
        return;
    core_text_add(t, "%s%s", what, l->text.at);
    if (l->n > l->told)
        core_text_add(t, " and %d other%s", l->n - l->told,
                      l->n - l->told == 1 ? "" : "s");
}

static void add_members(struct core_text *t, const struct round *r,
                        const struct core_team *team)
{
    core_text_add(t, ": %d of %d PEs%s arrived", r->come + r->past.n,
                  team->n_pes, team == &core_world ? "" : " of the team");
    add_named(t, "; missing", &r->missing);
    add_named(t, "; in another call", &r->other);
    add_named(t, "; gone on", &r->past);
    if (r->other.n && !core_status.checks)
        core_text_add(t, "; SHMEM_CHECK=1 names the first call that does not "
                      "match");
}

static void tell_lasting(const struct round *r,
                         const struct core_outstanding *l)
{
    struct core_text line = { .n = 0 };

    core_text_add(&line, "%s", l->text);
    add_named(&line, l->who, &r->missing);
    core_text_add(&line, "%s", l->advice ? l->advice : "");
    *l->told = true;
    log_warn(ERR_STALL, "%s", line.at);
}

static void add_queue(struct core_text *t, const struct core_waiter *w)
{
    char name[192];

    if (w->name && w->name(w->named, name, sizeof name))
        core_text_add(t, "%s, started on a queue", name);
    else
        core_text_add(t, "what was started on a queue");
    if (w->value)
        core_text_add(t, " of stream %p", (void *)(uintptr_t)w->value);
}

static void add_stream(struct core_text *t, const struct core_waiter *w)
{
    if (w->value)
        core_text_add(t, "stream %p", (void *)(uintptr_t)w->value);
    else
        core_text_add(t, "a stream");
    core_text_add(t, ", on which a kernel, copy or wait has not ended");
}

static void tell(const struct round *r, const struct core_waiter *w,
                 uint64_t now)
{
    struct core_text line = { .n = 0 };

    if (w->what == CORE_FOR_OUTSTANDING) {
        tell_lasting(r, lasting_of(w));
        return;
    }
    core_text_add(&line, "%s waits for %llu s", call_of(w),
                  core_text_seconds(now - w->since_ns));
    if (team_of(w)) {
        add_members(&line, r, team_of(w));
    } else if (w->what != CORE_FOR_ALL) {
        core_text_add(&line, " for ");
        if (w->what == CORE_FOR_REMOTE)
            core_text_add(&line, "far PEs");
        else if (w->what == CORE_FOR_QUEUE)
            add_queue(&line, w);
        else if (w->what == CORE_FOR_STREAM)
            add_stream(&line, w);
        else
            core_text_wanted(&line, w);
        if (w->what == CORE_FOR_LOCK && !r->missing.n &&
            w->value != CORE_LOCK_BEHIND)
            core_text_add(&line, ", behind PE %llu",
                          (unsigned long long)w->value);
        add_named(&line, w->what == CORE_FOR_LOCK ? ", held by"
                                                  : "; silent is",
                  &r->missing);
    } else {
        add_named(&line, "; silent is", &r->missing);
    }
    log_warn(ERR_STALL, "%s", line.at);
}

/* ---- steps ---- */

/* Whatever each PE waits for, all say the same of it: oshrun makes one line
 * of that. */
_Noreturn static void lost(int pe)
{
    struct core_text who = { .n = 0 };

    core_text_pe(&who, pe);
    /* A peer that died is the launcher's to tell about. */
    core_await_end();
    log_error(ERR_NET, "no answer from %s) in %lld s (SHMEM_TIMEOUT): it is "
              "stopped, or the network between the nodes is down", who.at,
              (long long)env.TIMEOUT);
    rt_abort(EXIT_FAILURE);
}

/* A PE that was stopped itself has no right to complain of the others. */
static void forget_gap(uint64_t now) REQUIRES(watch_lock)
{
    uint64_t gap = now - last_step_ns;

    last_step_ns = now;
    if (gap > GAP_NS) {
        core_query_extend(gap);
        alone.since_ns += gap;
    }
}

/* Nobody can be waited for who has gone on: what they sent went down with a
 * connection. */
static void look_whether_alone(const struct round *r,
                               const struct core_waiter *w, uint64_t now)
    REQUIRES(watch_lock)
{
    if (!team_of(w) || !xport_net || !env.TIMEOUT ||
        r->past.n < team_of(w)->n_pes - 1)
        return;
    if (alone.wait_ns != w->since_ns) {
        alone.wait_ns = w->since_ns;
        alone.since_ns = now;
    }
    if (now - alone.since_ns > (uint64_t)env.TIMEOUT * SECOND_NS)
        core_fatal(ERR_NET, call_of(w), "all other PEs have gone on for %lld "
                   "s (SHMEM_TIMEOUT), and what they sent has not come: it was "
                   "lost with a connection", (long long)env.TIMEOUT);
}

static void look_for_lost(uint64_t now) REQUIRES(watch_lock)
{
    uint64_t most = (uint64_t)env.TIMEOUT * SECOND_NS;
    int pe = most ? core_query_lost(now, most) : -1;

    if (pe >= 0)
        lost(pe);
}

static void begin(struct core_waiter *w, const void *of, uint64_t now)
    REQUIRES(watch_lock)
{
    struct round *r = &now_round;

    *r = (struct round){ .of = of, .since_ns = w->since_ns, .begun_ns = now,
                         .end = candidates(w) };
    w->told_ns = now;
}

/* True once the round is over. */
static bool advance(struct round *r, const struct core_waiter *w, uint64_t now)
    REQUIRES(watch_lock)
{
    while (r->next < r->end) {
        if (!r->asked_ns)
            ask_window(r, w, now);
        if (now - r->asked_ns < PATIENCE_NS && !window_answered(r, w, now))
            return false;
        if (!judge_window(r, w, now))
            return true;
        r->asked_ns = 0;
    }
    if (!team_of(w) && w->what != CORE_FOR_LOCK &&
        w->what != CORE_FOR_OUTSTANDING)
        turn = (turn + r->end) % core_world.n_pes;
    look_whether_alone(r, w, now);
    if (env.STALL)
        tell(r, w, now);
    return true;
}

/* of: what is the same in all steps of a wait. */
static void step(struct core_waiter *w, const void *of, uint64_t now)
{
    struct round *r = &now_round;
    bool mine;

    if (!core_ctl || core_state() != CORE_UP)
        return;
    /* Another thread takes a step, or this one does: what it waits for in
     * there is not to be waited for here. */
    if (!lock_try(&watch_lock))
        return;
    forget_gap(now);
    core_query_send(now);
    look_for_lost(now);
    mine = r->of == of && r->since_ns == w->since_ns;
    if (r->of && !mine && now - r->begun_ns > 4 * PATIENCE_NS)
        r->of = NULL;           /* its wait has ended meanwhile */
    if (!r->of && (!w->told_ns || now - w->told_ns > core_stall_ns)) {
        begin(w, of, now);
        mine = true;
    }
    if (mine && r->of && advance(r, w, now))
        r->of = NULL;
    lock_release(&watch_lock);
}

void core_stall_step(struct core_waiter *w, uint64_t now)
{
    step(w, w, now);
}

void core_stall_outstanding(struct core_outstanding *l, uint64_t now)
{
    l->w.what = CORE_FOR_OUTSTANDING;
    step(&l->w, l, now);
}

/* For one far PE. */
static void tell_of_one(struct xport_wait *w, uint64_t now)
{
    struct core_text who = { .n = 0 };

    if (!env.STALL || now - w->told_ns <= core_stall_ns)
        return;
    w->told_ns = now;
    core_text_pe(&who, w->pe);
    log_warn(ERR_STALL, "%s waits for %llu s for %s)",
             xport_call ? core_public_name(xport_call) : "start-up",
             core_text_seconds(now - w->since_ns), who.at);
}

void core_stall_transport(struct xport_wait *w)
{
    struct core_waiter all = { .what = CORE_FOR_REMOTE, .since_ns = w->since_ns,
                               .told_ns = w->told_ns };
    uint64_t now = clock_ns();

    core_activity_transport(w, now);
    if (w->pe >= 0) {
        tell_of_one(w, now);
    } else if (now - w->since_ns > core_stall_ns) {
        step(&all, w, now);
        w->told_ns = all.told_ns;
    }
}

int core_stall_open(void)
{
    /* A lost peer is to be found also where nothing is said of waits. */
    core_stall_ns = (env.STALL ? (uint64_t)env.STALL : 10) * SECOND_NS;
    core_activity_open();
    core_ctl->doing.pid = (uint64_t)getpid();
    return core_query_open();
}

void core_stall_close(void)
{
    core_stall_ns = UINT64_MAX;
    lock_acquire(&watch_lock);
    core_query_close();
    now_round.of = NULL;
    suspect = -1;
    lock_release(&watch_lock);
}
