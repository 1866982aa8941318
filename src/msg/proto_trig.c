/* SPDX-License-Identifier: BSD-3-Clause */
/* The triggered rendezvous: between nodes, where the NIC has deferred work, the
 * sender's NIC puts an iteration once both ends have incremented the sender's
 * two-input trigger, each from its own stream.  The progress thread puts a
 * message for which the NIC has no entry (proto_rndv.c).  msg_req.c calls these
 * functions; they wait for nothing. */
#include "msg/msg_int.h"
#include "msg/msg_ctrl.h"
#include "msg/msg_proto.h"
#include "stream/ring/stream_ring.h"

static void put_failed(void *arg, const char *call, const char *what, int pe,
                       const char *cause)
{
    const struct msg_chan *c = arg;

    stream_errors_record(c->errors, call, what, pe, cause, NULL);
}

bool msg_trig_open(struct msg_chan *c)
{
    if (c->ready || c->one_shot || xport_is_mapped(c->pe) ||
        c->len <= msg_eager_limit.off_node ||
        xport_trig->open_two_input(&c->trig, &c->trig_at, &c->counters->sent,
                                   put_failed, c))
        return false;
    stream_nic_watch_triggers();
    return true;
}

void msg_trig_close(struct msg_chan *c)
{
    if (c->trig)
        xport_trig->close(c->trig);
    c->trig = NULL;
}

/* One of the two increments of the sender's trigger. */
static int increment(const struct msg_batch *b, struct msg_chan *c, int pe)
{
    const struct stream_op op = {
        .kind = STREAM_INCREMENT, .call = b->where->call,
        .two_input = c->trig_at, .pe = pe
    };

    return stream_start_one(b->where, b->queue, &op, b->parts);
}

/* Posts the put as the trigger's next operation, with its flag; as far as the
 * NIC has no room for these, the progress thread does the rest. */
static int start_send(const struct msg_batch *b, struct msg_chan *c,
                      uint64_t seq)
{
    const struct stream_op put = msg_put_op(c, b->where->call, seq);
    struct stream_ring *ring = b->queue->ring;
    struct xport_trig_op x;
    bool by_nic = true;
    uint64_t least;

    c->errors = &ring->exec.failed;
    if (!stream_nic_translate(&put, &x) || !xport_trig->can(&x) ||
        xport_trig->arm(c->trig, &x, 1)) {
        xport_trig->skip_post(c->trig);
        by_nic = false;
    } else if (!xport_trig->flag(c->trig, &least)) {
        stream_errors_note_op(c->errors, &put);
        stream_progress_wake(); /* it reports a failure of the NIC */
        return increment(b, c, core_world.my_pe);
    }
    ring->nic.declined++;
    msg_start_transfer(b, c, seq, by_nic);
    return increment(b, c, core_world.my_pe);
}

static int start_recv(const struct msg_batch *b, struct msg_chan *c,
                      uint64_t seq)
{
    (void)seq;
    return increment(b, c, c->pe);
}

/* The RTS carries the address of the sender's trigger, which the receiver's
 * start increments. */
static void open_recv(struct msg_chan *c, const struct msg_ctrl *m)
{
    if (!c->sends)
        c->trig_at = m->trig;
}

static bool offered(const struct msg_chan *s, const struct msg_ctrl *rtr)
{
    (void)rtr;
    return s->trig != NULL;
}

const struct msg_proto msg_proto_trig = {
    .matched = "matched: triggered rendezvous",
    .send = { .start = start_send, .counter = msg_sent_counter },
    .recv = { .start = start_recv, .counter = msg_recv_counter },
    .copy_out = msg_copy_slot, .release = msg_copy_nothing,
    .finish = msg_finish_slot,
    .open = open_recv,
    .offered = offered
};
