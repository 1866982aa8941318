/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_driver.c - libcuda.so.1 as the files of this driver use it: its calls,
 * its errors as -errno and text, and the state that all of them share.  It
 * calls none of them. */
#include "gtl/cuda/cuda_int.h"
#include "base/dl.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct gtl_cu_calls gtl_cu;
struct gtl_cu_device gtl_cu_device;
__thread bool gtl_cu_pushed;
__thread int gtl_cu_mode;

static const struct { int code, rc; } codes[] = {
    { CUDA_ERROR_INVALID_VALUE, -EINVAL },
    { CUDA_ERROR_OUT_OF_MEMORY, -ENOMEM },
    { CUDA_ERROR_STUB_LIBRARY, -ENODEV },
    { CUDA_ERROR_DEVICE_UNAVAILABLE, -EBUSY },
    { CUDA_ERROR_NO_DEVICE, -ENODEV },
    { CUDA_ERROR_INVALID_DEVICE, -ENODEV },
    { CUDA_ERROR_INVALID_CONTEXT, -EINVAL },
    { CUDA_ERROR_NO_BINARY_FOR_GPU, -ENOSYS },
    { CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, -EXDEV },
    { CUDA_ERROR_INVALID_PTX, -ENOSYS },
    { CUDA_ERROR_JIT_COMPILER_NOT_FOUND, -ENOSYS },
    { CUDA_ERROR_UNSUPPORTED_PTX_VERSION, -ENOSYS },
    { CUDA_ERROR_INVALID_HANDLE, -EINVAL },
    { CUDA_ERROR_NOT_FOUND, -ENOSYS },
    { CUDA_ERROR_NOT_READY, -EAGAIN },
    { CUDA_ERROR_CONTEXT_IS_DESTROYED, -EINVAL },
    { CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, -EBUSY },
    { CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, -EINVAL },
    { CUDA_ERROR_NOT_PERMITTED, -EPERM },
    { CUDA_ERROR_NOT_SUPPORTED, -EOPNOTSUPP },
    { CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, -ENOSYS },
    { CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, -ENOSYS }
};

int gtl_cu_fail(const char *call, int code)
{
    const char *name = NULL, *text = NULL;
    char plain[48], message[112];
    bool captures = code >= CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED &&
                    code <= CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
    int rc = captures ? -EBUSY : -EIO;

    if (code == CUDA_ERROR_NOT_READY)
        return -EAGAIN;
    for (unsigned i = 0; i < sizeof codes / sizeof *codes; i++)
        if (codes[i].code == code)
            rc = codes[i].rc;
    if (gtl_cu.cuGetErrorName(code, &name) || !name)
        name = "an error that the driver does not name";
    if (gtl_cu.cuGetErrorString(code, &text) || !text)
        text = "no text";
    snprintf(message, sizeof message, "%s, %s", text, name);
    /* The call's name in the vendor's manual. */
    snprintf(plain, sizeof plain, "%.*s", (int)strcspn(call, "_"), call);
    return gtl_fail(rc, plain, message, code);
}

int gtl_cu_bind(void)
{
    static const char *const names[] = { "libcuda.so.1", NULL };
#define X(name, args) { #name, &gtl_cu.name },
    static const struct dl_sym needed[] = { CUDA_CALLS(X) };
    static const struct dl_sym optional[] = { CUDA_OPTIONAL_CALLS(X) };
#undef X
    static void *lib;
    int rc;

    if (lib)
        return 0;
    rc = dl_open(names, needed, sizeof needed / sizeof *needed, &lib);
    if (rc == -ENOENT)
        return gtl_fail(-ENODEV, "dlopen libcuda.so.1",
                        "the NVIDIA driver is not installed", 0);
    if (rc == -ENOTSUP)
        return gtl_fail(-ENODEV, "dlopen libcuda.so.1", GTL_STATIC, ENOTSUP);
    if (rc)
        return gtl_fail(-ENOSYS, "libcuda.so.1", "lacks a call: the NVIDIA "
                        "driver is older than CUDA 11.0", 0);
    dl_load_optional(lib, optional, sizeof optional / sizeof *optional);
    return 0;
}

int gtl_cu_uuid(int dev, struct cuda_uuid *out)
{
    /* The optional form differs for the parts of a divided device. */
    if (gtl_cu.cuDeviceGetUuid_v2)
        return CU(cuDeviceGetUuid_v2, out, dev);
    return CU(cuDeviceGetUuid, out, dev);
}
