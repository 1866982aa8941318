/* SPDX-License-Identifier: BSD-3-Clause */
#include "ofi/ofi_cxi.h"

#include <errno.h>
#include <string.h>

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
