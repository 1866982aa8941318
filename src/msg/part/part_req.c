/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests that are partitioned messages: started by a stream or the host, made
 * ready by the host, waited for and freed.  The API calls it, also for those of
 * partitioned collectives, and the stream layer what is in part_req_ops. */
#include "msg/part/part.h"
#include "base/symbol.h"
#include "core/core_misuse.h"
#include "msg/msg_ctrl.h"
#include "msg/msg_describe.h"
#include "msg/pcoll/pcoll.h"
#include "stream/stream_stats.h"
#include "stream/stream_wait_log.h"

#include <errno.h>
#include <stdio.h>

/* A collective's: its end. */
static struct msg_chan *chan_of(const struct req *r)
{
    return r->object;
}

static bool is_coll(const struct req *r)
{
    return r->ops == &pcoll_req_ops;
}

/* A request of a partitioned message or collective; NULL, logged: none. */
static struct req *find(const char *call, struct shmemx_req *req)
{
    struct req *r = handle_find(&stream_reqs, req);

    if (likely(r && (r->ops == &part_req_ops || is_coll(r))))
        return r;
    core_misuse(req ? ERR_ARG : ERR_NULL, call, "%p is no partitioned request",
                (void *)req);
    return NULL;
}

struct msg_chan *part_or_coll(const char *call, struct shmemx_req *req,
                              int sends, struct pcoll **coll)
{
    struct req *r = find(call, req);

    *coll = r && is_coll(r) ? r->object : NULL;
    if (!r)
        return NULL;
    if (*coll || sends < 0 || chan_of(r)->sends == sends)
        return chan_of(r);
    core_misuse(ERR_ARG, call, "the request (%s) %s", stream_req_name(r).text,
                sends ? "receives" : "sends");
    return NULL;
}

int part_set_transport(const char *call, struct shmemx_req *req, int most)
{
    struct pcoll *coll;
    struct msg_chan *c = part_or_coll(call, req, -1, &coll);

    if (!c)
        return -EINVAL;
    if (coll)
        return core_misuse(ERR_ARG, call, "the request is one of a collective");
    if (most < 1)
        return core_misuse(ERR_ARG, call, "%d transport partitions", most);
    if (c->requested || c->offered || msg_chan_state(c) != MSG_CHAN_NEW) {
        core_misuse(ERR_ARG, call, "the request is being matched already");
        return -EBUSY;
    }
    c->part->most = most;
    return 0;
}

/* ---- completion ---- */

bool part_is_completed(const struct msg_chan *c)
{
    const struct part_counters *w = part_counters(c);
    bool is = true;

    if (c->sends)
        is = part_load(&w->counters.sent) >= c->seq;
    for (int i = 0; !c->sends && i < c->part->transport && is; i++)
        is = part_load(&w->arrived[i]) >= c->seq;
    atomics_tsan_acquire();
    return is;
}

bool part_req_completed(const struct req *r)
{
    return part_is_completed(chan_of(r));
}

/* All counters: which one is the last to arrive is not known. */
static struct core_waiter waiter(const char *call, const struct req *r,
                                 void *stream)
{
    const struct msg_chan *c = chan_of(r);
    const struct part_counters *w = part_counters(c);
    size_t n = (size_t)c->part->transport;

    return (struct core_waiter){
        .addr = c->sends ? &w->counters.sent : w->arrived,
        .bytes = (c->sends ? 1 : n) * sizeof(uint64_t),
        .info.what = CORE_FOR_QUEUE, .info.value = (uintptr_t)stream,
        .info.call = call, .info.name = msg_describe_counter,
        .info.by_host = c->part->by_host, .info.raiser = (unsigned)c->pe + 1,
        .info.named = c->counters
    };
}

int part_advance(const char *call, const struct msg_chan *c)
{
    uint64_t done;

    return c->part->trig ? trig_test(call, c->part->trig, 0, &done) : 0;
}

static int await_counters(const char *call, const struct req *r)
{
    struct core_waiter w = waiter(call, r, NULL);
    const struct msg_chan *c = chan_of(r);
    int rc = 0, more;

    while (!part_is_completed(c)) {
        more = part_advance(call, c);
        rc = rc ? rc : more;
        core_wait_step(&w);
    }
    core_wait_over(&w);
    more = part_advance(call, c);
    return rc ? rc : more;
}

/* ---- starts ---- */

static int check_start(const struct stream_where *w, const struct req *r, int i)
{
    struct msg_chan *c = chan_of(r);
    int rc = msg_req_check_start(w, r, i);

    if (rc)
        return rc;
    if (c->part->by_host) {
        stream_refuse(ERR_ARG, w->call, "request %d (%s) was started, and "
                      "no call has waited for it", i, stream_req_name(r).text);
        return -EBUSY;
    }
    return part_open(w->call, c);
}

int part_start_epoch(const struct stream_where *w, struct queue *q,
                     const struct msg_chan *c, uint64_t seq,
                     struct start_parts *parts)
{
    uint64_t *epoch = &part_counters(c)->epoch;

    if (!c->dev_counters)
        return stream_start_signal(w, q, (struct stream_signal){
            epoch, seq, SHMEM_SIGNAL_SET }, core_world.my_pe, parts);
    stream_step_batch_store(&q->steps, part_seen(c, epoch), seq);
    return 0;
}

static int start(const struct stream_where *w, struct queue *q, struct req *r,
                 struct start_parts *parts)
{
    struct msg_chan *c = chan_of(r);
    uint64_t seq = c->seq + 1;
    int rc = part_start_epoch(w, q, c, seq, parts);

    if (c->sends)
        stream_count(STREAM_PROTOCOLS + STREAM_PARTITIONED, 1);
    else if (!rc)
        rc = stream_start_signal(w, q, (struct stream_signal){
            &c->peer_counters->started, seq, SHMEM_SIGNAL_SET }, c->pe, parts);
    return rc;
}

static void started(const char *call, struct req *r)
{
    (void)call;
    chan_of(r)->seq++;
    if (trace_is_on())
        msg_trace_start(chan_of(r));
}

static void start_by_host(const char *call, struct msg_chan *c)
{
    uint64_t seq = ++c->seq;

    c->part->by_host = true;
    if (trace_is_on())
        msg_trace_start(c);
    __atomic_store_n(&part_counters(c)->epoch, seq, __ATOMIC_RELEASE);
    if (c->sends)
        stream_count(STREAM_PROTOCOLS + STREAM_PARTITIONED, 1);
    else
        msg_ctrl_signal(call, &c->peer_counters->started, seq,
                        SHMEM_SIGNAL_SET, c->pe);
}

static int may_start(const char *call, struct req *r, int i)
{
    const struct stream_where w = { .call = call, .ctx = &core_ctx_default };
    int rc = r->ops->check_start(&w, r, i);

    if (rc)
        return rc;
    if (r->state == STARTED || !r->ops->completed(r)) {
        stream_refuse(ERR_ARG, call, "request %d (%s) was started, and has not "
                      "ended", i, stream_req_name(r).text);
        return -EBUSY;
    }
    if (r->listed) {
        stream_refuse(ERR_ARG, call, "request %d (%s) is in the list twice", i,
                      stream_req_name(r).text);
        return -EBUSY;
    }
    return 0;
}

/* All or none. */
int part_start_all(const char *call, int n, struct shmemx_req *reqs[])
{
    struct req *r;
    int rc = 0, i;

    msg_progress_or_defer(call);        /* a partner may have freed its end */
    for (i = 0; i < n && !rc; i++) {
        r = find(call, reqs[i]);
        rc = r ? may_start(call, r, i) : -EINVAL;
        if (!rc)
            r->listed = true;
    }
    if (rc)
        i--;                    /* that one is not marked */
    for (int k = 0; k < i; k++) {
        r = handle_find(&stream_reqs, reqs[k]);
        r->listed = false;
        if (rc)
            continue;
        r->state = IDLE;        /* a stream's wait for the last one is over */
        r->queue = NULL;
        if (is_coll(r))
            pcoll_start_by_host(r->object);
        else
            start_by_host(call, chan_of(r));
    }
    return rc;
}

/* ---- ready, arrived ---- */

/* The name of the request for a line. */
static __attribute__((cold)) struct req_name subject(const struct msg_chan *c,
                                                     const struct pcoll *coll)
{
    struct req_name s;

    if (coll)
        snprintf(s.text, sizeof s.text, "the request of %s",
                 symbol_public(coll->call));
    else
        snprintf(s.text, sizeof s.text, "the %s PE %d, tag %d",
                 c->sends ? "send to" : "receive from", c->pe, c->tag);
    return s;
}

static int check_ready(const char *call, const struct msg_chan *c,
                       const struct pcoll *coll)
{
    uint64_t sent;

    if (coll && !coll->needs_ready && c->seq)
        return 0;               /* the iteration may have ended */
    sent = part_load(&part_counters(c)->counters.sent);
    if (sent >= c->seq)
        return core_misuse(ERR_ARG, call, "%s%s is not started",
                           subject(c, coll).text, coll ? "" : ",");
    if (c->part->together)
        return core_misuse(ERR_ARG, call, "%s: %s", subject(c, coll).text,
                           coll ? "several calls of kernels make a partition "
                           "ready" : "kernels make its partitions ready, of "
                           "which several travel together or which they copy");
    if (sent == c->seq - 1)
        return 0;
    core_misuse(ERR_ARG, call, "%s: an earlier iteration has not ended",
                subject(c, coll).text);
    return -EBUSY;
}

static int check_partition(const char *call, const struct msg_chan *c, int at)
{
    if (at < 0 || at >= c->part->n)
        return core_misuse(ERR_ARG, call, "partition %d: the request has "
                           "partitions 0 to %d", at, c->part->n - 1);
    return 0;
}

/* The transport partition of one.  Mostly it is the same: no division. */
static int transport_of(const struct part *p, int at)
{
    return p->transport == p->n ? at : at / (p->n / p->transport);
}

int part_ready(const char *call, struct shmemx_req *req, int low, int n,
               const int *list)
{
    struct pcoll *coll;
    struct msg_chan *c = part_or_coll(call, req, 1, &coll);
    int rc = c ? check_ready(call, c, coll) : -EINVAL;
    struct part *p;

    for (int i = 0; i < n && !rc; i++)
        rc = check_partition(call, c, list ? list[i] : low + i);
    if (rc || (coll && !coll->needs_ready))
        return rc;
    p = c->part;
    for (int i = 0; i < n && !rc; i++) {
        int at = list ? list[i] : low + i;

        MSG_TRACE_PARTITION(c, "partition ready", at, p->each);
        if (__atomic_exchange_n(&p->ready[at], c->seq, __ATOMIC_RELAXED) ==
            c->seq)
            rc = core_misuse(ERR_ARG, call, "partition %d is ready already", at);
        else
            rc = trig_hit(call, p->trig, transport_of(p, at), 1);
    }
    return rc;
}

int part_arrived(const char *call, struct shmemx_req *req, int partition,
                 bool *is)
{
    struct pcoll *coll;
    const struct msg_chan *c = part_or_coll(call, req, 0, &coll);
    const uint64_t *word;
    int rc = 0;

    if (!c)
        return -EINVAL;
    if (!c->seq)
        return core_misuse(ERR_ARG, call, "%s%s is not started",
                           subject(c, coll).text, coll ? "" : ",");
    if (check_partition(call, c, partition))
        return -EINVAL;
    word = &part_counters(c)->arrived[transport_of(c->part, partition)];
    *is = part_load(word) >= c->seq;
    if (!*is) {
        rc = part_advance(call, c);
        core_progress(call);
        *is = part_load(word) >= c->seq;
    }
    if (*is) {
        xport_flush();
        MSG_TRACE_PARTITION(c, "partition arrived", partition, c->part->each);
    }
    atomics_tsan_acquire();
    return rc;
}

/* ---- waits ---- */

int part_req_wait(const struct stream_where *w, struct queue *q, struct req *r,
                  struct start_parts *parts)
{
    const struct msg_chan *c = chan_of(r);
    struct part_counters *mine = part_counters(c);
    uint64_t *counters = c->sends ? &mine->counters.sent : mine->arrived, *seen;
    size_t n = c->sends ? 1 : (size_t)c->part->transport;

    (void)parts;
    if (!c->dev_counters || !stream_device_waits() || !stream_waits_allowed())
        return msg_wait_by_host(w, c, counters, n, c->seq);
    if (stream_step_batch_reserve_more(&q->steps, n))
        return stream_no_memory(w->call);
    for (size_t i = 0; i < n; i++) {
        seen = part_seen(c, &counters[i]);
        stream_step_batch_wait(&q->steps, seen, c->seq);
        stream_watch_add(w, &counters[i], seen, c->seq, c->pe);
    }
    return 0;
}

int part_req_test(const char *call, struct req *r, bool *is)
{
    struct msg_chan *c = chan_of(r);
    int rc;

    if (!c->part->by_host)
        return stream_req_test_started(call, r, is);
    rc = part_advance(call, c);
    core_progress(call);
    *is = part_is_completed(c);
    if (*is) {
        c->part->by_host = false;
        xport_flush();
    }
    return rc;
}

static int await(const char *call, struct req *r)
{
    struct msg_chan *c = chan_of(r);
    int rc;

    if (!c->part->by_host)
        return stream_req_await_started(call, r);
    rc = await_counters(call, r);
    c->part->by_host = false;
    return rc;
}

/* ---- errors, the end ---- */

int part_req_error(const char *call, struct req *r, struct stream_errors *e)
{
    int rc = msg_req_error(call, r, e), more = part_advance(call, chan_of(r));

    return rc ? rc : more;
}

static const char *busy(const struct req *r)
{
    const struct part *p = chan_of(r)->part;

    return p->by_host    ? "was started, and no call has waited for it"
           : p->prequest ? "has a prequest: shmemx_prequest_free() comes before"
                         : msg_req_busy(r);
}

static void free_req(struct req *r)
{
    struct msg_chan *c = chan_of(r);

    if (c->part->trig)
        trig_free("shmemx_req_free", c->part->trig);
    c->part->trig = NULL;
    msg_chan_free(c);
}

const struct stream_req_ops part_req_ops = {
    .own_counters = true, .check_start = check_start, .start = start,
    .started = started,
    .wait = { part_req_wait, stream_req_no_step, stream_req_no_step },
    .completed = part_req_completed, .waiter = waiter,
    .finish = stream_req_no_call, .error = part_req_error,
    .is_running = stream_req_not_running, .busy = busy, .free = free_req,
    .close = stream_req_no_free, .name = msg_req_name, .test = part_req_test,
    .await = await
};
