/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_ring.h - what a queue of armed operations is, for who does them. */
#ifndef STREAM_STREAM_RING_H
#define STREAM_STREAM_RING_H

#include "base/list.h"
#include "stream/ring/stream_task.h"
#include "stream/stream_int.h"
#include "stream/stream_stats.h"

enum { STREAM_CHUNK_OPS = 32 };

struct stream_ring_chunk {
    struct stream_ring_chunk *next;
    uint64_t end;               /* the ticket of its last operation */
    struct stream_op ops[STREAM_CHUNK_OPS];
};

struct stream_ring_chunk *stream_ring_chunk_new(void);

struct stream_ring {
    void *handle;
    uint64_t id;                /* of the stream */
    uint64_t owner;             /* as gtl_stream_owner() */
    bool batch;                 /* one of several, for starts */
    bool kept;                  /* its stream's end alone ends it */
    struct list_link link;      /* of all; this and same: under their lock */
    struct stream_ring *same;  /* next in its place of the table */
    bool gone;                  /* atomic: its stream is no more */
    bool orphan;                /* atomic: so is a batch's, which stays */
    struct core_ctx ctx;        /* of the world; its flow is the queue's own */
    struct stream_counters *words;
    struct stream_nic nic;
    /* Of who arms. */
    _Alignas(64) uint64_t armed;        /* tickets given */
    struct stream_ring_chunk *in;
    unsigned in_at;
    uint64_t fired;             /* of a batch: the stream gets to so many */
    uint64_t first;             /* the last ticket before those of this queue */
    uint64_t seen, most;        /* ended by then; were armed at a time */
    /* Of who holds it. */
    _Alignas(64) uint64_t ended;
    struct stream_ring_chunk *out;
    unsigned out_at;
    bool begun;                 /* the next one is under way */
    bool more;                  /* some of it is not begun yet */
    struct stream_op_state part;    /* what is */
    uint64_t was;               /* of an atomic: for a result on the device */
    char *bounce;            /* see stream_exec_host.c; NULL: none was needed */
    bool reads;                 /* memory of messages that were put */
    bool held;                  /* atomic */
    struct stream_task *tasks, **last_task;
    uint64_t n_tasks;           /* atomic */
    struct stream_errors failed;
};

static inline bool stream_ring_trylock(struct stream_ring *q)
{
    return !__atomic_exchange_n(&q->held, true, __ATOMIC_ACQUIRE);
}

/* The last thing that is done with it: an empty one may then go. */
static inline void stream_ring_unlock(struct stream_ring *q)
{
    __atomic_store_n(&q->held, false, __ATOMIC_RELEASE);
}

/* Is nothing of it under way in the network? */
static inline bool stream_ring_net_idle(const struct stream_ring *q)
{
    return !q->ctx.flow || xport_net->quiet_test(q->ctx.flow);
}

/* It has one more, this one. */
static inline void stream_ring_count_depth(struct stream_ring *q,
                                           uint64_t ticket)
{
    if (likely(ticket - q->seen <= q->most))
        return;
    /* relaxed: a number for people. */
    q->seen = __atomic_load_n(&q->ended, __ATOMIC_RELAXED);
    if (ticket - q->seen > q->most)
        q->most = ticket - q->seen;
}

/* One turn of the progress thread over all rings: see stream_progress_poll. */
bool stream_rings_progress(bool *armed, bool *busy);
/* By who holds it: the next one that was armed, or NULL. */
struct stream_op *stream_ring_head(struct stream_ring *q);
/* By who holds it, one step with its next operation: did anything come of it?
 * *armed and *busy as stream_rings_progress() has them. */
bool stream_ring_step(struct stream_ring *q, bool *armed, bool *busy);

/* By who holds it: is the next one a transfer that the stream has reached?
 * An operation that waits for the transfers before it is none. */
bool stream_ring_transfer_due(struct stream_ring *q);
/* Is there such a queue, or one that another thread holds? */
bool stream_rings_transfer_due(void);

/* All go: what is left in them is counted. */
struct stream_unfinished;
void stream_rings_close(struct stream_unfinished *left);

/* On the thread of a stream of the software device: what a start has left to
 * the wait that follows it.  NULL: nothing. */
void stream_ring_defer(struct stream_ring *q);
bool stream_ring_has_deferred(void);
/* Some steps of that: did anything come of them? */
bool stream_ring_progress_deferred(void);

/* ---- stream_counters.c ---- */
enum { STREAM_RINGS = 4096, STREAM_FLAGS = 32768 };
void stream_counters_open(void);
/* in_use: streams may still come to look at flags, so all stays as it is. */
void stream_counters_close(bool in_use);
/* A place, with what its last user left there: -ENOSPC, or -ENODEV: the device
 * reaches none. */
int stream_counters_alloc(struct stream_counters **out);
void stream_counters_free(struct stream_counters *w);
/* A flag of an operation in a graph: the same errors. */
int stream_flag_alloc(uint64_t **out);
void stream_flag_free(uint64_t *flag);

/* Why there is none for a stream. */
const char *stream_ring_error_text(int rc) __attribute__((cold));

#endif
