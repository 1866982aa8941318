/* SPDX-License-Identifier: BSD-3-Clause */
/* The producer's side of a stream op ring: the thread that enqueues on a stream
 * posts operations, which gives them sequence numbers, and enqueues the store
 * by which the stream raises the ring's trigger counter to these.  Called by
 * stream_op.c and by starts of queues, one thread at a time for a ring. */
#include "stream/ring/stream_ring.h"
#include "base/env.h"

#include <errno.h>
#include <stdlib.h>

/* The holder of the ring has left a chunk when it has completed an operation
 * behind the chunk's last one. */
static bool in_use(const struct stream_ring *q,
                   const struct stream_ring_chunk *c)
{
    return c->end && __atomic_load_n(&q->completed, __ATOMIC_ACQUIRE) <= c->end;
}

/* The chunk behind c, which becomes a new one where that is in use; NULL: no
 * memory. */
static struct stream_ring_chunk *next_chunk(const struct stream_ring *q,
                                            struct stream_ring_chunk *c)
{
    struct stream_ring_chunk *more;

    if (c->next != q->in && !in_use(q, c->next))
        return c->next;
    more = stream_ring_chunk_new();
    if (more) {
        more->next = c->next;
        c->next = more;
    }
    return more;
}

static int grow(struct stream_ring *q)
{
    struct stream_ring_chunk *c;

    q->in->end = q->posted;
    c = next_chunk(q, q->in);
    if (!c)
        return -ENOMEM;
    q->in = c;
    q->in_at = 0;
    return 0;
}

int stream_ring_reserve(struct stream_ring *q, size_t n)
{
    struct stream_ring_chunk *c = q->in;

    for (size_t room = STREAM_CHUNK_OPS - q->in_at; room < n;
         room += STREAM_CHUNK_OPS) {
        c = next_chunk(q, c);
        if (!c)
            return -ENOMEM;
    }
    return 0;
}

struct stream_op *stream_ring_next_entry(struct stream_ring *q)
{
    if (unlikely(q->in_at == STREAM_CHUNK_OPS) && grow(q))
        return NULL;
    return &q->in->ops[q->in_at];
}

uint64_t stream_ring_publish(struct stream_ring *q)
{
    struct stream_op *op = &q->in->ops[q->in_at++];
    uint64_t seq = q->posted + 1;

    op->ring = q;
    op->seq = seq;
    if (op->kind == STREAM_QUIET) {
        op->len = q->nic.quieted = q->nic.posted;
        q->nic.soft = false;
    } else if (op->kind != STREAM_WAIT) {
        q->nic.soft = true;
    }
    if (unlikely(env.STATS.on))
        stream_stats_count_depth(q, seq);
    /* release: the holder of the ring sees the operation. */
    __atomic_store_n(&q->posted, seq, __ATOMIC_RELEASE);
    return seq;
}

int stream_ring_trigger(struct stream_ring *q, void *stream)
{
    struct stream_op *op = &q->in->ops[q->in_at - 1];
    uint64_t seq = op->seq;
    int rc;

    if (gtl_device.host_streams) {
        rc = gtl->doorbell(stream_ring_triggered, op, stream);
    } else {
        rc = gtl->release(stream);
        if (!rc)
            rc = gtl->write64(&q->counters->trigger, seq, stream);
        if (!rc)                /* which polls the counter from now on */
            stream_progress_wake();
    }
    if (!rc)
        q->triggered = seq;
    return rc;
}

/* The ring frees the condition of a wait: now, where it is not posted. */
static int discard(const struct stream_where *w, const struct stream_op *op,
                   int rc)
{
    if (op->kind == STREAM_WAIT)
        free(op->wait);
    return stream_ring_refuse(w, rc);
}

int stream_ring_post(const struct stream_where *w, struct stream_ring *q,
                     const struct stream_op *op)
{
    struct stream_op *to = stream_ring_next_entry(q);
    uint64_t seq;
    int rc;

    if (unlikely(!to))
        return discard(w, op, -ENOMEM);
    *to = *op;
    seq = stream_ring_publish(q);
    rc = stream_ring_trigger(q, w->stream);
    if (rc) {                   /* the trigger counter will never get there */
        q->in_at--;
        __atomic_store_n(&q->posted, seq - 1, __ATOMIC_RELEASE);
        q->nic.soft = true;     /* a quiet leaves as much to the next one */
        return discard(w, op, rc);
    }
    if (op->waits)
        rc = gtl->wait64(&q->counters->completed_waited, seq, w->stream);
    if (likely(!rc))
        return 0;
    q->nic.soft = true;         /* the next quiet makes the stream wait */
    return stream_ring_refuse(w, rc);
}
