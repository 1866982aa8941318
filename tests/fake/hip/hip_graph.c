/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams that record, and graphs. */
#include "hip.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

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

unsigned hipStreamGetCaptureInfo_v2(struct hip_stream *s, unsigned *status,
                                    unsigned long long *id,
                                    struct hip_graph **graph,
                                    struct hip_graph_node *const **nodes,
                                    size_t *n)
{
    struct dev_stream *d;

    CALL(StreamGetCaptureInfo_v2);
    d = hip_stream_of(s);
    if (!d)
        return hip_result(HIP_CONTEXT_IS_DESTROYED);
    *status = (unsigned)dev_capture_status(d);
    if (*status != DEV_CAPTURES)
        return hip_result(HIP_OK);
    if (id)
        *id = dev_graph_id(d->graph);
    if (graph)
        *graph = (struct hip_graph *)d->graph;
    if (nodes)
        *nodes = NULL;
    if (n)
        *n = 0;
    return hip_result(HIP_OK);
}

unsigned hipStreamBeginCapture(struct hip_stream *s, unsigned mode)
{
    struct dev_stream *d;

    CALL(StreamBeginCapture);
    d = hip_stream_of(s);
    if (!d || (uintptr_t)s <= 2 || mode > DEV_RELAXED ||
        dev_capture_begin(d, (enum dev_mode)mode))
        return hip_result(HIP_INVALID_VALUE);
    return hip_result(HIP_OK);
}

unsigned hipStreamEndCapture(struct hip_stream *s, struct hip_graph **graph)
{
    struct dev_graph *g = NULL;
    struct dev_stream *d;
    int rc;

    CALL(StreamEndCapture);
    d = hip_stream_of(s);
    rc = d ? dev_capture_end(d, &g) : -EINVAL;
    if (rc)
        return hip_result(rc == -EIO ? CAPTURE_INVALIDATED
                          : rc == -EXDEV ? CAPTURE_UNJOINED
                          : rc == -EPERM ? HIP_CAPTURE_LAST
                          : CAPTURE_UNMATCHED);
    *graph = (struct hip_graph *)g;
    return hip_result(HIP_OK);
}

unsigned hipGraphInstantiateWithFlags(struct hip_graph_exec **out,
                                      struct hip_graph *graph,
                                      unsigned long long flags)
{
    (void)flags;
    CALL(GraphInstantiateWithFlags);
    dev_graph_hold((struct dev_graph *)graph);
    *out = (struct hip_graph_exec *)graph;
    return hip_result(HIP_OK);
}

/* Launches on several streams are in no order. */
unsigned hipGraphLaunch(struct hip_graph_exec *made, struct hip_stream *s)
{
    struct dev_stream *d;

    WORK(GraphLaunch);
    d = hip_stream_of(s);
    if (!d)
        return hip_result(HIP_CONTEXT_IS_DESTROYED);
    dev_graph_launch((struct dev_graph *)made, d);
    return hip_result(HIP_OK);
}

unsigned hipGraphDestroy(struct hip_graph *graph)
{
    CALL(GraphDestroy);
    dev_graph_drop((struct dev_graph *)graph);
    return hip_result(HIP_OK);
}

/* Those of 5 free it at once. */
unsigned hipGraphExecDestroy(struct hip_graph_exec *made)
{
    struct dev_graph *g = (struct dev_graph *)made;

    CALL(GraphExecDestroy);
    if (hip_major() < 6 && dev_graph_runs(g)) {
        fprintf(stderr, "fake HIP %d: a graph is destroyed while it runs\n",
                hip_major());
        abort();
    }
    dev_graph_drop(g);
    return hip_result(HIP_OK);
}

unsigned hipUserObjectCreate(struct hip_user_object **out, void *arg,
                             void (*destroy)(void *arg), unsigned refs,
                             unsigned flags)
{
    CALL(UserObjectCreate);
    if (!refs || !destroy || flags != HIP_OBJECT_NO_SYNC)
        return hip_result(HIP_INVALID_VALUE);
    *out = (struct hip_user_object *)dev_object_new(destroy, arg, refs);
    return hip_result(HIP_OK);
}

unsigned hipUserObjectRelease(struct hip_user_object *object, unsigned n)
{
    CALL(UserObjectRelease);
    if (!n || !dev_object_is(object))
        return hip_result(HIP_INVALID_VALUE);
    while (n--)
        dev_object_release(object);
    return hip_result(HIP_OK);
}

unsigned hipGraphRetainUserObject(struct hip_graph *graph,
                                  struct hip_user_object *object, unsigned n,
                                  unsigned flags)
{
    CALL(GraphRetainUserObject);
    if (n != 1 || flags != HIP_OBJECT_MOVE || !dev_object_is(object))
        return hip_result(HIP_INVALID_VALUE);
    dev_graph_keep((struct dev_graph *)graph, dev_object_release, object);
    return hip_result(HIP_OK);
}
