/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory: device memory, pinned memory, handles. */
#include "hip.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

/* What is added where pinned memory is moved: no address that a processor
 * can use. */
#define ELSEWHERE ((uintptr_t)1 << 62)

void *hip_here(const void *p)
{
    return (void *)((uintptr_t)p & ~ELSEWHERE);
}

static bool is_set(const char *name, const char *value)
{
    const char *text = getenv(name);

    return text && !strcmp(text, value);
}

/* Registers of another device: no processor reads them. */
static bool is_io(void *p)
{
    char byte;
    struct iovec to = { &byte, 1 }, from = { p, 1 };

    return process_vm_readv(getpid(), &to, 1, &from, 1, 0) != 1;
}

static void *there(void *p)
{
    static uint64_t nowhere[8192];

    if (is_set("FAKE_HIP_IO", "lost") && is_io(p)) {
        dev_pin(nowhere, sizeof nowhere, 0);    /* once */
        return nowhere;
    }
    return is_set("FAKE_HIP_PINNED", "moved")
        ? (void *)((uintptr_t)p | ELSEWHERE) : p;
}

unsigned hipMalloc(void **out, size_t size)
{
    size_t align = hip_major() < 6 ? 4096 : (size_t)2 << 20;

    CALL(Malloc);
    UNSAFE();
    hip_use();
    if (!size) {
        *out = NULL;
        return hip_result(HIP_OK);
    }
    return hip_result(hip_error(dev_alloc(hip_current(), size, align,
                                          DEV_COARSE, out)));
}

/* A signal is one word, which the processor reaches. */
unsigned hipExtMallocWithFlags(void **out, size_t size, unsigned flags)
{
    bool none = is_set("FAKE_HIP_GRAIN", "none") ||
                dev_setup()->is == DEV_BARE;
    bool silent = is_set("FAKE_HIP_GRAIN", "silent");
    unsigned as = flags;

    CALL(ExtMallocWithFlags);
    hip_use();
    if (flags == HIP_MALLOC_SIGNAL)
        return hip_result(size != 8 ? HIP_INVALID_VALUE : hip_error(
                              dev_alloc_host(size, SIGNAL_MEMORY, out)));
    if (flags > HIP_MALLOC_UNCACHED || !size || (flags && none) ||
        (flags == HIP_MALLOC_UNCACHED && (silent || hip_major() < 6)))
        return hip_result(HIP_INVALID_VALUE);
    if (!flags || silent)
        as |= DEV_COARSE;
    return hip_result(hip_error(dev_alloc(hip_current(), size, (size_t)2 << 20,
                                          as, out)));
}

/* Waits for the device, as documented. */
unsigned hipFree(void *p)
{
    struct dev_range r;

    CALL(Free);
    UNSAFE();
    if (!p)
        return hip_result(HIP_OK);
    if (!dev_find(p, &r) || dev_pool_going(p))
        return hip_result(HIP_INVALID_VALUE);
    dev_sync_all(r.device);
    return hip_result(hip_error(dev_free(p)));
}

unsigned hipMemGetInfo(size_t *unused, size_t *total)
{
    CALL(MemGetInfo);
    dev_room(hip_current(), unused, total);
    return hip_result(HIP_OK);
}

/* Pages of another device are mapped whole, or not at all. */
static bool maps(const char *p, size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    return dev_setup()->is != DEV_BARE && !is_set("FAKE_HIP_IO", "upstream") &&
           (uintptr_t)p % page == 0 && size % page == 0;
}

unsigned hipHostRegister(void *p, size_t size, unsigned flags)
{
    CALL(HostRegister);
    UNSAFE();
    if (flags & HIP_REGISTER_IO_MEMORY && !is_set("FAKE_HIP_IO", "taken"))
        return hip_result(HIP_INVALID_VALUE);
    if (is_io(p) && !maps(p, size))
        return hip_result(HIP_INVALID_VALUE);
    return hip_result(hip_error(dev_pin(p, size, flags)));
}

unsigned hipHostUnregister(void *p)
{
    CALL(HostUnregister);
    UNSAFE();
    dev_sync_all(hip_current());
    return hip_result(dev_unpin(p) ? HIP_NOT_REGISTERED : HIP_OK);
}

unsigned hipHostGetDevicePointer(void **out, void *p, unsigned flags)
{
    struct dev_range r;

    CALL(HostGetDevicePointer);
    if (flags || !dev_find(p, &r) || r.where != DEV_PINNED)
        return hip_result(HIP_INVALID_VALUE);
    *out = there(p);
    return hip_result(HIP_OK);
}

unsigned hipPointerGetAttributes(struct hip_pointer *out, const void *p)
{
    bool old = hip_major() < 6;
    struct dev_range r;

    CALL(PointerGetAttributes);
    if (!dev_find(hip_here(p), &r))
        return hip_result(HIP_INVALID_VALUE);
    memset(out, 0, sizeof *out);
    out->device = r.device;
    out->flags = r.flags & 0xff;
    out->device_pointer = (void *)(uintptr_t)p;
    if (r.where == DEV_PINNED) {
        out->type = old ? (unsigned)HIP_HOST_5 : (unsigned)HIP_HOST_6;
        out->host_pointer = hip_here(p);
        out->device_pointer = there(hip_here(p));
    } else {
        out->type = old ? (unsigned)HIP_DEVICE_5 : (unsigned)HIP_DEVICE_6;
    }
    return hip_result(HIP_OK);
}

unsigned hipMemGetAddressRange(void **base, size_t *size, void *p)
{
    struct dev_range r;

    CALL(MemGetAddressRange);
    if (!dev_find(hip_here(p), &r))
        return hip_result(HIP_NOT_FOUND);
    *base = (void *)r.base;
    *size = r.size;
    return hip_result(HIP_OK);
}

_Static_assert(sizeof(struct dev_export) <= sizeof(struct hip_ipc_mem),
               "a handle of the device fits into one of HIP");

unsigned hipIpcGetMemHandle(struct hip_ipc_mem *out, void *p)
{
    struct dev_export e;
    struct dev_range r;

    CALL(IpcGetMemHandle);
    UNSAFE();
    if (dev_setup()->is == DEV_BARE)
        return hip_result(HIP_NOT_SUPPORTED);
    if (!dev_find(p, &r) || r.base != (uintptr_t)p ||
        dev_export_memory(p, &e) ||
        (r.flags == HIP_MALLOC_UNCACHED && is_set("FAKE_HIP_GRAIN", "kept")))
        return hip_result(HIP_INVALID_VALUE);
    memset(out, 0, sizeof *out);
    memcpy(out->bytes, &e, sizeof e);
    return hip_result(HIP_OK);
}

unsigned hipIpcOpenMemHandle(void **out, struct hip_ipc_mem h, unsigned flags)
{
    unsigned lazy = hip_major() < 6 ? HIP_IPC_LAZY_PEER_5
                                    : HIP_IPC_LAZY_PEER_6;
    struct dev_export e;

    CALL(IpcOpenMemHandle);
    UNSAFE();
    if (flags != lazy)
        return hip_result(HIP_INVALID_VALUE);
    memcpy(&e, h.bytes, sizeof e);
    return hip_result(hip_error(dev_open_memory(hip_current(), &e, out)));
}

unsigned hipIpcCloseMemHandle(void *p)
{
    CALL(IpcCloseMemHandle);
    UNSAFE();
    dev_sync_all(hip_current());
    return hip_result(hip_error(dev_give_back(p)));
}

/* Of the library below it; not 0: it failed. */
EXPORT hip_hsa_export hsa_amd_portable_export_dmabuf;

int hsa_amd_portable_export_dmabuf(const void *p, size_t size, int *fd,
                                   uint64_t *offset)
{
    int code = dev_call("hsa_amd_portable_export_dmabuf");

    if (code || dev_setup()->is == DEV_BARE)
        return code ? code : 0x1000;
    return dev_dmabuf(p, size, fd, offset) ? 0x1001 : 0;
}
