/* SPDX-License-Identifier: BSD-3-Clause */
/* msg_ctrl.h - short notes from PE to PE.
 *
 * Each PE has a ring in the reserved part of its heap.  A sender takes places
 * there by an atomic and puts a note into each; the owner takes them out in
 * that order.  Notes wait in an outbox for each PE.  msg_ctrl_flush() does
 * what can be done of each at once, and waits neither for a PE nor for room;
 * so a PE that answers nothing, or reads nothing, holds up its own notes
 * alone, and what goes to many PEs at once costs three round trips in all. A
 * note lies in memory that puts reach, so what it says is checked before it is
 * believed, and an end is named by a handle of its own PE's table. Threads:
 * one at a time, but for msg_ctrl_has_incoming() and msg_ctrl_signal(). */
#ifndef MSG_MSG_CTRL_H
#define MSG_MSG_CTRL_H

#include "core/core.h"

enum msg_ctrl_kind {
    MSG_RTS,                  /* from a sender: I look for a receive */
    MSG_RTR,                /* to it: here it is */
    MSG_FIN                   /* from either: I was freed */
};

/* Of a MSG_RTS. */
enum {
    MSG_RTS_READY = 1, MSG_RTS_ONE_SHOT = 2,
    MSG_RTS_CANCELLED = 4,         /* it was freed */
    MSG_RTS_TRIGGER = 8,             /* it has a gate */
    MSG_RTS_PEER_COPY = 16             /* << segment: msg_peer_copy_flags() */
};

/* How a MSG_RTR says to go, in its flags. */
enum { MSG_RTR_PROTO_SHIFT = 8 };

/* Addresses in symmetric memory are segment and offset; offsets alone are of
 * the host heap. */
struct msg_ctrl {
    int32_t kind, from, tag;
    uint32_t number;
    uint32_t flags;
    int32_t error;              /* or 0 */
    uint64_t bytes;
    uint64_t mine, yours;       /* handles: of the poster's end, the other's */
    uint64_t words;
    int32_t seg, slots;
    uint64_t at, step;
    uint64_t gate, team;
};

/* seg is -1 where it is not symmetric. */
static inline void msg_ctrl_set_addr(struct msg_ctrl *n, const void *p,
                                  size_t len)
{
    n->seg = heap_find(p, len);
    if (n->seg >= 0)
        n->at = (uintptr_t)p - heap_segs[n->seg].base;
}

static inline void *msg_ctrl_addr(const struct msg_ctrl *n)
{
    return (void *)(heap_segs[n->seg].base + n->at);
}

/* Before the PEs meet, in the same order on all: -ENOMEM, logged. */
int msg_ctrl_reserve(void);
/* The flow of signals: 0 or -errno. */
int msg_ctrl_open(void);
/* Do notes move, as far as the last flush has seen?  Not where a ring is full,
 * or a PE has not answered for some milliseconds. */
bool msg_ctrl_is_moving(void);
/* Nothing that comes is read any more; on each PE, before the last barrier. */
void msg_ctrl_stop_reading(void);
/* The same, before msg_ctrl_close(), when nothing is posted any more: what was
 * posted gets there, but where a ring is full whose PE does the same. */
void msg_ctrl_drain(const char *call);
void msg_ctrl_close(void);

/* To be sent by the next msg_ctrl_flush: 0 or -ENOMEM. */
int msg_ctrl_post(int pe, const struct msg_ctrl *n);
/* What can be done at once for notes to PEs of this node, or to all.  False:
 * notes are left, or not known to have come: call it again. */
bool msg_ctrl_flush(const char *call, bool near_only);
bool msg_ctrl_has_incoming(void);
bool msg_ctrl_take(struct msg_ctrl *out);
/* For who waits for the next one. */
struct core_waiter msg_ctrl_waiter(const char *call);
/* A signal by the same way, to a word of that PE. */
void msg_ctrl_signal(const char *call, uint64_t *word, uint64_t value, int op,
                 int pe);

#endif
