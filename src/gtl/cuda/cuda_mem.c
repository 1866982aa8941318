/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_mem.c - memory of NVIDIA's devices: allocation, registration of host
 * memory, classification of addresses, and IPC with other processes.
 * cuda_vmm.c has the memory that grows. */
#include "gtl/cuda/cuda_int.h"
#include "base/lock.h"
#include "base/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The driver puts small allocations into one block of this size, which would
 * then be exported as a whole; larger ones it aligns to it. */
static const size_t BLOCK = (size_t)2 << 20;

/* Addresses of ours that are not what the driver gave. */
struct moved {
    struct moved *next;
    uint64_t p, base;
};
static struct base_lock lock = LOCK_INIT;
static struct moved *moved GUARDED_BY(lock);

static int move(uint64_t p, uint64_t base)
{
    struct moved *m;

    if (p == base)
        return 0;
    m = malloc(sizeof *m);
    if (!m)
        return gtl_fail(-ENOMEM, "malloc", strerror(ENOMEM), ENOMEM);
    m->p = p;
    m->base = base;
    lock_acquire(&lock);
    m->next = moved;
    moved = m;
    lock_release(&lock);
    return 0;
}

/* Of what the driver says starts at base: how far in ours starts. */
static uint64_t moved_by(uint64_t base)
{
    uint64_t by = 0;

    lock_acquire(&lock);
    for (struct moved *m = moved; m; m = m->next)
        if (m->base == base)
            by = m->p - base;
    lock_release(&lock);
    return by;
}

/* The address that the driver returned; forget: it is freed. */
static uint64_t base_of(uint64_t p, bool forget)
{
    struct moved **at, *m;
    uint64_t base = p;

    lock_acquire(&lock);
    for (at = &moved; *at && (*at)->p != p; at = &(*at)->next)
        ;
    m = *at;
    if (m) {
        base = m->base;
        if (forget) {
            *at = m->next;
            free(m);
        }
    }
    lock_release(&lock);
    return base;
}

/* The program's own copies and fills of it end before their calls return:
 * else a put that follows could send what was there before. */
static void make_synchronous(uint64_t base)
{
    const unsigned yes = 1;

    if (CU(cuPointerSetAttribute, &yes, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS,
           base))
        log_info(LOG_GTL, "copies onto the device heap by the program end "
                 "after their calls: %s", gtl_error());
}

int gtl_cu_alloc(size_t size, void **out)
{
    uint64_t base, p;
    int rc;

    if (!size)
        return gtl_fail(-EINVAL, "alloc", "no bytes are asked for", 0);
    if (size > SIZE_MAX - 2 * BLOCK)
        return gtl_fail(-ENOMEM, "alloc", "no device is this large", 0);
    size = (size + BLOCK - 1) / BLOCK * BLOCK;
    rc = CU_RELAXED(cuMemAlloc_v2, &base, size);
    if (rc)
        return rc;
    if (base % BLOCK) {
        CU_RELAXED(cuMemFree_v2, base);
        rc = CU_RELAXED(cuMemAlloc_v2, &base, size + BLOCK);
        if (rc)
            return rc;
    }
    p = (base + BLOCK - 1) / BLOCK * BLOCK;
    rc = move(p, base);
    if (rc) {
        CU_RELAXED(cuMemFree_v2, base);
        return rc;
    }
    make_synchronous(base);
    *out = (void *)(uintptr_t)p;
    return 0;
}

void gtl_cu_free(void *p)
{
    if (p && gtl_cu_vmm_owns(p))
        gtl_cu_vmm_free(p);
    else if (p)
        CU_RELAXED(cuMemFree_v2, base_of(gtl_cu_ptr(p), true));
}

int gtl_cu_memory_info(size_t *unused, size_t *total)
{
    size_t u, t;
    int rc = CU_RELAXED(cuMemGetInfo_v2, &u, &t);

    if (!rc) {
        *unused = u;
        *total = t;
    }
    return rc;
}

int gtl_cu_pin(void *host, size_t size, enum gtl_pin why, void **out)
{
    unsigned flags = CU_MEMHOSTREGISTER_PORTABLE |
                     CU_MEMHOSTREGISTER_DEVICEMAP;
    uint64_t seen;
    int rc;

    if (why == GTL_PIN_MMIO)
        flags |= CU_MEMHOSTREGISTER_IOMEMORY;
    rc = CU_RELAXED(cuMemHostRegister_v2, host, size, flags);
    if (rc && why == GTL_PIN_MMIO)
        rc = gtl_fail(rc, "cuMemHostRegister", "another device's registers "
                      "are refused; does the nvidia module have "
                      "NVreg_RegistryDwords=PeerMappingOverride=1?", 0);
    if (rc)
        return rc;
    rc = CU(cuMemHostGetDevicePointer_v2, &seen, host, 0);
    if (!rc && why == GTL_PIN_MEMORY && seen != gtl_cu_ptr(host))
        rc = gtl_fail(-EOPNOTSUPP, "cuMemHostGetDevicePointer", "the device "
                      "sees host memory at another address", 0);
    if (rc) {
        gtl_cu_unpin(host);
        return rc;
    }
    *out = (void *)(uintptr_t)seen;
    return 0;
}

void gtl_cu_unpin(void *host)
{
    CU_RELAXED(cuMemHostUnregister, host);
}

/* This form of the question takes any address and leaves no error behind. */
int gtl_cu_classify(const void *p, struct gtl_range *out)
{
    int which[] = {
        CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
        CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, CU_POINTER_ATTRIBUTE_RANGE_SIZE
    };
    unsigned type = 0, managed = 0;
    uint64_t start = 0, by = 0;
    size_t size = 0;
    void *answers[] = { &type, &managed, &start, &size };
    int rc = CU(cuPointerGetAttributes, 4, which, answers, gtl_cu_ptr(p));

    if (rc)
        return rc;
    out->kind = managed ? GTL_MANAGED :
                type == CU_MEMORYTYPE_DEVICE ? GTL_DEVICE :
                type == CU_MEMORYTYPE_HOST ? GTL_PINNED : GTL_PRIVATE;
    if (out->kind == GTL_DEVICE)
        by = moved_by(start);
    out->base = out->kind == GTL_PRIVATE ? 0 : start + by;
    out->size = out->kind == GTL_PRIVATE ? 0 : size - by;
    return 0;
}

_Static_assert(sizeof(struct gtl_cu_exported) <= sizeof(struct gtl_ipc_handle),
               "handle");

static int short_id(int dev, uint64_t *out)
{
    struct cuda_uuid u;
    int rc = gtl_cu_uuid(dev, &u);

    if (!rc)
        memcpy(out, u.bytes, sizeof *out);
    return rc;
}

int gtl_cu_ipc_export(void *p, struct gtl_ipc_handle *out, int *fd)
{
    uint64_t base = base_of(gtl_cu_ptr(p), false);
    struct gtl_cu_exported l = { .kind = GTL_CU_IPC,
                             .offset = gtl_cu_ptr(p) - base };
    int rc = short_id(gtl_cu_device.dev, &l.device);

    *fd = -1;
    if (!rc)
        rc = gtl_cu_vmm_owns(p) ? gtl_cu_vmm_export(p, &l, fd)
                             : CU_RELAXED(cuIpcGetMemHandle, &l.ipc, base);
    if (!rc)
        memcpy(out->bytes, &l, sizeof l);
    return rc;
}

/* False: this process does not see the device at all. */
static bool find_device(uint64_t device, int *out)
{
    uint64_t id;
    int n = 0, dev;

    gtl_cu.cuDeviceGetCount(&n);
    while (n-- > 0) {
        if (!gtl_cu.cuDeviceGet(&dev, n) && !short_id(dev, &id) &&
            id == device) {
            *out = dev;
            return true;
        }
    }
    return false;
}

/* Each has another cure. */
static int why_not(uint64_t device, const char *call, int rc)
{
    char pci[16] = "?";
    int dev, can = 1;

    if (!find_device(device, &dev))
        return gtl_fail(-ENODEV, call, "the memory is of a device that this "
                        "process does not see", 0);
    if (dev == gtl_cu_device.dev)
        return rc;
    gtl_cu.cuDeviceCanAccessPeer(&can, gtl_cu_device.dev, dev);
    gtl_cu.cuDeviceGetPCIBusId(pci, sizeof pci, dev);
    return gtl_fail_peer(rc, can, gtl_device.pci, pci);
}

bool gtl_cu_atomic(const struct gtl_ipc_handle *h)
{
    struct gtl_cu_exported l;
    uint64_t ours;
    int dev, yes = 0;

    memcpy(&l, h->bytes, sizeof l);
    if (!find_device(l.device, &dev))
        return !short_id(gtl_cu_device.dev, &ours) &&
               gtl_cu_hidden_atomic(ours, l.device);
    if (dev == gtl_cu_device.dev)
        return true;
    return !CU(cuDeviceGetP2PAttribute, &yes,
               CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED,
               gtl_cu_device.dev, dev) && yes;
}

static int open_ipc(const struct gtl_cu_exported *l, void **out)
{
    uint64_t base;
    int rc = CU_RELAXED(cuIpcOpenMemHandle_v2, &base, l->ipc,
                      CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);

    if (rc)
        return rc;
    rc = move(base + l->offset, base);
    if (rc) {
        CU_RELAXED(cuIpcCloseMemHandle, base);
        return rc;
    }
    *out = (void *)(uintptr_t)(base + l->offset);
    return 0;
}

int gtl_cu_ipc_open(const struct gtl_ipc_handle *h, int fd, void **at)
{
    struct gtl_cu_exported l;
    int rc;

    memcpy(&l, h->bytes, sizeof l);
    if (l.kind > GTL_CU_CHUNK)
        return gtl_fail(-EINVAL, "ipc_open", "this is no handle of CUDA's", 0);
    rc = l.kind == GTL_CU_IPC ? open_ipc(&l, at)
                              : gtl_cu_vmm_import(&l, fd, at);
    if (rc)
        rc = why_not(l.device, l.kind == GTL_CU_IPC ? "cuIpcOpenMemHandle"
                     : "cuMemSetAccess", rc);
    return rc;
}

void gtl_cu_ipc_close(void *p)
{
    if (p && gtl_cu_vmm_owns(p))
        gtl_cu_vmm_free(p);
    else if (p)
        CU_RELAXED(cuIpcCloseMemHandle, base_of(gtl_cu_ptr(p), true));
}

int gtl_cu_dmabuf(void *p, size_t size, int *fd, uint64_t *offset)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t from = gtl_cu_ptr(p) / page * page;
    uint64_t to = (gtl_cu_ptr(p) + size + page - 1) / page * page;
    int made = -1, rc;

    if (!gtl_cu.cuMemGetHandleForAddressRange)
        return gtl_fail(-ENOSYS, "cuMemGetHandleForAddressRange",
                        "the driver is older than CUDA 11.7", 0);
    rc = CU_RELAXED(cuMemGetHandleForAddressRange, &made, from, to - from,
            CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0);
    if (rc)
        return rc;
    *fd = made;
    *offset = gtl_cu_ptr(p) - from;
    return 0;
}
