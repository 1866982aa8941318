/* SPDX-License-Identifier: BSD-3-Clause */
#include "ofi/ofi.h"
#include "ofi/ofi_int.h"

#include <errno.h>
#include <stdio.h>

/* Does it open as far as that goes without memory and peers? */
static int opens(struct fi_info *info)
{
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    int rc = ofi_lib.fi_fabric(info->fabric_attr, &fabric, NULL);

    if (rc)
        return rc;
    rc = fi_domain(fabric, info, &domain, NULL);
    if (!rc)
        fi_close(&domain->fid);
    fi_close(&fabric->fid);
    return rc;
}

int ofi_probe(char *out, size_t size)
{
    const char *missing = NULL;
    struct fi_info *info;
    char why[192] = "";
    int rc = ofi_lib_open(&missing);

    if (rc) {
        snprintf(out, size, "none: %s", missing);
        return rc;
    }
    for (int k = 0; (k = ofi_choose(k, ofi_wants_hmem(), &info, why,
                                     sizeof why)) >= 0; k++) {
        rc = opens(info);
        if (!rc)
            snprintf(out, size, "%s on %s (%s)%s", info->fabric_attr->prov_name,
                     info->domain_attr->name, why, !ofi_wants_hmem() ? ""
                     : info->caps & FI_HMEM ? "; it offers to reach device "
                     "memory" : "; device memory by way of host memory");
        ofi_lib.fi_freeinfo(info);
        if (!rc)
            return 0;
    }
    snprintf(out, size, "none: no libfabric provider serves; "
             "SHMEM_LOG=info:ofi says why");
    return -ENODEV;
}
