/* SPDX-License-Identifier: BSD-3-Clause */
/* Collects: blocks of all members, one after the other, to all.
 *
 * Where members are off-node and bring unlike blocks, none learns all sizes:
 * each finds where its own begins by a sum over the members before it, and a
 * message says where what it brings begins. */
#include "coll/coll_ranks.h"

static void copy_here(void *dest, const void *source, size_t bytes)
{
    if (dest != source && bytes)
        core_copy(dest, source, bytes);
}

/* ---- runs of bytes ---- */

struct gather {
    const struct coll_call *c;
    const struct coll_ranks *who;
    const struct coll_runs *r;
    size_t start;               /* of what this rank has by now */
    int last;                   /* the distance of the last round */
};

/* The runs of this rank and the count - 1 ranks before it, in round k. */
static void send_runs(const struct gather *g, int pe, int count, int k)
{
    const struct coll_runs *r = g->r;
    int n = g->who->n, me = g->who->me, first = (me - count + 1 + n) % n;
    size_t from = first == 0 ? 0 : r->each ? coll_run_at(r, first) : g->start;
    uint64_t start = from;

    if (first > me) {           /* they begin at the end of dest */
        coll_put(g->c->t, pe, r->dest + from, r->have + from, r->all - from);
        from = 0;
    }
    if (r->each) {
        coll_send(g->c, pe, r->dest + from, r->have + from, r->to - from, k);
        return;
    }
    coll_put(g->c->t, pe, r->dest + from, r->have + from, r->to - from);
    coll_send_scratch(g->c, pe, k, &start, sizeof start, k);
}

/* In the last round there may be less to send than this rank has, and only the
 * receiver knows the end of its own run. */
static void send_last_end(struct gather *g, int rounds)
{
    int n = g->who->n, to = coll_rank_pe(g->who, g->who->me - g->last + n);
    uint64_t end = g->r->to;

    coll_send_scratch(g->c, to, rounds, &end, sizeof end, rounds);
}

static size_t receive_last_end(const struct gather *g, int rounds)
{
    const struct coll_call *c = g->c;
    uint64_t end;

    coll_await(c, rounds);
    memcpy(&end, core_team_scratch(c->t, c->t->my_pe, c->parity, rounds),
           sizeof end);
    return (size_t)end;
}

/* Round k sends all of the at most 2^k runs that end with our own. */
void coll_runs_gather(const struct coll_call *c, const struct coll_ranks *who,
                      const struct coll_runs *r)
{
    int n = who->n, rounds = core_team_rounds(n), to, count;
    struct gather g = { .c = c, .who = who, .r = r, .start = r->from,
                        .last = n > 1 ? 1 << (rounds - 1) : 0 };
    bool short_last = !r->each && n != 2 * g.last && n > 1;
    uint64_t start;

    if (short_last)
        send_last_end(&g, rounds);
    for (int k = 0, have = 1; have < n; k++, have += count) {
        to = coll_rank_pe(who, who->me + have);
        count = have < n - have ? have : n - have;
        if (short_last && have == g.last)
            g.start = receive_last_end(&g, rounds);
        if (r->first_has && (who->me + have) % n == 0)
            coll_notify(c, to, k);
        else
            send_runs(&g, to, count, k);
        coll_await(c, k);
        if (r->each)
            continue;
        memcpy(&start, core_team_scratch(c->t, c->t->my_pe, c->parity, k),
               sizeof start);
        g.start = (size_t)start;
    }
}

/* ---- blocks of members ---- */

struct blocks {
    struct coll_call call;      /* in which the sizes were published */
    size_t bytes;               /* of every block, unless they differ */
    bool differ;
    bool known;                 /* all sizes, though they differ */
    size_t before, all;         /* bytes: not known, this member's place */
};

static size_t size_of(const struct blocks *b, int pe)
{
    return b->differ ? coll_published(&b->call, pe) : b->bytes;
}

static size_t start_of(const struct blocks *b, int pe)
{
    size_t at = 0;

    if (!b->differ)
        return (size_t)pe * b->bytes;
    for (int i = 0; i < pe; i++)
        at += coll_published(&b->call, i);
    return at;
}

static void collect_push(struct core_team *t, const struct blocks *b,
                         char *dest, const void *source)
{
    size_t at = start_of(b, t->my_pe), bytes = size_of(b, t->my_pe);

    for (int i = 0; i < t->n_pes; i++)
        coll_put(t, (t->my_pe + i) % t->n_pes, dest + at, source, bytes);
    coll_flush(t);
    coll_sync(t);
}

/* All members have entered: their sizes are known, or a synchronisation waits
 * for them. */
static void collect_pull(struct core_team *t, const struct blocks *b,
                         char *dest, const void *source)
{
    size_t at = 0, bytes;

    if (!b->differ)
        coll_sync(t);
    for (int i = 0; i < t->n_pes; i++, at += bytes) {
        bytes = size_of(b, i);
        if (bytes)
            core_copy(dest + at, coll_at(t, i, source), bytes);
    }
    coll_sync(t);
}

/* Every block goes once around. */
static void collect_ring(struct core_team *t, const struct blocks *b,
                         char *dest, const void *source)
{
    int n = t->n_pes, next = (t->my_pe + 1) % n, block = t->my_pe;
    struct coll_call c = coll_begin(t);
    size_t at = start_of(b, block), bytes = size_of(b, block);

    copy_here(dest + at, source, bytes);
    for (int s = 1; s < n; s++) {
        coll_send_count(&c, next, dest + at, dest + at, bytes);
        coll_await_count(&c, 1);
        block = (block - 1 + n) % n;
        at = block == n - 1 ? start_of(b, block) : at - size_of(b, block);
        bytes = size_of(b, block);
    }
    /* The sizes stay readable until all have passed everything on. */
    coll_sync(t);
}

/* This member's block in dest. */
static void find_mine(const struct core_team *t, const struct blocks *b,
                      size_t *from, size_t *to)
{
    bool unknown = b->differ && !b->known;

    *from = unknown ? b->before : start_of(b, t->my_pe);
    *to = *from + (unknown ? b->bytes : size_of(b, t->my_pe));
}

static void collect_bruck(struct core_team *t, const struct blocks *b,
                          char *dest, const void *source)
{
    struct coll_ranks who = coll_ranks_all(t);
    struct coll_runs r = { .dest = dest, .have = dest, .all = b->all,
                           .each = b->differ ? 0 : b->bytes };
    struct coll_call c = coll_begin(t);

    find_mine(t, b, &r.from, &r.to);
    copy_here(dest + r.from, source, r.to - r.from);
    coll_runs_gather(&c, &who, &r);
}

/* Each node's blocks are brought together at its leader, which must make them
 * one run of bytes; from there everybody copies all of them. */
static void collect_nodes(struct core_team *t, const struct blocks *b,
                          char *dest, const void *source)
{
    const struct core_nodes *k = t->nodes;
    struct coll_ranks who = coll_ranks_leaders(t);
    struct coll_runs r = { .dest = dest, .have = dest, .all = b->all };
    int leader = k->members[0], last = k->members[k->n_here - 1];
    struct coll_call c;

    find_mine(t, b, &r.from, &r.to);
    c = coll_publish_begin(t, r.to);
    if (coll_nodes_leads(t))
        copy_here(dest + r.from, source, r.to - r.from);
    else
        coll_put(t, leader, dest + r.from, source, r.to - r.from);
    coll_nodes_gather(t);
    if (coll_nodes_leads(t)) {
        r.to = core_team_area_of(t, last)->value[c.parity];
        coll_runs_gather(&c, &who, &r);
    }
    coll_nodes_release(t);
    if (!coll_nodes_leads(t) && b->all)
        core_copy(dest, coll_at(t, leader, dest), b->all);
    /* All have copied before the leader's dest changes. */
    coll_nodes_gather(t);
    coll_nodes_release(t);
    xport_flush();              /* for those who have waited for a leader only */
}

/* A member that brings nothing may name no source, and then cannot derive the
 * others' addresses from its own. */
static bool all_name_source(const struct core_team *t, const struct blocks *b)
{
    for (int i = 0; i < t->n_pes; i++)
        if (size_of(b, i) == 0)
            return false;
    return true;
}

/* Learns the sizes of the others' blocks: all of them where the algorithm needs
 * that, else the sums. */
static struct blocks learn_blocks(struct core_team *t, size_t bytes)
{
    enum coll_alg requested = coll_requested(COLL_COLLECT);
    struct blocks b = { .bytes = bytes, .differ = true };
    struct coll_agreed sum = { .sum = bytes };

    b.known = t->mapped || requested == COLL_RING || requested == COLL_PUSH;
    if (b.known) {
        b.call = coll_publish(t, bytes);
        b.all = start_of(&b, t->n_pes);
        return b;
    }
    b.call = coll_begin(t);
    coll_agree(&b.call, &sum);
    b.before = (size_t)sum.before;
    b.all = (size_t)sum.sum;
    return b;
}

static void collect(struct core_team *t, enum coll_alg alg,
                    const struct blocks *b, void *dest, const void *source)
{
    switch (alg) {
    case COLL_PULL:
        collect_pull(t, b, dest, source);
        break;
    case COLL_RING:
        collect_ring(t, b, dest, source);
        break;
    case COLL_BRUCK:
        collect_bruck(t, b, dest, source);
        break;
    case COLL_NODES:
        collect_nodes(t, b, dest, source);
        break;
    default:
        collect_push(t, b, dest, source);
    }
}

void coll_collect(struct core_team *t, void *dest, const void *source,
                  size_t bytes, void (*check)(const void *arg, size_t all),
                  const void *arg)
{
    struct blocks b = learn_blocks(t, bytes);
    enum coll_alg alg;

    check(arg, b.all);
    /* By what all bring, so that all choose alike. */
    alg = coll_choose(COLL_COLLECT, t, b.all / (size_t)t->n_pes);
    if (alg == COLL_PULL && !all_name_source(t, &b))
        alg = COLL_PUSH;
    collect(t, alg, &b, dest, source);
}

void coll_fcollect(struct core_team *t, void *dest, const void *source,
                   size_t bytes)
{
    struct blocks b = { .bytes = bytes, .all = bytes * (size_t)t->n_pes };

    collect(t, coll_choose(COLL_FCOLLECT, t, bytes), &b, dest, source);
}
