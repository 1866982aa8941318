/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_chan.h - channels: a send and a receive that found each other.
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
 * both are freed: see stream_match.c. */
#ifndef STREAM_STREAM_CHAN_H
#define STREAM_STREAM_CHAN_H

#include "base/list.h"
#include "stream/stream_int.h"

/* What the partner writes, in the heap's pool. */
struct chan_words {
    uint64_t arrived[2];        /* at the receiver: the last of these rounds */
    uint64_t turns;             /* at the receiver, PAIR: two for each round */
    uint64_t taken;             /* at the sender: rounds out of their slots */
    uint64_t go;                /* at the sender: rounds the receiver started */
    uint64_t sent;              /* at the sender: rounds whose buffer is free */
    uint64_t was;               /* PAIR: this end's own, see struct gtl_pair */
};

enum chan_how { CHAN_READY, CHAN_EAGER, CHAN_PAIR, CHAN_GATE, CHAN_MEET };
enum chan_state {
    CHAN_NEW,
    CHAN_ASKED,                 /* a sender's: it waits for an answer */
    CHAN_MATCHED,
    CHAN_BROKEN                 /* it has no partner: see error */
};

struct chan {
    /* What each round looks at, side by side. */
    enum chan_state state;      /* atomic */
    bool sends, ready, once;
    bool wanted;                /* the program matches it */
    bool gone;                  /* atomic: the partner's end is freed */
    bool freed;                 /* its buffer is */
    enum chan_how how;
    int pe;
    unsigned slots;
    uint64_t round;             /* the last that was started */
    char *buf;
    size_t bytes;               /* of a message */
    struct chan_words *words;   /* this PE's */
    /* As the device reaches them, or NULL: what the partner writes here; and,
     * of PAIR, and of READY and EAGER if it does the whole of a round itself,
     * the partner's words and where messages land. */
    struct chan_words *mine, *theirs;
    char *lands;
    size_t step;                /* so far apart, in slots; slots 0: */
    char *land;                 /* in the receiver's buffer */
    struct chan_words *there;   /* the partner's, for operations on that PE */
    struct gtl_pair pairs[2];   /* PAIR: of even and of odd rounds */
    struct xport_trig *gate;    /* GATE: the sender's, */
    uint64_t gate_at;           /* and where it is */
    struct stream_failed *failed;       /* of the queue that started it */

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
    struct chan *next;          /* of receives that wait for their senders */
    uint64_t mine_at, yours;    /* handles: its own, and the partner's there */
    uint64_t last;              /* its last round, when it is gone */
    /* The agent's: stream_send.c. */
    struct {
        struct chan *next;
        const char *call;
        uint64_t round;
        bool put, watch;        /* all of it; the NIC does it */
        struct stream_part part;
    } send;
};

static inline enum chan_state chan_state(const struct chan *c)
{
    /* acquire: with it comes what the match found out. */
    return __atomic_load_n(&c->state, __ATOMIC_ACQUIRE);
}

/* The word that a round's arrival is told by. */
static inline uint64_t *chan_arrived(struct chan_words *w, uint64_t round)
{
    return &w->arrived[round % 2];
}

/* In land, or wherever else that is. */
static inline char *chan_slot(const struct chan *c, char *land, uint64_t round)
{
    return c->slots ? land + round % c->slots * c->step : land;
}

/* ---- stream_way.c ---- */
/* SHMEM_ST_EAGER unless it is set: see docs/ARCHITECTURE.md. */
enum { CHAN_EAGER_NEAR = 4096, CHAN_EAGER_FAR = 8192 };
/* Bytes up to which messages go by EAGER, of this node and of others: what a
 * match looks at.  stream_env_check() reads them. */
struct chan_eager {
    size_t near, far;
};
extern hidden struct chan_eager chan_eager;
struct mail_note;
/* For what a sender's note says, with the slots for it: -ENOSPC. */
int chan_decide(struct chan *r, const struct mail_note *n);
/* What a sender's note says of PAIR: a MAIL_PAIRS for each segment in which the
 * receiver's buffer may be. */
uint32_t chan_can_pair(const struct chan *s);
/* Of a sender that may have to wait for its receiver: true if it has one. */
bool chan_open_gate(struct chan *c);
void chan_close_gate(struct chan *c);
/* What the device reaches of one that is matched. */
void chan_find_near(struct chan *c);
/* Slots for so many messages.  False: there is no room. */
bool chan_take_slots(struct chan *r, unsigned n);

/* ---- stream_match.c ---- */
/* Of all, before the NIC's queues go; channels go in stream_forget(). */
void chan_close_gates(void);
/* 0 or -errno, logged. */
int chan_make(const struct chan_args *a, struct chan **out);
/* Nobody uses it any more; its memory goes when the partner's end has. */
void chan_free(struct chan *c);
/* The program wants it matched. */
void chan_ask(const char *call, struct chan *c);
/* So do those that it has not asked for yet. */
void chan_ask_others(void);
/* Reads the notes that came and sends those that wait, as far as that can be
 * done at once: for a caller that comes again. */
void chan_drive(const char *call);
/* The same, and leaves the rest to the agent. */
void chan_progress(const char *call);
/* The same, but first it gives what was sent a moment to get there. */
void chan_settle(const char *call);
/* The same by the agent, at the cost of two loads where nothing is to do.
 * True: soon again: notes found no room, or partners are sought. */
bool chan_look(void);
/* Once, a receive: the stream has come to it, so its sender may put. */
void chan_reached(struct chan *c);
/* Each end of this PE's, while none is made and none goes.  False: it does not
 * wait, another thread is at them, and nothing was visited. */
typedef void chan_visitor(struct chan *c, void *arg);
bool chan_visit(bool waits, chan_visitor *visit, void *arg);
/* Does that PE send what nobody here receives?  Its tag, and whether it is used
 * once.  False also where that is not known just now. */
bool chan_unclaimed(int pe, int *tag, bool *once);

/* ---- stream_name.c ---- */
/* Who waits for that word waits for a message: what to call it.  False: it is
 * none's, or that is not known just now. */
bool chan_name(const void *word, char *text, size_t size);
/* Adds what that PE sends and nobody receives, if anything. */
void chan_name_unclaimed(int pe, char *text, size_t size);

/* ---- stream_round.c: rounds of a channel that is matched ---- */
struct batch;
struct parts;
/* SHMEM_CHECK, before anything of a start is enqueued: a ready send comes
 * behind the start of its receive; of those that came earlier this sees what
 * is there now. */
void chan_check_ready(const char *call, struct chan *c);
/* The next one. */
int chan_start(const struct stream_where *w, struct batch *q, struct chan *c,
               struct parts *parts);
/* Has the last one come, as far as words tell? */
bool chan_over(const struct chan *c);
/* For the host's wait for that. */
struct core_waiter chan_waiter(const char *call, const struct chan *c,
                               void *stream);
/* Then the host does what would be behind a stream's wait. */
void chan_finish(const char *call, struct chan *c);
/* Used once and over: until the agent has let it go. */
void chan_leave_agent(const char *call, const struct chan *c);
/* The stream waits for it. */
int chan_wait(const struct stream_where *w, struct batch *q,
              const struct chan *c);
/* And then, behind the waits for all: what lies in slots is copied; and
 * senders are told, once that has ended, that their slots are free. */
int chan_copy_out(const struct stream_where *w, struct batch *q,
                  struct chan *c, struct parts *parts);
int chan_give_back(const struct stream_where *w, struct batch *q,
                   struct chan *c, struct parts *parts);

/* ---- stream_send.c: by the agent, or on a thread of the software device ---- */
/* The stream has come to that round, of MEET. */
void stream_send_reached(const struct stream_op *op);
/* By who holds the queue: did anything come of it? */
bool stream_sends_advance(struct stream_queue *q);

#endif
