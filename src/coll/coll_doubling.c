/* SPDX-License-Identifier: BSD-3-Clause */
/* Reductions of few bytes, agreement on values, and tables that all members
 * bring, in log2(n) messages of each member.  Collectives and the making of
 * teams call it, in all members alike. */
#include "coll/coll_ranks.h"

enum { FOLD = CORE_ROUNDS - 2, RESULT = CORE_ROUNDS - 1 /* beside rounds */ };

/* Of those beyond a power of two, each even one hands its part to the odd one
 * above it and gets the result from there. */
static void fold_in(const struct coll_call *c, const struct coll_ranks *who,
                    int slot, char *acc, size_t bytes)
{
    int pe = coll_rank_pe(who, who->me + 1);

    coll_send_scratch(c, pe, slot, acc, bytes, FOLD);
    coll_await(c, RESULT);
    copy_bytes(acc, core_team_scratch(c->t, c->t->my_pe, c->parity, slot),
               bytes);
}

/* Exchange with the partner at distance 1, 2, 4 ... of the first 2^k active
 * ones. */
void coll_doubling(const struct coll_call *c, const struct coll_ranks *who,
                   char *acc, size_t n, size_t size, coll_op *op)
{
    int me = who->me, rounds = 31 - __builtin_clz((unsigned)who->n), pe;
    int over = who->n - (1 << rounds), active, partner;
    size_t bytes = n * size;
    const char *theirs;

    if (me < 2 * over && me % 2 == 0) {
        fold_in(c, who, rounds, acc, bytes);
        return;
    }
    if (me < 2 * over) {
        coll_await(c, FOLD);
        theirs = core_team_scratch(c->t, c->t->my_pe, c->parity, rounds);
        op(acc, theirs, acc, n);
    }
    active = me < 2 * over ? me / 2 : me - over;
    for (int k = 0; k < rounds; k++) {
        partner = active ^ 1 << k;
        partner = partner < over ? 2 * partner + 1 : partner + over;
        pe = coll_rank_pe(who, partner);
        coll_send_scratch(c, pe, k, acc, bytes, k);
        coll_await(c, k);
        theirs = core_team_scratch(c->t, c->t->my_pe, c->parity, k);
        if (partner < me)
            op(acc, theirs, acc, n);
        else
            op(acc, acc, theirs, n);
    }
    if (me < 2 * over) {
        pe = coll_rank_pe(who, me - 1);
        coll_send_scratch(c, pe, rounds, acc, bytes, RESULT);
    }
}

/* ---- what members agree on ---- */

/* One of a and b is what this member had, which lies in out; a's are before
 * b's. */
static void agree(void *out, const void *a, const void *b, size_t n)
{
    const struct coll_agreed *x = a, *y = b;
    struct coll_agreed *o = out;

    for (size_t i = 0; i < n; i++)
        o[i] = (struct coll_agreed){
            .all = x[i].all && y[i].all,
            .sum = x[i].sum + y[i].sum,
            .before = out == b ? x[i].sum + y[i].before : x[i].before,
            .least = x[i].least < y[i].least ? x[i].least : y[i].least,
            .most = x[i].most > y[i].most ? x[i].most : y[i].most,
            .args = x[i].args == y[i].args ? x[i].args : 0
        };
}

void coll_agree(const struct coll_call *c, struct coll_agreed *a)
{
    struct coll_ranks k = coll_ranks_all(c->t);
    int over = k.n - (1 << (31 - __builtin_clz((unsigned)k.n)));
    uint64_t mine = a->sum;

    a->before = 0;
    coll_doubling(c, &k, (char *)a, 1, sizeof *a, agree);
    if (k.me < 2 * over && k.me % 2 == 0)   /* it has what the next one has */
        a->before -= mine;
}

void coll_table_gather(const struct coll_call *c, uint32_t *table,
                       uint64_t (*where)(void *arg, int pe), void *arg)
{
    int n = c->t->n_pes, me = c->t->my_pe, have = 1, count, from, to;
    uintptr_t theirs;

    for (int r = 0; have < n; r++) {
        to = (me + have) % n;
        count = have < n - have ? have : n - have;
        from = me - count + 1;
        theirs = where(arg, to);
        if (from < 0) {         /* the run begins at the end of the table */
            coll_put_area(c->t, to,
                          theirs + (size_t)(from + n) * sizeof *table,
                          table + from + n, (size_t)-from * sizeof *table);
            from = 0;
        }
        coll_send_area(c, to, theirs + (size_t)from * sizeof *table,
                       table + from, (size_t)(me - from + 1) * sizeof *table,
                       r);
        coll_await(c, r);
        have += count;
    }
}
