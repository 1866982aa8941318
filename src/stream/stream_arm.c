/* SPDX-License-Identifier: BSD-3-Clause */
/* Who enqueues on a stream arms operations: gives them tickets in the stream's
 * queue, and lets the stream raise its words to these.  One thread at a time. */
#include "stream/stream_queue.h"

#include <errno.h>
#include <stdlib.h>

struct chunk *stream_chunk_new(void)
{
    struct chunk *c = malloc(sizeof *c);

    if (c)
        c->end = 0;
    return c;
}

/* The agent is past it once it has ended one that came after it. */
static bool in_use(const struct stream_queue *q, const struct chunk *c)
{
    return c->end && __atomic_load_n(&q->ended, __ATOMIC_ACQUIRE) <= c->end;
}

static int grow(struct stream_queue *q)
{
    struct chunk *c = q->in->next;

    q->in->end = q->armed;
    if (c == q->in || in_use(q, c)) {
        c = stream_chunk_new();
        if (!c)
            return -ENOMEM;
        c->next = q->in->next;
        q->in->next = c;
    }
    q->in = c;
    q->in_at = 0;
    return 0;
}

int stream_queue_reserve(struct stream_queue *q, size_t n)
{
    struct chunk *c = q->in;
    size_t room = STREAM_CHUNK - q->in_at;

    while (room < n) {
        if (c->next == q->in || in_use(q, c->next)) {
            struct chunk *more = stream_chunk_new();

            if (!more)
                return -ENOMEM;
            more->next = c->next;
            c->next = more;
        }
        c = c->next;
        room += STREAM_CHUNK;
    }
    return 0;
}

struct stream_op *stream_queue_room(struct stream_queue *q)
{
    if (unlikely(q->in_at == STREAM_CHUNK) && grow(q))
        return NULL;
    q->in->ops[q->in_at].queue = q;
    return &q->in->ops[q->in_at];
}

uint64_t stream_queue_push(struct stream_queue *q)
{
    struct stream_op *op = &q->in->ops[q->in_at++];
    uint64_t ticket = q->armed + 1;

    op->ticket = ticket;
    if (op->kind == STREAM_QUIET) {
        op->len = q->nic.quieted = q->nic.armed;
        q->nic.soft = false;
    } else if (op->kind != STREAM_WAIT) {
        q->nic.soft = true;
    }
    stream_queue_grows(q, ticket);
    /* release: the agent sees the operation. */
    __atomic_store_n(&q->armed, ticket, __ATOMIC_RELEASE);
    return ticket;
}

int stream_queue_fire(struct stream_queue *q, void *stream)
{
    struct stream_op *op = &q->in->ops[q->in_at - 1];
    uint64_t ticket = op->ticket;
    int rc;

    if (gtl_is_software()) {
        rc = gtl_doorbell(stream_fired, op, stream);
    } else {
        rc = gtl->release(stream);
        if (!rc)
            rc = gtl->write64(&q->words->fire, ticket, stream);
        if (!rc)                /* it looks at the word from now on */
            stream_agent_ring();
    }
    if (!rc)
        q->fired = ticket;
    return rc;
}

struct stream_words *stream_queue_words(struct stream_queue *q)
{
    return q->words;
}

struct stream_nic *stream_queue_nic(struct stream_queue *q)
{
    return &q->nic;
}

static void rung(void *arg)
{
    (void)arg;
    stream_agent_ring();
}

int stream_queue_ring(void *stream)
{
    if (gtl_is_software())
        return gtl->host_call(rung, NULL, stream);
    stream_agent_ring();        /* it looks at the word from now on */
    return 0;
}

struct stream_failed *stream_queue_failed(struct stream_queue *q)
{
    return &q->failed;
}

/* ---- for a stream ---- */

int stream_arm_room(const struct stream_where *w, struct stream_queue *q,
                    struct stream_op **out)
{
    struct stream_op *op = stream_queue_room(q);

    if (unlikely(!op))
        return stream_no_queue(w, -ENOMEM);
    *out = op;
    return 0;
}

int stream_arm_begin(const struct stream_where *w, struct stream_op **out)
{
    struct stream_queue *q;
    int rc = stream_queue_find(w, &q);

    if (rc == -EBUSY)
        return stream_told(w, rc);
    return rc ? rc : stream_arm_room(w, q, out);
}

int stream_arm(const struct stream_where *w, struct stream_op *op)
{
    struct stream_queue *q = op->queue;
    bool waits = op->waits;
    uint64_t ticket = stream_queue_push(q);
    int rc = gtl_is_software() ? gtl_doorbell(stream_fired, op, w->stream)
                               : stream_queue_fire(q, w->stream);

    if (rc) {                   /* nothing will ever raise the word to it */
        if (op->kind == STREAM_WAIT)
            free(op->wait);
        q->in_at--;
        __atomic_store_n(&q->armed, ticket - 1, __ATOMIC_RELEASE);
        return stream_no_queue(w, rc);
    }
    if (waits)
        rc = gtl->wait64(&q->words->done, ticket, w->stream);
    return rc ? stream_no_queue(w, rc) : 0;
}
