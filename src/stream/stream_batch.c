/* SPDX-License-Identifier: BSD-3-Clause */
/* Queues: operations that are put in one by one, or made once, and let go
 * together.
 *
 * A start enqueues what the device does itself, arms the rest, and ends with
 * one store of the device's: to the register of the NIC, which raises a flag
 * behind all; to `fire`, where something is armed for the agent - behind it is
 * a quiet, for which the agent raises `done` - and else to `started`, which
 * only the host looks at.  So a wait is one wait for the flag or for `done`, or
 * none where the stream's order is enough.  Only where the NIC has no room for
 * some of a start are there two stores. */
#include "stream/stream_int.h"
#include "stream/stream_stats.h"
#include "stream/stream_watch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum state {
    IDLE,                       /* may be started */
    STAGED,                     /* the next start uses it up */
    STARTED,
    WAITED                      /* started, and the stream waits for it */
};

/* What tells of a start's end, and the number that it is then past. */
enum { BY_START, BY_TICKET, BY_FLAG, WAYS };
struct mark {
    int way;
    uint64_t number;
    uint64_t armed;             /* with the NIC by then */
    uint64_t start;             /* which it is */
};

struct shmemx_req {
    struct stream_op op;
    struct shmemx_queue *queue; /* that started it */
    enum state state;
    bool once;
    struct mark mark;           /* of its last start */
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
    uint64_t last[WAYS];
    uint64_t waited[WAYS];      /* that the stream waits for */
    uint64_t starts, past;      /* so many; for so many there is a wait */
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
    rc = stream_queue_open(stream, &q->queue);
    if (!rc)
        rc = make_room(q, depth);
    if (!rc)
        q->last[BY_START] = stream_queue_words(q->queue)->started;
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

/* NULL: nothing of that kind was started. */
static uint64_t *word_of(const struct shmemx_queue *q, int way)
{
    struct stream_words *w = stream_queue_words(q->queue);

    return way == BY_START ? &w->started : way == BY_TICKET ? &w->done
           : q->last[BY_FLAG]
           ? xport_trig->word(stream_queue_nic(q->queue)->trig) : NULL;
}

static bool reached(const struct shmemx_queue *q, struct mark m)
{
    uint64_t *word = word_of(q, m.way);

    return !word || __atomic_load_n(word, __ATOMIC_ACQUIRE) >= m.number;
}

static struct mark last_of(const struct shmemx_queue *q, int way)
{
    return (struct mark){ .way = way, .number = q->last[way] };
}

/* What the NIC does it counts, in whatever order it ends: that a start has
 * ended its flag tells when the last one has. */
static bool counted(const struct shmemx_queue *q, struct mark m)
{
    return m.way != BY_START && stream_queue_nic(q->queue)->armed;
}

/* A later start may be behind what this thread is about to do, so that nobody
 * waits for that one here. */
static bool ended(const struct shmemx_queue *q, struct mark m)
{
    if (!counted(q, m) ||
        (reached(q, last_of(q, BY_TICKET)) && reached(q, last_of(q, BY_FLAG))))
        return reached(q, m);
    return stream_nic_first(q->queue, m.armed) &&
           (m.way != BY_TICKET || reached(q, m));
}

static int failed(const char *call, const struct shmemx_queue *q)
{
    return stream_fail_take(call, stream_queue_failed(q->queue));
}

static bool all_ended(const struct shmemx_queue *q)
{
    bool all = true;

    for (int way = 0; way < WAYS; way++)
        all = all && reached(q, last_of(q, way));
    return all;
}

int stream_batch_test(const char *call, struct shmemx_queue *q, bool *is)
{
    int rc = 0;

    *is = all_ended(q);
    if (*is)
        rc = failed(call, q);
    return rc;
}

/* The wait that the host makes: the device, the agent or the NIC stores. */
static void await(const char *call, const struct shmemx_queue *q,
                  struct mark m,
                  bool (*over)(const struct shmemx_queue *q, struct mark m))
{
    uint64_t *word = word_of(q, m.way);
    struct core_waiter w = {
        .addr = word, .bytes = sizeof *word, .what = CORE_FOR_QUEUE,
        .value = (uintptr_t)q->stream, .call = call
    };

    while (!over(q, m))
        core_wait_step(&w);
    core_wait_end(&w);
}

int stream_batch_await(const char *call, struct shmemx_queue *q)
{
    for (int way = 0; way < WAYS; way++)
        await(call, q, last_of(q, way), reached);
    q->past = q->starts;
    return failed(call, q);
}

int stream_batch_close(struct shmemx_queue *q)
{
    if (q->n_staged || !all_ended(q) || !stream_queue_empty(q->queue))
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

static bool was_started(const struct shmemx_req *r)
{
    return r->state != STAGED && r->queue;
}

int stream_req_test(const char *call, struct shmemx_req *r, bool *is)
{
    if (!was_started(r))
        return -EINVAL;
    *is = ended(r->queue, r->mark);
    return *is && r->mark.way != BY_START ? failed(call, r->queue) : 0;
}

int stream_req_await(const char *call, struct shmemx_req *r)
{
    if (!was_started(r))
        return -EINVAL;
    await(call, r->queue, r->mark, ended);
    /* The host has waited in the stream's place. */
    r->state = r->once ? WAITED : IDLE;
    return r->mark.way != BY_START ? failed(call, r->queue) : 0;
}

int stream_req_free(struct shmemx_req *r)
{
    if (r->state == STAGED ||
        (was_started(r) && !ended(r->queue, r->mark)))
        return -EBUSY;
    free(r);
    return 0;
}

/* ---- starts ---- */

/* Whose part a start has. */
struct parts {
    bool nic, agent;
};

static int start_one(const struct stream_where *w, struct shmemx_queue *q,
                     const struct stream_op *op, struct parts *parts)
{
    struct stream_op *to;
    bool done;
    int rc;

    if (!op->len && op->kind != STREAM_AMO && op->kind != STREAM_PUT_SIGNAL)
        return 0;
    rc = stream_direct(w, op, &done);
    if (rc || done)
        return rc;
    rc = stream_nic_arm(q->queue, op, q->stream);
    parts->nic |= !rc;
    if (rc != STREAM_NOT)
        return stream_told(w, rc);
    to = stream_queue_room(q->queue);
    *to = *op;
    to->queue = q->queue;
    to->call = w->call;
    to->waits = false;          /* the quiet does */
    stream_queue_push(q->queue);
    parts->agent = true;
    return 0;
}

/* By the agent, and what the NIC does before it. */
static int fire(const struct stream_where *w, struct shmemx_queue *q,
                struct mark *m)
{
    struct stream_op *op = stream_queue_room(q->queue);

    *op = (struct stream_op){
        .kind = STREAM_QUIET, .call = w->call, .queue = q->queue, .waits = true
    };
    m->way = BY_TICKET;
    m->number = stream_queue_push(q->queue);
    return stream_queue_fire(q->queue, q->stream);
}

/* The one store of the device's. */
static int finish(const struct stream_where *w, struct shmemx_queue *q,
                  struct parts parts, struct mark *m)
{
    struct stream_words *words = stream_queue_words(q->queue);
    int rc = STREAM_NOT;

    *m = (struct mark){
        BY_START, q->last[BY_START] + 1, stream_queue_nic(q->queue)->armed,
        q->starts + 1
    };
    if (parts.nic && !parts.agent) {
        m->way = BY_FLAG;
        rc = stream_nic_flag(q->queue, &m->number);
        parts.agent = rc == STREAM_NOT;         /* it has room for none */
    }
    if (parts.nic && (!rc || rc == STREAM_NOT))
        rc = stream_nic_let_go(q->queue, q->stream);
    else if (!parts.agent)
        rc = gtl->write64(&words->started, m->number, q->stream);
    if (parts.agent && (!rc || rc == STREAM_NOT))
        rc = fire(w, q, m);
    if (!rc) {
        q->last[m->way] = m->number;
        q->starts = m->start;
        stream_count(STREAM_STARTS);
    }
    return stream_told(w, rc);
}

static void started(struct shmemx_queue *q, struct shmemx_req *r,
                    struct mark m)
{
    r->queue = q;
    r->state = STARTED;
    r->mark = m;
}

int stream_batch_start(const char *call, struct shmemx_queue *q)
{
    struct stream_where w = where(call, q);
    struct parts parts = { false, false };
    struct mark m;
    int rc;

    if (!q->n_staged)
        return 0;
    rc = stream_need_live(&w);
    for (size_t i = 0; i < q->n_staged && !rc; i++)
        rc = start_one(&w, q, &q->staged[i].op, &parts);
    if (!rc)
        rc = finish(&w, q, parts, &m);
    if (rc)
        return rc;
    for (size_t i = 0; i < q->n_staged; i++)
        if (q->staged[i].req)
            started(q, q->staged[i].req, m);
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
        if (r->state == STARTED && r->mark.start > r->queue->past) {
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
    struct parts parts = { false, false };
    struct mark m;
    int rc = check_start(call, n, reqs);

    if (rc || n <= 0)
        return rc;
    if (stream_queue_reserve(q->queue, (size_t)n + 1))
        return out_of_memory(call);
    rc = stream_need_live(&w);
    for (int i = 0; i < n && !rc; i++)
        rc = start_one(&w, q, &reqs[i]->op, &parts);
    if (!rc)
        rc = finish(&w, q, parts, &m);
    for (int i = 0; i < n && !rc; i++)
        started(q, reqs[i], m);
    return rc;
}

/* ---- waits ---- */

/* upto: of each kind; for starts the order of the stream is enough. */
static int wait_for(const struct stream_where *w, struct shmemx_queue *q,
                    const uint64_t upto[WAYS])
{
    int rc = 0;

    for (int way = BY_TICKET; way < WAYS; way++) {
        if (upto[way] <= q->waited[way])
            continue;
        if (!stream_may_wait())
            return stream_refuse_wait(w);
        rc = stream_need_live(w);
        if (rc)
            return rc;
        rc = gtl->wait64(word_of(q, way), upto[way], q->stream);
        if (rc)
            break;
        if (way == BY_FLAG)     /* the agent's operations are looked at */
            stream_watch_note(w, NULL, word_of(q, way), upto[way],
                              stream_fail_pe(stream_queue_failed(q->queue)));
        q->waited[way] = upto[way];
        stream_count(STREAM_WAITS);
    }
    return stream_told(w, rc);
}

int stream_batch_wait(const char *call, struct shmemx_queue *q)
{
    struct stream_where w = where(call, q);
    int rc = wait_for(&w, q, q->last);

    if (!rc)
        q->past = q->starts;
    return rc;
}

int stream_batch_wait_all(const char *call, struct shmemx_queue *q, int n,
                          struct shmemx_req *reqs[])
{
    struct stream_where w = where(call, q);
    uint64_t upto[WAYS] = { 0 };
    bool every = false;
    int rc;

    for (int i = 0; i < n; i++) {
        struct shmemx_req *r = reqs[i];

        if (!r || r->queue != q || r->state != STARTED)
            return stream_refuse(ERR_ARG, call, "request %d was not started "
                                 "on this queue", i);
        if (r->mark.number > upto[r->mark.way])
            upto[r->mark.way] = r->mark.number;
        every |= counted(q, r->mark);
    }
    rc = wait_for(&w, q, every ? q->last : upto);
    for (int i = 0; i < n && !rc; i++)
        reqs[i]->state = WAITED;
    return rc;
}
