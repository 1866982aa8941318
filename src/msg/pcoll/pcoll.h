/* SPDX-License-Identifier: BSD-3-Clause */
/* pcoll.h - partitioned collectives.
 *
 * Each partition of a request goes through the actions of a schedule
 * (pcoll_sched.h) by itself: pcoll_run.c, as the owner of a trigger, whose tags
 * are the partitions that become ready.
 *
 * For each member that it sends to or receives from, a request has a channel
 * (msg_int.h) of the partitioned protocol, whose counters are the messages'
 * arrivals.  The receiver puts a table of places where messages arrive into the
 * buffer of its end; the sender reads it once and adds where they come from. */
#ifndef MSG_PCOLL_PCOLL_H
#define MSG_PCOLL_PCOLL_H

#include "msg/part/part.h"
#include "msg/pcoll/pcoll_sched.h"

/* A message of each partition, as its receiver and its sender have it. */
struct pcoll_place {
    uint64_t offset, stride, bytes;
    uint64_t acks;              /* the sender's pcoll.acks, in the heap */
    int32_t seg;
    uint32_t flags;
};
enum { PCOLL_STAYS = 1, PCOLL_PULLS = 2 };

/* Another member, that messages go to or come from. */
struct pcoll_link {
    int member;
    bool out;
    int n;                      /* messages */
    struct msg_chan *chan;
    /* [n] each.  in: both in the pool; out: a copy. */
    struct pcoll_place *places, *sources;
};

/* A partition's way through the actions. */
struct pcoll_run {
    int at;                     /* the action */
    bool ended;
    uint64_t ready;             /* iterations */
    unsigned in_flight;         /* sends */
    size_t moved;               /* bytes of a local action */
    bool on_device;             /* the action runs there */
};

/* The calls for partitioned messages take it for a send: end.counters.sent is
 * its iterations that have ended. */
struct pcoll {
    struct msg_chan end;        /* first; of no partner, and in no table */
    const char *call;
    struct core_team *team;
    uint32_t number;
    struct pcoll_sched sched;   /* its own copy */
    char *base[PCOLL_BUFFERS];
    size_t nelems, size, each;  /* elements; bytes of one; of nelems */
    struct gtl_reduce what;     /* op, type */
    bool needs_ready;
    struct part part;           /* the end's: of a request that sends and
                                 * receives */
    struct part_counters *counters;     /* the end's; end.seq is atomic */
    uint64_t *acks;             /* [partitions], atomic: sends that others have
                                 * combined where they are; NULL: usual */
    int n_acks;                 /* so many in an iteration */
    char *room;                 /* for what is combined */
    int n_links;
    struct pcoll_link *links;
    struct shmemx_req **reqs;   /* [n_links]: their channels' */
    /* Under the trigger's lock. */
    struct trig *of;            /* part.trig */
    int n_sends;
    struct trig_op *sends;      /* [n_sends][partitions] */
    struct pcoll_run *runs;
    uint64_t iteration;         /* that runs, or has ended */
    int left, first;            /* partitions that have not ended; no lower one
                                 * than first */
    int next;                   /* the one to be looked at next, */
    int hint;                   /* but for this one, which is ready; or -1 */
    int unseen;                 /* atomic: so many are to be looked at before
                                 * none can go on */
    unsigned in_flight;
    /* Memory that the processor does not reach: a stream of its own combines. */
    void *stream;
    uint64_t *device_done;      /* [partitions]: that of pcoll_run.c */
};
_Static_assert(offsetof(struct pcoll, end) == 0,
               "the object of a request is its channel's end");

/* NULL: it is the end of a message's channel. */
static inline struct pcoll *pcoll_of_end(struct msg_chan *c)
{
    return c->pe < 0 ? list_entry(c, struct pcoll, end) : NULL;
}

/* Of a partition's piece: bytes; and where it is. */
static inline size_t pcoll_bytes(const struct pcoll *c, shmemx_piece_t p)
{
    size_t n = (size_t)c->sched.pieces[p.buffer], i = (size_t)p.piece;

    if (!n)
        return 0;
    return c->sched.blocks ? c->each
           : (msg_part_at(c->nelems, n, i + 1) -
              msg_part_at(c->nelems, n, i)) * c->size;
}

static inline char *pcoll_at(const struct pcoll *c, shmemx_piece_t p,
                             int partition)
{
    size_t n = (size_t)c->sched.pieces[p.buffer], i = (size_t)p.piece;
    char *at = c->base[p.buffer] + (size_t)partition * c->each;

    if (!n)
        return NULL;
    return at + (c->sched.blocks ? i * (size_t)c->part.n * c->each
                                 : msg_part_at(c->nelems, n, i) * c->size);
}

/* Bytes of all of a buffer. */
static inline size_t pcoll_extent(const struct pcoll *c, int buffer)
{
    size_t blocks = c->sched.blocks ? (size_t)c->sched.pieces[buffer]
                                    : c->sched.pieces[buffer] != 0;

    return blocks * (size_t)c->part.n * c->each;
}

/* ---- pcoll.c ---- */
/* wrong: 0, or why this member refuses, logged: then none gets a request. */
int pcoll_create(const struct pcoll_args *a, const struct pcoll_sched *s,
                 int wrong, struct shmemx_req **out);
void pcoll_delete(const char *call, struct pcoll *c);
/* Frees those that the program has left: their triggers are gone.  Before
 * msg_match_close(), which frees ends of channels. */
void pcoll_close(void);

/* ---- pcoll_link.c ---- */
/* Counts messages: links, numbers, sends.  -ENOMEM, logged. */
int pcoll_link_actions(struct pcoll *c);
/* The same number on all members together: 0 where each message that one sends
 * is one that its receiver receives. */
uint64_t pcoll_link_balance(const struct pcoll *c);
/* Messages to that member, or from it. */
uint64_t pcoll_link_count(const struct pcoll *c, int member, bool out);
/* This end of each channel. */
int pcoll_link_open(struct pcoll *c);
/* After the match, the first at the senders, the second after a synchronization.
 */
void pcoll_link_exchange(struct pcoll *c);
int pcoll_link_compare(struct pcoll *c);
/* The scratch memory that it needs for pieces to combine. */
size_t pcoll_link_room(const struct pcoll *c);
void pcoll_link_close(const char *call, struct pcoll *c);

/* ---- pcoll_run.c ---- */
extern hidden const struct trig_owner pcoll_owner;
/* Fills the sends. */
void pcoll_run_open(struct pcoll *c);
/* The text for a wait of the request; also in a signal handler. */
void pcoll_run_describe(const struct pcoll *c, char *text, size_t size);

/* ---- pcoll_req.c ---- */
extern hidden const struct stream_req_ops pcoll_req_ops;
/* For the calls of part_req.c, as data. */
extern hidden void (*const pcoll_start_by_host)(struct pcoll *c);

#endif
