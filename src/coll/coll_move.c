/* SPDX-License-Identifier: BSD-3-Clause */
/* The algorithms of broadcasts.  Called by coll_broadcast(), on all members of
 * a team; the arguments were checked. */
#include "coll/coll_ranks.h"

enum {
    SEGMENT = 16384,            /* of a pipeline */
    /* Between nodes: so much goes in one piece, or all to so few nodes; else
     * each gets a part of it first. */
    NODES_WHOLE = 65536, NODES_FEW = 2,
    LINE = 64,
    /* Flags of one call, beside those of coll_runs_gather. */
    PASSED = CORE_ROUNDS - 2, HERE = CORE_ROUNDS - 1
};

static void broadcast_push(struct core_team *t, void *dest, const void *source,
                           size_t bytes, int root)
{
    if (t->my_pe == root)
        for (int i = 1; i < t->n_pes; i++)
            coll_put(t, (root + i) % t->n_pes, dest, source, bytes);
    coll_flush(t);
    coll_sync(t);
}

/* Each takes what it needs, but for a share that the root brings: all copy
 * the same number of bytes at the same time. */
static void broadcast_pull(struct core_team *t, char *dest, const char *source,
                           size_t bytes, int root, bool own)
{
    size_t share = own ? 0 : bytes / (size_t)t->n_pes / 64 * 64;

    coll_sync(t);
    if (t->my_pe != root)
        core_copy(dest + share, (char *)coll_at(t, root, source) + share,
                  bytes - share);
    else if (own)
        core_copy(dest, source, bytes);
    else
        for (int i = 1; i < t->n_pes; i++)
            coll_put(t, (root + i) % t->n_pes, dest, source, share);
    coll_sync(t);
}

/* A member that has the data sends it to the member at half the distance, and
 * so on. */
static void broadcast_binomial(struct core_team *t, void *dest,
                               const void *source, size_t bytes, int root)
{
    struct coll_call c = coll_begin(t);
    int n = t->n_pes, v = (t->my_pe - root + n) % n, step = 1, pe;

    while (step < n)
        step *= 2;
    if (v) {
        coll_await(&c, 0);
        source = dest;
        step = v & -v;
    }
    for (step /= 2; step; step /= 2) {
        if (v + step >= n)
            continue;
        pe = (t->my_pe + step) % n;
        coll_send(&c, pe, dest, source, bytes, 0);
    }
    coll_sync(t);
}

/* A chain in which each passes a segment on while the next one comes. */
static void broadcast_pipeline(struct core_team *t, void *dest,
                               const void *source, size_t bytes, int root)
{
    struct coll_call c = coll_begin(t);
    int n = t->n_pes, v = (t->my_pe - root + n) % n, next = (t->my_pe + 1) % n;
    size_t len;

    for (size_t at = 0; at < bytes; at += len) {
        len = bytes - at < SEGMENT ? bytes - at : SEGMENT;
        if (v)
            coll_await_count(&c, 1);
        if (v == n - 1)
            continue;
        coll_send_count(&c, next, (char *)dest + at,
                        (const char *)(v ? dest : source) + at, len);
    }
    coll_sync(t);
}

/* Parts of it, in the order of the ranks, go down a binomial tree that begins
 * at rank 0; then all give each other what they got.  So no rank sends all of
 * it more than about twice, and none waits for more than two log2(n) others.
 * source: of rank 0. */
static void scatter_and_gather(const struct coll_call *c,
                               const struct coll_ranks *who, void *dest,
                               const void *source, size_t bytes)
{
    int n = who->n, v = who->me, step = 1, end;
    size_t each = (bytes / (size_t)n / LINE + 1) * LINE, from, to;
    struct coll_runs r = { .dest = dest, .have = v ? dest : source,
                           .all = bytes, .each = each, .first_has = true };

    while (step < n)
        step *= 2;
    if (v) {
        coll_await(c, PASSED);
        step = v & -v;
    }
    for (step /= 2; step; step /= 2) {
        if (v + step >= n)
            continue;
        end = v + 2 * step < n ? v + 2 * step : n;
        from = coll_run_at(&r, v + step);
        to = coll_run_at(&r, end);
        coll_send(c, coll_rank_pe(who, v + step), (char *)dest + from,
                  r.have + from, to - from, PASSED);
    }
    r.from = coll_run_at(&r, v);
    r.to = coll_run_at(&r, v + 1);
    coll_runs_gather(c, who, &r);
}

static void broadcast_scatter(struct core_team *t, void *dest,
                              const void *source, size_t bytes, int root)
{
    struct coll_ranks who = coll_ranks_all(t);
    struct coll_call c = coll_begin(t);

    who.me = (t->my_pe - root + t->n_pes) % t->n_pes;
    who.shift = root;
    scatter_and_gather(&c, &who, dest, source, bytes);
}

/* ---- in two levels ---- */

/* The members that have the data on their nodes: the root, or the leader. */
static struct coll_ranks heads_of(const struct core_team *t, int root)
{
    struct coll_ranks heads = coll_ranks_leaders(t);

    heads.shift = coll_nodes_of(t, root);
    heads.me = (heads.me - heads.shift + heads.n) % heads.n;
    heads.first = root;
    return heads;
}

static void heads_binomial(const struct coll_call *c,
                           const struct coll_ranks *heads, void *dest,
                           const void *source, size_t bytes)
{
    int step = 1, pe;

    while (step < heads->n && !(heads->me & step))
        step *= 2;
    if (heads->me)
        coll_await(c, PASSED);
    for (step /= 2; step; step /= 2) {
        if (heads->me + step >= heads->n)
            continue;
        pe = coll_rank_pe(heads, heads->me + step);
        coll_send(c, pe, dest, source, bytes, PASSED);
    }
}

/* Of each node one member, which is the root on the root's, gets it by
 * messages, and the others of its node copy it from there. */
static void broadcast_nodes(struct core_team *t, void *dest,
                            const void *source, size_t bytes, int root)
{
    const struct core_nodes *k = t->nodes;
    struct coll_ranks heads = heads_of(t, root);
    int head = coll_rank_pe(&heads, heads.me);
    const void *from = heads.me ? dest : source;
    bool whole = bytes <= NODES_WHOLE || heads.n <= NODES_FEW;
    struct coll_call c = coll_begin(t);

    if (t->my_pe != head) {
        coll_await(&c, HERE);
        if (bytes)
            core_copy(dest, coll_at(t, head, from), bytes);
    } else {
        if (whole)
            heads_binomial(&c, &heads, dest, from, bytes);
        else
            scatter_and_gather(&c, &heads, dest, from, bytes);
        for (int i = 0; i < k->n_here; i++)
            if (k->members[i] != head)
                coll_notify(&c, k->members[i], HERE);
    }
    coll_sync(t);
}

/* own: the root's dest is to be written, too. */
void coll_broadcast(struct core_team *t, void *dest, const void *source,
                    size_t bytes, int root, bool root_too)
{
    bool own = root_too && dest != source && bytes;

    switch (coll_choose(COLL_BROADCAST, t, bytes)) {
    case COLL_PULL:
        broadcast_pull(t, dest, source, bytes, root, own);
        return;
    case COLL_BINOMIAL:
        broadcast_binomial(t, dest, source, bytes, root);
        break;
    case COLL_PIPELINE:
        broadcast_pipeline(t, dest, source, bytes, root);
        break;
    case COLL_SCATTER:
        broadcast_scatter(t, dest, source, bytes, root);
        break;
    case COLL_NODES:
        broadcast_nodes(t, dest, source, bytes, root);
        break;
    default:
        broadcast_push(t, dest, source, bytes, root);
    }
    if (t->my_pe == root && own)
        core_copy(dest, source, bytes);
}
