/* SPDX-License-Identifier: BSD-3-Clause */
/* What the program does with a request of a partitioned collective: starts it by
 * a stream or the host, makes partitions ready, waits for it and frees it.  The
 * calls for partitioned messages (part_req.c, part_prequest.c) find it by its
 * request, and the stream layer calls pcoll_req_ops. */
#include "msg/pcoll/pcoll.h"
#include "base/symbol.h"
#include "core/core_misuse.h"
#include "msg/msg_ctrl.h"
#include "stream/stream_stats.h"
#include "stream/stream_watch.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static struct pcoll *pcoll_of(const struct req *r)
{
    return r->object;
}

static bool is_completed(const struct pcoll *c)
{
    bool is = part_load(&c->counters->counters.sent) >= c->seq;

    atomics_tsan_acquire();
    return is;
}

/* ---- completion ---- */

static bool completed(const struct req *r)
{
    return is_completed(pcoll_of(r));
}

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

/* -EIO, reported: some of it has failed. */
static int advance(const char *call, const struct pcoll *c)
{
    uint64_t done;

    return trig_test(call, c->trig, 0, &done);
}

static int test(const char *call, struct req *r, bool *is)
{
    struct pcoll *c = pcoll_of(r);
    int rc;

    if (!c->part.by_host)
        return stream_req_test_started(call, r, is);
    rc = advance(call, c);
    core_progress(call);
    *is = is_completed(c);
    if (*is)
        c->part.by_host = false;
    return rc;
}

static int await(const char *call, struct req *r)
{
    struct core_waiter w = waiter(call, r, NULL);
    struct pcoll *c = pcoll_of(r);
    int rc = 0, more;

    if (!c->part.by_host)
        return stream_req_await_started(call, r);
    trig_attend(c->of, 1);
    while (!rc && !is_completed(c)) {
        rc = advance(call, c);
        if (!rc && !is_completed(c) &&
            !__atomic_load_n(&c->unseen, __ATOMIC_RELAXED))
            core_wait_step(&w);
    }
    trig_attend(c->of, -1);
    /* After a failure the progress thread goes on alone, so that further ones
     * get one line together, at the end. */
    if (rc)
        trig_wake();
    while (!is_completed(c))
        core_wait_step(&w);
    core_wait_over(&w);
    c->part.by_host = false;
    more = advance(call, c);    /* the failures of another thread's steps */
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

static uint64_t *dev_word(const struct pcoll *c, const void *word)
{
    return (uint64_t *)((char *)c->dev_counters +
                        ((const char *)word - (const char *)c->counters));
}

static int start(const struct stream_where *w, struct queue *q, struct req *r,
                 struct start_parts *parts)
{
    struct pcoll *c = pcoll_of(r);
    uint64_t seq = c->seq + 1;
    int rc = 0;

    /* Any link may take an entry; a start has reserved two for a request, and
     * as many for each other one. */
    if (stream_ring_reserve(q->ring,
                            (size_t)c->n_links + 2 * q->resolved_room + 2))
        return stream_no_memory(w->call);
    if (c->dev_counters)
        stream_step_batch_store(&q->steps, dev_word(c, &c->counters->epoch), seq);
    else
        rc = stream_start_signal(w, q, (struct stream_signal){
            &c->counters->epoch, seq, SHMEM_SIGNAL_SET }, core_world.my_pe,
            parts);
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
    __atomic_store_n(&c->seq, c->seq + 1, __ATOMIC_RELEASE);
    trig_wake();
}

static void start_by_host(struct pcoll *c)
{
    uint64_t seq = c->seq + 1;

    c->part.by_host = true;
    stream_count(STREAM_PROTOCOLS + STREAM_PARTITIONED, 1);
    __atomic_store_n(&c->counters->epoch, seq, __ATOMIC_RELEASE);
    for (const struct pcoll_link *l = c->links; l < c->links + c->n_links; l++)
        if (!l->out)
            msg_ctrl_signal(c->call, &l->chan->peer_counters->started, seq,
                            SHMEM_SIGNAL_SET, l->chan->pe);
    __atomic_store_n(&c->seq, seq, __ATOMIC_RELEASE);
    if (!c->needs_ready)
        trig_wake_delayed(c->of);
}

/* ---- ready, arrived ---- */

static int check_partition(const char *call, const struct pcoll *c, int at)
{
    if (at < 0 || at >= c->part.n)
        return core_misuse(ERR_ARG, call, "partition %d: the request has "
                           "partitions 0 to %d", at, c->part.n - 1);
    return 0;
}

/* Of a member that needs none to be ready the iteration may have ended. */
static int check_ready(const char *call, const struct pcoll *c)
{
    uint64_t sent = part_load(&c->counters->counters.sent);

    if (!c->needs_ready && c->seq)
        return 0;
    if (sent >= c->seq)
        return core_misuse(ERR_ARG, call, "the request of %s is not started",
                           symbol_public(c->call));
    if (c->part.together)
        return core_misuse(ERR_ARG, call, "the request of %s: several calls of "
                           "kernels make a partition ready",
                           symbol_public(c->call));
    if (sent == c->seq - 1)
        return 0;
    core_misuse(ERR_ARG, call, "the request of %s: an earlier iteration has "
                "not ended", symbol_public(c->call));
    return -EBUSY;
}

static int ready(const char *call, struct pcoll *c, int low, int n,
                 const int *list)
{
    int rc = check_ready(call, c);

    for (int i = 0; i < n && !rc; i++)
        rc = check_partition(call, c, list ? list[i] : low + i);
    for (int i = 0; i < n && !rc; i++) {
        int at = list ? list[i] : low + i;

        if (!c->needs_ready)
            continue;
        if (__atomic_exchange_n(&c->part.ready[at], c->seq, __ATOMIC_RELAXED) ==
            c->seq)
            rc = core_misuse(ERR_ARG, call, "partition %d is ready already",
                             at);
        else
            rc = trig_hit(call, c->trig, at, 1);
    }
    return rc;
}

static int arrived(const char *call, struct pcoll *c, int partition, bool *is)
{
    int rc = 0;

    if (!c->seq)
        return core_misuse(ERR_ARG, call, "the request of %s is not started",
                           symbol_public(c->call));
    if (check_partition(call, c, partition))
        return -EINVAL;
    *is = part_load(&c->counters->arrived[partition]) >= c->seq;
    if (!*is) {
        rc = advance(call, c);
        core_progress(call);
        *is = part_load(&c->counters->arrived[partition]) >= c->seq;
    }
    atomics_tsan_acquire();
    return rc;
}

/* ---- kernels ---- */

static shmemi_u64 *seen(const struct pcoll *c, const void *word)
{
    return (shmemi_u64 *)dev_word(c, word);
}

static int prequest_create(const char *call, struct pcoll *c,
                           struct shmemx_req *req, int mode, int calls,
                           shmemx_prequest_t *out)
{
    int rc;

    if (mode > SHMEMX_PREQUEST_ENGINE) {
        core_misuse(ERR_STREAM, call, "a thread of this PE does what is made "
                    "ready of a collective");
        return -ENOTSUP;
    }
    if (!c->dev_counters) {
        core_misuse(ERR_DEVICE, call, "this device does not reach the "
                    "symmetric heap of the host");
        return -ENOTSUP;
    }
    if (c->part.prequest || !is_completed(c)) {
        core_misuse(ERR_ARG, call, "the request %s", c->part.prequest
                    ? "has a prequest" : "was started, and has not ended");
        return -EBUSY;
    }
    memset(out, 0, sizeof *out);
    out->epoch = seen(c, &c->counters->epoch);
    out->arrived = seen(c, c->counters->arrived);
    out->sent = seen(c, &c->counters->counters.sent);
    out->bytes = c->each;
    out->n = (shmemi_u32)c->part.n;
    out->per = 1;
    out->pe = -1;
    out->sends = out->receives = 1;
    out->n_calls = (shmemi_u32)calls;
    rc = part_prequest_alloc(call, &c->part, out);
    rc = rc ? rc : trig_dev(call, c->trig, &out->trig);
    if (rc) {
        part_prequest_release(&c->part);
        return rc;
    }
    out->trig.doorbells = NULL;
    if (!c->needs_ready)
        out->ready = NULL;      /* the iteration may have ended */
    out->req = req;
    c->part.together = calls > 1;
    c->part.prequest = true;
    return 0;
}

static int prequest_free(const char *call, struct pcoll *c)
{
    if (!c->part.prequest)
        return core_misuse(ERR_ARG, call, "the prequest has been freed");
    if (!is_completed(c)) {
        core_misuse(ERR_ARG, call, "its request was started, and has not "
                    "ended");
        return -EBUSY;
    }
    part_prequest_release(&c->part);
    return 0;
}

/* ---- waits of streams ---- */

static int wait(const struct stream_where *w, struct queue *q, struct req *r,
                struct start_parts *parts)
{
    const struct pcoll *c = pcoll_of(r);
    uint64_t *counter = &c->counters->counters.sent;
    const struct stream_wait by_host = {
        .how = STREAM_ALL, .n = 1, .size = sizeof *counter, .ivars = counter,
        .cmp = SHMEM_CMP_GE, .value = c->seq
    };

    (void)parts;
    if (!c->dev_counters || !stream_device_waits() || !stream_waits_allowed())
        return stream_wait(w, &by_host);
    stream_step_batch_wait(&q->steps, dev_word(c, counter), c->seq);
    stream_watch_add(w, counter, dev_word(c, counter), c->seq, -1);
    return 0;
}

/* ---- errors, the end ---- */

static int error(const char *call, struct req *r, struct stream_errors *e)
{
    (void)e;
    return advance(call, pcoll_of(r));
}

static const char *busy(const struct req *r)
{
    const struct pcoll *c = pcoll_of(r);

    return c->part.by_host    ? "was started, and no call has waited for it"
           : c->part.prequest ? "has a prequest: shmemx_prequest_free() comes "
                                "before"
           : !is_completed(c) ? "was started, and has not ended" : NULL;
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
    .wait = { wait, stream_req_no_step, stream_req_no_step },
    .completed = completed, .waiter = waiter, .finish = stream_req_no_call,
    .error = error, .is_running = stream_req_not_running, .busy = busy,
    .free = free_req, .close = stream_req_no_free, .name = name, .test = test,
    .await = await
};

const struct pcoll_calls pcoll_calls = {
    .start_by_host = start_by_host, .ready = ready, .arrived = arrived,
    .prequest_create = prequest_create, .prequest_free = prequest_free
};
