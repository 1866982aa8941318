/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations as entries of the NIC's.
 *
 * It reads sources and operands when it does them, so they lie in the entry or
 * where the program keeps them.  None carries FI_INJECT or FI_FENCE; puts and
 * atomics that fetch nothing end when they are in the target's memory
 * (FI_DELIVERY_COMPLETE), which others must not ask for. */
#include "ofi/trig/ofi_trig.h"
#include "base/fault.h"
#include "base/log.h"
#include "ofi/net/ofi_local.h"
#include "rt/rt.h"

#include <errno.h>
#include <string.h>

static const enum fi_op amo_op[XPORT_OPS] = {
    [XPORT_FETCH] = FI_ATOMIC_READ, [XPORT_SET] = FI_ATOMIC_WRITE,
    [XPORT_SWAP] = FI_ATOMIC_WRITE, [XPORT_CSWAP] = FI_CSWAP,
    [XPORT_ADD] = FI_SUM, [XPORT_AND] = FI_BAND, [XPORT_OR] = FI_BOR,
    [XPORT_XOR] = FI_BXOR
};

/* ---- which ---- */

/* A word that may be seen half is stored by an atomic. */
static bool as_word(const struct xport_trig_op *op)
{
    return ofi.nonatomic_delivery && op->value &&
           (op->len == 4 || op->len == 8) &&
           op->at.off % op->len == 0;
}

static bool reaches(const struct xport_trig_op *op)
{
    if (ofi_needs_staging(op->at.seg) || !op->local || op->value)
        return !ofi_needs_staging(op->at.seg);
    if (!gtl_device_only || !ofi_is_device_only(op->local))
        return true;
    /* What it stores there, only the host can make visible. */
    return ofi.hmem && heap_find(op->local, op->len) == HEAP_DEVICE &&
           (op->kind == XPORT_TRIG_PUT || !xport_flusher);
}

bool ofi_trig_can(const struct xport_trig_op *op)
{
    bool amo = op->kind == XPORT_TRIG_AMO;

    if (ofi_trig_state() < 0 || ofi.local_keys || !reaches(op))
        return false;
    if ((amo || op->signals || as_word(op)) && !ofi.nic_amo)
        return false;
    if ((amo && ofi_is_device_only_seg(op->at.seg)) ||
        (op->signals && ofi_is_device_only_seg(op->sig_at.seg)))
        return false;
    if (amo)
        return true;
    return op->len <= ofi.info->ep_attr->max_msg_size &&
           (!op->value || op->len <= XPORT_TRIG_BYTES) &&
           (!ofi.nonatomic_delivery || as_word(op) ||
            (op->len != 2 && op->len != 4 && op->len != 8));
}

/* ---- how ---- */

enum { WRONG = 0x5a5a };        /* of a key's bits */

static uint64_t key_of(const struct ofi_peer *p, const struct xport_addr *at)
{
    bool wrong = unlikely(fault_armed) && at->pe != rt_job.pe &&
                 fault_hit(FAULT_OFI_KEY);

    return wrong ? WRONG : ofi_remote_key(p, at);
}

static void aim(struct ofi_trig_entry *w, struct fi_msg_rma *m,
                const struct xport_addr *at, size_t len)
{
    const struct ofi_peer *p = ofi_peer_at(at);

    w->pe = at->pe;
    w->remote.rma = (struct fi_rma_iov){ ofi_remote_addr(p, at), len,
                                      key_of(p, at) };
    *m = (struct fi_msg_rma){
        .msg_iov = &w->local.iov, .desc = &w->desc, .iov_count = 1,
        .addr = p->addr, .rma_iov = &w->remote.rma, .rma_iov_count = 1,
        .context = &w->work.context
    };
}

/* Memory of the program's: where the NIC finds it, and its descriptor.  None
 * is registered for it, as ofi_trig_can() has seen, so no context hears of
 * that. */
static void *local_of(const void *p, size_t len, void **desc)
{
    struct ofi_local l;

    ofi_local_use(NULL, p, len, 0, -1, &l);
    *desc = l.desc;
    return l.at;
}

static void make_transfer(struct ofi_trig_entry *w,
                          const struct xport_trig_op *op)
{
    bool put = op->kind == XPORT_TRIG_PUT;
    void *local = w->bytes;

    w->desc = ofi_trig.desc;
    if (op->value)
        memcpy(w->bytes, op->local, op->len);
    else
        local = local_of(op->local, op->len, &w->desc);
    w->local.iov = (struct iovec){ local, op->len };
    w->op.rma.ep = ofi_trig.ep->ep;
    w->op.rma.flags = FI_COMPLETION | (put ? FI_DELIVERY_COMPLETE : 0);
    aim(w, &w->op.rma.msg, &op->at, op->len);
    w->work.op_type = put ? FI_OP_WRITE : FI_OP_READ;
    w->work.op.rma = &w->op.rma;
}

static void aim_word(struct ofi_trig_entry *w, struct fi_msg_atomic *m,
                     const struct xport_addr *at, const struct xport_amo *a)
{
    const struct ofi_peer *p = ofi_peer_at(at);

    w->pe = at->pe;
    w->operand = a->value;
    w->compared = a->cond;
    w->local.ioc = (struct fi_ioc){ &w->operand, 1 };
    w->cond = (struct fi_ioc){ &w->compared, 1 };
    w->remote.ioc = (struct fi_rma_ioc){ ofi_remote_addr(p, at), 1,
                                      key_of(p, at) };
    *m = (struct fi_msg_atomic){
        .msg_iov = &w->local.ioc, .desc = &w->desc, .iov_count = 1,
        .addr = p->addr, .rma_iov = &w->remote.ioc, .rma_iov_count = 1,
        .datatype = a->size == 8 ? FI_UINT64 : FI_UINT32,
        .op = amo_op[a->op], .context = &w->work.context
    };
}

static void make_amo(struct ofi_trig_entry *w, const struct xport_addr *at,
                     const struct xport_amo *a, void *result)
{
    w->desc = w->result_desc = ofi_trig.desc;
    if (result && result != (void *)w->bytes)
        result = local_of(result, (size_t)a->size, &w->result_desc);
    w->result = (struct fi_ioc){ result, 1 };
    if (a->op == XPORT_CSWAP) {
        w->op.compare = (struct fi_op_compare_atomic){
            .ep = ofi_trig.ep->ep, .flags = FI_COMPLETION,
            .fetch = { .msg_iov = &w->result, .desc = &w->result_desc,
                       .iov_count = 1 },
            .compare = { .msg_iov = &w->cond, .desc = &w->desc,
                         .iov_count = 1 }
        };
        aim_word(w, &w->op.compare.msg, at, a);
        w->work.op_type = FI_OP_COMPARE_ATOMIC;
        w->work.op.compare_atomic = &w->op.compare;
    } else if (result) {
        w->op.fetch = (struct fi_op_fetch_atomic){
            .ep = ofi_trig.ep->ep, .flags = FI_COMPLETION,
            .fetch = { .msg_iov = &w->result, .desc = &w->result_desc,
                       .iov_count = 1 }
        };
        aim_word(w, &w->op.fetch.msg, at, a);
        w->work.op_type = FI_OP_FETCH_ATOMIC;
        w->work.op.fetch_atomic = &w->op.fetch;
    } else {
        w->op.atomic = (struct fi_op_atomic){
            .ep = ofi_trig.ep->ep,
            .flags = FI_COMPLETION | FI_DELIVERY_COMPLETE
        };
        aim_word(w, &w->op.atomic.msg, at, a);
        w->work.op_type = FI_OP_ATOMIC;
        w->work.op.atomic = &w->op.atomic;
    }
}

/* Nobody asked for what these give. */
static void make_word(struct ofi_trig_entry *w, const struct xport_trig_op *op)
{
    struct xport_amo set = { .op = XPORT_SET, .size = (int)op->len };
    bool gives = op->amo.op == XPORT_SWAP || op->amo.op == XPORT_FETCH ||
                 op->amo.op == XPORT_CSWAP;

    if (op->kind == XPORT_TRIG_AMO) {
        make_amo(w, &op->at, &op->amo,
                 op->local ? op->local : gives ? w->bytes : NULL);
    } else {
        memcpy(&set.value, op->local, op->len);
        make_amo(w, &op->at, &set, NULL);
    }
}

void ofi_trig_fill(struct ofi_trig_entry *w, const struct xport_trig_op *op)
{
    if (op->kind == XPORT_TRIG_AMO || as_word(op))
        make_word(w, op);
    else
        make_transfer(w, op);
}

/* ---- queueing ---- */

int ofi_trig_post(struct ofi_trig_entry *w, struct fid_cntr *trigger,
                  uint64_t at, struct fid_cntr *done)
{
    int rc;

    w->work.threshold = at;
    w->work.triggering_cntr = trigger;
    w->work.completion_cntr = done;
    rc = fi_control(&ofi.domain->fid, FI_QUEUE_WORK, &w->work);
    if (rc == -FI_EAGAIN || rc == -FI_ENOSPC)
        return -EAGAIN;
    if (rc)
        log_info(LOG_OFI, "FI_QUEUE_WORK: %s", ofi_strerror(rc));
    return rc;
}

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

/* Where the counter is when the next one goes. */
static uint64_t goes_at(const struct xport_trig *t)
{
    return (t->armed + 1) << t->two_input;
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

static int arm_one(struct xport_trig *t, const struct xport_trig_op *op)
{
    struct ofi_trig_entry *w;
    int rc = take(t, op->call, &w, 1);

    if (rc)
        return rc;
    ofi_trig_fill(w, op);
    rc = queue(w, t->trigger, goes_at(t), t->done);
    if (rc)
        ofi_trig_entry_free(w);
    return rc;
}

/* A counter that nobody uses: its number, or -EAGAIN. */
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
    make_amo(w[1], &op->sig_at, &op->sig, NULL);
    return 0;
}

/* Where failures count, a counter does not tell that the put succeeded: the
 * thread that reads so in the queue posts the signal (ofi_trig_poll.c), which
 * has its entry from now on. */
static int arm_put_first(struct xport_trig *t, const struct xport_trig_op *op)
{
    struct ofi_trig_entry *w[2];
    int rc = take_both(t, op, w);

    if (rc)
        return rc;
    rc = post(w[0], t->trigger, goes_at(t), NULL);
    if (rc) {
        ofi_trig_entry_free(w[0]);
        ofi_trig_entry_free(w[1]);
        return rc;
    }
    w[0]->signal = w[1];
    enlist(w[1]);
    enlist(w[0]);
    return 0;
}

/* The signal is queued first: without its put it never goes, and the other way
 * round the put would be under way without it. */
static int arm_both(struct xport_trig *t, const struct xport_trig_op *op)
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
        ofi_trig_entry_free(w[0]);
        ofi_trig_entry_free(w[1]);
        return rc;
    }
    rc = queue(w[0], t->trigger, goes_at(t), ofi_trig.chains[c].counter);
    if (rc) {                   /* it cannot be taken back */
        t->retired = true;
        ofi_trig_entry_free(w[0]);
        return rc;
    }
    ofi_trig.chains[c].uses++;
    return 0;
}

int ofi_trig_arm(struct xport_trig *t, const struct xport_trig_op *op)
{
    int rc = -EIO;

    lock_acquire(&ofi_trig.lock);
    if (t->retired || t->armed >= ofi_trig.kind->most)
        rc = -EAGAIN;
    else if (!t->is_failed)
        rc = !op->signals ? arm_one(t, op)
             : ofi_trig.errors_count ? arm_put_first(t, op) : arm_both(t, op);
    t->armed += !rc;
    lock_release(&ofi_trig.lock);
    return rc;
}

int ofi_trig_flag(struct xport_trig *t, uint64_t *least)
{
    const struct xport_amo add = { .op = XPORT_ADD, .size = 8, .value = 1 };
    struct xport_addr at = { .pe = rt_job.pe, .seg = HEAP_HOST };
    struct ofi_trig_entry *w;
    int rc = -EIO;

    at.off = (uintptr_t)t->word - heap_segs[HEAP_HOST].base;
    lock_acquire(&ofi_trig.lock);
    if (!t->is_failed)
        rc = take(t, "a flag", &w, 1);
    if (!rc) {
        w->role = OFI_ENTRY_FLAG;
        make_amo(w, &at, &add, NULL);
        if (t->arg && fault_hit(FAULT_OFI_FLAG))        /* not the test's */
            w->remote.ioc.key ^= WRONG;
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
