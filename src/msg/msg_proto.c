/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of protocols, and what several of them share: puts, signals and
 * copies out of landing slots.  proto_*.c use it; it selects nothing
 * (msg_select.c does). */
#include "msg/msg_int.h"
#include "msg/msg_proto.h"
#include "stream/stream_stats.h"

const struct msg_proto *const msg_protos[MSG_PROTOS] = {
    [MSG_PROTO_READY] = &msg_proto_ready,
    [MSG_PROTO_EAGER] = &msg_proto_eager,
    [MSG_PROTO_PEER_COPY] = &msg_proto_peer_copy,
    [MSG_PROTO_TRIG] = &msg_proto_trig,
    [MSG_PROTO_RNDV] = &msg_proto_rndv,
    [MSG_PROTO_ONE_SHOT] = &msg_proto_one_shot,
    [MSG_PROTO_PART] = &msg_proto_part
};
/* SHMEM_STATS counts each protocol in the place that it has in the enum. */
_Static_assert((int)MSG_PROTO_ONE_SHOT == STREAM_ONCE &&
               (int)MSG_PROTO_PART == STREAM_PARTITIONED &&
               (int)MSG_PROTOS == STREAM_OF_COLL,
               "enum msg_proto_id and the counts of stream/stream_stats.h "
               "differ: a new protocol goes directly before "
               "MSG_PROTO_ONE_SHOT, and "
               "STREAM_ONCE is its number plus 1");

/* ---- slots that a protocol has no use for ---- */

int msg_start_nothing(const struct msg_batch *b, struct msg_chan *c,
                      uint64_t seq)
{
    (void)b, (void)c, (void)seq;
    return 0;
}

int msg_copy_nothing(const struct msg_batch *b, struct msg_chan *c)
{
    (void)b, (void)c;
    return 0;
}

void msg_finish_nothing(const char *call, struct msg_chan *c)
{
    (void)call, (void)c;
}

void msg_open_nothing(struct msg_chan *c, const struct msg_ctrl *m)
{
    (void)c, (void)m;
}

bool msg_offered_always(const struct msg_chan *s, const struct msg_ctrl *rtr)
{
    (void)s, (void)rtr;
    return true;
}

/* ---- starts ---- */

struct stream_op msg_put_op(const struct msg_chan *c, const char *call,
                            uint64_t seq)
{
    return (struct stream_op){
        .kind = STREAM_PUT_SIGNAL, .call = call, .pe = c->pe, .message = true,
        .dest = msg_slot_addr(c, c->landing, seq), .source = c->buf,
        .len = c->bytes,
        .signal = { msg_arrived_counter(c->peer_counters, seq), seq,
                    SHMEM_SIGNAL_SET }
    };
}

/* A function of its own: puts by the device are spared even the zeros of an
 * operation. */
static int start_put_op(const struct msg_batch *b, const struct msg_chan *c,
                        uint64_t seq)
{
    const struct stream_op op = msg_put_op(c, b->where->call, seq);

    return stream_start_one(b->where, b->queue, &op, b->parts);
}

int msg_start_put(const struct msg_batch *b, struct msg_chan *c, uint64_t seq)
{
    struct steps *s = &b->queue->steps;

    if (!c->dev_peer_counters)
        return start_put_op(b, c, seq);
    stream_step_batch_put(s, msg_slot_addr(c, c->dev_landing, seq), c->buf,
                          c->bytes,
                          msg_arrived_counter(c->dev_peer_counters, seq), seq);
    s->ops++;
    return 0;
}

int msg_start_signal(const struct msg_batch *b, const struct msg_chan *c,
                     struct stream_signal signal)
{
    return stream_start_signal(b->where, b->queue, signal, c->pe, b->parts);
}

/* ---- counters of completion ---- */

uint64_t *msg_no_counter(const struct msg_chan *c, uint64_t *least)
{
    (void)c, (void)least;
    return NULL;
}

uint64_t *msg_sent_counter(const struct msg_chan *c, uint64_t *least)
{
    *least = c->seq;
    return &c->counters->sent;
}

uint64_t *msg_recv_counter(const struct msg_chan *c, uint64_t *least)
{
    *least = c->seq;
    return msg_arrived_counter(c->counters, c->seq);
}

/* ---- landing slots ---- */

static int copy_by_op(const struct msg_batch *b, const struct msg_chan *c)
{
    const struct stream_op op = {
        .kind = STREAM_GET, .call = b->where->call, .pe = core_world.my_pe,
        .dest = c->buf, .source = msg_slot_addr(c, c->landing, c->seq),
        .len = c->bytes
    };
    /* The waits are enqueued before it. */
    int rc = stream_step_batch_flush(b->where, &b->queue->steps);

    return rc ? rc : stream_start_one(b->where, b->queue, &op, b->parts);
}

int msg_copy_slot(const struct msg_batch *b, struct msg_chan *c)
{
    struct steps *s = &b->queue->steps;

    if (!c->slots)
        return 0;
    if (!c->dev_peer_counters)
        return copy_by_op(b, c);
    stream_step_batch_put(s, c->buf, msg_slot_addr(c, c->dev_landing, c->seq),
                          c->bytes, NULL, c->seq);
    s->ops++;
    return 0;
}

void msg_finish_slot(const char *call, struct msg_chan *c)
{
    (void)call;
    if (c->slots && c->bytes)
        core_copy(c->buf, msg_slot_addr(c, c->landing, c->seq), c->bytes);
}

/* ---- addresses ---- */

/* Other counters or slots of a segment are where the first one's address says:
 * all of a segment is mapped in one piece. */
void msg_open_put(struct msg_chan *c, const struct msg_ctrl *m)
{
    size_t bytes = c->slots ? c->slots * c->slot_size : c->bytes;
    struct msg_counters *counters;

    (void)m;
    if (!c->dev_counters)
        return;
    counters = (void *)stream_device_address_amo(c->pe, c->peer_counters,
                                              sizeof *counters);
    c->dev_landing = (void *)stream_device_address(
        c->sends ? c->pe : core_world.my_pe, c->landing, bytes);
    if (!c->bytes ||
        (c->dev_landing && stream_device_reaches(c->buf, c->bytes)))
        c->dev_peer_counters = counters;
}
