/* SPDX-License-Identifier: BSD-3-Clause */
/* Versions, devices, errors. */
#include "hip.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static __thread int current;
static __thread unsigned last;
static bool used;
static uint32_t hdp[16];

/* As many as the runtime takes from the hardware. */
static void __attribute__((constructor)) set_queues(void)
{
    const char *text = getenv("GPU_MAX_HW_QUEUES");

    dev_queues = text && atoi(text) > 0 ? atoi(text) : 4;
}

int hip_major(void)
{
    const char *text = getenv("FAKE_HIP_MAJOR");

    return text && *text ? atoi(text) : 6;
}

int hip_current(void)
{
    return current;
}

void hip_use(void)
{
    __atomic_store_n(&used, true, __ATOMIC_RELAXED);
}

unsigned hip_result(unsigned error)
{
    if (hip_major() < 7 || (error != HIP_OK && error != HIP_NOT_READY))
        last = error;
    return error;
}

unsigned hip_error(int rc)
{
    switch (rc) {
    case 0:
        return HIP_OK;
    case -ENOMEM:
        return HIP_OUT_OF_MEMORY;
    case -EEXIST:
        return HIP_ALREADY_REGISTERED;
    case -EXDEV:
        return HIP_INVALID_CONTEXT;
    case -ENOENT:
    case -ENOSPC:
        return HIP_MAP_FAILED;
    case -ENODEV:
        return HIP_INVALID_DEVICE;
    case -EACCES:
        return HIP_PEER_ACCESS_UNSUPPORTED;
    case -EFAULT:
        return HIP_ILLEGAL_ADDRESS;
    default:
        return HIP_INVALID_VALUE;
    }
}

unsigned hipGetLastError(void)
{
    unsigned was = last;

    dev_note("hipGetLastError", "");
    last = HIP_OK;
    return was;
}

static const struct {
    unsigned error;
    const char *name, *words;
} texts[] = {
    { HIP_OK, "hipSuccess", "no error" },
    { HIP_INVALID_VALUE, "hipErrorInvalidValue", "invalid argument" },
    { HIP_OUT_OF_MEMORY, "hipErrorOutOfMemory", "out of memory" },
    { HIP_INSUFFICIENT_DRIVER, "hipErrorInsufficientDriver",
      "driver version is insufficient for runtime version" },
    { HIP_NO_DEVICE, "hipErrorNoDevice", "no ROCm-capable device is detected" },
    { HIP_INVALID_DEVICE, "hipErrorInvalidDevice", "invalid device ordinal" },
    { HIP_INVALID_HANDLE, "hipErrorInvalidHandle", "invalid resource handle" },
    { HIP_MAP_FAILED, "hipErrorMapFailed", "mapping of buffer object failed" },
    { HIP_PEER_ACCESS_UNSUPPORTED, "hipErrorPeerAccessUnsupported",
      "peer access is not supported between these two devices" },
    { HIP_PEER_ACCESS_ENABLED, "hipErrorPeerAccessAlreadyEnabled",
      "peer access is already enabled" },
    { HIP_NOT_READY, "hipErrorNotReady", "device not ready" },
    { HIP_ILLEGAL_ADDRESS, "hipErrorIllegalAddress",
      "an illegal memory access was encountered" },
    { HIP_CONTEXT_IS_DESTROYED, "hipErrorContextIsDestroyed",
      "context is destroyed" },
    { HIP_ALREADY_REGISTERED, "hipErrorHostMemoryAlreadyRegistered",
      "part or all of the requested memory range is already mapped" },
    { HIP_NOT_SUPPORTED, "hipErrorNotSupported",
      "operation not supported" },
};

const char *hipGetErrorName(unsigned error)
{
    for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i].error == error)
            return texts[i].name;
    return "hipErrorUnknown";
}

/* Version 5 had the name in both. */
const char *hipGetErrorString(unsigned error)
{
    for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i].error == error && hip_major() > 5)
            return texts[i].words;
    return hipGetErrorName(error);
}

unsigned hipInit(unsigned flags)
{
    CALL(Init);
    if (flags)
        return hip_result(HIP_INVALID_VALUE);
    return hip_result(dev_setup()->count ? HIP_OK : HIP_NO_DEVICE);
}

unsigned hipRuntimeGetVersion(int *out)
{
    CALL(RuntimeGetVersion);
    *out = hip_major() * HIP_PER_MAJOR + 200000;
    return hip_result(HIP_OK);
}

unsigned hipGetDeviceCount(int *out)
{
    CALL(GetDeviceCount);
    *out = dev_setup()->count;
    return hip_result(*out ? HIP_OK : HIP_NO_DEVICE);
}

unsigned hipGetDevice(int *out)
{
    int code = dev_setup()->count ? 0 : HIP_NO_DEVICE;

    *out = current;
    return hip_result((unsigned)code);
}

unsigned hipSetDevice(int device)
{
    CALL(SetDevice);
    if (device < 0 || device >= dev_setup()->count)
        return hip_result(HIP_INVALID_DEVICE);
    current = device;
    return hip_result(HIP_OK);
}

unsigned hipDevicePrimaryCtxGetState(int device, unsigned *flags, int *active)
{
    const char *text = getenv("FAKE_HIP_USED");

    CALL(DevicePrimaryCtxGetState);
    *flags = 0;
    if (hip_major() < 6)
        *active = device == current;
    else
        *active = !device && (used || (text && *text == '1'));
    return hip_result(HIP_OK);
}

/* The register of a card is an address, written over the int and what
 * follows it. */
unsigned hipDeviceGetAttribute(int *out, unsigned attr, int device)
{
    const char *text = getenv("FAKE_HIP_INTEGRATED");
    enum dev_personality is = dev_setup()->is;
    uint32_t *address = is == DEV_COHERENT || dev_setup()->ordered
        ? NULL : hdp;

    (void)device;
    CALL(DeviceGetAttribute);
    switch (attr) {
    case HIP_ATTR_INTEGRATED:
        *out = is == DEV_COHERENT || (text && *text == '1');
        break;
    case HIP_ATTR_PROCESSORS:
        *out = is == DEV_BARE ? 60 : 110;
        break;
    case HIP_ATTR_ITEMS_EACH:
        *out = 2048;
        break;
    case HIP_ATTR_SHARED_EACH:
        *out = 65536;
        break;
    case HIP_ATTR_HDP_MEM_FLUSH:
        dev_flush_register = address;
        memcpy(out, &address, sizeof address);
        break;
    case HIP_ATTR_WAIT_VALUE:
        *out = is != DEV_BARE;
        break;
    default:
        return hip_result(HIP_INVALID_VALUE);
    }
    return hip_result(HIP_OK);
}

unsigned hipDeviceGetName(char *out, int size, int device)
{
    CALL(DeviceGetName);
    if (device < 0 || device >= dev_setup()->count)
        return hip_result(HIP_INVALID_DEVICE);
    snprintf(out, (size_t)size, "Threads of this machine, HIP");
    return hip_result(HIP_OK);
}

unsigned hipDeviceGetPCIBusId(char *out, int size, int device)
{
    CALL(DeviceGetPCIBusId);
    if (size < 13)
        return hip_result(HIP_INVALID_VALUE);
    snprintf(out, (size_t)size, "0000:%02x:00.0", dev_setup()->parts ? 0xc1
             : 0xc1 + dev_number(device));
    return hip_result(HIP_OK);
}

unsigned hipDeviceGetUuid(struct hip_uuid *out, int device)
{
    char text[sizeof out->bytes + 1];

    CALL(DeviceGetUuid);
    snprintf(text, sizeof text, "%016x", 0x5eed + dev_number(device));
    memcpy(out->bytes, text, sizeof out->bytes);
    return hip_result(HIP_OK);
}

unsigned hipDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    CALL(DeviceGetStreamPriorityRange);
    *least = 1;
    *greatest = -1;
    return hip_result(HIP_OK);
}
