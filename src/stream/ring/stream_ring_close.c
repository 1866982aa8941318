/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of a stream op ring: of one whose start failed, of a queue's that is
 * destroyed, and of all of them in shmem_finalize, where the operations that
 * are left are counted.  Called by queues and by stream_open.c. */
#include "base/lock.h"
#include "stream/queue/stream_queue.h"
#include "stream/ring/stream_ring.h"
#include "stream/ring/stream_ring_list.h"

/* Rings of an opening that is over: streams of the software device may still
 * come to what is posted there. */
static struct list_link abandoned GUARDED_BY(stream_rings_lock) =
    LIST_INIT(abandoned);

void stream_ring_cancel(struct stream_ring *q)
{
    stream_ring_lock(q);
    __atomic_store_n(&q->posted, q->triggered, __ATOMIC_RELEASE);
    stream_ring_unlock(q);
    stream_progress_wake();        /* it may have forwarded this one by */
    __atomic_store_n(&q->nic.posted, q->nic.released, __ATOMIC_RELEASE);
}

/* Operations that only wait for some of the NIC's. */
static uint64_t count_nic_waits(const struct stream_ring *q)
{
    const struct stream_ring_chunk *c = q->out;
    unsigned at = q->out_at;
    uint64_t n = 0;

    for (uint64_t k = q->completed; k < q->posted; k++) {
        if (at == STREAM_CHUNK_OPS) {
            c = c->next;
            at = 0;
        }
        n += c->ops[at].kind == STREAM_QUIET && c->ops[at].for_nic;
        at++;
    }
    return n;
}

/* By the holder of its lock. */
static void count_left(struct stream_ring *q, struct stream_unfinished *l)
{
    const struct stream_op *op = stream_ring_head(q);
    uint64_t nic = stream_nic_outstanding(&q->nic);

    l->n += q->posted - q->completed - count_nic_waits(q) + nic + q->n_tasks;
    if (q->tasks)
        stream_unfinished_add_task(l, q->tasks, q->tasks->call);
    if (op)
        stream_unfinished_add(l, op);
    if (nic)
        stream_unfinished_add_call(l, q->nic.call, q->nic.pe);
}

/* Streams of the software device may still come to what is posted there. */
static void abandon(struct stream_ring *q, struct stream_unfinished *left)
{
    stream_ring_lock(q);
    count_left(q, left);
    /* No GPU waits for what never comes; the software device drops what is
     * behind a wait. */
    if (!gtl_device.host_streams)
        __atomic_store_n(&q->counters->completed_waited, q->posted,
                         __ATOMIC_RELEASE);
    stream_stats_ring_destroyed(q);
    stream_ring_close_net(q);
    lock_acquire(&stream_rings_lock);
    list_remove(&q->link);
    list_append(&abandoned, &q->link);
    lock_release(&stream_rings_lock);
}

static struct stream_ring *first_ring(void)
{
    struct stream_ring *q = NULL;

    lock_acquire(&stream_rings_lock);
    if (!list_empty(&stream_rings))
        q = list_entry(stream_rings.next, struct stream_ring, link);
    lock_release(&stream_rings_lock);
    return q;
}

void stream_rings_close(struct stream_unfinished *left)
{
    struct stream_ring *q;

    stream_ring_table_clear();
    while ((q = first_ring())) {
        if (stream_ring_empty(q))
            stream_ring_free(q);
        else
            abandon(q, left);
    }
}
