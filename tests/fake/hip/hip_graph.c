/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams that record, and graphs. */
#include "hip.h"

#include <errno.h>
#include <stdint.h>

unsigned hipThreadExchangeStreamCaptureMode(unsigned *mode)
{
    CALL(ThreadExchangeStreamCaptureMode);
    if (*mode > DEV_RELAXED)
        return hip_result(HIP_INVALID_VALUE);
    *mode = (unsigned)dev_mode_exchange((enum dev_mode)*mode);
    return hip_result(HIP_OK);
}

unsigned hipStreamIsCapturing(struct hip_stream *s, unsigned *out)
{
    struct dev_stream *d;

    CALL(StreamIsCapturing);
    d = hip_stream_of(s);
    if (!d)
        return hip_result(HIP_CONTEXT_IS_DESTROYED);
    *out = (unsigned)dev_capture_status(d);
    return hip_result(HIP_OK);
}

EXPORT unsigned hipStreamBeginCapture(struct hip_stream *s, unsigned mode)
{
    struct dev_stream *d = hip_stream_of(s);

    if (!d || (uintptr_t)s <= 2 || mode > DEV_RELAXED ||
        dev_capture_begin(d, (enum dev_mode)mode))
        return hip_result(HIP_INVALID_VALUE);
    return hip_result(HIP_OK);
}

EXPORT unsigned hipStreamEndCapture(struct hip_stream *s, void **graph)
{
    struct dev_stream *d = hip_stream_of(s);
    struct dev_graph *g = NULL;
    int rc = d ? dev_capture_end(d, &g) : -EINVAL;

    if (rc)
        return hip_result(rc == -EIO ? CAPTURE_INVALIDATED
                          : rc == -EXDEV ? CAPTURE_UNJOINED
                          : rc == -EPERM ? HIP_CAPTURE_LAST
                          : CAPTURE_UNMATCHED);
    *graph = g;
    return hip_result(HIP_OK);
}

EXPORT unsigned hipGraphInstantiateWithFlags(void **out, void *graph,
                                             unsigned long long flags)
{
    (void)flags;
    dev_graph_hold(graph);
    *out = graph;
    return hip_result(HIP_OK);
}

EXPORT unsigned hipGraphLaunch(void *made, struct hip_stream *s)
{
    struct dev_stream *d = hip_stream_of(s);

    if (!d)
        return hip_result(HIP_CONTEXT_IS_DESTROYED);
    dev_graph_launch(made, d);
    return hip_result(HIP_OK);
}

EXPORT unsigned hipGraphDestroy(void *graph)
{
    dev_graph_drop(graph);
    return hip_result(HIP_OK);
}

EXPORT unsigned hipGraphExecDestroy(void *made)
{
    dev_graph_drop(made);
    return hip_result(HIP_OK);
}
