/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_queue.h - queues and requests, for what is done with either. */
#ifndef STREAM_STREAM_QUEUE_H
#define STREAM_STREAM_QUEUE_H

#include "base/list.h"
#include "base/handle.h"
#include "stream/queue/stream_req_ops.h"
#include "stream/queue/stream_step_batch.h"
#include "stream/stream_int.h"

enum req_state {
    IDLE,                       /* may be started */
    STAGED,                     /* the next start uses it up */
    STARTED,
    WAITED                      /* started, and the stream waits for it */
};

/* Tokens of completed starts.  Each executor counts in the order
 * in which it completes, and one start may overtake another that a different
 * executor has, so a start is known by its executor's counter and the number
 * that this has reached by then: docs/decisions/072. */
enum {
    TOKEN_START,                /* the device stored the start's number */
    TOKEN_SEQUENCE,             /* the host completed its last operation */
    TOKEN_NIC_FLAG,             /* the NIC raised its flag behind the start */
    TOKEN_KINDS,
    TOKEN_POSITION = TOKEN_KINDS        /* the driver is past that position of
                                         * the stream: nothing was stored */
};
struct stream_token {
    int kind;
    uint64_t number;
    uint64_t posted;            /* operations posted to the NIC by then */
    uint64_t start;             /* the start's number in its queue */
};

struct req {
    struct handle handle;
    const struct stream_req_ops *ops;
    void *object;               /* of the layer above */
    struct shmemx_queue *queue; /* that has it, or started it; it may be gone */
    enum req_state state;
    bool once;
    bool listed;                /* the start that is being made has it */
    bool own;                   /* the program has no handle of it */
    bool broken;                /* a start of it failed in the middle */
    /* With words of its own: of its queue's, see struct queue; else, of a
     * persistent one, of all such. */
    struct list_link link;
    struct stream_token token;   /* of its last start, or of the wait for it */
    /* The queue of a deferred start or wait, and the number there of a wait
     * that names this request; 0: none does yet. */
    struct shmemx_queue *deferred_on;
    uint64_t deferred_wait;
    struct stream_op op;
};

struct staged_op {
    struct stream_op op;
    struct req *req;            /* or NULL */
};

struct queue {
    struct handle handle;
    bool recorded;              /* graphs have starts of it */
    bool broken;                /* a start failed in the middle */
    bool no_cancel_event;         /* then: nothing says what the stream holds */
    void *cancel_event;            /* else: an event of the stream's, or NULL */
    void *stream;
    uint64_t owner;             /* as gtl_stream_owner() */
    struct stream_ring *ring;
    struct staged_op *staged;
    size_t n_staged, room;
    struct steps steps;       /* of the start or wait that is being made */
    struct req **resolved;         /* what that is of */
    size_t resolved_room;
    uint64_t last[TOKEN_KINDS + 1];     /* of each kind, TOKEN_POSITION too */
    uint64_t waited[TOKEN_KINDS];      /* that the stream waits for */
    uint64_t starts, starts_waited;     /* the last start; the last one that
                                         * a wait was enqueued for */
    /* Starts and waits outside of graphs that the progress thread makes when the
     * stream gets there: numbers given, the last one that was enqueued, and the
     * last one that was made (atomic). */
    uint64_t deferrals, deferred, deferred_made;
    /* Messages that were started and that no call waits for yet; and those
     * without a handle that the stream waits for. */
    struct list_link outstanding, to_free;
};

extern hidden struct handle_table stream_queues, stream_reqs;

/* ---- stream_start.c ---- */
/* NULL, reported: there is none at that place. */
struct req *stream_req_at(const char *call, struct shmemx_req *reqs[], int i);
/* The device does it in its stream, or it is a part of what is being made. */
int stream_start_one(const struct stream_where *w, struct queue *q,
                     const struct stream_op *op, struct start_parts *parts);
/* That PE's word, as a part of a message: another executor than the stream may
 * do it. */
int stream_start_signal(const struct stream_where *w, struct queue *q,
                        struct stream_signal signal, int pe,
                        struct start_parts *parts);
/* By the progress thread.  There is room. */
void stream_start_on_host(const struct stream_where *w, struct queue *q,
                          const struct stream_op *op,
                          struct start_parts *parts);

/* On w->stream, whatever the queue's is: these operations, or these requests,
 * or what was started of the queue or of these.  The program's calls are
 * checked before. */
int stream_start_staged(const struct stream_where *w, struct queue *q,
                        const struct staged_op *these, size_t n);
typedef int stream_requests_call(const struct stream_where *w, struct queue *q,
                                 int n, struct shmemx_req *reqs[]);
stream_requests_call stream_start_requests, stream_wait_requests;
int stream_wait_started(const struct stream_where *w, struct queue *q);

/* ---- stream_graph_queue.c: the same in launches of graphs ---- */
/* 1: the queue's stream records a graph, or graphs have starts of it; 0: a
 * start is made at once; else -errno, logged: the stream is none. */
int stream_queue_recorded(const struct stream_where *w, const struct queue *q);
int stream_queue_record_start(const struct stream_where *w, struct queue *q);
/* what: of these n requests; or NULL, n is 0: the wait for all that was
 * started. */
int stream_queue_record(const struct stream_where *w, struct queue *q,
                        stream_requests_call *what, int n,
                        struct shmemx_req *reqs[]);

/* Frees those of q->to_free that the stream has come past; true: all.  waits:
 * for parts of these that still run, which the progress thread may not. */
bool stream_queue_reap(struct queue *q, bool waits);

/* ---- stream_req.c ---- */
/* A request with that object.  q: NULL for a persistent one, else it is one
 * operation of the next start; op: names it there, or NULL; out NULL: the
 * queue frees it. */
struct stream_req_args {
    struct queue *q;
    const struct stream_op *op;
    const struct stream_req_ops *ops;
    void *object;
};
/* Has the queue room for one more operation, and takes any? 0 or -errno, logged. */
int stream_req_may_stage(const char *call, struct queue *q);
int stream_req_create(const char *call, const struct stream_req_args *a,
                      struct shmemx_req **out);
bool stream_req_ended(const struct req *r);
/* A message that was started: the host looks, or waits, in the stream's
 * place. */
void stream_req_complete(const char *call, struct req *r, bool waits);
/* It is not used any more. */
void stream_req_release(struct req *r);
/* Visits each persistent one that is no message, while none is made or
 * freed. */
void stream_req_visit(void (*visit)(const struct stream_op *op, void *arg),
                      void *arg);
/* At the end, with all others. */
void stream_req_close(void *req);

/* ---- stream_queue.c ---- */
int stream_queue_reserve(struct queue *q, size_t n);
bool stream_token_completed(const struct queue *q, struct stream_token m);
/* The host waits; r: for that request, or NULL. */
void stream_queue_await(const char *call, const struct queue *q,
                        struct stream_token m,
                        bool (*over)(const struct queue *q,
                                     struct stream_token m),
                        const struct req *r);
/* The same until its deferred starts and waits are made; r: those of this
 * request. */
void stream_queue_await_deferred(const char *call, const struct queue *q,
                                 const struct req *r);
/* NULL: it is none, reported. */
struct queue *stream_queue_of(const char *call, struct shmemx_queue *queue);
/* Is the stream to get anything more of it?  0; else, reported, -EIO; -EINVAL:
 * its stream is another thread's own. */
int stream_queue_check(const char *call, const struct queue *b);
/* May the stream still have some of a start that failed in the middle?  Only
 * the completion of the stream answers that; a destroyed stream has completed.
 */
bool stream_queue_broken_pending(const struct queue *q);
struct stream_where stream_queue_where(const char *call, const struct queue *b);
/* In the heap's pool. */
int stream_no_pool_memory(const char *call, size_t bytes);
/* The counter of the starts that completed, by kind; NULL: none of that kind
 * was started. */
uint64_t *stream_queue_counter(const struct queue *b, int kind);
/* Is the NIC's counter behind it, which counts in any order of completion?
 * Then the flag of a start reports it only when the last operation has
 * completed. */
bool stream_token_is_nic(const struct queue *b, struct stream_token m);
/* Operations that are never done. */
struct stream_unfinished {
    unsigned long n;
    char first[112];            /* that is known, or "" */
};
/* No queue and no request lives longer than streams do.  Gives the operations
 * that waited for a start. */
struct stream_unfinished stream_queues_release_all(void);

/* ---- stream_describe.c ---- */
/* "send to PE 1, tag 7" or "shmemx_put_init, PE 1", for a line about it. */
struct req_name {
    char text[80];
};
struct req_name stream_req_name(const struct req *r);
/* It is one; the caller counts. */
void stream_unfinished_add(struct stream_unfinished *l,
                           const struct stream_op *op);
void stream_unfinished_add_call(struct stream_unfinished *l, const char *call,
                                int pe);
/* The same of an operation that is a task. */
void stream_unfinished_add_task(struct stream_unfinished *l,
                                const struct stream_task *t, const char *call);
/* "2 operations were put into queues that no start followed, one of them
 * shmemx_enqueue_send, PE 1, tag 7: they are never done" and end, unless there
 * are none.  one, more: the words for that many. */
void stream_unfinished_report(const struct stream_unfinished *l,
                              const char *one, const char *more,
                              const char *end);

/* acquire: what these changed in the queue and its requests is seen. */
static inline bool stream_queue_deferred_made(const struct queue *q)
{
    return likely(__atomic_load_n(&q->deferred_made, __ATOMIC_ACQUIRE) >=
                  q->deferred);
}

/* The queue whose deferred starts and waits may still change the request; NULL:
 * none. */
struct queue *stream_req_find_deferral(const struct req *r);
static inline struct queue *stream_req_deferred_on(const struct req *r)
{
    return unlikely(r->deferred_on != NULL) ? stream_req_find_deferral(r)
                                            : NULL;
}
/* Has any start been deferred?  Set before its requests are (atomic). */
extern hidden bool stream_any_deferred;
/* Has one of them a deferred start or wait?  Of NULL and wrong handles: no. */
bool stream_reqs_are_deferred(int n, struct shmemx_req *reqs[]);

/* Where a request was started.  A queue goes when all of it has ended, so NULL
 * says that the request has. */
static inline struct queue *stream_req_queue(const struct req *r)
{
    return handle_find(&stream_queues, r->queue);
}

#endif
