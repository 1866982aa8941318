/* SPDX-License-Identifier: BSD-3-Clause */
/* What getinfo offers: nothing to a user that does not name all modes. */
#include "local.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fi_info *local_base_info(void)
{
    struct fi_info *hints = fi_allocinfo(), *info = NULL;

    if (!hints)
        return NULL;
    hints->fabric_attr->prov_name = strdup("tcp;ofi_rxm");
    hints->ep_attr->type = FI_EP_RDM;
    hints->caps = FI_MSG | FI_RMA | FI_ATOMIC;
    hints->domain_attr->threading = FI_THREAD_SAFE;
    hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
    hints->domain_attr->name = strdup("lo");
    hints->addr_format = FI_SOCKADDR_IN;
    if (fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &info))
        info = NULL;
    fi_freeinfo(hints);
    return info;
}

static bool serves(uint32_t version, const struct fi_info *h)
{
    const struct local_like *l = local_like;
    uint64_t both = FI_HMEM | FI_ATOMIC;

    if (!h || (h->mode & l->mode) != l->mode ||
        (h->ep_attr && h->ep_attr->type && h->ep_attr->type != FI_EP_RDM) ||
        (h->domain_attr &&
         (h->domain_attr->mr_mode & l->mr_mode) != l->mr_mode))
        return false;
    if (h->caps & FI_TRIGGER ||
        (h->caps & FI_HMEM && !local_env("FAKE_LOCAL_HMEM", 0)))
        return false;
    return (h->caps & both) != both || version >= l->hmem_api;
}

static void become(struct fi_info *i, const struct fi_info *h, long nic)
{
    char name[48];

    snprintf(name, sizeof name, "%s%ld", local_like->name, nic);
    free(i->fabric_attr->prov_name);    /* libfabric fills it in */
    free(i->fabric_attr->name);
    free(i->domain_attr->name);
    i->fabric_attr->prov_name = NULL;
    i->fabric_attr->name = strdup(local_like->name);
    i->domain_attr->name = strdup(name);
    i->caps = h->caps;
    i->mode = i->tx_attr->mode = i->rx_attr->mode = local_like->mode;
    i->addr_format = FI_ADDR_EFA;       /* users pass it on unread */
    i->domain_attr->mr_mode = local_like->mr_mode |
                              (h->caps & FI_HMEM ? FI_MR_HMEM : 0);
    i->tx_attr->inject_size = local_like->inject;
    i->tx_attr->size = i->rx_attr->size = local_like->tx_size;
    i->tx_attr->iov_limit = i->tx_attr->rma_iov_limit = 1;
    i->tx_attr->msg_order = i->rx_attr->msg_order = 0;
}

int local_getinfo(uint32_t version, const char *node, const char *service,
                  uint64_t flags, const struct fi_info *hints,
                  struct fi_info **out)
{
    struct fi_info *base, **end = out;

    (void)node, (void)service, (void)flags;
    *out = NULL;
    if (!serves(version, hints))
        return -FI_ENODATA;
    base = local_base_info();
    if (!base)
        return -FI_ENODATA;
    for (long nic = 0; nic < local_env("FAKE_LOCAL_NICS", 1); nic++) {
        *end = fi_dupinfo(base);
        if (!*end)
            break;
        become(*end, hints, nic);
        end = &(*end)->next;
    }
    fi_freeinfo(base);
    return *out ? 0 : -FI_ENOMEM;
}
