/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_ring.h - what a stream op ring is, for the files that work on one. */
#ifndef STREAM_STREAM_RING_H
#define STREAM_STREAM_RING_H

#include "base/list.h"
#include "stream/ring/stream_task.h"
#include "stream/stream_int.h"
#include "stream/stream_stats.h"

enum { STREAM_CHUNK_OPS = 32 };

struct stream_ring_chunk {
    struct stream_ring_chunk *next;
    uint64_t end;               /* the seq of its last operation */
    struct stream_op ops[STREAM_CHUNK_OPS];
};

struct stream_ring_chunk *stream_ring_chunk_new(void);

struct stream_ring {
    void *handle;               /* the stream's */
    uint64_t id;                /* the stream's number */
    uint64_t owner;             /* as gtl_stream_owner() */
    bool for_queue;             /* a queue's: its stream may have several */
    bool kept;                  /* freed with its stream, by no sweep */
    struct list_link link;      /* of all rings; under their lock, as `same` */
    struct stream_ring *same;   /* the next one in its bucket of the table */
    bool gone;                  /* atomic: retired, as its stream is gone */
    bool stream_destroyed_here; /* atomic: for_queue, which is not retired */
    struct core_ctx ctx;        /* of the world, with an ep of its own */
    struct stream_counters *counters;
    struct stream_nic nic;
    /* The producer's. */
    _Alignas(64) uint64_t posted;       /* the last sequence number */
    struct stream_ring_chunk *in;
    unsigned in_at;
    uint64_t triggered;         /* for_queue: the stream will release so many */
    uint64_t first;             /* the last number before the ring's own */
    uint64_t seen, most;        /* completed by then; most posted at a time */
    /* The lock holder's. */
    _Alignas(64) uint64_t completed;
    struct stream_ring_chunk *out;
    unsigned out_at;
    bool begun;                 /* the operation at the head is under way */
    bool more;                  /* some of it is not issued yet */
    struct stream_op_state part;        /* what of it is issued */
    uint64_t was;               /* the result of an atomic for a device */
    char *bounce;            /* see stream_exec_host.c; NULL: none was needed */
    bool reads;                 /* the network may still read put sources */
    bool held;                  /* atomic: the lock */
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
                                           uint64_t seq)
{
    if (likely(seq - q->seen <= q->most))
        return;
    /* relaxed: a number for people. */
    q->seen = __atomic_load_n(&q->completed, __ATOMIC_RELAXED);
    if (seq - q->seen > q->most)
        q->most = seq - q->seen;
}

/* One turn of the progress thread over all rings: see stream_progress_poll. */
bool stream_rings_progress(bool *posted, bool *busy);
/* By who holds it: the next one that was posted, or NULL. */
struct stream_op *stream_ring_head(struct stream_ring *q);
/* By who holds it, one step with its next operation: did anything come of it?
 * *posted and *busy as stream_rings_progress() has them. */
bool stream_ring_step(struct stream_ring *q, bool *posted, bool *busy);

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
