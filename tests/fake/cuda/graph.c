/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams that record, and graphs. */
#include "fake.h"

#include <errno.h>

#define STREAM(name, handle, work, s)                           \
    do {                                                        \
        struct context *ctx_;                                   \
        int code_ = fake_call_in(name, &ctx_);                  \
                                                                \
        if (!code_)                                             \
            code_ = fake_stream(handle, ctx_, work, s);         \
        if (code_)                                              \
            return code_;                                       \
    } while (0)

int cuThreadExchangeStreamCaptureMode(int *mode)
{
    CALL("cuThreadExchangeStreamCaptureMode");
    if (*mode < DEV_GLOBAL || *mode > DEV_RELAXED)
        return CUDA_ERROR_INVALID_VALUE;
    *mode = (int)dev_mode_exchange((enum dev_mode)*mode);
    return CUDA_SUCCESS;
}

int cuStreamIsCapturing(void *handle, int *out)
{
    struct dev_stream *s;

    STREAM("cuStreamIsCapturing", handle, false, &s);
    *out = (int)dev_capture_status(s);
    return CUDA_SUCCESS;
}

int cuStreamGetCaptureInfo_v2(void *handle, int *status,
                              unsigned long long *id, void **graph,
                              const void **deps, size_t *n_deps)
{
    struct dev_stream *s;

    STREAM("cuStreamGetCaptureInfo_v2", handle, false, &s);
    *status = (int)dev_capture_status(s);
    if (id && *status != DEV_NO_CAPTURE)
        *id = dev_graph_id(s->graph);
    if (graph)
        *graph = dev_capture_graph(s);
    if (deps)
        *deps = NULL;
    if (n_deps)
        *n_deps = 0;
    return CUDA_SUCCESS;
}

int cuStreamBeginCapture_v2(void *handle, int mode)
{
    struct dev_stream *s;

    STREAM("cuStreamBeginCapture_v2", handle, true, &s);
    if (!handle || handle == (void *)1)
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (mode < DEV_GLOBAL || mode > DEV_RELAXED ||
        dev_capture_begin(s, (enum dev_mode)mode))
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

int cuStreamEndCapture(void *handle, void **graph)
{
    struct dev_graph *g = NULL;
    struct dev_stream *s;

    STREAM("cuStreamEndCapture", handle, false, &s);
    switch (-dev_capture_end(s, &g)) {
    case 0:
        *graph = g;
        return CUDA_SUCCESS;
    case EIO:
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    case EXDEV:
        return CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
    case EPERM:
        return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
    }
    return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
}

int cuGraphInstantiateWithFlags(void **out, void *graph,
                                unsigned long long flags)
{
    (void)flags;
    CALL("cuGraphInstantiateWithFlags");
    dev_graph_hold(graph);
    *out = graph;
    return CUDA_SUCCESS;
}

int cuGraphLaunch(void *exec, void *handle)
{
    struct dev_stream *s;

    STREAM("cuGraphLaunch", handle, true, &s);
    dev_graph_in_turn(exec, s);
    return CUDA_SUCCESS;
}

int cuGraphDestroy(void *graph)
{
    CALL("cuGraphDestroy");
    dev_graph_drop(graph);
    return CUDA_SUCCESS;
}

int cuGraphExecDestroy(void *exec)
{
    CALL("cuGraphExecDestroy");
    dev_graph_drop(exec);
    return CUDA_SUCCESS;
}

int cuUserObjectCreate(void **out, void *arg, void (*destroy)(void *arg),
                       unsigned refs, unsigned flags)
{
    CALL("cuUserObjectCreate");
    if (!refs || flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC)
        return CUDA_ERROR_INVALID_VALUE;
    *out = dev_object_new(destroy, arg, refs);
    return CUDA_SUCCESS;
}

int cuUserObjectRelease(void *object, unsigned n)
{
    CALL("cuUserObjectRelease");
    if (!dev_object_is(object))
        return CUDA_ERROR_INVALID_VALUE;
    while (n--)
        dev_object_release(object);
    return CUDA_SUCCESS;
}

int cuGraphRetainUserObject(void *graph, void *object, unsigned n,
                            unsigned flags)
{
    CALL("cuGraphRetainUserObject");
    if (!dev_object_is(object) || n != 1 || flags != CU_GRAPH_USER_OBJECT_MOVE)
        return CUDA_ERROR_INVALID_VALUE;
    dev_graph_keep(graph, dev_object_release, object);
    return CUDA_SUCCESS;
}
