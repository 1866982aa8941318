/* SPDX-License-Identifier: BSD-3-Clause */
#include "ofi/ofi_cxi.h"
#include "base/log.h"

#include <errno.h>
#include <string.h>
#include <time.h>

/* The beginning of what <rdma/fi_cxi_ext.h> declares; Debian lacks it. */
struct domain_ops {
    int (*cntr_read)(struct fid *fid, unsigned cntr, uint64_t *value,
                     struct timespec *ts);
    int (*topology)(struct fid *fid, unsigned *group, unsigned *router,
                    unsigned *port);
    int (*enable_hybrid_mr_desc)(struct fid *fid, bool enable);
};

bool ofi_cxi_is(const struct fi_info *info)
{
    return !strcmp(info->fabric_attr->prov_name, "cxi");
}

int ofi_cxi_sender(const struct fi_info *info, struct fi_info **out)
{
    struct fi_info *i = ofi_lib.fi_dupinfo(info);

    if (!i)
        return -ENOMEM;
    if (ofi_cxi_is(info)) {
        i->caps &= ~FI_RECV;
        i->rx_attr->caps &= ~FI_RECV;
    }
    *out = i;
    return 0;
}

bool ofi_cxi_descs(struct fid_domain *domain)
{
    static const char *const names[] = {
        "dom_ops_v6", "dom_ops_v5", "dom_ops_v4", "dom_ops_v3"
    };
    struct domain_ops *ops;
    int rc = -FI_ENOSYS;

    for (size_t i = 0; rc && i < sizeof names / sizeof *names; i++) {
        rc = fi_open_ops(&domain->fid, names[i], 0, (void **)&ops, NULL);
        if (!rc)
            rc = ops->enable_hybrid_mr_desc(&domain->fid, true);
    }
    if (rc)
        log_info(LOG_OFI, "descriptors of memory are of no use here "
                 "(enable_hybrid_mr_desc: %s)", ofi_strerror(rc));
    return !rc;
}
