/* SPDX-License-Identifier: BSD-3-Clause */
/* Queues: operations that are put in one by one, or made once, and let go
 * together.
 *
 * A start enqueues what the device does itself, arms the rest, and ends with
 * one store of the device's: to `fire`, where something is armed - behind it
 * is a quiet, for which the agent raises `done` - and else to `started`, which
 * only the host looks at.  So a wait is one wait for `done`, or none where the
 * stream's order is enough. */
#include "stream/stream_int.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum state {
    IDLE,                       /* may be started */
    STAGED,                     /* the next start uses it up */
    STARTED,
    WAITED                      /* started, and the stream waits for it */
};

struct shmemx_req {
    struct stream_op op;
    struct shmemx_queue *queue; /* that started it */
    enum state state;
    bool once;
    /* Of its last start: a ticket, or the number of a start. */
    bool armed;
    uint64_t number;
};

struct staged {
    struct stream_op op;
    struct shmemx_req *req;     /* or NULL */
};

struct shmemx_queue {
    void *stream;
    struct stream_queue *queue;
    struct staged *staged;
    size_t n_staged, room;
    uint64_t ticket, starts;    /* the last of each kind */
    uint64_t waited;            /* ticket that the stream waits for */
};

/* ---- queues ---- */

static int out_of_memory(const char *call)
{
    stream_refuse(ERR_STREAM, call, "out of memory");
    return -ENOMEM;
}

static int make_room(struct shmemx_queue *q, size_t n)
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

int stream_batch_open(const char *call, void *stream, size_t depth,
                      struct shmemx_queue **out)
{
    struct shmemx_queue *q;
    uint64_t id;
    int rc = gtl->stream_check(stream, &id);

    if (rc == -EBUSY)           /* it records a graph, and will end that */
        rc = 0;
    if (rc) {
        stream_refuse(ERR_STREAM, call, "stream %p: %s", stream, gtl_error());
        return rc;
    }
    q = calloc(1, sizeof *q);
    if (!q)
        return out_of_memory(call);
    q->stream = stream;
    rc = stream_queue_open(&q->queue);
    if (!rc)
        rc = make_room(q, depth);
    if (!rc)
        q->starts = stream_queue_words(q->queue)->started;
    if (rc) {
        stream_refuse(ERR_STREAM, call, "a queue: %s", strerror(-rc));
        if (q->queue)
            stream_queue_close(q->queue);
        free(q->staged);
        free(q);
        return rc;
    }
    *out = q;
    return 0;
}

static bool ended(const struct shmemx_queue *q, bool armed, uint64_t number)
{
    struct stream_words *w = stream_queue_words(q->queue);

    return __atomic_load_n(armed ? &w->done : &w->started, __ATOMIC_ACQUIRE) >=
           number;
}

bool stream_batch_ended(struct shmemx_queue *q)
{
    return ended(q, true, q->ticket) && ended(q, false, q->starts);
}

/* The wait that the host makes: the device or the agent stores. */
static void await(const char *call, const struct shmemx_queue *q, bool armed,
                  uint64_t number)
{
    struct stream_words *words = stream_queue_words(q->queue);
    uint64_t *word = armed ? &words->done : &words->started;
    struct core_waiter w = CORE_WAIT_VALUE(call, word, uint64_t, SHMEM_CMP_GE,
                                           number);

    while (!ended(q, armed, number))
        core_wait_step(&w);
    core_wait_end(&w);
}

void stream_batch_await(const char *call, struct shmemx_queue *q)
{
    await(call, q, true, q->ticket);
    await(call, q, false, q->starts);
}

int stream_batch_close(struct shmemx_queue *q)
{
    if (q->n_staged || !stream_batch_ended(q) || !stream_queue_empty(q->queue))
        return -EBUSY;
    stream_queue_close(q->queue);
    free(q->staged);
    free(q);
    return 0;
}

/* ---- requests ---- */

static struct stream_where where(const char *call, struct shmemx_queue *q)
{
    return (struct stream_where){
        call, &core_ctx_default, q ? q->stream : NULL
    };
}

static int stage(const char *call, struct shmemx_queue *q,
                 const struct stream_op *op, struct shmemx_req *req)
{
    int rc = make_room(q, q->n_staged + 1);

    if (rc) {
        free(req);
        return out_of_memory(call);
    }
    q->staged[q->n_staged++] = (struct staged){ *op, req };
    return 0;
}

static int make(const char *call, struct shmemx_queue *q,
                const struct stream_op *op, struct shmemx_req **out)
{
    struct shmemx_req *r = NULL;
    int rc = 0;

    if (!q && !out)
        return stream_refuse(ERR_NULL, call, "no place for the request");
    if (out) {
        r = calloc(1, sizeof *r);
        if (!r)
            return out_of_memory(call);
        r->op = *op;
        r->once = q != NULL;
        r->state = q ? STAGED : IDLE;
        r->queue = q;
    }
    if (q)
        rc = stage(call, q, op, r);
    if (!rc && out)
        *out = r;
    return rc;
}

int stream_req_put(const char *call, struct shmemx_queue *q, void *dest,
                   const void *source, size_t len,
                   const struct stream_signal *s, int pe,
                   struct shmemx_req **out)
{
    struct stream_where w = where(call, q);
    struct stream_op op;
    int rc = s ? stream_make_put_signal(&w, dest, source, len, 1, s, pe, &op)
               : stream_make_put(&w, dest, source, len, 1, pe, &op);

    return rc ? rc : make(call, q, &op, out);
}

int stream_req_get(const char *call, struct shmemx_queue *q, void *dest,
                   const void *source, size_t len, int pe,
                   struct shmemx_req **out)
{
    struct stream_where w = where(call, q);
    struct stream_op op;
    int rc = stream_make_get(&w, dest, source, len, 1, pe, &op);

    return rc ? rc : make(call, q, &op, out);
}

int stream_req_amo(const char *call, struct shmemx_queue *q,
                   const struct stream_amo *a, int pe,
                   struct shmemx_req **out)
{
    struct stream_where w = where(call, q);
    struct stream_op op;
    int rc = stream_make_amo(&w, a, pe, &op);

    return rc ? rc : make(call, q, &op, out);
}

int stream_req_test(struct shmemx_req *r, bool *is)
{
    if (r->state == STAGED || !r->queue)
        return -EINVAL;
    *is = ended(r->queue, r->armed, r->number);
    return 0;
}

int stream_req_await(const char *call, struct shmemx_req *r)
{
    bool is;
    int rc = stream_req_test(r, &is);

    if (rc)
        return rc;
    await(call, r->queue, r->armed, r->number);
    /* The host has waited in the stream's place. */
    r->state = r->once ? WAITED : IDLE;
    return 0;
}

int stream_req_free(struct shmemx_req *r)
{
    bool is = true;

    if (r->state == STAGED || (!stream_req_test(r, &is) && !is))
        return -EBUSY;
    free(r);
    return 0;
}

/* ---- starts ---- */

static int start_one(const struct stream_where *w, struct shmemx_queue *q,
                     const struct stream_op *op, bool *armed)
{
    struct stream_op *to;
    bool done;
    int rc;

    if (!op->len && op->kind != STREAM_AMO && op->kind != STREAM_PUT_SIGNAL)
        return 0;
    rc = stream_direct(w, op, &done);
    if (rc || done)
        return rc;
    to = stream_queue_room(q->queue);
    *to = *op;
    to->queue = q->queue;
    to->call = w->call;
    to->waits = false;          /* the quiet does */
    stream_queue_push(q->queue);
    *armed = true;
    return 0;
}

/* The one store of the device's. */
static int finish(const struct stream_where *w, struct shmemx_queue *q,
                  bool armed)
{
    struct stream_words *words = stream_queue_words(q->queue);
    struct stream_op *op;
    int rc;

    if (!armed) {
        rc = gtl->write64(&words->started, q->starts + 1, q->stream);
        q->starts += !rc;
        return stream_told(w, rc);
    }
    op = stream_queue_room(q->queue);
    *op = (struct stream_op){
        .kind = STREAM_QUIET, .call = w->call, .queue = q->queue, .waits = true
    };
    q->ticket = stream_queue_push(q->queue);
    return stream_told(w, stream_queue_fire(q->queue, q->stream));
}

static void started(struct shmemx_queue *q, struct shmemx_req *r, bool armed)
{
    r->queue = q;
    r->state = STARTED;
    r->armed = armed;
    r->number = armed ? q->ticket : q->starts;
}

int stream_batch_start(const char *call, struct shmemx_queue *q)
{
    struct stream_where w = where(call, q);
    bool armed = false;
    int rc = 0;

    if (!q->n_staged)
        return 0;
    for (size_t i = 0; i < q->n_staged && !rc; i++)
        rc = start_one(&w, q, &q->staged[i].op, &armed);
    if (!rc)
        rc = finish(&w, q, armed);
    if (rc)
        return rc;
    for (size_t i = 0; i < q->n_staged; i++)
        if (q->staged[i].req)
            started(q, q->staged[i].req, armed);
    q->n_staged = 0;
    return 0;
}

static int check_start(const char *call, int n, struct shmemx_req *reqs[])
{
    for (int i = 0; i < n; i++) {
        struct shmemx_req *r = reqs[i];

        if (!r || r->once)
            return stream_refuse(ERR_ARG, call, "request %d is none that was "
                                 "made by an init call", i);
        if (r->state == STARTED) {
            stream_refuse(ERR_ARG, call, "request %d was started, and no wait "
                          "for it was enqueued", i);
            return -EBUSY;
        }
    }
    return 0;
}

int stream_batch_start_all(const char *call, struct shmemx_queue *q, int n,
                           struct shmemx_req *reqs[])
{
    struct stream_where w = where(call, q);
    bool armed = false;
    int rc = check_start(call, n, reqs);

    if (rc || n <= 0)
        return rc;
    if (stream_queue_reserve(q->queue, (size_t)n + 1))
        return out_of_memory(call);
    for (int i = 0; i < n && !rc; i++)
        rc = start_one(&w, q, &reqs[i]->op, &armed);
    if (!rc)
        rc = finish(&w, q, armed);
    for (int i = 0; i < n && !rc; i++)
        started(q, reqs[i], armed);
    return rc;
}

/* ---- waits ---- */

static int wait_for(const struct stream_where *w, struct shmemx_queue *q,
                    uint64_t ticket)
{
    int rc = 0;

    if (ticket > q->waited && !stream_may_wait())
        return stream_refuse_wait(w);
    if (ticket > q->waited)
        rc = gtl->wait64(&stream_queue_words(q->queue)->done, ticket,
                         q->stream);
    if (!rc && ticket > q->waited)
        q->waited = ticket;
    return stream_told(w, rc);
}

int stream_batch_wait(const char *call, struct shmemx_queue *q)
{
    struct stream_where w = where(call, q);

    return wait_for(&w, q, q->ticket);
}

int stream_batch_wait_all(const char *call, struct shmemx_queue *q, int n,
                          struct shmemx_req *reqs[])
{
    struct stream_where w = where(call, q);
    uint64_t ticket = 0;
    int rc;

    for (int i = 0; i < n; i++) {
        struct shmemx_req *r = reqs[i];

        if (!r || r->queue != q || r->state != STARTED)
            return stream_refuse(ERR_ARG, call, "request %d was not started "
                                 "on this queue", i);
        if (r->armed && r->number > ticket)
            ticket = r->number;
    }
    rc = wait_for(&w, q, ticket);
    for (int i = 0; i < n && !rc; i++)
        reqs[i]->state = WAITED;
    return rc;
}
