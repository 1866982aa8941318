/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests that are messages: made, started, waited for and freed.  The API
 * makes them; the stream layer calls msg_req_ops for what its queues do with
 * them.  The protocol of the channel says what a start and a wait enqueue. */
#include "msg/msg_describe.h"
#include "base/symbol.h"
#include "core/core_misuse.h"
#include "msg/msg_proto.h"
#include "msg/part/part.h"
#include "stream/stream_stats.h"
#include "stream/stream_wait_log.h"

#include <errno.h>
#include <stdio.h>

static struct msg_chan *chan_of(const struct req *r)
{
    return r->object;
}

static int create_chan(const struct msg_args *a, struct msg_chan **out)
{
    int rc;

    /* Requests that were freed give their memory back first. */
    msg_progress_or_defer(a->call);
    rc = msg_chan_create(a, out);
    if (!rc && msg_match_enter(*out)) {
        msg_chan_delete(*out);
        rc = stream_no_memory(a->call);
    }
    return rc;
}

int msg_req_create(const struct msg_args *a, struct shmemx_queue *queue,
                   struct shmemx_req **out)
{
    struct stream_req_args r = {
        .ops = a->partitions ? &part_req_ops : &msg_req_ops
    };
    struct stream_op op;
    struct msg_chan *c;
    int rc;

    if (a->one_shot) {
        r.q = stream_queue_of(a->call, queue);
        if (!r.q)
            return -EINVAL;
        if (!r.q->recorded)     /* else the thread that makes its starts */
            stream_queue_reap(r.q, true);    /* their slots are free again */
        /* Before the message gets its number among those to its partner. */
        rc = stream_req_may_stage(a->call, r.q);
        if (rc)
            return rc;
    } else if (!out) {
        return stream_refuse(ERR_NULL, a->call, "no place for the request");
    }
    rc = create_chan(a, &c);
    if (rc)
        return rc;
    c->task.ops = &msg_task_ops;
    op = (struct stream_op){
        .kind = STREAM_MESSAGE, .call = a->call, .pe = c->pe,
        .task = { &c->task, 1, false }
    };
    r.op = &op;
    r.object = c;
    rc = stream_req_create(a->call, &r, out);
    if (rc)
        msg_chan_free(c);
    return rc;
}

/* ---- starts ---- */

/* With SHMEM_CHECK: a ready send comes behind the start of its receive.  Of
 * those that came earlier this sees what has arrived by now. */
static void check_ready_send(const char *call, struct msg_chan *c)
{
    uint64_t seq = c->seq + 1;

    if (c->sends || c->proto != MSG_PROTO_READY || c->tag < 0 || c->warned ||
        __atomic_load_n(msg_arrived_counter(c->counters, seq),
                        __ATOMIC_ACQUIRE) < seq)
        return;
    c->warned = true;
    log_warn(ERR_STREAM, "%s: the message from PE %d, tag %d, of "
             "shmemx_rsend_init came before its receive was started; its "
             "sender has to know of that start", symbol_public(call),
             c->pe, c->tag);
}

/* Messages that a sender sent before it was freed may still be received. */
static bool may_continue(const struct msg_chan *c)
{
    return !__atomic_load_n(&c->peer_freed, __ATOMIC_ACQUIRE) ||
           (!c->sends && c->seq < c->peer_last);
}

int msg_req_freed_by(const struct req *r)
{
    const struct msg_chan *c = chan_of(r);

    return may_continue(c) ? -1 : c->pe;
}

int msg_req_check_start(const struct stream_where *w, const struct req *r,
                        int i)
{
    struct msg_chan *c = chan_of(r);
    bool matched = c->requested && msg_chan_state(c) == MSG_CHAN_MATCHED;

    if (likely(matched && !c->buf_freed && may_continue(c))) {
        if (unlikely(core_status.checks))
            check_ready_send(w->call, c);
        return 0;
    }
    if (c->buf_freed)
        return stream_refuse(ERR_FREE, w->call, "request %d (%s): its buffer "
                             "was freed", i, stream_req_name(r).text);
    if (!matched)
        return stream_refuse(ERR_ARG, w->call, "request %d (%s) is not "
                             "matched: shmemx_match() comes before its start",
                             i, stream_req_name(r).text);
    stream_refuse(ERR_ARG, w->call, "request %d (%s): PE %d has freed its end",
                  i, stream_req_name(r).text, c->pe);
    return -EPIPE;
}

static int start(const struct stream_where *w, struct queue *q, struct req *r,
                 struct start_parts *parts)
{
    const struct msg_batch b = { w, q, parts };
    struct msg_chan *c = chan_of(r);

    if (c->sends)
        stream_count(STREAM_PROTOCOLS + (c->team ? STREAM_OF_COLL
                                                 : (unsigned)c->proto), 1);
    return msg_ops(c)->start(&b, c, c->seq + 1);
}

static void started(const char *call, struct req *r)
{
    struct msg_chan *c = chan_of(r);

    c->seq++;
    if (trace_is_on())
        msg_trace_start(c);
    if (c->one_shot)
        msg_chan_request_match(call, c);
}

/* ---- waits ---- */

int msg_wait_by_host(const struct stream_where *w, const struct msg_chan *c,
                     const uint64_t *counters, size_t n, uint64_t least)
{
    const struct stream_wait wait = {
        .how = STREAM_ALL, .n = n, .size = sizeof *counters, .ivars = counters,
        .cmp = SHMEM_CMP_GE, .value = least, .whose = 1 + c->pe
    };

    return stream_wait(w, &wait);
}

static int wait(const struct stream_where *w, struct queue *q, struct req *r,
                struct start_parts *parts)
{
    const struct msg_chan *c = chan_of(r);
    uint64_t least, *counter = msg_ops(c)->counter(c, &least), *seen;

    (void)parts;
    if (!counter)
        return 0;
    if (unlikely(!c->dev_counters || !stream_device_waits() ||
                 !stream_waits_allowed()))
        return msg_wait_by_host(w, c, counter, 1, least);
    seen = (void *)((char *)c->dev_counters +
                    ((char *)counter - (char *)c->counters));
    stream_step_batch_wait(&q->steps, seen, least);
    stream_watch_add(w, counter, seen, least, c->pe);
    return 0;
}

static int copy_out(const struct stream_where *w, struct queue *q,
                    struct req *r, struct start_parts *parts)
{
    const struct msg_batch b = { w, q, parts };
    struct msg_chan *c = chan_of(r);

    return c->sends ? 0 : msg_protos[c->proto]->copy_out(&b, c);
}

static int release(const struct stream_where *w, struct queue *q,
                   struct req *r, struct start_parts *parts)
{
    const struct msg_batch b = { w, q, parts };
    struct msg_chan *c = chan_of(r);

    return c->sends ? 0 : msg_protos[c->proto]->release(&b, c);
}

static bool completed(const struct req *r)
{
    const struct msg_chan *c = chan_of(r);
    uint64_t least, *counter = msg_ops(c)->counter(c, &least);
    bool is = !counter || __atomic_load_n(counter, __ATOMIC_ACQUIRE) >= least;

    atomics_tsan_acquire();
    return is;
}

static struct core_waiter waiter(const char *call, const struct req *r,
                                 void *stream)
{
    const struct msg_chan *c = chan_of(r);
    uint64_t least, *counter = msg_ops(c)->counter(c, &least);

    return (struct core_waiter){
        .addr = counter ? counter : &c->counters->sent,
        .bytes = sizeof *counter, .info.what = CORE_FOR_QUEUE,
        .info.value = (uintptr_t)stream, .info.call = call,
        .info.name = msg_describe_counter, .info.raiser = (unsigned)c->pe + 1,
        .info.named = c->counters
    };
}

static void finish(const char *call, struct req *r)
{
    struct msg_chan *c = chan_of(r);

    if (c->sends) {
        MSG_TRACE(c, "send completed", TRACE_ALONE, c->seq);
        return;
    }
    msg_protos[c->proto]->finish(call, c);
    MSG_TRACE(c, "receive completed", TRACE_RECEIVES, c->seq);
}

/* ---- errors, names, the end ---- */

int msg_req_error(const char *call, struct req *r, struct stream_errors *e)
{
    struct msg_chan *c = chan_of(r);

    if (msg_chan_state(c) != MSG_CHAN_FAILED)
        return 0;
    msg_report_failed(call, "", c);
    if (e && c->error_turn)
        stream_errors_withdraw(e, c->error_turn);
    c->error_turn = 0;
    return c->error;
}

const char *msg_req_busy(const struct req *r)
{
    const struct msg_chan *c = chan_of(r);

    return c->requested && msg_chan_state(c) < MSG_CHAN_MATCHED
           ? "is being matched" : NULL;
}

/* Its stream goes on when the data are there, which may be before the thread or
 * the NIC has ended its part. */
static bool is_running(const struct req *r)
{
    const struct msg_chan *c = chan_of(r);

    return c->one_shot && r->state == WAITED && !r->broken &&
           !__atomic_load_n(&c->counters->sent, __ATOMIC_ACQUIRE);
}

static void free_req(struct req *r)
{
    struct msg_chan *c = chan_of(r);

    if (c->one_shot && r->state == WAITED)
        msg_transfer_await("shmemx_req_free", c);
    msg_chan_free(c);
}

void msg_req_name(const struct req *r, char *text, size_t size)
{
    msg_describe(chan_of(r), text, size);
}

const struct stream_req_ops msg_req_ops = {
    .own_counters = true, .check_start = msg_req_check_start, .start = start,
    .started = started, .wait = { wait, copy_out, release },
    .completed = completed, .waiter = waiter, .finish = finish,
    .error = msg_req_error, .is_running = is_running, .busy = msg_req_busy,
    .free = free_req, .close = stream_req_no_free, .name = msg_req_name,
    .test = stream_req_test_started, .await = stream_req_await_started
};
