/* SPDX-License-Identifier: BSD-3-Clause */
/* soft_graph.h - graphs of the software device: slots of the driver's table,
 * and what a capturing stream asks of its graph. */
#ifndef GTL_SOFT_GRAPH_H
#define GTL_SOFT_GRAPH_H

#include "gtl/soft/soft_int.h"

struct gtl_soft_graph;
bool gtl_soft_is_capturing(void *handle);
int gtl_soft_graph_id(void *handle, uint64_t *id);
int gtl_soft_graph_own(void *handle, void (*end)(void *arg), void *arg);
int gtl_soft_capture_begin(void *handle);
int gtl_soft_capture_end(void *handle, void **out);
int gtl_soft_graph_launch(void *graph, void *handle);
void gtl_soft_graph_destroy(void *graph);
/* The stream of the graph that s captures, which has room for a command. */
int gtl_soft_graph_next_chunk(struct gtl_soft_stream *s,
                        struct gtl_soft_stream **out);
/* The capture of s becomes invalid. */
void gtl_soft_graph_invalidate(struct gtl_soft_stream *s);
/* A launch has completed. */
void gtl_soft_graph_ended(struct gtl_soft_graph *g);
void gtl_soft_graph_fork(enum gtl_soft_fork when);
/* A question that a capturing stream has no answer to: -EBUSY. */
int gtl_soft_fail_capturing(const char *call) __attribute__((cold));

#endif
