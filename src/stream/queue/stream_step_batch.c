/* SPDX-License-Identifier: BSD-3-Clause */
/* Collects the device's steps of a start or wait and enqueues them in one call.
 * stream_start.c and the protocols of msg call it.  It waits for nothing. */
#include "stream/queue/stream_step_batch.h"
#include "stream/stream_stats.h"
#include "stream/stream_wait_log.h"

#include <errno.h>
#include <stdlib.h>

static void *longer(void *at, size_t n, size_t each, bool *failed)
{
    void *p = realloc(at, n * each);

    *failed |= !p;
    return p ? p : at;
}

static int make_room(struct steps *g)
{
    size_t room = g->room ? g->room : 16;
    bool failed = false;

    while (room < g->reserved)
        room *= 2;
    g->waits = longer(g->waits, room, sizeof *g->waits, &failed);
    g->puts = longer(g->puts, room, sizeof *g->puts, &failed);
    if (failed)
        return -ENOMEM;
    g->room = room;
    return 0;
}

int stream_step_batch_reserve(struct steps *g, size_t n)
{
    g->reserved = (g->n_waits > g->n_puts ? g->n_waits : g->n_puts) + n;
    return likely(g->reserved <= g->room) ? 0 : make_room(g);
}

int stream_step_batch_reserve_more(struct steps *g, size_t n)
{
    g->reserved += n;
    return likely(g->reserved <= g->room) ? 0 : make_room(g);
}

void stream_step_batch_free(struct steps *g)
{
    free(g->waits);
    free(g->puts);
    *g = (struct steps){ .room = 0 };
}

void stream_step_batch_clear(struct steps *g)
{
    g->n_waits = g->n_puts = 0;
    g->ops = 0;
}

int stream_step_batch_flush(const struct stream_where *w, struct steps *g)
{
    const struct gtl_batch t = {
        .waits = g->waits, .puts = g->puts,
        .n_waits = g->n_waits, .n_puts = g->n_puts
    };
    int rc = 0;

    if (t.n_waits)
        rc = stream_wait_poll_first(w, t.waits, t.n_waits);
    if (!rc && t.n_waits + t.n_puts)
        rc = stream_device_rc(w, gtl->batch(&t, w->stream));
    if (!rc && t.n_waits)
        stream_watch_enqueued(w->stream, true);
    if (!rc && g->ops) {
        stream_count(STREAM_BY_DEVICE, g->ops);
        gtl->count_ops(w->stream, g->ops);
    }
    stream_count(STREAM_WAITS, t.n_waits);
    stream_step_batch_clear(g);
    return rc;
}
