/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests: operations that are put into a queue, or made once. */
#include "stream/queue/stream_queue.h"
#include "base/lock.h"
#include "core/core_misuse.h"
#include "msg/msg_chan.h"

#include <errno.h>
#include <stdlib.h>

/* Persistent ones that are no messages: what is freed may be theirs. */
static struct base_lock lock = LOCK_INIT;
static struct list_link made GUARDED_BY(lock) = LIST_INIT(made);

static bool is_listed(const struct req *r)
{
    return !r->once && !stream_req_is_message(r);
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

static int stage(const char *call, struct queue *q, const struct stream_op *op,
                 struct req *req)
{
    struct stream_where w = stream_queue_where(call, q);
    int rc = stream_need_stream(&w);

    rc = rc ? rc : stream_queue_check(call, q);
    if (rc)
        return rc;
    if (stream_queue_reserve(q, q->n_staged + 1))
        return stream_no_memory(call);
    q->staged[q->n_staged++] = (struct staged_op){ *op, req };
    return 0;
}

int stream_req_make(const char *call, struct queue *q,
                    const struct stream_op *op, struct shmemx_req **out)
{
    bool own = !out && op->kind == STREAM_MESSAGE;
    struct req *r = NULL;
    int rc = 0;

    if (!q && !out)
        return stream_refuse(ERR_NULL, call, "no place for the request");
    if (out || own) {
        r = stream_handle_new(&stream_reqs);
        if (!r)
            return stream_no_memory(call);
        r->op = *op;
        r->own = own;
        if (op->kind == STREAM_MESSAGE)
            r->chan = op->send.chan;
        r->once = q != NULL;
        r->state = q ? STAGED : IDLE;
        r->queue = q ? stream_handle_of(q) : NULL;
    }
    if (q)
        rc = stage(call, q, op, r);
    if (rc && r)
        stream_handle_release(&stream_reqs, stream_handle_of(r));
    else if (out)
        *out = stream_handle_of(r);
    return rc;
}

int stream_req_of_coll(const char *call, struct coll *c,
                       struct shmemx_req **out)
{
    struct req *r = stream_handle_new(&stream_reqs);

    if (!r)
        return stream_no_memory(call);
    r->coll = c;
    *out = stream_handle_of(r);
    return 0;
}

int stream_req_init(const char *call, void *dest, const void *source,
                    size_t len, const struct stream_signal *s, int pe,
                    struct shmemx_req **out)
{
    struct stream_where w = stream_queue_where(call, NULL);
    struct stream_op op;
    struct req *r;
    int rc = s ? stream_make_put_signal(&w, dest, source, len, 1, s, pe, &op)
               : stream_make_put(&w, dest, source, len, 1, pe, &op);

    rc = rc ? rc : stream_req_make(call, NULL, &op, out);
    if (rc)
        return rc;
    r = stream_handle_find(&stream_reqs, *out);
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
    int rc = !q ? -EINVAL
             : s ? stream_make_put_signal(&w, dest, source, len, 1, s, pe, &op)
                 : stream_make_put(&w, dest, source, len, 1, pe, &op);

    return rc ? rc : stream_req_make(call, q, &op, out);
}

int stream_req_get(const char *call, struct shmemx_queue *queue, void *dest,
                   const void *source, size_t len, int pe,
                   struct shmemx_req **out)
{
    struct queue *q = stream_queue_of(call, queue);
    struct stream_where w = stream_queue_where(call, q);
    struct stream_op op;
    int rc = q ? stream_make_get(&w, dest, source, len, 1, pe, &op) : -EINVAL;

    return rc ? rc : stream_req_make(call, q, &op, out);
}

int stream_req_amo(const char *call, struct shmemx_queue *queue,
                   const struct stream_amo *a, int pe,
                   struct shmemx_req **out)
{
    struct queue *q = stream_queue_of(call, queue);
    struct stream_where w = stream_queue_where(call, q);
    struct stream_op op;
    int rc = q ? stream_make_amo(&w, a, pe, &op) : -EINVAL;

    return rc ? rc : stream_req_make(call, q, &op, out);
}

/* NULL, told: it is none, or, unless any will do, was not started. */
static struct req *req_of(const char *call, struct shmemx_req *req, bool any)
{
    struct req *r = stream_handle_find(&stream_reqs, req);

    if (unlikely(!r && !req))
        core_misuse(ERR_NULL, call, "the request is a null pointer");
    else if (unlikely(!r))
        core_misuse(ERR_ARG, call, "%p is no request, or one that was freed",
                    (void *)req);
    else if (any || r->matches || (r->queue && r->state != STAGED))
        return r;
    else
        core_misuse(ERR_ARG, call, "the request (%s) was not started: "
                    "shmemx_enqueue_start() or _startall() comes before",
                    stream_req_name(r).text);
    return NULL;
}

bool stream_req_ended(const struct req *r)
{
    const struct queue *q = stream_req_queue(r);

    if (unlikely(r->broken) && ((r->coll && !msg_coll_idle(r->coll)) ||
                                (q && stream_queue_broken_pending(q))))
        return false;
    return r->state == IDLE || !q ||
           (stream_token_completed(q, r->mark) &&
            (r->state == WAITED ||
             ((!r->chan || msg_completed(r->chan)) &&
              (!r->coll || msg_coll_completed(r->coll)))));
}

/* The host has waited in the stream's place. */
static void complete(const char *call, struct req *r)
{
    if (r->chan && r->state == STARTED)
        msg_finish(call, r->chan);
    if (stream_req_is_message(r) && r->state == STARTED)
        list_remove(&r->link);
    r->state = r->once ? WAITED : IDLE;
}

/* What has ended may have failed: which message it was is known where it never
 * had a partner; else it may be any of the queue's. */
static int failed(const char *call, const struct queue *q, const struct req *r)
{
    struct stream_errors *f = q ? stream_ring_errors(q->queue) : NULL;

    if (r->chan && msg_chan_state(r->chan) == MSG_CHAN_FAILED) {
        msg_report_failed_match(call, "", r->chan);
        if (f && r->chan->counted)
            stream_errors_withdraw(f, r->chan->counted);
        r->chan->counted = 0;
        return r->chan->error;
    }
    return f && (stream_req_is_message(r) || r->mark.way != TOKEN_START)
               ? stream_errors_take_unowned(call, f)
               : 0;
}

/* Until the words of a message tell that it is over. */
static void await_message(const char *call, const struct req *r)
{
    const struct queue *q = stream_req_queue(r);
    void *stream = q ? q->stream : NULL;
    struct core_waiter w = r->chan ? msg_waiter(call, r->chan, stream)
                                   : msg_coll_waiter(call, r->coll, stream);

    while (r->chan ? !msg_completed(r->chan) : !msg_coll_completed(r->coll))
        core_wait_step(&w);
    core_wait_end(&w);
}

void stream_req_complete(const char *call, struct req *r, bool waits)
{
    if (waits) {
        stream_queue_await(call, stream_req_queue(r), r->mark,
                           stream_token_completed, r->chan);
        await_message(call, r);
    }
    if (!stream_req_ended(r))
        return;
    complete(call, r);
    if (r->own)
        stream_req_release(r);
}

int stream_req_test(const char *call, struct shmemx_req *req, bool *is)
{
    struct req *r = req_of(call, req, false);
    const struct queue *q;

    if (!r)
        return -EINVAL;
    if (r->matches) {
        *is = msg_match_completed(call, r);
        return *is ? msg_match_wait(call, r) : 0;
    }
    core_progress(call);
    q = stream_req_queue(r);
    *is = stream_req_ended(r);
    if (*is && stream_req_is_message(r))
        complete(call, r);
    return *is ? failed(call, q, r) : 0;
}

int stream_req_wait_host(const char *call, struct shmemx_req *req)
{
    struct req *r = req_of(call, req, false);
    const struct queue *q;

    if (!r)
        return -EINVAL;
    if (r->matches)
        return msg_match_wait(call, r);
    q = stream_req_queue(r);
    if (q) {
        stream_queue_await(call, q, r->mark, stream_token_completed, r->chan);
        if (stream_req_is_message(r) && r->state == STARTED)
            await_message(call, r);
    }
    complete(call, r);
    return failed(call, q, r);
}

static void unlist(struct req *r)
{
    if (!is_listed(r))
        return;
    lock_acquire(&lock);
    list_remove(&r->link);
    lock_release(&lock);
}

void stream_req_close(struct req *r)
{
    unlist(r);
    msg_match_free(r);
    msg_coll_release(r->coll);
}

void stream_req_release(struct req *r)
{
    unlist(r);
    if (r->chan && r->once && r->state == WAITED)
        msg_wait_released("shmemx_req_free", r->chan);
    if (r->chan)
        msg_chan_free(r->chan);
    if (r->coll)
        msg_coll_free("shmemx_req_free", r->coll);
    msg_match_free(r);
    stream_handle_release(&stream_reqs, stream_handle_of(r));
}

int stream_req_free(const char *call, struct shmemx_req *req)
{
    struct req *r = req_of(call, req, true);
    const char *why = NULL;

    if (!r)
        return -EINVAL;
    if (r->state == STAGED)
        why = "waits for its start";
    else if (!stream_req_ended(r))
        why = "has not ended";
    else if (r->state == STARTED && stream_req_is_message(r))
        why = "was started, and nobody has waited for it";
    else if (r->chan && r->chan->wanted &&
             msg_chan_state(r->chan) < MSG_CHAN_MATCHED)
        why = "is being matched";
    else if (r->n_matches)
        why = "has not been waited for";
    if (why) {
        core_misuse(ERR_ARG, call, "the request (%s) %s",
                    stream_req_name(r).text, why);
        return -EBUSY;
    }
    stream_req_release(r);
    return 0;
}
