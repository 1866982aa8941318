/* SPDX-License-Identifier: BSD-3-Clause */
/* The consumer's side of a stream op ring: the holder of the ring's lock does
 * its operations in the order of their sequence numbers, step by step.  Called
 * by the progress thread and by threads of the software device's streams; a
 * step waits for nothing. */
#include "stream/ring/stream_ring.h"
#include "stream/exec/stream_exec.h"

#include <stdlib.h>

struct stream_op *stream_ring_head(struct stream_ring *q)
{
    if (q->completed == __atomic_load_n(&q->posted, __ATOMIC_ACQUIRE))
        return NULL;
    if (q->out_at == STREAM_CHUNK_OPS) {
        q->out = q->out->next;
        q->out_at = 0;
    }
    return &q->out->ops[q->out_at];
}

static void pop(struct stream_ring *q, const struct stream_op *op)
{
    uint64_t seq = op->seq;
    bool notify = op->waits;

    if (op->kind == STREAM_WAIT)
        free(op->wait);
    q->out_at++;
    /* release: its room is free for a thread that posts. */
    __atomic_store_n(&q->completed, seq, __ATOMIC_RELEASE);
    if (!notify)
        return;
    __atomic_store_n(&q->counters->completed_waited, seq, __ATOMIC_RELEASE);
    atomics_full_fence();
    gtl->flags_stored();
}

bool (*stream_exec_graphs_quiet)(const struct stream_ring *ring);

/* A quiet also waits for the NIC's operations and for those of graphs. */
static bool others_quiet(struct stream_ring *q, const struct stream_op *op)
{
    bool (*graphs_quiet)(const struct stream_ring *ring) =
        __atomic_load_n(&stream_exec_graphs_quiet, __ATOMIC_ACQUIRE);

    return op->kind != STREAM_QUIET ||
           (stream_ring_net_idle(q) && stream_nic_completed(q, op->len) &&
            (likely(!graphs_quiet) || graphs_quiet(q)));
}

bool stream_ring_step(struct stream_ring *q, bool *posted, bool *busy)
{
    struct stream_op *op = stream_ring_head(q);
    bool any = false;

    if (!op)
        return false;
    if (!q->exec.begun) {
        if (__atomic_load_n(&q->counters->trigger, __ATOMIC_ACQUIRE) <
            op->seq) {
            *posted = true;
            return false;
        }
        stream_errors_note_op(&q->exec.failed, op);
    }
    if ((!q->exec.issued || others_quiet(q, op)) &&
        stream_exec_step(&q->exec, op, true, &any)) {
        pop(q, op);
        return true;
    }
    *busy = true;
    return any;
}
