/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes and reads (rule 7): flags, one element, lengths, and whether their
 * memory comes with a descriptor (rule 18).
 */
#include "work.h"

struct rma {
    enum cxi_kind kind;
    const void *buf;
    size_t len;
    fi_addr_t peer;
    uint64_t addr, key;
    void *context;
    const void *desc;
};

/* Locked. */
static int make(struct cxi_ep *ep, const struct rma *r, uint64_t flags,
                struct cxi_op **out)
{
    struct cxi_op *op;
    int rc = cxi_ep_start(ep, r->kind, r->peer, flags, &op);

    if (!rc)
        rc = cxi_ep_aim(op, r->addr, r->key);
    if (rc)
        return rc;
    op->buf = (char *)(uintptr_t)r->buf;
    op->len = r->len;
    op->context = r->context;
    op->flags = FI_RMA | (r->kind == CXI_READ ? FI_READ : FI_WRITE);
    if (flags & FI_INJECT)
        cxi_op_copy(op);
    *out = op;
    return 0;
}

static ssize_t rma_op(struct fid_ep *fid, const struct rma *r, uint64_t flags)
{
    struct cxi_ep *ep = container(fid, struct cxi_ep, fid);
    struct cxi_op *op;
    int rc;

    if (r->len > CXI_MAX_MSG ||
        (flags & FI_INJECT && r->len > CXI_INJECT))
        return -FI_EMSGSIZE;
    pthread_mutex_lock(&ep->dom->lock);
    /* Inline data is the processor's to copy. */
    rc = flags & FI_INJECT && cxi_mr_of(ep->dom, r->buf)
         ? cxi_rule(-FI_EFAULT, "7", "inline from the memory of a GPU") : 0;
    if (!rc)
        rc = make(ep, r, flags, &op);
    /* Few bytes go with the command, others are read by the NIC. */
    if (!rc && r->len && !(flags & FI_INJECT) &&
        (r->kind == CXI_READ || r->len > CXI_INJECT))
        rc = cxi_mr_reach(op, r->buf, r->len, r->desc);
    if (!rc) {
        op->buf = cxi_local(ep->dom, op->buf);
        cxi_nic_submit(op);
    }
    pthread_mutex_unlock(&ep->dom->lock);
    return rc;
}

/* Of deferred work, whose memory the provider registers by itself. */
int cxi_rma_make(struct cxi_ep *ep, enum cxi_kind kind,
                 const struct fi_msg_rma *msg, uint64_t flags,
                 struct cxi_op **out)
{
    struct rma r = { .kind = kind, .peer = msg->addr,
                     .context = msg->context };

    if (msg->iov_count > 1 || (msg->iov_count && !msg->msg_iov) ||
        msg->rma_iov_count != 1 || !msg->rma_iov)
        return -FI_EINVAL;
    if (msg->iov_count) {
        r.buf = cxi_local(ep->dom, msg->msg_iov->iov_base);
        r.len = msg->msg_iov->iov_len;
    }
    if (r.len > CXI_MAX_MSG)
        return -FI_EMSGSIZE;
    r.addr = msg->rma_iov->addr;
    r.key = msg->rma_iov->key;
    return make(ep, &r, flags, out);
}

static ssize_t rma_msg(struct fid_ep *fid, enum cxi_kind kind,
                       const struct fi_msg_rma *msg, uint64_t flags)
{
    struct rma r;

    if (!msg || msg->iov_count != 1 || msg->rma_iov_count != 1 ||
        !msg->msg_iov || !msg->rma_iov)
        return -FI_EINVAL;
    if (flags & ~(kind == CXI_READ ? CXI_READ_FLAGS : CXI_WRITE_FLAGS))
        return -FI_EBADFLAGS;
    r = (struct rma){ kind, msg->msg_iov->iov_base, msg->msg_iov->iov_len,
        msg->addr, msg->rma_iov->addr, msg->rma_iov->key, msg->context,
        msg->desc ? msg->desc[0] : NULL };
    return rma_op(fid, &r, cxi_ep_tx_flags(fid, flags));
}

static ssize_t writemsg(struct fid_ep *fid, const struct fi_msg_rma *msg,
                        uint64_t flags)
{
    return rma_msg(fid, CXI_WRITE, msg, flags);
}

static ssize_t readmsg(struct fid_ep *fid, const struct fi_msg_rma *msg,
                       uint64_t flags)
{
    return rma_msg(fid, CXI_READ, msg, flags);
}

static ssize_t rma_write(struct fid_ep *fid, const void *buf, size_t len,
                         void *desc, fi_addr_t peer, uint64_t addr,
                         uint64_t key, void *context)
{
    struct rma r = { CXI_WRITE, buf, len, peer, addr, key, context, desc };

    return rma_op(fid, &r, cxi_ep_plain_flags(fid));
}

static ssize_t rma_read(struct fid_ep *fid, void *buf, size_t len, void *desc,
                        fi_addr_t peer, uint64_t addr, uint64_t key,
                        void *context)
{
    struct rma r = { CXI_READ, buf, len, peer, addr, key, context, desc };

    return rma_op(fid, &r, cxi_ep_plain_flags(fid) & ~FI_INJECT);
}

static ssize_t rma_writev(struct fid_ep *fid, const struct iovec *iov,
                          void **desc, size_t count, fi_addr_t peer,
                          uint64_t addr, uint64_t key, void *context)
{
    if (!iov || count != 1)
        return -FI_EINVAL;
    return rma_write(fid, iov->iov_base, iov->iov_len, desc ? desc[0] : NULL,
                     peer, addr, key, context);
}

static ssize_t rma_readv(struct fid_ep *fid, const struct iovec *iov,
                         void **desc, size_t count, fi_addr_t peer,
                         uint64_t addr, uint64_t key, void *context)
{
    if (!iov || count != 1)
        return -FI_EINVAL;
    return rma_read(fid, iov->iov_base, iov->iov_len, desc ? desc[0] : NULL,
                    peer, addr, key, context);
}

/* No entry, whatever the endpoint's flags say; a credit all the same. */
static ssize_t rma_inject(struct fid_ep *fid, const void *buf, size_t len,
                          fi_addr_t peer, uint64_t addr, uint64_t key)
{
    struct rma r = { CXI_WRITE, buf, len, peer, addr, key, NULL, NULL };

    return rma_op(fid, &r, FI_INJECT);
}

static ssize_t writedata(struct fid_ep *fid, const void *buf, size_t len,
                         void *desc, uint64_t data, fi_addr_t peer,
                         uint64_t addr, uint64_t key, void *context)
{
    (void)fid, (void)buf, (void)len, (void)desc, (void)data, (void)peer;
    (void)addr, (void)key, (void)context;
    return -FI_ENOSYS;
}

static ssize_t injectdata(struct fid_ep *fid, const void *buf, size_t len,
                          uint64_t data, fi_addr_t peer, uint64_t addr,
                          uint64_t key)
{
    return writedata(fid, buf, len, NULL, data, peer, addr, key, NULL);
}

struct fi_ops_rma cxi_rma_ops = {
    .size = sizeof cxi_rma_ops, .read = rma_read, .readv = rma_readv,
    .readmsg = readmsg, .write = rma_write, .writev = rma_writev,
    .writemsg = writemsg, .inject = rma_inject, .writedata = writedata,
    .injectdata = injectdata,
};
