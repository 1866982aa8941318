/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests: operations that are put into a queue, persistent or one-shot.  The
 * API calls it, and msg with operations of its own (struct stream_req_ops). */
#include "stream/queue/stream_queue.h"
#include "base/lock.h"
#include "base/symbol.h"
#include "core/core_misuse.h"
#include "stream/ring/stream_ring.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* Persistent ones that are no messages: memory that is freed may be theirs. */
static struct base_lock lock = LOCK_INIT;
static struct list_link made GUARDED_BY(lock) = LIST_INIT(made);

static const struct stream_req_ops op_ops;

static bool is_listed(const struct req *r)
{
    return !r->once && r->ops == &op_ops;
}

void stream_req_visit(void (*visit)(const struct stream_op *op, void *arg),
                      void *arg)
{
    struct list_link *l, *next;

    lock_acquire(&lock);
    list_each(l, next, &made)
        visit(&list_entry(l, struct req, link)->op, arg);
    lock_release(&lock);
}

int stream_req_may_stage(const char *call, struct queue *q)
{
    struct stream_where w = stream_queue_where(call, q);
    int rc = stream_need_stream(&w);

    rc = rc ? rc : stream_queue_check(call, q);
    if (rc)
        return rc;
    return stream_queue_reserve(q, q->n_staged + 1) ? stream_no_memory(call)
                                                    : 0;
}

static int stage(const char *call, struct queue *q, const struct stream_op *op,
                 struct req *req)
{
    int rc = stream_req_may_stage(call, q);

    if (rc)
        return rc;
    q->staged[q->n_staged++] = (struct staged_op){ *op, req };
    return 0;
}

int stream_req_create(const char *call, const struct stream_req_args *a,
                      struct shmemx_req **out)
{
    struct req *r = handle_new(&stream_reqs);
    int rc;

    if (!r)
        return stream_no_memory(call);
    if (a->op)
        r->op = *a->op;
    r->ops = a->ops;
    r->object = a->object;
    r->own = !out;
    r->once = a->q != NULL;
    r->state = a->q ? STAGED : IDLE;
    r->queue = a->q ? handle_of_object(a->q) : NULL;
    rc = a->q ? stage(call, a->q, a->op, r) : 0;
    if (rc)
        handle_release(&stream_reqs, handle_of_object(r));
    else if (out)
        *out = handle_of_object(r);
    return rc;
}

/* An operation needs a request only where the program asks for one. */
static int req_create_op(const char *call, struct queue *q,
                         const struct stream_op *op, struct shmemx_req **out)
{
    const struct stream_req_args a = { q, op, &op_ops, NULL };

    if (!q && !out)
        return stream_refuse(ERR_NULL, call, "no place for the request");
    return out ? stream_req_create(call, &a, out) : stage(call, q, op, NULL);
}

int stream_req_init(const char *call, void *dest, const void *source,
                    size_t len, const struct stream_signal *s, int pe,
                    struct shmemx_req **out)
{
    struct stream_where w = stream_queue_where(call, NULL);
    struct stream_op op;
    struct req *r;
    int rc = stream_make_put(&w, dest, source, len, 1, s, pe, &op);

    rc = rc ? rc : req_create_op(call, NULL, &op, out);
    if (rc)
        return rc;
    r = handle_find(&stream_reqs, *out);
    lock_acquire(&lock);
    list_append(&made, &r->link);
    lock_release(&lock);
    return 0;
}

int stream_req_put(const char *call, struct shmemx_queue *queue, void *dest,
                   const void *source, size_t len,
                   const struct stream_signal *s, int pe,
                   struct shmemx_req **out)
{
    struct queue *q = stream_queue_of(call, queue);
    struct stream_where w = stream_queue_where(call, q);
    struct stream_op op;
    int rc = q ? stream_make_put(&w, dest, source, len, 1, s, pe, &op)
               : -EINVAL;

    return rc ? rc : req_create_op(call, q, &op, out);
}

int stream_req_get(const char *call, struct shmemx_queue *queue, void *dest,
                   const void *source, size_t len, int pe,
                   struct shmemx_req **out)
{
    struct queue *q = stream_queue_of(call, queue);
    struct stream_where w = stream_queue_where(call, q);
    struct stream_op op;
    int rc = q ? stream_make_get(&w, dest, source, len, 1, pe, &op) : -EINVAL;

    return rc ? rc : req_create_op(call, q, &op, out);
}

int stream_req_amo(const char *call, struct shmemx_queue *queue,
                   const struct stream_amo *a, int pe,
                   struct shmemx_req **out)
{
    struct queue *q = stream_queue_of(call, queue);
    struct stream_where w = stream_queue_where(call, q);
    struct stream_op op;
    int rc = q ? stream_make_amo(&w, a, pe, &op) : -EINVAL;

    return rc ? rc : req_create_op(call, q, &op, out);
}

/* NULL, logged: it is none. */
static struct req *req_of(const char *call, struct shmemx_req *req)
{
    struct req *r = handle_find(&stream_reqs, req);

    if (unlikely(!r && !req))
        core_misuse(ERR_NULL, call, "the request is a null pointer");
    else if (unlikely(!r))
        core_misuse(ERR_ARG, call, "%p is no request, or one that was freed",
                    (void *)req);
    return r;
}

static int need_started(const char *call, const struct req *r)
{
    if (likely(r->queue && r->state != STAGED))
        return 0;
    core_misuse(ERR_ARG, call, "the request (%s) was not started: "
                "shmemx_enqueue_start() or _startall() comes before, of a "
                "partitioned one also shmemx_req_start()",
                stream_req_name(r).text);
    return -EINVAL;
}

bool stream_any_deferred;

/* Behind the wait for it a request is not touched.  Later starts of the queue
 * may stand behind what this thread is about to do. */
struct queue *stream_req_find_deferral(const struct req *r)
{
    struct queue *q = handle_find(&stream_queues, r->deferred_on);
    uint64_t number = q ? q->deferred : 0;

    if (r->deferred_wait)
        number = r->deferred_wait;
    /* acquire: as stream_queue_deferred_made(). */
    return q && __atomic_load_n(&q->deferred_made, __ATOMIC_ACQUIRE) < number
           ? q : NULL;
}

bool stream_reqs_are_deferred(int n, struct shmemx_req *reqs[])
{
    const struct req *r;

    if (likely(!__atomic_load_n(&stream_any_deferred, __ATOMIC_RELAXED)))
        return false;
    for (int i = 0; i < n; i++) {
        r = handle_find(&stream_reqs, reqs[i]);
        if (r && stream_req_deferred_on(r))
            return true;
    }
    return false;
}

bool stream_req_ended(const struct req *r)
{
    const struct queue *q;

    if (unlikely(stream_req_deferred_on(r) != NULL))
        return false;
    q = stream_req_queue(r);
    if (unlikely(r->broken) && (r->ops->is_running(r) ||
                                (q && stream_queue_broken_pending(q))))
        return false;
    return r->state == IDLE || !q ||
           (stream_token_completed(q, r->token) &&
            (r->state == WAITED || r->ops->completed(r)));
}

/* The host has waited in the stream's place. */
static void complete(const char *call, struct req *r)
{
    xport_flush();              /* what a NIC has brought to the device */
    if (r->state == STARTED)
        r->ops->finish(call, r);
    if (r->ops->own_counters && r->state == STARTED)
        list_remove(&r->link);
    r->state = r->once ? WAITED : IDLE;
}

/* An ended operation may have failed: its request is known where that has an
 * error of its own; else it may be any of the queue's. */
static int failed(const char *call, const struct queue *q, struct req *r)
{
    struct stream_errors *e = q ? &q->ring->exec.failed : NULL;
    int rc = r->ops->error(call, r, e);

    if (rc)
        return rc;
    return e && (r->ops->own_counters || r->token.kind != TOKEN_START)
               ? stream_errors_take_unowned(call, e)
               : 0;
}

/* Until its own words say that it has completed. */
static void await_completion(const char *call, const struct req *r)
{
    const struct queue *q = stream_req_queue(r);
    struct core_waiter w = r->ops->waiter(call, r, q ? q->stream : NULL);

    while (!r->ops->completed(r))
        core_wait_step(&w);
    core_wait_end(&w);
}

void stream_req_complete(const char *call, struct req *r, bool waits)
{
    if (waits) {
        stream_queue_await(call, stream_req_queue(r), r->token,
                           stream_token_completed, r);
        await_completion(call, r);
    }
    if (!stream_req_ended(r))
        return;
    complete(call, r);
    if (r->own)
        stream_req_release(r);
}

int stream_req_test_started(const char *call, struct req *r, bool *is)
{
    const struct queue *q;

    if (need_started(call, r))
        return -EINVAL;
    core_progress(call);
    q = stream_req_queue(r);
    *is = stream_req_ended(r);
    if (*is && r->ops->own_counters)
        complete(call, r);
    else if (*is)
        xport_flush();
    return *is ? failed(call, q, r) : 0;
}

int stream_req_await_started(const char *call, struct req *r)
{
    const struct queue *q;

    if (need_started(call, r))
        return -EINVAL;
    q = stream_req_queue(r);
    if (q) {
        stream_queue_await(call, q, r->token, stream_token_completed, r);
        if (r->ops->own_counters && r->state == STARTED)
            await_completion(call, r);
    }
    complete(call, r);
    return failed(call, q, r);
}

int stream_req_test(const char *call, struct shmemx_req *req, bool *is)
{
    struct req *r = req_of(call, req);

    if (!r)
        return -EINVAL;
    if (likely(!stream_req_deferred_on(r)))
        return r->ops->test(call, r, is);
    core_progress(call);
    *is = false;
    return 0;
}

int stream_req_wait_host(const char *call, struct shmemx_req *req)
{
    struct req *r = req_of(call, req);
    struct queue *q;

    if (!r)
        return -EINVAL;
    q = stream_req_deferred_on(r);
    if (unlikely(q != NULL))
        stream_queue_await_deferred(call, q, r);
    return r->ops->await(call, r);
}

static void unlist(struct req *r)
{
    if (!is_listed(r))
        return;
    lock_acquire(&lock);
    list_remove(&r->link);
    lock_release(&lock);
}

void stream_req_close(void *req)
{
    struct req *r = req;

    unlist(r);
    r->ops->close(r);
}

void stream_req_release(struct req *r)
{
    unlist(r);
    r->ops->free(r);
    handle_release(&stream_reqs, handle_of_object(r));
}

int stream_req_free(const char *call, struct shmemx_req *req)
{
    struct req *r = req_of(call, req);
    const char *why = NULL;

    if (!r)
        return -EINVAL;
    if (r->state == STAGED)
        why = "waits for its start";
    else if (!stream_req_ended(r))
        why = "has not ended";
    else if (r->state == STARTED && r->ops->own_counters)
        why = "was started, and no call has waited for it";
    else
        why = r->ops->busy(r);
    if (why) {
        core_misuse(ERR_ARG, call, "the request (%s) %s",
                    stream_req_name(r).text, why);
        return -EBUSY;
    }
    stream_req_release(r);
    return 0;
}

/* ---- slots of struct stream_req_ops ---- */

int stream_req_no_step(const struct stream_where *w, struct queue *q,
                       struct req *r, struct start_parts *parts)
{
    (void)w, (void)q, (void)r, (void)parts;
    return 0;
}

void stream_req_no_call(const char *call, struct req *r)
{
    (void)call, (void)r;
}

bool stream_req_is_completed(const struct req *r)
{
    (void)r;
    return true;
}

struct core_waiter stream_req_no_waiter(const char *call, const struct req *r,
                                        void *stream)
{
    (void)r, (void)stream;
    return (struct core_waiter){ .info.call = call };
}

int stream_req_no_error(const char *call, struct req *r,
                        struct stream_errors *e)
{
    (void)call, (void)r, (void)e;
    return 0;
}

bool stream_req_not_running(const struct req *r)
{
    (void)r;
    return false;
}

const char *stream_req_not_busy(const struct req *r)
{
    (void)r;
    return NULL;
}

void stream_req_no_free(struct req *r)
{
    (void)r;
}

/* ---- requests that are operations ---- */

static int check_start_op(const struct stream_where *w, const struct req *r,
                          int i)
{
    (void)w, (void)r, (void)i;
    return 0;
}

static int start_op(const struct stream_where *w, struct queue *q,
                    struct req *r, struct start_parts *parts)
{
    return stream_start_one(w, q, &r->op, parts);
}

static void name_op(const struct req *r, char *text, size_t size)
{
    snprintf(text, size, "%s, PE %d", symbol_public(r->op.call), r->op.pe);
}

static const struct stream_req_ops op_ops = {
    .own_counters = false, .check_start = check_start_op, .start = start_op,
    .started = stream_req_no_call, 
    .wait = { stream_req_no_step, stream_req_no_step, stream_req_no_step },
    .completed = stream_req_is_completed, .waiter = stream_req_no_waiter,
    .finish = stream_req_no_call, .error = stream_req_no_error,
    .is_running = stream_req_not_running, .busy = stream_req_not_busy,
    .free = stream_req_no_free, .close = stream_req_no_free, .name = name_op,
    .test = stream_req_test_started, .await = stream_req_await_started
};
