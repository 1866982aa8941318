/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives that move blocks as they are: broadcast and collect. */
#include "coll/coll_int.h"

enum {
    SEGMENT = 16384,            /* of a pipeline */
    /* Between nodes: so much goes in one piece, or all to so few nodes; else
     * in longer segments, each of which wakes every PE. */
    NODES_WHOLE = 65536, NODES_FEW = 2, NODES_SEGMENT = 65536
};

static void copy_here(void *dest, const void *source, size_t bytes)
{
    if (dest != source && bytes)
        core_copy(dest, source, bytes);
}

/* ---- broadcast: own says that the root's dest is to be written, too ---- */

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
        copy_here(dest + share, (char *)coll_at(t, root, source) + share,
                  bytes - share);
    else if (own)
        core_copy(dest, source, bytes);
    else
        for (int i = 1; i < t->n_pes; i++)
            coll_put(t, (root + i) % t->n_pes, dest, source, share);
    coll_sync(t);
}

/* Whoever has it serves the members at half the distance, and so on. */
static void broadcast_binomial(struct core_team *t, void *dest,
                               const void *source, size_t bytes, int root)
{
    struct coll_call c = coll_begin(t);
    int n = t->n_pes, v = (t->my_pe - root + n) % n, step = 1, pe;

    while (step < n)
        step *= 2;
    if (v) {
        coll_hear(&c, 0);
        source = dest;
        step = v & -v;
    }
    for (step /= 2; step; step /= 2) {
        if (v + step >= n)
            continue;
        pe = (t->my_pe + step) % n;
        coll_put(t, pe, dest, source, bytes);
        coll_tell(&c, pe, 0);
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
            coll_hear_count(&c, 1);
        if (v == n - 1)
            continue;
        coll_put(t, next, (char *)dest + at,
                 (const char *)(v ? dest : source) + at, len);
        coll_count(&c, next);
    }
    coll_sync(t);
}

/* Of each node one member, which is the root on the root's, sends or gets it
 * by messages - in one piece to the nodes at half the distance, and so on, or
 * in segments along a chain - and the others of its node copy it from there. */
struct by_nodes {
    struct coll_call call;
    int first, v;               /* the root's node; ours, counted from there */
    int root, head;             /* who has it on this node */
    bool chain;
    char *dest;
    const char *from;           /* at the head */
};

static int head_of(const struct by_nodes *b, int v)
{
    const struct core_nodes *k = b->call.t->nodes;

    return v ? k->leaders[(b->first + v) % k->n] : b->root;
}

static void send_to_node(const struct by_nodes *b, int v, size_t at,
                         size_t len)
{
    int pe = head_of(b, v);

    coll_put(b->call.t, pe, b->dest + at, b->from + at, len);
    coll_count(&b->call, pe);
}

static void send_on(const struct by_nodes *b, size_t at, size_t len)
{
    int n = b->call.t->nodes->n, step = 1;

    if (b->chain) {
        if (b->v + 1 < n)
            send_to_node(b, b->v + 1, at, len);
        return;
    }
    while (step < n && !(b->v & step))
        step *= 2;
    for (step /= 2; step; step /= 2)
        if (b->v + step < n)
            send_to_node(b, b->v + step, at, len);
}

static void one_segment(const struct by_nodes *b, size_t at, size_t len)
{
    struct core_team *t = b->call.t;
    const struct core_nodes *k = t->nodes;

    if (t->my_pe != b->head || b->v)
        coll_hear_count(&b->call, 1);
    if (t->my_pe != b->head) {
        core_copy(b->dest + at, (char *)coll_at(t, b->head, b->from) + at,
                   len);
        return;
    }
    send_on(b, at, len);
    for (int i = 0; i < k->n_here; i++)
        if (k->members[i] != b->head)
            coll_count(&b->call, k->members[i]);
}

static void broadcast_nodes(struct core_team *t, void *dest,
                            const void *source, size_t bytes, int root)
{
    const struct core_nodes *k = t->nodes;
    struct by_nodes b = { .call = coll_begin(t), .root = root, .dest = dest,
                          .chain = bytes > NODES_WHOLE && k->n > NODES_FEW };
    size_t step = b.chain ? NODES_SEGMENT : bytes;

    b.first = coll_nodes_of(t, root);
    b.v = (k->mine - b.first + k->n) % k->n;
    b.head = b.v ? k->members[0] : root;
    b.from = b.v ? dest : source;
    for (size_t at = 0; at < bytes; at += step)
        one_segment(&b, at, bytes - at < step ? bytes - at : step);
    coll_sync(t);
}

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
    case COLL_NODES:
        broadcast_nodes(t, dest, source, bytes, root);
        break;
    default:
        broadcast_push(t, dest, source, bytes, root);
    }
    if (t->my_pe == root && own)
        core_copy(dest, source, bytes);
}

/* ---- collect: block i lies from at[i] to at[i + 1], or at i * bytes ---- */

struct blocks {
    struct coll_call call;      /* in which the sizes were published */
    size_t bytes;               /* of every block, unless they differ */
    bool differ;
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

/* All have entered: their sizes are known, or were waited for. */
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
        coll_put(t, next, dest + at, dest + at, bytes);
        coll_count(&c, next);
        coll_hear_count(&c, 1);
        block = (block - 1 + n) % n;
        at = start_of(b, block);
        bytes = size_of(b, block);
    }
    /* The sizes stay readable until all have passed everything on. */
    coll_sync(t);
}

/* Round r sends all of the at most 2^r blocks that end with our own. */
static void fcollect_bruck(struct core_team *t, char *dest,
                           const void *source, size_t bytes)
{
    struct coll_call c = coll_begin(t);
    int n = t->n_pes, me = t->my_pe, have = 1, count, from, to;

    copy_here(dest + (size_t)me * bytes, source, bytes);
    for (int r = 0; have < n; r++) {
        to = (me + have) % n;
        count = have < n - have ? have : n - have;
        from = me - count + 1;
        if (from < 0) {         /* the run begins at the end of dest */
            char *tail = dest + (size_t)(from + n) * bytes;

            coll_put(t, to, tail, tail, (size_t)-from * bytes);
            from = 0;
        }
        coll_put(t, to, dest + (size_t)from * bytes,
                 dest + (size_t)from * bytes,
                 (size_t)(me - from + 1) * bytes);
        coll_tell(&c, to, r);
        coll_hear(&c, r);
        have += count;
    }
}

/* Where the blocks of node k begin, which may be the one after the last. */
static size_t node_at(const struct core_team *t, const struct blocks *b, int k)
{
    return start_of(b, k < t->nodes->n ? t->nodes->leaders[k] : t->n_pes);
}

/* The blocks of nodes [from, to) go to that node's leader. */
static void put_nodes(struct core_team *t, const struct blocks *b, int pe,
                      char *dest, int from, int to)
{
    size_t at = node_at(t, b, from);

    coll_put(t, pe, dest + at, dest + at, node_at(t, b, to) - at);
}

/* As fcollect_bruck, by leaders with the blocks of whole nodes. */
static void exchange_nodes(const struct coll_call *c, const struct blocks *b,
                           char *dest)
{
    const struct core_nodes *k = c->t->nodes;
    int n = k->n, have = 1, count, from, to;

    for (int r = 0; have < n; r++) {
        to = k->leaders[(k->mine + have) % n];
        count = have < n - have ? have : n - have;
        from = k->mine - count + 1;
        if (from < 0) {
            put_nodes(c->t, b, to, dest, from + n, n);
            from = 0;
        }
        put_nodes(c->t, b, to, dest, from, k->mine + 1);
        coll_tell(c, to, r);
        coll_hear(c, r);
        have += count;
    }
}

/* Each node's blocks are brought together at its leader, which must make them
 * one run of bytes; from there everybody copies all of them. */
static void collect_nodes(struct core_team *t, const struct blocks *b,
                          char *dest, const void *source)
{
    struct coll_call c = coll_begin(t);
    int leader = t->nodes->members[0];
    size_t at = start_of(b, t->my_pe), all = start_of(b, t->n_pes);

    if (coll_nodes_leads(t))
        copy_here(dest + at, source, size_of(b, t->my_pe));
    else
        coll_put(t, leader, dest + at, source, size_of(b, t->my_pe));
    coll_nodes_gather(t);
    if (coll_nodes_leads(t))
        exchange_nodes(&c, b, dest);
    coll_nodes_release(t);
    if (!coll_nodes_leads(t) && all)
        core_copy(dest, coll_at(t, leader, dest), all);
    /* All have copied before the leader's dest changes. */
    coll_nodes_gather(t);
    coll_nodes_release(t);
}

/* Whoever brings nothing may name no source, and cannot tell from its own
 * where the others' are. */
static bool all_name_source(const struct core_team *t, const struct blocks *b)
{
    for (int i = 0; i < t->n_pes; i++)
        if (size_of(b, i) == 0)
            return false;
    return true;
}

void coll_collect(struct core_team *t, void *dest, const void *source,
                  size_t bytes, void (*check)(const void *arg, size_t all),
                  const void *arg)
{
    struct blocks b = { .call = coll_publish(t, bytes), .differ = true };
    size_t all = start_of(&b, t->n_pes);
    enum coll_alg alg;

    check(arg, all);
    /* By what all bring, so that all choose alike. */
    alg = coll_choose(COLL_COLLECT, t, all / (size_t)t->n_pes);
    if (alg == COLL_PULL && !all_name_source(t, &b))
        alg = COLL_PUSH;
    switch (alg) {
    case COLL_PULL:
        collect_pull(t, &b, dest, source);
        break;
    case COLL_RING:
        collect_ring(t, &b, dest, source);
        break;
    case COLL_NODES:
        collect_nodes(t, &b, dest, source);
        break;
    default:
        collect_push(t, &b, dest, source);
    }
}

void coll_fcollect(struct core_team *t, void *dest, const void *source,
                   size_t bytes)
{
    struct blocks b = { .bytes = bytes };

    switch (coll_choose(COLL_FCOLLECT, t, bytes)) {
    case COLL_PULL:
        collect_pull(t, &b, dest, source);
        break;
    case COLL_RING:
        collect_ring(t, &b, dest, source);
        break;
    case COLL_BRUCK:
        fcollect_bruck(t, dest, source, bytes);
        break;
    case COLL_NODES:
        collect_nodes(t, &b, dest, source);
        break;
    default:
        collect_push(t, &b, dest, source);
    }
}
