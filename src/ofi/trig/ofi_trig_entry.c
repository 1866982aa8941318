/* SPDX-License-Identifier: BSD-3-Clause */
/* Arms operations and flags with a trigger: each becomes one or two entries in
 * the NIC's queue, which the trigger's counter releases.  xport_trig_ops calls
 * it, on one thread at a time for each trigger; it waits for nothing. */
#include "ofi/trig/ofi_trig.h"
#include "base/fault.h"
#include "rt/rt.h"

#include <errno.h>

/* What it does not take, a thread does. */
static int post(struct ofi_trig_entry *w, struct fid_cntr *trigger, uint64_t at,
                struct fid_cntr *done)
{
    return ofi_trig_post(w, trigger, at, done) ? -EAGAIN : 0;
}

/* The trigger's from now on. */
static void enlist(struct ofi_trig_entry *w)
{
    w->number = w->trig->armed + 1;
    list_append(&w->trig->works, &w->link);
    w->trig->entries++;
}

static int queue(struct ofi_trig_entry *w, struct fid_cntr *trigger,
                 uint64_t at, struct fid_cntr *done)
{
    int rc = post(w, trigger, at, done);

    if (!rc)
        enlist(w);
    return rc;
}

/* Entries for an operation and, led by it, for another one. */
static int take(struct xport_trig *t, const char *call,
                struct ofi_trig_entry **w, int n)
{
    for (int i = 0; i < n; i++) {
        w[i] = ofi_trig_entry_alloc();
        if (!w[i]) {
            while (i--)
                ofi_trig_entry_free(w[i]);
            return -EAGAIN;
        }
        w[i]->trig = t;
        w[i]->call = call;
        w[i]->chain = -1;
        w[i]->role = OFI_ENTRY_OP;
        w[i]->signal = NULL;
    }
    return 0;
}

static int arm_one(struct xport_trig *t, const struct xport_trig_op *op,
                   uint64_t at)
{
    struct ofi_trig_entry *w;
    int rc = take(t, op->call, &w, 1);

    if (rc)
        return rc;
    ofi_trig_fill(w, op);
    rc = queue(w, t->trigger, at, t->done);
    if (rc)
        ofi_trig_entry_free(w);
    return rc;
}

/* A counter that is free: its number, or -EAGAIN. */
static int take_chain(void)
{
    for (int k = 0; k < 2; k++, ofi_trig_poll())
        for (int i = 0; i < OFI_CHAINS; i++)
            if (ofi_trig.chains[i].counter && !ofi_trig.chains[i].busy &&
                ofi_trig.chains[i].uses < ofi_trig.kind->most) {
                ofi_trig.chains[i].busy = true;
                return i;
            }
    return -EAGAIN;
}

/* A put and its signal. */
static int take_both(struct xport_trig *t, const struct xport_trig_op *op,
                     struct ofi_trig_entry *w[2])
{
    int rc = take(t, op->call, w, 2);

    if (rc)
        return rc;
    ofi_trig_fill(w[0], op);
    w[0]->role = OFI_ENTRY_CHAINED_PUT;
    ofi_trig_fill_amo(w[1], &op->sig_at, &op->sig, NULL);
    return 0;
}

/* Where failures count, a counter does not show that the put succeeded: the
 * thread that reads so in the queue posts the signal (ofi_trig_poll.c), which
 * has its entry from now on. */
static int arm_put_first(struct xport_trig *t, const struct xport_trig_op *op,
                         uint64_t at)
{
    struct ofi_trig_entry *w[2];
    int rc = take_both(t, op, w);

    if (rc)
        return rc;
    rc = post(w[0], t->trigger, at, NULL);
    if (rc) {
        ofi_trig_entry_free(w[0]);
        ofi_trig_entry_free(w[1]);
        return rc;
    }
    w[0]->signal = w[1];
    w[1]->at = at;
    enlist(w[1]);
    enlist(w[0]);
    return 0;
}

/* The signal is queued first: without its put it never goes, and the other way
 * round the put would be under way without it. */
static int arm_both(struct xport_trig *t, const struct xport_trig_op *op,
                    uint64_t at)
{
    struct ofi_trig_entry *w[2];
    int c, rc = take_both(t, op, w);

    if (rc)
        return rc;
    c = take_chain();
    if (c < 0) {
        ofi_trig_entry_free(w[0]);
        ofi_trig_entry_free(w[1]);
        return c;
    }
    w[1]->chain = c;
    rc = queue(w[1], ofi_trig.chains[c].counter, ofi_trig.chains[c].uses + 1,
               t->done);
    if (rc) {
        ofi_trig.chains[c].busy = false;
        ofi_trig_entry_free(w[0]);
        ofi_trig_entry_free(w[1]);
        return rc;
    }
    rc = queue(w[0], t->trigger, at, ofi_trig.chains[c].counter);
    if (rc) {                   /* it cannot be taken back */
        t->retired = true;
        ofi_trig_entry_free(w[0]);
        return rc;
    }
    ofi_trig.chains[c].uses++;
    return 0;
}

int ofi_trig_arm(struct xport_trig *t, const struct xport_trig_op *op,
                 uint64_t step)
{
    uint64_t at;
    int rc = -EIO;

    lock_acquire(&ofi_trig.lock);
    at = t->due + (step << t->two_input);
    if (t->retired || at > ofi_trig.kind->most)
        rc = -EAGAIN;
    else if (!t->is_failed)
        rc = !op->signals ? arm_one(t, op, at)
             : ofi_trig.errors_count ? arm_put_first(t, op, at)
                                     : arm_both(t, op, at);
    if (!rc) {
        t->armed++;
        t->due = at;
    }
    lock_release(&ofi_trig.lock);
    return rc;
}

int ofi_trig_flag(struct xport_trig *t, uint64_t *least)
{
    const struct xport_amo add = { .op = AMO_ADD, .size = 8, .value = 1 };
    struct xport_addr at = { .pe = rt_job.pe, .seg = HEAP_HOST };
    struct ofi_trig_entry *w;
    int rc = -EIO;

    at.off = (uintptr_t)t->word - heap_segs[HEAP_HOST].base;
    lock_acquire(&ofi_trig.lock);
    if (!t->is_failed)
        rc = take(t, "a flag", &w, 1);
    if (!rc) {
        w->role = OFI_ENTRY_FLAG;
        ofi_trig_fill_amo(w, &at, &add, NULL);
        if (t->arg && fault_hit(FAULT_OFI_FLAG))        /* not the test's */
            w->remote.ioc.key ^= OFI_TRIG_WRONG_KEY;
        rc = queue(w, t->done, t->armed, t->flagged);
        if (rc)
            ofi_trig_entry_free(w);
    }
    t->flags += !rc;
    if (!rc)
        w->flag = t->flags;
    *least = t->flags;
    lock_release(&ofi_trig.lock);
    return rc;
}
