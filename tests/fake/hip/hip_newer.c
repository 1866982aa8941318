/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that came after version 5.2. */
#include "hip.h"

unsigned hipLaunchHostFunc(struct hip_stream *s, void (*fn)(void *arg),
                           void *arg)
{
    struct dev_stream *d;

    WORK(LaunchHostFunc);
    d = hip_stream_of(s);
    if (!d || !fn)
        return hip_result(HIP_INVALID_VALUE);
    dev_host(d, fn, arg);
    return hip_result(HIP_OK);
}

unsigned hipStreamGetDevice(struct hip_stream *s, int *out)
{
    struct dev_stream *d;

    CALL(StreamGetDevice);
    d = hip_stream_of(s);
    if (!d)
        return hip_result(HIP_CONTEXT_IS_DESTROYED);
    *out = d->device;
    return hip_result(HIP_OK);
}

unsigned hipStreamGetId(struct hip_stream *s, unsigned long long *out)
{
    struct dev_stream *d;

    CALL(StreamGetId);
    d = hip_stream_of(s);
    if (!d)
        return hip_result(HIP_CONTEXT_IS_DESTROYED);
    *out = d->id;
    return hip_result(HIP_OK);
}

/* The stream of a call that no capture records here; the runtime makes nodes
 * of a graph of such calls. */
static unsigned not_recording(struct hip_stream *s, struct dev_stream **out)
{
    *out = hip_stream_of(s);
    if (!*out)
        return HIP_CONTEXT_IS_DESTROYED;
    if (dev_capture_status(*out) == DEV_NO_CAPTURE)
        return HIP_OK;
    dev_capture_break(*out);
    return HIP_CAPTURE_UNSUPPORTED;
}

/* Memory of the device's pool. */
unsigned hipMallocAsync(void **out, size_t size, struct hip_stream *s)
{
    struct dev_stream *d;
    unsigned rc;

    WORK(MallocAsync);
    if (dev_setup()->is == DEV_BARE)
        return hip_result(HIP_NOT_SUPPORTED);
    rc = not_recording(s, &d);
    if (rc)
        return hip_result(rc);
    if (!size) {
        *out = NULL;
        return hip_result(HIP_OK);
    }
    return hip_result(hip_error(dev_pool_alloc(d, d->device, size, DEV_COARSE,
                                               out)));
}

unsigned hipFreeAsync(void *p, struct hip_stream *s)
{
    struct dev_stream *d;
    unsigned rc;

    WORK(FreeAsync);
    if (dev_setup()->is == DEV_BARE)
        return hip_result(HIP_NOT_SUPPORTED);
    rc = not_recording(s, &d);
    return hip_result(rc ? rc : hip_error(dev_pool_free(d, p)));
}

unsigned hipMemGetHandleForAddressRange(void *out, void *p, size_t size,
                                        unsigned type,
                                        unsigned long long flags)
{
    uint64_t offset;

    CALL(MemGetHandleForAddressRange);
    if (dev_setup()->is == DEV_BARE)
        return hip_result(HIP_NOT_SUPPORTED);
    if (type != HIP_RANGE_DMABUF || flags)
        return hip_result(HIP_INVALID_VALUE);
    return hip_result(hip_error(dev_dmabuf(p, size, out, &offset)));
}
