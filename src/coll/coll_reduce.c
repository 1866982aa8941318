/* SPDX-License-Identifier: BSD-3-Clause */
/* Reductions.  Whatever the algorithm, each element is combined in an order
 * that depends on the members' numbers and nodes alone, and either by one
 * member for all or with the same operands on the same sides: all get the
 * same bits.  In two levels the order is that of the members within each node,
 * then that of the leaders' algorithm over what the nodes have. */
#include "coll/coll_device.h"
#include "coll/coll_ranks.h"

#include <stdlib.h>

enum {
    BLOCK = 8192,               /* bytes combined at a time: stays in cache */
    IN_PLACE_MOST = 4096,       /* pull, where dest is source */
    DOUBLING_MOST = 4096        /* leaders: so much in pieces */
};

struct reduction {
    char *dest;
    const char *source;
    size_t n, size;             /* elements, bytes of one */
    coll_op *op;
};

/* Elements [at, at + n) of all of them, combined in their order. */
static void combine(const struct core_team *t, const struct coll_ranks *k,
                    const struct reduction *r, size_t at, size_t n, char *out)
{
    const char *from = r->source + at * r->size;
    const char *first = coll_at(t, coll_rank_pe(k, 0), from);

    if (k->n == 1) {
        core_copy(out, first, n * r->size);
        return;
    }
    coll_apply(r->op, out, first, coll_at(t, coll_rank_pe(k, 1), from), n,
               r->size);
    for (int i = 2; i < k->n; i++)
        coll_apply(r->op, out, out, coll_at(t, coll_rank_pe(k, i), from), n,
                   r->size);
}

/* The part of the elements that is this one's: of whole cache lines. */
static size_t part_of(const struct coll_ranks *k, const struct reduction *r,
                      int i, size_t *end)
{
    size_t line = 64 / r->size ? 64 / r->size : 1;
    size_t part = (r->n / (size_t)k->n / line + 1) * line;
    size_t from = (size_t)i * part, to = from + part;

    *end = to < r->n ? to : r->n;
    return from < r->n ? from : r->n;
}

/* ---- on mapped memory ---- */

/* Everybody reads everything. */
static void reduce_pull(struct core_team *t, const struct reduction *r)
{
    bool in_place = r->dest == r->source;
    size_t step = BLOCK / r->size, len;
    struct coll_ranks k = coll_ranks_all(t);
    _Alignas(64) char kept[IN_PLACE_MOST];

    coll_sync(t);
    for (size_t at = 0; at < r->n; at += len) {
        len = r->n - at < step ? r->n - at : step;
        combine(t, &k, r, at, len, (in_place ? kept : r->dest) + at * r->size);
    }
    coll_sync(t);
    if (in_place)
        core_copy(r->dest, kept, r->n * r->size);
}

static bool for_device(const struct reduction *r)
{
    return unlikely(gtl_device_only) &&
           coll_device_takes(r->dest, r->source, r->n * r->size, r->size,
                             r->op);
}

/* The same part as it is without the device; the own source is the first. */
static void device_part(const struct core_team *t, const struct coll_ranks *k,
                        const struct reduction *r, int to)
{
    size_t end, at = part_of(k, r, k->me, &end);
    const struct coll_part p = {
        .t = t, .who = k->who, .first = k->me, .count = k->n, .to = to,
        .dest = r->dest, .source = r->source, .at = at, .n = end - at,
        .size = r->size, .op = r->op
    };

    if (at < end)
        coll_device_combine(&p);
}

/* Each member reads one part of all sources, and writes it to all dests.  The
 * part of a source is read by one member only, so dest may be source. */
static void reduce_split(struct core_team *t, const struct reduction *r)
{
    struct coll_ranks k = coll_ranks_all(t);
    size_t step = BLOCK / r->size, len, to, from = part_of(&k, r, k.me, &to);
    _Alignas(64) char acc[BLOCK];

    coll_sync(t);
    if (for_device(r)) {
        device_part(t, &k, r, k.n);
        from = to;
    }
    for (size_t at = from; at < to; at += len) {
        len = to - at < step ? to - at : step;
        combine(t, &k, r, at, len, acc);
        for (int i = 0; i < t->n_pes; i++)
            coll_put(t, (t->my_pe + i) % t->n_pes, r->dest + at * r->size,
                     acc, len * r->size);
    }
    coll_sync(t);
}

/* ---- by messages ---- */

static void reduce_doubling(struct core_team *t, const struct reduction *r)
{
    struct coll_ranks k = coll_ranks_all(t);
    size_t step = CORE_PIECE / r->size, len;
    _Alignas(64) char acc[CORE_PIECE];
    struct coll_call c;

    for (size_t at = 0; at < r->n; at += len) {
        len = r->n - at < step ? r->n - at : step;
        core_copy(acc, r->source + at * r->size, len * r->size);
        c = coll_begin(t);
        coll_doubling(&c, &k, acc, len, r->size, r->op);
        core_copy(r->dest + at * r->size, acc, len * r->size);
    }
}

static struct coll_vector vector_of(const struct reduction *r)
{
    return (struct coll_vector){ r->dest, r->source, r->n, r->size, r->op };
}

static void reduce_halving(struct core_team *t, const struct reduction *r)
{
    struct coll_ranks k = coll_ranks_all(t);
    struct coll_vector v = vector_of(r);

    coll_halving(t, &k, &v);
}

struct chunks {
    size_t each, n;             /* elements of one, of all */
};

static size_t chunk_at(const struct chunks *k, int i)
{
    size_t at = (size_t)i * k->each;

    return at < k->n ? at : k->n;
}

/* Each chunk goes around twice: once it is summed up, starting at the member
 * of its number, and once handed out.  It always lands in dest, where the
 * member it passes adds its source; so dest may not be source. */
static void reduce_ring(struct core_team *t, const struct reduction *r)
{
    int n = t->n_pes, next = (t->my_pe + 1) % n, chunk = t->my_pe;
    struct chunks k = { (r->n + (size_t)n - 1) / (size_t)n, r->n };
    struct coll_call c = coll_begin(t);
    size_t from, bytes;

    for (int s = 0; s < 2 * (n - 1); s++) {
        from = chunk_at(&k, chunk) * r->size;
        bytes = chunk_at(&k, chunk + 1) * r->size - from;
        coll_send_count(&c, next, r->dest + from,
                        (s ? r->dest : r->source) + from, bytes);
        coll_await_count(&c, 1);
        chunk = (chunk - 1 + n) % n;
        from = chunk_at(&k, chunk) * r->size;
        bytes = chunk_at(&k, chunk + 1) * r->size - from;
        if (s < n - 1)
            coll_apply(r->op, r->dest + from, r->dest + from,
                       r->source + from, bytes / r->size, r->size);
    }
}

static void *room_for(size_t bytes)
{
    void *p = malloc(bytes);

    if (!p)
        core_fatal(ERR_LIMIT, "reduction", "no memory for a copy of %zu bytes",
                   bytes);
    return p;
}

/* ---- in two levels ---- */

/* The leader reads what its node has, and hands the result out. */
static void nodes_doubling(struct core_team *t, const struct reduction *r)
{
    struct coll_ranks leaders = coll_ranks_leaders(t);
    struct coll_ranks here = coll_ranks_here(t);
    size_t step = CORE_PIECE / r->size, len;
    _Alignas(64) char acc[CORE_PIECE];
    struct coll_call c;

    coll_nodes_gather(t);
    for (size_t at = 0; at < r->n; at += len) {
        len = r->n - at < step ? r->n - at : step;
        if (!coll_nodes_leads(t)) {
            coll_skip(t, 1);    /* the leader's exchange of this piece */
            continue;
        }
        combine(t, &here, r, at, len, acc);
        c = coll_begin(t);
        coll_doubling(&c, &leaders, acc, len, r->size, r->op);
        for (int i = 0; i < here.n; i++)
            coll_put(t, here.who[i], r->dest + at * r->size, acc,
                     len * r->size);
    }
    coll_nodes_release(t);
}

/* Each member combines a part of its node's sources, in its own dest: no
 * other member reads that part of a source, so dest may be source. */
static void combine_part(struct core_team *t, const struct reduction *r)
{
    struct coll_ranks here = coll_ranks_here(t);
    size_t step = BLOCK / r->size, to, len;

    if (for_device(r)) {
        device_part(t, &here, r, 0);
        return;
    }
    for (size_t at = part_of(&here, r, here.me, &to); at < to; at += len) {
        _Alignas(64) char acc[BLOCK];

        len = to - at < step ? to - at : step;
        combine(t, &here, r, at, len, acc);
        core_copy(r->dest + at * r->size, acc, len * r->size);
    }
}

/* The leaders' exchange of what their nodes have, which each brings together in
 * its own dest first: the members are done with their sources. */
static void halve_leaders(struct core_team *t, const struct reduction *r)
{
    struct coll_ranks leaders = coll_ranks_leaders(t);
    struct coll_ranks here = coll_ranks_here(t);
    struct coll_vector v = vector_of(r);
    size_t from, to;

    for (int i = 1; i < here.n; i++) {
        from = part_of(&here, r, i, &to);
        if (from < to)
            core_copy(r->dest + from * r->size,
                      (char *)coll_at(t, here.who[i], r->dest) +
                      from * r->size, (to - from) * r->size);
    }
    v.source = r->dest;
    coll_halving(t, &leaders, &v);
}

static void nodes_halving(struct core_team *t, const struct reduction *r)
{
    struct coll_vector v = vector_of(r);

    coll_nodes_gather(t);
    coll_nodes_release(t);
    combine_part(t, r);
    coll_nodes_gather(t);
    if (coll_nodes_leads(t))
        halve_leaders(t, r);
    else
        coll_halving_skip(t, &v);
    coll_nodes_release(t);
    if (!coll_nodes_leads(t))
        core_copy(r->dest, coll_at(t, t->nodes->members[0], r->dest),
                   r->n * r->size);
    /* All have copied before the leader's dest changes. */
    coll_nodes_gather(t);
    coll_nodes_release(t);
}

static void reduce_nodes(struct core_team *t, const struct reduction *r)
{
    if (r->n * r->size <= DOUBLING_MOST)
        nodes_doubling(t, r);
    else
        nodes_halving(t, r);
    xport_flush();              /* for those who have waited for a leader only */
}

void coll_reduce(struct core_team *t, void *dest, const void *source, size_t n,
                 size_t size, coll_op *op)
{
    struct reduction r = { dest, source, n, size, op };
    bool in_place = dest == source;
    void *kept = NULL;
    enum coll_alg alg;

    if (t->n_pes == 1) {
        if (!in_place && n)
            core_copy(dest, source, n * size);
        return;
    }
    alg = coll_choose(COLL_REDUCE, t, n * size);
    if (alg == COLL_PULL && ((in_place && n * size > IN_PLACE_MOST) ||
                             (for_device(&r) && coll_is_auto(COLL_REDUCE))))
        alg = COLL_SPLIT;
    if (alg == COLL_RING && in_place) {
        kept = room_for(n * size);
        core_copy(kept, source, n * size);
        r.source = kept;
        coll_sync(t);           /* others write to dest from here on */
    }
    if (alg == COLL_PULL)
        reduce_pull(t, &r);
    else if (alg == COLL_DOUBLING)
        reduce_doubling(t, &r);
    else if (alg == COLL_NODES)
        reduce_nodes(t, &r);
    else if (alg == COLL_HALVING)
        reduce_halving(t, &r);
    else if (alg == COLL_RING)
        reduce_ring(t, &r);
    else
        reduce_split(t, &r);
    free(kept);
}
