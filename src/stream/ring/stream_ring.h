/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_ring.h - the stream op ring, for the files that work on one.
 *
 * There is one for each stream that has operations for the NIC or the host,
 * and one for each queue of the program.  One thread at a time posts
 * operations; the holder of the ring's lock steps them: the progress thread,
 * or the stream's own thread on the software device.  The operations lie in
 * chunks, of which there are as many as were needed at a time, so an enqueue
 * never waits for room.
 *
 * stream_ring_memory.c allocates a ring, stream_ring_table.c finds that of a
 * stream, stream_ring_post.c posts, stream_ring_progress.c and
 * stream_ring_consume.c step, stream_ring_close.c ends it; stream_ring_list.c
 * has the list of all. */
#ifndef STREAM_STREAM_RING_H
#define STREAM_STREAM_RING_H

#include "base/list.h"
#include "stream/exec/stream_exec.h"
#include "stream/ring/stream_task.h"
#include "stream/stream_int.h"
#include "stream/stream_stats.h"

enum { STREAM_CHUNK_OPS = 32 };

struct stream_ring_chunk {
    struct stream_ring_chunk *next;
    uint64_t end;               /* the seq of its last operation */
    struct stream_op ops[STREAM_CHUNK_OPS];
};

/* stream_ring_memory.c; NULL: no memory. */
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
    struct stream_counters *counters;
    struct stream_nic nic;
    /* The producer's. */
    _Alignas(64) uint64_t posted;       /* the last sequence number */
    struct stream_ring_chunk *in;
    unsigned in_at;
    uint64_t triggered;         /* for_queue: the stream will release so many */
    /* The lock holder's. */
    _Alignas(64) uint64_t completed;
    struct stream_ring_chunk *out;
    unsigned out_at;
    struct stream_exec_ctx exec;        /* begun: the operation at the head */
    bool held;                  /* atomic: the lock */
    struct stream_task *tasks, **last_task;
    uint64_t n_tasks;           /* atomic */
    /* Only reports read it. */
    struct stream_ring_stats {
        uint64_t first;         /* the last number before the ring's own */
        uint64_t completed;     /* when the depth was last counted */
        uint64_t max_depth;     /* operations posted at a time, at most */
    } stats;
};

static inline bool stream_ring_trylock(struct stream_ring *q)
{
    return !__atomic_exchange_n(&q->held, true, __ATOMIC_ACQUIRE);
}

/* The caller's last access to it: another thread may free an empty ring then.
 */
static inline void stream_ring_unlock(struct stream_ring *q)
{
    __atomic_store_n(&q->held, false, __ATOMIC_RELEASE);
}

/* Have all its operations in the network completed? */
static inline bool stream_ring_net_idle(const struct stream_ring *q)
{
    return stream_exec_net_idle(&q->exec);
}

/* ---- stream_ring_progress.c ---- */
/* One turn of the progress thread over all rings: see stream_progress_poll. */
bool stream_rings_progress(bool *posted, bool *busy);
/* ---- stream_ring_consume.c: by the holder of the lock ---- */
/* The next operation that was posted, or NULL. */
struct stream_op *stream_ring_head(struct stream_ring *q);
/* One step of that operation: did anything come of it?  *posted and *busy as
 * stream_rings_progress() has them. */
bool stream_ring_step(struct stream_ring *q, bool *posted, bool *busy);

/* On the thread of a stream of the software device: a start leaves the ring's
 * operations to the wait that follows it.  NULL: nothing. */
void stream_ring_defer(struct stream_ring *q);
bool stream_ring_has_deferred(void);
/* Some steps of that: did anything come of them? */
bool stream_ring_progress_deferred(void);

/* ---- stream_ring_list.c ---- */
/* By the holder of the lock: is the next operation a transfer that the stream
 * has triggered?  Operations that wait for transfers are none. */
bool stream_ring_transfer_due(struct stream_ring *q);
/* Is there such a ring, or one that another thread holds? */
bool stream_rings_transfer_due(void);

/* ---- stream_ring_close.c ---- */
/* All are freed: operations left in them are counted. */
struct stream_unfinished;
void stream_rings_close(struct stream_unfinished *left);

/* ---- stream_counters.c ---- */
enum { STREAM_RINGS = 4096, STREAM_FLAGS = 32768 };
void stream_counters_open(void);
/* in_use: streams may still come to look at flags, so all stays as it is. */
void stream_counters_close(bool in_use);
/* A place, with what its last user left there: -ENOSPC, or -ENODEV: the device
 * reaches none. */
int stream_counters_alloc(struct stream_counters **out);
void stream_counters_free(struct stream_counters *w);
/* A flag of an operation in a graph, set back by each launch, or of a stream's
 * operations, which only grows: a destroyed stream may still wait for a number
 * in it, so the next user goes on from there.  The same errors. */
enum stream_flag_use { STREAM_FLAG_TOGGLES, STREAM_FLAG_COUNTS,
                       STREAM_FLAG_USES };
int stream_flag_alloc(enum stream_flag_use use, uint64_t **out);
void stream_flag_free(enum stream_flag_use use, uint64_t *flag);

/* stream_ring_table.c: why there is none for a stream. */
const char *stream_ring_error_text(int rc) __attribute__((cold));

#endif
