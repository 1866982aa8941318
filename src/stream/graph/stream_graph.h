/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_graph.h - operations that a graph cannot replay by itself.
 *
 * The nodes of a graph are constants, and what most operations enqueue is not:
 * sequence numbers, flags, iterations of requests.  So a graph gets two nodes
 * for such an operation: a host function, which posts it to the progress
 * thread, and a wait of the stream.  In each launch the progress thread
 * enqueues the operation anew, on a stream of the library's own (the proxy
 * stream) as a program would on its own, and behind it a store that ends the
 * wait.  Objects of a graph are freed with the graph.
 *
 * Threads: any call from any thread but for stream_graphs_advance(), the
 * progress thread's. */
#ifndef STREAM_STREAM_GRAPH_H
#define STREAM_STREAM_GRAPH_H

#include "stream/stream.h"

struct stream_ring;

/* Enqueues the operation on w->stream, which records nothing.  0 or -errno,
 * logged. */
typedef int stream_replay(const struct stream_where *w, const void *args);

/* The stream records a graph: each launch repeats the operation.  args: size
 * bytes, copied. */
int stream_record(const struct stream_where *w, stream_replay *repeat,
                  const void *args, size_t size);
/* That; or the operation is enqueued when the stream gets there, and the
 * stream waits for it, where what launches do must not be overtaken. */
int stream_defer(const struct stream_where *w, stream_replay *repeat,
                 const void *args, size_t size);
/* Does the graph that the stream records repeat anything so far? */
bool stream_graph_has_ops(void *stream);

/* Are there proxy streams? */
bool stream_graphs_any(void);
/* -EIO, logged: operations failed in launches since this was asked last. */
int stream_graphs_failed(const char *call);
/* Enqueues posted operations; *busy: another call is due soon. */
bool stream_graphs_advance(bool *busy);
/* The stream is about to be destroyed. */
void stream_graphs_stream_destroyed(void *stream);
/* Behind stream_posts_close(): no thread posts or enqueues any more.  Graphs
 * that still exist do nothing of this library's from now on, but end; true:
 * their streams still look at flags. */
bool stream_graphs_close(void);

#endif
