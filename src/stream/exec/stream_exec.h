/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_exec.h - the executors of stream operations.
 *
 * stream_op.c asks them in this order, and the first one that does not decline
 * has the operation:
 *
 *   device  stream_exec_device.c  the stream copies, stores or adds by itself
 *   NIC     stream_exec_nic.c     a triggered operation of the transport
 *   host    stream_exec_host.c    the progress thread, or the stream's own one
 *
 * Each has a table of functions by enum stream_kind; a new kind gets a row in
 * the tables of the executors that do it.  STREAM_DECLINED is no error. */
#ifndef STREAM_STREAM_EXEC_H
#define STREAM_STREAM_EXEC_H

#include "stream/stream_int.h"

/* 0: enqueued; -errno, logged; or STREAM_DECLINED. */
int stream_exec_device(const struct stream_where *w,
                       const struct stream_op *op);
/* The same.  If it declines, the operation may have become another one, which
 * the host is to do. */
int stream_exec_nic(const struct stream_where *w, struct stream_ring *q,
                    struct stream_op *op);

/* The part of an operation that the host has issued; zeros before its first
 * step. */
struct stream_op_state {
    size_t moved;               /* bytes */
    unsigned long failures;     /* of the ring before the operation */
    bool split;                 /* its signal follows its put */
    bool comes;                 /* blocks are on their way to the bounce */
    bool copied;                /* the last step copied much */
};

/* State of the host's executor for a user, which holds a lock around each call.
 * Zeros, but for the context, before the first operation. */
struct stream_exec_ctx {
    bool begun;                 /* the operation under way has had a step, */
    bool issued;                /* and only its completion is missing */
    struct core_ctx ctx;        /* of the world, with an endpoint context */
    struct stream_op_state part;        /* of the operation under way */
    uint64_t was;               /* the result of an atomic for a device */
    char *bounce;               /* freed by the user; NULL: none was needed */
    bool reads;                 /* the network may still read put sources */
    struct stream_errors failed;
};

/* Have all its operations in the network completed? */
static inline bool stream_exec_net_idle(const struct stream_exec_ctx *x)
{
    return !x->ctx.net || xport_net->quiet_test(x->ctx.net);
}

/* One step of the operation, which waits for nothing.  True: it is over, and
 * another one may be next.  holds: it is over when it has completed; without
 * that when it is issued, unless the executor keeps its result.  *any: a part
 * of it has advanced. */
bool stream_exec_step(struct stream_exec_ctx *x, const struct stream_op *op,
                      bool holds, bool *any);

enum stream_exec_state {
    STREAM_AGAIN,               /* some of it is issued, or none: call again */
    STREAM_ISSUED,              /* all is: ask whether it has completed */
    STREAM_COMPLETED            /* or no step waits for its completion */
};
/* Issues of a put and its signal what it can; its progress is in *p. */
enum stream_exec_state stream_exec_host_put_signal(struct stream_exec_ctx *x,
                                                   const struct stream_op *op,
                                                   struct stream_op_state *p);
/* Is there memory for blocks on their way to a device?  A caller that cannot
 * report the failure of a get of them makes sure before. */
bool stream_exec_bounce(struct stream_exec_ctx *x);
/* Have the operations of graphs' launches completed, but for the ring that
 * asks?  Set by the first proxy stream; NULL: there are none. */
extern hidden bool (*stream_exec_graphs_quiet)(const struct stream_ring *ring);

/* Bytes from the first to past the last block; there is one. */
size_t stream_extent(const struct core_strided *b, ptrdiff_t stride);

#endif
