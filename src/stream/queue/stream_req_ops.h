/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_req_ops.h - what a request of a queue does: the table that the layer
 * above fills for messages and collective requests, and this layer for its own
 * operations (stream_req.c).  stream_start.c calls the slots of starts and
 * waits, stream_req.c the others. */
#ifndef STREAM_QUEUE_STREAM_REQ_OPS_H
#define STREAM_QUEUE_STREAM_REQ_OPS_H

#include "core/core_wait.h"
#include "stream/stream.h"
#include "stream/stream_errors.h"

struct req;
struct queue;
/* The executors that have a part of a start. */
struct start_parts {
    bool nic, host;
};

/* The kinds of requests: an operation of this layer, or an object of the layer
 * above.  No slot is NULL; stream_req_no_*() stand for those that it lacks. */
enum req_wait { REQ_WAIT, REQ_COPY_OUT, REQ_RELEASE, REQ_WAITS };
typedef int stream_req_step(const struct stream_where *w, struct queue *q,
                            struct req *r, struct start_parts *parts);
struct stream_req_ops {
    bool own_counters;          /* they report its completion, beside the
                                 * token of its start */
    /* May it be started?  0 or -errno, logged.  i: its number in the list. */
    int (*check_start)(const struct stream_where *w, const struct req *r,
                       int i);
    stream_req_step *start;
    /* The start is made: nothing can fail any more. */
    void (*started)(const char *call, struct req *r);
    /* The stream waits for its end.  Behind the waits of all requests come the
     * copies of what has arrived, and behind these what reports that the place
     * is free. */
    stream_req_step *wait[REQ_WAITS];
    bool (*completed)(const struct req *r);
    struct core_waiter (*waiter)(const char *call, const struct req *r,
                                 void *stream);
    /* The host does what would be behind the stream's wait. */
    void (*finish)(const char *call, struct req *r);
    /* Its own failure, which it reports; 0: none.  e: of its ring, or NULL. */
    int (*error)(const char *call, struct req *r, struct stream_errors *e);
    /* Does a part of it still run, after its wait or after a start that failed
     * in the middle? */
    bool (*is_running)(const struct req *r);
    /* Why it cannot be freed, or NULL. */
    const char *(*busy)(const struct req *r);
    void (*free)(struct req *r);
    /* The same when the layer closes. */
    void (*close)(struct req *r);
    void (*name)(const struct req *r, char *text, size_t size);
    /* The host tests it or waits for it: 0 or -errno, logged. */
    int (*test)(const char *call, struct req *r, bool *is);
    int (*await)(const char *call, struct req *r);
};

/* For slots of struct stream_req_ops. */
int stream_req_no_step(const struct stream_where *w, struct queue *q,
                       struct req *r, struct start_parts *parts);
void stream_req_no_call(const char *call, struct req *r);
bool stream_req_is_completed(const struct req *r);
struct core_waiter stream_req_no_waiter(const char *call, const struct req *r,
                                        void *stream);
int stream_req_no_error(const char *call, struct req *r,
                        struct stream_errors *e);
bool stream_req_not_running(const struct req *r);
const char *stream_req_not_busy(const struct req *r);
void stream_req_no_free(struct req *r);
/* Slots of requests that are started on queues. */
int stream_req_test_started(const char *call, struct req *r, bool *is);
int stream_req_await_started(const char *call, struct req *r);

#endif
