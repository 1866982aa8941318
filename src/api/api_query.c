/* SPDX-License-Identifier: BSD-3-Clause */
/* Queries: this PE's number, which PEs and addresses are accessible, and the
 * version.  Called by the program and by other files of api. */
#include "api/api.h"
#include "core/core_device.h"

#include <string.h>

int pshmem_my_pe(void)
{
    core_need_up(__func__);
    return core_world.my_pe;
}
API_ALIAS(shmem_my_pe)

int pshmem_n_pes(void)
{
    core_need_up(__func__);
    return core_world.n_pes;
}
API_ALIAS(shmem_n_pes)

int p_my_pe(void)
{
    return pshmem_my_pe();
}
API_ALIAS(_my_pe)

int p_num_pes(void)
{
    return pshmem_n_pes();
}
API_ALIAS(_num_pes)

int pshmem_pe_accessible(int pe)
{
    core_need_up(__func__);
    return pe >= 0 && pe < core_world.n_pes;
}
API_ALIAS(shmem_pe_accessible)

int pshmem_addr_accessible(const void *addr, int pe)
{
    core_need_up(__func__);
    return pe >= 0 && pe < core_world.n_pes && heap_find(addr, 1) >= 0;
}
API_ALIAS(shmem_addr_accessible)

void *pshmem_ptr(const void *dest, int pe)
{
    core_need_up(__func__);
    if (pe < 0 || pe >= core_world.n_pes)
        return NULL;
    if (pe == core_world.my_pe)
        return heap_find(dest, 1) < 0 || core_device_only(dest) ? NULL
                                                            : (void *)dest;
    return (void *)xport_ptr(pe, dest, 1);
}
API_ALIAS(shmem_ptr)

void pshmem_info_get_version(int *major, int *minor)
{
    *major = SHMEM_MAJOR_VERSION;
    *minor = SHMEM_MINOR_VERSION;
}
API_ALIAS(shmem_info_get_version)

void pshmem_info_get_name(char *name)
{
    memcpy(name, SHMEM_VENDOR_STRING, sizeof SHMEM_VENDOR_STRING);
}
API_ALIAS(shmem_info_get_name)
