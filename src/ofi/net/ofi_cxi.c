/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of the CXI provider beyond libfabric's own: descriptors of registered
 * memory, the depth of deferred work, the page of a counter.  Called while a
 * provider or a trigger opens; nothing here belongs on an operation's path. */
#include "ofi/net/ofi_cxi.h"
#include "base/log.h"

#include <errno.h>
#include <string.h>
#include <time.h>

/* Declarations of <rdma/fi_cxi_ext.h>, which Debian lacks.  Each version of the
 * domain's table appends calls to the one before. */
struct counter_ops {
    int (*set_wb_buffer)(struct fid *fid, void *buf, size_t len);
    int (*get_mmio_addr)(struct fid *fid, void **addr, size_t *len);
};
struct domain_ops {
    int (*cntr_read)(struct fid *fid, unsigned cntr, uint64_t *value,
                     struct timespec *ts);
    int (*topology)(struct fid *fid, unsigned *group, unsigned *router,
                    unsigned *port);
    int (*enable_hybrid_mr_desc)(struct fid *fid, bool enable);
    size_t (*ep_get_unexp_msgs)(struct fid_ep *ep, void *entry, size_t count,
                                fi_addr_t *from, size_t *n);
    int (*get_dwq_depth)(struct fid *fid, size_t *depth);
};
enum { NEWEST = 6, HAS_DESCS = 3, HAS_DEPTH = 5 };

/* The table of a version that has what is wanted, or NULL.  A provider gives
 * the same table by all names that it knows, whatever that table lacks. */
static struct domain_ops *open_ops(struct fid_domain *domain, int least)
{
    char name[] = "dom_ops_v0";
    struct domain_ops *ops;

    for (int v = NEWEST; v >= least; v--) {
        name[sizeof name - 2] = (char)('0' + v);
        if (!fi_open_ops(&domain->fid, name, 0, (void **)&ops, NULL))
            return ops;
    }
    return NULL;
}

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
    struct domain_ops *ops = open_ops(domain, HAS_DESCS);
    int rc = ops ? ops->enable_hybrid_mr_desc(&domain->fid, true)
                 : -FI_ENOSYS;

    if (rc)
        log_info(LOG_OFI, "descriptors of memory are of no use here "
                 "(enable_hybrid_mr_desc: %s)", ofi_strerror(rc));
    return !rc;
}

/* The provider keeps 8 of what is reserved: where fewer are, the difference
 * wraps. */
size_t ofi_cxi_depth(struct fid_domain *domain)
{
    struct domain_ops *ops = open_ops(domain, HAS_DEPTH);
    size_t depth;

    if (!ops || ops->get_dwq_depth(&domain->fid, &depth))
        return OFI_DEPTH_UNKNOWN;
    return depth > OFI_CXI_ENTRIES ? 0 : depth;
}

int ofi_cxi_doorbell(struct fid_cntr *trigger, void **page)
{
    struct counter_ops *ops;
    size_t len;                 /* says 8, whatever it is */
    int rc = fi_open_ops(&trigger->fid, "cxi_counter_ops", 0, (void **)&ops,
                         NULL);

    return rc ? rc : ops->get_mmio_addr(&trigger->fid, page, &len);
}
