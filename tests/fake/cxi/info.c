/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What getinfo offers (rule 1).  Hints that CXI cannot serve find nothing;
 * what it clears, such as FI_MR_LOCAL and FI_MR_HMEM, is cleared.  The best comes first:
 * provider keys, then client keys, each for every NIC.
 */
#include "calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PRIMARY   (FI_RMA | FI_ATOMIC | FI_MSG | FI_DIRECTED_RECV)
#define DIRECTION (FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE | \
                   FI_SEND | FI_RECV)
#define WHERE     (FI_LOCAL_COMM | FI_REMOTE_COMM)
#define SECONDARY (FI_SOURCE | FI_FENCE | FI_TRIGGER | \
                   FI_RMA_EVENT | WHERE)
#define ORDER     (FI_ORDER_SAS | FI_ORDER_WAW | FI_ORDER_RMA_WAW | \
                   FI_ORDER_RMA_RAR | FI_ORDER_ATOMIC_WAW | \
                   FI_ORDER_ATOMIC_RAR)
#define MR_BITS   (FI_MR_ENDPOINT | FI_MR_ALLOCATED | FI_MR_PROV_KEY)
#define TX_FLAGS  (CXI_WRITE_FLAGS & ~FI_FENCE)

/* The base provider's own answer. */
struct fi_info *cxi_base_info(void)
{
    const char *on = getenv("FAKE_CXI_INTERFACE");
    struct fi_info *hints = fi_allocinfo(), *info = NULL;

    if (!hints)
        return NULL;
    hints->fabric_attr->prov_name = strdup("sockets");
    hints->ep_attr->type = FI_EP_RDM;
    hints->caps = FI_RMA | FI_ATOMIC | FI_MSG | FI_SOURCE |
                  FI_DIRECTED_RECV | FI_RMA_EVENT;
    hints->mode = ~0ull;
    hints->domain_attr->threading = FI_THREAD_SAFE;
    hints->domain_attr->data_progress = FI_PROGRESS_AUTO;
    hints->domain_attr->control_progress = FI_PROGRESS_AUTO;
    hints->addr_format = FI_SOCKADDR_IN;
    hints->domain_attr->name = strdup(on && *on ? on : "lo");
    if (fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &info))
        info = NULL;
    fi_freeinfo(hints);
    return info;
}

static bool progress_ok(enum fi_progress wanted)
{
    return wanted == FI_PROGRESS_UNSPEC || wanted == FI_PROGRESS_MANUAL;
}

static bool domain_ok(const struct fi_domain_attr *a)
{
    static const enum fi_threading can[] = { FI_THREAD_UNSPEC, FI_THREAD_SAFE,
        FI_THREAD_COMPLETION, FI_THREAD_DOMAIN };
    size_t i = 0;

    while (i < 4 && can[i] != a->threading)
        i++;
    return i < 4 && progress_ok(a->data_progress) &&
           progress_ok(a->control_progress) &&
           a->mr_mode & FI_MR_ENDPOINT &&
           (a->mr_mode & FI_MR_ALLOCATED || a->mr_mode == FI_MR_ENDPOINT) &&
           a->cq_data_size <= 8 && a->mr_iov_limit <= 1;
}

static bool tx_ok(const struct fi_tx_attr *a)
{
    return !(a->msg_order & ~ORDER) && !(a->op_flags & ~TX_FLAGS) &&
           a->size <= CXI_TX_MAX && a->inject_size <= CXI_INJECT &&
           a->iov_limit <= 1 && a->rma_iov_limit <= 1;
}

static bool hints_ok(const struct fi_info *h)
{
    if (!h)
        return true;
    if (h->caps & ~(PRIMARY | DIRECTION | SECONDARY |
                    (cxi_env("FAKE_CXI_HMEM", 0) ? FI_HMEM : 0)) ||
        (h->addr_format && h->addr_format != FI_ADDR_CXI))
        return false;
    if (h->ep_attr && ((h->ep_attr->type && h->ep_attr->type != FI_EP_RDM) ||
                       h->ep_attr->max_msg_size > CXI_MAX_MSG ||
                       h->ep_attr->tx_ctx_cnt > 1 ||
                       h->ep_attr->rx_ctx_cnt > 1))
        return false;
    if (h->fabric_attr && h->fabric_attr->name &&
        strcmp(h->fabric_attr->name, "cxi"))
        return false;
    return (!h->domain_attr || domain_ok(h->domain_attr)) &&
           (!h->tx_attr || tx_ok(h->tx_attr)) &&
           (!h->rx_attr || (!(h->rx_attr->msg_order & ~ORDER) &&
                            h->rx_attr->iov_limit <= 1));
}

/* Capabilities that were asked for, with the directions they imply. */
static uint64_t caps_of(const struct fi_info *h)
{
    uint64_t caps = h ? h->caps : 0;

    if (!caps)
        caps = PRIMARY | FI_SOURCE | FI_FENCE;
    if (caps & (FI_RMA | FI_ATOMIC) &&
        !(caps & (DIRECTION & ~(FI_SEND | FI_RECV))))
        caps |= FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
    if (caps & FI_MSG && !(caps & (FI_SEND | FI_RECV)))
        caps |= FI_SEND | FI_RECV;
    return caps | WHERE;
}

static void fill_tx(struct fi_info *info, const struct fi_info *h)
{
    const struct fi_tx_attr *a = h ? h->tx_attr : NULL;
    const struct fi_rx_attr *r = h ? h->rx_attr : NULL;

    *info->tx_attr = (struct fi_tx_attr){
        .caps = info->caps & ~(FI_RECV | FI_REMOTE_READ | FI_REMOTE_WRITE),
        .op_flags = a ? a->op_flags : 0,
        .msg_order = a ? a->msg_order : ORDER,
        .inject_size = CXI_INJECT, .iov_limit = 1, .rma_iov_limit = 1,
        .tclass = a ? a->tclass : FI_TC_UNSPEC,
        .size = a && a->size ? a->size : cxi_tuning.tx_size,
    };
    *info->rx_attr = (struct fi_rx_attr){
        .caps = info->caps & ~(FI_SEND | FI_READ | FI_WRITE | FI_FENCE),
        .msg_order = r ? r->msg_order : ORDER,
        .iov_limit = 1, .size = r && r->size ? r->size : cxi_tuning.rx_size,
    };
}

static void fill_domain(struct fi_domain_attr *d, const struct fi_info *h,
                        bool prov_keys)
{
    enum fi_threading wanted = h && h->domain_attr ? h->domain_attr->threading
                              : FI_THREAD_UNSPEC;

    d->threading = wanted ? wanted : FI_THREAD_SAFE;
    d->control_progress = d->data_progress = FI_PROGRESS_MANUAL;
    d->resource_mgmt = FI_RM_ENABLED;
    d->tclass = h && h->domain_attr ? h->domain_attr->tclass : FI_TC_UNSPEC;
    d->av_type = h && h->domain_attr ? h->domain_attr->av_type : FI_AV_UNSPEC;
    d->mr_mode = FI_MR_ENDPOINT | FI_MR_ALLOCATED |
                 (prov_keys ? FI_MR_PROV_KEY : 0);
    d->mr_key_size = prov_keys ? 8 : 4;
    d->cq_data_size = 8;
    d->cq_cnt = 32;
    d->cntr_cnt = 16;
    d->mr_cnt = 100;
    d->mr_iov_limit = 1;
    d->max_ep_tx_ctx = d->max_ep_rx_ctx = 1;
    d->max_ep_stx_ctx = d->max_ep_srx_ctx = 0;
    d->caps = WHERE;
    d->mode = 0;
}

static struct fi_info *offer(const struct fi_info *base,
                             const struct fi_info *h, int nic, bool prov_keys)
{
    struct fi_info *info = fi_dupinfo(base);
    char name[16];

    if (!info)
        return NULL;
    snprintf(name, sizeof name, "cxi%d", nic);
    free(info->fabric_attr->prov_name);     /* libfabric fills it in */
    free(info->fabric_attr->name);
    free(info->domain_attr->name);
    info->fabric_attr->prov_name = NULL;
    info->fabric_attr->name = strdup("cxi");
    info->domain_attr->name = strdup(name);
    info->nic = cxi_bus_nic(nic);
    info->caps = caps_of(h);
    info->mode = 0;
    info->addr_format = FI_ADDR_CXI;
    free(info->src_addr);
    info->src_addr = NULL;
    info->src_addrlen = 0;
    fill_domain(info->domain_attr, h, prov_keys);
    fill_tx(info, h);
    info->ep_attr->type = FI_EP_RDM;
    info->ep_attr->protocol = FI_PROTO_CXI;
    info->ep_attr->max_msg_size = CXI_MAX_MSG;
    info->ep_attr->max_order_raw_size = 0;
    info->ep_attr->max_order_war_size = 0;
    info->ep_attr->max_order_waw_size = (size_t)-1;
    info->ep_attr->tx_ctx_cnt = info->ep_attr->rx_ctx_cnt = 1;
    if (h && h->handle)
        info->handle = h->handle;
    return info;
}

static bool domain_wanted(const struct fi_info *h, int nic)
{
    char name[16];

    snprintf(name, sizeof name, "cxi%d", nic);
    return !h || !h->domain_attr || !h->domain_attr->name ||
           !strcmp(h->domain_attr->name, name);
}

int cxi_getinfo(uint32_t version, const char *node, const char *service,
                uint64_t flags, const struct fi_info *hints,
                struct fi_info **out)
{
    int nics = (int)cxi_env("FAKE_CXI_NICS", 1);
    uint64_t wanted = hints && hints->domain_attr ?
                     (uint64_t)hints->domain_attr->mr_mode : MR_BITS;
    struct fi_info *base, *first = NULL, **end = &first;

    (void)version, (void)node, (void)service, (void)flags;
    if (!hints_ok(hints))
        return -FI_ENODATA;
    base = cxi_base_info();
    if (!base)
        return -FI_ENODATA;
    for (int prov_keys = 1; prov_keys >= 0; prov_keys--)
        for (int nic = 0; nic < nics; nic++) {
            if ((prov_keys && !(wanted & FI_MR_PROV_KEY)) ||
                !domain_wanted(hints, nic))
                continue;
            *end = offer(base, hints, nic, prov_keys);
            if (*end)
                end = &(*end)->next;
        }
    fi_freeinfo(base);
    if (!first)
        return -FI_ENODATA;
    *out = first;
    return 0;
}
