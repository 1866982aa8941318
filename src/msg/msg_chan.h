/* SPDX-License-Identifier: BSD-3-Clause */
/* msg_chan.h - channels: a send and a receive that found each other.
 *
 * A round of a channel is one message.  Round k is a put to where it lands
 * and a store of k to one of the receiver's two words `arrived`, which take
 * turns: so two rounds may be under way.  Where it lands, the receiver says
 * when the two are matched, by one of these ways:
 *
 *   READY  in the buffer; the sender knows that it may
 *   EAGER  in one of two slots, from where the receiver's wait copies it; the
 *          sender's wait for round k sees that round k - 1 has left its slot,
 *          as the receiver tells then or, far away, when it starts round k
 *   PAIR   in the buffer, on one node where both devices reach both buffers
 *          and the words: of the two streams that which comes second moves
 *          the data
 *   GATE   in the buffer, by the NIC, which puts when both have started
 *   MEET   the same by the sender's agent
 *
 * A buffer that is not symmetric is stood in for by a slot that the wait
 * copies out.  Both ends keep their words, and the receiver its slots, until
 * both are freed: see msg_match.c. */
#ifndef MSG_MSG_CHAN_H
#define MSG_MSG_CHAN_H

#include "base/list.h"
#include "stream/stream_int.h"

/* What the partner writes, in the heap's pool. */
struct msg_words {
    uint64_t arrived[2];        /* at the receiver: the last of these rounds */
    uint64_t turns;             /* at the receiver, PAIR: two for each round */
    uint64_t taken;             /* at the sender: rounds out of their slots */
    uint64_t go;                /* at the sender: rounds the receiver started */
    uint64_t sent;              /* at the sender: rounds whose buffer is free */
    uint64_t was;           /* PAIR: this end's own, see struct gtl_peer_copy */
};

enum msg_proto {
    MSG_PROTO_READY,
    MSG_PROTO_EAGER,
    MSG_PROTO_PEER_COPY,
    MSG_PROTO_TRIG,
    MSG_PROTO_RNDV
};
enum msg_chan_state {
    MSG_CHAN_NEW,
    MSG_CHAN_RTS_SENT,                 /* a sender's: it waits for an answer */
    MSG_CHAN_MATCHED,
    MSG_CHAN_FAILED                 /* it has no partner: see error */
};

struct msg_chan {
    /* What each round looks at, side by side. */
    enum msg_chan_state state;      /* atomic */
    bool sends, ready, once;
    bool wanted;                /* the program matches it */
    bool gone;                  /* atomic: the partner's end is freed */
    bool freed;                 /* its buffer is */
    enum msg_proto how;
    int pe;
    unsigned slots;
    uint64_t round;             /* the last that was started */
    char *buf;
    size_t bytes;               /* of a message */
    struct msg_words *words;   /* this PE's */
    /* As the device reaches them, or NULL: what the partner writes here; and,
     * of PAIR, and of READY and EAGER if it does the whole of a round itself,
     * the partner's words and where messages land. */
    struct msg_words *mine, *theirs;
    char *lands;
    size_t step;                /* so far apart, in slots; slots 0: */
    char *land;                 /* in the receiver's buffer */
    struct msg_words *there;   /* the partner's, for operations on that PE */
    struct gtl_peer_copy pairs[2];   /* PAIR: of even and of odd rounds */
    struct xport_trig *gate;    /* GATE: the sender's, */
    uint64_t gate_at;           /* and where it is */
    struct stream_errors *failed;       /* of the queue that started it */

    struct list_link link;      /* of all, for the end */
    int tag;
    int error;
    uint64_t team;              /* 0: it is the program's */
    uint32_t number;            /* of those for that PE and tag */
    bool left;                  /* it is freed here */
    bool hasty;                 /* its ready sends come too early, told */
    bool reached;               /* once, a receive: the stream has come to it */
    unsigned long counted;      /* its error is one of its queue's: the turn */
    size_t len;                 /* of buf */
    struct msg_chan *next;         /* of receives that wait for their senders */
    uint64_t mine_at, yours;    /* handles: its own, and the partner's there */
    uint64_t last;              /* its last round, when it is gone */
    /* The agent's: proto_rndv.c. */
    struct {
        struct msg_chan *next;
        const char *call;
        uint64_t round;
        bool put, watch;        /* all of it; the NIC does it */
        struct stream_op_state part;
    } send;
};

static inline enum msg_chan_state msg_chan_state(const struct msg_chan *c)
{
    /* acquire: with it comes what the match found out. */
    return __atomic_load_n(&c->state, __ATOMIC_ACQUIRE);
}

/* The word that a round's arrival is told by. */
static inline uint64_t *msg_arrived_word(struct msg_words *w, uint64_t round)
{
    return &w->arrived[round % 2];
}

/* In land, or wherever else that is. */
static inline char *msg_slot_addr(const struct msg_chan *c, char *land,
                                  uint64_t round)
{
    return c->slots ? land + round % c->slots * c->step : land;
}

/* ---- msg_select.c ---- */
/* SHMEM_ST_EAGER unless it is set: see docs/ARCHITECTURE.md. */
enum { MSG_EAGER_ON_NODE = 4096, MSG_EAGER_OFF_NODE = 8192 };
/* Bytes up to which messages go by EAGER, of this node and of others: what a
 * match looks at.  msg_env_check() reads them. */
struct msg_eager_limit {
    size_t near, far;
};
extern hidden struct msg_eager_limit msg_eager_limit;
struct msg_ctrl;
/* For what a sender's note says, with the slots for it: -ENOSPC. */
int msg_select_proto(struct msg_chan *r, const struct msg_ctrl *n);
/* What a sender's note says of PAIR: a MSG_RTS_PEER_COPY for each segment in
 * which the receiver's buffer may be. */
uint32_t msg_peer_copy_flags(const struct msg_chan *s);
/* Of a sender that may have to wait for its receiver: true if it has one. */
bool msg_chan_open_trigger(struct msg_chan *c);
void msg_chan_close_trigger(struct msg_chan *c);
/* What the device reaches of one that is matched. */
void msg_chan_map_peer(struct msg_chan *c);
/* Slots for so many messages.  False: there is no room. */
bool msg_chan_alloc_slots(struct msg_chan *r, unsigned n);

/* ---- msg_match.c ---- */
/* Of all, before the NIC's queues go; channels go in msg_close(). */
void msg_close_triggers(void);
/* 0 or -errno, logged. */
int msg_chan_create(const struct msg_args *a, struct msg_chan **out);
/* Nobody uses it any more; its memory goes when the partner's end has. */
void msg_chan_free(struct msg_chan *c);
/* The program wants it matched. */
void msg_chan_request_match(const char *call, struct msg_chan *c);
/* So do those that it has not asked for yet. */
void msg_send_all_rts(void);
/* Reads the notes that came and sends those that wait, as far as that can be
 * done at once: for a caller that comes again. */
void msg_progress(const char *call);
/* The same, and leaves the rest to the agent. */
void msg_progress_or_defer(const char *call);
/* The same, but first it gives what was sent a moment to get there. */
void msg_flush_ctrl(const char *call);
/* The same by the agent, at the cost of two loads where nothing is to do.
 * True: soon again: notes found no room, or partners are sought. */
bool msg_poll(void);
/* Once, a receive: the stream has come to it, so its sender may put. */
void msg_chan_recv_reached(struct msg_chan *c);
/* Each end of this PE's, while none is made and none goes.  False: it does not
 * wait, another thread is at them, and nothing was visited. */
typedef void msg_chan_visitor(struct msg_chan *c, void *arg);
bool msg_chan_visit(bool waits, msg_chan_visitor *visit, void *arg);
/* Does that PE send what nobody here receives?  Its tag, and whether it is used
 * once.  False also where that is not known just now. */
bool msg_find_unexpected(int pe, int *tag, bool *once);

/* ---- stream_describe.c ---- */
/* Who waits for that word waits for a message: what to call it.  False: it is
 * none's, or that is not known just now. */
bool msg_describe_word(const void *word, char *text, size_t size);
/* Adds what that PE sends and nobody receives, if anything. */
void msg_describe_unexpected(int pe, char *text, size_t size);

/* ---- msg_start.c: rounds of a channel that is matched ---- */
struct queue;
struct start_parts;
/* SHMEM_CHECK, before anything of a start is enqueued: a ready send comes
 * behind the start of its receive; of those that came earlier this sees what
 * is there now. */
void msg_check_ready_send(const char *call, struct msg_chan *c);
/* The next one. */
int msg_start(const struct stream_where *w, struct queue *q, struct msg_chan *c,
              struct start_parts *parts);
/* Has the last one come, as far as words tell? */
bool msg_completed(const struct msg_chan *c);
/* For the host's wait for that. */
struct core_waiter msg_waiter(const char *call, const struct msg_chan *c,
                               void *stream);
/* Then the host does what would be behind a stream's wait. */
void msg_finish(const char *call, struct msg_chan *c);
/* Used once and over: until the agent has let it go. */
void msg_wait_released(const char *call, const struct msg_chan *c);
/* The stream waits for it. */
int msg_enqueue_wait(const struct stream_where *w, struct queue *q,
                     const struct msg_chan *c);
/* And then, behind the waits for all: what lies in slots is copied; and
 * senders are told, once that has ended, that their slots are free. */
int msg_enqueue_copy_out(const struct stream_where *w, struct queue *q,
                         struct msg_chan *c, struct start_parts *parts);
int msg_enqueue_slot_release(const struct stream_where *w, struct queue *q,
                             struct msg_chan *c, struct start_parts *parts);

/* ---- proto_rndv.c: by the agent, or on a thread of the software device ----
 */
/* The stream has come to that round, of MEET. */
void msg_rndv_post(const struct stream_op *op);
/* By who holds the queue: did anything come of it? */
bool msg_rndv_progress(struct stream_ring *q);

#endif
