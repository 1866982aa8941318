/* SPDX-License-Identifier: BSD-3-Clause */
/* soft_graph.h - graphs of the software device: what a stream asks of the
 * one that it records, and the calls of the driver's table. */
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
/* Where s records it: has the room for a command. */
int gtl_soft_graph_next_chunk(struct gtl_soft_stream *s,
                        struct gtl_soft_stream **out);
/* What s records is lost. */
void gtl_soft_graph_invalidate(struct gtl_soft_stream *s);
/* A launch has ended. */
void gtl_soft_graph_ended(struct gtl_soft_graph *g);
void gtl_soft_graph_fork(enum gtl_soft_fork when);
/* The driver is asked what a stream that records does not know. */
int gtl_soft_fail_capturing(const char *call) __attribute__((cold));

#endif
