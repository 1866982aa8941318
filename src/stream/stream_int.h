/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_int.h - queues of armed operations and the agent that does them. */
#ifndef STREAM_STREAM_INT_H
#define STREAM_STREAM_INT_H

#include "gtl/gtl.h"
#include "stream/stream.h"

enum stream_kind {
    STREAM_PUT, STREAM_GET, STREAM_PUT_BLOCKS, STREAM_GET_BLOCKS,
    STREAM_AMO, STREAM_PUT_SIGNAL, STREAM_SIGNAL, STREAM_FENCE, STREAM_QUIET,
    STREAM_WAIT
};

/* An armed operation.  It is done once the stream has raised the queue's word
 * `fire` to its ticket, in the order of the tickets. */
struct stream_op {
    enum stream_kind kind;
    int pe;                     /* of the world */
    bool waits;                 /* the stream does, for its end */
    bool value;                 /* source is bytes[] */
    const char *call;
    struct stream_queue *queue;
    uint64_t ticket;
    void *dest;
    const void *source;
    size_t len;
    union {
        struct core_strided blocks;
        struct stream_signal signal;
        struct stream_amo amo;
        struct stream_wait wait;
        unsigned char bytes[32];
    };
};
_Static_assert(sizeof(struct stream_op) <= 192, "100,000 may be armed");

/* What device and agent tell each other, in pinned memory. */
struct stream_words {
    _Alignas(64) uint64_t fire; /* the device is past so many tickets */
    uint64_t started;           /* past so many starts that armed nothing */
    _Alignas(64) uint64_t done; /* the agent, of those that it waits for */
};

struct stream_queue;

/* ---- stream_direct.c ---- */
/* *done: the device does it itself, in the stream.  0 or -errno, logged. */
int stream_direct(const struct stream_where *w, const struct stream_op *op,
                  bool *done);
/* That, or arms it. */
int stream_issue(const struct stream_where *w, struct stream_op *op);
/* Bytes from the first to past the last block; there is one. */
size_t stream_extent(const struct core_strided *b, ptrdiff_t stride);

/* ---- stream_rma.c: operations out of arguments, checked ---- */
int stream_make_put(const struct stream_where *w, void *dest,
                    const void *source, size_t n, size_t size, int pe,
                    struct stream_op *out);
int stream_make_get(const struct stream_where *w, void *dest,
                    const void *source, size_t n, size_t size, int pe,
                    struct stream_op *out);
int stream_make_put_signal(const struct stream_where *w, void *dest,
                           const void *source, size_t n, size_t size,
                           const struct stream_signal *s, int pe,
                           struct stream_op *out);
int stream_make_amo(const struct stream_where *w, const struct stream_amo *a,
                    int pe, struct stream_op *out);

/* ---- stream_queue.c ---- */
/* One that belongs to no stream of its own; closed when it is empty. */
int stream_queue_open(struct stream_queue **out);
void stream_queue_close(struct stream_queue *q);
bool stream_queue_empty(const struct stream_queue *q);
/* For n more, room will be found. */
int stream_queue_reserve(struct stream_queue *q, size_t n);
/* For the next operation; NULL: no memory. */
struct stream_op *stream_queue_room(struct stream_queue *q);
/* The operation there is complete: its ticket. */
uint64_t stream_queue_push(struct stream_queue *q);
/* The stream raises the word to the ticket of the last one when it gets
 * there. */
int stream_queue_fire(struct stream_queue *q, void *stream);
struct stream_words *stream_queue_words(struct stream_queue *q);

/* Room for the next operation of this stream; its queue is filled in. */
int stream_arm_begin(const struct stream_where *w, struct stream_op **out);
/* It is complete: the stream raises the word when it gets there, and waits if
 * op->waits. */
int stream_arm(const struct stream_where *w, struct stream_op *op);
/* Has anything been armed for this stream? */
bool stream_used(void *stream);

/* ---- stream_agent.c ---- */
/* The queue has work; may be called by the device's threads. */
void stream_agent_ring(void);
int stream_agent_open(void);
void stream_agent_close(void);
/* One pass over the queues: did any advance?  *armed: do any have to be looked
 * at again although nobody rings, *busy: is something under way? */
bool stream_queues_advance(bool *armed, bool *busy);

/* ---- stream_do.c: what the agent does ---- */
/* Begins it.  True: it has ended, or is one that nobody waits for. */
bool stream_do(const struct core_ctx *ctx, const struct stream_op *op);
/* Has it ended? */
bool stream_do_ended(const struct core_ctx *ctx, const struct stream_op *op);

/* ---- stream_wait.c ---- */
/* Looks once; what it asks for is stored when it is over. */
bool stream_wait_over(const struct stream_wait *c);
void stream_wait_open(void);
/* Streams of the software device wait no longer and do nothing more. */
void stream_wait_close(void);

/* ---- stream_check.c ---- */
/* [sym, sym + len) of that PE of the context; its number in the world to
 * *world_pe.  0 or -EINVAL, logged. */
int stream_need_symmetric(const struct stream_where *w, const void *sym,
                          size_t len, int pe, int *world_pe);
int stream_need_local(const struct stream_where *w, const void *p, size_t len);
int stream_need_aligned(const struct stream_where *w, const void *p,
                        size_t size);
/* One line; gives -EINVAL. */
int stream_refuse(enum err_code code, const char *call, const char *fmt, ...)
    __attribute__((format(printf, 3, 4), cold));

/* Streams that wait hold nobody else up: else -ENOTSUP, logged. */
bool stream_may_wait(void);
int stream_refuse_wait(const struct stream_where *w) __attribute__((cold));
/* What the device refused, if anything: passes rc on, as -ENOTSUP if the stream
 * records a graph. */
int stream_told(const struct stream_where *w, int rc);

/* ---- stream_reach.c: what the device reaches ---- */
int stream_reach_open(void);
void stream_reach_close(void);
/* Where it reaches that PE's memory, or 0. */
uintptr_t stream_reach(int world_pe, const void *sym, size_t len);
/* The same for atomics, exclusive with those of others. */
uintptr_t stream_reach_amo(int world_pe, const void *sym, size_t len);
/* May a stream use this memory of ours without the host's waiting? */
bool stream_reaches_local(const void *p, size_t len);

#endif
