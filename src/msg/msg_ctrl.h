/* SPDX-License-Identifier: BSD-3-Clause */
/* msg_ctrl.h - the control channel: short messages from PE to PE.
 *
 * Each PE has a ring in the reserved part of its heap.  A sender claims entries
 * of that ring by an atomic and puts a message into each; the owner takes them
 * out in that order.  Messages wait in a send queue for each PE.
 * msg_ctrl_flush() does what can be done of each queue at once, and waits
 * neither for a PE nor for room: a PE that answers nothing, or reads nothing,
 * delays its own messages alone, and what goes to many PEs at once costs three
 * round trips in all.
 * A message lies in memory that puts reach, so msg_check.h checks its content
 * before it is used, and names an end of a channel by a handle of that PE.
 * Threads: one at a time, except msg_ctrl_has_incoming() and
 * msg_ctrl_signal(). */
#ifndef MSG_MSG_CTRL_H
#define MSG_MSG_CTRL_H

#include "core/core.h"

enum msg_ctrl_kind {
    MSG_RTS,                    /* ready to send: it seeks its receive */
    MSG_RTR,                    /* ready to receive: where and how to put */
    MSG_FIN                     /* from either end: it was freed */
};

/* Flags of an RTS. */
enum {
    MSG_RTS_READY = 1, MSG_RTS_ONE_SHOT = 2,
    MSG_RTS_CANCELLED = 4,      /* the send was freed */
    MSG_RTS_TRIGGER = 8,        /* it has a two-input trigger: trig */
    MSG_RTS_PEER_COPY = 16,     /* << segment: msg_peer_copy_segments() */
    MSG_RTS_PARTS = 128         /* it has `slots` partitions, and wants `step`
                                 * transport partitions */
};

/* The flags of an RTR are the protocol of the channel, from this bit on. */
enum { MSG_RTR_PROTO_SHIFT = 8 };

/* Addresses in symmetric memory are segment and offset; offsets alone are of
 * the host heap. */
struct msg_ctrl {
    int32_t kind, from, tag;
    uint32_t number;            /* which send it is of its PE and tag */
    uint32_t flags;
    int32_t error;              /* of an RTR: 0 or -errno */
    uint64_t bytes;
    uint64_t mine, yours;       /* handles: of the sender's end, the other's */
    uint64_t counters;          /* offset of the sender's struct msg_counters */
    int32_t seg, slots;
    uint64_t at, step;          /* RTS: the buffer; RTR: the landing slots */
    uint64_t trig, team;        /* RTR of a partitioned receive: transport
                                 * partitions << 32 | partitions */
};

/* seg is -1 where the memory is not symmetric. */
static inline void msg_ctrl_set_addr(struct msg_ctrl *m, const void *p,
                                     size_t len)
{
    m->seg = heap_find(p, len);
    if (m->seg >= 0)
        m->at = (uintptr_t)p - heap_segs[m->seg].base;
}

static inline void *msg_ctrl_addr(const struct msg_ctrl *m)
{
    return (void *)(heap_segs[m->seg].base + m->at);
}

/* Before the PEs synchronize, in the same order on all: -ENOMEM, logged. */
int msg_ctrl_reserve(void);
/* Opens the endpoint context of msg_ctrl_signal(): 0 or -errno. */
int msg_ctrl_open(void);
/* Were messages moving when the last flush looked?  Not where a ring is full,
 * or a PE has not answered for some milliseconds. */
bool msg_ctrl_is_moving(void);
/* This PE reads nothing more; on each PE, before the last barrier. */
void msg_ctrl_stop_reading(void);
/* The same, before msg_ctrl_close(), when nothing is posted any more: waits
 * until all that was posted has arrived, except at full rings whose owners
 * have stopped reading. */
void msg_ctrl_drain(const char *call);
void msg_ctrl_close(void);

/* Queues a message for the next msg_ctrl_flush(): 0 or -ENOMEM. */
int msg_ctrl_post(int pe, const struct msg_ctrl *m);
/* Does what can be done at once for messages to mapped PEs, or to all.  False:
 * messages are left, or not known to have arrived: call it again. */
bool msg_ctrl_flush(const char *call, bool mapped_only);
bool msg_ctrl_has_incoming(void);
bool msg_ctrl_take(struct msg_ctrl *out);
/* For a wait until the next message arrives. */
struct core_waiter msg_ctrl_waiter(const char *call);
/* A signal to a word of that PE, through the same ordered path.  An off-node
 * one may be under way on return. */
void msg_ctrl_signal(const char *call, uint64_t *word, uint64_t value, int op,
                     int pe);

#endif
