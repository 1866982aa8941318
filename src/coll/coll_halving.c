/* SPDX-License-Identifier: BSD-3-Clause */
/* Long reductions by messages, for any number n of ranks: log2(n) rounds of a
 * reduce-scatter, then as many of an allgather.
 *
 * The elements are n blocks.  In a round of distances d, from n / 2 down to 1
 * and each half of the one before, rounded up, a rank sends what it has of the
 * blocks of the ranks from d above it on to the rank d above, which adds that
 * to its own: its own block is left, and those of the d - 1 ranks above.
 * In the end each has the sum of its own block, and the same way back, with
 * the distances rising, brings the blocks to all.  So each rank sends and gets
 * every element about twice, and one rank adds an element up, for all.
 *
 * Sums lie in memory of this rank's own, beginning with its own block.
 * Operands land where the sum is to be in the end, dest, so a rank reports when
 * dest is free: before the first half, when its source is copied, and before
 * the second.  An operand that would not fit there, as blocks are not all alike,
 * is short and lands in the team's scratch.  Long ones go in pieces. */
#include "coll/coll_ranks.h"

#include <stdlib.h>

enum { PIECE = 16 << 20, ROUNDS = 32 };

struct halving {
    struct coll_call c;
    const struct coll_ranks *who;
    const struct coll_vector *v;
    size_t at, n;               /* elements of this piece */
    int rounds;
    int dist[ROUNDS + 1];       /* n, and of round k dist[k + 1] */
    char *acc;
};

/* Where a block begins in the piece, in elements. */
static size_t block_at(const struct halving *h, int b)
{
    return (size_t)((unsigned __int128)h->n * (unsigned)b /
                    (unsigned)h->who->n);
}

/* Elements of count blocks from that rank's own on. */
static size_t length(const struct halving *h, int rank, int count)
{
    int n = h->who->n, first = rank % n, end = first + count;

    if (end <= n)
        return block_at(h, end) - block_at(h, first);
    return h->n - block_at(h, first) + block_at(h, end - n);
}

/* How many blocks come in round k. */
static int come(const struct halving *h, int k)
{
    return h->dist[k] - h->dist[k + 1];
}

/* Where in its piece of dest what comes to that rank in round k lands; -1: in
 * the scratch. */
static ptrdiff_t landing(const struct halving *h, int rank, int k)
{
    size_t at = 0, len;

    for (int i = 0; i <= k; i++) {
        len = length(h, rank, come(h, i));
        if (len * h->v->size <= CORE_PIECE) {
            if (i == k)
                return -1;
            continue;
        }
        if (i == k)
            return (ptrdiff_t)at;
        at += len;
    }
    return -1;
}

static char *dest_at(const struct halving *h, size_t at)
{
    return h->v->dest + (h->at + at) * h->v->size;
}

/* The source, from this rank's own block on. */
static void copy_source(const struct halving *h)
{
    size_t first = block_at(h, h->who->me), size = h->v->size;
    const char *from = h->v->source + h->at * size;

    core_copy(h->acc, from + first * size, (h->n - first) * size);
    if (first)
        core_copy(h->acc + (h->n - first) * size, from, first * size);
}

/* The ranks that will write here are permitted to. */
static void let_write(const struct halving *h, bool back)
{
    int n = h->who->n, to;

    for (int k = 0; k < h->rounds; k++) {
        to = back ? h->who->me + h->dist[k + 1]
                  : h->who->me - h->dist[k + 1] + n;
        coll_notify_count_mixed(&h->c, coll_rank_pe(h->who, to));
    }
    coll_await_count(&h->c, (uint64_t)h->rounds);
}

static void reduce_round(const struct halving *h, int k)
{
    const struct coll_vector *v = h->v;
    struct core_team *t = h->c.t;
    int me = h->who->me, d = h->dist[k + 1];
    int to = coll_rank_pe(h->who, me + d), count = come(h, k);
    size_t kept = length(h, me, d), sent = length(h, me + d, count);
    size_t got = length(h, me, count);
    ptrdiff_t there = landing(h, (me + d) % h->who->n, k);
    ptrdiff_t here = landing(h, me, k);
    const char *came = here < 0 ? core_team_scratch(t, t->my_pe, h->c.parity, k)
                                : dest_at(h, (size_t)here);

    if (there < 0)
        coll_send_scratch(&h->c, to, k, h->acc + kept * v->size,
                          sent * v->size, k);
    else
        coll_send(&h->c, to, dest_at(h, (size_t)there),
                  h->acc + kept * v->size, sent * v->size, k);
    coll_await(&h->c, k);
    if (got)
        coll_apply(v->op, h->acc, h->acc, came, got, v->size);
}

/* The same way back: as many blocks as came go to where they came from. */
static void gather_round(const struct halving *h, int k)
{
    int n = h->who->n, me = h->who->me, d = h->dist[k + 1];
    int to = coll_rank_pe(h->who, me - d + n), end = me + come(h, k);
    size_t from = block_at(h, me), size = h->v->size;

    if (end > n) {              /* they go on at the begin of the piece */
        coll_put(h->c.t, to, dest_at(h, from), dest_at(h, from),
                 (h->n - from) * size);
        from = 0;
        end -= n;
    }
    coll_send(&h->c, to, dest_at(h, from), dest_at(h, from),
              (block_at(h, end) - from) * size, k);
    coll_await(&h->c, k);
}

static void one_piece(struct halving *h, struct core_team *t)
{
    size_t own = block_at(h, h->who->me);

    copy_source(h);
    h->c = coll_begin(t);
    let_write(h, false);
    for (int k = 0; k < h->rounds; k++)
        reduce_round(h, k);
    h->c = coll_begin(t);
    let_write(h, true);
    core_copy(dest_at(h, own), h->acc, length(h, h->who->me, 1) * h->v->size);
    for (int k = h->rounds - 1; k >= 0; k--)
        gather_round(h, k);
}

void coll_halving(struct core_team *t, const struct coll_ranks *who,
                  const struct coll_vector *v)
{
    struct halving h = { .who = who, .v = v, .dist = { who->n } };
    size_t step = PIECE / v->size, bytes;

    if (!v->n)
        return;
    while (h.dist[h.rounds] > 1) {
        h.dist[h.rounds + 1] = (h.dist[h.rounds] + 1) / 2;
        h.rounds++;
    }
    bytes = (v->n < step ? v->n : step) * v->size;
    h.acc = malloc(bytes);
    if (!h.acc)
        core_fatal(ERR_LIMIT, "reduction", "no memory for a copy of %zu bytes",
                   bytes);
    for (h.at = 0; h.at < v->n; h.at += h.n) {
        h.n = v->n - h.at < step ? v->n - h.at : step;
        one_piece(&h, t);
    }
    free(h.acc);
}

void coll_halving_skip(struct core_team *t, const struct coll_vector *v)
{
    size_t step = PIECE / v->size;

    coll_skip(t, 2 * (int)((v->n + step - 1) / step));
}
