/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric.h"

#define MUST(call) must((int)(call), #call)

static void must(int rc, const char *call)
{
    if (!rc)
        return;
    fprintf(stderr, "%s: %s (%d)\n", call, fi_strerror(-rc), rc);
    exit(1);
}

struct fi_info *fabric_hints(const struct want *want)
{
    struct fi_info *h = fi_allocinfo();

    must(h ? 0 : -FI_ENOMEM, "fi_allocinfo");
    h->fabric_attr->prov_name = strdup(want->provider ? want->provider
                                                         : "cxi");
    h->caps = want->caps ? want->caps : FI_RMA | FI_ATOMIC | FI_MSG;
    h->domain_attr->mr_mode = (int)(want->mr_mode ? want->mr_mode
                              : FI_MR_ENDPOINT | FI_MR_ALLOCATED);
    h->tx_attr->msg_order = want->order;
    h->tx_attr->size = want->tx_size;
    return h;
}

void fabric_open(struct node *n, const struct want *want)
{
    struct fi_info *h = fabric_hints(want);

    MUST(fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, h, &n->info));
    fi_freeinfo(h);
    MUST(fi_fabric(n->info->fabric_attr, &n->fabric, NULL));
    MUST(fi_domain(n->fabric, n->info, &n->domain, NULL));
}

void fabric_endpoint(struct node *n, const struct want *want)
{
    uint64_t tx = FI_TRANSMIT |
                  (want->selective ? FI_SELECTIVE_COMPLETION : 0);
    struct fi_cq_attr cq = { .format = FI_CQ_FORMAT_MSG };
    struct fi_cntr_attr cntr = { .wait_obj = FI_WAIT_UNSPEC };
    struct fi_av_attr av = { .type = FI_AV_MAP };

    MUST(fi_av_open(n->domain, &av, &n->av, NULL));
    MUST(fi_cq_open(n->domain, &cq, &n->txcq, NULL));
    MUST(fi_cq_open(n->domain, &cq, &n->rxcq, NULL));
    MUST(fi_cntr_open(n->domain, &cntr, &n->writes, NULL));
    MUST(fi_cntr_open(n->domain, &cntr, &n->reads, NULL));
    MUST(fi_endpoint(n->domain, n->info, &n->ep, NULL));
    MUST(fi_ep_bind(n->ep, &n->av->fid, 0));
    MUST(fi_ep_bind(n->ep, &n->txcq->fid, tx));
    MUST(fi_ep_bind(n->ep, &n->rxcq->fid, FI_RECV));
    MUST(fi_ep_bind(n->ep, &n->writes->fid, FI_WRITE));
    MUST(fi_ep_bind(n->ep, &n->reads->fid, FI_READ));
    MUST(fi_enable(n->ep));
}

void fabric_close(struct node *n)
{
    if (n->ep) {
        MUST(fi_close(&n->ep->fid));
        MUST(fi_close(&n->reads->fid));
        MUST(fi_close(&n->writes->fid));
        MUST(fi_close(&n->rxcq->fid));
        MUST(fi_close(&n->txcq->fid));
        MUST(fi_close(&n->av->fid));
    }
    MUST(fi_close(&n->domain->fid));
    MUST(fi_close(&n->fabric->fid));
    fi_freeinfo(n->info);
    *n = (struct node){ 0 };
}

struct fid_mr *fabric_region(struct node *n, void *buf, size_t size,
                             uint64_t key)
{
    struct fid_mr *mr;

    MUST(fi_mr_reg(n->domain, buf, size, FI_REMOTE_READ | FI_REMOTE_WRITE, 0,
                   key, 0, &mr, NULL));
    MUST(fi_mr_bind(mr, &n->ep->fid, 0));
    MUST(fi_mr_enable(mr));
    return mr;
}

fi_addr_t fabric_peer(struct node *n, const void *name)
{
    fi_addr_t peer;
    int inserted = fi_av_insert(n->av, name, 1, &peer, 0, NULL);

    must(inserted == 1 ? 0 : -FI_EINVAL, "fi_av_insert");
    return peer;
}

void *fabric_wait(struct fid_cq *cq, int *err)
{
    struct fi_cq_msg_entry entry = { 0 };
    struct fi_cq_err_entry error = { 0 };
    unsigned turns = 0;
    ssize_t n;

    do {
        n = fi_cq_read(cq, &entry, 1);
        if (n == 1) {
            *err = 0;
            return entry.op_context;
        }
        if (n == -FI_EAVAIL && fi_cq_readerr(cq, &error, 0) == 1) {
            *err = error.err;
            return error.op_context;
        }
    } while (n == -FI_EAGAIN && fabric_patience(&turns));
    must(n == -FI_EAGAIN ? -FI_ETIMEDOUT : (int)n, "fi_cq_read");
    return NULL;
}

bool fabric_patience(unsigned *turns)
{
    nanosleep(&(struct timespec){ 0, 20000 }, NULL);
    return ++*turns < 50000;
}
