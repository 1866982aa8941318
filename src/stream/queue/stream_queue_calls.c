/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls that start what is in a queue, or requests, and that wait for it:
 * each is done now (stream_start.c), or, where a stream records a graph or
 * graphs have starts of the queue, by each launch (stream_graph_queue.c).
 * Called by src/api; they check the queue and decide, and enqueue nothing
 * themselves. */
#include "stream/queue/stream_queue.h"

#include <errno.h>

int stream_queue_start(const char *call, struct shmemx_queue *queue)
{
    struct queue *q = stream_queue_of(call, queue);
    struct stream_where w = stream_queue_where(call, q);
    int rc;

    rc = q ? stream_queue_check(call, q) : -EINVAL;
    if (rc)
        return rc;
    if (!q->n_staged)
        return stream_need_stream(&w);
    rc = stream_queue_recorded(&w, q);
    if (rc < 0)
        return rc;
    rc = rc ? stream_queue_record_start(&w, q)
            : stream_start_staged(&w, q, q->staged, q->n_staged);
    if (!rc)
        q->n_staged = 0;
    return rc;
}

int stream_queue_start_all(const char *call, struct shmemx_queue *queue, int n,
                           struct shmemx_req *reqs[])
{
    struct queue *q = stream_queue_of(call, queue);
    struct stream_where w = stream_queue_where(call, q);
    int rc;

    rc = q ? stream_queue_check(call, q) : -EINVAL;
    if (rc)
        return rc;
    if (n <= 0)
        return stream_need_stream(&w);
    rc = stream_queue_recorded(&w, q);
    if (rc < 0)
        return rc;
    return rc || stream_reqs_are_deferred(n, reqs)
              ? stream_queue_record(&w, q, stream_start_requests, n, reqs)
              : stream_start_requests(&w, q, n, reqs);
}

/* A graph may begin with the wait for a start outside of it.  A stream that is
 * none is reported by the wait. */
static bool wait_is_recorded(const struct queue *q)
{
    return q->recorded || gtl->is_capturing(q->stream);
}

int stream_queue_wait(const char *call, struct shmemx_queue *queue)
{
    struct queue *q = stream_queue_of(call, queue);
    struct stream_where w = stream_queue_where(call, q);
    int rc = q ? stream_queue_check(call, q) : -EINVAL;

    if (rc)
        return rc;
    return wait_is_recorded(q) ? stream_queue_record(&w, q, NULL, 0, NULL)
                               : stream_wait_started(&w, q);
}

int stream_queue_wait_all(const char *call, struct shmemx_queue *queue, int n,
                          struct shmemx_req *reqs[])
{
    struct queue *q = stream_queue_of(call, queue);
    struct stream_where w = stream_queue_where(call, q);
    int rc = q ? stream_queue_check(call, q) : -EINVAL;

    if (rc)
        return rc;
    return wait_is_recorded(q) || stream_reqs_are_deferred(n, reqs)
               ? stream_queue_record(&w, q, stream_wait_requests, n, reqs)
               : stream_wait_requests(&w, q, n, reqs);
}
