/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_graph.c - graphs of an NVIDIA device: captures of streams, the objects
 * that belong to them, and graphs that the library makes and launches.
 * The driver orders the launches of one graph, on any streams. */
#include "gtl/cuda/cuda_int.h"

#include <errno.h>
#include <stdlib.h>

/* ---- those that streams record ---- */

/* The capture's number and its graph. */
static int capture_of(void *s, unsigned long long *id, void **graph)
{
    int is = CU_STREAM_CAPTURE_STATUS_NONE, rc;

    rc = CU(cuStreamGetCaptureInfo_v2, s, &is, id, graph, NULL, NULL);
    if (rc)
        return rc;
    if (is == CU_STREAM_CAPTURE_STATUS_ACTIVE)
        return 0;
    return gtl_fail_capture("cuStreamGetCaptureInfo",
                            is != CU_STREAM_CAPTURE_STATUS_NONE, is);
}

int gtl_cu_graph_id(void *s, uint64_t *id)
{
    unsigned long long n = 0;
    int rc;

    if (!gtl_cu.cuStreamGetCaptureInfo_v2)
        return gtl_fail(-ENOSYS, "cuStreamGetCaptureInfo", "is not there with "
                        "drivers before CUDA 11.3", 0);
    rc = capture_of(s, &n, NULL);
    if (!rc)
        *id = n;
    return rc;
}

int gtl_cu_graph_own(void *s, void (*end)(void *arg), void *arg)
{
    unsigned long long id;
    struct gtl_graph_object *o;
    void *graph = NULL, *object;
    int rc;

    if (!gtl_cu.cuStreamGetCaptureInfo_v2 || !gtl_cu.cuUserObjectCreate)
        return gtl_fail(-EBUSY, "cuStreamGetCaptureInfo", "graphs own nothing "
                        "with drivers before CUDA 11.3", 0);
    rc = capture_of(s, &id, &graph);
    if (rc)
        return rc;
    o = gtl_graph_object_new(end, arg);
    if (!o)
        return gtl_fail(-ENOMEM, "malloc", "out of memory", ENOMEM);
    rc = CU(cuUserObjectCreate, &object, o, gtl_graph_object_end, 1,
            CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
    if (rc) {
        free(o);
        return rc;
    }
    rc = CU(cuGraphRetainUserObject, graph, object, 1,
            CU_GRAPH_USER_OBJECT_MOVE);
    if (rc) {
        o->end = NULL;
        CU(cuUserObjectRelease, object, 1);
    }
    return rc;
}

/* ---- those of our own making ---- */

int gtl_cu_capture_begin(void *s)
{
    if (!gtl_cu.cuStreamBeginCapture_v2 ||
        !gtl_cu.cuGraphInstantiateWithFlags)
        return gtl_fail(-ENOSYS, "cuGraphInstantiateWithFlags", "is not there "
                        "with drivers before CUDA 11.4", 0);
    if (gtl_cu_is_capturing(s))
        return gtl_fail(-EINVAL, "cuStreamBeginCapture", "the stream records "
                        "already", 0);
    return CU(cuStreamBeginCapture_v2, s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
}

int gtl_cu_capture_end(void *s, void **out)
{
    void *graph = NULL, *exec = NULL;
    int rc;

    if (!gtl_cu_is_capturing(s) || !gtl_cu.cuStreamEndCapture)
        return gtl_fail(-EINVAL, "cuStreamEndCapture", "the stream records no "
                        "graph", 0);
    rc = CU(cuStreamEndCapture, s, &graph);
    if (rc)
        return rc;
    rc = CU_RELAXED(cuGraphInstantiateWithFlags, &exec, graph, 0);
    CU_RELAXED(cuGraphDestroy, graph);
    if (!rc)
        *out = exec;
    return rc;
}

int gtl_cu_graph_launch(void *graph, void *s)
{
    if (gtl_cu_is_capturing(s))
        return gtl_fail(-EBUSY, "cuGraphLaunch", "the stream records a graph",
                        0);
    return CU(cuGraphLaunch, graph, s);
}

void gtl_cu_graph_destroy(void *graph)
{
    CU_RELAXED(cuGraphExecDestroy, graph);
}
