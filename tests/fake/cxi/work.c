/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Deferred work (rules 13 and 14).  Everything is translated when it is
 * queued: neither the descriptor nor what it points to is looked at again.
 * Memory is read when the operation fires, but for what the NIC takes into its
 * command: the operand of a comparison, of FI_MSWAP, and that of
 * FI_ATOMIC_WRITE, which it reads a second time, so it must be final.
 *
 * An operation has a transmit credit from the moment it is queued until its
 * event was read.  It also has an entry of the NIC until it fires; more than
 * the NIC has is not an error that hardware reports, so it is loud here.
 */
#include "work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- entries ---- */

static int room(struct cxi_domain *dom, size_t n)
{
    if (!cxi_use(dom->nic_use, CXI_ENTRIES, (long)n)) {
        cxi_use(dom->nic_use, CXI_ENTRIES, -(long)n);   /* see arm */
        return 0;
    }
    return cxi_rule(-FI_ENOSPC, "14", "%ld entries of deferred work, the NIC "
                    "has %ld", cxi_used(dom->nic_use, CXI_ENTRIES) + (long)n,
                    cxi_most(dom->nic_use, CXI_ENTRIES));
}

/* Behind those of the same threshold. */
static void arm(struct cxi_cntr *trigger, struct cxi_work *w)
{
    struct cxi_domain *dom = trigger->dom;
    struct cxi_work **at = &trigger->armed;

    while (*at && (*at)->threshold <= w->threshold)
        at = &(*at)->next;
    w->next = *at;
    *at = w;
    cxi_use(dom->nic_use, CXI_ENTRIES, 1);
    if (++dom->entries > dom->log.entries)
        dom->log.entries = dom->entries;
    cxi_cntr_change(trigger, false, true, 0);   /* is it time already? */
}

/* No more of the trigger's: fired, or flushed. */
static void disarm(struct cxi_cntr *trigger, const struct cxi_work *w)
{
    trigger->dom->entries--;
    cxi_use(trigger->dom->nic_use, CXI_ENTRIES, -1);
    if (w->does != CXI_DOES_WRITE_BACK)
        trigger->users--;
    if (w->does == CXI_DOES_OP)
        w->op->ep->armed--;
    else if (w->does != CXI_DOES_WRITE_BACK)
        w->cntr->users--;
}

static void fire(struct cxi_cntr *trigger, struct cxi_work *w)
{
    struct cxi_op *op = w->op;

    disarm(trigger, w);
    trigger->dom->log.fired += w->does != CXI_DOES_WRITE_BACK;
    switch (w->does) {
    case CXI_DOES_OP:
        if (op->copied && memcmp(op->comparand, op->buf, op->len))
            cxi_rule(0, "13", "the operand of FI_ATOMIC_WRITE changed after "
                     "it was queued (key 0x%lx)", (unsigned long)op->key);
        cxi_nic_append(op);
        break;
    case CXI_DOES_ADD:
        cxi_cntr_change(w->cntr, false, true, w->value);
        break;
    case CXI_DOES_SET:
        cxi_cntr_change(w->cntr, false, false, w->value);
        break;
    case CXI_DOES_WRITE_BACK:
        cxi_cntr_write_back(w->cntr);
        break;
    }
    free(w);
}

void cxi_work_fire(struct cxi_domain *dom)
{
    struct cxi_cntr *cntr;
    struct cxi_work *w;

    while ((cntr = dom->due)) {
        dom->due = cntr->next_due;
        while ((w = cntr->armed) &&
               w->threshold <= cxi_cntr_reached(cntr)) {
            cntr->armed = w->next;
            fire(cntr, w);
        }
        cntr->is_due = false;
    }
}

static struct cxi_work *make(struct cxi_cntr *target, enum cxi_does does,
                             uint64_t threshold)
{
    struct cxi_work *w = calloc(1, sizeof *w);

    if (!w)
        abort();
    w->cntr = target;
    w->does = does;
    w->threshold = threshold;
    return w;
}

int cxi_work_event(struct cxi_cntr *cntr, uint64_t threshold)
{
    int rc = room(cntr->dom, 1);

    if (!rc)
        arm(cntr, make(cntr, CXI_DOES_WRITE_BACK, threshold));
    return rc;
}

/* Waits that timed out leave their entry behind, until the counter goes. */
void cxi_work_forget(struct cxi_cntr *cntr)
{
    struct cxi_work **at = &cntr->armed, *w;

    while ((w = *at)) {
        if (w->does != CXI_DOES_WRITE_BACK) {
            at = &w->next;
            continue;
        }
        *at = w->next;
        disarm(cntr, w);
        free(w);
    }
}

static int flush(struct cxi_domain *dom)
{
    long ms = cxi_env("FAKE_CXI_FLUSH_MS", 1000);
    struct cxi_work *w;

    pthread_mutex_lock(&dom->lock);
    cxi_nic_pass(dom);
    for (struct cxi_cntr *c = dom->all; c; c = c->next)
        while ((w = c->armed)) {
            c->armed = w->next;
            disarm(c, w);
            dom->log.flushed += w->does != CXI_DOES_WRITE_BACK;
            if (w->op && w->op->counts)
                w->op->counts->users--;
            if (w->op)
                cxi_op_cancel(w->op);
            free(w);
        }
    /* The real one sleeps too, with its locks. */
    nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000 }, NULL);
    pthread_mutex_unlock(&dom->lock);
    return 0;
}

/* ---- queueing ---- */

static struct cxi_cntr *cntr_of(struct fid_cntr *fid)
{
    return fid ? container(fid, struct cxi_cntr, fid) : NULL;
}

static struct cxi_ep *ep_of(struct fid_ep *fid)
{
    return container(fid, struct cxi_ep, fid);
}

static int queue_cntr(struct cxi_domain *dom, const struct fi_deferred_work *d,
                      enum cxi_does does)
{
    struct cxi_cntr *trigger = cntr_of(d->triggering_cntr);
    struct cxi_cntr *target;
    struct cxi_work *w;
    int rc;

    if (!d->op.cntr || !d->op.cntr->cntr || d->completion_cntr ||
        d->op.cntr->value > CXI_SUCCESS_MAX)
        return -FI_EINVAL;
    target = cntr_of(d->op.cntr->cntr);
    if (target->dom != dom)
        return -FI_EINVAL;
    rc = room(dom, 1);
    if (rc)
        return rc;
    w = make(target, does, d->threshold);
    w->value = d->op.cntr->value;
    target->users++;
    trigger->users++;
    arm(trigger, w);
    return 0;
}

static int make_amo(const struct fi_deferred_work *d, struct cxi_op **out)
{
    struct fi_op_compare_atomic *c = d->op.compare_atomic;
    struct fi_op_fetch_atomic *f = d->op.fetch_atomic;
    struct fi_msg_atomic *msg = &d->op.atomic->msg;
    struct fi_msg_fetch *back = NULL;
    struct cxi_ep *ep = ep_of(d->op.atomic->ep);
    uint64_t flags = d->op.atomic->flags;
    struct cxi_amo a = { .kind = CXI_ATOMIC };

    if (d->op_type == FI_OP_FETCH_ATOMIC) {
        a.kind = CXI_FETCH;
        back = &f->fetch;
        flags = f->flags;
    } else if (d->op_type == FI_OP_COMPARE_ATOMIC) {
        a.kind = CXI_COMPARE;
        back = &c->fetch;
        flags = c->flags;
        if (c->compare.iov_count != 1 || !c->compare.msg_iov ||
            c->compare.msg_iov->count != 1)
            return -FI_EINVAL;
        a.compare = c->compare.msg_iov->addr;
    }
    if (msg->rma_iov_count != 1 || !msg->rma_iov || msg->iov_count > 1 ||
        (!msg->iov_count && msg->op != FI_ATOMIC_READ) ||
        (msg->iov_count && (!msg->msg_iov || msg->msg_iov->count != 1)) ||
        msg->rma_iov->count != 1 ||
        (back && (back->iov_count != 1 || !back->msg_iov ||
                  back->msg_iov->count != 1)))
        return -FI_EINVAL;
    if (back)
        a.result = cxi_local(ep->dom, back->msg_iov->addr);
    if (msg->op != FI_ATOMIC_READ)
        a.buf = cxi_local(ep->dom, msg->msg_iov->addr);
    a.peer = msg->addr;
    a.addr = msg->rma_iov->addr;
    a.key = msg->rma_iov->key;
    a.type = msg->datatype;
    a.op = msg->op;
    a.context = msg->context;
    return cxi_amo_make(ep, &a, 1, flags, out);
}

/* What the NIC has in its command from now on. */
static void snapshot(struct cxi_op *op)
{
    if (op->aop == FI_MSWAP) {
        cxi_op_copy(op);
    } else if (op->aop == FI_ATOMIC_WRITE) {
        memcpy(op->comparand, op->buf, op->len);
        op->copied = true;
    }
}

/* The operation's endpoint and flags; -FI_EINVAL for what it may not ask. */
static int member_of(const struct fi_deferred_work *d, struct fid_ep **ep,
                uint64_t *flags)
{
#define MEMBER(member) (*ep = d->op.member->ep, *flags = d->op.member->flags)
    if (!d->op.msg)
        return -FI_EINVAL;
    switch (d->op_type) {
    case FI_OP_RECV: case FI_OP_SEND:
        MEMBER(msg);
        break;
    case FI_OP_READ: case FI_OP_WRITE:
        MEMBER(rma);
        break;
    case FI_OP_ATOMIC:
        MEMBER(atomic);
        break;
    case FI_OP_FETCH_ATOMIC:
        MEMBER(fetch_atomic);
        break;
    case FI_OP_COMPARE_ATOMIC:
        MEMBER(compare_atomic);
        break;
    default:                    /* nothing tagged here */
        return -FI_EINVAL;
    }
#undef MEMBER
    return *ep && !(*flags & ~CXI_WORK_FLAGS) ? 0 : -FI_EINVAL;
}

static int make_op(const struct fi_deferred_work *d, struct cxi_ep *ep,
                   uint64_t flags, struct cxi_op **out)
{
    int rc;

    switch (d->op_type) {
    case FI_OP_RECV:
        return cxi_recv_make(ep, &d->op.msg->msg, flags, out);
    case FI_OP_SEND:
        return cxi_send_make(ep, &d->op.msg->msg, flags, out);
    case FI_OP_READ: case FI_OP_WRITE:
        return cxi_rma_make(ep, d->op_type == FI_OP_READ ? CXI_READ
                            : CXI_WRITE, &d->op.rma->msg, flags, out);
    default:
        rc = make_amo(d, out);
        if (!rc)
            snapshot(*out);
        return rc;
    }
}

/* How it gets at its memory. */
static int reach(const struct fi_deferred_work *d, const struct cxi_op *op)
{
    const struct fi_msg_rma *rma = &d->op.rma->msg;
    const struct fi_msg_atomic *msg = &d->op.atomic->msg;
    const struct fi_msg_fetch *back =
        d->op_type == FI_OP_FETCH_ATOMIC ? &d->op.fetch_atomic->fetch :
        d->op_type == FI_OP_COMPARE_ATOMIC ? &d->op.compare_atomic->fetch :
        NULL;
    int rc = 0;

    if (op->kind == CXI_WRITE || op->kind == CXI_READ)
        return rma->iov_count && op->len
               ? cxi_mr_reach_later(op->ep, rma->msg_iov->iov_base, op->len,
                                    rma->desc ? rma->desc[0] : NULL) : 0;
    if (op->kind == CXI_SEND || op->kind == CXI_RECV)
        return 0;
    if (msg->op != FI_ATOMIC_READ)
        rc = cxi_mr_reach_later(op->ep, msg->msg_iov->addr, op->len,
                                msg->desc ? msg->desc[0] : NULL);
    if (!rc && back)
        rc = cxi_mr_reach_later(op->ep, back->msg_iov->addr, op->len,
                                back->desc ? back->desc[0] : NULL);
    return rc;
}

/* With descriptors, an atomic that wants no entry in the queue costs neither
 * event nor credit. */
static void hybrid(const struct fi_deferred_work *d, struct cxi_op *op)
{
    const struct fi_msg_atomic *msg = &d->op.atomic->msg;
    const struct fi_msg_fetch *back =
        d->op_type == FI_OP_FETCH_ATOMIC ? &d->op.fetch_atomic->fetch :
        d->op_type == FI_OP_COMPARE_ATOMIC ? &d->op.compare_atomic->fetch :
        NULL;

    if (op->kind != CXI_ATOMIC && op->kind != CXI_FETCH &&
        op->kind != CXI_COMPARE)
        return;
    if (!op->ep->hybrid || !(msg->desc && msg->desc[0]) ||
        (back && !(back->desc && back->desc[0])))
        return;
    op->quiet = !op->entry;
    op->ep->tx_used -= op->quiet;
}

/* The real one takes the address of a counter of the endpoint that may not
 * be there. */
static int bound(const struct cxi_ep *ep, const struct cxi_op *op)
{
    if (op->kind == CXI_SEND || op->kind == CXI_RECV || op->quiet ||
        (ep->cntr[CXI_C_READ] && ep->cntr[CXI_C_WRITE]))
        return 0;
    return cxi_rule(-FI_EINVAL, "13", "deferred work on an endpoint without a "
                    "counter for FI_READ and one for FI_WRITE");
}

static int queue_op(struct cxi_domain *dom, const struct fi_deferred_work *d)
{
    struct cxi_cntr *trigger = cntr_of(d->triggering_cntr);
    struct cxi_cntr *counts = cntr_of(d->completion_cntr);
    struct cxi_work *w;
    struct fid_ep *fid;
    struct cxi_op *op;
    uint64_t flags;
    int rc = member_of(d, &fid, &flags);

    if (!rc && d->op_type == FI_OP_ATOMIC &&
        d->op.atomic->msg.op == FI_ATOMIC_WRITE &&
        cxi_env("FAKE_CXI_REFUSE", 0))
        rc = -FI_EOPNOTSUPP;
    if (!rc && ep_of(fid)->tclass != dom->tclass)
        rc = -FI_EINVAL;
    if (!rc && (ep_of(fid)->dom != dom || (counts && counts->dom != dom) ||
                (d->op_type == FI_OP_RECV && d->threshold)))
        rc = -FI_EINVAL;
    if (!rc && flags & CXI_CNTR_WB && counts != trigger)
        rc = cxi_rule(-FI_EINVAL, "13", "FI_CXI_CNTR_WB writes back the "
                      "triggering counter, another one counts completions");
    if (!rc && d->op_type != FI_OP_RECV)
        rc = room(dom, flags & CXI_CNTR_WB ? 2 : 1);
    if (!rc)
        rc = make_op(d, ep_of(fid), flags, &op);
    if (rc)
        return rc;
    rc = reach(d, op);
    if (!rc) {
        hybrid(d, op);
        rc = bound(ep_of(fid), op);
    }
    if (rc) {
        cxi_op_cancel(op);
        return rc;
    }
    op->deferred = true;
    op->counts = counts;
    if (counts)
        counts->users++;
    if (op->kind == CXI_RECV)
        return 0;
    op->ep->armed++;
    trigger->users++;
    w = make(NULL, CXI_DOES_OP, d->threshold);
    w->op = op;
    arm(trigger, w);
    if (flags & CXI_CNTR_WB)
        cxi_work_event(trigger, d->threshold + 1);
    return 0;
}

static int queue(struct cxi_domain *dom, const struct fi_deferred_work *d)
{
    int rc;

    if (!d || !d->triggering_cntr ||
        cntr_of(d->triggering_cntr)->dom != dom ||
        d->threshold > CXI_SUCCESS_MAX)
        return -FI_EINVAL;
    pthread_mutex_lock(&dom->lock);
    rc = d->op_type == FI_OP_CNTR_SET ? queue_cntr(dom, d, CXI_DOES_SET) :
         d->op_type == FI_OP_CNTR_ADD ? queue_cntr(dom, d, CXI_DOES_ADD) :
         queue_op(dom, d);
    dom->log.queued += !rc;
    if (dom->due)
        cxi_nic_wake(dom);
    pthread_mutex_unlock(&dom->lock);
    return rc;
}

int cxi_work_control(struct fid *fid, int command, void *arg)
{
    struct cxi_domain *dom = container(fid, struct cxi_domain, fid.fid);

    switch (command) {
    case FI_QUEUE_WORK:
        return queue(dom, arg);
    case FI_FLUSH_WORK:
        return flush(dom);      /* of all counters, whatever arg says */
    case FI_CANCEL_WORK:
        return -FI_EINVAL;
    default:
        return -FI_ENOSYS;
    }
}

/* ---- the domain's extensions ---- */

static int no_telemetry(struct fid *fid, unsigned int cntr, uint64_t *value,
                        struct timespec *ts)
{
    (void)fid, (void)cntr, (void)value, (void)ts;
    return -FI_ENOSYS;
}

static int no_topology(struct fid *fid, unsigned int *group,
                       unsigned int *where_switch, unsigned int *port)
{
    (void)fid, (void)group, (void)where_switch, (void)port;
    return -FI_ENOSYS;
}

/* Of the endpoints that are opened after it. */
static int enable_hybrid(struct fid *fid, bool enable)
{
    struct cxi_domain *dom = container(fid, struct cxi_domain, fid.fid);

    pthread_mutex_lock(&dom->lock);
    dom->hybrid = enable;
    pthread_mutex_unlock(&dom->lock);
    return 0;
}

static size_t no_unexpected(struct fid_ep *ep,
                            struct fi_cq_tagged_entry *entry, size_t count,
                            fi_addr_t *source, size_t *found)
{
    (void)ep, (void)entry, (void)count, (void)source, (void)found;
    return (size_t)-FI_ENOSYS;
}

static int get_depth(struct fid *fid, size_t *depth)
{
    if (!depth)
        return -FI_EINVAL;
    *depth = container(fid, struct cxi_domain, fid.fid)->depth;
    return 0;
}

static int no_switch(struct fid *fid, bool enable)
{
    (void)fid, (void)enable;
    return -FI_ENOSYS;
}

static int behind(struct fid *fid, size_t *depth)
{
    (void)fid, (void)depth;
    return cxi_rule(-FI_EINVAL, "24", "a call of the domain's that this release "
                    "does not have");
}

/* One table for all names: each release has the calls of its newest one, and
 * what lies behind them is none of its own. */
int cxi_work_ops(struct fid *fid, const char *name, uint64_t flags,
                 void **ops, void *context)
{
    static struct cxi_dom_ops extra = { no_telemetry, no_topology,
        enable_hybrid, no_unexpected, get_depth, no_switch, no_switch };
    long newest = cxi_env("FAKE_CXI_OPS", 6), wanted;

    (void)fid, (void)flags, (void)context;
    if (sscanf(name, "dom_ops_v%ld", &wanted) != 1 || wanted < 1 ||
        wanted > newest)
        return -FI_EINVAL;
    if (newest < 5)
        extra.get_dwq_depth = behind;
    *ops = &extra;
    return 0;
}

void cxi_work_log(struct cxi_domain *dom)
{
    if (!cxi_env("FAKE_CXI_LOG", 0))
        return;
    fprintf(stderr, "fake cxi: work queued %llu fired %llu flushed %llu; at "
            "most %zu entries of %zu, %zu credits, %d counters; doorbells "
            "%llu, counter reads %llu; at most %zu bytes pinned\n",
            (unsigned long long)dom->log.queued,
            (unsigned long long)dom->log.fired,
            (unsigned long long)dom->log.flushed, dom->log.entries,
            dom->depth, dom->log.credits, dom->log.cntrs,
            (unsigned long long)dom->log.doorbells,
            (unsigned long long)dom->log.reads, dom->log.pinned);
    fprintf(stderr, "fake cxi: %d endpoints received, with %zu bytes of "
            "buffers, %zu of them registered with a GPU\n",
            dom->most_buffers.n, dom->most_buffers.bytes,
            dom->most_buffers.gpu);
    fprintf(stderr, "fake cxi: traffic class %u\n",
            dom->tclass - FI_TC_LABEL);
    fprintf(stderr, "fake cxi: %llu transfers with a descriptor, %llu without; "
            "%llu times full of events\n",
            (unsigned long long)dom->log.described,
            (unsigned long long)dom->log.mapped,
            (unsigned long long)dom->log.full);
}
