/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory of a stream op ring: the ring, its chunks of operations, its
 * counters and its endpoint context.  Called by stream_ring_table.c and
 * stream_ring_list.c; a ring is in no list or table here. */
#include "gtl/gtl_default_stream.h"
#include "stream/ring/stream_ring.h"
#include "stream/ring/stream_ring_list.h"

#include <errno.h>
#include <stdlib.h>

struct stream_ring_chunk *stream_ring_chunk_new(void)
{
    struct stream_ring_chunk *c = malloc(sizeof *c);

    if (c)
        c->end = 0;
    return c;
}

static void free_memory(struct stream_ring *q)
{
    struct stream_ring_chunk *c = q->in, *next;

    do {
        next = c->next;
        free(c);
        c = next;
    } while (c != q->in);
    free(q->exec.bounce);
    free(q);
}

void stream_ring_close_net(struct stream_ring *q)
{
    stream_nic_close(&q->nic);
    if (q->exec.ctx.net) {
        xport_net->quiet(q->exec.ctx.net);
        xport_net->ctx_close(q->exec.ctx.net);
        q->exec.ctx.net = NULL;
    }
    stream_errors_take_ring(NULL, &q->exec.failed);
}

void stream_ring_delete(struct stream_ring *q)
{
    stream_stats_ring_destroyed(q);
    stream_ring_close_net(q);
    stream_counters_free(q->counters);
    free_memory(q);
}

int stream_ring_new(void *handle, uint64_t id, struct stream_ring **out)
{
    struct stream_ring *q;
    struct stream_ring_chunk *c;
    struct stream_counters *counters;
    int rc = stream_counters_alloc(&counters);

    if (rc)
        return rc;
    q = aligned_alloc(64, sizeof *q);
    c = stream_ring_chunk_new();
    if (!q || !c) {
        rc = -ENOMEM;
        goto free_both;
    }
    *q = (struct stream_ring){
        .handle = handle, .id = id, .owner = gtl_stream_owner(handle),
        .exec.ctx.team = &core_world, .in = c, .out = c, .counters = counters
    };
    c->next = c;
    q->last_task = &q->tasks;
    /* A stream may still look at what these words were raised to for the
     * ring before, so they go on from there. */
    q->posted = q->completed = q->triggered =
        counters->trigger > counters->completed_waited
            ? counters->trigger : counters->completed_waited;
    rc = xport_net ? xport_net->ctx_open(&q->exec.ctx.net, false) : 0;
    if (rc)
        goto free_both;
    stream_errors_init(&q->exec.failed, handle, q->exec.ctx.net);
    stream_stats_ring_created(q);
    *out = q;
    return 0;
free_both:
    free(c);
    free(q);
    stream_counters_free(counters);
    return rc;
}
