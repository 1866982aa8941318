/* SPDX-License-Identifier: BSD-3-Clause */
/* hip_driver.c - the HIP runtime as the files of this driver use it: its
 * calls, its errors as -errno and text, the thread's current device, and the
 * state that all of them share.  It calls none of them. */
#include "gtl/hip/hip_int.h"
#include "base/dl.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

struct gtl_hip_calls gtl_hip_rt;
struct gtl_hip_state gtl_hip_state;

static int to_errno(unsigned error)
{
    switch (error) {
    case HIP_OUT_OF_MEMORY:
    case HIP_OUT_OF_RESOURCES:
        return -ENOMEM;
    case HIP_NO_DEVICE:
    case HIP_INVALID_DEVICE:
        return -ENODEV;
    case HIP_INVALID_VALUE:
    case HIP_INVALID_HANDLE:
    case HIP_CONTEXT_IS_DESTROYED:
    case HIP_NOT_REGISTERED:
        return -EINVAL;
    case HIP_ALREADY_REGISTERED:
    case HIP_PEER_ACCESS_ENABLED:
        return -EEXIST;
    case HIP_PEER_ACCESS_UNSUPPORTED:
        return -EXDEV;
    case HIP_INSUFFICIENT_DRIVER:
    case HIP_NO_BINARY:
    case HIP_NOT_SUPPORTED:
        return -ENOSYS;
    default:
        if (error >= HIP_CAPTURE_UNSUPPORTED && error <= HIP_CAPTURE_LAST)
            return -EBUSY;
        return -EIO;
    }
}

int gtl_hip_result(unsigned error, const char *call)
{
    const char *name, *message;
    char text[120];

    if (error == HIP_OK)
        return 0;
    /* From 7 on "not ready" is not kept, but an error of the program is. */
    if (error != HIP_NOT_READY || gtl_hip_state.major < 7)
        gtl_hip_rt.GetLastError();
    if (error == HIP_NOT_READY)
        return -EAGAIN;
    /* Old ones have no text but the name. */
    name = gtl_hip_rt.GetErrorName(error);
    message = gtl_hip_rt.GetErrorString(error);
    snprintf(text, sizeof text, "%s%s%s", strcmp(name, message) ? message : "",
             strcmp(name, message) ? ", " : "", name);
    return gtl_fail(to_errno(error), call, text, error);
}

int gtl_hip_enter(void)
{
    int was = gtl_hip_state.device;

    if (gtl_hip_rt.GetDevice(&was) == HIP_OK && was != gtl_hip_state.device)
        gtl_hip_rt.SetDevice(gtl_hip_state.device);
    return was;
}

void gtl_hip_leave(int was)
{
    if (was != gtl_hip_state.device)
        gtl_hip_rt.SetDevice(was);
}

static __thread unsigned capture_mode, relaxed_depth;
static __thread bool relaxed;

static bool exchange_mode(void)
{
    return gtl_hip_rt.ThreadExchangeStreamCaptureMode &&
           !gtl_hip_rt.ThreadExchangeStreamCaptureMode(&capture_mode);
}

int gtl_hip_enter_relaxed(void)
{
    if (!relaxed_depth++) {             /* one such call may make another one */
        capture_mode = HIP_CAPTURE_RELAXED;
        relaxed = exchange_mode();
    }
    return gtl_hip_enter();
}

void gtl_hip_leave_relaxed(int was)
{
    gtl_hip_leave(was);
    if (!--relaxed_depth && relaxed)
        exchange_mode();
}

/* A second runtime in one process would know nothing of the program's memory
 * and streams, so what is loaded comes before what is newest. */
int gtl_hip_bind(void)
{
    static const char *const names[] = {
        "libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5",
        "libamdhip64.so", NULL
    };
    const char *loaded[] = { NULL, NULL };
#define NEED(result, name, args) { "hip" #name, &gtl_hip_rt.name },
#define NONE(result, name, args)
    const struct dl_sym needs[] = { HIP_CALLS(NEED, NONE) };
    const struct dl_sym may[] = {
        HIP_CALLS(NONE, NEED)
        { "hsa_amd_portable_export_dmabuf", &gtl_hip_rt.export_dmabuf }
    };
#undef NEED
#undef NONE
    void *h = NULL;
    int rc;

    for (int i = 0; names[i] && !h; i++) {
        h = dlopen(names[i], RTLD_NOLOAD | RTLD_LAZY);
        if (h)
            loaded[0] = names[i];
    }
    rc = dl_open(h ? loaded : names, needs,
                 (int)(sizeof needs / sizeof *needs), &gtl_hip_state.library);
    if (h)
        dlclose(h);
    if (rc == -ENOENT)
        return gtl_fail(-ENODEV, "dlopen of libamdhip64.so.7, .6 and .5",
                        "no AMD HIP runtime was found", ENOENT);
    if (rc == -ENOTSUP)
        return gtl_fail(-ENODEV, "dlopen of libamdhip64.so", GTL_STATIC,
                        ENOTSUP);
    if (rc)
        return gtl_fail(rc, "dlsym in libamdhip64.so",
                        "a call of HIP 5 to 7 is missing", -rc);
    dl_load_optional(gtl_hip_state.library, may,
                     (int)(sizeof may / sizeof *may));
    return 0;
}

/* Parts of one card can share a number of theirs, or a place on the bus. */
void gtl_hip_identify(int device, struct gtl_device *d)
{
    struct hip_uuid uuid = { { 0 } };
    int at;

    if (HIP(DeviceGetPCIBusId, d->pci, (int)sizeof d->pci, device))
        d->pci[0] = '\0';
    if (!gtl_hip_rt.DeviceGetUuid || HIP(DeviceGetUuid, &uuid, device))
        memset(&uuid, 0, sizeof uuid);
    at = snprintf(d->id, sizeof d->id, "%s", d->pci);
    for (unsigned i = 0; i < sizeof uuid.bytes && at < (int)sizeof d->id; i++)
        at += snprintf(d->id + at, sizeof d->id - (size_t)at, "%02x",
                       (unsigned char)uuid.bytes[i]);
}
