/* SPDX-License-Identifier: BSD-3-Clause */
/* hip_mem.c - memory of AMD's GPUs: allocation, registration of host memory,
 * classification of addresses, and IPC with other processes.  The slots of
 * gtl_hip (hip.c) lead here, and the driver's own files call it. */
#include "gtl/hip/hip_int.h"
#include "base/lock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The alignment that alloc() promises; hipMalloc() only tends to. */
#define ALIGN ((size_t)2 << 20)

/* Where the runtime's address is not the one that we have given out. */
struct place {
    struct place *next;
    char *at;
    size_t size;                /* of pinned memory; else 1 */
    void *theirs;
    bool ours;                  /* not pinned by the program */
};

/* How struct gtl_ipc_handle is filled. */
struct hip_exported {
    struct hip_ipc_mem memory;
    uint64_t offset;
    uint64_t device;            /* gtl_hip_state.id */
};
_Static_assert(sizeof(struct hip_exported) <= sizeof(struct gtl_ipc_handle),
               "a handle holds what HIP wants to know");

static struct base_lock lock = LOCK_INIT;
static struct place *allocated GUARDED_BY(lock);
static struct place *opened GUARDED_BY(lock);
static struct place *pinned GUARDED_BY(lock);
/* Some pinned memory is elsewhere for the device; never false again. */
static bool moved;

static int add_place(struct place **list, void *at, size_t size, void *theirs,
                    bool ours)
    LOCK_ATTR(no_thread_safety_analysis)
{
    struct place *p = malloc(sizeof *p);

    if (!p)
        return gtl_fail(-ENOMEM, "malloc", "no memory", ENOMEM);
    *p = (struct place){ .at = at, .size = size, .theirs = theirs,
                         .ours = ours };
    lock_acquire(&lock);
    p->next = *list;
    *list = p;
    lock_release(&lock);
    return 0;
}

/* False: it is none of the list. */
static bool remove_place(struct place **list, const void *at, void **theirs,
                   bool *ours)
    LOCK_ATTR(no_thread_safety_analysis)
{
    struct place *p;

    lock_acquire(&lock);
    while (*list && (*list)->at != at)
        list = &(*list)->next;
    p = *list;
    if (p)
        *list = p->next;
    lock_release(&lock);
    if (!p)
        return false;
    *theirs = p->theirs;
    *ours = p->ours;
    free(p);
    return true;
}

static void *find(struct place **list, const void *at)
    LOCK_ATTR(no_thread_safety_analysis)
{
    void *theirs = NULL;
    struct place *p;

    lock_acquire(&lock);
    for (p = *list; p; p = p->next) {
        if ((uintptr_t)at - (uintptr_t)p->at < p->size) {
            theirs = p->theirs;
            break;
        }
    }
    lock_release(&lock);
    return theirs;
}

/* Some allocation does not begin where it is aligned; never false again. */
static bool shifted;

static int query_pointer(void **out, size_t size)
{
    return gtl_hip_state.grain
        ? HIP(ExtMallocWithFlags, out, size, gtl_hip_state.grain)
        : HIP(Malloc, out, size);
}

/* Asks for as much as is needed, and for more only where that is not
 * aligned. */
static int get_memory(size_t size, void **raw, void **out)
{
    int rc = query_pointer(raw, size);

    if (rc || !((uintptr_t)*raw % ALIGN)) {
        *out = *raw;
        return rc;
    }
    HIP(Free, *raw);
    rc = query_pointer(raw, size + ALIGN);
    if (rc)
        return rc;
    *out = (char *)*raw + (ALIGN - (uintptr_t)*raw % ALIGN) % ALIGN;
    __atomic_store_n(&shifted, true, __ATOMIC_RELEASE);
    return 0;
}

int gtl_hip_alloc(size_t size, void **out)
{
    void *raw = NULL, *p = NULL;
    int was, rc;

    if (!size || size > PTRDIFF_MAX - ALIGN)
        return gtl_fail(size ? -ENOMEM : -EINVAL, "hipMalloc",
                        "no such size", 0);
    was = gtl_hip_enter_relaxed();
    rc = get_memory((size + ALIGN - 1) / ALIGN * ALIGN, &raw, &p);
    if (!rc) {
        rc = add_place(&allocated, p, 1, raw, true);
        if (rc)
            HIP(Free, raw);
    }
    gtl_hip_leave_relaxed(was);
    if (!rc)
        *out = p;
    return rc;
}

void gtl_hip_free(void *p)
{
    int was = gtl_hip_enter_relaxed();
    void *raw;
    bool ours;

    if (remove_place(&allocated, p, &raw, &ours))
        HIP(Free, raw);
    gtl_hip_leave_relaxed(was);
}

int gtl_hip_memory_info(size_t *unused, size_t *total)
{
    int was = gtl_hip_enter_relaxed();
    size_t u = 0, t = 0;
    int rc = HIP(MemGetInfo, &u, &t);

    gtl_hip_leave_relaxed(was);
    if (!rc) {
        *unused = u;
        *total = t;
    }
    return rc;
}

/* -EEXIST: we have pinned it, or it is not the whole that is registered. */
static int check_registered(char *host, size_t size)
{
    void *base = NULL;
    size_t all = 0;
    int rc;

    if (find(&pinned, host))
        return gtl_fail(-EEXIST, "hipHostRegister", "pinned before", 0);
    rc = HIP(MemGetAddressRange, &base, &all, host);
    if (!rc && (size_t)(host - (char *)base) + size > all)
        rc = gtl_fail(-EEXIST, "hipHostRegister",
                      "a part of it is registered", 0);
    return rc;
}

/* Up to version 7.0 the runtime refuses the flag for registers of other
 * devices, and maps them without it, if the kernel's driver does. */
static int register_io(void *host, size_t size)
{
    int rc = HIP(HostRegister, host, size, HIP_REGISTER_PORTABLE |
                 HIP_REGISTER_MAPPED | HIP_REGISTER_IO_MEMORY);

    if (rc == -EINVAL)
        rc = HIP(HostRegister, host, size, 0);
    if (rc == -EINVAL)
        rc = gtl_fail(rc, "hipHostRegister", "another device's registers are "
                      "refused; ROCm's amdgpu driver (amdgpu-dkms) maps them, "
                      "the kernel's own does not", 0);
    return rc;
}

/* Memory that the program has registered itself is pinned all the same; it
 * is the program that ends that. */
int gtl_hip_pin(void *host, size_t size, enum gtl_pin why, void **out)
{
    int was = gtl_hip_enter_relaxed(), rc;
    bool ours;
    void *seen = host;

    rc = why == GTL_PIN_MMIO ? register_io(host, size)
         : HIP(HostRegister, host, size,
               HIP_REGISTER_PORTABLE | HIP_REGISTER_MAPPED);
    ours = !rc;
    if (rc == -EEXIST)
        rc = check_registered(host, size);
    if (rc)
        goto leave;
    rc = HIP(HostGetDevicePointer, &seen, host, 0);
    if (!rc)
        rc = add_place(&pinned, host, size, seen, ours);
    if (rc && ours)
        HIP(HostUnregister, host);
    if (rc)
        goto leave;
    if (seen != host)
        __atomic_store_n(&moved, true, __ATOMIC_RELEASE);
    *out = seen;
leave:
    gtl_hip_leave_relaxed(was);
    return rc;
}

void gtl_hip_unpin(void *host)
{
    int was = gtl_hip_enter_relaxed();
    void *seen;
    bool ours;

    if (remove_place(&pinned, host, &seen, &ours) && ours)
        HIP(HostUnregister, host);
    gtl_hip_leave_relaxed(was);
}

void *gtl_hip_device_address(const void *p) LOCK_ATTR(no_thread_safety_analysis)
{
    void *q = (void *)(uintptr_t)p;

    if (!__atomic_load_n(&moved, __ATOMIC_ACQUIRE))
        return q;
    lock_acquire(&lock);
    for (struct place *i = pinned; i; i = i->next) {
        size_t at = (uintptr_t)p - (uintptr_t)i->at;

        if (at < i->size) {
            q = (char *)i->theirs + at;
            break;
        }
    }
    lock_release(&lock);
    return q;
}

/* The numbers of the memory types changed with version 6. */
static enum gtl_memory_kind kind_of(const struct hip_pointer *a)
{
    if (a->managed)
        return GTL_MANAGED;
    if (gtl_hip_state.major < 6) {
        if (a->type == HIP_HOST_5)
            return GTL_PINNED;
        return a->type == HIP_MANAGED_5 ? GTL_MANAGED : GTL_DEVICE;
    }
    switch (a->type) {
    case HIP_UNREGISTERED_6:
        return GTL_PRIVATE;
    case HIP_HOST_6:
        return GTL_PINNED;
    case HIP_MANAGED_6:
        return GTL_MANAGED;
    default:
        return GTL_DEVICE;
    }
}

/* From what alloc() gave on, where p is behind that. */
static void skip_unaligned(uintptr_t p, struct gtl_range *r)
    LOCK_ATTR(no_thread_safety_analysis)
{
    if (!__atomic_load_n(&shifted, __ATOMIC_ACQUIRE))
        return;
    lock_acquire(&lock);
    for (struct place *i = allocated; i; i = i->next) {
        uintptr_t at = (uintptr_t)i->at;

        if (i->theirs == (void *)r->base && p >= at) {
            r->size -= at - r->base;
            r->base = at;
            break;
        }
    }
    lock_release(&lock);
}

int gtl_hip_classify(const void *p, struct gtl_range *out)
{
    struct hip_pointer a = { .device = 0 };
    struct gtl_range r = { .kind = GTL_PRIVATE };
    int was = gtl_hip_enter(), rc;
    void *base = NULL;

    /* Invalid, it says, of what it does not know. */
    rc = HIP(PointerGetAttributes, &a, p);
    if (!rc)
        r.kind = kind_of(&a);
    else if (rc == -EINVAL)
        rc = 0;
    if (!rc && r.kind != GTL_PRIVATE) {
        if (HIP(MemGetAddressRange, &base, &r.size, (void *)(uintptr_t)p)) {
            base = (void *)(uintptr_t)p;
            r.size = 1;
        }
        r.base = (uintptr_t)base;
        skip_unaligned((uintptr_t)p, &r);
    }
    gtl_hip_leave(was);
    if (!rc)
        *out = r;
    return rc;
}

bool gtl_hip_host_accessible(const void *p)
{
    struct gtl_range r;

    return gtl_device.host_access ||
           (!gtl_hip_classify(p, &r) && r.kind != GTL_DEVICE);
}

int gtl_hip_ipc_export(void *p, struct gtl_ipc_handle *out, int *fd)
{
    struct hip_exported l = { .offset = 0 };
    int was = gtl_hip_enter_relaxed(), rc;
    void *raw = find(&allocated, p);

    *fd = -1;
    rc = raw ? HIP(IpcGetMemHandle, &l.memory, raw)
             : gtl_fail(-EINVAL, "ipc_export", "not memory of alloc()", 0);
    gtl_hip_leave_relaxed(was);
    if (rc)
        return rc;
    l.offset = (uintptr_t)p - (uintptr_t)raw;
    l.device = gtl_hip_state.id;
    memset(out, 0, sizeof *out);
    memcpy(out->bytes, &l, sizeof l);
    return 0;
}

/* Each version insists on the flag that its own header has. */
static int open_handle(const struct hip_exported *l, void **out)
{
    int rc = HIP(IpcOpenMemHandle, out, l->memory, HIP_IPC_LAZY_PEER_6);

    if (rc == -EINVAL)
        rc = HIP(IpcOpenMemHandle, out, l->memory, HIP_IPC_LAZY_PEER_5);
    return rc;
}

/* False: this process does not see the device at all. */
static bool find_device(uint64_t id, int *out, struct gtl_device *d)
{
    int n = 0;

    HIP(GetDeviceCount, &n);
    while (n-- > 0) {
        gtl_hip_identify(n, d);
        if (gtl_id_hash(d->id) == id) {
            *out = n;
            return true;
        }
    }
    return false;
}

/* Each cause has another remedy.  The runtime's error is kept. */
static int why_not(uint64_t id, int rc)
{
    struct gtl_device d;
    int device, can = 1;

    if (!find_device(id, &device, &d))
        return gtl_fail(-ENODEV, "hipIpcOpenMemHandle", "the memory is of a "
                        "device that this process does not see", 0);
    if (device == gtl_hip_state.device)
        return rc;
    if (gtl_hip_rt.DeviceCanAccessPeer(&can, gtl_hip_state.device, device))
        gtl_hip_rt.GetLastError();
    return gtl_fail_peer(rc, can, gtl_device.pci, d.pci);
}

/* Access to another device's memory, once for each: the flag of the call that
 * opens a handle does not give it to all copies.  It stays, for the program may
 * count on it by then. */
static int enable_peer(uint64_t id) LOCK_ATTR(no_thread_safety_analysis)
{
    static uint64_t enabled;    /* under the lock, of these */
    static int ours;
    struct gtl_device d;
    int device, rc = 0;

    if (id == gtl_hip_state.id || !find_device(id, &device, &d) ||
        device == gtl_hip_state.device)
        return 0;
    lock_acquire(&lock);
    if (ours != gtl_hip_state.device)
        enabled = 0;
    ours = gtl_hip_state.device;
    if (device >= 64 || !(enabled >> device & 1))
        rc = HIP(DeviceEnablePeerAccess, device, 0);
    if (rc == -EEXIST)          /* by the program */
        rc = 0;
    if (!rc && device < 64)
        enabled |= (uint64_t)1 << device;
    lock_release(&lock);
    return rc;
}

bool gtl_hip_atomic(const struct gtl_ipc_handle *h)
{
    struct gtl_device d;
    int device, yes = 0;
    struct hip_exported l;

    memcpy(&l, h->bytes, sizeof l);
    if (!find_device(l.device, &device, &d))
        return gtl_hip_hidden_atomic(l.device);
    if (device == gtl_hip_state.device)
        return true;
    return gtl_hip_rt.DeviceGetP2PAttribute &&
           !HIP(DeviceGetP2PAttribute, &yes, HIP_P2P_ATOMICS,
                gtl_hip_state.device, device) && yes;
}

int gtl_hip_ipc_open(const struct gtl_ipc_handle *h, int fd, void **at)
{
    int was = gtl_hip_enter_relaxed(), rc;
    void *raw = NULL, *p = NULL;
    struct hip_exported l;

    (void)fd;                   /* its handles come without one */
    memcpy(&l, h->bytes, sizeof l);
    rc = open_handle(&l, &raw);
    if (!rc) {
        rc = enable_peer(l.device);
        if (rc)
            HIP(IpcCloseMemHandle, raw);
    }
    if (rc)
        rc = why_not(l.device, rc);
    if (!rc) {
        p = (char *)raw + l.offset;
        rc = add_place(&opened, p, 1, raw, true);
        if (rc)
            HIP(IpcCloseMemHandle, raw);
    }
    gtl_hip_leave_relaxed(was);
    if (!rc)
        *at = p;
    return rc;
}

void gtl_hip_ipc_close(void *p)
{
    int was = gtl_hip_enter_relaxed();
    void *raw;
    bool ours;

    if (remove_place(&opened, p, &raw, &ours))
        HIP(IpcCloseMemHandle, raw);
    gtl_hip_leave_relaxed(was);
}

/* The runtime's own call came with version 7; the one of the library below
 * it is older. */
int gtl_hip_dmabuf(void *p, size_t size, int *fd, uint64_t *offset)
{
    int was = gtl_hip_enter_relaxed(), got = -1, rc;
    uint64_t at = 0;

    if (gtl_hip_rt.export_dmabuf) {
        rc = gtl_hip_rt.export_dmabuf(p, size, &got, &at);
        if (rc)
            rc = gtl_fail(-ENOSYS, "hsa_amd_portable_export_dmabuf",
                          "refused", rc);
    } else if (gtl_hip_rt.MemGetHandleForAddressRange) {
        rc = HIP(MemGetHandleForAddressRange, &got, p, size,
                 HIP_RANGE_DMABUF, 0);
    } else {
        rc = gtl_fail(-ENOSYS, "hsa_amd_portable_export_dmabuf",
                      "not in this version of ROCm", 0);
    }
    gtl_hip_leave_relaxed(was);
    if (!rc) {
        *fd = got;
        *offset = at;
    }
    return rc;
}
