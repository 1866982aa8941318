/* SPDX-License-Identifier: BSD-3-Clause */
/* The rendezvous: the progress thread of the sender puts an iteration when both
 * streams have started it; and one-shot messages, whose receiver sends its RTR
 * when its stream has come to the receive.
 *
 * When a stream comes to such a start, the channel joins the tasks of its ring
 * and the stream goes on.  The holder of the ring, which is the progress thread
 * or a thread of the software device, steps the tasks: these functions wait for
 * nothing.  The receiver raises `started` of the sender, but of a one-shot
 * message its RTR says the same; and the holder raises `sent` when the buffer
 * of a send is free, or when a one-shot receive is over. */
#include "msg/msg_int.h"
#include "base/symbol.h"
#include "core/core_device.h"
#include "msg/msg_proto.h"
#include "stream/exec/stream_exec.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static struct msg_chan *chan_of(struct stream_task *t)
{
    return list_entry(t, struct msg_chan, task);
}

static bool is_raised(const uint64_t *counter, uint64_t least)
{
    bool is = __atomic_load_n(counter, __ATOMIC_ACQUIRE) >= least;

    atomics_tsan_acquire();
    return is;
}

static void raise_counter(uint64_t *counter, uint64_t value)
{
    __atomic_store_n(counter, value, __ATOMIC_RELEASE);
    atomics_full_fence();
    core_wake((struct core_target){ (uintptr_t)counter, core_ctl },
              sizeof *counter);
    gtl->flags_stored();
}

/* Only a one-shot message is started before it has a partner. */
static void record_failure(struct stream_ring *ring, struct msg_chan *c)
{
    char cause[128];

    if (c->error == -EMSGSIZE)
        snprintf(cause, sizeof cause, "a send of %zu bytes, tag %d, whose "
                 "receive has %zu", c->sends ? c->len : c->bytes, c->tag,
                 c->sends ? c->bytes : c->len);
    else
        snprintf(cause, sizeof cause, "tag %d: %s", c->tag,
                 strerror(-c->error));
    stream_errors_record(&ring->exec.failed, c->sends ? "shmemx_enqueue_send"
                                                 : "shmemx_enqueue_recv",
                         c->sends ? "send" : "recv", c->pe, cause,
                         &c->error_turn);
}

/* ---- the sender ---- */

/* A one-shot send has been matched by the RTR, which says that the receiver's
 * stream has come to the receive; the load of that state was an acquire. */
static bool may_put(const struct msg_chan *c)
{
    uint64_t seq = c->transfer.seq;

    return c->proto == MSG_PROTO_TRIG
               ? xport_trig->is_released(c->trig, seq)
               : c->one_shot || is_raised(&c->counters->started, seq);
}

/* The put's signal reports it to the receiver. */
static enum stream_exec_state step_put(struct stream_ring *ring,
                                       struct msg_chan *c)
{
    struct stream_op op = msg_put_op(c, c->task.call, c->transfer.seq);

    op.waits = true;
    op.ring = ring;
    return stream_exec_host_put_signal(&ring->exec, &op, &c->transfer.put);
}

/* True: the buffer is free.  A transfer waits for its receiver, then is issued
 * step by step, then completes in the network. */
static bool step_send(struct stream_ring *ring, struct msg_chan *c, bool *any)
{
    size_t moved = c->transfer.put.moved;
    enum stream_exec_state state;

    if (c->transfer.by_nic)
        return xport_trig->completed(c->trig) >= c->transfer.seq;
    if (!c->transfer.issued) {
        if (!may_put(c))
            return false;
        state = step_put(ring, c);
        c->transfer.issued = state != STREAM_AGAIN;
        *any |= c->transfer.issued || c->transfer.put.moved != moved;
        if (state == STREAM_AGAIN)
            return false;
        if (state == STREAM_COMPLETED && c->proto != MSG_PROTO_TRIG)
            return true;
    }
    if (!stream_ring_net_idle(ring))
        return false;
    if (c->proto == MSG_PROTO_TRIG)
        xport_trig->skip_done(c->trig);
    return true;
}

/* ---- a one-shot receiver ---- */

/* Without a slot the stream waits for the counter that the sender raises; else
 * for the one that is raised behind this copy. */
static bool step_recv(struct msg_chan *c)
{
    if (!c->slots)
        return true;
    if (!is_raised(msg_arrived_counter(c->counters, 1), 1))
        return false;
    core_copy(c->buf, c->landing, c->bytes);
    return true;
}

/* ---- tasks ---- */

/* A channel without a partner waits for one: a match may write to it. */
static bool step_task(struct stream_ring *ring, struct stream_task *t,
                      bool *any)
{
    struct msg_chan *c = chan_of(t);

    switch (msg_chan_state(c)) {
    case MSG_CHAN_FAILED:
        record_failure(ring, c);
        if (!c->sends)
            raise_counter(msg_arrived_counter(c->counters, 1), 1);
        return true;
    case MSG_CHAN_MATCHED:
        return c->sends ? step_send(ring, c, any) : step_recv(c);
    case MSG_CHAN_NEW:
    case MSG_CHAN_RTS_SENT:
        break;
    }
    return false;
}

/* The stream may use the channel again, or the program free it, from then
 * on. */
static void complete_task(struct stream_task *t)
{
    struct msg_chan *c = chan_of(t);

    raise_counter(&c->counters->sent, c->transfer.seq);
}

/* The stream has come to the start. */
static void reach_task(const struct stream_op *op)
{
    struct msg_chan *c = chan_of(op->task.task);

    c->transfer = (struct msg_transfer){
        .seq = op->task.seq, .by_nic = op->task.by_nic
    };
    if (c->one_shot && !c->sends)
        msg_chan_recv_reached(c);
}

static void describe_task(const struct stream_task *t, const char *call,
                          char *text, size_t size)
{
    const struct msg_chan *c = list_entry(t, const struct msg_chan, task);

    if (c->tag < 0)
        snprintf(text, size, "%s, a step of a collective request, with PE %d",
                 symbol_public(call), c->pe);
    else
        snprintf(text, size, "%s, PE %d, tag %d", symbol_public(call), c->pe,
                 c->tag);
}

const struct stream_task_ops msg_task_ops = {
    .reach = reach_task, .step = step_task, .complete = complete_task,
    .describe = describe_task
};

int msg_start_transfer(const struct msg_batch *b, struct msg_chan *c,
                       uint64_t seq, bool by_nic)
{
    const struct stream_op op = {
        .kind = STREAM_MESSAGE, .call = b->where->call, .pe = c->pe,
        .task = { &c->task, seq, by_nic }
    };

    stream_start_on_host(b->where, b->queue, &op, b->parts);
    return 0;
}

void msg_transfer_await(const char *call, const struct msg_chan *c)
{
    const uint64_t *counter = &c->counters->sent;
    struct core_waiter w =
        CORE_WAIT_VALUE(call, counter, uint64_t, SHMEM_CMP_GE, 1);

    while (!__atomic_load_n(counter, __ATOMIC_ACQUIRE))
        core_wait_step(&w);
    core_wait_end(&w);
}

/* ---- the protocols ---- */

static int start(const struct msg_batch *b, struct msg_chan *c, uint64_t seq)
{
    return msg_start_transfer(b, c, seq, false);
}

static int start_recv(const struct msg_batch *b, struct msg_chan *c,
                      uint64_t seq)
{
    return msg_start_signal(b, c, (struct stream_signal){
        &c->peer_counters->started, seq, SHMEM_SIGNAL_SET });
}

const struct msg_proto msg_proto_rndv = {
    .matched = "matched: rendezvous",
    .send = { .start = start, .counter = msg_sent_counter },
    .recv = { .start = start_recv, .counter = msg_recv_counter },
    .copy_out = msg_copy_slot, .release = msg_copy_nothing,
    .finish = msg_finish_slot,
    .open = msg_open_nothing,
    .offered = msg_offered_always
};

static uint64_t *one_shot_recv_counter(const struct msg_chan *c,
                                       uint64_t *least)
{
    return c->slots ? msg_sent_counter(c, least) : msg_recv_counter(c, least);
}

/* The progress thread copies out of the slot: a match may write to the channel
 * while the stream's wait is enqueued. */
const struct msg_proto msg_proto_one_shot = {
    .matched = "matched: one-shot",
    .one_shot = true,
    .send = { .start = start, .counter = msg_sent_counter },
    .recv = { .start = start, .counter = one_shot_recv_counter },
    .copy_out = msg_copy_nothing, .release = msg_copy_nothing,
    .finish = msg_finish_nothing,
    .open = msg_open_nothing,
    .offered = msg_offered_always
};
