/* SPDX-License-Identifier: BSD-3-Clause */
/* The eager protocol: the sender's stream puts to one of two landing slots and
 * waits for nothing; the receiver's wait copies the message out.
 *
 * The sender's wait for iteration k sees that iteration k - 1 has left its
 * slot.  On the node the receiver's wait reports that.  Between nodes the
 * receiver's next start does: an operation of the progress thread behind each
 * wait would delay the start after it.  msg_req.c calls these functions. */
#include "msg/msg_int.h"
#include "msg/msg_ctrl.h"
#include "msg/msg_proto.h"

static bool is_on_node(const struct msg_chan *c)
{
    return stream_device_address_amo(c->pe, &c->peer_counters->released, 8) !=
           0;
}

/* The device stores in the order of the stream.  All else adds, since two values
 * might arrive in the wrong order: between nodes, and of the progress thread for
 * a wait of the stream and of the host for its own wait behind it. */
static struct stream_signal release_signal(const struct msg_chan *c)
{
    bool stores = c->dev_peer_counters && is_on_node(c);

    return (struct stream_signal){
        .addr = &c->peer_counters->released, .value = stores ? c->seq : 1,
        .op = stores ? SHMEM_SIGNAL_SET : SHMEM_SIGNAL_ADD
    };
}

static int start_recv(const struct msg_batch *b, struct msg_chan *c,
                      uint64_t seq)
{
    return seq > 1 && !is_on_node(c)
           ? msg_start_signal(b, c, release_signal(c)) : 0;
}

static uint64_t *send_counter(const struct msg_chan *c, uint64_t *least)
{
    *least = c->seq - 1;
    return *least ? &c->counters->released : NULL;
}

static int copy_out(const struct msg_batch *b, struct msg_chan *c)
{
    struct steps *s = &b->queue->steps;

    if (!c->dev_peer_counters)
        return msg_copy_slot(b, c);
    stream_step_batch_put(s, c->buf, msg_slot_addr(c, c->dev_landing, c->seq),
                          c->slots ? c->bytes : 0,
                          &c->dev_peer_counters->released, c->seq);
    s->ops++;
    return 0;
}

static int release(const struct msg_batch *b, struct msg_chan *c)
{
    int rc;

    if (c->dev_peer_counters || !is_on_node(c))
        return 0;
    rc = stream_step_batch_flush(b->where, &b->queue->steps);
    return rc ? rc : msg_start_signal(b, c, release_signal(c));
}

static void finish_recv(const char *call, struct msg_chan *c)
{
    struct stream_signal s;

    msg_finish_slot(call, c);
    if (!is_on_node(c))
        return;
    s = release_signal(c);
    msg_ctrl_signal(call, s.addr, s.value, s.op, c->pe);
}

const struct msg_proto msg_proto_eager = {
    .matched = "matched: eager",
    .send = { .start = msg_start_put, .counter = send_counter },
    .recv = { .start = start_recv, .counter = msg_recv_counter },
    .copy_out = copy_out, .release = release, .finish = finish_recv,
    .open = msg_open_put,
    .offered = msg_offered_always
};
