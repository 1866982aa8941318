/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts of queues and waits for them that graphs record: each launch makes
 * them anew, on the proxy stream.  Called by stream_start.c.
 *
 * Starts outside of graphs would take numbers before launches that come first
 * in stream order, so once a graph has a start of a queue, these are made when
 * the stream gets there, too.  The host's waits count these. */
#include "stream/queue/stream_queue.h"
#include "base/symbol.h"
#include "stream/graph/stream_graph.h"
#include "stream/ring/stream_ring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Requests by their handles: one that was freed is refused in the launch. */
struct these {
    struct shmemx_queue *queue;
    uint64_t deferred;          /* its number there; 0: a graph's */
    stream_requests_call *what; /* NULL: waits for all that was started */
    int n;
    struct shmemx_req *reqs[];
};

/* Operations that are used once outside of graphs. */
struct used {
    struct shmemx_queue *queue;
    uint64_t deferred;          /* as above */
    size_t n;
    struct used_op {
        struct stream_op op;
        struct shmemx_req *req;
    } ops[];
};

int stream_queue_recorded(const struct stream_where *w, const struct queue *q)
{
    uint64_t id = STREAM_ID_UNKNOWN;
    int rc = q->recorded ? -EBUSY : gtl->stream_check(q->stream, &id);

    if (unlikely(!rc && id != q->ring->id && id != STREAM_ID_UNKNOWN &&
                 q->ring->id != STREAM_ID_UNKNOWN))
        return stream_refuse(ERR_STREAM, w->call, "the queue's stream was "
                             "destroyed, and another one has its handle");
    return unlikely(rc == -EBUSY) ? 1 : stream_device_rc(w, rc);
}

/* Of the next start or wait; 0: a graph records it. */
static uint64_t next_number(struct queue *q)
{
    return gtl->is_capturing(q->stream) ? 0 : ++q->deferrals;
}

static int defer(const struct stream_where *w, struct queue *q,
                 stream_replay *each, const void *args, size_t size,
                 uint64_t number)
{
    int rc = stream_defer(w, each, args, size);

    if (!rc && !q->recorded)    /* of the first: nothing is launched yet */
        q->recorded = true;
    if (!rc && number) {
        q->deferred = number;
        __atomic_store_n(&stream_any_deferred, true, __ATOMIC_RELAXED);
    }
    return rc;
}

/* What failed is made, too: the stream's next call reports it. */
static void set_made(struct shmemx_queue *queue, uint64_t number)
{
    struct queue *q = number ? handle_find(&stream_queues, queue) : NULL;

    if (!q)
        return;
    /* release: pairs with stream_queue_deferred_made(). */
    __atomic_store_n(&q->deferred_made, number, __ATOMIC_RELEASE);
}

/* ---- requests ---- */

static int repeat(const struct stream_where *w, const void *args)
{
    const struct these *t = args;
    struct queue *q = stream_queue_of(w->call, t->queue);
    int rc = !q ? -EINVAL
           : t->what ? t->what(w, q, t->n, (struct shmemx_req **)t->reqs)
                     : stream_wait_started(w, q);

    set_made(t->queue, t->deferred);
    return rc;
}

/* Errors of requests that no launch could mend are reported now. */
static int may_record(const struct stream_where *w, int n,
                      struct shmemx_req *reqs[])
{
    struct req *r;

    for (int i = 0; i < n; i++) {
        r = stream_req_at(w->call, reqs, i);
        if (!r)
            return -EINVAL;
        if (r->once && gtl->is_capturing(w->stream))
            return stream_refuse(ERR_ARG, w->call,
                                 "request %d (%s) is none that "
                                 "was made by an init call",
                                 i, stream_req_name(r).text);
    }
    return 0;
}

static void set_deferral(struct req *r, const struct these *t)
{
    r->deferred_on = t->queue;
    r->deferred_wait = t->what == stream_wait_requests ? t->deferred : 0;
}

int stream_queue_record(const struct stream_where *w, struct queue *q,
                        stream_requests_call *what, int n,
                        struct shmemx_req *reqs[])
{
    size_t size = sizeof(struct these) + (size_t)n * sizeof *reqs;
    struct these *t;
    int rc = may_record(w, n, reqs);

    if (rc)
        return rc;
    t = malloc(size);
    if (!t)
        return stream_no_memory(w->call);
    *t = (struct these){ handle_of_object(q), next_number(q), what, n };
    if (n)
        memcpy(t->reqs, reqs, (size_t)n * sizeof *reqs);
    rc = defer(w, q, repeat, t, size, t->deferred);
    for (int i = 0; i < n && !rc && t->deferred; i++)
        set_deferral(stream_req_at(w->call, reqs, i), t);
    free(t);
    return rc;
}

/* ---- operations that are used once ---- */

static int start_ops(const struct stream_where *w, const struct used *u)
{
    struct queue *q = stream_queue_of(w->call, u->queue);
    struct staged_op *these;
    int rc;

    if (!q)
        return -EINVAL;
    these = malloc(u->n * sizeof *these);
    if (!these)
        return stream_no_memory(w->call);
    for (size_t i = 0; i < u->n; i++)
        these[i] = (struct staged_op){
            u->ops[i].op, handle_find(&stream_reqs, u->ops[i].req)
        };
    rc = stream_start_staged(w, q, these, u->n);
    free(these);
    return rc;
}

static int start_used(const struct stream_where *w, const void *args)
{
    const struct used *u = args;
    int rc = start_ops(w, u);

    set_made(u->queue, u->deferred);
    return rc;
}

static int may_repeat(const struct stream_where *w, const struct queue *q)
{
    for (size_t i = 0; i < q->n_staged; i++)
        if (q->staged[i].op.kind == STREAM_MESSAGE &&
            gtl->is_capturing(w->stream)) {
            stream_refuse(ERR_STREAM, w->call, "%s is a message for one "
                          "launch: graphs take those of shmemx_send_init and "
                          "shmemx_recv_init",
                          symbol_public(q->staged[i].op.call));
            return -ENOTSUP;
        }
    return 0;
}

/* on: where a deferred start has them; requests without a handle are never
 * waited for one by one. */
static void set_state(struct queue *q, enum req_state state,
                      struct shmemx_queue *on)
{
    for (size_t i = 0; i < q->n_staged; i++) {
        struct req *r = q->staged[i].req;

        if (!r)
            continue;
        r->state = state;
        r->deferred_on = r->own ? NULL : on;
        r->deferred_wait = 0;
    }
}

/* Each launch does them; until one has, their requests were never started. */
int stream_queue_record_start(const struct stream_where *w, struct queue *q)
{
    size_t size = sizeof(struct used) + q->n_staged * sizeof(struct used_op);
    struct used *u;
    int rc = may_repeat(w, q);

    if (rc)
        return rc;
    u = malloc(size);
    if (!u)
        return stream_no_memory(w->call);
    *u = (struct used){
        .queue = handle_of_object(q), .deferred = next_number(q),
        .n = q->n_staged
    };
    for (size_t i = 0; i < u->n; i++) {
        struct req *r = q->staged[i].req;

        u->ops[i] = (struct used_op){
            q->staged[i].op, r ? handle_of_object(r) : NULL
        };
    }
    /* Before the stream may start them. */
    set_state(q, IDLE, u->deferred ? u->queue : NULL);
    rc = defer(w, q, start_used, u, size, u->deferred);
    if (rc)
        set_state(q, STAGED, NULL);
    free(u);
    return rc;
}
