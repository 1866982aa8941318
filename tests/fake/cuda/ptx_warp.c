/* SPDX-License-Identifier: BSD-3-Clause */
/* What threads do together: barriers of blocks, votes and shuffles of warps.
 * For the table of ptx_ops.c, and for ptx_run.c when a thread ends.
 *
 * Who comes waits, and the last one that comes works for all. */
#include "ptx_int.h"

#define X(name) enum next ptx_x_##name(struct thread *t, const struct insn *i)
#define GET(k) ptx_get(t, &i->o[k])

/* ---- barriers ---- */

static bool counts(const struct thread *t, unsigned bar)
{
    return t->state == AT_BARRIER && t->bar == bar;
}

/* bar.red: what all waiting threads get, of their predicates. */
static uint64_t reduced(const struct block *b, unsigned bar, enum word how)
{
    unsigned set = 0, all = 0;

    for (unsigned k = 0; k < b->n; k++) {
        if (!counts(&b->threads[k], bar))
            continue;
        set += b->threads[k].a != 0;
        all++;
    }
    return how == W_POPC ? set : how == W_AND ? set == all : set > 0;
}

static void release(struct block *b, unsigned bar)
{
    uint64_t r[W_POPC + 1];

    r[W_POPC] = reduced(b, bar, W_POPC);
    r[W_AND] = reduced(b, bar, W_AND);
    r[W_OR] = reduced(b, bar, W_OR);
    for (unsigned k = 0; k < b->n; k++) {
        struct thread *t = &b->threads[k];

        if (!counts(t, bar))
            continue;
        t->state = READY;
        t->moved = true;
        if (t->at->flags & M_RED)
            ptx_set(t, &t->at->o[0], r[t->at->word]);
    }
    b->bar[bar] = (struct barrier){ 0, 0 };
}

static bool is_full(const struct block *b, unsigned bar)
{
    const struct barrier *at = &b->bar[bar];

    return at->arrived && at->arrived >= (at->count ? at->count : b->live);
}

static enum next bar_block(struct thread *t, const struct insn *i)
{
    int red = !!(i->flags & M_RED), more = i->n - 1 - 2 * red;
    unsigned bar = i->n > red ? (unsigned)GET(red) : 0;
    struct barrier *at;

    if (bar >= BARRIERS)
        return ptx_fault(t, i, PTX_TRAP, "no such barrier", bar);
    at = &t->b->bar[bar];
    at->arrived++;
    at->count = more > 0 ? (unsigned)GET(red + 1) : 0;
    if (at->count % WARP)
        return ptx_fault(t, i, PTX_TRAP, "a barrier of no whole warps",
                         at->count);
    t->moved = true;
    if (!(i->flags & M_ARRIVE)) {
        t->state = AT_BARRIER;
        t->bar = bar;
        t->at = i;
        t->a = red ? GET(i->n - 1) : 0;
    }
    if (is_full(t->b, bar))
        release(t->b, bar);
    return t->state == READY ? CONTINUE : BLOCKED;
}

/* ---- warps ---- */

/* Thread of a lane of the same warp, or NULL: there is none. */
static struct thread *lane(const struct thread *t, unsigned k)
{
    unsigned number = t->number / WARP * WARP + k;

    return number < t->b->n ? &t->b->threads[number] : NULL;
}

static bool is_there(const struct thread *t, const struct thread *other)
{
    bool plain = t->at->run == ptx_x_bar;

    return other->state == AT_WARP && other->mask == t->mask &&
           (plain ? other->at->run == ptx_x_bar : other->at == t->at);
}

/* What lane k of those at the same operation gave. */
static uint64_t given(const struct thread *t, unsigned k, bool *ok)
{
    const struct thread *from = lane(t, k);

    *ok = (t->mask >> k & 1) && from && is_there(t, from);
    return *ok ? from->a : 0xdeadbeef;
}

static uint64_t vote(const struct thread *t)
{
    unsigned yes = 0, there = 0;
    bool ok;

    for (unsigned k = 0; k < WARP; k++) {
        yes |= (unsigned)(given(t, k, &ok) && ok) << k;
        there |= (unsigned)ok << k;
    }
    switch (t->at->word) {
    case W_ALL: return yes == there;
    case W_ANY: return yes != 0;
    case W_UNI: return !yes || yes == there;
    default: return yes;
    }
}

static uint64_t match(const struct thread *t, bool *same)
{
    unsigned equal = 0, there = 0;
    uint64_t v;
    bool ok;

    for (unsigned k = 0; k < WARP; k++) {
        v = given(t, k, &ok);
        equal |= (unsigned)(ok && v == t->a) << k;
        there |= (unsigned)ok << k;
    }
    *same = equal == there;
    return t->at->word == W_ALL && !*same ? 0 : equal;
}

static uint64_t shuffled(const struct thread *t, bool *in)
{
    unsigned me = t->number % WARP, b = t->with & 31;
    unsigned part = (unsigned)t->c >> 8 & 31, clamp = (unsigned)t->c & 31;
    unsigned most = (me & part) | (clamp & ~part), from;
    bool ok;

    switch (t->at->word) {
    case W_UP:
        from = me - b;
        *in = (int)from >= (int)most;
        break;
    case W_DOWN:
        from = me + b;
        *in = from <= most;
        break;
    case W_BFLY:
        from = me ^ b;
        *in = from <= most;
        break;
    default:
        from = (me & part) | (b & ~part);
        *in = from <= most;
    }
    return given(t, *in ? from : me, &ok);
}

static uint64_t redux(const struct thread *t)
{
    enum word how = (enum word)t->at->word;
    uint64_t r = t->a, v;
    unsigned me = t->number % WARP;
    bool ok;

    for (unsigned k = 0; k < WARP; k++) {
        v = given(t, k, &ok);
        if (!ok || k == me)
            continue;
        r = how == W_ADD ? r + v : how == W_AND ? r & v : how == W_OR ? r | v
          : how == W_XOR ? r ^ v
          : ((int64_t)v < (int64_t)r) == (how == W_MIN) ? v : r;
    }
    return r;
}

static void put(struct thread *t, uint64_t v, bool p)
{
    const struct operand *o = &t->at->o[0];

    if (o->kind == O_VECTOR) {
        ptx_set(t, &o->parts[0], v);
        ptx_set(t, &o->parts[1], p);
    } else {
        ptx_set(t, o, v);
    }
}

static void result(struct thread *t)
{
    const struct insn *i = t->at;
    bool p = true;
    uint64_t v;

    if (i->run == ptx_x_vote) {
        put(t, vote(t), true);
    } else if (i->run == ptx_x_match) {
        v = match(t, &p);
        put(t, v, p);
    } else if (i->run == ptx_x_shfl) {
        v = shuffled(t, &p);
        put(t, v, p);
    } else if (i->run == ptx_x_redux) {
        put(t, redux(t), true);
    } else if (i->run == ptx_x_elect) {
        v = (uint64_t)__builtin_ctz(t->mask);
        put(t, v, v == t->number % WARP);
    }
}

/* Those of the mask that have ended are not waited for. */
static bool complete(const struct thread *t)
{
    for (unsigned k = 0; k < WARP; k++) {
        const struct thread *other = t->mask >> k & 1 ? lane(t, k) : NULL;

        if (other && other->state != DONE && !is_there(t, other))
            return false;
    }
    return true;
}

static void together(struct thread *t)
{
    unsigned mask = t->mask, went = 0;
    struct thread *other;

    for (unsigned k = 0; k < WARP; k++) {
        other = mask >> k & 1 ? lane(t, k) : NULL;
        if (!other || other->state != AT_WARP)
            continue;
        result(other);
        went |= 1u << k;
    }
    for (unsigned k = 0; k < WARP; k++) {
        if (!(went >> k & 1))
            continue;
        lane(t, k)->state = READY;
        lane(t, k)->moved = true;
    }
}

static enum next arrive(struct thread *t, const struct insn *i, uint64_t a,
                        uint64_t mask)
{
    if (!((uint32_t)mask >> t->number % WARP & 1))
        return ptx_fault(t, i, PTX_TRAP, "a mask without the thread itself",
                         (uint32_t)mask);
    t->at = i;
    t->a = a;
    t->mask = (uint32_t)mask;
    t->state = AT_WARP;
    if (!complete(t))
        return BLOCKED;
    together(t);
    return CONTINUE;
}

X(bar)
{
    if (i->flags & M_WARP)
        return arrive(t, i, 0, i->n ? GET(0) : ~0u);
    return bar_block(t, i);
}

X(vote)
{
    return arrive(t, i, GET(1) != 0, GET(2));
}

X(match)
{
    return arrive(t, i, ptx_src(t, i, 1), GET(2));
}

X(redux)
{
    return arrive(t, i, ptx_src(t, i, 1), GET(2));
}

X(elect)
{
    return arrive(t, i, 0, GET(1));
}

X(shfl)
{
    t->with = (unsigned)GET(2);
    t->c = GET(3);
    return arrive(t, i, GET(1), GET(4));
}

/* Threads run one by one: none shares an instruction with another. */
X(activemask)
{
    ptx_set(t, &i->o[0], 1u << t->number % WARP);
    return CONTINUE;
}

void ptx_recount(struct thread *t)
{
    struct block *b = t->b;

    for (unsigned k = 0; k < BARRIERS; k++)
        if (!b->bar[k].count && is_full(b, k))
            release(b, k);
    for (unsigned k = 0; k < WARP; k++) {
        struct thread *other = lane(t, k);

        if (other && other->state == AT_WARP && complete(other))
            together(other);
    }
}
