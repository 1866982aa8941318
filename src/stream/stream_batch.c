/* SPDX-License-Identifier: BSD-3-Clause */
/* Queues, and requests: operations that are put in one by one, or made once.
 * stream_start.c lets them go. */
#include "stream/stream_batch.h"
#include "core/core_misuse.h"
#include "stream/stream_queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct stream_handles stream_batches = STREAM_HANDLES(struct batch);
struct stream_handles stream_reqs = STREAM_HANDLES(struct req);

/* ---- queues ---- */

static void let_go(void *thing)
{
    struct batch *q = thing;

    if (q->queue)
        stream_queue_close(q->queue);
    free(q->staged);
}

int stream_batch_no_memory(const char *call)
{
    stream_refuse(ERR_STREAM, call, "out of memory");
    return -ENOMEM;
}

static int make_room(struct batch *q, size_t n)
{
    struct staged *more;
    size_t room = q->room ? q->room : 16;

    while (room < n)
        room *= 2;
    if (room > q->room) {
        more = realloc(q->staged, room * sizeof *more);
        if (!more)
            return -ENOMEM;
        q->staged = more;
        q->room = room;
    }
    return stream_queue_reserve(q->queue, n + 1);
}

struct batch *stream_batch_of(const char *call, struct shmemx_queue *queue)
{
    struct batch *q = stream_handle_find(&stream_batches, queue);

    if (unlikely(!q && !queue))
        core_misuse(ERR_NULL, call, "the queue is a null pointer");
    else if (unlikely(!q))
        core_misuse(ERR_ARG, call, "%p is no queue, or one that was destroyed",
                    (void *)queue);
    return q;
}

int stream_batch_open(const char *call, void *stream, size_t depth,
                      struct shmemx_queue **out)
{
    struct batch *q;
    uint64_t id = UINT64_MAX;
    int rc = gtl->stream_check(stream, &id);

    if (rc == -EBUSY)           /* it records a graph, and will end that */
        rc = 0;
    if (rc) {
        core_misuse(ERR_STREAM, call, "stream %p: %s", stream, gtl_error());
        return rc;
    }
    q = stream_handle_new(&stream_batches);
    if (!q)
        return stream_batch_no_memory(call);
    q->stream = stream;
    rc = stream_queue_open(stream, id, &q->queue);
    if (!rc)
        rc = make_room(q, depth);
    if (rc) {
        core_misuse(ERR_STREAM, call, "stream %p: %s", stream,
                    stream_queue_lacks(rc));
        let_go(q);
        stream_handle_drop(&stream_batches, stream_handle_of(q));
        return rc;
    }
    q->last[BY_START] = stream_queue_words(q->queue)->started;
    *out = stream_handle_of(q);
    return 0;
}

uint64_t *stream_batch_word(const struct batch *q, int way)
{
    struct stream_words *w = stream_queue_words(q->queue);

    return way == BY_START ? &w->started : way == BY_TICKET ? &w->done
           : q->last[BY_FLAG]
           ? xport_trig->word(stream_queue_nic(q->queue)->trig) : NULL;
}

static bool reached(const struct batch *q, struct mark m)
{
    uint64_t *word = stream_batch_word(q, m.way);

    return !word || __atomic_load_n(word, __ATOMIC_ACQUIRE) >= m.number;
}

static struct mark last_of(const struct batch *q, int way)
{
    return (struct mark){ .way = way, .number = q->last[way] };
}

bool stream_batch_counted(const struct batch *q, struct mark m)
{
    return m.way != BY_START && stream_queue_nic(q->queue)->armed;
}

/* A later start may be behind what this thread is about to do, so that nobody
 * waits for that one here. */
static bool ended(const struct batch *q, struct mark m)
{
    if (!stream_batch_counted(q, m) ||
        (reached(q, last_of(q, BY_TICKET)) && reached(q, last_of(q, BY_FLAG))))
        return reached(q, m);
    return stream_nic_first(q->queue, m.armed) &&
           (m.way != BY_TICKET || reached(q, m));
}

static int failed(const char *call, const struct batch *q)
{
    return stream_fail_take(call, stream_queue_failed(q->queue));
}

static bool all_ended(const struct batch *q)
{
    bool all = true;

    for (int way = 0; way < WAYS; way++)
        all = all && reached(q, last_of(q, way));
    return all;
}

int stream_batch_test(const char *call, struct shmemx_queue *queue, bool *is)
{
    const struct batch *q = stream_batch_of(call, queue);

    if (!q)
        return -EINVAL;
    *is = all_ended(q);
    return *is ? failed(call, q) : 0;
}

/* The wait that the host makes: the device, the agent or the NIC stores. */
static void await(const char *call, const struct batch *q, struct mark m,
                  bool (*over)(const struct batch *q, struct mark m))
{
    uint64_t *word = stream_batch_word(q, m.way);
    struct core_waiter w = {
        .addr = word, .bytes = sizeof *word, .what = CORE_FOR_QUEUE,
        .value = (uintptr_t)q->stream, .call = call
    };

    while (!over(q, m))
        core_wait_step(&w);
    core_wait_end(&w);
}

int stream_batch_await(const char *call, struct shmemx_queue *queue)
{
    struct batch *q = stream_batch_of(call, queue);

    if (!q)
        return -EINVAL;
    for (int way = 0; way < WAYS; way++)
        await(call, q, last_of(q, way), reached);
    q->past = q->starts;
    return failed(call, q);
}

/* Nothing of it will ever be started. */
static void drop_staged(struct batch *q)
{
    for (size_t i = 0; i < q->n_staged; i++)
        if (q->staged[i].req) { /* the program frees it */
            q->staged[i].req->queue = NULL;
            q->staged[i].req->state = IDLE;
        }
    q->n_staged = 0;
}

int stream_batch_close(const char *call, struct shmemx_queue *queue)
{
    struct batch *q = stream_batch_of(call, queue), gone;

    if (!q)
        return -EINVAL;
    if (q->n_staged && stream_queue_gone(q->queue))
        drop_staged(q);
    if (q->n_staged) {
        core_misuse(ERR_ARG, call, "operations that were put in wait for their "
                    "start");
        return -EBUSY;
    }
    if (!all_ended(q) || !stream_queue_empty(q->queue)) {
        core_misuse(ERR_ARG, call, "operations that were started have not "
                    "ended");
        return -EBUSY;
    }
    gone = *q;
    if (!stream_handle_drop(&stream_batches, queue))
        return -EINVAL;         /* another thread was faster */
    let_go(&gone);
    return 0;
}

/* ---- requests ---- */

struct stream_where stream_batch_where(const char *call, const struct batch *q)
{
    return (struct stream_where){
        call, &core_ctx_default, q ? q->stream : NULL
    };
}

static int stage(const char *call, struct batch *q, const struct stream_op *op,
                 struct req *req)
{
    struct stream_where w = stream_batch_where(call, q);
    int rc = stream_need_stream(&w);

    if (rc)
        return rc;
    if (make_room(q, q->n_staged + 1))
        return stream_batch_no_memory(call);
    q->staged[q->n_staged++] = (struct staged){ *op, req };
    return 0;
}

/* q: NULL for a persistent one. */
static int make(const char *call, struct batch *q, const struct stream_op *op,
                struct shmemx_req **out)
{
    struct req *r = NULL;
    int rc = 0;

    if (!q && !out)
        return stream_refuse(ERR_NULL, call, "no place for the request");
    if (out) {
        r = stream_handle_new(&stream_reqs);
        if (!r)
            return stream_batch_no_memory(call);
        r->op = *op;
        r->once = q != NULL;
        r->state = q ? STAGED : IDLE;
        r->queue = q ? stream_handle_of(q) : NULL;
    }
    if (q)
        rc = stage(call, q, op, r);
    if (rc && r)
        stream_handle_drop(&stream_reqs, stream_handle_of(r));
    else if (r)
        *out = stream_handle_of(r);
    return rc;
}

int stream_req_init(const char *call, void *dest, const void *source,
                    size_t len, const struct stream_signal *s, int pe,
                    struct shmemx_req **out)
{
    struct stream_where w = stream_batch_where(call, NULL);
    struct stream_op op;
    int rc = s ? stream_make_put_signal(&w, dest, source, len, 1, s, pe, &op)
               : stream_make_put(&w, dest, source, len, 1, pe, &op);

    return rc ? rc : make(call, NULL, &op, out);
}

int stream_req_put(const char *call, struct shmemx_queue *queue, void *dest,
                   const void *source, size_t len,
                   const struct stream_signal *s, int pe,
                   struct shmemx_req **out)
{
    struct batch *q = stream_batch_of(call, queue);
    struct stream_where w = stream_batch_where(call, q);
    struct stream_op op;
    int rc = !q ? -EINVAL
             : s ? stream_make_put_signal(&w, dest, source, len, 1, s, pe, &op)
                 : stream_make_put(&w, dest, source, len, 1, pe, &op);

    return rc ? rc : make(call, q, &op, out);
}

int stream_req_get(const char *call, struct shmemx_queue *queue, void *dest,
                   const void *source, size_t len, int pe,
                   struct shmemx_req **out)
{
    struct batch *q = stream_batch_of(call, queue);
    struct stream_where w = stream_batch_where(call, q);
    struct stream_op op;
    int rc = q ? stream_make_get(&w, dest, source, len, 1, pe, &op) : -EINVAL;

    return rc ? rc : make(call, q, &op, out);
}

int stream_req_amo(const char *call, struct shmemx_queue *queue,
                   const struct stream_amo *a, int pe,
                   struct shmemx_req **out)
{
    struct batch *q = stream_batch_of(call, queue);
    struct stream_where w = stream_batch_where(call, q);
    struct stream_op op;
    int rc = q ? stream_make_amo(&w, a, pe, &op) : -EINVAL;

    return rc ? rc : make(call, q, &op, out);
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
    else if (any || (r->queue && r->state != STAGED))
        return r;
    else
        core_misuse(ERR_ARG, call, "the request was not started");
    return NULL;
}

static bool req_ended(const struct batch *q, const struct req *r)
{
    return r->state == IDLE || !q || ended(q, r->mark);
}

/* What has ended may have failed. */
static int req_failed(const char *call, const struct batch *q,
                      const struct req *r)
{
    return q && r->mark.way != BY_START ? failed(call, q) : 0;
}

int stream_req_test(const char *call, struct shmemx_req *req, bool *is)
{
    const struct req *r = req_of(call, req, false);
    const struct batch *q;

    if (!r)
        return -EINVAL;
    q = stream_req_batch(r);
    *is = req_ended(q, r);
    return *is ? req_failed(call, q, r) : 0;
}

int stream_req_await(const char *call, struct shmemx_req *req)
{
    struct req *r = req_of(call, req, false);
    const struct batch *q;

    if (!r)
        return -EINVAL;
    q = stream_req_batch(r);
    if (q)
        await(call, q, r->mark, ended);
    /* The host has waited in the stream's place. */
    r->state = r->once ? WAITED : IDLE;
    return req_failed(call, q, r);
}

int stream_req_free(const char *call, struct shmemx_req *req)
{
    const struct req *r = req_of(call, req, true);

    if (!r)
        return -EINVAL;
    if (r->state == STAGED)
        core_misuse(ERR_ARG, call, "the request waits for its start");
    else if (!req_ended(stream_req_batch(r), r))
        core_misuse(ERR_ARG, call, "the request has not ended");
    else
        return stream_handle_drop(&stream_reqs, req) ? 0 : -EINVAL;
    return -EBUSY;
}

static void nothing(void *thing)
{
    (void)thing;
}

static unsigned long staged;

static void count_and_let_go(void *thing)
{
    staged += ((struct batch *)thing)->n_staged;
    let_go(thing);
}

unsigned long stream_batch_drop_all(void)
{
    staged = 0;
    stream_handle_drop_all(&stream_reqs, nothing);
    stream_handle_drop_all(&stream_batches, count_and_let_go);
    return staged;
}
