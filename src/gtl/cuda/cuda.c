/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda.c - the driver for NVIDIA's devices, by libcuda.so.1: finds the device
 * and what it can do, and has the driver's table.  gtl.c calls it.
 *
 * The context is the one that the thread brings along, else the primary one,
 * which CUDA's runtime uses too: so streams and memory are the program's.
 * libcuda is bound at run time and never closed, for it may be the program's;
 * CUDA's own runtime is not needed. */
#include "gtl/cuda/cuda_int.h"
#include "base/env.h"
#include "base/log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OLDEST_DRIVER = 11000, OLDEST_DEVICE = 6 };

static int start_driver(int *version)
{
    char text[96];
    int rc = gtl_cu_bind();

    if (!rc)
        rc = gtl_cu_result("cuInit", gtl_cu.cuInit(0));
    if (!rc)
        rc = CU(cuDriverGetVersion, version);
    if (rc || *version >= OLDEST_DRIVER)
        return rc;
    snprintf(text, sizeof text, "the NVIDIA driver is for CUDA %d.%d, 11.0 "
             "is the oldest that serves", *version / 1000,
             *version % 1000 / 10);
    return gtl_fail(-ENOSYS, "cuDriverGetVersion", text, *version);
}

/* The primary context counts its users. */
static int retain_primary(int dev, void **out)
{
    int rc = CU(cuDevicePrimaryCtxRetain, out, dev);

    if (!rc)
        gtl_cu_device.retained = true;
    return rc;
}

static void release_primary(void)
{
    if (gtl_cu_device.retained)
        gtl_cu.cuDevicePrimaryCtxRelease_v2(gtl_cu_device.dev);
    gtl_cu_device = (struct gtl_cu_device){ .dev = 0 };
}

/* A green context is current in one thread at a time, and ours is in several:
 * the device's primary one, of which it is a part, is taken in its place. */
static void *primary_of_green(void *ctx)
{
    void *whole = NULL, *green = NULL;

    if (!gtl_cu.cuStreamGetCtx_v2 ||
        CU(cuStreamGetCtx_v2, NULL, &whole, &green))
        return ctx;
    return green ? whole : ctx;
}

/* The context the thread has: retained if it is the primary one, so that
 * the program may release it. */
static int use_current(void *ctx)
{
    void *primary = NULL;
    unsigned flags;
    int active = 0, rc;

    ctx = primary_of_green(ctx);
    rc = CU(cuCtxGetDevice, &gtl_cu_device.dev);
    if (!rc)
        rc = CU(cuDevicePrimaryCtxGetState, gtl_cu_device.dev, &flags,
                &active);
    if (!rc && active)
        rc = retain_primary(gtl_cu_device.dev, &primary);
    if (rc)
        return rc;
    if (primary && primary != ctx) {
        gtl_cu.cuDevicePrimaryCtxRelease_v2(gtl_cu_device.dev);
        gtl_cu_device.retained = false;
    }
    gtl_cu_device.ctx = ctx;
    return 0;
}

static int choose(int local, int count)
{
    void *ctx = NULL;
    int rc = CU(cuCtxGetCurrent, &ctx);

    if (rc)
        return rc;
    if (ctx)
        return use_current(ctx);
    rc = CU(cuDeviceGet, &gtl_cu_device.dev, local % count);
    if (!rc)
        rc = retain_primary(gtl_cu_device.dev, &ctx);
    if (!rc)
        gtl_cu_device.ctx = ctx;
    return rc;
}

/* An attribute; drivers say "invalid value" of one they do not know. */
static int attribute(int which)
{
    int value = 0;

    if (gtl_cu.cuDeviceGetAttribute(&value, which, gtl_cu_device.dev))
        return 0;
    return value;
}

static int identify(struct gtl_device *d)
{
    struct cuda_uuid u;
    unsigned char b[16];
    size_t memory = 0;
    int rc, dev, n;

    rc = CU(cuDeviceGetName, d->name, sizeof d->name, gtl_cu_device.dev);
    if (!rc)
        rc = gtl_cu_uuid(gtl_cu_device.dev, &u);
    if (!rc)
        rc = CU(cuDeviceGetPCIBusId, d->pci, sizeof d->pci, gtl_cu_device.dev);
    if (!rc)
        rc = CU(cuDeviceTotalMem_v2, &memory, gtl_cu_device.dev);
    if (rc)
        return rc;
    memcpy(b, u.bytes, sizeof b);
    n = snprintf(d->id, sizeof d->id, "GPU-");
    for (int i = 0; i < 16; i++)
        n += snprintf(d->id + n, sizeof d->id - (size_t)n, "%s%02x",
                      i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", b[i]);
    d->memory = memory;
    for (int i = 0; i < d->count; i++)
        if (!gtl_cu.cuDeviceGet(&dev, i) && dev == gtl_cu_device.dev)
            d->ordinal = i;
    return 0;
}

/* CUDA's own words for how many hardware queues a process gets. */
static int hardware_queues(void)
{
    const char *text = env_foreign("CUDA_DEVICE_MAX_CONNECTIONS");
    int n = text ? atoi(text) : 0;

    return n > 0 ? n : 8;
}

static void probe_residency(struct gtl_device *d)
{
    d->processors =
        (unsigned)attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    d->groups_each =
        (unsigned)attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
    d->items_each =
        (unsigned)attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
    d->items_unit = (unsigned)attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE);
    d->shared_each = (size_t)attribute(
        CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
    d->shared_reserved = (size_t)attribute(
        CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
}

static void probe(struct gtl_device *d)
{
    int flush = attribute(
        CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS);
    int least = 0, greatest = 0;

    gtl_cu_device.max_pitch = (size_t)attribute(CU_DEVICE_ATTRIBUTE_MAX_PITCH);
    gtl_cu_device.host_atomics =
        attribute(CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED);
    gtl_cu_device.pageable =
        attribute(CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS);
    gtl_cu_device.memops = gtl_cu.cuStreamWriteValue64_v2 &&
        gtl_cu.cuStreamWaitValue64_v2 &&
        attribute(CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS);
    gtl_cu_device.host_flush = gtl_cu.cuFlushGPUDirectRDMAWrites &&
        (flush & CU_FLUSH_GPU_DIRECT_RDMA_WRITES_OPTION_HOST);
    if (!CU(cuCtxGetStreamPriorityRange, &least, &greatest))
        gtl_cu_device.urgent = greatest;
    /* Memory that no NIC can write into needs no flush. */
    d->ordered = attribute(CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING)
        >= CU_GPU_DIRECT_RDMA_WRITES_ORDERING_OWNER ||
        (gtl_cu.cuFlushGPUDirectRDMAWrites &&
         !attribute(CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED));
    /* Where the processor is the device's neighbour, a NIC's data may take
     * another way than the word that announces it. */
    if (gtl_cu_device.host_atomics && attribute(
        CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES))
        d->ordered = false;
    d->wait_flushes = !d->ordered && gtl_cu_device.memops &&
        attribute(CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES);
    gtl_cu_device.wait_flags = CU_STREAM_WAIT_VALUE_GEQ;
    if (d->wait_flushes)
        gtl_cu_device.wait_flags |= CU_STREAM_WAIT_VALUE_FLUSH;
    d->host_atomics = gtl_cu_device.host_atomics;
    d->host_adds = true;
    d->hmem = GTL_HMEM_CUDA;
    d->memops = gtl_cu_device.memops;
    d->dmabuf = gtl_cu.cuMemGetHandleForAddressRange &&
                attribute(CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED);
    d->hw_queues = hardware_queues();
    probe_residency(d);
}

/* By doing it: containers and some modes of the device forbid it. */
static bool ipc_works(void)
{
    struct cuda_ipc handle;
    uint64_t p;
    bool yes;

    if (CU_RELAXED(cuMemAlloc_v2, &p, (size_t)2 << 20))
        return false;
    yes = !CU_RELAXED(cuIpcGetMemHandle, &handle, p);
    CU_RELAXED(cuMemFree_v2, p);
    return yes;
}

static void find_growth(struct gtl_device *d)
{
    const struct gtl_cu_features can = {
        .vmm = attribute(
            CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED),
        .fds = attribute(
            CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED),
        .fabric = attribute(CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED),
        .rdma = attribute(
            CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED),
        .nics = attribute(CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED),
        .driver = d->driver_version
    };

    d->why_fixed = gtl_cu_why_fixed(&can);
    d->growth_export = d->why_fixed ? NULL : gtl_cu_vmm_export_kind();
}

static void warn_blocking(void)
{
    const char *text = env_foreign("CUDA_LAUNCH_BLOCKING");

    if (text && strcmp(text, "0"))
        log_warn(ERR_DEVICE, "CUDA_LAUNCH_BLOCKING=%s: a kernel that follows "
                 "a wait on its stream stops the PE, and with it what the "
                 "wait is for; unset it but for debugging", text);
}

static int open_device(int local, struct gtl_device *out)
{
    struct gtl_device d = { .count = 0 };
    char text[128];
    int rc, major;

    rc = start_driver(&d.driver_version);
    if (!rc)
        rc = CU(cuDeviceGetCount, &d.count);
    if (rc)
        return rc;
    if (d.count <= 0)
        return gtl_fail(-ENODEV, "cuDeviceGetCount", "no device is visible",
                        0);
    rc = choose(local, d.count);
    if (!rc)
        rc = identify(&d);
    if (rc)
        goto release;
    major = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    if (major < OLDEST_DEVICE) {
        snprintf(text, sizeof text, "%.40s has compute capability %d.%d, 6.0 "
                 "is the least that serves", d.name, major,
                 attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
        rc = gtl_fail(-ENOSYS, "cuDeviceGetAttribute", text, major);
        goto release;
    }
    probe(&d);
    rc = gtl_cu_kernels_load(&d.kernels);
    if (rc)
        goto release;
    gtl_cu_device.kernels = d.kernels;
    rc = gtl_cu_host_open();
    if (rc) {
        gtl_cu_kernels_unload();
        goto release;
    }
    d.ipc = ipc_works();
    find_growth(&d);
    warn_blocking();
    *out = d;
    return 0;
release:
    release_primary();
    return rc;
}

/* The device of the context that the thread has, as choose() does. */
static int pci_address(int local, char pci[16])
{
    int version, count = 0, dev;
    void *ctx = NULL;
    int rc = start_driver(&version);

    if (!rc)
        rc = CU(cuDeviceGetCount, &count);
    if (!rc && count <= 0)
        return -ENODEV;
    if (!rc)
        rc = CU(cuCtxGetCurrent, &ctx);
    if (!rc)
        rc = ctx ? CU(cuCtxGetDevice, &dev)
                 : CU(cuDeviceGet, &dev, local % count);
    return rc ? rc : CU(cuDeviceGetPCIBusId, pci, 16, dev);
}

/* Calls between the two find the context and leave it, and break no capture.
 * Bit 0: a context was pushed; above it the thread's mode of captures plus 1,
 * or 0 where the driver did not say it. */
static int enter(void)
{
    gtl_cu_enter();
    gtl_cu_relax();
    return gtl_cu_pushed | (gtl_cu_mode + 1) << 1;
}

static void leave(int was)
{
    void *ctx;

    gtl_cu_mode = (was >> 1) - 1;
    gtl_cu_relaxed(0);
    if (was & 1)
        gtl_cu.cuCtxPopCurrent_v2(&ctx);
}

static void close_device(void)
{
    gtl_cu_vmm_close();
    gtl_cu_host_close();
    gtl_cu_kernels_unload();
    release_primary();
}

/* Kernels are loaded when they are first launched, and that waits for the
 * streams, unless the program asks for all at start. */
static const char *lockup_hint(unsigned streams)
{
    const char *loading = env_foreign("CUDA_MODULE_LOADING");

    if (gtl_env_is_on("CUDA_LAUNCH_BLOCKING"))
        return "; CUDA_LAUNCH_BLOCKING is set: a call that enqueues behind a "
               "wait does not return; unset it";
    if (streams ? !loading || strcmp(loading, "EAGER")
                : loading && !strcmp(loading, "LAZY"))
        return "; a kernel that is launched for the first time waits for all "
               "streams: set CUDA_MODULE_LOADING=EAGER, or launch it once "
               "before";
    return NULL;
}

const struct gtl_ops gtl_cuda = {
    .name = "cuda", .open = open_device, .pci_address = pci_address,
    .close = close_device,
    .enter = enter, .leave = leave,
    .set_coherence = gtl_no_coherence,
    .alloc = gtl_cu_alloc, .reserve = gtl_cu_reserve,
    .grow = gtl_cu_grow, .shrink = gtl_cu_shrink, .free = gtl_cu_free,
    .memory_info = gtl_cu_memory_info,
    .pin = gtl_cu_pin, .unpin = gtl_cu_unpin, .classify = gtl_cu_classify,
    .ipc_export = gtl_cu_ipc_export, .ipc_open = gtl_cu_ipc_open,
    .ipc_close = gtl_cu_ipc_close, .peer_atomic = gtl_cu_atomic,
    .dmabuf = gtl_cu_dmabuf, .stream_create = gtl_cu_stream_create,
    .stream_destroy = gtl_cu_stream_destroy,
    .stream_check = gtl_cu_stream_check, .is_capturing = gtl_cu_is_capturing,
    .stream_query = gtl_cu_stream_query,
    .stream_sync = gtl_cu_stream_sync,
    .copy = gtl_cu_copy, .copy_blocks = gtl_cu_copy_blocks,
    .fill = gtl_cu_fill, .amo = gtl_cu_amo,
    .reduce = gtl_cu_kernel_reduce, .write64 = gtl_cu_write64,
    .wait64 = gtl_cu_wait64, .batch = gtl_cu_batch,
    .peer_copy = gtl_cu_peer_copy,
    .host_call = gtl_cu_host_call, .launch = gtl_cu_launch,
    .module_symbol = gtl_cu_module_symbol, .release = gtl_cu_release,
    .event_create = gtl_cu_event_create,
    .event_destroy = gtl_cu_event_destroy,
    .event_record = gtl_cu_event_record, .event_wait = gtl_cu_event_wait,
    .event_query = gtl_cu_event_query,
    .timer_create = gtl_cu_timer_create, .timer_ns = gtl_cu_timer_ns,
    .graph_id = gtl_cu_graph_id, .graph_own = gtl_cu_graph_own,
    .capture_begin = gtl_cu_capture_begin,
    .capture_end = gtl_cu_capture_end,
    .graph_launch = gtl_cu_graph_launch,
    .graph_destroy = gtl_cu_graph_destroy,
    .flush = gtl_cu_flush,
    GTL_NO_HOST_STREAMS, .lockup_hint = lockup_hint
};
