/* SPDX-License-Identifier: BSD-3-Clause */
/* api_kernel_module.c - calls of the host for code of a GPU that has a copy of
 * the state of kernels: shmemx_dev_decls.h.  Local calls; the copies are the
 * kernel layer's. */
#include "api/api.h"
#include "core/core_misuse.h"
#include "kernel/kernel.h"

#include <errno.h>

int pshmemx_module_init(void *module)
{
    CORE_TRACE_CALL(__func__);
    int rc;

    core_need_up(__func__);
    if (!module)
        return core_misuse(ERR_NULL, __func__, "module is a null pointer");
    rc = api_kernel_open(__func__);
    return rc ? rc : kernel_module_init(__func__, module);
}
API_ALIAS(shmemx_module_init)

int pshmemx_module_finalize(void *module)
{
    CORE_TRACE_CALL(__func__);

    core_need_up(__func__);
    return kernel_module_finalize(__func__, module);
}
API_ALIAS(shmemx_module_finalize)

/* A constructor calls it, before the library is up, too. */
void pshmemx_dev_register(int (*symbol)(void **address), size_t size)
{
    kernel_code_register(symbol, size);
}
API_ALIAS(shmemx_dev_register)

void pshmemx_dev_unregister(int (*symbol)(void **address))
{
    kernel_code_unregister(symbol);
}
API_ALIAS(shmemx_dev_unregister)
