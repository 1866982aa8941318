/* SPDX-License-Identifier: BSD-3-Clause */
/* Queues, and requests: operations that are put in one by one, or made once.
 * stream_start.c lets them go. */
#include "stream/stream_batch.h"
#include "msg/msg_chan.h"
#include "core/core_misuse.h"
#include "gtl/gtl_default_stream.h"
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
    if (q->behind)
        gtl->event_destroy(q->behind);
    free(q->staged);
    free(q->these);
    stream_gather_free(&q->gather);
}

int stream_batch_no_room(const char *call, size_t bytes)
{
    char size[24];

    stream_refuse(ERR_HEAP, call, "no %zu bytes are left in the %s of the heap "
                  "that are the library's own, a 16th of it: symmetric buffers "
                  "need less there, or set SHMEM_SYMMETRIC_SIZE", bytes,
                  log_size(size, (double)heap_pool_size()));
    return -ENOSPC;
}

int stream_batch_room(struct batch *q, size_t n)
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
        return stream_no_memory(call);
    q->stream = stream;
    q->owner = gtl_stream_owner(stream);
    q->sent.next = q->sent.prev = &q->sent;
    q->fading.next = q->fading.prev = &q->fading;
    rc = stream_queue_open(stream, id, &q->queue);
    if (!rc)
        rc = stream_batch_room(q, depth);
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
    uint64_t *word;

    if (m.way == BY_PLACE)
        return !m.number || gtl_past(q->stream, m.number);
    word = stream_batch_word(q, m.way);
    return !word || __atomic_load_n(word, __ATOMIC_ACQUIRE) >= m.number;
}

static struct mark last_of(const struct batch *q, int way)
{
    return (struct mark){
        .way = way, .number = way == BY_PLACE ? q->place : q->last[way]
    };
}

bool stream_batch_counted(const struct batch *q, struct mark m)
{
    return (m.way == BY_TICKET || m.way == BY_FLAG) &&
           stream_queue_nic(q->queue)->armed;
}

/* A later start may be behind what this thread is about to do, so that nobody
 * waits for that one here. */
bool stream_batch_ended(const struct batch *q, struct mark m)
{
    if (!stream_batch_counted(q, m) ||
        (reached(q, last_of(q, BY_TICKET)) && reached(q, last_of(q, BY_FLAG))))
        return reached(q, m);
    return stream_nic_first(q->queue, m.armed) &&
           (m.way != BY_TICKET || reached(q, m));
}

int stream_batch_failed(const char *call, const struct batch *q)
{
    return stream_fail_take(call, stream_queue_failed(q->queue));
}

static bool all_ended(const struct batch *q)
{
    bool all = reached(q, last_of(q, BY_PLACE));

    for (int way = 0; way < WAYS; way++)
        all = all && reached(q, last_of(q, way));
    return all;
}

/* The host looks at the messages, or waits for them, as their requests' calls
 * do.  True: none is left. */
static bool messages_ended(const char *call, struct batch *q, bool waits)
{
    struct list_link *l, *next;

    list_each(l, next, &q->sent)
        stream_req_complete(call, list_entry(l, struct req, link), waits);
    return list_empty(&q->sent);
}

int stream_batch_test(const char *call, struct shmemx_queue *queue, bool *is)
{
    struct batch *q = stream_batch_of(call, queue);

    if (!q)
        return -EINVAL;
    core_progress(call);
    *is = messages_ended(call, q, false) && all_ended(q);
    return *is ? stream_batch_failed(call, q) : 0;
}

/* The wait that the host makes: the device, the agent or the NIC stores. */
void stream_batch_until(const char *call, const struct batch *q, struct mark m,
                        bool (*over)(const struct batch *q, struct mark m),
                        const struct msg_chan *c)
{
    uint64_t *word = stream_batch_word(q, m.way == BY_PLACE ? BY_START : m.way);
    struct core_waiter w = {
        .addr = word, .bytes = sizeof *word, .what = CORE_FOR_QUEUE,
        .value = (uintptr_t)q->stream, .call = call,
        .name = c ? msg_describe_word : NULL, .named = c ? c->words : NULL
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
    for (int way = 0; way <= WAYS; way++)
        stream_batch_until(call, q, last_of(q, way), reached, NULL);
    messages_ended(call, q, true);
    q->past = q->starts;
    return stream_batch_failed(call, q);
}

/* Nothing of it will ever be started. */
static void drop_staged(struct batch *q)
{
    for (size_t i = 0; i < q->n_staged; i++) {
        struct req *r = q->staged[i].req;

        if (!r)
            continue;
        r->queue = NULL;        /* the program frees it */
        r->state = IDLE;
        if (r->own)
            stream_req_drop(r);
    }
    q->n_staged = 0;
}

bool stream_batch_holds(const struct batch *q)
{
    return q->unknown ? !stream_queue_gone(q->queue)
           : q->behind && gtl->event_query(q->behind) == -EAGAIN;
}

int stream_batch_close(const char *call, struct shmemx_queue *queue)
{
    struct batch *q = stream_batch_of(call, queue), gone;

    if (!q)
        return -EINVAL;
    if (q->n_staged && (q->broken || stream_queue_gone(q->queue)))
        drop_staged(q);
    if (q->n_staged) {
        core_misuse(ERR_ARG, call, "operations that were put in wait for their "
                    "start");
        return -EBUSY;
    }
    if (!list_empty(&q->sent)) {
        core_misuse(ERR_ARG, call, "messages that were started have not been "
                    "waited for");
        return -EBUSY;
    }
    stream_batch_fade(q);
    if (all_ended(q))           /* the agent is about to let the last ones go */
        stream_queue_settle(q->queue);
    if (!all_ended(q) || !stream_queue_empty(q->queue) ||
        stream_batch_holds(q)) {
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

int stream_batch_works(const char *call, const struct batch *q)
{
    if (unlikely(q->broken)) {
        stream_refuse(ERR_STREAM, call, "an earlier start of the queue failed "
                      "in the middle");
        return -EIO;
    }
    return stream_batch_here(call, q);
}

int stream_batch_here(const char *call, const struct batch *q)
{
    if (likely(gtl_stream_owner(q->stream) == q->owner))
        return 0;
    return stream_refuse(ERR_STREAM, call, "the queue is of the per-thread "
                         "default stream of another thread");
}

struct stream_where stream_batch_where(const char *call, const struct batch *q)
{
    return (struct stream_where){
        call, &core_ctx_default, q ? q->stream : NULL
    };
}

static void forget(void *thing)
{
    stream_req_forget(thing);
}

static struct stream_left staged;

static void count_and_let_go(void *thing)
{
    const struct batch *q = thing;

    staged.n += q->n_staged;
    if (q->n_staged)
        stream_left_note(&staged, &q->staged[0].op);
    let_go(thing);
}

struct stream_left stream_batch_drop_all(void)
{
    staged = (struct stream_left){ .n = 0 };
    stream_handle_drop_all(&stream_reqs, forget);
    stream_handle_drop_all(&stream_batches, count_and_let_go);
    return staged;
}
