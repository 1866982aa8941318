/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Endpoints: what is bound to them, transmit credits (rule 3), counters that
 * never count (rule 4) and buffers of those that receive (rule 17).
 */
#include "work.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

static int bind_cq(struct cxi_ep *ep, struct cxi_cq *cq, uint64_t flags)
{
    if (flags & ~(FI_TRANSMIT | FI_RECV | FI_SELECTIVE_COMPLETION) ||
        !(flags & (FI_TRANSMIT | FI_RECV)) || cq->dom != ep->dom)
        return -FI_EINVAL;
    if ((flags & FI_TRANSMIT && ep->txcq) || (flags & FI_RECV && ep->rxcq))
        return -FI_EINVAL;
    if (flags & FI_TRANSMIT) {
        ep->txcq = cq;
        ep->tx_selective = flags & FI_SELECTIVE_COMPLETION;
        cq->refs++;
    }
    if (flags & FI_RECV) {
        ep->rxcq = cq;
        ep->rx_selective = flags & FI_SELECTIVE_COMPLETION;
        cq->refs++;
    }
    return 0;
}

static int bind_cntr(struct cxi_ep *ep, struct cxi_cntr *cntr, uint64_t flags)
{
    static const uint64_t bit[CXI_C_N] = {
        [CXI_C_SEND] = FI_SEND, [CXI_C_RECV] = FI_RECV,
        [CXI_C_READ] = FI_READ, [CXI_C_WRITE] = FI_WRITE,
    };
    const uint64_t remote = FI_REMOTE_READ | FI_REMOTE_WRITE;

    if (flags & ~(FI_SEND | FI_RECV | FI_READ | FI_WRITE | remote) || !flags ||
        cntr->dom != ep->dom || (flags & remote && ep->silents == 8))
        return -FI_EINVAL;
    for (int i = 0; i < CXI_C_N; i++)
        if (flags & bit[i] && ep->cntr[i])
            return -FI_EINVAL;
    for (int i = 0; i < CXI_C_N; i++)
        if (flags & bit[i]) {
            ep->cntr[i] = cntr;
            cntr->refs++;
        }
    if (flags & remote) {
        ep->silent[ep->silents++] = cntr;
        cntr->refs++;
    }
    return 0;
}

static int ep_bind(struct fid *fid, struct fid *to, uint64_t flags)
{
    struct cxi_ep *ep = container(fid, struct cxi_ep, fid.fid);
    int rc = -FI_EINVAL;

    pthread_mutex_lock(&ep->dom->lock);
    if (to->fclass == FI_CLASS_CNTR) {
        rc = bind_cntr(ep, container(to, struct cxi_cntr, fid.fid), flags);
    } else if (ep->enabled) {
        rc = -FI_EOPBADSTATE;
    } else if (to->fclass == FI_CLASS_CQ) {
        rc = bind_cq(ep, container(to, struct cxi_cq, fid.fid), flags);
    } else if (to->fclass == FI_CLASS_AV) {
        rc = fi_ep_bind(ep->real, to, flags);
        if (!rc)
            ep->av = container(to, struct fid_av, fid);
    } else if (to->fclass == FI_CLASS_EQ) {
        rc = fi_ep_bind(ep->real, to, flags);
    }
    pthread_mutex_unlock(&ep->dom->lock);
    return rc;
}

/* Rule 17. */
static void pin_buffers(struct cxi_ep *ep)
{
    struct cxi_domain *dom = ep->dom;

    if (!(ep->caps & FI_RECV))
        return;
    ep->buffers = cxi_tuning_buffers();
    dom->buffers.n++;
    dom->buffers.bytes += ep->buffers;
    if (ep->caps & FI_HMEM && cxi_tuning.gpu_buffers)
        dom->buffers.gpu += ep->buffers;
    if (dom->buffers.n > dom->most_buffers.n)
        dom->most_buffers = dom->buffers;
}

static void unpin_buffers(struct cxi_ep *ep)
{
    struct cxi_domain *dom = ep->dom;

    if (!(ep->caps & FI_RECV) || !ep->enabled)
        return;
    dom->buffers.n--;
    dom->buffers.bytes -= ep->buffers;
    if (ep->caps & FI_HMEM && cxi_tuning.gpu_buffers)
        dom->buffers.gpu -= ep->buffers;
}

static int ep_enable(struct cxi_ep *ep)
{
    struct sockaddr_in name;
    size_t size = sizeof name;
    int rc;

    if (ep->enabled)
        return -FI_EOPBADSTATE;
    if (!ep->av)
        return -FI_ENOAV;
    if (!ep->txcq || (ep->caps & FI_RECV && !ep->rxcq))
        return -FI_ENOCQ;
    if (!(cxi_env("FAKE_CXI_TCLASSES", -1) >> (ep->tclass - FI_TC_LABEL) & 1))
        return -FI_EDOMAIN;
    rc = fi_enable(ep->real);
    if (!rc)
        rc = fi_getname(&ep->real->fid, &name, &size);
    if (rc)
        return rc;
    ep->port = ntohs(name.sin_port);
    ep->enabled = true;
    ep->tx_room = cxi_tuning_tx_events(ep->tx_size, ep->txcq->size);
    pin_buffers(ep);
    return 0;
}

static int ep_control(struct fid *fid, int command, void *arg)
{
    struct cxi_ep *ep = container(fid, struct cxi_ep, fid.fid);
    int rc;

    (void)arg;
    if (command != FI_ENABLE)
        return -FI_ENOSYS;
    pthread_mutex_lock(&ep->dom->lock);
    rc = ep_enable(ep);
    pthread_mutex_unlock(&ep->dom->lock);
    return rc;
}

static void unbind(struct cxi_ep *ep)
{
    for (int i = 0; i < CXI_C_N; i++)
        if (ep->cntr[i])
            ep->cntr[i]->refs--;
    while (ep->silents)
        ep->silent[--ep->silents]->refs--;
    if (ep->txcq) {
        cxi_cq_release(ep, ep->txcq);
        ep->txcq->refs--;
    }
    if (ep->rxcq) {
        cxi_cq_release(ep, ep->rxcq);
        ep->rxcq->refs--;
    }
}

/* What the NIC accepted is delivered first, as hardware would. */
static int ep_close(struct fid *fid)
{
    struct cxi_ep *ep = container(fid, struct cxi_ep, fid.fid), **at;
    struct cxi_domain *dom = ep->dom;
    struct cxi_op *op;
    int rc;

    pthread_mutex_lock(&dom->lock);
    if (ep->refs) {
        pthread_mutex_unlock(&dom->lock);
        return -FI_EBUSY;
    }
    rc = ep->armed ? cxi_rule(-FI_EBUSY, "13", "an endpoint is closed with %zu "
                              "of its deferred operations armed", ep->armed)
                   : 0;
    if (rc) {
        pthread_mutex_unlock(&dom->lock);
        return rc;
    }
    cxi_nic_drain(ep);
    unpin_buffers(ep);
    unbind(ep);
    for (at = &dom->eps; *at != ep; at = &(*at)->next)
        ;
    *at = ep->next;
    while ((op = ep->recvs)) {
        ep->recvs = op->next;
        op->ep = NULL;
        op->next = dom->graves;
        dom->graves = op;
    }
    pthread_mutex_unlock(&dom->lock);
    fi_close(&ep->real->fid);
    atomic_fetch_sub(&dom->refs, 1);
    free(ep);
    return 0;
}

uint64_t cxi_ep_tx_flags(struct fid_ep *fid, uint64_t flags)
{
    struct cxi_ep *ep = container(fid, struct cxi_ep, fid);

    return flags | (ep->tx_selective ? 0 : FI_COMPLETION);
}

uint64_t cxi_ep_plain_flags(struct fid_ep *fid)
{
    struct cxi_ep *ep = container(fid, struct cxi_ep, fid);

    return cxi_ep_tx_flags(fid, ep->op_flags);
}

/* A place among the operations under way, with a credit. */
int cxi_ep_start(struct cxi_ep *ep, enum cxi_kind kind, fi_addr_t peer,
                 uint64_t flags, struct cxi_op **out)
{
    struct cxi_op *op;

    if (!ep->enabled)
        return -FI_EOPBADSTATE;
    if (flags & FI_FENCE && !(ep->caps & FI_FENCE))
        return -FI_EINVAL;
    if (ep->tx_full)            /* rule 19 */
        return -FI_EAGAIN;
    if (ep->tx_used >= ep->tx_size) {
        cxi_nic_pass(ep->dom);
        return -FI_EAGAIN;
    }
    op = calloc(1, sizeof *op);
    if (!op)
        return -FI_ENOMEM;
    if (++ep->tx_used > ep->dom->log.credits)
        ep->dom->log.credits = ep->tx_used;
    op->ep = ep;
    op->kind = kind;
    op->peer = peer;
    op->dc = flags & FI_DELIVERY_COMPLETE;
    op->fence = flags & FI_FENCE;
    op->entry = flags & FI_COMPLETION;
    *out = op;
    return 0;
}

/* Names the remote memory as the base provider knows it. */
int cxi_ep_aim(struct cxi_op *op, uint64_t addr, uint64_t key)
{
    struct sockaddr_in name = { 0 };
    size_t size = sizeof name;
    int rc = fi_av_lookup(op->ep->av, op->peer, &name, &size);

    if (rc) {
        cxi_op_cancel(op);
        return -FI_EINVAL;
    }
    op->addr = addr;
    op->key = key;
    if (op->ep->dom->prov_keys)
        cxi_key_aim(op, ntohs(name.sin_port));
    else
        op->rkey = (uint64_t)ntohs(name.sin_port) << 48 | (key & CXI_KEY_LOW);
    return 0;
}

void cxi_op_cancel(struct cxi_op *op)
{
    if (!op->quiet && op->kind != CXI_RECV)
        op->ep->tx_used--;
    free(op->copy);
    free(op);
}

void cxi_op_copy(struct cxi_op *op)
{
    op->copy = malloc(op->len ? op->len : 1);
    if (!op->copy)
        abort();
    if (op->len)
        memcpy(op->copy, op->buf, op->len);
}

static ssize_t ep_cancel(fid_t fid, void *context)
{
    struct cxi_ep *ep = container(fid, struct cxi_ep, fid.fid);
    ssize_t rc = -FI_ENOENT;

    pthread_mutex_lock(&ep->dom->lock);
    for (struct cxi_op *op = ep->recvs; op; op = op->next)
        if (op->context == context) {
            rc = fi_cancel(&ep->real->fid, op);
            break;
        }
    pthread_mutex_unlock(&ep->dom->lock);
    return rc;
}

static int ep_getopt(fid_t fid, int level, int name, void *value, size_t *size)
{
    (void)fid, (void)level, (void)name, (void)value, (void)size;
    return -FI_ENOPROTOOPT;
}

static int ep_setopt(fid_t fid, int level, int name, const void *value,
                     size_t size)
{
    (void)fid, (void)level, (void)name, (void)value, (void)size;
    return -FI_ENOPROTOOPT;
}

static ssize_t tx_left(struct fid_ep *fid)
{
    (void)fid;
    return -FI_ENOSYS;
}

static int ep_getname(fid_t fid, void *addr, size_t *size)
{
    struct cxi_ep *ep = container(fid, struct cxi_ep, fid.fid);

    return ep->enabled ? fi_getname(&ep->real->fid, addr, size)
                       : -FI_EOPBADSTATE;
}

static struct fi_ops ep_fid_ops = {
    .size = sizeof ep_fid_ops, .close = ep_close, .bind = ep_bind,
    .control = ep_control, .ops_open = cxi_no_ops,
};

static struct fi_ops_ep ep_ops = {
    .size = sizeof ep_ops, .cancel = ep_cancel, .getopt = ep_getopt,
    .setopt = ep_setopt, .rx_size_left = tx_left, .tx_size_left = tx_left,
};

static struct fi_ops_cm cm_ops = {
    .size = sizeof cm_ops, .getname = ep_getname,
};

int cxi_ep_open(struct fid_domain *domain, struct fi_info *info,
                struct fid_ep **out, void *context)
{
    struct cxi_domain *dom = container(domain, struct cxi_domain, fid);
    struct cxi_ep *ep;
    uint32_t tclass;
    int rc;

    if (!info || !info->tx_attr || info->tx_attr->size > CXI_TX_MAX ||
        cxi_tclass(info->tx_attr->tclass, dom->tclass, &tclass))
        return -FI_EINVAL;
    ep = calloc(1, sizeof *ep);
    if (!ep)
        return -FI_ENOMEM;
    rc = fi_endpoint(dom->real, dom->real_info, &ep->real, NULL);
    if (!rc)
        rc = fi_ep_bind(ep->real, &dom->real_cq->fid, FI_TRANSMIT | FI_RECV);
    if (rc) {
        if (ep->real)
            fi_close(&ep->real->fid);
        free(ep);
        return rc;
    }
    ep->dom = dom;
    ep->hybrid = dom->hybrid;
    ep->tclass = tclass;
    /* Either place may say that it receives. */
    ep->caps = info->caps | (info->rx_attr ? info->rx_attr->caps & FI_RECV : 0);
    ep->order = info->tx_attr->msg_order;
    ep->op_flags = info->tx_attr->op_flags;
    ep->tx_size = info->tx_attr->size;
    ep->rx_size = info->rx_attr ? info->rx_attr->size : CXI_RX_SIZE;
    ep->last = &ep->first;
    ep->fid.fid = (struct fid){ FI_CLASS_EP, context, &ep_fid_ops };
    ep->fid.ops = &ep_ops;
    ep->fid.cm = &cm_ops;
    ep->fid.msg = &cxi_msg_ops;
    ep->fid.rma = &cxi_rma_ops;
    ep->fid.atomic = &cxi_atomic_ops;
    pthread_mutex_lock(&dom->lock);
    ep->next = dom->eps;
    dom->eps = ep;
    pthread_mutex_unlock(&dom->lock);
    atomic_fetch_add(&dom->refs, 1);
    *out = &ep->fid;
    return 0;
}
