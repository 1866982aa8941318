/* SPDX-License-Identifier: BSD-3-Clause */
/* Says in a line which provider this machine would get, and why operations of
 * streams go as they do: for shmem_info, which has no job.  It opens no
 * endpoint, and leaves nothing open. */
#include "ofi/ofi.h"
#include "ofi/ofi_available.h"
#include "ofi/net/ofi_int.h"
#include "ofi/trig/ofi_trig.h"
#include "base/env.h"

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

static bool by_nic(const struct fi_info *info)
{
    return info->caps & FI_TRIGGER &&
           ofi_trig_wanted(info->fabric_attr->prov_name);
}

/* "; large transfers over eth0, eth1", or nothing. */
static void name_rails(const struct fi_info *info, char *out, size_t size)
{
    size_t at = 0;

    out[0] = '\0';
    for (const struct fi_info *i = info; info->next && i && at < size;
         i = i->next)
        at += (size_t)snprintf(out + at, size - at, "%s%s",
                               at ? ", " : "; large transfers over ",
                               i->domain_attr->name);
}

int ofi_probe(char *out, size_t size)
{
    const char *missing = NULL;
    struct fi_info *info;
    char why[192] = "", rails[128], has[400];
    int rc = ofi_lib_open(&missing);

    if (rc) {
        snprintf(out, size, "none: %s", missing);
        return rc;
    }
    for (int k = 0; (k = ofi_info_choose(k, ofi_wants_hmem(), &info, why,
                                     sizeof why)) >= 0; k++) {
        rc = opens(info);
        name_rails(info, rails, sizeof rails);
        if (!rc)
            snprintf(out, size, "%s on %s (%s), libfabric %u.%u (%s)%s%s%s",
                     info->fabric_attr->prov_name, info->domain_attr->name,
                     why, FI_MAJOR(ofi_lib.fi_version()),
                     FI_MINOR(ofi_lib.fi_version()), ofi_lib_path(), rails,
                     !ofi_wants_hmem() ? ""
                     : info->caps & FI_HMEM ? "; it offers to reach device "
                     "memory" : "; device memory by way of host memory",
                     by_nic(info) ? "; operations of streams by its deferred "
                     "work (nic), if that passes a test" : "; operations of "
                     "streams by a thread (soft)");
        ofi_lib.fi_freeinfo(info);
        if (!rc)
            return 0;
    }
    snprintf(out, size, "none: no libfabric provider serves%s; "
             "SHMEM_LOG=info:ofi says why",
             ofi_available_explain(has, sizeof has));
    return -ENODEV;
}

const char *ofi_trig_why(char *out, size_t size)
{
    if (env.TRIGGER == OFI_TRIGGER_SOFT)
        snprintf(out, size, "a thread: SHMEM_TRIGGER=soft");
    else if (!ofi_trig.kind)
        snprintf(out, size, "a thread: %s has no deferred work that is to be "
                 "used", ofi.name);
    else if (ofi_trig_state() < 0)
        snprintf(out, size, "a thread: the deferred work of %s has failed its "
                 "test", ofi.name);
    else
        snprintf(out, size, "deferred work of %s", ofi.name);
    return out;
}
