/* SPDX-License-Identifier: BSD-3-Clause */
/* The synchronisation of a team.  Called by all collectives and barriers; it
 * does not allocate memory.
 *
 * With a core for each PE: dissemination.  In round r a member notifies the
 * member 2^r above it that it has arrived, and waits for the member 2^r below;
 * after log2(n) rounds every member has waited, directly or not, for every
 * other.  Two members exchange one cache line each way.
 *
 * With more PEs than cores each round costs a change of the running process,
 * so the members count themselves at member 0, and the last one releases all:
 * one change per PE.  Nodes that share the cores of one machine gather in a
 * tree and are released along it: 2 (n - 1) messages rather than n log2(n).
 *
 * Flags only grow, by one per synchronisation, so nothing is reset and a fast
 * member may be one ahead. */
#include "coll/coll_ranks.h"

#include <stdlib.h>

#ifdef __SANITIZE_THREAD__
char atomics_tsan_sync;
#endif

static void notify_member(const struct core_team *t, int pe, int round)
{
    /* Releases our earlier stores; pairs with await_round(). */
    coll_set_flag(t, pe, &core_team_area_of(t, pe)->arrived[round], t->epoch);
}

/* Sleeps between two checks for PEs that have finalized: some tenths of a
 * second. */
enum { SLEEPS_PER_CHECK = 64 };
/* The time after which the last barrier reports the PEs that are missing. */
#define LAST_PATIENCE_NS 5000000000u

/* This PE waits at exit, and has not reported the missing PEs yet. */
static bool last_at_exit;

/* Reads that PE's last_sync and last_call. */
static void read_last(int world_pe, uint64_t *out)
{
    const struct core_ctl *peer = core_peer_ctl(world_pe);

    if (!coll_is_mapped(&core_world, world_pe)) {
        coll_remote_get(world_pe,
                        (void *)offsetof(struct core_ctl, activity.last_sync),
                        out, 2 * sizeof *out);
        return;
    }
    out[0] = __atomic_load_n(&peer->activity.last_sync, __ATOMIC_ACQUIRE);
    out[1] = peer->activity.last_call;
}

/* The name of this thread's call. */
static const char *call_name(void)
{
    return xport_call ? xport_call : "collective call";
}

static void need_one(uint64_t sync, int pe)
{
    uint64_t last[2];

    read_last(pe, last);
    if (last[0] && (last[0] < sync || last[1] < core_world.calls))
        core_fatal(ERR_COLL, call_name(), "waits for PE %d, which has made fewer "
                   "collective calls and is in shmem_finalize%s", pe, core_status.checks ? ""
                   : "; SHMEM_CHECK=1 names calls that do not match");
}

void coll_need_all(uint64_t sync)
{
    for (int i = 0; i < core_world.n_pes; i++)
        need_one(sync, i);
}

/* Checks the PEs that can be read without a message. */
static void need_mapped(uint64_t sync)
{
    for (int i = 0; i < core_world.n_pes; i++)
        if (coll_is_mapped(&core_world, i))
            need_one(sync, i);
}

/* Others may compute for long, so this is no error. */
static void report_missing(void)
{
    uint64_t last[2];
    int first = -1, n = 0;

    last_at_exit = false;
    for (int i = 0; i < core_world.n_pes; i++) {
        read_last(i, last);
        if (last[0])
            continue;
        if (n++ == 0)
            first = i;
    }
    if (n)
        log_warn(ERR_EXIT, "exit without shmem_finalize has waited 5 s for "
                 "the other PEs to finalize: %d of %d have not, the first is "
                 "PE %d; the job hangs if they wait for this one", n,
                 core_world.n_pes, first);
}

/* Waits until *word is at least value, without a flush.  A wait that lasts
 * checks the other PEs: mapped ones here, off-node ones in core_stall.c. */
static void wait_for(const struct core_team *t, uint64_t *word, uint64_t value,
                     bool on_node)
{
    struct core_waiter w;
    unsigned sleeps = 0;

    /* The later of two PEs finds the other arrived, and sets up no waiter. */
    if (__atomic_load_n(word, __ATOMIC_ACQUIRE) >= value) {
        atomics_tsan_acquire();
        return;
    }
    w = core_wait_begin(word, sizeof *word);
    w.on_node = on_node;
    /* acquire: pairs with the release of the member that raised the word. */
    while (__atomic_load_n(word, __ATOMIC_ACQUIRE) < value) {
        core_wait_step(&w);
        if (likely(!w.announced || t != &core_world ||
                   ++sleeps % SLEEPS_PER_CHECK))
            continue;
        need_mapped(t->epoch);
        if (last_at_exit && core_wait_ns(&w) > LAST_PATIENCE_NS)
            report_missing();
    }
    core_wait_end(&w);
    atomics_tsan_acquire();
}

void coll_wait(const struct core_team *t, uint64_t *word, uint64_t value)
{
    wait_for(t, word, value, t->mapped);
    xport_flush();
}

void coll_wait_mapped(const struct core_team *t, uint64_t *word, uint64_t value)
{
    wait_for(t, word, value, true);
}

static void await_round(const struct core_team *t, int round)
{
    wait_for(t, &core_team_area_of(t, t->my_pe)->arrived[round], t->epoch,
             t->mapped);
}

/* The members that synchronize by messages: all, or the leaders of the nodes.
 */
struct participants {
    const struct core_team *t;
    const int *leaders;         /* or NULL */
    int n, me;
};

static void notify_nth(const struct participants *m, int i, int round)
{
    notify_member(m->t, m->leaders ? m->leaders[i] : i, round);
}

static void disseminate(const struct participants *m)
{
    int to;                     /* step < n, so at most once around */

    for (int round = 0, step = 1; step < m->n; round++, step *= 2) {
        to = m->me + step;
        notify_nth(m, to < m->n ? to : to - m->n, round);
        await_round(m->t, round);
    }
}

/* The parent is the member without the lowest bit of this one's number: the two
 * notify each other through the flag of that bit. */
static void gather_in_tree(const struct participants *m)
{
    int round = 0, step = 1;

    for (; step < m->n && !(m->me & step); round++, step *= 2)
        if (m->me + step < m->n)
            await_round(m->t, round);
    if (m->me) {
        notify_nth(m, m->me - step, round);
        await_round(m->t, round);
    }
    while (round--) {
        step /= 2;
        if (m->me + step < m->n)
            notify_nth(m, m->me + step, round);
    }
}

static void synchronize(const struct participants *m)
{
    if (coll_sync_tree)
        gather_in_tree(m);
    else
        disseminate(m);
}

static void gather_and_release(struct core_team *t)
{
    uint64_t count;

    atomics_tsan_release();
    /* acq_rel: the last arrival has seen, and hands on, all members' stores. */
    count = __atomic_add_fetch(&core_team_area_of(t, 0)->gathered, 1,
                               __ATOMIC_ACQ_REL);
    atomics_tsan_acquire();
    if (count < ++t->gatherings * (uint64_t)t->n_pes) {
        await_round(t, 0);
        return;
    }
    for (int i = t->my_pe + 1; i < t->n_pes; i++)
        notify_member(t, i, 0);
    for (int i = 0; i < t->my_pe; i++)
        notify_member(t, i, 0);
}

/* Members of a node synchronize in memory before and after their leaders do so
 * by messages. */
static void sync_by_nodes(struct core_team *t)
{
    const struct core_nodes *k = t->nodes;

    coll_nodes_gather(t);
    if (coll_nodes_leads(t))
        synchronize(&(struct participants){ t, k->leaders, k->n, k->mine });
    coll_nodes_release(t);
}

void coll_sync(struct core_team *t)
{
    t->epoch++;
    if (unlikely(!t->mapped) && t->nodes && coll_sync_nodes)
        sync_by_nodes(t);
    else if (t->mapped && coll_sync_gathers)
        gather_and_release(t);
    else
        synchronize(&(struct participants){ t, NULL, t->n_pes, t->my_pe });
    xport_flush();              /* once, of what all have put */
}

void coll_barrier_world(void)
{
    core_quiet(NULL, &core_ctx_default);
    coll_sync(&core_world);
}

void coll_barrier_last(bool at_exit)
{
    core_quiet(NULL, &core_ctx_default);
    core_ctl->activity.last_call = core_world.calls;
    __atomic_store_n(&core_ctl->activity.last_sync, core_world.epoch + 1,
                     __ATOMIC_RELEASE);
    last_at_exit = at_exit;
    coll_sync(&core_world);
    last_at_exit = false;
}

struct coll_call coll_publish_begin(struct core_team *t, uint64_t word)
{
    struct coll_call c = coll_begin(t);

    /* relaxed: the next synchronisation orders it. */
    __atomic_store_n(&core_team_area_of(t, t->my_pe)->value[c.parity], word,
                     __ATOMIC_RELAXED);
    return c;
}

uint64_t coll_published_by(const struct coll_call *c, int pe)
{
    const struct core_team_area *w = core_team_area_of(c->t, pe);
    uint64_t word;

    if (coll_is_mapped(c->t, pe))
        return __atomic_load_n(&w->value[c->parity], __ATOMIC_RELAXED);
    coll_remote_get(core_team_world_pe(c->t, pe), &w->value[c->parity], &word,
                    sizeof word);
    return word;
}

void coll_publish_end(const struct coll_call *c)
{
    struct core_team *t = c->t;
    struct core_team_area *w;

    if (t->mapped)
        return;
    if (!t->published)
        t->published = malloc((size_t)t->n_pes * sizeof *t->published);
    if (!t->published)
        core_fatal(ERR_LIMIT, call_name(), "no memory for a word of each "
                   "of %d PEs", t->n_pes);
    for (int i = 0; i < t->n_pes; i++) {
        w = core_team_area_of(t, i);
        if (coll_is_mapped(t, i))
            t->published[i] = __atomic_load_n(&w->value[c->parity],
                                              __ATOMIC_RELAXED);
        else
            coll_remote_get_nbi(core_team_world_pe(t, i), &w->value[c->parity],
                                &t->published[i], sizeof t->published[i]);
    }
    coll_remote_quiet();
}

struct coll_call coll_publish(struct core_team *t, uint64_t word)
{
    struct coll_call c = coll_publish_begin(t, word);

    coll_sync(t);
    coll_publish_end(&c);
    return c;
}
