/* SPDX-License-Identifier: BSD-3-Clause */
/* hip_graph.c - graphs of AMD's GPUs: captures of streams, the objects that
 * belong to them, and graphs that the library makes and launches.
 *
 * The runtime promises no order among launches of a graph on several streams,
 * and older ones free a destroyed graph while it runs: the library records an
 * event behind each launch, for which the next launch waits, and which keeps a
 * destroyed graph until then. */
#include "gtl/hip/hip_int.h"
#include "base/lock.h"

#include <errno.h>
#include <stdlib.h>

/* ---- those that streams record ---- */

/* The capture's number and its graph. */
static int capture_of(void *s, unsigned long long *id, struct hip_graph **graph)
{
    unsigned is = HIP_CAPTURE_NONE;
    int was = gtl_hip_enter(), rc;

    rc = HIP(StreamGetCaptureInfo_v2, s, &is, id, graph, NULL, NULL);
    gtl_hip_leave(was);
    if (rc || is == HIP_CAPTURE_ACTIVE)
        return rc;
    return gtl_fail_capture("hipStreamGetCaptureInfo", is != HIP_CAPTURE_NONE,
                            is);
}

int gtl_hip_graph_id(void *s, uint64_t *id)
{
    unsigned long long n = 0;
    int rc;

    if (!gtl_hip_rt.StreamGetCaptureInfo_v2)
        return gtl_fail(-ENOSYS, "hipStreamGetCaptureInfo_v2", "is not there",
                        0);
    rc = capture_of(s, &n, NULL);
    if (!rc)
        *id = n;
    return rc;
}

static int retain(struct hip_graph *graph, struct gtl_graph_object *o)
{
    struct hip_user_object *object = NULL;
    int was = gtl_hip_enter(), rc;

    rc = HIP(UserObjectCreate, &object, o, gtl_graph_object_end, 1,
             HIP_OBJECT_NO_SYNC);
    if (rc) {
        free(o);
    } else {
        rc = HIP(GraphRetainUserObject, graph, object, 1, HIP_OBJECT_MOVE);
        if (rc) {
            o->end = NULL;
            HIP(UserObjectRelease, object, 1);
        }
    }
    gtl_hip_leave(was);
    return rc;
}

int gtl_hip_graph_own(void *s, void (*end)(void *arg), void *arg)
{
    struct hip_graph *graph = NULL;
    unsigned long long id;
    struct gtl_graph_object *o;
    int rc;

    if (!gtl_hip_rt.StreamGetCaptureInfo_v2 || !gtl_hip_rt.UserObjectCreate ||
        !gtl_hip_rt.UserObjectRelease || !gtl_hip_rt.GraphRetainUserObject)
        return gtl_fail(-EBUSY, "hipUserObjectCreate", "is not there: graphs "
                        "own nothing with runtimes before 5.3", 0);
    rc = capture_of(s, &id, &graph);
    if (rc)
        return rc;
    o = gtl_graph_object_new(end, arg);
    if (!o)
        return gtl_fail(-ENOMEM, "malloc", "out of memory", ENOMEM);
    return retain(graph, o);
}

/* ---- those of our own making ---- */

struct graph {
    struct base_lock lock;
    struct hip_graph_exec *exec;
    void *after;                /* an event behind the last launch */
    bool launched MEMBER_GUARDED_BY(lock);
    struct graph *next;         /* of those that are destroyed and run */
};

static struct base_lock lock = LOCK_INIT;
static struct graph *dying GUARDED_BY(lock);

static void graph_free(struct graph *g)
{
    int was = gtl_hip_enter_relaxed();

    HIP(GraphExecDestroy, g->exec);
    gtl_hip_leave_relaxed(was);
    gtl_hip_event_destroy(g->after);
    free(g);
}

static bool runs(struct graph *g)
{
    bool is;

    lock_acquire(&g->lock);
    is = g->launched && gtl_hip_event_query(g->after) == -EAGAIN;
    lock_release(&g->lock);
    return is;
}

/* Frees destroyed graphs whose last launch has ended. */
static void free_ended(void)
{
    struct graph **at = &dying, *g;

    lock_acquire(&lock);
    while ((g = *at)) {
        if (runs(g)) {
            at = &g->next;
            continue;
        }
        *at = g->next;
        graph_free(g);
    }
    lock_release(&lock);
}

/* Graphs that still run then stay to the end of the process. */
void gtl_hip_graphs_close(void)
{
    free_ended();
}

int gtl_hip_capture_begin(void *s)
{
    int was, rc;

    if (!gtl_hip_rt.StreamBeginCapture || !gtl_hip_rt.StreamEndCapture ||
        !gtl_hip_rt.GraphInstantiateWithFlags || !gtl_hip_rt.GraphLaunch ||
        !gtl_hip_rt.GraphDestroy || !gtl_hip_rt.GraphExecDestroy)
        return gtl_fail(-ENOSYS, "hipGraphInstantiateWithFlags", "is not "
                        "there", 0);
    if (gtl_hip_is_capturing(s))
        return gtl_fail(-EINVAL, "hipStreamBeginCapture", "the stream records "
                        "already", 0);
    free_ended();
    was = gtl_hip_enter();
    rc = HIP(StreamBeginCapture, s, HIP_CAPTURE_THREAD);
    gtl_hip_leave(was);
    return rc;
}

static int make(struct hip_graph *graph, struct graph **out)
{
    struct graph *g = malloc(sizeof *g);
    int was = gtl_hip_enter_relaxed(), rc;

    if (!g) {
        rc = gtl_fail(-ENOMEM, "malloc", "no memory", ENOMEM);
        goto leave;
    }
    *g = (struct graph){ .lock = LOCK_INIT };
    rc = gtl_hip_event_create(&g->after);
    if (rc)
        goto free_g;
    rc = HIP(GraphInstantiateWithFlags, &g->exec, graph, 0);
    if (!rc) {
        *out = g;
        goto leave;
    }
    gtl_hip_event_destroy(g->after);
free_g:
    free(g);
leave:
    HIP(GraphDestroy, graph);
    gtl_hip_leave_relaxed(was);
    return rc;
}

int gtl_hip_capture_end(void *s, void **out)
{
    struct hip_graph *graph = NULL;
    struct graph *g = NULL;
    int was, rc;

    if (!gtl_hip_rt.StreamEndCapture || !gtl_hip_is_capturing(s))
        return gtl_fail(-EINVAL, "hipStreamEndCapture", "the stream records "
                        "no graph", 0);
    was = gtl_hip_enter();
    rc = HIP(StreamEndCapture, s, &graph);
    gtl_hip_leave(was);
    if (!rc)
        rc = make(graph, &g);
    if (!rc)
        *out = g;
    return rc;
}

int gtl_hip_graph_launch(void *graph, void *s)
{
    struct graph *g = graph;
    bool unmarked;
    int was, rc;

    if (gtl_hip_is_capturing(s))
        return gtl_fail(-EBUSY, "hipGraphLaunch", "the stream records a graph",
                        0);
    was = gtl_hip_enter();
    lock_acquire(&g->lock);
    rc = g->launched ? gtl_hip_event_wait(g->after, s) : 0;
    if (!rc)
        rc = HIP(GraphLaunch, g->exec, s);
    g->launched = g->launched || !rc;
    unmarked = !rc && gtl_hip_event_record(g->after, s);
    lock_release(&g->lock);
    if (unmarked)               /* its end could not be seen */
        rc = gtl_hip_stream_sync(s);
    gtl_hip_leave(was);
    return rc;
}

void gtl_hip_graph_destroy(void *graph)
{
    struct graph *g = graph;

    if (runs(g)) {
        lock_acquire(&lock);
        g->next = dying;
        dying = g;
        lock_release(&lock);
    } else {
        graph_free(g);
    }
    free_ended();
}
