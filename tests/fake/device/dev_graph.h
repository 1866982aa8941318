/* SPDX-License-Identifier: BSD-3-Clause */
/* dev_graph.h - streams that record, and graphs. */
#ifndef FAKE_DEV_GRAPH_H
#define FAKE_DEV_GRAPH_H

#include "dev.h"

/* What a stream is given while it records is kept and not done. */
enum dev_mode { DEV_GLOBAL, DEV_THREAD_LOCAL, DEV_RELAXED };
enum dev_capture { DEV_NO_CAPTURE, DEV_CAPTURES, DEV_CAPTURE_BROKEN };
/* -EBUSY: it records already. */
int dev_capture_begin(struct dev_stream *s, enum dev_mode mode);
enum dev_capture dev_capture_status(struct dev_stream *s);
/* That it records, if nothing has broken it. */
struct dev_graph *dev_capture_graph(struct dev_stream *s);
void dev_capture_break(struct dev_stream *s);
/* -EINVAL: it did not begin here; -EPERM: another thread has begun it; -EXDEV:
 * a stream that joined has work that is not waited for; -EIO: broken. */
int dev_capture_end(struct dev_stream *s, struct dev_graph **out);
enum dev_mode dev_mode_exchange(enum dev_mode mode);
/* May this thread do what is not safe while streams record?  If not, they are
 * broken. */
bool dev_unsafe(void);
/* A stream records that the default one is in order with: it is broken. */
bool dev_captures_fenced(int device);
/* Handles and launches hold it; with the last one go the objects kept. */
void dev_graph_hold(struct dev_graph *g);
void dev_graph_release(struct dev_graph *g);
void dev_graph_keep(struct dev_graph *g, void (*release)(void *), void *arg);
void dev_graph_launch(struct dev_graph *g, struct dev_stream *s);
/* Another one for each capture. */
uint64_t dev_graph_id(const struct dev_graph *g);
/* Is a launch of it under way? */
bool dev_graph_runs(struct dev_graph *g);
/* Its next launch waits for the one before it. */
void dev_graph_in_turn(struct dev_graph *g, struct dev_stream *s);

/* What a program gives to graphs: destroy(arg) is called, once, when the last
 * reference is gone. */
struct dev_object;
struct dev_object *dev_object_new(void (*destroy)(void *arg), void *arg,
                                  unsigned refs);
/* False: it is none. */
bool dev_object_is(const void *p);
void dev_object_release(void *object);
/* One that is called runs a destructor now, which calls nothing of the
 * driver. */
extern __thread bool dev_destroys;

/* What an event is recorded behind, also while it is recorded again. */
struct dev_mark dev_recorded(const struct dev_mark *m);

#endif
