/* SPDX-License-Identifier: BSD-3-Clause */
/* Who holds a queue does its operations, in the order of their tickets. */
#include "stream/ring/stream_ring.h"
#include "stream/exec/stream_exec.h"

#include <stdlib.h>

struct stream_op *stream_ring_head(struct stream_ring *q)
{
    if (q->ended == __atomic_load_n(&q->armed, __ATOMIC_ACQUIRE))
        return NULL;
    if (q->out_at == STREAM_CHUNK_OPS) {
        q->out = q->out->next;
        q->out_at = 0;
    }
    return &q->out->ops[q->out_at];
}

static void pop(struct stream_ring *q, const struct stream_op *op)
{
    uint64_t ticket = op->ticket;
    bool tell = op->waits;

    if (op->kind == STREAM_WAIT)
        free(op->wait);
    q->begun = q->more = false;
    q->out_at++;
    /* release: its room is free for who arms. */
    __atomic_store_n(&q->ended, ticket, __ATOMIC_RELEASE);
    if (!tell)
        return;
    __atomic_store_n(&q->words->done, ticket, __ATOMIC_RELEASE);
    atomics_full_fence();
    gtl->flags_stored();
}

static bool end(struct stream_ring *q, const struct stream_op *op, bool *busy)
{
    if (!stream_exec_host_completed(q, op)) {
        *busy = true;
        return false;
    }
    pop(q, op);
    return true;
}

static bool go_on(struct stream_ring *q, const struct stream_op *op, bool *busy)
{
    size_t moved = q->part.moved;
    enum stream_exec_state done;

    q->part.copied = false;
    done = stream_exec_host(q, op);
    if (done == STREAM_COMPLETED) {
        pop(q, op);
        return true;
    }
    q->more = done == STREAM_AGAIN;
    *busy = true;
    return !q->more || q->part.moved != moved;
}

bool stream_ring_step(struct stream_ring *q, bool *armed, bool *busy)
{
    struct stream_op *op = stream_ring_head(q);

    if (!op)
        return false;
    if (!q->begun) {
        if (__atomic_load_n(&q->words->fire, __ATOMIC_ACQUIRE) < op->ticket) {
            *armed = true;
            return false;
        }
        stream_errors_note_op(&q->failed, op);
        q->part = (struct stream_op_state){ 0 };
        q->begun = q->more = true;
    }
    return q->more ? go_on(q, op, busy) : end(q, op, busy);
}
