/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of the host for kernels that communicate: shmemx_dev.h.  Local calls;
 * the states are the kernel layer's. */
#include "api/api.h"
#include "base/env.h"
#include "base/symbol.h"
#include "gtl/gtl.h"
#include "kernel/kernel.h"

#include <errno.h>

int api_kernel_open(const char *call)
{
    if (kernel_is_open())
        return 0;
    if (!api_device_known()) {
        log_warn(ERR_DEVICE, "%s: there is no device (SHMEM_DEVICE)",
                 symbol_public(call));
        return -ENODEV;
    }
    return kernel_open(call);
}

/* Without a device no kernel will ask for it. */
static bool may_open(void)
{
    return env.DEVICE != ENV_DEVICE_NONE && api_device_known();
}

void api_kernel_team_made(const char *call, const struct core_team *t)
{
    if (t && core_team_of_device(t) && may_open() && !api_kernel_open(call))
        kernel_team_open(t);
}

int api_kernel_ctx_made(const char *call, shmem_ctx_t ctx)
{
    shmemx_dev_t unused;

    if (!may_open() || api_kernel_open(call))
        return 0;
    return kernel_state(call, ctx, &unused);
}

int pshmemx_dev_get(shmem_ctx_t ctx, shmemx_dev_t *dev)
{
    int rc;

    core_need_up(__func__);
    if (CORE_CHECK(!dev))
        core_fatal(ERR_NULL, __func__, "no place for the state");
    rc = api_kernel_open(__func__);
    if (rc)
        return rc;
    kernel_code_retry();
    return kernel_state(__func__, ctx, dev);
}
API_ALIAS(shmemx_dev_get)

const shmemx_dev_t *pshmemx_dev_default(void)
{
    return kernel_default();
}
API_ALIAS(shmemx_dev_default)

int pshmemx_launch_check(unsigned groups, unsigned items, size_t shared)
{
    unsigned most;

    core_need_up(__func__);
    if (!groups || !items) {
        log_warn(ERR_ARG, "shmemx_launch_check: a grid of %u groups of %u "
                 "items", groups, items);
        return -EINVAL;
    }
    if (!api_device_known())
        return -ENODEV;
    if (!gtl_device.processors)
        return 0;
    most = gtl_resident_groups(items, shared);
    if (groups <= most)
        return 0;
    log_warn(ERR_DEVICE, "shmemx_launch_check: %u groups of %u items wait for "
             "each other, and %u are resident at once%s", groups, items, most,
             gtl_device.host_streams ? " (SHMEM_DEVICE_RESIDENT)" : "");
    return -ENOSPC;
}
API_ALIAS(shmemx_launch_check)
