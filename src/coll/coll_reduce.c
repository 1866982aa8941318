/* SPDX-License-Identifier: BSD-3-Clause */
/* Reductions.  Whatever the algorithm, each element is combined in an order
 * that depends on the members' numbers alone, and either by one member for
 * all or with the same operands on the same sides: all get the same bits. */
#include "coll/coll_int.h"

#include <stdlib.h>

enum {
    BLOCK = 8192,               /* bytes combined at a time: stays in cache */
    IN_PLACE_MOST = 4096,       /* pull, where dest is source */
    FOLD = CORE_ROUNDS - 2, RESULT = CORE_ROUNDS - 1 /* flags beside rounds */
};

struct reduction {
    char *dest;
    const char *source;
    size_t n, size;             /* elements, bytes of one */
    coll_op *op;
};

/* Elements [at, at + n) of all members, combined in the members' order. */
static void combine(const struct core_team *t, const struct reduction *r,
                    size_t at, size_t n, char *out)
{
    const char *first = coll_at(t, 0, r->source + at * r->size);

    if (t->n_pes == 1) {
        memmove(out, first, n * r->size);
        return;
    }
    r->op(out, first, coll_at(t, 1, r->source + at * r->size), n);
    for (int i = 2; i < t->n_pes; i++)
        r->op(out, out, coll_at(t, i, r->source + at * r->size), n);
}

/* ---- on mapped memory ---- */

/* Everybody reads everything. */
static void reduce_pull(struct core_team *t, const struct reduction *r)
{
    bool in_place = r->dest == r->source;
    size_t step = BLOCK / r->size, len;
    _Alignas(64) char kept[IN_PLACE_MOST];

    coll_sync(t);
    for (size_t at = 0; at < r->n; at += len) {
        len = r->n - at < step ? r->n - at : step;
        combine(t, r, at, len, (in_place ? kept : r->dest) + at * r->size);
    }
    coll_sync(t);
    if (in_place)
        memcpy(r->dest, kept, r->n * r->size);
}

/* Each member reads one part of all sources, and writes it to all dests.  The
 * part of a source is read by one member only, so dest may be source. */
static void reduce_split(struct core_team *t, const struct reduction *r)
{
    size_t line = 64 / r->size ? 64 / r->size : 1, step = BLOCK / r->size, len;
    size_t part = (r->n / (size_t)t->n_pes / line + 1) * line;
    size_t from = (size_t)t->my_pe * part, to = from + part;
    _Alignas(64) char acc[BLOCK];

    if (to > r->n)
        to = r->n;
    coll_sync(t);
    for (size_t at = from; at < to; at += len) {
        len = to - at < step ? to - at : step;
        combine(t, r, at, len, acc);
        for (int i = 0; i < t->n_pes; i++)
            coll_put(t, (t->my_pe + i) % t->n_pes, r->dest + at * r->size,
                     acc, len * r->size);
    }
    coll_sync(t);
}

/* ---- by messages ---- */

/* Exchange with the partner at distance 1, 2, 4 ... of the first 2^k active
 * members.  Of those beyond a power of two, each even one hands its part to
 * the odd one above it and gets the result from there. */
static void double_piece(struct core_team *t, const struct reduction *r,
                         size_t at, size_t n)
{
    int me = t->my_pe, rounds = 31 - __builtin_clz((unsigned)t->n_pes);
    int over = t->n_pes - (1 << rounds), active, partner;
    size_t bytes = n * r->size;
    struct coll_call c = coll_begin(t);
    _Alignas(64) char acc[CORE_PIECE];
    const char *theirs;

    memcpy(acc, r->source + at * r->size, bytes);
    if (me < 2 * over && me % 2 == 0) {
        coll_put_scratch(&c, me + 1, rounds, acc, bytes);
        coll_tell(&c, me + 1, FOLD);
        coll_hear(&c, RESULT);
        return;
    }
    if (me < 2 * over) {
        coll_hear(&c, FOLD);
        r->op(acc, core_team_scratch(t, me, c.parity, rounds), acc, n);
    }
    active = me < 2 * over ? me / 2 : me - over;
    for (int k = 0; k < rounds; k++) {
        partner = active ^ 1 << k;
        partner = partner < over ? 2 * partner + 1 : partner + over;
        coll_put_scratch(&c, partner, k, acc, bytes);
        coll_tell(&c, partner, k);
        coll_hear(&c, k);
        theirs = core_team_scratch(t, me, c.parity, k);
        if (partner < me)
            r->op(acc, theirs, acc, n);
        else
            r->op(acc, acc, theirs, n);
    }
    memcpy(r->dest + at * r->size, acc, bytes);
    if (me < 2 * over) {
        coll_put(t, me - 1, r->dest + at * r->size, acc, bytes);
        coll_tell(&c, me - 1, RESULT);
    }
}

static void reduce_doubling(struct core_team *t, const struct reduction *r)
{
    size_t step = CORE_PIECE / r->size, len;

    for (size_t at = 0; at < r->n; at += len) {
        len = r->n - at < step ? r->n - at : step;
        double_piece(t, r, at, len);
    }
}

void coll_reduce_words(struct core_team *t, void *words, size_t n, size_t size,
                       coll_op *op)
{
    struct reduction r = { words, words, n, size, op };

    reduce_doubling(t, &r);
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
    int n = t->n_pes, me = t->my_pe, next = (me + 1) % n, chunk = me;
    struct chunks k = { (r->n + (size_t)n - 1) / (size_t)n, r->n };
    struct coll_call c = coll_begin(t);
    size_t from, bytes;

    for (int s = 0; s < 2 * (n - 1); s++) {
        from = chunk_at(&k, chunk) * r->size;
        bytes = chunk_at(&k, chunk + 1) * r->size - from;
        coll_put(t, next, r->dest + from, (s ? r->dest : r->source) + from,
                 bytes);
        coll_count(&c, next);
        coll_hear_count(&c, 1);
        chunk = (chunk - 1 + n) % n;
        from = chunk_at(&k, chunk) * r->size;
        bytes = chunk_at(&k, chunk + 1) * r->size - from;
        if (s < n - 1)
            r->op(r->dest + from, r->dest + from, r->source + from,
                  bytes / r->size);
    }
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
            memcpy(dest, source, n * size);
        return;
    }
    alg = coll_choose(COLL_REDUCE, t, n * size);
    if (alg == COLL_PULL && in_place && n * size > IN_PLACE_MOST)
        alg = COLL_SPLIT;
    if (alg == COLL_RING && in_place) {
        kept = malloc(n * size);
        if (!kept)
            core_fatal(ERR_LIMIT, "reduction", "no memory for a copy of %zu "
                       "bytes that dest and source share", n * size);
        r.source = memcpy(kept, source, n * size);
        coll_sync(t);           /* others write to dest from here on */
    }
    if (alg == COLL_PULL)
        reduce_pull(t, &r);
    else if (alg == COLL_DOUBLING)
        reduce_doubling(t, &r);
    else if (alg == COLL_RING)
        reduce_ring(t, &r);
    else
        reduce_split(t, &r);
    free(kept);
}
