/* SPDX-License-Identifier: BSD-3-Clause */
/* Fills entries of the NIC's with operations, and queues them.  Arming
 * (ofi_trig_entry.c), the signals of puts (ofi_trig_poll.c) and the test call
 * it, under ofi_trig.lock.
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

static const enum fi_op amo_op[AMO_OPS] = {
    [AMO_FETCH] = FI_ATOMIC_READ, [AMO_SET] = FI_ATOMIC_WRITE,
    [AMO_SWAP] = FI_ATOMIC_WRITE, [AMO_CSWAP] = FI_CSWAP,
    [AMO_ADD] = FI_SUM, [AMO_AND] = FI_BAND, [AMO_OR] = FI_BOR,
    [AMO_XOR] = FI_BXOR
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

static uint64_t key_of(const struct ofi_peer *p, const struct xport_addr *at)
{
    bool wrong = unlikely(fault_armed) && at->pe != rt_job.pe &&
                 fault_hit(FAULT_OFI_KEY);

    return wrong ? OFI_TRIG_WRONG_KEY : ofi_remote_key(p, at);
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
 * is registered for it, as ofi_trig_can() has seen, so no context is
 * needed. */
static void *local_of(const void *p, size_t len, void **desc)
{
    struct ofi_local l;

    ofi_local_use(p, len, 0, &l);
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

void ofi_trig_fill_amo(struct ofi_trig_entry *w, const struct xport_addr *at,
                       const struct xport_amo *a, void *result)
{
    w->desc = w->result_desc = ofi_trig.desc;
    if (result && result != (void *)w->bytes)
        result = local_of(result, (size_t)a->size, &w->result_desc);
    w->result = (struct fi_ioc){ result, 1 };
    if (a->op == AMO_CSWAP) {
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

/* The results of these are not wanted. */
static void make_word(struct ofi_trig_entry *w, const struct xport_trig_op *op)
{
    struct xport_amo set = { .op = AMO_SET, .size = (int)op->len };
    bool gives = op->amo.op == AMO_SWAP || op->amo.op == AMO_FETCH ||
                 op->amo.op == AMO_CSWAP;

    if (op->kind == XPORT_TRIG_AMO) {
        ofi_trig_fill_amo(w, &op->at, &op->amo,
                 op->local ? op->local : gives ? w->bytes : NULL);
    } else {
        memcpy(&set.value, op->local, op->len);
        ofi_trig_fill_amo(w, &op->at, &set, NULL);
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
