/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks that all members of a team make the same call.  Called by collective
 * calls under SHMEM_CHECK, and by the first allocations; it returns only if
 * the calls match.
 *
 * Each member publishes the call's name and arguments in its area, all
 * synchronise, and each compares itself with the next member; a member that
 * differs reads all members, to name the odd one.  Several may differ: the
 * first prints its line, and the others leave it the time to end the job.  Two
 * sets of arguments are used in turn: a member cannot reach the
 * synchronisation after next before all have left this one. */
#include "coll/coll_int.h"
#include "base/log.h"
#include "base/symbol.h"
#include "core/core_activity.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct core_args *args_at(const struct core_team *t, int pe)
{
    return &core_team_area_of(t, pe)->args[t->compared & 1];
}

static void copy_args(const struct core_team *t, int pe, struct core_args *out)
{
    if (coll_is_mapped(t, pe))
        *out = *args_at(t, pe);
    else
        coll_remote_get(core_team_world_pe(t, pe), args_at(t, pe), out,
                        sizeof *out);
}

uint64_t coll_checked_value(const struct core_team *t, int pe, int k)
{
    struct core_args a;

    copy_args(t, pe, &a);
    return a.value[k];
}

/* The arguments of all members; off-node members are queried side by side. */
static const struct core_args *copy_all(const struct core_team *t,
                                        const char *call)
{
    struct core_args *all = malloc((size_t)t->n_pes * sizeof *all);

    if (!all)
        core_fatal(ERR_LIMIT, call, "no memory for what %d PEs passed",
                   t->n_pes);
    for (int i = 0; i < t->n_pes; i++)
        if (coll_is_mapped(t, i))
            all[i] = *args_at(t, i);
        else
            coll_remote_get_nbi(core_team_world_pe(t, i), args_at(t, i),
                                &all[i], sizeof all[i]);
    if (!t->mapped)
        coll_remote_quiet();
    return all;
}

static bool is_one_of(const struct coll_args *a, const struct core_args *x)
{
    return !strncmp(x->call, symbol_public(a->call), sizeof x->call) ||
           !strncmp(x->call, a->also, sizeof x->call);
}

static bool same_call(const struct coll_args *a, const struct core_args *x,
                      const struct core_args *y)
{
    return !strncmp(x->call, y->call, sizeof x->call) ||
           (a->also && is_one_of(a, x) && is_one_of(a, y));
}

/* The first value in which x and y differ; COLL_VALUES: the call itself
 * differs; -1: nothing does.  A member that makes no compared call still shows
 * an older `number`. */
static int difference(const struct coll_args *a, const struct core_args *x,
                      const struct core_args *y)
{
    if (x->number != y->number || !same_call(a, x, y))
        return COLL_VALUES;
    for (int k = 0; k < COLL_VALUES; k++)
        if (a->label[k] && x->value[k] != y->value[k])
            return k;
    return -1;
}

/* The member whose arguments most members share; on a tie the lowest. */
static int usual_member(const struct core_team *t, const struct coll_args *a,
                        const struct core_args *all)
{
    int best = 0, best_votes = 0, votes;

    for (int i = 0; i < t->n_pes; i++) {
        votes = 0;
        for (int j = 0; j < t->n_pes; j++)
            votes += difference(a, &all[i], &all[j]) < 0;
        if (votes > best_votes) {
            best_votes = votes;
            best = i;
        }
        if (2 * votes > t->n_pes)
            break;
    }
    return best;
}

/* The first member that differs from its next one: it prints the line. */
static int first_to_differ(const struct core_team *t, const struct coll_args *a,
                           const struct core_args *all)
{
    int i = 0;

    while (i < t->my_pe && difference(a, &all[i], &all[i + 1]) < 0)
        i++;
    return i;
}

/* Prints a value; an address appears as an offset in its segment. */
static const char *show(char *out, size_t size, const char *label, uint64_t v)
{
    static const char *const seg[] = {
        [HEAP_HOST] = "heap", [HEAP_DATA] = "static data",
        [HEAP_DEVICE] = "device heap"
    };

    if (label[0] != '@' || (v >> 56 >= HEAP_SEGS && v != UINT64_MAX))
        snprintf(out, size, "%" PRId64, (int64_t)v);
    else if (v == UINT64_MAX)
        snprintf(out, size, "no symmetric address");
    else
        snprintf(out, size, "%s+0x%" PRIx64, seg[v >> 56],
                 v & (((uint64_t)1 << 56) - 1));
    return out;
}

/* Finds the call of a member that compares nothing: the activity record has its
 * name, which counts only if the member has not gone on meanwhile. */
static bool find_call(const struct core_team *t, int pe, char *out, size_t size)
{
    int world_pe = core_team_world_pe(t, pe);
    const struct core_team_area *w = core_team_area_of(t, pe);
    struct core_activity d;
    uint64_t entry;

    if (coll_is_mapped(t, pe)) {
        entry = __atomic_load_n(&w->entry, __ATOMIC_RELAXED);
        d = core_peer_ctl(world_pe)->activity;
    } else {
        coll_remote_get(world_pe, &w->entry, &entry, sizeof entry);
        coll_remote_get(world_pe, (void *)offsetof(struct core_ctl, activity),
                        &d, sizeof d);
    }
    d.call[sizeof d.call - 1] = '\0';
    if (entry != core_activity_entry(t->entries, core_activity_call_id(d.call)))
        return false;
    snprintf(out, size, "%s", d.call);
    return true;
}

/* The call of a member, such as "shmem_malloc"; *known: it was found. */
static const char *call_made(char *out, size_t size, const struct core_team *t,
                         int pe, const struct core_args *x, bool *known)
{
    if (x->number == t->compared) {
        snprintf(out, size, "%.*s", (int)sizeof x->call, x->call);
    } else if (!find_call(t, pe, out, size)) {
        snprintf(out, size, "another call");
        *known = false;
    }
    return out;
}

/* Member pe and the arguments that it published. */
struct seen {
    int pe;
    struct core_args args;
};

_Noreturn static void report_calls(const struct core_team *t,
                                 const struct coll_args *a, const char *whose,
                                 const struct seen *o, const struct seen *u)
{
    char co[48], cu[48];
    bool known = true;

    call_made(co, sizeof co, t, o->pe, &o->args, &known);
    call_made(cu, sizeof cu, t, u->pe, &u->args, &known);
    core_fatal(ERR_COLL, a->call, "collective call %" PRIu64 "%s: PE %d is in "
               "%s, PE %d in %s%s", core_team_call(t), whose,
               core_team_world_pe(t, o->pe), co, core_team_world_pe(t, u->pe),
               cu, known || core_status.checks ? ""
                                               : "; SHMEM_CHECK=1 names it");
}

/* next: the arguments that this PE found to differ from its own. */
_Noreturn static void name_odd(const struct core_team *t,
                               const struct coll_args *a,
                               const struct seen *mine,
                               const struct seen *next)
{
    const struct core_args *all = copy_all(t, a->call);
    struct seen o = *next, u = { .pe = usual_member(t, a, all) };
    char whose[40] = "", vo[48], vu[48];
    const char *label;
    int k = -1;

    u.args = all[u.pe];
    if (first_to_differ(t, a, all) != t->my_pe)
        core_await_end();
    for (int i = 0; i < t->n_pes && k < 0; i++) {
        o = (struct seen){ i, all[i] };
        k = difference(a, &o.args, &u.args);
    }
    if (k < 0) {        /* the odd member has gone on to its next call */
        o = *next;
        u = *mine;
        k = difference(a, &o.args, &u.args);
    }
    if (t != &core_world)
        snprintf(whose, sizeof whose, " of a team of %d PEs", t->n_pes);
    if (k == COLL_VALUES)
        report_calls(t, a, whose, &o, &u);
    label = a->label[k];
    core_fatal(a->code, a->call, "collective call %" PRIu64 "%s: PE %d passed "
               "%s %s, PE %d passed %s", core_team_call(t), whose,
               core_team_world_pe(t, o.pe), label + (label[0] == '@'),
               show(vo, sizeof vo, label, o.args.value[k]),
               core_team_world_pe(t, u.pe),
               show(vu, sizeof vu, label, u.args.value[k]));
}

void coll_check_args(struct core_team *t, const struct coll_args *a)
{
    struct seen next = { .pe = (t->my_pe + 1) % t->n_pes }, me;
    struct core_args *mine;

    t->compared++;
    mine = args_at(t, t->my_pe);
    snprintf(mine->call, sizeof mine->call, "%s", symbol_public(a->call));
    mine->number = t->compared;
    memcpy(mine->value, a->value, sizeof mine->value);
    coll_sync(t);
    copy_args(t, next.pe, &next.args);
    if (likely(difference(a, mine, &next.args) < 0))
        return;
    me = (struct seen){ t->my_pe, *mine };
    name_odd(t, a, &me, &next);
}
