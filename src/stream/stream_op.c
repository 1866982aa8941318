/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a stream operation goes: the one dispatch to the executors, which
 * stream_exec.h lists.  Called by every one-sided call on a stream
 * (stream_rma.c) and by the launches of graphs.  It moves no data itself. */
#include "stream/exec/stream_exec.h"
#include "stream/graph/stream_graph.h"

#include <errno.h>

static int replay(const struct stream_where *w, const void *args)
{
    struct stream_op op = *(const struct stream_op *)args;

    return stream_op_enqueue(w, &op);
}

/* A fence or a quiet orders the graph's own operations.  Operations of the
 * device are in the order of the graph; where there are off-node PEs, it waits
 * for those of the launch before. */
static int record(const struct stream_where *w, const struct stream_op *op)
{
    if ((op->kind == STREAM_FENCE || op->kind == STREAM_QUIET) && !xport_net &&
        !stream_graph_has_ops(w->stream))
        return 0;
    return stream_record(w, replay, op, sizeof *op);
}

int stream_op_enqueue(const struct stream_where *w, struct stream_op *op)
{
    struct stream_ring *ring;
    int rc = stream_exec_device(w, op);

    if (likely(rc != STREAM_DECLINED))
        return rc;
    if (op->waits && unlikely(!stream_waits_allowed()))
        return stream_refuse_wait(w);
    rc = stream_ring_of(w, &ring);
    if (unlikely(rc == -EBUSY))
        return record(w, op);
    if (!rc)
        rc = stream_exec_nic(w, ring, op);
    return rc == STREAM_DECLINED ? stream_ring_post(w, ring, op) : rc;
}
