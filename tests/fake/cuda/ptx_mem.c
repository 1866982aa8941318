/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads, stores, atomics and fences.  For the table of ptx_ops.c.
 *
 * Others use the same words meanwhile: an access is one access of its width,
 * and of a vector one for each part.  What it does not order, the processor may
 * reorder. */
#include "fake.h"
#include "ptx_int.h"
#include "dev.h"
#include "dev_nic.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define X(name) enum next ptx_x_##name(struct thread *t, const struct insn *i)

enum { PAGE = 4096 };

void ptx_flush(struct grid *g)
{
    dev_nic_end();
    dev_nic_begin();
    memset(g->lines, 0, sizeof g->lines);
    g->dirty = false;
}

/* The part of the page around `at` that is there, or what is asked for. */
static bool conflict(struct grid *g, uint64_t at, size_t n, struct line *out)
{
    uint64_t from = at / PAGE * PAGE, to = from + PAGE;
    struct dev_range r;
    char *p = NULL;

    if (at + n <= to)
        p = dev_reach((void *)(uintptr_t)from, PAGE);
    if (!p && at + n <= to && dev_find((void *)(uintptr_t)at, &r)) {
        from = r.base > from ? r.base : from;
        to = r.base + r.size < to ? r.base + r.size : to;
        if (at + n <= to)
            p = dev_reach((void *)(uintptr_t)from, to - from);
    }
    if (!p) {
        from = at;
        to = at + n;
        p = dev_reach((void *)(uintptr_t)at, n);
    }
    *out = (struct line){ from, to, p, false };
    out->atomic = p && dev_atomic(g->l->device, (void *)(uintptr_t)at);
    return p;
}

static void *global(struct grid *g, uint64_t at, size_t n, bool *atomic)
{
    struct line *l = &g->lines[at / PAGE % LINES], other;

    if (!l->at || at < l->from || at + n > l->to) {
        if (!conflict(g, at, n, &other))
            return NULL;
        *l = other;
    }
    if (atomic)
        *atomic = l->atomic;
    return l->at + (at - l->from);
}

/* A window of the generic addresses, or memory of the device. */
static enum space space_of(enum space space, uint64_t *at)
{
    uint64_t window = *at & ~WINDOW;
    enum space is = window == LOCAL_AT ? LOCAL : window == SHARED_AT ? SHARED
                  : window == PARAM_AT ? PARAM : GENERIC;

    if (space != GENERIC || is == GENERIC)
        return space;
    *at &= WINDOW;
    return is;
}

static void *inside(unsigned char *base, size_t size, uint64_t at, size_t n)
{
    return at <= size && n <= size - at ? base + at : NULL;
}

/* Cleared of the top of its stack, local memory is there from the first use. */
static void *local(struct thread *t, uint64_t at, size_t n)
{
    return inside(t->local, t->local_room, at, n);
}

void *ptx_at(struct thread *t, const struct insn *i, enum space space,
             uint64_t at, size_t n, bool *atomic)
{
    uint64_t was = at;
    void *p = NULL;

    if (atomic)
        *atomic = true;
    switch (space_of(space, &at)) {
    case LOCAL:
        p = local(t, at, n);
        break;
    case SHARED:
        p = inside(t->b->shared, t->b->shared_size, at, n);
        break;
    case PARAM:
        p = space == PARAM ? inside(t->f->param, t->f->fn->param_size, at, n)
                           : inside(t->b->g->l->params,
                                    t->b->g->entry->param_size, at, n);
        break;
    default:
        p = global(t->b->g, at, n, atomic);
    }
    if (!p)
        ptx_fault(t, i, EFAULT, "an illegal address", was);
    return p;
}

static uint64_t address(const struct thread *t, const struct operand *o)
{
    uint64_t at = ptx_get(t, o);

    return o->kind == O_REG ? at + o->value : at;
}

/* Where the instruction's n bytes are, of operand k. */
static void *reach(struct thread *t, const struct insn *i, int k, size_t n,
                   bool *atomic)
{
    uint64_t at = address(t, &i->o[k]);

    if (at % n) {
        ptx_fault(t, i, PTX_MISALIGNED, "a misaligned address", at);
        return NULL;
    }
    return ptx_at(t, i, (enum space)i->space, at, n, atomic);
}

static uint64_t load(const void *p, size_t n, bool acquire)
{
    int order = acquire ? __ATOMIC_ACQUIRE : __ATOMIC_RELAXED;

    switch (n) {
    case 1: return __atomic_load_n((const uint8_t *)p, order);
    case 2: return __atomic_load_n((const uint16_t *)p, order);
    case 4: return __atomic_load_n((const uint32_t *)p, order);
    default: return __atomic_load_n((const uint64_t *)p, order);
    }
}

/* A release with nothing less than a plain store: a doorbell takes no other, and
 * with an order that is no constant the compiler makes an exchange. */
static void store(void *p, size_t n, uint64_t v)
{
    switch (n) {
    case 1: __atomic_store_n((uint8_t *)p, (uint8_t)v, __ATOMIC_RELEASE); break;
    case 2: __atomic_store_n((uint16_t *)p, (uint16_t)v, __ATOMIC_RELEASE); break;
    case 4: __atomic_store_n((uint32_t *)p, (uint32_t)v, __ATOMIC_RELEASE); break;
    default: __atomic_store_n((uint64_t *)p, v, __ATOMIC_RELEASE);
    }
}

static const struct operand *element(const struct operand *o, int k)
{
    return o->kind == O_VECTOR ? &o->parts[k] : o;
}

static bool fits(struct thread *t, const struct insn *i,
                 const struct operand *o, int n)
{
    if ((o->kind == O_VECTOR ? o->n : 1) == n)
        return true;
    ptx_fault(t, i, PTX_TRAP, "a vector of another length", 0);
    return false;
}

X(ld)
{
    size_t each = i->bits / 8u;
    int n = i->vec ? i->vec : 1;
    bool acquire = i->order == ACQUIRE || i->order == SC;
    char *p = reach(t, i, 1, each * (size_t)n, NULL);

    if (!p || !fits(t, i, &i->o[0], n))
        return FAILED;
    for (int k = 0; k < n; k++)
        ptx_set(t, element(&i->o[0], k),
                ptx_extend((enum type)i->type[0],
                           load(p + (size_t)k * each, each, acquire)));
    t->polls += i->order != WEAK;
    return CONTINUE;
}

/* Before others see what follows, NICs have what was stored. */
static void publish(struct thread *t)
{
    struct grid *g = t->b->g;

    if (g->dirty)
        ptx_flush(g);
}

/* A NIC does not count all that several threads of a kernel store to one
 * doorbell: of those to one, the first thread's are counted. */
static bool is_lost(const struct thread *t, const void *p)
{
    const struct block *b = t->b;
    struct grid *g = b->g;
    const unsigned me[4] = { b->id[0], b->id[1], b->id[2], t->number };
    struct dev_range r;
    unsigned k = 0;

    if (!dev_find(p, &r) || r.where != DEV_PINNED ||
        !(r.flags & CU_MEMHOSTREGISTER_IOMEMORY))
        return false;
    while (k < g->n_rung && g->rung[k].doorbell != p)
        k++;
    if (k == g->n_rung) {
        if (k == DOORBELLS)
            return true;
        g->rung[k].doorbell = p;
        memcpy(g->rung[k].by, me, sizeof me);
        g->n_rung++;
    }
    return memcmp(g->rung[k].by, me, sizeof me) != 0;
}

X(st)
{
    size_t each = i->bits / 8u;
    int n = i->vec ? i->vec : 1;
    bool release = i->order == RELEASE || i->order == SC;
    char *p;

    if (release && (i->flags & M_SYS))
        publish(t);
    p = reach(t, i, 0, each * (size_t)n, NULL);
    if (!p || !fits(t, i, &i->o[1], n))
        return FAILED;
    if (i->order != WEAK && (i->flags & M_SYS) && is_lost(t, p))
        return CONTINUE;
    for (int k = 0; k < n; k++)
        store(p + (size_t)k * each, each, ptx_get(t, element(&i->o[1], k)));
    t->b->g->dirty |= i->space == GENERIC || i->space == GLOBAL;
    t->moved |= i->space != LOCAL && i->space != PARAM;
    return CONTINUE;
}

/* ---- atomics ---- */

static bool smaller(enum type type, uint64_t a, uint64_t b)
{
    if (ptx_float(type))
        return ptx_real(type, a) < ptx_real(type, b);
    a = ptx_extend(type, a);
    b = ptx_extend(type, b);
    return ptx_signed(type) ? (int64_t)a < (int64_t)b : a < b;
}

static uint64_t next_value(const struct insn *i, uint64_t old, uint64_t b,
                           uint64_t c)
{
    enum type type = (enum type)i->type[0];

    switch (i->word) {
    case W_ADD: return ptx_float(type) ? ptx_float_add(type, old, b) : old + b;
    case W_INC: return old >= b ? 0 : old + 1;
    case W_DEC: return !old || old > b ? b : old - 1;
    case W_EXCH: return b;
    case W_CAS: return old == b ? c : old;
    case W_AND: return old & b;
    case W_OR: return old | b;
    case W_XOR: return old ^ b;
    case W_MIN: return smaller(type, b, old) ? b : old;
    default: return smaller(type, old, b) ? b : old;
    }
}

#define EXCHANGE(T) do {                                                    \
    T old_ = __atomic_load_n((T *)p, __ATOMIC_RELAXED), new_;               \
    do                                                                      \
        new_ = (T)next_value(i, old_, b, c);                                \
    while (!__atomic_compare_exchange_n((T *)p, &old_, new_, false,         \
                                        __ATOMIC_SEQ_CST,                   \
                                        __ATOMIC_RELAXED));                 \
    *changed = old_ != new_;                                                \
    return old_;                                                            \
} while (0)

/* In the strongest order, which the weaker ones allow. */
static uint64_t exchange(void *p, const struct insn *i, uint64_t b,
                         uint64_t c, bool *changed)
{
    switch (i->bits) {
    case 16: EXCHANGE(uint16_t);
    case 32: EXCHANGE(uint32_t);
    default: EXCHANGE(uint64_t);
    }
}

/* k: the address's operand. */
static enum next atomic(struct thread *t, const struct insn *i, int k,
                        uint64_t *was)
{
    uint64_t mask = i->bits >= 64 ? ~0ULL : (1ULL << i->bits) - 1;
    uint64_t b, c = 0;
    bool works, changed;
    void *p;

    if (i->bits > 64 || i->bits < 16 || !i->word)
        return ptx_fault(t, i, PTX_TRAP, "no such atomic", 0);
    if (i->order >= RELEASE && (i->flags & M_SYS))
        publish(t);
    p = reach(t, i, k, i->bits / 8u, &works);
    if (!p)
        return FAILED;
    if (!works)
        return ptx_fault(t, i, PTX_NO_ATOMICS, "no atomics there",
                         address(t, &i->o[k]));
    b = ptx_get(t, &i->o[k + 1]) & mask;
    if (i->word == W_CAS)
        c = ptx_get(t, &i->o[k + 2]) & mask;
    *was = exchange(p, i, b, c, &changed);
    t->b->g->dirty |= changed && i->space != SHARED;
    t->moved |= changed;
    t->polls++;
    return CONTINUE;
}

X(atom)
{
    uint64_t was;
    enum next rc = atomic(t, i, 1, &was);

    if (rc == CONTINUE)
        ptx_set(t, &i->o[0], was);
    return rc;
}

X(red)
{
    uint64_t was;

    return atomic(t, i, 0, &was);
}

X(fence)
{
    if (i->flags & M_SYS)
        publish(t);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    return CONTINUE;
}

X(prefetch)
{
    (void)t;
    (void)i;
    return CONTINUE;
}
