/* SPDX-License-Identifier: BSD-3-Clause */
/* Scans: each member gets the sum over those before it.  api_coll.c calls it
 * in all members alike, with checked arguments. */
#include "coll/coll_device.h"

enum { BLOCK = 8192, SHIFT = CORE_ROUNDS - 1 /* a flag beside the rounds */ };

struct scan {
    char *dest;
    const char *source;
    size_t n, size;             /* elements, bytes of one */
    coll_op *op;
    bool inclusive;
};

/* Elements [at, at + n) of the members before `end`. */
static void combine(const struct core_team *t, const struct scan *s, size_t at,
                    size_t n, int end, char *out)
{
    const char *from = s->source + at * s->size;

    if (end == 0)
        memset(out, 0, n * s->size);
    else if (end == 1)
        core_copy(out, coll_at(t, 0, from), n * s->size);
    else
        coll_apply(s->op, out, coll_at(t, 0, from), coll_at(t, 1, from), n,
                   s->size);
    for (int i = 2; i < end; i++)
        coll_apply(s->op, out, out, coll_at(t, i, from), n, s->size);
}

/* On mapped memory: each reads the sources before it.  In place, a block is
 * kept aside until all have read it. */
static void scan_pull(struct core_team *t, const struct scan *s)
{
    int end = t->my_pe + s->inclusive;
    bool in_place = s->dest == s->source;
    size_t step = BLOCK / s->size, len;
    _Alignas(64) char kept[BLOCK];

    if (!in_place)
        coll_sync(t);
    for (size_t at = 0; at < s->n; at += len) {
        len = s->n - at < step ? s->n - at : step;
        if (in_place)
            coll_sync(t);
        combine(t, s, at, len, end, kept);
        if (in_place)
            coll_sync(t);
        core_copy(s->dest + at * s->size, kept, len * s->size);
    }
    coll_sync(t);
}

/* The device adds up.  In place, the last member is the first to do so: those
 * before it do not need what it had. */
static void scan_by_device(struct core_team *t, const struct scan *s)
{
    int me = t->my_pe, count = me + s->inclusive;
    bool in_place = s->dest == s->source;
    const struct coll_part p = {
        .t = t, .first = s->inclusive ? me : 0, .count = count,
        .dest = s->dest, .source = s->source, .n = s->n, .size = s->size,
        .op = s->op
    };

    coll_sync(t);
    for (int turn = t->n_pes - 1; turn >= 0; turn--) {
        if (turn == me)
            coll_device_combine(&p);
        if (in_place)
            coll_sync(t);
    }
    if (!in_place)
        coll_sync(t);
}

/* By messages: the sum over the 2^k members that end here goes to the one 2^k
 * above; last, for the exclusive form, everything moves up by one. */
static void double_piece(struct core_team *t, const struct scan *s, size_t at,
                         size_t n)
{
    int me = t->my_pe, rounds = core_team_rounds(t->n_pes), up;
    struct coll_call c = coll_begin(t);
    size_t bytes = n * s->size;
    _Alignas(64) char acc[CORE_PIECE];

    core_copy(acc, s->source + at * s->size, bytes);
    for (int k = 0; k < rounds; k++) {
        up = me + (1 << k);
        if (up < t->n_pes)
            coll_send_scratch(&c, up, k, acc, bytes, k);
        if (me >= 1 << k) {
            coll_await(&c, k);
            coll_apply(s->op, acc, core_team_scratch(t, me, c.parity, k), acc,
                       n, s->size);
        }
    }
    if (!s->inclusive) {
        if (me + 1 < t->n_pes)
            coll_send_scratch(&c, me + 1, rounds, acc, bytes, SHIFT);
        memset(acc, 0, bytes);
        if (me) {
            coll_await(&c, SHIFT);
            core_copy(acc, core_team_scratch(t, me, c.parity, rounds), bytes);
        }
    }
    core_copy(s->dest + at * s->size, acc, bytes);
    /* The lower members have no word of the upper ones yet. */
    coll_sync(t);
}

void coll_scan(struct core_team *t, void *dest, const void *source, size_t n,
               size_t size, coll_op *op, bool inclusive)
{
    struct scan s = { dest, source, n, size, op, inclusive };
    size_t step = CORE_PIECE / size, len;

    if (coll_choose(COLL_SCAN, t, n * size) == COLL_PULL) {
        if (unlikely(gtl_device_only) && coll_is_auto(COLL_SCAN) &&
            coll_device_takes(dest, source, n * size, size, op))
            scan_by_device(t, &s);
        else
            scan_pull(t, &s);
        return;
    }
    for (size_t at = 0; at < n; at += len) {
        len = n - at < step ? n - at : step;
        double_piece(t, &s, at, len);
    }
    if (!n)
        coll_sync(t);
}
