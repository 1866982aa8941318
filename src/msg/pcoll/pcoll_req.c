/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of partitioned collectives, where they differ from those of
 * partitioned messages (part_req.c): one is started with all of its links, and
 * a thread that waits for it does its work.  The stream layer and part_req.c
 * find these functions as data. */
#include "msg/pcoll/pcoll.h"
#include "base/symbol.h"
#include "core/core_misuse.h"
#include "msg/msg_ctrl.h"
#include "stream/stream_stats.h"

#include <errno.h>
#include <stdio.h>

static struct pcoll *pcoll_of(const struct req *r)
{
    return r->object;
}

/* ---- completion ---- */

static bool describe(const void *named, char *text, size_t size)
{
    pcoll_run_describe(named, text, size);
    return true;
}

/* Whatever arrives may let it advance: all that the library has from its pool.
 */
static struct core_waiter waiter(const char *call, const struct req *r,
                                 void *stream)
{
    return (struct core_waiter){
        .addr = (char *)heap_segs[HEAP_HOST].base,
        .bytes = heap_fixed_size(),
        .info.what = CORE_FOR_QUEUE, .info.value = (uintptr_t)stream,
        .info.call = call, .info.name = describe, .info.named = pcoll_of(r),
        .info.by_host = pcoll_of(r)->part.by_host
    };
}

static int await(const char *call, struct req *r)
{
    struct core_waiter w = waiter(call, r, NULL);
    struct pcoll *c = pcoll_of(r);
    int rc = 0, more;

    if (!c->part.by_host)
        return stream_req_await_started(call, r);
    trig_attend(c->of, 1);
    while (!rc && !part_is_completed(&c->end)) {
        rc = part_advance(call, &c->end);
        if (!rc && !part_is_completed(&c->end) &&
            !__atomic_load_n(&c->unseen, __ATOMIC_RELAXED))
            core_wait_step(&w);
    }
    trig_attend(c->of, -1);
    /* After a failure the progress thread goes on alone, so that further ones
     * get one line together, at the end. */
    if (rc)
        trig_wake();
    while (!part_is_completed(&c->end))
        core_wait_step(&w);
    core_wait_over(&w);
    c->part.by_host = false;
    /* The failures of another thread's steps. */
    more = part_advance(call, &c->end);
    return rc ? rc : more;
}

/* ---- starts ---- */

static int check_links(const char *call, const struct req *r, int i)
{
    const struct pcoll *c = pcoll_of(r);

    for (int k = 0; k < c->n_links; k++)
        if (__atomic_load_n(&c->links[k].chan->peer_freed, __ATOMIC_ACQUIRE)) {
            stream_refuse(ERR_ARG, call, "request %d (%s): PE %d has freed its "
                          "request", i, stream_req_name(r).text,
                          c->links[k].chan->pe);
            return -EPIPE;
        }
    return 0;
}

static int check_start(const struct stream_where *w, const struct req *r, int i)
{
    if (!pcoll_of(r)->part.by_host)
        return check_links(w->call, r, i);
    stream_refuse(ERR_ARG, w->call, "request %d (%s) was started, and no call "
                  "has waited for it", i, stream_req_name(r).text);
    return -EBUSY;
}

static int start(const struct stream_where *w, struct queue *q, struct req *r,
                 struct start_parts *parts)
{
    struct pcoll *c = pcoll_of(r);
    uint64_t seq = c->end.seq + 1;
    int rc;

    /* Any link may take an entry; a start has reserved two for a request, and
     * as many for each other one. */
    if (stream_ring_reserve(q->ring,
                            (size_t)c->n_links + 2 * q->resolved_room + 2))
        return stream_no_memory(w->call);
    rc = part_start_epoch(w, q, &c->end, seq, parts);
    for (const struct pcoll_link *l = c->links; l < c->links + c->n_links &&
         !rc; l++)
        if (!l->out)
            rc = stream_start_signal(w, q, (struct stream_signal){
                &l->chan->peer_counters->started, seq, SHMEM_SIGNAL_SET },
                l->chan->pe, parts);
    return rc;
}

static void started(const char *call, struct req *r)
{
    struct pcoll *c = pcoll_of(r);

    (void)call;
    stream_count(STREAM_PROTOCOLS + STREAM_PARTITIONED, 1);
    /* release: the progress thread waits for the stream from now on. */
    __atomic_store_n(&c->end.seq, c->end.seq + 1, __ATOMIC_RELEASE);
    trig_wake();
}

static void start_by_host(struct pcoll *c)
{
    uint64_t seq = c->end.seq + 1;

    c->part.by_host = true;
    stream_count(STREAM_PROTOCOLS + STREAM_PARTITIONED, 1);
    __atomic_store_n(&c->counters->epoch, seq, __ATOMIC_RELEASE);
    for (const struct pcoll_link *l = c->links; l < c->links + c->n_links; l++)
        if (!l->out)
            msg_ctrl_signal(c->call, &l->chan->peer_counters->started, seq,
                            SHMEM_SIGNAL_SET, l->chan->pe);
    __atomic_store_n(&c->end.seq, seq, __ATOMIC_RELEASE);
    if (!c->needs_ready)
        trig_wake_delayed(c->of);
}

/* ---- the end ---- */

static const char *busy(const struct req *r)
{
    const struct pcoll *c = pcoll_of(r);

    return c->part.by_host    ? "was started, and no call has waited for it"
           : c->part.prequest ? "has a prequest: shmemx_prequest_free() comes "
                                "before"
           : part_is_completed(&c->end) ? NULL
                              : "was started, and has not ended";
}

static void free_req(struct req *r)
{
    pcoll_delete("shmemx_req_free", pcoll_of(r));
}

static void name(const struct req *r, char *text, size_t size)
{
    snprintf(text, size, "%s", symbol_public(pcoll_of(r)->call));
}

const struct stream_req_ops pcoll_req_ops = {
    .own_counters = true, .check_start = check_start, .start = start,
    .started = started,
    .wait = { part_req_wait, stream_req_no_step, stream_req_no_step },
    .completed = part_req_completed, .waiter = waiter,
    .finish = stream_req_no_call, .error = part_req_error,
    .is_running = stream_req_not_running, .busy = busy, .free = free_req,
    .close = stream_req_no_free, .name = name, .test = part_req_test,
    .await = await
};

void (*const pcoll_start_by_host)(struct pcoll *c) = start_by_host;
