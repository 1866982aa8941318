/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_stream.c - streams and events of an NVIDIA device, and what their order
 * alone is for: functions of the host and flushes.  cuda_ops.c enqueues the
 * operations on memory. */
#include "gtl/cuda/cuda_int.h"
#include "gtl/gtl_default_stream.h"

#include <errno.h>

int gtl_cu_stream_create(enum gtl_priority priority, void **out)
{
    void *s;
    int rc = CU_RELAXED(cuStreamCreateWithPriority, &s, CU_STREAM_NON_BLOCKING,
                priority == GTL_NORMAL ? 0 : gtl_cu_device.urgent);

    if (!rc)
        *out = s;
    return rc;
}

void gtl_cu_stream_destroy(void *s)
{
    CU_RELAXED(cuStreamDestroy_v2, s);
}

/* A stream of a green context is ours if that is a part of the primary one,
 * which is the PE's: memory, code and events of that serve it, so nothing else
 * is made current for it. */
static int check_context(void *s)
{
    void *ctx = NULL, *green = NULL;
    int rc;

    rc = gtl_cu.cuStreamGetCtx_v2 ? CU(cuStreamGetCtx_v2, s, &ctx, &green)
                                  : CU(cuStreamGetCtx, s, &ctx);
    if (rc || ctx == gtl_cu_device.ctx)
        return rc;
    if (green)
        return gtl_fail(-EINVAL, "cuStreamGetCtx", "the stream's green context "
                        "is a part of a device's primary context, which is not "
                        "the PE's context", 0);
    return gtl_fail(-EINVAL, "cuStreamGetCtx", gtl_cu.cuStreamGetCtx_v2
                    ? "the stream belongs to another context than the PE's"
                    : "the stream belongs to another context than the PE's, or "
                      "to a green one of it, for which the driver has to be of "
                      "CUDA 12.5", 0);
}

int gtl_cu_stream_check(void *s, uint64_t *id)
{
    int capturing = CU_STREAM_CAPTURE_STATUS_NONE, rc;
    unsigned long long n = gtl_is_per_thread(s) ? GTL_THREADS | gtl_thread_id()
                                            : (uintptr_t)s;

    rc = check_context(s);
    if (rc)
        return rc;
    rc = CU(cuStreamIsCapturing, s, &capturing);
    /* Drivers before 12.0 have no name for a stream but its handle. */
    if (!rc && gtl_cu.cuStreamGetId)
        rc = CU(cuStreamGetId, s, &n);
    if (rc && rc != -EBUSY)
        return rc;
    *id = n;
    if (rc)                     /* one that others record in order with */
        return rc;
    return capturing == CU_STREAM_CAPTURE_STATUS_NONE ? 0
           : gtl_fail(-EBUSY, "cuStreamIsCapturing",
                      "the stream records a graph", capturing);
}

/* The next call reports an error of the driver. */
bool gtl_cu_is_capturing(void *s)
{
    int is = CU_STREAM_CAPTURE_STATUS_NONE;

    return !CU(cuStreamIsCapturing, s, &is) &&
           is != CU_STREAM_CAPTURE_STATUS_NONE;
}

int gtl_cu_stream_query(void *s)
{
    return CU_RELAXED(cuStreamQuery, s);
}

int gtl_cu_stream_sync(void *s)
{
    return CU_RELAXED(cuStreamSynchronize, s);
}

int gtl_cu_host_call(void (*fn)(void *arg), void *arg, void *s)
{
    return CU(cuLaunchHostFunc, s, fn, arg);
}

int gtl_cu_launch(const struct shmemx_grid *grid, gtl_kernel *body, void *arg,
                  void *s)
{
    (void)grid;
    (void)body;
    (void)arg;
    (void)s;
    return gtl_fail(-ENOTSUP, "launch", "functions of the host run on the "
                    "software device only", 0);
}

/* The write of a word does it. */
int gtl_cu_release(void *s)
{
    (void)s;
    return 0;
}

int gtl_cu_event_create(void **out)
{
    void *e;
    int rc = CU_RELAXED(cuEventCreate, &e, CU_EVENT_DISABLE_TIMING);

    if (!rc)
        *out = e;
    return rc;
}

int gtl_cu_timer_create(void **out)
{
    void *e;
    int rc = gtl_cu.cuEventElapsedTime ? CU_RELAXED(cuEventCreate, &e, 0)
                                       : gtl_no_timer_create(out);

    if (!rc)
        *out = e;
    return rc;
}

int gtl_cu_timer_ns(void *from, void *to, int64_t *ns)
{
    float ms = 0;
    int rc = CU_RELAXED(cuEventElapsedTime, &ms, from, to);

    *ns = (int64_t)((double)ms * 1e6);
    return rc;
}

void gtl_cu_event_destroy(void *e)
{
    CU_RELAXED(cuEventDestroy_v2, e);
}

int gtl_cu_event_record(void *e, void *s)
{
    return CU(cuEventRecord, e, s);
}

int gtl_cu_event_wait(void *e, void *s)
{
    return CU(cuStreamWaitEvent, s, e, 0);
}

int gtl_cu_event_query(void *e)
{
    return CU_RELAXED(cuEventQuery, e);
}

int gtl_cu_flush(void)
{
    if (gtl_device.ordered)
        return 0;
    if (!gtl_cu_device.host_flush)
        return gtl_fail(-ENOSYS, "cuFlushGPUDirectRDMAWrites", "this device "
                        "or driver cannot flush what a NIC has written", 0);
    return CU_RELAXED(cuFlushGPUDirectRDMAWrites,
              CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX,
              CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER);
}
