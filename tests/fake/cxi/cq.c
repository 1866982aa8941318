/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Completion queues (rule 5).  The NIC writes events; an event becomes a
 * completion, gives its credit back and brings a received message into the
 * user's buffer only when the program makes progress by reading the queue, or a
 * counter of the endpoint.  A program that reads neither runs out of credits.
 *
 * Rule 19.  Events lie in a queue of the NIC's for each endpoint.  Once that
 * is half full (FI_CXI_CQ_FILL_PERCENT) its endpoint transmits nothing, and
 * says -FI_EAGAIN, until its events have been taken.
 *
 * Rule 20.  A queue has a file descriptor where it was asked for.  It becomes
 * readable with an event and stays so, whatever is read, until fi_trywait()
 * finds neither events nor completions.  FAKE_CXI_NO_FD=1 refuses it, as
 * older releases of CXI do, with -FI_ENOSYS.
 */
#include "work.h"

#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

static struct cxi_cq *cq_of(struct cxi_op *op)
{
    return op->kind == CXI_RECV ? op->ep->rxcq : op->ep->txcq;
}

static void append(struct cxi_op ***end, struct cxi_op *op)
{
    op->next_event = NULL;
    **end = op;
    *end = &op->next_event;
}

static struct cxi_op *take(struct cxi_op **first, struct cxi_op ***end)
{
    struct cxi_op *op = *first;

    *first = op->next_event;
    if (!*first)
        *end = first;
    return op;
}

void cxi_op_put(struct cxi_op *op)
{
    if (op->step != CXI_DONE || !op->seen)
        return;
    free(op->copy);
    free(op);
}

static void wake(struct cxi_cq *cq)
{
    uint64_t one = 1;

    if (cq->fd >= 0 && write(cq->fd, &one, sizeof one) < 0)
        abort();
}

/* One more in the queue of its endpoint. */
static void write_event(struct cxi_op *op)
{
    struct cxi_ep *ep = op->ep;
    struct cxi_cq *cq = cq_of(op);

    append(&cq->events_end, op);
    wake(cq);
    if (op->kind == CXI_RECV)
        return;
    if (++ep->tx_events > ep->tx_room)
        cxi_rule(0, "19", "the queue of events overflows, it has room for "
                 "%zu", ep->tx_room);
    if (!ep->tx_full && ep->tx_events * 100 >= ep->tx_room * cxi_tuning.fill) {
        ep->tx_full = true;
        ep->dom->log.full++;
    }
}

/* Counters are the NIC's own: they count without the CPU. */
void cxi_cq_event(struct cxi_op *op)
{
    static const int which[] = {
        [CXI_WRITE] = CXI_C_WRITE, [CXI_ATOMIC] = CXI_C_WRITE,
        [CXI_READ] = CXI_C_READ, [CXI_FETCH] = CXI_C_READ,
        [CXI_COMPARE] = CXI_C_READ, [CXI_SEND] = CXI_C_SEND,
        [CXI_RECV] = CXI_C_RECV,
    };
    struct cxi_cntr *cntr = op->deferred ? op->counts
                                         : op->ep->cntr[which[op->kind]];

    op->complete = true;
    if (cntr)
        cxi_cntr_change(cntr, op->err, true, 1);
    if (op->counts)
        op->counts->users--;
    op->counts = NULL;
    if (op->quiet && !op->err) {
        op->seen = true;
        return;
    }
    if (op->err && op->deferred && op->ep->dom->errors_count) {
        /* Later than the counter: no document promises another order. */
        struct cxi_op **at = &op->ep->dom->late;

        while (*at)
            at = &(*at)->next_event;
        op->due = cxi_now() + op->ep->dom->late_ns;
        op->next_event = NULL;
        *at = op;
        return;
    }
    write_event(op);
}

void cxi_cq_late(struct cxi_domain *dom)
{
    struct cxi_op **at = &dom->late, *op;
    uint64_t now = dom->late ? cxi_now() : 0;

    while ((op = *at)) {
        if (op->due > now) {
            at = &op->next_event;
            continue;
        }
        *at = op->next_event;
        write_event(op);
    }
}

void cxi_cq_progress(struct cxi_cq *cq)
{
    struct cxi_op *op;

    while (cq->events) {
        op = take(&cq->events, &cq->events_end);
        if (op->kind == CXI_RECV)
            op->ep->rx_used--;
        else if (--op->ep->tx_events == 0)
            op->ep->tx_full = false;
        if (op->kind != CXI_RECV && !op->quiet)
            op->ep->tx_used--;
        if (op->kind == CXI_RECV && !op->err && op->len)
            memcpy(op->buf, op->copy, op->len);
        if (op->err || op->entry) {
            append(&cq->ready_end, op);
        } else {
            op->seen = true;
            cxi_op_put(op);
        }
    }
}

static void release(struct cxi_ep *ep, struct cxi_op **first,
                 struct cxi_op ***end)
{
    struct cxi_op **at = first, *op;

    while ((op = *at)) {
        if (op->ep != ep) {
            at = &op->next_event;
            continue;
        }
        *at = op->next_event;
        op->seen = true;
        cxi_op_put(op);
    }
    *end = at;
}

/* Forgets the endpoint, which closes. */
void cxi_cq_release(struct cxi_ep *ep, struct cxi_cq *cq)
{
    struct cxi_op **end;

    release(ep, &ep->dom->late, &end);
    release(ep, &cq->events, &cq->events_end);
    release(ep, &cq->ready, &cq->ready_end);
}

static size_t entry_size(enum fi_cq_format format)
{
    return format == FI_CQ_FORMAT_CONTEXT ? sizeof(struct fi_cq_entry) :
           format == FI_CQ_FORMAT_MSG ? sizeof(struct fi_cq_msg_entry) :
           format == FI_CQ_FORMAT_DATA ? sizeof(struct fi_cq_data_entry) :
           sizeof(struct fi_cq_tagged_entry);
}

static ssize_t cq_readfrom(struct fid_cq *fid, void *buf, size_t count,
                           fi_addr_t *source)
{
    struct cxi_cq *cq = container(fid, struct cxi_cq, fid);
    size_t size = entry_size(cq->format), n = 0;
    struct cxi_op *op;
    ssize_t rc = -FI_EAGAIN;

    pthread_mutex_lock(&cq->dom->lock);
    cxi_nic_pass(cq->dom);
    cxi_cq_progress(cq);
    while (n < count && cq->ready && !cq->ready->err) {
        struct fi_cq_tagged_entry e = { 0 };

        op = take(&cq->ready, &cq->ready_end);
        e.op_context = op->context;
        e.flags = op->flags;
        e.len = op->kind == CXI_RECV ? op->len : 0;
        e.data = op->data;
        memcpy((char *)buf + n * size, &e, size);
        if (source)
            source[n] = op->source;
        n++;
        op->seen = true;
        cxi_op_put(op);
    }
    if (n)
        rc = (ssize_t)n;
    else if (cq->ready && cq->ready->err)
        rc = -FI_EAVAIL;
    pthread_mutex_unlock(&cq->dom->lock);
    if (rc == -FI_EAGAIN)
        sched_yield();          /* a NIC needs no core, its threads do */
    return rc;
}

static ssize_t cq_read(struct fid_cq *fid, void *buf, size_t count)
{
    return cq_readfrom(fid, buf, count, NULL);
}

static ssize_t cq_readerr(struct fid_cq *fid, struct fi_cq_err_entry *out,
                          uint64_t flags)
{
    struct cxi_cq *cq = container(fid, struct cxi_cq, fid);
    struct cxi_op *op;
    ssize_t rc = -FI_EAGAIN;

    (void)flags;
    pthread_mutex_lock(&cq->dom->lock);
    if (cq->ready && cq->ready->err) {
        op = take(&cq->ready, &cq->ready_end);
        out->op_context = op->context;
        out->flags = op->flags;
        out->len = 0;
        out->buf = NULL;
        out->data = 0;
        out->tag = 0;
        out->olen = 0;
        out->err = op->err;
        out->prov_errno = op->prov_err;
        out->err_data_size = 0;
        op->seen = true;
        cxi_op_put(op);
        rc = 1;
    }
    pthread_mutex_unlock(&cq->dom->lock);
    return rc;
}

int cxi_cq_trywait(struct fid *fid)
{
    struct cxi_cq *cq = container(fid, struct cxi_cq, fid.fid);
    uint64_t n;
    int rc = 0;

    if (cq->fd < 0)
        return -FI_EINVAL;
    pthread_mutex_lock(&cq->dom->lock);
    cxi_nic_pass(cq->dom);
    if (cq->events || cq->ready)
        rc = -FI_EAGAIN;
    else if (read(cq->fd, &n, sizeof n) < 0)
        n = 0;                  /* it was not readable */
    pthread_mutex_unlock(&cq->dom->lock);
    return rc;
}

static ssize_t cq_sreadfrom(struct fid_cq *fid, void *buf, size_t count,
                            fi_addr_t *source, const void *cond, int timeout)
{
    struct cxi_cq *cq = container(fid, struct cxi_cq, fid);
    uint64_t end = cxi_now() + (uint64_t)timeout * 1000000;
    struct pollfd p = { .fd = cq->fd, .events = POLLIN };
    ssize_t rc;

    (void)cond;
    if (cq->fd < 0)
        return -FI_EINVAL;
    for (;;) {
        rc = cq_readfrom(fid, buf, count, source);
        if (rc != -FI_EAGAIN || (timeout >= 0 && cxi_now() >= end))
            return rc;
        if (!cxi_cq_trywait(&fid->fid))
            poll(&p, 1, timeout);
    }
}

static ssize_t cq_sread(struct fid_cq *fid, void *buf, size_t count,
                        const void *cond, int timeout)
{
    return cq_sreadfrom(fid, buf, count, NULL, cond, timeout);
}

static int cq_signal(struct fid_cq *fid)
{
    (void)fid;
    return -FI_ENOSYS;
}

static const char *cq_strerror(struct fid_cq *fid, int prov_errno,
                               const void *data, char *buf, size_t size)
{
    (void)fid, (void)data;
    if (!buf || !size)
        return "the target refused the operation";
    snprintf(buf, size, "the target refused the operation (%d)", prov_errno);
    return buf;
}

static int cq_control(struct fid *fid, int command, void *arg)
{
    struct cxi_cq *cq = container(fid, struct cxi_cq, fid.fid);
    struct fi_wait_pollfd *p = arg;

    if (command == FI_GETWAITOBJ) {
        *(enum fi_wait_obj *)arg = cq->wait;
        return 0;
    }
    if (command != FI_GETWAIT)
        return -FI_ENOSYS;
    if (cq->fd < 0)
        return -FI_ENODATA;
    if (cq->wait == FI_WAIT_FD) {
        *(int *)arg = cq->fd;
        return 0;
    }
    if (p->nfds < 1)
        return -FI_ETOOSMALL;
    p->fd[0] = (struct pollfd){ .fd = cq->fd, .events = POLLIN };
    p->nfds = 1;
    return 0;
}

static int cq_close(struct fid *fid)
{
    struct cxi_cq *cq = container(fid, struct cxi_cq, fid.fid);

    if (cq->refs)
        return -FI_EBUSY;
    if (cq->fd >= 0)
        close(cq->fd);
    atomic_fetch_sub(&cq->dom->refs, 1);
    free(cq);
    return 0;
}

static struct fi_ops cq_fid_ops = {
    .size = sizeof cq_fid_ops, .close = cq_close, .bind = cxi_no_bind,
    .control = cq_control, .ops_open = cxi_no_ops,
};

static struct fi_ops_cq cq_ops = {
    .size = sizeof cq_ops, .read = cq_read, .readfrom = cq_readfrom,
    .readerr = cq_readerr, .sread = cq_sread, .sreadfrom = cq_sreadfrom,
    .signal = cq_signal, .strerror = cq_strerror,
};

int cxi_cq_open(struct fid_domain *domain, struct fi_cq_attr *attr,
                struct fid_cq **out, void *context)
{
    enum fi_wait_obj wait = attr ? attr->wait_obj : FI_WAIT_NONE;
    struct cxi_cq *cq;

    cxi_long(attr, sizeof *attr, 48);
    if (wait == FI_WAIT_UNSPEC)
        wait = FI_WAIT_FD;
    if (wait != FI_WAIT_NONE && cxi_env("FAKE_CXI_NO_FD", 0))
        return -FI_ENOSYS;
    if (wait != FI_WAIT_NONE && wait != FI_WAIT_FD && wait != FI_WAIT_POLLFD)
        return -FI_ENOSYS;
    cq = calloc(1, sizeof *cq);
    if (!cq)
        return -FI_ENOMEM;
    cq->wait = wait;
    cq->fd = wait == FI_WAIT_NONE ? -1 : eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (wait != FI_WAIT_NONE && cq->fd < 0) {
        free(cq);
        return -FI_EINVAL;
    }
    cq->size = attr && attr->size ? attr->size : cxi_tuning.cq_size;
    cq->dom = container(domain, struct cxi_domain, fid);
    cq->format = attr && attr->format ? attr->format : FI_CQ_FORMAT_CONTEXT;
    cq->events_end = &cq->events;
    cq->ready_end = &cq->ready;
    cq->fid.fid = (struct fid){ FI_CLASS_CQ, context, &cq_fid_ops };
    cq->fid.ops = &cq_ops;
    atomic_fetch_add(&cq->dom->refs, 1);
    *out = &cq->fid;
    return 0;
}
