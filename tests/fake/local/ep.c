/* SPDX-License-Identifier: BSD-3-Clause */
/* Endpoints: what is posted is looked at, and may be refused. */
#include "local.h"

#include <stdlib.h>
#include <string.h>

static struct local_ep *ep_of(struct fid_ep *fid)
{
    return container(fid, struct local_ep, fid);
}

/* ---- contexts, which are the provider's until the entry was read ---- */

static size_t context_words(void)
{
    return local_like->mode & FI_CONTEXT2
           ? sizeof(struct fi_context2) / sizeof(void *)
           : local_like->mode & FI_CONTEXT
           ? sizeof(struct fi_context) / sizeof(void *) : 0;
}

static void *mark_of(const struct local_op *op, size_t word)
{
    return (void *)((uintptr_t)op ^ (word + 1) << 56);
}

static void give_context(struct local_op *op)
{
    void **words = op->context;
    size_t n = context_words();

    if (n && (!words || (uintptr_t)words % sizeof *words))
        local_broken("an operation comes with the context %p, where a "
                     "struct of %zu bytes is due", op->context,
                     n * sizeof *words);
    for (size_t i = 0; i < n; i++)
        words[i] = mark_of(op, i);
    op->ep->dom->log.contexts += n != 0;
}

static void check_context(const struct local_op *op)
{
    void **words = op->context;

    for (size_t i = 0; i < context_words(); i++)
        if (words[i] != mark_of(op, i))
            local_broken("word %zu of the context %p was changed, or passed "
                         "twice, before its operation was over", i,
                         op->context);
}

/* ---- operations ---- */

/* Locked.  True: refused, by chance or since too many are under way. */
static bool is_refused(struct local_ep *ep)
{
    struct local_domain *d = ep->dom;
    uint64_t every = (uint64_t)local_env("FAKE_LOCAL_STORM", 16), r;

    d->log.posts++;
    if (ep->outstanding >= local_like->tx_size)
        return ++d->log.refused;
    if (!d->storm && every) {
        d->random = d->random * 6364136223846793005u + 1442695040888963407u;
        r = d->random >> 33;
        if (r % every == 0)
            d->storm = 1 + (int)(r / every % 8);
    }
    if (!d->storm)
        return false;
    d->storm--;
    return ++d->log.refused;
}

/* Locked. */
static struct local_op *op_take(struct local_ep *ep, void *context)
{
    struct local_domain *d = ep->dom;
    struct local_op *op = d->spare, *all;

    if (op) {
        d->spare = op->next;
        all = op->next_all;
    } else {
        op = malloc(sizeof *op);
        if (!op)
            local_broken("out of memory");
        all = d->ops;
        d->ops = op;
    }
    memset(op, 0, sizeof *op);
    op->next_all = all;
    op->ep = ep;
    op->context = context;
    op->posted = true;
    ep->outstanding++;
    give_context(op);
    return op;
}

/* Locked. */
static void op_give(struct local_op *op)
{
    for (int i = 0; i < LOCAL_BUFFERS; i++)
        if (op->mrs[i])
            op->mrs[i]->uses--;
    op->ep->outstanding -= !op->receives;
    op->posted = false;
    op->next = op->ep->dom->spare;
    op->ep->dom->spare = op;
}

void *local_op_end(struct local_op *op)
{
    check_context(op);
    op_give(op);
    return op->context;
}

/* Locked. */
static void use(struct local_op *op, int i, void *desc, const void *buf,
                size_t len, uint64_t access)
{
    op->mrs[i] = local_mr_check(op->ep->dom, desc, buf, len, access);
    if (op->mrs[i])
        op->mrs[i]->uses++;
}

/* What the base provider did not take leaves no entry. */
static ssize_t posted(struct local_ep *ep, struct local_op *op, ssize_t rc)
{
    pthread_mutex_lock(&ep->dom->lock);
    if (rc)
        op_give(op);
    pthread_mutex_unlock(&ep->dom->lock);
    return rc;
}

/* What an operation brings along. */
struct buffer {
    void *desc;
    const void *at;
    size_t len;
    uint64_t access;
};

/* NULL: refused. */
static struct local_op *begin(struct local_ep *ep, void *context,
                              const struct buffer *b, int n)
{
    struct local_op *op = NULL;

    pthread_mutex_lock(&ep->dom->lock);
    if (!is_refused(ep)) {
        op = op_take(ep, context);
        for (int i = 0; i < n; i++)
            use(op, i, b[i].desc, b[i].at, b[i].len, b[i].access);
    }
    pthread_mutex_unlock(&ep->dom->lock);
    return op;
}

static void *first(void **descs)
{
    return descs ? descs[0] : NULL;
}

/* ---- messages ---- */

static ssize_t msg_recv(struct fid_ep *fid, void *buf, size_t len, void *desc,
                        fi_addr_t from, void *context)
{
    struct buffer b = { desc, buf, len, FI_RECV };
    struct local_ep *ep = ep_of(fid);
    struct local_op *op = begin(ep, context, &b, 1);

    if (!op)
        return -FI_EAGAIN;
    pthread_mutex_lock(&ep->dom->lock);
    op->receives = true;
    ep->outstanding--;
    pthread_mutex_unlock(&ep->dom->lock);
    return posted(ep, op, fi_recv(ep->real, buf, len, NULL, from, op));
}

static ssize_t msg_send(struct fid_ep *fid, const void *buf, size_t len,
                        void *desc, fi_addr_t to, void *context)
{
    struct buffer b = { desc, buf, len, FI_SEND };
    struct local_ep *ep = ep_of(fid);
    struct local_op *op = begin(ep, context, &b, 1);

    return !op ? -FI_EAGAIN
           : posted(ep, op, fi_send(ep->real, buf, len, NULL, to, op));
}

static ssize_t msg_inject(struct fid_ep *fid, const void *buf, size_t len,
                          fi_addr_t to)
{
    struct local_ep *ep = ep_of(fid);
    bool refused;

    if (len > local_like->inject)
        local_broken("%zu bytes inline, %zu go", len, local_like->inject);
    pthread_mutex_lock(&ep->dom->lock);
    refused = is_refused(ep);
    pthread_mutex_unlock(&ep->dom->lock);
    return refused ? -FI_EAGAIN : fi_inject(ep->real, buf, len, to);
}

static struct fi_ops_msg msg_ops = {
    .size = sizeof msg_ops, .recv = msg_recv, .send = msg_send,
    .inject = msg_inject,
};

/* ---- writes and reads ---- */

static ssize_t rma(struct fid_ep *fid, const struct fi_msg_rma *msg,
                   uint64_t flags, bool writes)
{
    struct local_ep *ep = ep_of(fid);
    struct fi_msg_rma m = *msg;
    bool copied = writes && flags & FI_INJECT;
    struct buffer b;
    struct local_op *op;

    if (msg->iov_count != 1 || msg->rma_iov_count != 1)
        local_broken("an operation of %zu buffers", msg->iov_count);
    b = (struct buffer){ first(msg->desc), msg->msg_iov->iov_base,
                         msg->msg_iov->iov_len, writes ? FI_WRITE : FI_READ };
    if (copied && local_like->late_inject)
        local_broken("a put inline, whose source is read later");
    if (copied && b.len > local_like->inject)
        local_broken("%zu bytes inline, %zu go", b.len, local_like->inject);
    op = begin(ep, msg->context, &b, !copied);
    if (!op)
        return -FI_EAGAIN;
    m.context = op;
    m.desc = NULL;
    return posted(ep, op, writes ? fi_writemsg(ep->real, &m, flags)
                                 : fi_readmsg(ep->real, &m, flags));
}

static ssize_t writemsg(struct fid_ep *fid, const struct fi_msg_rma *msg,
                        uint64_t flags)
{
    return rma(fid, msg, flags, true);
}

static ssize_t readmsg(struct fid_ep *fid, const struct fi_msg_rma *msg,
                       uint64_t flags)
{
    return rma(fid, msg, flags, false);
}

static ssize_t rma_read(struct fid_ep *fid, void *buf, size_t len, void *desc,
                        fi_addr_t peer, uint64_t addr, uint64_t key,
                        void *context)
{
    struct iovec iov = { buf, len };
    struct fi_rma_iov remote = { addr, len, key };
    struct fi_msg_rma m = { .msg_iov = &iov, .desc = &desc, .iov_count = 1,
        .addr = peer, .rma_iov = &remote, .rma_iov_count = 1,
        .context = context };

    return rma(fid, &m, FI_COMPLETION, false);
}

static struct fi_ops_rma rma_ops = {
    .size = sizeof rma_ops, .read = rma_read, .readmsg = readmsg,
    .writemsg = writemsg,
};

/* ---- atomics ---- */

static size_t bytes_of(enum fi_datatype type)
{
    return type == FI_UINT32 || type == FI_INT32 ? 4 : 8;
}

static struct buffer operand(const struct fi_msg_atomic *m)
{
    /* That of a plain read is not looked at. */
    size_t len = m->op == FI_ATOMIC_READ ? 0 : bytes_of(m->datatype);

    return (struct buffer){ first(m->desc), len ? m->msg_iov->addr : NULL, len,
                            FI_WRITE };
}

static struct buffer result_of(const struct fi_msg_atomic *m,
                               const struct fi_ioc *to, void **desc)
{
    return (struct buffer){ first(desc), to->addr, bytes_of(m->datatype),
                            FI_READ };
}

static ssize_t atomic_msg(struct fid_ep *fid, const struct fi_msg_atomic *msg,
                          uint64_t flags)
{
    struct buffer b = operand(msg);
    struct local_ep *ep = ep_of(fid);
    struct local_op *op = begin(ep, msg->context, &b, 1);
    struct fi_msg_atomic m = *msg;

    m.context = op;
    m.desc = NULL;
    return !op ? -FI_EAGAIN : posted(ep, op, fi_atomicmsg(ep->real, &m, flags));
}

static ssize_t fetch_msg(struct fid_ep *fid, const struct fi_msg_atomic *msg,
                         struct fi_ioc *result, void **desc, size_t count,
                         uint64_t flags)
{
    struct buffer b[] = { operand(msg), result_of(msg, result, desc) };
    struct local_ep *ep = ep_of(fid);
    struct local_op *op = begin(ep, msg->context, b, 2);
    struct fi_msg_atomic m = *msg;

    m.context = op;
    m.desc = NULL;
    return !op ? -FI_EAGAIN
           : posted(ep, op, fi_fetch_atomicmsg(ep->real, &m, result, NULL,
                                               count, flags));
}

static ssize_t compare_msg(struct fid_ep *fid, const struct fi_msg_atomic *msg,
                           const struct fi_ioc *with, void **with_desc,
                           size_t with_count, struct fi_ioc *result,
                           void **desc, size_t count, uint64_t flags)
{
    struct buffer b[] = {
        operand(msg), result_of(msg, result, desc),
        { first(with_desc), with->addr, bytes_of(msg->datatype), FI_WRITE }
    };
    struct local_ep *ep = ep_of(fid);
    struct local_op *op = begin(ep, msg->context, b, 3);
    struct fi_msg_atomic m = *msg;

    m.context = op;
    m.desc = NULL;
    return !op ? -FI_EAGAIN
           : posted(ep, op, fi_compare_atomicmsg(ep->real, &m, with, NULL,
                                                 with_count, result, NULL,
                                                 count, flags));
}

static ssize_t fetch_one(struct fid_ep *fid, const void *buf, size_t count,
                         void *desc, void *result, void *result_desc,
                         fi_addr_t peer, uint64_t addr, uint64_t key,
                         enum fi_datatype type, enum fi_op op, void *context)
{
    struct fi_ioc value = { (void *)(uintptr_t)buf, count };
    struct fi_ioc was = { result, count };
    struct fi_rma_ioc remote = { addr, count, key };
    struct fi_msg_atomic m = { .msg_iov = &value, .desc = &desc,
        .iov_count = 1, .addr = peer, .rma_iov = &remote, .rma_iov_count = 1,
        .datatype = type, .op = op, .context = context };

    return fetch_msg(fid, &m, &was, &result_desc, 1, FI_COMPLETION);
}

static int write_valid(struct fid_ep *fid, enum fi_datatype type,
                       enum fi_op op, size_t *count)
{
    return fi_atomicvalid(ep_of(fid)->real, type, op, count);
}

static int fetch_valid(struct fid_ep *fid, enum fi_datatype type,
                       enum fi_op op, size_t *count)
{
    return fi_fetch_atomicvalid(ep_of(fid)->real, type, op, count);
}

static int compare_valid(struct fid_ep *fid, enum fi_datatype type,
                         enum fi_op op, size_t *count)
{
    return fi_compare_atomicvalid(ep_of(fid)->real, type, op, count);
}

static struct fi_ops_atomic atomic_ops = {
    .size = sizeof atomic_ops, .writemsg = atomic_msg,
    .readwrite = fetch_one, .readwritemsg = fetch_msg,
    .compwritemsg = compare_msg, .writevalid = write_valid,
    .readwritevalid = fetch_valid, .compwritevalid = compare_valid,
};

/* ---- the endpoint ---- */

static int get_name(struct fid *fid, void *addr, size_t *len)
{
    return fi_getname(&container(fid, struct local_ep, fid.fid)->real->fid,
                      addr, len);
}

static struct fi_ops_cm cm_ops = { .size = sizeof cm_ops, .getname = get_name };

static int ep_bind(struct fid *fid, struct fid *to, uint64_t flags)
{
    struct local_ep *ep = container(fid, struct local_ep, fid.fid);

    if (to->fclass == FI_CLASS_CQ)
        to = &container(to, struct local_cq, fid.fid)->real->fid;
    return fi_ep_bind(ep->real, to, flags);
}

static int ep_control(struct fid *fid, int command, void *arg)
{
    struct local_ep *ep = container(fid, struct local_ep, fid.fid);

    return fi_control(&ep->real->fid, command, arg);
}

/* What it still holds, receives above all, is over without an entry. */
static int ep_close(struct fid *fid)
{
    struct local_ep *ep = container(fid, struct local_ep, fid.fid);
    struct local_op *op;
    int rc = fi_close(&ep->real->fid);

    if (rc)
        return rc;
    pthread_mutex_lock(&ep->dom->lock);
    for (op = ep->dom->ops; op; op = op->next_all)
        if (op->ep == ep && op->posted)
            op_give(op);
    pthread_mutex_unlock(&ep->dom->lock);
    free(ep);
    return 0;
}

static struct fi_ops ep_fid_ops = {
    .size = sizeof ep_fid_ops, .close = ep_close, .bind = ep_bind,
    .control = ep_control, .ops_open = local_no_ops,
};

int local_ep_open(struct fid_domain *domain, struct fi_info *info,
                  struct fid_ep **out, void *context)
{
    struct local_domain *d = container(domain, struct local_domain, fid);
    struct local_ep *ep = calloc(1, sizeof *ep);
    int rc = ep ? fi_endpoint(d->real, d->real_info, &ep->real, NULL)
                : -FI_ENOMEM;

    (void)info;
    if (rc) {
        free(ep);
        return rc;
    }
    ep->dom = d;
    ep->fid.fid = (struct fid){ FI_CLASS_EP, context, &ep_fid_ops };
    ep->fid.cm = &cm_ops;
    ep->fid.msg = &msg_ops;
    ep->fid.rma = &rma_ops;
    ep->fid.atomic = &atomic_ops;
    *out = &ep->fid;
    return 0;
}
