/* SPDX-License-Identifier: BSD-3-Clause */
/* msg_proto.h - a protocol is a table of operations (proto_*.c), and what
 * several protocols share.  msg_req.c calls the tables, msg_match.c opens a
 * channel with one, msg_select.c selects it. */
#ifndef MSG_MSG_PROTO_H
#define MSG_MSG_PROTO_H

#include "msg/msg_int.h"

/* The start or the wait that operations are appended to. */
struct msg_batch {
    const struct stream_where *where;
    struct queue *queue;
    struct start_parts *parts;
};

/* One end's side of a protocol. */
struct msg_end_ops {
    /* Appends iteration seq to a start. */
    int (*start)(const struct msg_batch *b, struct msg_chan *c, uint64_t seq);
    /* The counter of this PE that says that iteration c->seq has completed, and
     * its least value then; NULL: the order of the stream is enough. */
    uint64_t *(*counter)(const struct msg_chan *c, uint64_t *least);
};

struct msg_proto {
    const char *matched;        /* in a trace, when a match has selected it */
    bool ready, one_shot;       /* those of its sends are */
    struct msg_end_ops send, recv;
    /* Of a receiver, behind the stream's wait for its counter: copies the
     * message out of its slot; and then, behind all copies, reports to the
     * sender that the slot is free. */
    int (*copy_out)(const struct msg_batch *b, struct msg_chan *c);
    int (*release)(const struct msg_batch *b, struct msg_chan *c);
    /* Both by the host, which has waited in the stream's place. */
    void (*finish)(const char *call, struct msg_chan *c);
    /* When the two are matched: takes what the protocol needs of the partner's
     * RTS or RTR. */
    void (*open)(struct msg_chan *c, const struct msg_ctrl *m);
    /* May an RTR say so to this sender of that kind, by what its RTS has
     * offered? */
    bool (*offered)(const struct msg_chan *s, const struct msg_ctrl *rtr);
};
extern hidden const struct msg_proto msg_proto_ready, msg_proto_eager,
    msg_proto_peer_copy, msg_proto_trig, msg_proto_rndv, msg_proto_one_shot,
    msg_proto_part;
extern hidden const struct msg_proto *const msg_protos[MSG_PROTOS];
extern hidden const struct stream_task_ops msg_task_ops;

static inline const struct msg_end_ops *msg_ops(const struct msg_chan *c)
{
    const struct msg_proto *p = msg_protos[c->proto];

    return c->sends ? &p->send : &p->recv;
}

/* A one-shot message has its protocol from the start, and the threads that
 * start it and wait for it read it meanwhile. */
static inline void msg_set_proto(struct msg_chan *c, enum msg_proto_id proto)
{
    if (c->proto != proto)
        c->proto = proto;
}

/* ---- msg_proto.c: functions that several protocols share ---- */
int msg_start_nothing(const struct msg_batch *b, struct msg_chan *c,
                      uint64_t seq);
int msg_copy_nothing(const struct msg_batch *b, struct msg_chan *c);
void msg_finish_nothing(const char *call, struct msg_chan *c);
void msg_open_nothing(struct msg_chan *c, const struct msg_ctrl *m);
bool msg_offered_always(const struct msg_chan *s, const struct msg_ctrl *rtr);
/* The sender's start of ready and eager: a put and its signal. */
int msg_start_put(const struct msg_batch *b, struct msg_chan *c, uint64_t seq);
/* The same operation for another executor. */
struct stream_op msg_put_op(const struct msg_chan *c, const char *call,
                            uint64_t seq);
/* A signal to a counter of the partner. */
int msg_start_signal(const struct msg_batch *b, const struct msg_chan *c,
                     struct stream_signal signal);
uint64_t *msg_no_counter(const struct msg_chan *c, uint64_t *least);
uint64_t *msg_sent_counter(const struct msg_chan *c, uint64_t *least);
uint64_t *msg_recv_counter(const struct msg_chan *c, uint64_t *least);
int msg_copy_slot(const struct msg_batch *b, struct msg_chan *c);
void msg_finish_slot(const char *call, struct msg_chan *c);
/* The addresses that the device puts to: ready and eager. */
void msg_open_put(struct msg_chan *c, const struct msg_ctrl *m);

/* ---- proto_peer_copy.c ---- */
/* A MSG_RTS_PEER_COPY for each segment in which the receiver's buffer may be,
 * for the RTS of that send. */
uint32_t msg_peer_copy_segments(const struct msg_chan *s);
/* Do both devices reach both buffers? */
bool msg_peer_copy_usable(const struct msg_chan *r, const struct msg_ctrl *rts);

/* ---- proto_trig.c ---- */
/* For a send that may have to wait for its receive: true if it has got one. */
bool msg_trig_open(struct msg_chan *c);
void msg_trig_close(struct msg_chan *c);

/* ---- proto_rndv.c ---- */
/* The progress thread is to do that iteration of either end. */
int msg_start_transfer(const struct msg_batch *b, struct msg_chan *c,
                       uint64_t seq, bool by_nic);
/* Until the progress thread has let a completed one-shot message go. */
void msg_transfer_await(const char *call, const struct msg_chan *c);

#endif
