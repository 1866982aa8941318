/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_vmm.c - memory of NVIDIA's devices that grows: a range of addresses,
 * behind which memory is mapped chunk by chunk. A chunk is exported by a file
 * descriptor, by a fabric handle, which is bytes, or by either. A process
 * that imports it reserves a range of its own, with the same chunks at the
 * same distances. */
#include "gtl/cuda/cuda_int.h"
#include "base/env.h"
#include "base/fd.h"
#include "base/lock.h"
#include "base/log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHUNKS = 400 };
/* Chunks are multiples of it, and ranges are aligned to it. */
static const size_t UNIT = (size_t)2 << 20;

struct range {
    struct range *next;
    uint64_t base;
    size_t most, end;           /* of addresses; of memory behind them */
    int n;
    struct {
        unsigned long long memory;
        size_t size;
    } chunk[CHUNKS];
};

static struct base_lock lock = LOCK_INIT;
static struct range *ranges GUARDED_BY(lock);
/* Of what is made from now on: kinds of handles, and may a NIC reach it? */
static int kinds, rdma;
static bool made_synchronous;  /* the context, by this driver */

static struct cuda_mem_prop properties(void)
{
    return (struct cuda_mem_prop){
        .type = CU_MEM_ALLOCATION_TYPE_PINNED, .handles = kinds,
        .location = CU_MEM_LOCATION_TYPE_DEVICE, .device = gtl_cu_device.dev,
        .rdma = (unsigned char)rdma
    };
}

/* A range is used by one thread at a time, but for the list. */
static struct range *find(const void *p) LOCK_ATTR(no_thread_safety_analysis)
{
    struct range *r;

    lock_acquire(&lock);
    for (r = ranges; r && r->base != gtl_cu_ptr(p); r = r->next)
        ;
    lock_release(&lock);
    return r;
}

bool gtl_cu_vmm_owns(const void *p)
{
    return find(p);
}

static int reserve(size_t most, void **out)
{
    struct range *r;
    int rc;

    if (!most || most > SIZE_MAX - UNIT)
        return gtl_fail(-EINVAL, "reserve", "no such size", 0);
    r = calloc(1, sizeof *r);
    if (!r)
        return gtl_fail(-ENOMEM, "malloc", strerror(ENOMEM), ENOMEM);
    r->most = (most + UNIT - 1) / UNIT * UNIT;
    rc = CU_RELAXED(cuMemAddressReserve, &r->base, r->most, UNIT, 0, 0);
    if (rc) {
        free(r);
        return rc;
    }
    lock_acquire(&lock);
    r->next = ranges;
    ranges = r;
    lock_release(&lock);
    *out = (void *)(uintptr_t)r->base;
    return 0;
}

/* The program's own copies and fills end before their calls return, as
 * CU_POINTER_ATTRIBUTE_SYNC_MEMOPS has it for other memory, until close. */
static int make_synchronous(void)
{
    unsigned flags = 0;
    int rc = CU_RELAXED(cuCtxGetFlags, &flags);

    if (rc || flags & CU_CTX_SYNC_MEMOPS)
        return rc;
    rc = CU_RELAXED(cuCtxSetFlags, flags | CU_CTX_SYNC_MEMOPS);
    made_synchronous |= !rc;
    return rc;
}

void gtl_cu_vmm_close(void)
{
    unsigned flags;

    if (made_synchronous && !CU_RELAXED(cuCtxGetFlags, &flags))
        CU_RELAXED(cuCtxSetFlags, flags & ~(unsigned)CU_CTX_SYNC_MEMOPS);
    made_synchronous = false;
}

int gtl_cu_reserve(size_t most, void **out)
{
    int rc;

    if (gtl_device.why_fixed)
        return gtl_fail(-ENOSYS, "reserve", gtl_device.why_fixed, 0);
    rc = make_synchronous();
    return rc ? rc : reserve(most, out);
}

/* Takes the memory over, also where it fails. */
static int append(struct range *r, unsigned long long memory, size_t size)
{
    const struct cuda_mem_access ours = {
        CU_MEM_LOCATION_TYPE_DEVICE, gtl_cu_device.dev,
        CU_MEM_ACCESS_FLAGS_PROT_READWRITE
    };
    uint64_t at = r->base + r->end;
    int rc = CU_RELAXED(cuMemMap, at, size, 0, memory, 0);

    if (!rc) {
        rc = CU_RELAXED(cuMemSetAccess, at, size, &ours, 1);
        if (rc)
            gtl_cu.cuMemUnmap(at, size);
    }
    if (rc) {
        gtl_cu.cuMemRelease(memory);
        return rc;
    }
    r->chunk[r->n].memory = memory;
    r->chunk[r->n++].size = size;
    r->end += size;
    return 0;
}

static int check_room(const struct range *r, size_t size)
{
    if (r && size && size % UNIT == 0 && size <= r->most - r->end &&
        r->n < CHUNKS)
        return 0;
    return gtl_fail(-EINVAL, "grow", "no such range, or no room in it", 0);
}

int gtl_cu_grow(void *p, size_t size)
{
    const struct cuda_mem_prop prop = properties();
    unsigned long long memory;
    struct range *r = find(p);
    int rc = check_room(r, size);

    if (!rc)
        rc = CU_RELAXED(cuMemCreate, &memory, size, &prop, 0);
    return rc ? rc : append(r, memory, size);
}

static void unmap_last(struct range *r)
{
    size_t size = r->chunk[--r->n].size;

    r->end -= size;
    CU_RELAXED(cuMemUnmap, r->base + r->end, size);
    CU_RELAXED(cuMemRelease, r->chunk[r->n].memory);
}

void gtl_cu_shrink(void *p)
{
    struct range *r = find(p);

    if (r && r->n)
        unmap_last(r);
}

void gtl_cu_vmm_free(void *p) LOCK_ATTR(no_thread_safety_analysis)
{
    struct range *r = find(p), **at = &ranges;

    if (!r)
        return;
    while (r->n)
        unmap_last(r);
    CU_RELAXED(cuMemAddressFree, r->base, r->most);
    lock_acquire(&lock);
    while (*at != r)
        at = &(*at)->next;
    *at = r->next;
    lock_release(&lock);
    free(r);
}

int gtl_cu_vmm_export(void *p, struct gtl_cu_exported *out, int *fd)
{
    struct range *r = find(p);
    unsigned long long memory;
    int rc = -ENOSYS;

    if (!r || !r->n)
        return gtl_fail(-EINVAL, "ipc_export", "no memory is there yet", 0);
    memory = r->chunk[r->n - 1].memory;
    out->size = r->chunk[r->n - 1].size;
    out->offset = r->end - out->size;
    out->most = r->most;
    out->kind = GTL_CU_CHUNK;
    if (kinds & CU_MEM_HANDLE_TYPE_FABRIC)
        rc = CU_RELAXED(cuMemExportToShareableHandle, &out->fabric, memory,
                      CU_MEM_HANDLE_TYPE_FABRIC, 0);
    out->has_fabric = !rc;
    if (!(kinds & CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR))
        return rc;
    rc = CU_RELAXED(cuMemExportToShareableHandle, fd, memory,
                  CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
    if (rc)
        return out->has_fabric ? 0 : rc;
    *fd = fd_keep(*fd);
    if (*fd < 0 && !out->has_fabric)
        return gtl_fail(-EMFILE, "ipc_export", "no file descriptor is left",
                        EMFILE);
    return 0;
}

static int import(const struct gtl_cu_exported *l, int fd,
                  unsigned long long *out)
{
    char fabric[sizeof l->fabric];
    int rc = -EINVAL;

    memcpy(fabric, l->fabric, sizeof fabric);
    if (fd < 0 && !l->has_fabric)
        return gtl_fail(rc, "ipc_open",
                        "its file descriptor did not come along", 0);
    if (fd >= 0)
        rc = CU_RELAXED(cuMemImportFromShareableHandle, out,
                      (void *)(intptr_t)fd,
                      CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    if (rc && l->has_fabric)
        rc = CU_RELAXED(cuMemImportFromShareableHandle, out, fabric,
                      CU_MEM_HANDLE_TYPE_FABRIC);
    return rc;
}

int gtl_cu_vmm_import(const struct gtl_cu_exported *l, int fd, void **at)
{
    bool first = !*at;
    unsigned long long memory;
    struct range *r;
    int rc = first ? reserve((size_t)l->most, at) : 0;

    if (rc)
        return rc;
    r = find(*at);
    rc = check_room(r, (size_t)l->size);
    if (!rc && l->offset != r->end)
        rc = gtl_fail(-EINVAL, "ipc_open", "not the chunk that follows", 0);
    if (!rc)
        rc = import(l, fd, &memory);
    if (!rc)
        rc = append(r, memory, (size_t)l->size);
    if (rc && first) {
        gtl_cu_vmm_free(*at);
        *at = NULL;
    }
    return rc;
}

/* ---- can it be had? ---- */

static bool fits_units(void)
{
    const struct cuda_mem_prop prop = properties();
    size_t unit;

    return !CU_RELAXED(cuMemGetAllocationGranularity, &unit, &prop,
                     CU_MEM_ALLOC_GRANULARITY_RECOMMENDED) &&
           unit && UNIT % unit == 0;
}

/* By doing it: some modes of the device and containers forbid it. */
static bool trial(void)
{
    struct gtl_cu_exported l = { .device = 0 };
    int fd = -1, rc;
    void *p;

    if (reserve(UNIT, &p))
        return false;
    rc = gtl_cu_grow(p, UNIT);
    if (!rc)
        rc = gtl_cu_vmm_export(p, &l, &fd);
    if (fd >= 0)
        close(fd);
    gtl_cu_vmm_free(p);
    return !rc;
}

/* Some sites have fabric handles and do not permit them. */
static bool any_kind(bool fds, bool fabric)
{
    kinds = fds ? CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR : 0;
    if (fabric) {
        kinds |= CU_MEM_HANDLE_TYPE_FABRIC;
        if (trial())
            return true;
        kinds &= ~CU_MEM_HANDLE_TYPE_FABRIC;
    }
    return kinds && trial();
}

const char *gtl_cu_why_fixed(const struct gtl_cu_features *can)
{
    static char text[160];

    kinds = 0;
    rdma = can->rdma;
    if (!env.DEVICE_VMM)
        return "SHMEM_DEVICE_VMM is 0";
    if (!can->vmm || !gtl_cu.cuMemCreate || !gtl_cu.cuMemSetAccess ||
        !gtl_cu.cuMemImportFromShareableHandle)
        return "the device or its driver manages no virtual memory";
    if (!can->fds && !can->fabric)
        return "other processes cannot open such memory";
    if (can->nics && !can->rdma)
        return "NICs do not reach such memory, and reach other memory";
    if (!fits_units())
        return "its pages are larger than 2 MiB";
    if (!gtl_cu.cuCtxGetFlags || !gtl_cu.cuCtxSetFlags ||
        can->driver < 12010)
        return "the driver, older than CUDA 12.1, has no CU_CTX_SYNC_MEMOPS";
    if (any_kind(can->fds, can->fabric))
        return NULL;
    snprintf(text, sizeof text, "%s", gtl_error());
    return text;
}

const char *gtl_cu_vmm_export_kind(void)
{
    bool fds = kinds & CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;

    return !(kinds & CU_MEM_HANDLE_TYPE_FABRIC) ? "file descriptors"
           : fds ? "file descriptors or fabric handles" : "fabric handles";
}
