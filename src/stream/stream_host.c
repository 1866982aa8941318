/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of the host about a whole stream: taking the errors of operations
 * there, and destroying it.  Called by src/api; each part of the layer that
 * keeps something about a stream is called here, and nowhere else. */
#include "stream/graph/stream_graph.h"
#include "stream/stream_int.h"
#include "stream/stream_wait_log.h"

#include <errno.h>

int stream_errors_take(const char *call, void *stream)
{
    int rc = stream_errors_take_stream(call, stream);

    /* Of which launch, and of which stream, an operation was is not known. */
    if (call && stream_graphs_failed(call))
        rc = -EIO;
    return rc;
}

void stream_destroyed(const char *call, void *stream)
{
    stream_errors_take(call, stream);
    stream_ring_retire(stream);
    stream_graphs_stream_destroyed(stream);
    stream_wait_log_stream_destroyed(stream);
}
