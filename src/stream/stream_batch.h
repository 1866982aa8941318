/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_batch.h - queues and requests, for what is done with either. */
#ifndef STREAM_STREAM_BATCH_H
#define STREAM_STREAM_BATCH_H

#include "base/list.h"
#include "stream/stream_handle.h"
#include "stream/stream_coll.h"
#include "stream/stream_gather.h"
#include "stream/stream_int.h"

enum req_state {
    IDLE,                       /* may be started */
    STAGED,                     /* the next start uses it up */
    STARTED,
    WAITED                      /* started, and the stream waits for it */
};

/* What tells of a start's end, and the number that it is then past: words of
 * the queue's, or the stream's place, where that can be asked for. */
enum { BY_START, BY_TICKET, BY_FLAG, WAYS, BY_PLACE = WAYS };
struct mark {
    int way;
    uint64_t number;
    uint64_t armed;             /* with the NIC by then */
    uint64_t start;             /* which it is */
};

struct req {
    struct stream_handle handle;
    struct shmemx_queue *queue; /* that has it, or started it; it may be gone */
    enum req_state state;
    bool once;
    bool listed;                /* the start that is being made has it */
    bool own;                   /* the program has no handle of it */
    bool broken;                /* a start of it failed in the middle */
    /* Of a message: */
    struct msg_chan *chan;          /* or */
    struct coll *coll;
    /* A message's: of its queue's, see struct batch; else, of a persistent
     * one, of all such. */
    struct list_link link;
    struct mark mark;           /* of its last start, or of the wait for it */
    struct stream_op op;
    /* Of a match: until so many of these are. */
    struct shmemx_req **matches;
    int n_matches;
};

struct staged {
    struct stream_op op;
    struct req *req;            /* or NULL */
};

struct batch {
    struct stream_handle handle;
    bool recorded;              /* graphs have starts of it */
    bool broken;                /* a start failed in the middle */
    bool unknown;               /* then: nothing says what the stream holds */
    void *behind;               /* else: an event of the stream's, or NULL */
    void *stream;
    uint64_t owner;             /* as gtl_stream_owner() */
    struct stream_queue *queue;
    struct staged *staged;
    size_t n_staged, room;
    struct gather gather;       /* of the start or wait that is being made */
    struct req **these;         /* what that is of */
    size_t these_room;
    uint64_t last[WAYS];
    uint64_t waited[WAYS];      /* that the stream waits for */
    uint64_t starts, past;      /* so many; for so many there is a wait */
    uint64_t place;             /* behind the last one of BY_PLACE */
    /* Messages that were started and that nobody waits for yet; and those
     * without a handle that the stream waits for. */
    struct list_link sent, fading;
};

/* Whose part a start has. */
struct parts {
    bool nic, agent;
    bool words;                 /* and words tell how it ends */
};

extern hidden struct stream_handles stream_batches, stream_reqs;

/* ---- stream_start.c ---- */
/* NULL, told: there is none at that place. */
struct req *stream_req_at(const char *call, struct shmemx_req *reqs[], int i);
/* The device does it in its stream, or it is a part of what is being made. */
int stream_start_one(const struct stream_where *w, struct batch *q,
                     const struct stream_op *op, struct parts *parts);
/* By the agent.  There is room. */
void stream_arm_part(const struct stream_where *w, struct batch *q,
                     const struct stream_op *op, struct parts *parts);

/* On w->stream, whatever the queue's is: these operations, or these requests,
 * or what was started of the queue or of these.  The program's calls are checked
 * before. */
int stream_start_staged(const struct stream_where *w, struct batch *q,
                        const struct staged *these, size_t n);
int stream_start_these(const struct stream_where *w, struct batch *q, int n,
                       struct shmemx_req *reqs[]);
int stream_wait_started(const struct stream_where *w, struct batch *q);
int stream_wait_these(const struct stream_where *w, struct batch *q, int n,
                      struct shmemx_req *reqs[]);

/* ---- stream_later.c: the same in launches of graphs ---- */
/* 1: the queue's stream records a graph, or graphs have starts of it; 0: a
 * start is made at once; else -errno, logged: the stream is none. */
int stream_batch_defers(const struct stream_where *w, const struct batch *q);
int stream_batch_start_later(const struct stream_where *w, struct batch *q);
int stream_batch_start_all_later(const struct stream_where *w, struct batch *q,
                                 int n, struct shmemx_req *reqs[]);
int stream_batch_wait_later(const struct stream_where *w, struct batch *q);
int stream_batch_wait_all_later(const struct stream_where *w, struct batch *q,
                                int n, struct shmemx_req *reqs[]);

/* Those of q->fading that the stream has come past go. */
void stream_batch_fade(struct batch *q);

/* ---- stream_req.c ---- */
/* q: NULL for a persistent one; out NULL: the queue's own. */
int stream_req_make(const char *call, struct batch *q,
                    const struct stream_op *op, struct shmemx_req **out);
/* A persistent one that is collective. */
int stream_req_of_coll(const char *call, struct coll *c,
                       struct shmemx_req **out);
static inline bool stream_req_is_message(const struct req *r)
{
    return r->chan || r->coll;
}
bool stream_req_ended(const struct req *r);
/* A message that was started: the host looks, or waits, in the stream's
 * place. */
void stream_req_complete(const char *call, struct req *r, bool waits);
/* Nobody uses it any more. */
void stream_req_drop(struct req *r);
/* What each persistent one is that is no message, while none is made or
 * freed. */
void stream_req_visit(void (*visit)(const struct stream_op *op, void *arg),
                      void *arg);
/* At the end, with all others. */
void stream_req_forget(struct req *r);

/* ---- msg_req.c ---- */
/* Of a match: is it over?  Its end and error, for which it is waited for. */
bool msg_match_completed(const char *call, struct req *r);
int msg_match_wait(const char *call, struct req *r);
void msg_match_free(struct req *r);
/* A line: which one it is, and what its error means. */
void msg_report_failed_match(const char *call, const char *which,
                           const struct msg_chan *c);

/* ---- stream_batch.c ---- */
int stream_batch_room(struct batch *q, size_t n);
bool stream_batch_ended(const struct batch *q, struct mark m);
int stream_batch_failed(const char *call, const struct batch *q);
/* The host waits; of a message, whose c is. */
void stream_batch_until(const char *call, const struct batch *q, struct mark m,
                        bool (*over)(const struct batch *q, struct mark m),
                        const struct msg_chan *c);
/* NULL: it is none, told. */
struct batch *stream_batch_of(const char *call, struct shmemx_queue *queue);
/* Is the stream to get anything more of it?  0, or -EIO, told. */
int stream_batch_works(const char *call, const struct batch *b);
/* -EINVAL: its stream is another thread's own. */
int stream_batch_here(const char *call, const struct batch *b);
/* May the stream still have some of a start that failed in the middle?  Nothing
 * but its end tells; one that was destroyed had ended. */
bool stream_batch_holds(const struct batch *q);
struct stream_where stream_batch_where(const char *call, const struct batch *b);
/* In the heap's pool. */
int stream_batch_no_room(const char *call, size_t bytes);
/* The word that tells how far they are; NULL: nothing of that kind was
 * started. */
uint64_t *stream_batch_word(const struct batch *b, int way);
/* What the NIC does it counts, in whatever order it ends: that a start has
 * ended its flag tells when the last one has. */
bool stream_batch_counted(const struct batch *b, struct mark m);
/* Operations that are never done. */
struct stream_left {
    unsigned long n;
    char first[112];            /* that is known, or "" */
};
/* No queue and no request lives longer than streams do.  Gives the operations
 * that waited for a start. */
struct stream_left stream_batch_drop_all(void);

/* ---- stream_name.c ---- */
/* "send to PE 1, tag 7" or "shmemx_put_init, PE 1", for a line about it. */
struct req_name {
    char text[80];
};
struct req_name stream_req_name(const struct req *r);
/* It is one; the caller counts. */
void stream_left_note(struct stream_left *l, const struct stream_op *op);
void stream_left_note_call(struct stream_left *l, const char *call, int pe);
/* The same of a message. */
void stream_left_note_message(struct stream_left *l, const char *call,
                              const struct msg_chan *c);
/* "2 operations were put into queues that no start followed, one of them
 * shmemx_enqueue_send, PE 1, tag 7: they are never done" and end, unless there
 * are none.  one, more: what is said of that many. */
void stream_left_tell(const struct stream_left *l, const char *one,
                      const char *more, const char *end);

/* Where a request was started.  A queue goes when all of it has ended, so NULL
 * says that the request has. */
static inline struct batch *stream_req_batch(const struct req *r)
{
    return stream_handle_find(&stream_batches, r->queue);
}

#endif
