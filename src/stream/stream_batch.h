/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_batch.h - queues and requests, for what is done with either. */
#ifndef STREAM_STREAM_BATCH_H
#define STREAM_STREAM_BATCH_H

#include "stream/stream_handle.h"
#include "stream/stream_int.h"

enum req_state {
    IDLE,                       /* may be started */
    STAGED,                     /* the next start uses it up */
    STARTED,
    WAITED                      /* started, and the stream waits for it */
};

/* What tells of a start's end, and the number that it is then past. */
enum { BY_START, BY_TICKET, BY_FLAG, WAYS };
struct mark {
    int way;
    uint64_t number;
    uint64_t armed;             /* with the NIC by then */
    uint64_t start;             /* which it is */
};

struct req {
    struct stream_handle handle;
    struct stream_op op;
    struct shmemx_queue *queue; /* that has it, or started it; it may be gone */
    enum req_state state;
    bool once;
    bool listed;                /* the start that is being made has it */
    struct mark mark;           /* of its last start */
};

struct staged {
    struct stream_op op;
    struct req *req;            /* or NULL */
};

struct batch {
    struct stream_handle handle;
    void *stream;
    struct stream_queue *queue;
    struct staged *staged;
    size_t n_staged, room;
    uint64_t last[WAYS];
    uint64_t waited[WAYS];      /* that the stream waits for */
    uint64_t starts, past;      /* so many; for so many there is a wait */
};

extern hidden struct stream_handles stream_batches, stream_reqs;

/* NULL: it is none, told. */
struct batch *stream_batch_of(const char *call, struct shmemx_queue *queue);
struct stream_where stream_batch_where(const char *call, const struct batch *b);
int stream_batch_no_memory(const char *call);
/* The word that tells how far they are; NULL: nothing of that kind was
 * started. */
uint64_t *stream_batch_word(const struct batch *b, int way);
/* What the NIC does it counts, in whatever order it ends: that a start has
 * ended its flag tells when the last one has. */
bool stream_batch_counted(const struct batch *b, struct mark m);
/* No queue and no request lives longer than streams do.  Gives how many
 * operations waited for a start. */
unsigned long stream_batch_drop_all(void);

/* Where a request was started.  A queue goes when all of it has ended, so NULL
 * says that the request has. */
static inline struct batch *stream_req_batch(const struct req *r)
{
    return stream_handle_find(&stream_batches, r->queue);
}

#endif
