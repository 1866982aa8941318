/* SPDX-License-Identifier: BSD-3-Clause */
/* What the host asks of a whole stream, or says about it: have operations there
 * failed, and is it about to be destroyed?  Called by src/api; each part of the
 * layer that knows the stream is asked or told here, and nowhere else. */
#include "stream/graph/stream_graph.h"
#include "stream/stream_int.h"
#include "stream/stream_wait_notes.h"

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
    stream_notes_drop(stream);
}
