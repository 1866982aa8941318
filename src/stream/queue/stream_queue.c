/* SPDX-License-Identifier: BSD-3-Clause */
/* Queues: operations and requests that are put in one by one, and that one
 * start releases (stream_start.c).  Called by src/api and by messages;
 * enqueues nothing on a stream. */
#include "stream/queue/stream_queue.h"
#include "core/core_misuse.h"
#include "gtl/gtl_default_stream.h"
#include "stream/ring/stream_ring.h"
#include "stream/ring/stream_ring_list.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>

struct handle_table stream_queues = HANDLE_TABLE(struct queue);
struct handle_table stream_reqs = HANDLE_TABLE(struct req);

/* ---- queues ---- */

static void close_queue(void *thing)
{
    struct queue *q = thing;

    if (q->ring && stream_is_open)      /* else it went with all others */
        stream_ring_free(q->ring);
    if (q->cancel_event)
        gtl->event_destroy(q->cancel_event);
    free(q->staged);
    free(q->resolved);
    stream_step_batch_free(&q->steps);
}

int stream_no_pool_memory(const char *call, size_t bytes)
{
    char size[24];

    stream_refuse(ERR_HEAP, call, "no %zu bytes are left in the %s of the heap "
                  "that are the library's own, a 16th of it: symmetric buffers "
                  "need less there, or set SHMEM_SYMMETRIC_SIZE", bytes,
                  log_size(size, (double)heap_pool_size()));
    return -ENOSPC;
}

int stream_queue_reserve(struct queue *q, size_t n)
{
    struct staged_op *more;
    size_t room = q->room ? q->room : 16;

    if (n > SIZE_MAX / 2 / sizeof *more)
        return -ENOMEM;
    while (room < n)
        room *= 2;
    if (room > q->room) {
        more = realloc(q->staged, room * sizeof *more);
        if (!more)
            return -ENOMEM;
        q->staged = more;
        q->room = room;
    }
    /* A start that the progress thread makes may be using the ring just now, and
     * reserves what it wants. */
    return q->recorded ? 0 : stream_ring_reserve(q->ring, n + 1);
}

struct queue *stream_queue_of(const char *call, struct shmemx_queue *queue)
{
    struct queue *q = handle_find(&stream_queues, queue);

    if (unlikely(!q && !queue))
        core_misuse(ERR_NULL, call, "the queue is a null pointer");
    else if (unlikely(!q))
        core_misuse(ERR_ARG, call, "%p is no queue, or one that was destroyed",
                    (void *)queue);
    return q;
}

int stream_queue_create(const char *call, void *stream, size_t depth,
                        struct shmemx_queue **out)
{
    struct queue *q;
    uint64_t id = STREAM_ID_UNKNOWN;
    int rc = gtl->stream_check(stream, &id);

    if (rc == -EBUSY) {         /* it records a graph, and will end that */
        rc = 0;
        id = STREAM_ID_UNKNOWN; /* for a default stream beside it, too */
    }
    if (rc) {
        core_misuse(ERR_STREAM, call, "stream %p: %s", stream, gtl_error());
        return rc;
    }
    q = handle_new(&stream_queues);
    if (!q)
        return stream_no_memory(call);
    q->stream = stream;
    q->owner = gtl_stream_owner(stream);
    q->outstanding.next = q->outstanding.prev = &q->outstanding;
    q->to_free.next = q->to_free.prev = &q->to_free;
    rc = stream_ring_create(stream, id, &q->ring);
    if (!rc)
        rc = stream_queue_reserve(q, depth);
    if (rc) {
        core_misuse(ERR_STREAM, call, "stream %p: %s", stream,
                    stream_ring_error_text(rc));
        close_queue(q);
        handle_release(&stream_queues, handle_of_object(q));
        return rc;
    }
    /* A ring before this one may have used the counter. */
    q->starts = q->starts_waited = q->last[TOKEN_START] =
        q->ring->counters->started;
    *out = handle_of_object(q);
    return 0;
}

uint64_t *stream_queue_counter(const struct queue *q, int kind)
{
    struct stream_counters *w = q->ring->counters;

    return kind == TOKEN_START      ? &w->started
           : kind == TOKEN_SEQUENCE ? &w->completed_waited
           : q->last[TOKEN_NIC_FLAG]
               ? xport_trig->word(q->ring->nic.trig)
               : NULL;
}

static bool reached(const struct queue *q, struct stream_token m)
{
    uint64_t *word;

    if (m.kind == TOKEN_POSITION)
        return !m.number || gtl->is_past(q->stream, m.number);
    word = stream_queue_counter(q, m.kind);
    return !word || __atomic_load_n(word, __ATOMIC_ACQUIRE) >= m.number;
}

static struct stream_token last_of(const struct queue *q, int kind)
{
    return (struct stream_token){ .kind = kind, .number = q->last[kind] };
}

bool stream_token_is_nic(const struct queue *q, struct stream_token m)
{
    return (m.kind == TOKEN_SEQUENCE || m.kind == TOKEN_NIC_FLAG) &&
           q->ring->nic.posted;
}

/* A later start may be behind what this thread is about to do, so no call waits
 * for that one here. */
bool stream_token_completed(const struct queue *q, struct stream_token m)
{
    if (!stream_token_is_nic(q, m) || (reached(q, last_of(q, TOKEN_SEQUENCE)) &&
                                       reached(q, last_of(q, TOKEN_NIC_FLAG))))
        return reached(q, m);
    return stream_nic_completed_first(q->ring, m.posted) &&
           (m.kind != TOKEN_SEQUENCE || reached(q, m));
}

static bool all_ended(const struct queue *q)
{
    int kind = TOKEN_POSITION;

    while (kind >= 0 && reached(q, last_of(q, kind)))
        kind--;
    return kind < 0;
}

/* The host looks at the messages, or waits for them, as their requests' calls
 * do.  True: none is left. */
static bool messages_ended(const char *call, struct queue *q, bool waits)
{
    struct list_link *l, *next;

    list_each(l, next, &q->outstanding)
        stream_req_complete(call, list_entry(l, struct req, link), waits);
    return list_empty(&q->outstanding);
}

int stream_queue_test(const char *call, struct shmemx_queue *queue, bool *is)
{
    struct queue *q = stream_queue_of(call, queue);

    if (!q)
        return -EINVAL;
    core_progress(call);
    *is = stream_queue_deferred_made(q) &&
          messages_ended(call, q, false) && all_ended(q);
    return *is ? stream_errors_take_ring(call, &q->ring->exec.failed) : 0;
}

/* The wait that the host makes: the device, the progress thread or the NIC
 * stores. */
void stream_queue_await(const char *call, const struct queue *q,
                        struct stream_token m,
                        bool (*over)(const struct queue *q,
                                     struct stream_token m),
                        const struct req *r)
{
    uint64_t *word = stream_queue_counter(
        q, m.kind == TOKEN_POSITION ? TOKEN_START : m.kind);
    struct core_waiter w = {
        .addr = word, .bytes = sizeof *word, .info.what = CORE_FOR_QUEUE,
        .info.value = (uintptr_t)q->stream, .info.call = call
    };

    if (r && r->ops->own_counters) {
        struct core_waiter own = r->ops->waiter(call, r, q->stream);

        w.info.name = own.info.name;
        w.info.named = own.info.named;
        w.info.raiser = own.info.raiser;
    }
    while (!over(q, m))
        core_wait_step(&w);
    core_wait_over(&w);
}

void stream_queue_await_deferred(const char *call, const struct queue *q,
                                 const struct req *r)
{
    struct core_waiter w = {
        .addr = &q->deferred_made, .bytes = sizeof q->deferred_made,
        .info.what = CORE_FOR_QUEUE, .info.value = (uintptr_t)q->stream,
        .info.call = call
    };

    while (r ? stream_req_deferred_on(r) != NULL
             : !stream_queue_deferred_made(q))
        core_wait_step(&w);
    core_wait_over(&w);
}

int stream_queue_wait_host(const char *call, struct shmemx_queue *queue)
{
    struct queue *q = stream_queue_of(call, queue);

    if (!q)
        return -EINVAL;
    stream_queue_await_deferred(call, q, NULL);
    for (int kind = 0; kind <= TOKEN_KINDS; kind++)
        stream_queue_await(call, q, last_of(q, kind), reached, NULL);
    messages_ended(call, q, true);
    q->starts_waited = q->starts;
    return stream_errors_take_ring(call, &q->ring->exec.failed);
}

/* Nothing of it will ever be started. */
static void unstage_all(struct queue *q)
{
    for (size_t i = 0; i < q->n_staged; i++) {
        struct req *r = q->staged[i].req;

        if (!r)
            continue;
        r->queue = NULL;        /* the program frees it */
        r->state = IDLE;
        if (r->own)
            stream_req_release(r);
    }
    q->n_staged = 0;
}

static bool stream_destroyed_here(const struct queue *q)
{
    return __atomic_load_n(&q->ring->stream_destroyed_here, __ATOMIC_RELAXED);
}

bool stream_queue_broken_pending(const struct queue *q)
{
    return q->no_cancel_event
               ? !stream_destroyed_here(q)
               : q->cancel_event &&
                     gtl->event_query(q->cancel_event) == -EAGAIN;
}

static int refuse_pending(const char *call)
{
    core_misuse(ERR_ARG, call, "operations that were started have not ended");
    return -EBUSY;
}

int stream_queue_destroy(const char *call, struct shmemx_queue *queue)
{
    struct queue *q = stream_queue_of(call, queue), gone;

    if (!q)
        return -EINVAL;
    if (q->n_staged && (q->broken || stream_destroyed_here(q)))
        unstage_all(q);
    if (q->n_staged) {
        core_misuse(ERR_ARG, call, "operations that were put in wait for their "
                    "start");
        return -EBUSY;
    }
    if (!stream_queue_deferred_made(q))
        return refuse_pending(call);
    if (!list_empty(&q->outstanding)) {
        core_misuse(ERR_ARG, call, "messages that were started have not been "
                    "waited for");
        return -EBUSY;
    }
    if (all_ended(q)) /* the progress thread is about to end the last ones */
        while (__atomic_load_n(&q->ring->n_tasks, __ATOMIC_ACQUIRE))
            sched_yield();
    if (!all_ended(q) || !stream_queue_reap(q, true) ||
        !stream_ring_empty(q->ring) || stream_queue_broken_pending(q))
        return refuse_pending(call);
    gone = *q;
    if (!handle_release(&stream_queues, queue))
        return -EINVAL;         /* another thread was faster */
    close_queue(&gone);
    return 0;
}

int stream_queue_check(const char *call, const struct queue *q)
{
    if (unlikely(q->broken)) {
        stream_refuse(ERR_STREAM, call, "an earlier start of the queue failed "
                      "in the middle");
        return -EIO;
    }
    if (unlikely(stream_destroyed_here(q)))
        return stream_refuse(ERR_STREAM, call, "the queue's stream was "
                             "destroyed");
    if (likely(gtl_stream_owner(q->stream) == q->owner))
        return 0;
    return stream_refuse(ERR_STREAM, call, "the queue is of the per-thread "
                         "default stream of another thread");
}

struct stream_where stream_queue_where(const char *call, const struct queue *q)
{
    return (struct stream_where){
        .call = call, .ctx = &core_ctx_default, .stream = q ? q->stream : NULL
    };
}

static struct stream_unfinished staged;

static void count_and_close(void *thing)
{
    const struct queue *q = thing;

    staged.n += q->n_staged;
    if (q->n_staged)
        stream_unfinished_add(&staged, &q->staged[0].op);
    close_queue(thing);
}

struct stream_unfinished stream_queues_release_all(void)
{
    staged = (struct stream_unfinished){ .n = 0 };
    handle_release_all(&stream_reqs, stream_req_close);
    handle_release_all(&stream_queues, count_and_close);
    return staged;
}
