/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory and what is known of addresses. */
#include "fake.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static bool bare(void)
{
    return dev_setup()->is == DEV_BARE;
}

int cuMemAlloc_v2(uint64_t *out, size_t size)
{
    struct context *c;
    void *p;
    int rc;

    CALL_IN("cuMemAlloc_v2", &c);
    UNSAFE();
    if (!size)
        return CUDA_ERROR_INVALID_VALUE;
    /* Large ones are aligned to the device's pages, as long as that is large
     * ones. */
    rc = dev_alloc(c->dev, size, bare() || size < 1 << 20 ? 4096 : 2 << 20, 0,
                   &p);
    if (!rc)
        *out = (uintptr_t)p;
    return fake_code(rc);
}

int cuMemAllocManaged(uint64_t *out, size_t size, unsigned flags)
{
    struct context *c;
    void *p;
    int rc;

    (void)flags;
    CALL_IN("cuMemAllocManaged", &c);
    UNSAFE();
    rc = dev_alloc_host(size, MANAGED, &p);
    if (!rc)
        *out = (uintptr_t)p;
    return fake_code(rc);
}

int cuMemFree_v2(uint64_t p)
{
    struct dev_range r;
    struct context *c;

    CALL_IN("cuMemFree_v2", &c);
    UNSAFE();
    if (!p)
        return CUDA_SUCCESS;
    if (dev_pool_going((void *)(uintptr_t)p))
        return CUDA_ERROR_INVALID_VALUE;
    /* For memory of a pool it waits for nothing. */
    if (!dev_find((void *)(uintptr_t)p, &r) || !(r.flags & DEV_POOLED))
        dev_sync_all(c->dev);
    if (dev_free((void *)(uintptr_t)p))
        return fake_code(dev_free_host((void *)(uintptr_t)p));
    return CUDA_SUCCESS;
}

int cuMemGetInfo_v2(size_t *unused, size_t *total)
{
    struct context *c;

    CALL_IN("cuMemGetInfo_v2", &c);
    dev_room(c->dev, unused, total);
    return CUDA_SUCCESS;
}

int cuMemHostAlloc(void **out, size_t size, unsigned flags)
{
    struct context *c;

    CALL_IN("cuMemHostAlloc", &c);
    UNSAFE();
    return fake_code(dev_alloc_host(size, flags, out));
}

int cuMemFreeHost(void *host)
{
    struct context *c;

    CALL_IN("cuMemFreeHost", &c);
    UNSAFE();
    return fake_code(dev_free_host(host));
}

/* Is there memory at all? */
static bool mapped(void *host, size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uintptr_t from = (uintptr_t)host / page * page;
    uintptr_t to = ((uintptr_t)host + size + page - 1) / page * page;
    unsigned char seen[4096];   /* of a page each */

    for (size_t n; from < to; from += n) {
        n = to - from < page * sizeof seen ? to - from : page * sizeof seen;
        if (mincore((void *)from, n, seen) && errno == ENOMEM)
            return false;
    }
    return true;
}

int cuMemHostRegister_v2(void *host, size_t size, unsigned flags)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct context *c;

    CALL_IN("cuMemHostRegister_v2", &c);
    UNSAFE();
    if (!host || !size || flags > 15)
        return CUDA_ERROR_INVALID_VALUE;
    if (bare() && (flags & CU_MEMHOSTREGISTER_IOMEMORY))
        return CUDA_ERROR_NOT_SUPPORTED;
    /* Pages of another device are mapped whole, or not at all. */
    if (flags & CU_MEMHOSTREGISTER_IOMEMORY &&
        ((uintptr_t)host % page || size % page))
        return CUDA_ERROR_INVALID_VALUE;
    if (!mapped(host, size))
        return CUDA_ERROR_INVALID_VALUE;
    return fake_code(dev_pin(host, size, flags));
}

int cuMemHostUnregister(void *host)
{
    struct context *c;

    CALL_IN("cuMemHostUnregister", &c);
    UNSAFE();
    return dev_unpin(host) ? CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED
                           : CUDA_SUCCESS;
}

int cuMemHostGetDevicePointer_v2(uint64_t *out, void *host, unsigned flags)
{
    struct dev_range r;
    struct context *c;

    CALL_IN("cuMemHostGetDevicePointer_v2", &c);
    if (flags || !dev_find(host, &r) || r.where != DEV_PINNED)
        return CUDA_ERROR_INVALID_VALUE;
    *out = (uintptr_t)host;
    return CUDA_SUCCESS;
}

/* Of an address in a reservation, the environment says which range. */
static void widen(uint64_t p, struct dev_range *r)
{
    if (dev_setup()->reserved)
        dev_span_around((void *)(uintptr_t)p, &r->base, &r->size);
}

static bool shares(const struct dev_range *r)
{
    return r->where == DEV_MEMORY && !(r->flags & (DEV_SPANNED | DEV_POOLED));
}

/* Of memory that is known. */
static int attribute(int which, uint64_t p, struct dev_range *r, void *out)
{
    struct dev_kind kind = { 0 };
    bool spans = !dev_piece_kind((void *)(uintptr_t)p, &kind);

    switch (which) {
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *(unsigned *)out = r->where == DEV_PINNED ? CU_MEMORYTYPE_HOST
                                                  : CU_MEMORYTYPE_DEVICE;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        *(unsigned *)out = !!(r->flags & MANAGED);
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *(int *)out = r->device;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
        *(uint64_t *)out = r->base;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
        *(size_t *)out = r->size;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        widen(p, r);
        *(uint64_t *)out = r->base;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        widen(p, r);
        *(size_t *)out = r->size;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MAPPED:
        *(unsigned *)out = 1;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
        *(unsigned *)out = shares(r) && !bare();
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
        *(uint64_t *)out = (uint64_t)kind.types;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
        *(unsigned *)out = !bare() && (spans ? kind.nic : shares(r));
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_VALUE;
}

/* Of others, all is zero. */
static int nothing(int which, void *out)
{
    struct dev_range none = { .where = DEV_NOWHERE };
    uint64_t zero = 0;
    int rc = attribute(which, 0, &none, &zero);

    if (!rc)
        memset(out, 0, which == CU_POINTER_ATTRIBUTE_RANGE_START_ADDR ||
                       which == CU_POINTER_ATTRIBUTE_RANGE_SIZE ||
                       which == CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR ||
                       which == CU_POINTER_ATTRIBUTE_MAPPING_SIZE ||
                       which == CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES
                       ? 8 : 4);
    return rc;
}

/* Any address may be asked for; what does not apply is zero. */
int cuPointerGetAttributes(unsigned n, int *attributes, void **out,
                           uint64_t p)
{
    struct dev_range r;
    struct context *c;
    int rc = CUDA_SUCCESS;
    bool known;

    CALL_IN("cuPointerGetAttributes", &c);
    known = dev_find((void *)(uintptr_t)p, &r) &&
            !dev_pool_going((void *)(uintptr_t)p);
    for (unsigned i = 0; i < n && !rc; i++) {
        struct dev_range one = r;

        rc = known ? attribute(attributes[i], p, &one, out[i])
                   : nothing(attributes[i], out[i]);
    }
    return rc;
}

_Static_assert(sizeof(struct dev_export) <= sizeof(struct cuda_ipc), "handle");

int cuIpcGetMemHandle(struct cuda_ipc *out, uint64_t p)
{
    struct dev_export e;
    struct context *c;
    int rc;

    CALL_IN("cuIpcGetMemHandle", &c);
    UNSAFE();
    if (bare())
        return CUDA_ERROR_NOT_SUPPORTED;
    rc = dev_export_memory((void *)(uintptr_t)p, &e);
    if (rc)
        return fake_code(rc);
    memset(out, 0, sizeof *out);
    memcpy(out->bytes, &e, sizeof e);
    return CUDA_SUCCESS;
}

int cuIpcOpenMemHandle_v2(uint64_t *out, struct cuda_ipc handle,
                          unsigned flags)
{
    struct dev_export e;
    struct context *c;
    void *p;
    int rc;

    CALL_IN("cuIpcOpenMemHandle_v2", &c);
    UNSAFE();
    if (flags != CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS)
        return CUDA_ERROR_INVALID_VALUE;
    if (bare())
        return CUDA_ERROR_NOT_SUPPORTED;
    memcpy(&e, handle.bytes, sizeof e);
    rc = dev_open_memory(c->dev, &e, &p);
    if (!rc)
        *out = (uintptr_t)p;
    return fake_code(rc);
}

int cuIpcCloseMemHandle(uint64_t p)
{
    struct context *c;

    CALL_IN("cuIpcCloseMemHandle", &c);
    UNSAFE();
    return fake_code(dev_give_back((void *)(uintptr_t)p));
}

int cuMemGetHandleForAddressRange(void *out, uint64_t p, size_t size,
                                  int kind, unsigned long long flags)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), offset;
    struct context *c;

    CALL_IN("cuMemGetHandleForAddressRange", &c);
    if (bare())
        return CUDA_ERROR_NOT_SUPPORTED;
    if (kind != CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD || flags || p % page ||
        size % page)
        return CUDA_ERROR_INVALID_VALUE;
    return fake_code(dev_dmabuf((void *)(uintptr_t)p, size, out, &offset));
}
