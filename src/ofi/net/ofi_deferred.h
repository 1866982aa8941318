/* SPDX-License-Identifier: BSD-3-Clause */
/* ofi_deferred.h - operations whose post found no room, in the order in which
 * they came.  Each poll tries as many as there are: one whose peer takes nothing
 * holds up no other.  ofi_work.c has the counts, which the progress thread reads
 * before it sleeps. */
#ifndef OFI_NET_OFI_DEFERRED_H
#define OFI_NET_OFI_DEFERRED_H

#include "base/lock.h"
#include "ofi/net/ofi_int.h"
#include "ofi/net/ofi_progress.h"

struct ofi_deferred {
    struct base_lock lock;
    struct ofi_op *first, *last;        /* under the lock */
    int n;                      /* atomic: spares the lock */
};
#define OFI_DEFERRED_INIT { .lock = LOCK_INIT }

/* Of ofi_stripe.c: signals whose put has ended; of ofi_amo.c: the same of puts
 * that are not striped; of ofi_am_target.c: replies. */
extern struct ofi_deferred ofi_stripe_deferred, ofi_amo_deferred,
                           ofi_am_target_deferred;

static inline void ofi_deferred_append(struct ofi_deferred *d,
                                       struct ofi_op *op)
{
    op->next = NULL;
    lock_acquire(&d->lock);
    if (d->first)
        d->last->next = op;
    else
        d->first = op;
    d->last = op;
    lock_release(&d->lock);
}

static inline void ofi_deferred_add(struct ofi_deferred *d, struct ofi_op *op)
{
    /* seq_cst: pairs with the progress thread's look before it sleeps. */
    __atomic_fetch_add(&d->n, 1, __ATOMIC_SEQ_CST);
    ofi_deferred_append(d, op);
    ofi_progress_request();
}

/* How many there are to try. */
static inline int ofi_deferred_count(const struct ofi_deferred *d)
{
    return __atomic_load_n(&d->n, __ATOMIC_RELAXED);
}

/* The oldest one, or NULL.  It is counted until ofi_deferred_posted(); one that
 * found no room again goes back by ofi_deferred_append(). */
static inline struct ofi_op *ofi_deferred_take(struct ofi_deferred *d)
{
    struct ofi_op *op;

    lock_acquire(&d->lock);
    op = d->first;
    if (op)
        d->first = op->next;
    lock_release(&d->lock);
    return op;
}

static inline void ofi_deferred_posted(struct ofi_deferred *d)
{
    __atomic_fetch_sub(&d->n, 1, __ATOMIC_RELAXED);
}

#endif
