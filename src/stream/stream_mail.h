/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_mail.h - short notes from PE to PE.
 *
 * Each PE has a ring in the reserved part of its heap.  A sender takes places
 * there by an atomic and puts a note into each; the owner takes them out in
 * that order.  Notes wait in an outbox for each PE.  mail_flush() does what can
 * be done of each at once, and waits neither for a PE nor for room; so a PE
 * that answers nothing, or reads nothing, holds up its own notes alone, and
 * what goes to many PEs at once costs three round trips in all.
 * A note lies in memory that puts reach, so what it says is checked before it
 * is believed, and an end is named by a handle of its own PE's table.
 * Threads: one at a time, but for mail_is_there() and mail_signal(). */
#ifndef STREAM_STREAM_MAIL_H
#define STREAM_STREAM_MAIL_H

#include "core/core.h"

enum mail_kind {
    MAIL_SEND,                  /* from a sender: I look for a receive */
    MAIL_ACCEPT,                /* to it: here it is */
    MAIL_GONE                   /* from either: I was freed */
};

/* Of a MAIL_SEND. */
enum {
    MAIL_READY = 1, MAIL_ONCE = 2,
    MAIL_CANCELLED = 4,         /* it was freed */
    MAIL_GATED = 8,             /* it has a gate */
    MAIL_PAIRS = 16             /* << segment: chan_can_pair() */
};

/* How a MAIL_ACCEPT says to go, in its flags. */
enum { MAIL_HOW_SHIFT = 8 };

/* Addresses in symmetric memory are segment and offset; offsets alone are of
 * the host heap. */
struct mail_note {
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
static inline void mail_set_place(struct mail_note *n, const void *p,
                                  size_t len)
{
    n->seg = heap_find(p, len);
    if (n->seg >= 0)
        n->at = (uintptr_t)p - heap_segs[n->seg].base;
}

static inline void *mail_place(const struct mail_note *n)
{
    return (void *)(heap_segs[n->seg].base + n->at);
}

/* Before the PEs meet, in the same order on all: -ENOMEM, logged. */
int mail_reserve(void);
/* The flow of signals: 0 or -errno. */
int mail_open(void);
/* Do notes move, as far as the last flush has seen?  Not where a ring is full,
 * or a PE has not answered for some milliseconds. */
bool mail_is_lively(void);
/* Nothing that comes is read any more; on each PE, before the last barrier. */
void mail_shut(void);
/* The same, before mail_close(), when nothing is posted any more: what was
 * posted gets there, but where a ring is full whose PE does the same. */
void mail_finish(const char *call);
void mail_close(void);

/* To be sent by the next mail_flush: 0 or -ENOMEM. */
int mail_post(int pe, const struct mail_note *n);
/* What can be done at once for notes to PEs of this node, or to all.  False:
 * notes are left, or not known to have come: call it again. */
bool mail_flush(const char *call, bool near_only);
bool mail_is_there(void);
bool mail_take(struct mail_note *out);
/* For who waits for the next one. */
struct core_waiter mail_waiter(const char *call);
/* A signal by the same way, to a word of that PE. */
void mail_signal(const char *call, uint64_t *word, uint64_t value, int op,
                 int pe);

#endif
