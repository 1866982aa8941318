/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Provider keys (rule 23).  As the provider's they are made of where the region
 * is, in bytes, and are no secret: regions that begin at the same address have
 * the same key, in one process and in several, whatever their lengths.  Only
 * those that count what comes, and odd ones, have numbers of their own.
 *
 * The base provider knows no two regions with one key: an operation that it
 * refuses goes to the next of those that have the key of the first.
 */
#include "calls.h"

#define OF_PROVIDER  (1ull << 63)
#define NUMBERED     (1ull << 62)
#define PLACE        ((1ull << 47) - 1)
#define ALIGNMENT    16
#define BASE_PLACE   ((1ull << 43) - 1)         /* in units of that */
#define BASE_NUMBER  (1ull << 47)

static bool has_place(const struct cxi_mr *mr)
{
    return !mr->events && (uintptr_t)mr->buf % ALIGNMENT == 0 &&
           mr->alike < CXI_KEY_ALIKE;
}

/* Locked. */
uint64_t cxi_key_new(struct cxi_mr *mr)
{
    struct cxi_domain *dom = mr->dom;

    mr->alike = 0;
    for (struct cxi_mr *m = dom->mrs; m; m = m->next)
        if (m != mr && m->real && m->ep == mr->ep && m->buf == mr->buf &&
            !m->events && m->alike >= mr->alike)
            mr->alike = m->alike + 1;
    return OF_PROVIDER | (has_place(mr) ? (uintptr_t)mr->buf & PLACE
                                        : NUMBERED | ++dom->next_key);
}

uint64_t cxi_key_base(uint64_t key, unsigned alike)
{
    if (!(key & OF_PROVIDER))
        return BASE_NUMBER;     /* matches nothing: numbers begin with 1 */
    if (key & NUMBERED)
        return BASE_NUMBER | (key & BASE_PLACE);
    if (key & ~OF_PROVIDER & ~PLACE || key % ALIGNMENT)
        return BASE_NUMBER;
    return (key & PLACE) / ALIGNMENT | (uint64_t)alike << 43;
}

static unsigned slot_of(uint64_t rkey)
{
    return (unsigned)(rkey * 0x9e3779b97f4a7c15u >> 58);
}

/* Where it was right before. */
void cxi_key_aim(struct cxi_op *op, uint64_t port)
{
    struct cxi_domain *dom = op->ep->dom;
    uint64_t first = port << 48 | cxi_key_base(op->key, 0);
    unsigned slot = slot_of(first);

    op->alike = dom->hints[slot].rkey == first ? dom->hints[slot].alike : 0;
    op->rkey = port << 48 | cxi_key_base(op->key, op->alike);
}

bool cxi_key_next(struct cxi_op *op)
{
    if (!op->ep->dom->prov_keys || !(op->key & OF_PROVIDER) ||
        op->key & NUMBERED || ++op->tries == CXI_KEY_ALIKE)
        return false;
    op->alike = (op->alike + 1) % CXI_KEY_ALIKE;
    op->rkey = op->rkey >> 48 << 48 | cxi_key_base(op->key, op->alike);
    return true;
}

void cxi_key_was_right(const struct cxi_op *op)
{
    struct cxi_domain *dom = op->ep->dom;
    uint64_t first = op->rkey >> 48 << 48 | cxi_key_base(op->key, 0);
    unsigned slot = slot_of(first);

    if (!op->tries)
        return;
    dom->hints[slot].rkey = first;
    dom->hints[slot].alike = op->alike;
}
