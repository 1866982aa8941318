/* SPDX-License-Identifier: BSD-3-Clause */
/* gtl_host_graph.h - graphs of the software device: what a stream asks of the
 * one that it records, and the calls of the driver's table. */
#ifndef GTL_GTL_HOST_GRAPH_H
#define GTL_GTL_HOST_GRAPH_H

#include "gtl/gtl_host_int.h"

struct gtl_host_graph;
bool gtl_host_records(void *handle);
int gtl_host_graph_id(void *handle, uint64_t *id);
int gtl_host_graph_own(void *handle, void (*end)(void *arg), void *arg);
int gtl_host_capture_begin(void *handle);
int gtl_host_capture_end(void *handle, void **out);
int gtl_host_graph_launch(void *graph, void *handle);
void gtl_host_graph_destroy(void *graph);
/* Where s records it: has the room for a command. */
int gtl_host_graph_room(struct gtl_host_stream *s,
                        struct gtl_host_stream **out);
/* What s records is lost. */
void gtl_host_graph_lose(struct gtl_host_stream *s);
/* A launch has ended. */
void gtl_host_graph_ended(struct gtl_host_graph *g);
void gtl_host_graph_fork(enum gtl_host_fork when);
/* The driver is asked what a stream that records does not know. */
int gtl_host_recording(const char *call) __attribute__((cold));

#endif
