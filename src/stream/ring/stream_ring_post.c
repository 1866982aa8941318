/* SPDX-License-Identifier: BSD-3-Clause */
/* Who enqueues on a stream arms operations: gives them tickets in the stream's
 * queue, and lets the stream raise its words to these.  One thread at a time.
 */
#include "stream/ring/stream_ring.h"

#include <errno.h>
#include <stdlib.h>

struct stream_ring_chunk *stream_ring_chunk_new(void)
{
    struct stream_ring_chunk *c = malloc(sizeof *c);

    if (c)
        c->end = 0;
    return c;
}

/* The agent is past it once it has ended one that came after it. */
static bool in_use(const struct stream_ring *q,
                   const struct stream_ring_chunk *c)
{
    return c->end && __atomic_load_n(&q->ended, __ATOMIC_ACQUIRE) <= c->end;
}

static int grow(struct stream_ring *q)
{
    struct stream_ring_chunk *c = q->in->next;

    q->in->end = q->armed;
    if (c == q->in || in_use(q, c)) {
        c = stream_ring_chunk_new();
        if (!c)
            return -ENOMEM;
        c->next = q->in->next;
        q->in->next = c;
    }
    q->in = c;
    q->in_at = 0;
    return 0;
}

int stream_ring_reserve(struct stream_ring *q, size_t n)
{
    struct stream_ring_chunk *c = q->in;
    size_t room = STREAM_CHUNK_OPS - q->in_at;

    while (room < n) {
        if (c->next == q->in || in_use(q, c->next)) {
            struct stream_ring_chunk *more = stream_ring_chunk_new();

            if (!more)
                return -ENOMEM;
            more->next = c->next;
            c->next = more;
        }
        c = c->next;
        room += STREAM_CHUNK_OPS;
    }
    return 0;
}

struct stream_op *stream_ring_next_entry(struct stream_ring *q)
{
    if (unlikely(q->in_at == STREAM_CHUNK_OPS) && grow(q))
        return NULL;
    q->in->ops[q->in_at].queue = q;
    return &q->in->ops[q->in_at];
}

uint64_t stream_ring_publish(struct stream_ring *q)
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
    stream_ring_count_depth(q, ticket);
    /* release: the agent sees the operation. */
    __atomic_store_n(&q->armed, ticket, __ATOMIC_RELEASE);
    return ticket;
}

int stream_ring_trigger(struct stream_ring *q, void *stream)
{
    struct stream_op *op = &q->in->ops[q->in_at - 1];
    uint64_t ticket = op->ticket;
    int rc;

    if (gtl_device.host_streams) {
        rc = gtl->doorbell(stream_ring_triggered, op, stream);
    } else {
        rc = gtl->release(stream);
        if (!rc)
            rc = gtl->write64(&q->words->fire, ticket, stream);
        if (!rc)                /* it looks at the word from now on */
            stream_progress_wake();
    }
    if (!rc)
        q->fired = ticket;
    return rc;
}

struct stream_counters *stream_ring_counters(struct stream_ring *q)
{
    return q->words;
}

struct stream_nic *stream_ring_nic(struct stream_ring *q)
{
    return &q->nic;
}

static void rung(void *arg)
{
    (void)arg;
    stream_progress_wake();
}

int stream_enqueue_wakeup(void *stream)
{
    if (gtl_device.host_streams)
        return gtl->host_call(rung, NULL, stream);
    stream_progress_wake();        /* it looks at the word from now on */
    return 0;
}

struct stream_errors *stream_ring_errors(struct stream_ring *q)
{
    return &q->failed;
}

/* ---- for a stream ---- */

int stream_ring_entry_for(const struct stream_where *w, struct stream_ring *q,
                          struct stream_op **out)
{
    struct stream_op *op = stream_ring_next_entry(q);

    if (unlikely(!op))
        return stream_ring_refuse(w, -ENOMEM);
    *out = op;
    return 0;
}

int stream_ring_begin_post(const struct stream_where *w, struct stream_op **out)
{
    struct stream_ring *q;
    int rc = stream_ring_of(w, &q);

    if (rc == -EBUSY)
        return stream_device_rc(w, rc);
    return rc ? rc : stream_ring_entry_for(w, q, out);
}

int stream_ring_post(const struct stream_where *w, struct stream_op *op)
{
    struct stream_ring *q = op->queue;
    bool waits = op->waits;
    uint64_t ticket = stream_ring_publish(q);
    int rc = gtl_device.host_streams
                 ? gtl->doorbell(stream_ring_triggered, op, w->stream)
                 : stream_ring_trigger(q, w->stream);

    if (rc) {                   /* nothing will ever raise the word to it */
        if (op->kind == STREAM_WAIT)
            free(op->wait);
        q->in_at--;
        __atomic_store_n(&q->armed, ticket - 1, __ATOMIC_RELEASE);
        return stream_ring_refuse(w, rc);
    }
    if (waits)
        rc = gtl->wait64(&q->words->done, ticket, w->stream);
    return rc ? stream_ring_refuse(w, rc) : 0;
}
