/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * FAKE_CXI_STALE: a NIC whose atomics do not see what the processor has stored
 * since their last one on the same word (no publication says that they do).
 * Of words that a process has a NIC change in its own regions, which is what
 * this provider reaches: with 1 those of deferred work, with 2 all, which also
 * loses what other processes do to such a word.
 */
#include "work.h"

#include <string.h>

enum { WORDS = 1024 };

static struct word {
    char *at;
    uint64_t value;
} words[WORDS];                 /* of all domains: locked by the one there is */

static char *place_of(const struct cxi_op *op)
{
    for (struct cxi_mr *mr = op->ep->dom->mrs; mr; mr = mr->next)
        if (mr->real && mr->ep && !mr->cntr &&
            mr->ep->port == op->rkey >> 48 &&
            op->addr + op->len <= mr->len &&
            (op->ep->dom->prov_keys
             ? cxi_key_base(mr->key, mr->alike) == (op->rkey & CXI_PORT_LESS)
             : mr->key == op->key))
            return (char *)(mr->seen ? mr->seen : mr->buf) + op->addr;
    return NULL;
}

static struct word *word_at(const char *at)
{
    return &words[(uintptr_t)at / 4 % WORDS];
}

static bool is_atomic(const struct cxi_op *op)
{
    return op->kind == CXI_ATOMIC || op->kind == CXI_FETCH ||
           op->kind == CXI_COMPARE;
}

static bool is_stale(const struct cxi_op *op)
{
    return is_atomic(op) &&
           cxi_env("FAKE_CXI_STALE", 0) >= (op->deferred ? 1 : 2);
}

/* The NIC sees what its own atomics do. */
static bool is_busy(const struct cxi_op *op)
{
    for (struct cxi_ep *ep = op->ep->dom->eps; ep; ep = ep->next)
        for (const struct cxi_op *o = ep->first; o; o = o->next)
            if (o != op && o->step == CXI_ISSUED && is_atomic(o) &&
                o->rkey == op->rkey && o->addr == op->addr)
                return true;
    return false;
}

void cxi_stale_before(const struct cxi_op *op)
{
    char *at = is_stale(op) ? place_of(op) : NULL;

    if (at && word_at(at)->at == at && !is_busy(op))
        memcpy(at, &word_at(at)->value, op->len);
}

void cxi_stale_after(const struct cxi_op *op)
{
    char *at = is_stale(op) ? place_of(op) : NULL;

    if (!at)
        return;
    word_at(at)->at = at;
    memcpy(&word_at(at)->value, at, op->len);
}
