/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages (rule 11).  A buffer that is posted here is not the one that the
 * base provider fills: what arrives is copied when its event is processed.
 */
#include "work.h"

#include <stdlib.h>

#define SEND_FLAGS CXI_WRITE_FLAGS
#define RECV_FLAGS (FI_COMPLETION | FI_MORE)

static int send_make(struct cxi_ep *ep, const void *buf, size_t len,
                     fi_addr_t peer, void *context, uint64_t flags,
                     struct cxi_op **out)
{
    struct cxi_op *op;
    int rc;

    if (!(ep->caps & FI_SEND))
        return -FI_ENOSYS;
    if (len > CXI_MAX_MSG ||
        (flags & FI_INJECT && len > CXI_INJECT))
        return -FI_EMSGSIZE;
    rc = cxi_ep_start(ep, CXI_SEND, peer, flags, &op);
    if (rc)
        return rc;
    op->buf = (char *)(uintptr_t)buf;
    op->len = len;
    op->context = context;
    op->flags = FI_MSG | FI_SEND;
    if (flags & FI_INJECT)
        cxi_op_copy(op);
    *out = op;
    return 0;
}

static ssize_t send_op(struct cxi_ep *ep, const void *buf, size_t len,
                       fi_addr_t peer, void *context, uint64_t flags)
{
    struct cxi_op *op;
    int rc;

    pthread_mutex_lock(&ep->dom->lock);
    rc = send_make(ep, buf, len, peer, context, flags, &op);
    if (!rc)
        cxi_nic_submit(op);
    pthread_mutex_unlock(&ep->dom->lock);
    return rc;
}

int cxi_send_make(struct cxi_ep *ep, const struct fi_msg *msg, uint64_t flags,
                  struct cxi_op **out)
{
    if (msg->iov_count > 1 || (msg->iov_count && !msg->msg_iov))
        return -FI_EINVAL;
    return send_make(ep, msg->iov_count ? msg->msg_iov->iov_base : NULL,
                     msg->iov_count ? msg->msg_iov->iov_len : 0, msg->addr,
                     msg->context, flags, out);
}

/* Posted at once: there is nothing that could fire it later.  Locked. */
static int recv_make(struct cxi_ep *ep, void *buf, size_t len, fi_addr_t peer,
                     void *context, uint64_t flags, struct cxi_op **out)
{
    struct cxi_op *op;
    ssize_t rc;

    if (!(ep->caps & FI_RECV))
        return -FI_ENOSYS;
    if (!ep->enabled)
        return -FI_EOPBADSTATE;
    if (ep->rx_used >= ep->rx_size)
        return -FI_EAGAIN;
    op = calloc(1, sizeof *op);
    if (!op)
        return -FI_ENOMEM;
    op->ep = ep;
    op->kind = CXI_RECV;
    op->buf = buf;
    op->copy = malloc(len ? len : 1);
    op->context = context;
    op->flags = FI_MSG | FI_RECV;
    op->entry = flags & FI_COMPLETION;
    rc = op->copy ? fi_recv(ep->real, op->copy, len, NULL, peer, op)
                  : -FI_ENOMEM;
    if (rc) {
        cxi_op_cancel(op);
        return (int)rc;
    }
    ep->rx_used++;
    op->next = ep->recvs;
    ep->recvs = op;
    *out = op;
    return 0;
}

static ssize_t recv_op(struct cxi_ep *ep, void *buf, size_t len,
                       fi_addr_t peer, void *context, uint64_t flags)
{
    struct cxi_op *op;
    int rc;

    pthread_mutex_lock(&ep->dom->lock);
    rc = recv_make(ep, buf, len, peer, context, flags, &op);
    pthread_mutex_unlock(&ep->dom->lock);
    return rc;
}

int cxi_recv_make(struct cxi_ep *ep, const struct fi_msg *msg, uint64_t flags,
                  struct cxi_op **out)
{
    if (msg->iov_count > 1 || (msg->iov_count && !msg->msg_iov))
        return -FI_EINVAL;
    return recv_make(ep, msg->iov_count ? msg->msg_iov->iov_base : NULL,
                     msg->iov_count ? msg->msg_iov->iov_len : 0, msg->addr,
                     msg->context, flags, out);
}

static uint64_t rx_flags(struct cxi_ep *ep, uint64_t flags)
{
    return flags | (ep->rx_selective ? 0 : FI_COMPLETION);
}

static ssize_t msg_send(struct fid_ep *fid, const void *buf, size_t len,
                        void *desc, fi_addr_t peer, void *context)
{
    struct cxi_ep *ep = container(fid, struct cxi_ep, fid);

    (void)desc;
    return send_op(ep, buf, len, peer, context, cxi_ep_plain_flags(fid));
}

static ssize_t msg_sendv(struct fid_ep *fid, const struct iovec *iov,
                         void **desc, size_t count, fi_addr_t peer,
                         void *context)
{
    (void)desc;
    if (!iov || count != 1)
        return -FI_EINVAL;
    return msg_send(fid, iov->iov_base, iov->iov_len, NULL, peer, context);
}

static ssize_t msg_sendmsg(struct fid_ep *fid, const struct fi_msg *msg,
                           uint64_t flags)
{
    struct cxi_ep *ep = container(fid, struct cxi_ep, fid);

    if (!msg || msg->iov_count > 1 || (msg->iov_count && !msg->msg_iov))
        return -FI_EINVAL;
    if (flags & ~SEND_FLAGS)
        return -FI_EBADFLAGS;
    return send_op(ep, msg->iov_count ? msg->msg_iov->iov_base : NULL,
                   msg->iov_count ? msg->msg_iov->iov_len : 0, msg->addr,
                   msg->context, cxi_ep_tx_flags(fid, flags));
}

static ssize_t msg_inject(struct fid_ep *fid, const void *buf, size_t len,
                          fi_addr_t peer)
{
    return send_op(container(fid, struct cxi_ep, fid), buf, len, peer, NULL,
                   FI_INJECT);
}

static ssize_t msg_senddata(struct fid_ep *fid, const void *buf, size_t len,
                            void *desc, uint64_t data, fi_addr_t peer,
                            void *context)
{
    (void)fid, (void)buf, (void)len, (void)desc, (void)data, (void)peer;
    (void)context;
    return -FI_ENOSYS;
}

static ssize_t msg_injectdata(struct fid_ep *fid, const void *buf, size_t len,
                              uint64_t data, fi_addr_t peer)
{
    return msg_senddata(fid, buf, len, NULL, data, peer, NULL);
}

static ssize_t msg_recv(struct fid_ep *fid, void *buf, size_t len, void *desc,
                        fi_addr_t peer, void *context)
{
    struct cxi_ep *ep = container(fid, struct cxi_ep, fid);

    (void)desc;
    return recv_op(ep, buf, len, peer, context, rx_flags(ep, 0));
}

static ssize_t msg_recvv(struct fid_ep *fid, const struct iovec *iov,
                         void **desc, size_t count, fi_addr_t peer,
                         void *context)
{
    (void)desc;
    if (!iov || count != 1)
        return -FI_EINVAL;
    return msg_recv(fid, iov->iov_base, iov->iov_len, NULL, peer, context);
}

static ssize_t msg_recvmsg(struct fid_ep *fid, const struct fi_msg *msg,
                           uint64_t flags)
{
    struct cxi_ep *ep = container(fid, struct cxi_ep, fid);

    if (!msg || msg->iov_count != 1 || !msg->msg_iov)
        return -FI_EINVAL;
    if (flags & ~RECV_FLAGS)
        return -FI_EBADFLAGS;
    return recv_op(ep, msg->msg_iov->iov_base, msg->msg_iov->iov_len,
                   msg->addr, msg->context, rx_flags(ep, flags));
}

struct fi_ops_msg cxi_msg_ops = {
    .size = sizeof cxi_msg_ops, .recv = msg_recv, .recvv = msg_recvv,
    .recvmsg = msg_recvmsg, .send = msg_send, .sendv = msg_sendv,
    .sendmsg = msg_sendmsg, .inject = msg_inject, .senddata = msg_senddata,
    .injectdata = msg_injectdata,
};
