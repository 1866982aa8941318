/* SPDX-License-Identifier: BSD-3-Clause */
/* SHMEM_OFI_TCLASS: the traffic class of domains and endpoints.  Called while
 * they are opened, by no operation. */
#include "ofi/net/ofi_int.h"
#include "base/env.h"
#include "base/log.h"
#include "rt/rt.h"

#include <string.h>

static const struct {
    const char *name;
    uint32_t value;
} classes[] = {                 /* as SHMEM_OFI_TCLASS has them */
    { "auto", FI_TC_UNSPEC }, { "best_effort", FI_TC_BEST_EFFORT },
    { "low_latency", FI_TC_LOW_LATENCY },
    { "dedicated", FI_TC_DEDICATED_ACCESS }, { "bulk", FI_TC_BULK_DATA }
};

/* Of the domain and of its endpoints, as deferred work demands. */
void ofi_set_traffic_class(struct fi_info *i)
{
    if (!env.OFI_TCLASS)
        return;
    i->domain_attr->tclass = classes[env.OFI_TCLASS].value;
    i->tx_attr->tclass = classes[env.OFI_TCLASS].value;
}

const char *ofi_traffic_class(void)
{
    return env.OFI_TCLASS ? classes[env.OFI_TCLASS].name : "";
}

bool ofi_has_traffic_classes(const struct fi_info *i)
{
    const char *provider = i->fabric_attr->prov_name;

    return provider && (!strncmp(provider, "cxi", 3) ||
                        !strncmp(provider, "efa", 3));
}

void ofi_warn_traffic_class(void)
{
    if (rt_job.pe == 0)
        log_warn(ERR_NET, "SHMEM_OFI_TCLASS is %s: it has no effect with "
                 "provider %s, which has no traffic classes",
                 ofi_traffic_class(), ofi.name);
}
