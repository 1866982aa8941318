/* SPDX-License-Identifier: BSD-3-Clause */
/* Graphs: recording of a stream, and launches.  Programs make these calls, and
 * the library's end destroys the graphs that they left.  The driver records and
 * replays; here are handles and checks. */
#include "api/api_stream.h"
#include "core/core_misuse.h"
#include "gtl/gtl.h"
#include "base/handle.h"

#include <errno.h>

struct graph {
    struct handle handle;
    void *made;                 /* the driver's */
};
static struct handle_table graphs = HANDLE_TABLE(struct graph);

static struct graph *find(const char *call, shmemx_graph_t graph)
{
    struct graph *g = handle_find(&graphs, graph);

    if (unlikely(!g && !graph))
        core_misuse(ERR_NULL, call, "the graph is a null pointer");
    else if (unlikely(!g))
        core_misuse(ERR_ARG, call, "%p is no graph, or one that was destroyed",
                    (void *)graph);
    return g;
}

/* rc of the driver's call; a refusal is reported. */
static int refused(const char *call, void *stream, int rc)
{
    if (unlikely(rc))
        core_misuse(ERR_STREAM, call, "stream %p: %s", stream, gtl_error());
    return rc;
}

/* Vendors record no default stream of a device. */
static int need_stream(const char *call, shmemx_stream_t stream)
{
    int rc = api_stream_need(call);

    if (!rc && (!api_stream_of(stream) || gtl_is_per_thread(stream)))
        rc = core_misuse(ERR_ARG, call, "a default stream records no graph");
    return rc;
}

int pshmemx_stream_capture_begin(shmemx_stream_t stream)
{
    CORE_TRACE_CALL(__func__);
    int rc = need_stream(__func__, stream);

    return rc ? rc : refused(__func__, stream, gtl->capture_begin(stream));
}
API_ALIAS(shmemx_stream_capture_begin)

int pshmemx_stream_capture_end(shmemx_stream_t stream, shmemx_graph_t *graph)
{
    CORE_TRACE_CALL(__func__);
    void *made = NULL;
    struct graph *g;
    int rc = need_stream(__func__, stream);

    if (rc)
        return rc;
    if (!graph)
        return core_misuse(ERR_NULL, __func__, "graph is a null pointer");
    rc = refused(__func__, stream, gtl->capture_end(stream, &made));
    if (rc)
        return rc;
    g = handle_new(&graphs);
    if (!g) {
        gtl->graph_destroy(made);
        core_misuse(ERR_STREAM, __func__, "out of memory");
        return -ENOMEM;
    }
    g->made = made;
    *graph = handle_of_object(g);
    return 0;
}
API_ALIAS(shmemx_stream_capture_end)

int pshmemx_graph_launch(shmemx_graph_t graph, shmemx_stream_t stream)
{
    CORE_TRACE_CALL(__func__);
    const struct graph *g;
    int rc;

    core_need_up(__func__);
    g = find(__func__, graph);
    if (unlikely(!g))
        return -EINVAL;
    stream = api_stream_of(stream);
    rc = gtl->graph_launch(g->made, stream);
    if (likely(rc != -EBUSY))
        return refused(__func__, stream, rc);
    core_misuse(ERR_STREAM, __func__, "stream %p records a graph, which cannot "
                "hold another one", (void *)stream);
    return -ENOTSUP;
}
API_ALIAS(shmemx_graph_launch)

int pshmemx_graph_destroy(shmemx_graph_t graph)
{
    CORE_TRACE_CALL(__func__);
    struct graph *g;
    void *made;

    core_need_up(__func__);
    g = find(__func__, graph);
    if (!g)
        return -EINVAL;
    made = g->made;
    if (handle_release(&graphs, graph))
        gtl->graph_destroy(made);
    return 0;
}
API_ALIAS(shmemx_graph_destroy)

int api_graph_lose(void *stream)
{
    void *made = NULL;
    int rc = gtl->capture_end(stream, &made);

    if (!rc)
        gtl->graph_destroy(made);
    return rc && gtl->is_capturing(stream) ? rc : 0;
}

static unsigned left;           /* of the library's end alone */

static void end(void *thing)
{
    const struct graph *g = thing;

    gtl->graph_destroy(g->made);
    left++;
}

void api_graphs_close(void)
{
    left = 0;
    handle_release_all(&graphs, end);
    if (left)
        log_info(LOG_API, "shmem_finalize: %u graph%s not destroyed, which is "
                 "done now", left, left == 1 ? " was" : "s were");
}
