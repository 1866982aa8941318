/* SPDX-License-Identifier: BSD-3-Clause */
/* msg_int.h - channels and protocols, for the files of this layer.
 *
 * A channel is a matched send and receive; struct msg_chan is this PE's end.
 * One start of both ends is an iteration and moves one message.  Iterations
 * count from 1 (c->seq), and each counter of struct msg_counters only grows to
 * such a number: iteration k has completed when the counter that the protocol
 * names is k or more.  Both ends keep their counters, and the receiver its
 * landing slots, until both ends are freed: see msg_match.c.
 *
 * The receiver selects the protocol when the two are matched (msg_select.c):
 *
 *   ready      a put to the buffer; the sender knows that the receiver started
 *   eager      a put to one of two slots, which the receiver's wait copies out
 *   peer copy  on one node: the stream that comes second moves the data
 *   trig       a put by the NIC once both ends have started
 *   rndv       the same by the progress thread of the sender
 *   one-shot   the same for a channel of one iteration
 *   part       several puts, each by a trigger or a kernel: see part/part.h
 *
 * A receive buffer that is not symmetric has a slot in its place, and the wait
 * copies it out. */
#ifndef MSG_MSG_INT_H
#define MSG_MSG_INT_H

#include "base/list.h"
#include "base/lock.h"
#include "base/trace.h"
#include "msg/msg.h"
#include "stream/queue/stream_queue.h"
#include "stream/ring/stream_ring.h"

struct msg_ctrl;
struct part;

/* Counters that the partner writes, in the heap's pool.  Two take turns for
 * arrivals, since signals between nodes may overtake each other. */
struct msg_counters {
    uint64_t arrived[2];        /* receiver: the last of these iterations */
    uint64_t turns;             /* receiver, peer copy: two per iteration */
    uint64_t released;          /* sender: iterations out of their slots */
    uint64_t started;           /* sender: iterations the receiver started */
    uint64_t sent;              /* sender: iterations whose buffer is free */
    uint64_t turn_was;          /* peer copy: this end's, for gtl */
};

/* In the order of their counts in SHMEM_STATS. */
enum msg_proto_id {
    MSG_PROTO_READY, MSG_PROTO_EAGER, MSG_PROTO_PEER_COPY, MSG_PROTO_TRIG,
    MSG_PROTO_RNDV, MSG_PROTO_ONE_SHOT, MSG_PROTO_PART, MSG_PROTOS
};

/* A new channel becomes RTS_SENT at the sender alone; then MATCHED, or FAILED
 * where it gets no partner. */
enum msg_chan_state {
    MSG_CHAN_NEW,
    MSG_CHAN_RTS_SENT,          /* the sender waits for the RTR */
    MSG_CHAN_MATCHED,
    MSG_CHAN_FAILED             /* it has no partner: see error */
};

struct msg_chan {
    /* Fields that each iteration reads, side by side. */
    enum msg_chan_state state;  /* atomic */
    bool sends, ready, one_shot;
    bool requested;             /* the program matches it */
    bool peer_freed;            /* atomic: the partner's end is freed */
    bool buf_freed;
    enum msg_proto_id proto;
    int pe;                     /* -1: a partitioned collective, pcoll.h */
    unsigned slots;
    uint64_t seq;               /* the last iteration that was started */
    char *buf;
    size_t bytes;               /* of a message */
    struct msg_counters *counters;    /* this PE's */
    /* As this PE's device reaches them, or NULL: its own counters; and, where
     * the device does all of an iteration, the partner's, and the landing. */
    struct msg_counters *dev_counters, *dev_peer_counters;
    char *dev_landing;
    size_t slot_size;           /* of each landing slot; slots 0: */
    char *landing;              /* in the receiver's buffer */
    struct msg_counters *peer_counters;       /* for operations on that PE */
    struct gtl_peer_copy copies[2]; /* peer copy: of even, odd iterations */
    struct xport_trig *trig;    /* trig: the sender's two-input trigger, */
    uint64_t trig_at;           /* and where it is */
    struct stream_errors *errors;       /* of the ring that started it */
    struct part *part;          /* part/part.h; NULL: it is not partitioned */

    struct list_link link;      /* of all channels, for the end */
    int tag;
    int error;
    uint64_t team;              /* 0: it is the program's */
    uint32_t number;            /* of those for that PE and tag */
    bool freed;                 /* this end is */
    bool warned;                /* of ready sends before their receives */
    bool offered;               /* receive: it has looked for its sender */
    bool reached;               /* one-shot receive: the stream has */
    unsigned long error_turn;   /* of its error among its ring's */
    size_t len;                 /* of buf */
    size_t counters_size;       /* bytes, of all that counters has */
    struct msg_chan *next;      /* in the table of receives without a sender */
    uint64_t handle, peer_handle;
    uint64_t peer_last;         /* the partner's last iteration, if freed */
    /* Of the progress thread: see proto_rndv.c. */
    struct stream_task task;
    struct msg_transfer {
        uint64_t seq;
        bool issued;            /* all of the put is */
        bool by_nic;            /* the NIC puts it */
        struct stream_op_state put;
    } transfer;
};

/* ---- msg_trace.c: in a trace ---- */
/* A state of an end, or of its iteration seq. */
void msg_trace(const struct msg_chan *c, const char *what, enum trace_role role,
               uint64_t seq) __attribute__((cold));
/* Its iteration has started. */
void msg_trace_start(const struct msg_chan *c) __attribute__((cold));
/* The same of n bytes of the program's partition. */
void msg_trace_partition(const struct msg_chan *c, const char *what,
                         int partition, size_t bytes) __attribute__((cold));

#define MSG_TRACE(c, what, role, seq)                                       \
    do {                                                                    \
        if (trace_is_on())                                                  \
            msg_trace(c, what, role, seq);                                  \
    } while (0)
#define MSG_TRACE_PARTITION(c, what, partition, bytes)                      \
    do {                                                                    \
        if (trace_is_on())                                                  \
            msg_trace_partition(c, what, partition, bytes);                 \
    } while (0)

static inline enum msg_chan_state msg_chan_state(const struct msg_chan *c)
{
    /* acquire: with it comes what the match has found. */
    return __atomic_load_n(&c->state, __ATOMIC_ACQUIRE);
}

static inline uint64_t *msg_arrived_counter(struct msg_counters *w,
                                            uint64_t seq)
{
    return &w->arrived[seq % 2];
}

/* The landing of that iteration, from where the slots begin. */
static inline char *msg_slot_addr(const struct msg_chan *c, char *landing,
                                  uint64_t seq)
{
    return c->slots ? landing + seq % c->slots * c->slot_size : landing;
}

/* Where the i-th of n parts of `all` begins; the last ones may be one shorter. */
static inline size_t msg_part_at(size_t all, size_t n, size_t i)
{
    size_t longer = all % n;

    return i * (all / n) + (i < longer ? i : longer);
}

/* The requests of messages: msg_req.c. */
extern hidden const struct stream_req_ops msg_req_ops;
/* Functions that part_req_ops shares with it. */
int msg_req_check_start(const struct stream_where *w, const struct req *r,
                        int i);
/* The PE that has freed its end of r, so that no further start of it can
 * complete; -1 if there is none. */
int msg_req_freed_by(const struct req *r);
int msg_req_error(const char *call, struct req *r, struct stream_errors *e);
const char *msg_req_busy(const struct req *r);
void msg_req_name(const struct req *r, char *text, size_t size);
/* For counters that the device does not reach, or may not wait for. */
int msg_wait_by_host(const struct stream_where *w, const struct msg_chan *c,
                     const uint64_t *counters, size_t n, uint64_t least);

/* ---- msg_select.c ---- */
/* Sets the protocol and the landing of that receive: 0 or -ENOSPC. */
int msg_select_proto(struct msg_chan *r, const struct msg_ctrl *rts);
/* n landing slots in the pool, or, 0, the buffer.  False: there is no room. */
bool msg_alloc_slots(struct msg_chan *r, unsigned n);

/* ---- msg_chan.c ---- */
/* Guards the channels' matching, the control channel and the table. */
extern hidden struct base_lock msg_lock;
/* It has no partner yet, and is in no list: 0 or -errno, logged. */
int msg_chan_create(const struct msg_args *a, struct msg_chan **out);
void msg_chan_delete(struct msg_chan *c);
void msg_chan_list(struct msg_chan *c) REQUIRES(msg_lock);
/* It leaves its list, and its memory is given back; its trigger is closed. */
void msg_chan_release(struct msg_chan *c) REQUIRES(msg_lock);
/* Does a new one wait for a call that matches?  Sends do, and receives whose
 * transport partitions the program may still reduce. */
static inline bool msg_chan_is_silent(const struct msg_chan *c)
{
    return c->sends ? !c->one_shot : c->part && !c->team;
}
/* It has sent its RTS, or has been offered, or does neither: it is in the list of
 * all. */
void msg_chan_set_announced(struct msg_chan *s) REQUIRES(msg_lock);
/* One that has not, or NULL. */
struct msg_chan *msg_chan_first_silent(void) REQUIRES(msg_lock);
/* Each end of this PE's, while none is made and none released.  False: wait is
 * not set, another thread uses them, and nothing was visited. */
typedef void msg_chan_visitor(struct msg_chan *c, void *arg);
bool msg_chan_visit(bool wait, msg_chan_visitor *visit, void *arg);
/* All go; messages that nothing has received are reported. */
void msg_chans_close(void) REQUIRES(msg_lock);

/* ---- msg_match.c ---- */
/* A new channel joins those that wait for their partners: 0 or -ENOMEM. */
int msg_match_enter(struct msg_chan *c);
/* The program does not use it any more; its memory stays until the partner's
 * end is freed, too. */
void msg_chan_free(struct msg_chan *c);
/* The program wants it matched. */
void msg_chan_request_match(const char *call, struct msg_chan *c);
/* Also matches what the program has not asked for yet, or two PEs would wait for
 * each other's messages to be matched first. */
void msg_announce_all(void);
/* One-shot receive: its stream has come to it, so its sender may put. */
void msg_chan_recv_reached(struct msg_chan *c);

/* Reads and sends control messages as far as can be done at once, for a caller
 * that comes again. */
void msg_progress(const char *call);
/* The same, and leaves the rest to the progress thread. */
void msg_progress_or_defer(const char *call);
/* The same, but first gives what was sent a moment to arrive. */
void msg_flush_ctrl(const char *call);
/* The same by the progress thread, at the cost of two loads where nothing is to
 * do.  True: soon again: messages found no room, or partners are sought. */
bool msg_poll(void);
/* Nothing is to be sent or matched any more: all channels go. */
void msg_match_close(void);

#endif
