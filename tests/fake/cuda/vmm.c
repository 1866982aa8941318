/* SPDX-License-Identifier: BSD-3-Clause */
/* Virtual memory: addresses, memory, mappings, and handles of memory for other
 * processes.
 *
 * The driver says that addresses of reservations are multiples of the host's
 * pages; here they are of the granularity, as all others are. */
#include "fake.h"

#include <errno.h>
#include <string.h>

/* Begins a call; leaves it where there is no such memory. */
#define VMM(name)                               \
    do {                                        \
        CALL(name);                             \
        if (!dev_setup()->vmm)                  \
            return CUDA_ERROR_NOT_SUPPORTED;    \
        UNSAFE();                               \
    } while (0)

static void *at(uint64_t p)
{
    return (void *)(uintptr_t)p;
}

int cuMemAddressReserve(uint64_t *out, size_t size, size_t align, uint64_t at,
                        unsigned long long flags)
{
    void *p;
    int rc;

    VMM("cuMemAddressReserve");
    if (flags || at % DEV_UNIT)         /* else it is a hint */
        return CUDA_ERROR_INVALID_VALUE;
    rc = dev_span_reserve(size, align, &p);
    if (!rc)
        *out = (uintptr_t)p;
    return fake_code(rc);
}

int cuMemAddressFree(uint64_t p, size_t size)
{
    VMM("cuMemAddressFree");
    return fake_code(dev_span_free(at(p), size));
}

/* ---- memory ---- */

/* May this process have handles of these kinds? */
static int types(int wanted)
{
    if (wanted & ~(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR |
                  CU_MEM_HANDLE_TYPE_FABRIC))
        return CUDA_ERROR_INVALID_VALUE;
    if (!(wanted & CU_MEM_HANDLE_TYPE_FABRIC))
        return CUDA_SUCCESS;
    if (dev_setup()->fabric == DEV_NO_FABRIC || fake_version() < 12030)
        return CUDA_ERROR_NOT_SUPPORTED;
    return dev_setup()->fabric == DEV_FABRIC ? CUDA_SUCCESS
                                             : CUDA_ERROR_NOT_PERMITTED;
}

static bool is_device(int type, int id)
{
    return type == CU_MEM_LOCATION_TYPE_DEVICE && id >= 0 &&
           id < dev_setup()->count;
}

static int check(const struct cuda_mem_prop *p)
{
    static const struct cuda_mem_prop none;

    if (!p || p->type != CU_MEM_ALLOCATION_TYPE_PINNED ||
        p->not_here || p->usage || p->compression > 1 ||
        p->rdma > 1 ||
        memcmp(p->reserved, none.reserved, sizeof none.reserved))
        return CUDA_ERROR_INVALID_VALUE;
    if (p->location != CU_MEM_LOCATION_TYPE_DEVICE)
        return CUDA_ERROR_INVALID_VALUE;
    if (!is_device(p->location, p->device))
        return CUDA_ERROR_INVALID_DEVICE;
    if (p->rdma && !dev_setup()->vmm_nic)
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

int cuMemGetAllocationGranularity(size_t *out, const struct cuda_mem_prop *prop,
                                  int option)
{
    int rc;

    VMM("cuMemGetAllocationGranularity");
    rc = check(prop);
    if (rc)
        return rc;
    if (option < 0 || option > CU_MEM_ALLOC_GRANULARITY_RECOMMENDED)
        return CUDA_ERROR_INVALID_VALUE;
    *out = DEV_UNIT;
    return CUDA_SUCCESS;
}

int cuMemCreate(unsigned long long *out, size_t size,
                const struct cuda_mem_prop *prop, unsigned long long flags)
{
    struct dev_kind kind;
    uint64_t handle;
    int rc;

    VMM("cuMemCreate");
    rc = flags ? CUDA_ERROR_INVALID_VALUE : check(prop);
    if (!rc)
        rc = types(prop->handles);
    if (rc)
        return rc;
    kind = (struct dev_kind){ prop->device, prop->handles,
                              prop->rdma };
    rc = dev_piece_new(&kind, size, &handle);
    if (!rc)
        *out = handle;
    return fake_code(rc);
}

/* What is no handle is undefined with the driver. */
int cuMemRelease(unsigned long long handle)
{
    VMM("cuMemRelease");
    return fake_code(dev_piece_release(handle));
}

/* ---- mappings ---- */

int cuMemMap(uint64_t p, size_t size, size_t offset, unsigned long long handle,
             unsigned long long flags)
{
    VMM("cuMemMap");
    if (offset || flags)
        return CUDA_ERROR_INVALID_VALUE;
    return fake_code(dev_piece_map(at(p), size, handle));
}

int cuMemUnmap(uint64_t p, size_t size)
{
    VMM("cuMemUnmap");
    return fake_code(dev_piece_unmap(at(p), size));
}

static int check_access(const struct cuda_mem_access *a)
{
    if (a->location != CU_MEM_LOCATION_TYPE_DEVICE)
        return CUDA_ERROR_INVALID_VALUE;
    if (!is_device(a->location, a->device))
        return CUDA_ERROR_INVALID_DEVICE;
    if (a->flags == 1)          /* to be read: not here */
        return CUDA_ERROR_NOT_SUPPORTED;
    return a->flags && a->flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE
        ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

int cuMemSetAccess(uint64_t p, size_t size,
                   const struct cuda_mem_access *access, size_t n)
{
    int rc = n ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;

    VMM("cuMemSetAccess");
    for (size_t i = 0; i < n && !rc; i++)
        rc = check_access(&access[i]);
    for (size_t i = 0; i < n && !rc; i++) {
        rc = dev_piece_access(access[i].device, at(p), size,
                              access[i].flags);
        rc = rc == -EACCES ? CUDA_ERROR_INVALID_DEVICE
           : rc == -ENOSPC ? CUDA_ERROR_OUT_OF_MEMORY : fake_code(rc);
    }
    return rc;
}

/* ---- other processes ---- */

struct fabric {
    struct dev_name name;
    char rest[64 - sizeof(struct dev_name)];
};
_Static_assert(sizeof(struct fabric) == 64, "a fabric handle");

int cuMemExportToShareableHandle(void *out, unsigned long long handle,
                                 int type, unsigned long long flags)
{
    struct fabric f = { 0 };
    int rc;

    VMM("cuMemExportToShareableHandle");
    if (flags)
        return CUDA_ERROR_INVALID_VALUE;
    if (type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        return fake_code(dev_piece_export(handle, out));
    if (type != CU_MEM_HANDLE_TYPE_FABRIC)
        return CUDA_ERROR_INVALID_VALUE;
    rc = dev_piece_name(handle, &f.name);
    if (!rc)
        memcpy(out, &f, sizeof f);
    return fake_code(rc);
}

int cuMemImportFromShareableHandle(unsigned long long *out, void *os_handle,
                                   int type)
{
    uint64_t handle;
    struct fabric f;
    int rc;

    VMM("cuMemImportFromShareableHandle");
    if (type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) {
        rc = dev_piece_import((int)(intptr_t)os_handle, &handle);
    } else if (type == CU_MEM_HANDLE_TYPE_FABRIC) {
        rc = types(type);
        if (rc)
            return rc;
        memcpy(&f, os_handle, sizeof f);
        rc = dev_piece_import_name(&f.name, &handle);
    } else {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (!rc)
        *out = handle;
    return fake_code(rc);
}
