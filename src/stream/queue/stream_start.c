/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts of what is in a queue or of requests, and waits for them.
 *
 * A start enqueues what the device does itself, arms the rest, and ends with
 * one store of the device's: to the register of the NIC, which raises a flag
 * behind all; to `trigger`, where something is posted for the progress thread
 * - behind it is a quiet, for which the progress thread raises `done` - and
 * else to `started`, which only the host looks at.  So a wait is one wait for
 * the flag or for `done`, or none where the stream's order is enough.  Only
 * where the NIC has no room for some of a start are there two stores. */
#include "stream/queue/stream_queue.h"
#include "stream/ring/stream_ring.h"
#include "stream/stream_upper.h"
#include "stream/stream_wait_log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void stream_start_on_host(const struct stream_where *w, struct queue *q,
                          const struct stream_op *op, struct start_parts *parts)
{
    struct stream_op *to = stream_ring_next_entry(q->ring);

    *to = *op;
    to->call = w->call;
    to->waits = false;          /* the quiet does */
    stream_ring_publish(q->ring);
    parts->host = true;
}

int stream_start_one(const struct stream_where *w, struct queue *q,
                     const struct stream_op *op, struct start_parts *parts)
{
    int rc;

    if (!op->len && (op->kind == STREAM_PUT || op->kind == STREAM_GET))
        return 0;
    rc = stream_exec_device(w, op);
    if (rc != STREAM_DECLINED)
        return rc;
    rc = stream_nic_post(q->ring, op, w->stream);
    parts->nic |= !rc;
    if (rc != STREAM_DECLINED)
        return stream_device_rc(w, rc);
    stream_start_on_host(w, q, op, parts);
    return 0;
}

int stream_start_signal(const struct stream_where *w, struct queue *q,
                        struct stream_signal signal, int pe,
                        struct start_parts *parts)
{
    const struct stream_op op = {
        .kind = STREAM_SIGNAL, .call = w->call, .pe = pe, .message = true,
        .signal = signal
    };

    return stream_start_one(w, q, &op, parts);
}

/* By the progress thread, and what the NIC does before it. */
static int trigger(const struct stream_where *w, struct queue *q, bool counters,
                struct stream_token *m)
{
    struct stream_op *op = stream_ring_next_entry(q->ring);

    *op = (struct stream_op){
        .kind = counters ? STREAM_LOCAL_QUIET : STREAM_QUIET, .call = w->call,
        .waits = true
    };
    m->kind = TOKEN_SEQUENCE;
    m->number = stream_ring_publish(q->ring);
    return stream_ring_trigger(q->ring, w->stream);
}

/* Enqueues the step batch, and the one store of the device's.  own_counters:
 * all the requests have counters of their own for completion. */
static int finish(const struct stream_where *w, struct queue *q,
                  struct start_parts parts, bool own_counters,
                  struct stream_token *m)
{
    struct stream_counters *counters = q->ring->counters;
    int rc;

    *m = (struct stream_token){ TOKEN_START, q->starts + 1,
                                q->ring->nic.posted,
                                q->starts + 1 };
    if (!parts.nic && !parts.host)
        stream_step_batch_store(&q->steps, &counters->started, m->number);
    rc = stream_step_batch_flush(w, &q->steps);
    if (rc)
        return rc;
    if (parts.nic && !parts.host) {
        m->kind = TOKEN_NIC_FLAG;
        rc = stream_nic_post_flag(q->ring, &m->number);
        parts.host = rc == STREAM_DECLINED;         /* it has room for none */
    }
    if (parts.nic && (!rc || rc == STREAM_DECLINED))
        rc = stream_nic_release(q->ring, w->stream);
    if (parts.host && (!rc || rc == STREAM_DECLINED))
        rc = trigger(w, q, own_counters && !parts.nic, m);
    if (rc)
        return stream_device_rc(w, rc);
    q->last[m->kind] = m->number;
    q->starts = m->start;
    return 0;
}

/* The same for messages, whose own counters report their completion. */
static int finish_messages(const struct stream_where *w, struct queue *q,
                           struct start_parts parts, struct stream_token *m)
{
    uint64_t place;
    int rc;

    if (parts.nic || parts.host || q->recorded ||
        !gtl->position(q->stream, &place))
        return finish(w, q, parts, true, m);
    rc = stream_step_batch_flush(w, &q->steps);
    if (rc)
        return rc;
    gtl->position(q->stream, &place);
    q->last[TOKEN_POSITION] = place;
    *m = (struct stream_token){
        .kind = TOKEN_POSITION, .number = place, .start = ++q->starts
    };
    return 0;
}

static void started(const char *call, struct queue *q, struct req *r,
                    struct stream_token m)
{
    r->ops->started(call, r);
    if (r->ops->own_counters)
        list_append(&q->outstanding, &r->link);
    r->queue = handle_of_object(q);
    r->state = STARTED;
    r->listed = false;
    r->token = m;
}

/* The device refused in the middle of a start: some of it is enqueued, and
 * partners know of its puts.  Posted operations are never released, and the
 * stream gets nothing more of the queue, so that nothing is done twice or
 * late. */
static void cancel_start(const struct stream_where *w, struct queue *q)
{
    q->broken = true;
    q->no_cancel_event = gtl->event_create(&q->cancel_event) != 0;
    /* If the stream is broken, too, it holds nothing. */
    if (!q->no_cancel_event && gtl->event_record(q->cancel_event, w->stream)) {
        gtl->event_destroy(q->cancel_event);
        q->cancel_event = NULL;
    }
    stream_step_batch_clear(&q->steps);
    stream_ring_cancel(q->ring);
    gtl->position(q->stream, &q->last[TOKEN_POSITION]);
}

/* So did these: they are freed when the stream has nothing left to do. */
static void break_requests(struct queue *q, int n)
{
    const struct stream_token m = {
        .kind = TOKEN_POSITION, .number = q->last[TOKEN_POSITION]
    };

    for (int i = 0; i < n; i++) {
        struct req *r = q->resolved[i];

        r->broken = true;
        r->listed = false;
        r->queue = handle_of_object(q);
        r->state = WAITED;
        r->token = m;
    }
}

bool stream_queue_reap(struct queue *q, bool waits)
{
    struct req *r;

    while (!list_empty(&q->to_free)) {
        r = list_entry(q->to_free.next, struct req, link);
        if (!stream_req_ended(r) || (!waits && r->ops->is_running(r)))
            return false;
        list_remove(&r->link);
        stream_req_release(r);
    }
    return true;
}

/* A message that the program has freed since it was put in has no request. */
static int start_staged_op(const struct stream_where *w, struct queue *q,
                           const struct staged_op *s, struct start_parts *parts)
{
    if (s->req)
        return s->req->ops->start(w, q, s->req, parts);
    return s->op.kind == STREAM_MESSAGE
           ? 0 : stream_start_one(w, q, &s->op, parts);
}

int stream_start_staged(const struct stream_where *w, struct queue *q,
                        const struct staged_op *these, size_t n)
{
    struct start_parts parts = { false, false };
    struct stream_token m;
    int rc = 0;

    stream_queue_reap(q, false);
    /* Other starts may have had what was reserved when it was put in. */
    if (stream_ring_reserve(q->ring, n + 1) ||
        stream_step_batch_reserve(&q->steps, 1))
        return stream_no_memory(w->call);
    for (size_t i = 0; i < n && !rc; i++)
        rc = start_staged_op(w, q, &these[i], &parts);
    rc = rc ? rc : finish(w, q, parts, false, &m);
    if (rc) {
        cancel_start(w, q);
        return rc;
    }
    stream_count(STREAM_STARTS, 1);
    for (size_t i = 0; i < n; i++)
        if (these[i].req)
            started(w->call, q, these[i].req, m);
    return 0;
}

/* ---- lists of requests ---- */

struct req *stream_req_at(const char *call, struct shmemx_req *reqs[], int i)
{
    struct req *r = handle_find(&stream_reqs, reqs[i]);

    if (unlikely(!r && !reqs[i]))
        stream_refuse(ERR_NULL, call, "request %d is a null pointer", i);
    else if (unlikely(!r))
        stream_refuse(ERR_ARG, call, "request %d, %p, is none, or one that was "
                      "freed", i, (void *)reqs[i]);
    return r;
}

/* Was it started, and no wait for it enqueued? */
static bool is_outstanding(const struct req *r)
{
    const struct queue *q = stream_req_queue(r);

    return r->state == STARTED && q && r->token.start > q->starts_waited;
}

static int may_start(const struct stream_where *w, const struct req *r, int i)
{
    const char *call = w->call;

    if (unlikely(r->broken)) {
        stream_refuse(ERR_STREAM, call, "request %d (%s): an earlier start of "
                      "it failed in the middle", i, stream_req_name(r).text);
        return -EIO;
    }
    if (unlikely(r->once))
        return stream_refuse(ERR_ARG, call, "request %d (%s) is none that "
                             "was made by an init call", i,
                             stream_req_name(r).text);
    if (unlikely(r->listed))
        stream_refuse(ERR_ARG, call, "request %d (%s) is in the list twice", i,
                      stream_req_name(r).text);
    else if (unlikely(is_outstanding(r)))
        stream_refuse(ERR_ARG, call, "request %d (%s) was started, and no wait "
                      "for it was enqueued", i, stream_req_name(r).text);
    else
        return r->ops->check_start(w, r, i);
    return -EBUSY;
}

/* For what so many requests do, in a start or a wait. */
static int make_room(const char *call, struct queue *q, size_t n)
{
    if (stream_ring_reserve(q->ring, 2 * n + 2) ||
        stream_step_batch_reserve(&q->steps, n + 2))
        return stream_no_memory(call);
    return 0;
}

/* So many in q->resolved. */
static int make_list(const char *call, struct queue *q, size_t n)
{
    struct req **more;

    if (likely(n <= q->resolved_room))
        return 0;
    more = realloc(q->resolved, 2 * n * sizeof *more);
    if (!more)
        return stream_no_memory(call);
    q->resolved = more;
    q->resolved_room = 2 * n;
    return 0;
}

static void unlist(struct queue *q, int n)
{
    while (n-- > 0)
        q->resolved[n]->listed = false;
}

/* To q->resolved, marked, so that one that comes again is known.  On error none
 * is. */
static int list(const struct stream_where *w, struct queue *q, int n,
                struct shmemx_req *reqs[])
{
    struct req *r;
    int rc;

    for (int i = 0; i < n; i++) {
        r = stream_req_at(w->call, reqs, i);
        rc = r ? may_start(w, r, i) : -EINVAL;
        if (rc) {
            unlist(q, i);
            return rc;
        }
        r->listed = true;
        q->resolved[i] = r;
    }
    return 0;
}

static int start_listed(const struct stream_where *w, struct queue *q, int n)
{
    struct start_parts parts = { false, false };
    bool others = false;
    struct stream_token m;
    struct req *r;
    int rc = 0;

    for (int i = 0; i < n && !rc; i++) {
        r = q->resolved[i];
        others |= !r->ops->own_counters;
        rc = r->ops->start(w, q, r, &parts);
    }
    if (!rc)
        rc = others ? finish(w, q, parts, false, &m)
                    : finish_messages(w, q, parts, &m);
    if (rc) {
        cancel_start(w, q);
        break_requests(q, n);
        return rc;
    }
    stream_count(STREAM_STARTS, 1);
    for (int i = 0; i < n; i++)
        started(w->call, q, q->resolved[i], m);
    return 0;
}

int stream_start_requests(const struct stream_where *w, struct queue *q, int n,
                       struct shmemx_req *reqs[])
{
    int rc;

    stream_upper->progress(w->call);  /* a partner may have freed its end */
    rc = make_room(w->call, q, (size_t)n);
    rc = rc ? rc : make_list(w->call, q, (size_t)n);
    rc = rc ? rc : list(w, q, n, reqs);
    return rc ? rc : start_listed(w, q, n);
}

/* ---- waits ---- */

/* upto: of each kind; for starts the order of the stream is enough.  There is
 * room for as many as there are kinds. */
static int wait_for(const struct stream_where *w, struct queue *q,
                    const uint64_t upto[TOKEN_KINDS])
{
    int rc = stream_need_stream(w);

    for (int kind = TOKEN_SEQUENCE; kind < TOKEN_KINDS && !rc; kind++) {
        if (upto[kind] <= q->waited[kind])
            continue;
        if (!stream_waits_allowed())
            return stream_refuse_wait(w);
        rc = stream_need_live(w);
        if (rc)
            return rc;
        stream_step_batch_wait(&q->steps, stream_queue_counter(q, kind),
                               upto[kind]);
        if (kind == TOKEN_NIC_FLAG)    /* the host's ops are seen in its ring */
            stream_watch_add(
                w, NULL, stream_queue_counter(q, kind), upto[kind],
                stream_errors_recent_pe(&q->ring->exec.failed));
        q->waited[kind] = upto[kind];
    }
    return rc;
}

/* That step of each of these. */
static int step_each(const struct stream_where *w, struct queue *q,
                     struct list_link *these, enum req_wait step,
                     struct start_parts *parts)
{
    struct list_link *l, *next;
    int rc = 0;

    list_each(l, next, these) {
        struct req *r = list_entry(l, struct req, link);

        if (!rc)
            rc = r->ops->wait[step](w, q, r, parts);
    }
    return rc;
}

/* Waits for the end of messages; behind these copies out of their slots, then
 * the counters that release these to the senders, which the device stores, and
 * a token. */
static int wait_for_messages(const struct stream_where *w, struct queue *q,
                             struct list_link *these, struct stream_token *m)
{
    struct start_parts parts = { false, false };
    int rc = step_each(w, q, these, REQ_WAIT, NULL);

    rc = rc ? rc : step_each(w, q, these, REQ_COPY_OUT, &parts);
    if (!rc && (parts.host || parts.nic)) {    /* not in stream order */
        rc = finish(w, q, parts, false, m);
        if (!rc) {
            parts = (struct start_parts){ false, false };
            rc = wait_for(w, q, q->last);
        }
    }
    rc = rc ? rc : step_each(w, q, these, REQ_RELEASE, &parts);
    rc = rc ? rc : finish_messages(w, q, parts, m);
    if (rc && (parts.host || parts.nic))
        cancel_start(w, q);
    return rc;
}

/* Those requests of q->outstanding that were moved to these, and marks. */
static int wait_for_these(const struct stream_where *w, struct queue *q,
                          struct list_link *these,
                          const uint64_t upto[TOKEN_KINDS])
{
    struct list_link *l, *next;
    uint64_t was[TOKEN_KINDS];
    size_t n = 0;
    struct stream_token m;
    struct req *r;
    int rc;

    list_each(l, next, these)
        n++;
    rc = make_room(w->call, q, n);
    if (rc)
        return rc;
    memcpy(was, q->waited, sizeof was);
    rc = wait_for(w, q, upto);
    if (!rc && n)
        rc = wait_for_messages(w, q, these, &m);
    rc = rc ? rc : stream_step_batch_flush(w, &q->steps);
    if (rc) {                   /* what was gathered may not be there */
        stream_step_batch_clear(&q->steps);
        memcpy(q->waited, was, sizeof was);
        return rc;
    }
    list_each(l, next, these) {
        r = list_entry(l, struct req, link);
        list_remove(l);
        if (r->own)
            list_append(&q->to_free, l);
        r->state = WAITED;
        r->token = m;
    }
    return 0;
}

int stream_wait_started(const struct stream_where *w, struct queue *q)
{
    int rc = wait_for_these(w, q, &q->outstanding, q->last);

    if (!rc)
        q->starts_waited = q->starts;
    return rc;
}

static int may_wait(const char *call, struct shmemx_queue *queue,
                    const struct req *r, int i)
{
    if (r->queue != queue || r->state != STARTED)
        return stream_refuse(ERR_ARG, call, "request %d (%s) was not started "
                             "on this queue", i, stream_req_name(r).text);
    return 0;
}

/* Back to the others. */
static void put_back(struct queue *q, struct list_link *these)
{
    struct list_link *l;

    while (!list_empty(these)) {
        l = these->next;
        list_remove(l);
        list_append(&q->outstanding, l);
    }
}

int stream_wait_requests(const struct stream_where *w, struct queue *q, int n,
                      struct shmemx_req *reqs[])
{
    struct list_link these = LIST_INIT(these);
    uint64_t upto[TOKEN_KINDS] = { 0 };
    bool every = false;
    struct req *r;
    int rc = n > 0 ? make_list(w->call, q, (size_t)n) : 0;

    for (int i = 0; i < n && !rc; i++) {
        r = q->resolved[i] = stream_req_at(w->call, reqs, i);
        rc = r ? may_wait(w->call, handle_of_object(q), r, i) : -EINVAL;
    }
    if (rc)
        return rc;
    for (int i = 0; i < n; i++) {
        r = q->resolved[i];
        if (r->token.kind < TOKEN_KINDS &&
            r->token.number > upto[r->token.kind])
            upto[r->token.kind] = r->token.number;
        every |= stream_token_is_nic(q, r->token);
        if (r->ops->own_counters) {
            list_remove(&r->link);
            list_append(&these, &r->link);
        }
    }
    rc = wait_for_these(w, q, &these, every ? q->last : upto);
    put_back(q, &these);
    for (int i = 0; i < n && !rc; i++)
        q->resolved[i]->state = WAITED;
    return rc;
}
