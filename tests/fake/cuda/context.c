/* SPDX-License-Identifier: BSD-3-Clause */
/* The library, its devices and contexts. */
#include "fake.h"
#include "gpu_calls.h"
#include "ptx.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES = 16, DEPTH = 16, CONTEXTS = 64, VERSION = 12040 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool ready;
static struct context contexts[CONTEXTS];   /* primary ones first */
static int n_contexts = DEVICES;
static __thread struct context *stack[DEPTH];
static __thread int depth;
__thread bool fake_in_host;

/* As on hardware, every call says what has ended the context. */
static int after_fault(int rc)
{
    switch (-rc) {
    case 0:
        return CUDA_SUCCESS;
    case PTX_MISALIGNED:
    case PTX_TRAP:
    case PTX_ASSERT:
        return fake_code(rc);
    }
    return CUDA_ERROR_ILLEGAL_ADDRESS;
}

static int before(const char *name, bool early)
{
    int rc = dev_call(name);

    if (rc)
        return rc;
    if (fake_in_host || dev_destroys)
        return CUDA_ERROR_NOT_PERMITTED;
    if (!ready && !early)
        return CUDA_ERROR_NOT_INITIALIZED;
    return early ? CUDA_SUCCESS : after_fault(dev_fault());
}

int fake_call(const char *name)
{
    return before(name, false);
}

struct context *fake_current(void)
{
    return depth ? stack[depth - 1] : NULL;
}

int fake_call_in(const char *name, struct context **out)
{
    CALL(name);
    *out = fake_current();
    if (!*out)
        return CUDA_ERROR_INVALID_CONTEXT;
    return (*out)->live ? CUDA_SUCCESS : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

int fake_code(int rc)
{
    switch (-rc) {
    case 0:
        return CUDA_SUCCESS;
    case ENOMEM:
        return CUDA_ERROR_OUT_OF_MEMORY;
    case EEXIST:
        return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    case EXDEV:
        return CUDA_ERROR_INVALID_CONTEXT;
    case ENOENT:
    case ENOSPC:
        return CUDA_ERROR_MAP_FAILED;
    case ENODEV:
        return CUDA_ERROR_INVALID_DEVICE;
    case EACCES:
        return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
    case EPERM:
        return CUDA_ERROR_NOT_PERMITTED;
    case EOPNOTSUPP:
        return CUDA_ERROR_NOT_SUPPORTED;
    case EFAULT:
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    case PTX_MISALIGNED:
        return CUDA_ERROR_MISALIGNED_ADDRESS;
    case PTX_TRAP:
        return CUDA_ERROR_LAUNCH_FAILED;
    case PTX_ASSERT:
        return CUDA_ERROR_ASSERT;
    }
    return CUDA_ERROR_INVALID_VALUE;
}

int cuInit(unsigned flags)
{
    int rc = before("cuInit", true);

    if (rc)
        return rc;
    if (flags)
        return CUDA_ERROR_INVALID_VALUE;
    if (dev_setup()->count <= 0)
        return CUDA_ERROR_NO_DEVICE;
    ready = true;
    return CUDA_SUCCESS;
}

int fake_version(void)
{
    return dev_setup()->driver ? dev_setup()->driver : VERSION;
}

int cuDriverGetVersion(int *out)
{
    int rc = before("cuDriverGetVersion", true);

    if (rc)
        return rc;
    *out = fake_version();
    return CUDA_SUCCESS;
}

/* NVIDIA's run-time compiler looks for tables of the driver, and does without. */
__attribute__((visibility("default")))
int cuGetExportTable(const void **out, const void *id);
int cuGetExportTable(const void **out, const void *id)
{
    (void)id;
    *out = NULL;
    return CUDA_ERROR_NOT_FOUND;
}

static const struct { int code; const char *name, *text; } errors[] = {
#define E(name, text) { name, #name, text },
    E(CUDA_SUCCESS, "no error")
    E(CUDA_ERROR_INVALID_VALUE, "invalid argument")
    E(CUDA_ERROR_OUT_OF_MEMORY, "out of memory")
    E(CUDA_ERROR_NOT_INITIALIZED, "initialization error")
    E(CUDA_ERROR_NO_DEVICE, "no CUDA-capable device is detected")
    E(CUDA_ERROR_INVALID_DEVICE, "invalid device ordinal")
    E(CUDA_ERROR_INVALID_CONTEXT, "invalid device context")
    E(CUDA_ERROR_MAP_FAILED, "mapping of buffer object failed")
    E(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED,
      "peer access is not supported between these two devices")
    E(CUDA_ERROR_INVALID_PTX, "a PTX JIT compilation failed")
    E(CUDA_ERROR_JIT_COMPILER_NOT_FOUND, "PTX JIT compiler library not found")
    E(CUDA_ERROR_INVALID_HANDLE, "invalid resource handle")
    E(CUDA_ERROR_NOT_FOUND, "named symbol not found")
    E(CUDA_ERROR_NOT_READY, "device not ready")
    E(CUDA_ERROR_ILLEGAL_ADDRESS, "an illegal memory access was encountered")
    E(CUDA_ERROR_MISALIGNED_ADDRESS, "misaligned address")
    E(CUDA_ERROR_LAUNCH_FAILED, "unspecified launch failure")
    E(CUDA_ERROR_ASSERT, "device-side assert triggered")
    E(CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
      "the provided PTX was compiled with an unsupported toolchain.")
    E(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
      "too many blocks in cooperative launch")
    E(CUDA_ERROR_CONTEXT_IS_DESTROYED, "context is destroyed")
    E(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
      "part or all of the requested memory range is already mapped")
    E(CUDA_ERROR_NOT_PERMITTED, "operation not permitted")
    E(CUDA_ERROR_NOT_SUPPORTED, "operation not supported")
    E(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH,
      "system has unsupported display driver / cuda driver combination")
#undef E
};

static int error_index(int code)
{
    for (unsigned i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].code == code)
            return (int)i;
    return -1;
}

int cuGetErrorName(int error, const char **out)
{
    int i = error_index(error);

    *out = i < 0 ? NULL : errors[i].name;
    return i < 0 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

int cuGetErrorString(int error, const char **out)
{
    int i = error_index(error);

    *out = i < 0 ? NULL : errors[i].text;
    return i < 0 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

/* ---- devices ---- */

int cuDeviceGetCount(int *out)
{
    CALL("cuDeviceGetCount");
    *out = dev_setup()->count;
    return CUDA_SUCCESS;
}

int cuDeviceGet(int *out, int ordinal)
{
    CALL("cuDeviceGet");
    if (!is_device(ordinal))
        return CUDA_ERROR_INVALID_DEVICE;
    *out = ordinal;
    return CUDA_SUCCESS;
}

int cuDeviceGetName(char *out, int len, int dev)
{
    static const char *const names[] = { "discrete", "coherent", "bare" };

    CALL("cuDeviceGetName");
    if (!is_device(dev))
        return CUDA_ERROR_INVALID_DEVICE;
    snprintf(out, (size_t)len, "Fake %s device", names[dev_setup()->is]);
    return CUDA_SUCCESS;
}

/* The card's. */
int cuDeviceGetUuid(struct cuda_uuid *out, int dev)
{
    CALL("cuDeviceGetUuid");
    if (!is_device(dev))
        return CUDA_ERROR_INVALID_DEVICE;
    memset(out, 0, sizeof *out);
    snprintf(out->bytes, sizeof out->bytes, "%02dfake device",
             dev_setup()->parts ? 0 : dev_number(dev));
    return CUDA_SUCCESS;
}

/* That of the part. */
int cuDeviceGetUuid_v2(struct cuda_uuid *out, int dev)
{
    int rc = cuDeviceGetUuid(out, dev);

    if (!rc && dev_setup()->parts)
        snprintf(out->bytes, sizeof out->bytes, "%02dfake part",
                 dev_number(dev));
    return rc;
}

int cuDeviceGetPCIBusId(char *out, int len, int dev)
{
    int at = 0x17;

    CALL("cuDeviceGetPCIBusId");
    if (!is_device(dev))
        return CUDA_ERROR_INVALID_DEVICE;
    if (!dev_setup()->parts)
        at += dev_number(dev);
    if (snprintf(out, (size_t)len, "0000:%02X:00.0", at) >= len)
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

/* What the environment may take away. */
static int without(int attribute, int value)
{
    const struct dev_setup *s = dev_setup();

    switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING:
        return s->ordered ? (int)CU_GPU_DIRECT_RDMA_WRITES_ORDERING_OWNER
                          : value;
    case CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS:
    case CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES:
        return s->by_read ? 0 : value;
    case CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED:
        return s->vmm;
    case CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED:
        return s->vmm_nic;
    case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED:
        return s->fabric != DEV_NO_FABRIC && fake_version() >= 12030;
    case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED:
        return s->is != DEV_BARE && fake_version() >= 11020;
    }
    return value;
}

int cuDeviceGetAttribute(int *out, int attribute, int dev)
{
    /* discrete, coherent, bare */
    static const struct { int attribute, value[3]; } has[] = {
        { CU_DEVICE_ATTRIBUTE_MAX_PITCH,
          { 0x7fffffff, 0x7fffffff, 0x7fffffff } },
        { CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, { 9, 9, 7 } },
        { CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, { 0, 0, 5 } },
        { CU_DEVICE_ATTRIBUTE_WARP_SIZE, { 32, 32, 32 } },
        { CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
          { PTX_THREADS, PTX_THREADS, PTX_THREADS } },
        { CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK,
          { PTX_SHARED, PTX_SHARED, PTX_SHARED } },
        { CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
          { PTX_SHARED_MOST, PTX_SHARED_MOST, PTX_SHARED_MOST } },
        { CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
          { PTX_PROCESSORS, PTX_PROCESSORS, PTX_PROCESSORS } },
        { CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR,
          { PTX_RESIDENT, PTX_RESIDENT, PTX_RESIDENT } },
        { CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, { 1, 1, 1 } },
        { CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR,
          { 233472, 233472, 65536 } },
        { CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, { 32, 32, 16 } },
        { CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK,
          { 1024, 1024, 0 } },
        { CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED, { 0, 1, 0 } },
        { CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, { 0, 1, 0 } },
        { CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES,
          { 0, 1, 0 } },
        { CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES, { 1, 0, 0 } },
        { CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED, { 1, 1, 0 } },
        { CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS,
          { 3, 3, 0 } },
        { CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING,
          { 0, 200, 0 } },
        { CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS, { 1, 1, 0 } },
        { CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED, { 1, 1, 0 } }
    };

    CALL("cuDeviceGetAttribute");
    if (!is_device(dev))
        return CUDA_ERROR_INVALID_DEVICE;
    *out = 0;
    for (unsigned i = 0; i < sizeof has / sizeof *has; i++)
        if (has[i].attribute == attribute)
            *out = has[i].value[dev_setup()->is];
    *out = without(attribute, *out);
    return CUDA_SUCCESS;
}

/* ---- contexts ---- */

int cuDevicePrimaryCtxRetain(void **out, int dev)
{
    CALL("cuDevicePrimaryCtxRetain");
    if (!is_device(dev))
        return CUDA_ERROR_INVALID_DEVICE;
    pthread_mutex_lock(&lock);
    contexts[dev].dev = dev;
    contexts[dev].primary = contexts[dev].live = true;
    contexts[dev].held++;
    pthread_mutex_unlock(&lock);
    *out = &contexts[dev];
    return CUDA_SUCCESS;
}

int cuDevicePrimaryCtxRelease_v2(int dev)
{
    int rc = CUDA_SUCCESS;

    CALL("cuDevicePrimaryCtxRelease_v2");
    if (!is_device(dev))
        return CUDA_ERROR_INVALID_DEVICE;
    pthread_mutex_lock(&lock);
    if (!contexts[dev].held)
        rc = CUDA_ERROR_INVALID_CONTEXT;
    else if (!--contexts[dev].held)
        contexts[dev] = (struct context){ .dev = dev };
    pthread_mutex_unlock(&lock);
    return rc;
}

int cuDevicePrimaryCtxGetState(int dev, unsigned *flags, int *active)
{
    CALL("cuDevicePrimaryCtxGetState");
    if (!is_device(dev))
        return CUDA_ERROR_INVALID_DEVICE;
    *flags = contexts[dev].flags;
    *active = contexts[dev].live;
    return CUDA_SUCCESS;
}

static bool is_context(const void *p)
{
    const struct context *c = p;

    return ((c >= contexts && c < contexts + n_contexts) ||
            fake_is_green(c)) && c->live;
}

int cuCtxCreate_v2(void **out, unsigned flags, int dev)
{
    struct context *c = NULL;

    CALL("cuCtxCreate_v2");
    if (!is_device(dev))
        return CUDA_ERROR_INVALID_DEVICE;
    pthread_mutex_lock(&lock);
    if (n_contexts < CONTEXTS) {
        c = &contexts[n_contexts++];
        *c = (struct context){ .dev = dev, .live = true, .flags = flags };
    }
    pthread_mutex_unlock(&lock);
    if (!c)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *out = c;
    return cuCtxPushCurrent_v2(c);
}

int cuCtxDestroy_v2(void *ctx)
{
    struct context *c = ctx;

    CALL("cuCtxDestroy_v2");
    if (!is_context(ctx) || c->primary)
        return CUDA_ERROR_INVALID_CONTEXT;
    c->live = false;
    if (fake_current() == c)
        depth--;
    return CUDA_SUCCESS;
}

int cuCtxGetCurrent(void **out)
{
    CALL("cuCtxGetCurrent");
    *out = fake_current();
    return CUDA_SUCCESS;
}

int cuCtxPushCurrent_v2(void *ctx)
{
    CALL("cuCtxPushCurrent_v2");
    if (!is_context(ctx) || depth == DEPTH)
        return CUDA_ERROR_INVALID_CONTEXT;
    stack[depth++] = ctx;
    fake_becomes_current(ctx);
    return CUDA_SUCCESS;
}

int cuCtxPopCurrent_v2(void **out)
{
    CALL("cuCtxPopCurrent_v2");
    if (!depth)
        return CUDA_ERROR_INVALID_CONTEXT;
    depth--;
    fake_was_current(stack[depth]);
    if (out)
        *out = stack[depth];
    return CUDA_SUCCESS;
}

int cuCtxSetCurrent(void *ctx)
{
    CALL("cuCtxSetCurrent");
    if (ctx && !is_context(ctx))
        return CUDA_ERROR_INVALID_CONTEXT;
    if (depth)
        fake_was_current(stack[--depth]);
    if (ctx) {
        stack[depth++] = ctx;
        fake_becomes_current(ctx);
    }
    return CUDA_SUCCESS;
}

int cuCtxGetDevice(int *out)
{
    struct context *c;

    CALL_IN("cuCtxGetDevice", &c);
    *out = c->dev;
    return CUDA_SUCCESS;
}

int cuCtxGetFlags(unsigned *out)
{
    struct context *c;

    CALL_IN("cuCtxGetFlags", &c);
    *out = __atomic_load_n(&fake_whole(c)->flags, __ATOMIC_ACQUIRE);
    return CUDA_SUCCESS;
}

/* Since 12.1.  They take the place of all that were set before; the lowest
 * three bits are ways to wait, of which there is one. */
int cuCtxSetFlags(unsigned flags)
{
    struct context *c;
    unsigned wait = flags & 7;

    CALL_IN("cuCtxSetFlags", &c);
    if (fake_version() < 12010)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (flags > 0xff || (wait & (wait - 1)))
        return CUDA_ERROR_INVALID_VALUE;
    __atomic_store_n(&fake_whole(c)->flags, flags, __ATOMIC_RELEASE);
    return CUDA_SUCCESS;
}

int cuCtxSynchronize(void)
{
    struct context *c;

    CALL_IN("cuCtxSynchronize", &c);
    return fake_code(dev_sync_all(c->dev));
}

int cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
    struct context *c;

    CALL_IN("cuCtxGetStreamPriorityRange", &c);
    *least = 0;
    *greatest = dev_setup()->is == DEV_BARE ? 0 : -5;
    return CUDA_SUCCESS;
}
