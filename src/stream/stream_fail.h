/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_fail.h - what failed of a stream's operations, until it is told. */
#ifndef STREAM_STREAM_FAIL_H
#define STREAM_STREAM_FAIL_H

#include "stream/stream.h"

/* What failed of a queue's operations: such a thing lives in it. */
enum { STREAM_RECENT = 8 };
struct stream_failed {
    void *stream;
    uint64_t owner;             /* as gtl_stream_owner() */
    /* What was done last, for the name of the call. */
    struct {
        const char *call;
        int pe;
    } recent[STREAM_RECENT];    /* atomic */
    unsigned at;                /* atomic */
    /* The first that nobody has been told of, and how many there were. */
    struct stream_failed *next;
    bool listed, told;
    unsigned long n;
    /* Atomic: what the network failed to do, ever; the PE of the last, or -1. */
    unsigned long lost;
    int lost_pe;
    unsigned long owned;        /* of them: of requests that tell it, too */
    unsigned long turn;         /* another one when these are told */
    const char *call, *what;
    int pe;
    char cause[256];
};
/* What fails on the flow (or NULL) goes there. */
void stream_fail_open(struct stream_failed *f, void *stream,
                      struct xport_ep *flow);
static inline unsigned long stream_fail_lost(const struct stream_failed *f)
{
    return __atomic_load_n(&f->lost, __ATOMIC_RELAXED);
}
/* Has something for that PE, as far as is known, since there were so many? */
static inline bool stream_fail_since(const struct stream_failed *f,
                                     unsigned long lost, int pe)
{
    int last = __atomic_load_n(&f->lost_pe, __ATOMIC_RELAXED);

    return unlikely(stream_fail_lost(f) != lost) && (last < 0 || last == pe);
}
/* An operation failed; it counts as done after this.  Any thread.  call: NULL
 * where that is not known; *turn, never 0: of a request that knows of it. */
void stream_fail(struct stream_failed *f, const char *call, const char *what,
                 int pe, const char *cause, unsigned long *turn)
    __attribute__((cold));
/* stream_failed() of that stream's alone, and of no graph's. */
int stream_failed_here(const char *call, void *stream);
/* -EIO, with a line unless that was printed, if one has failed; that is said
 * once.  At last before the queue goes, then without a call. */
int stream_fail_take(const char *call, const struct stream_failed *f);
/* The same, but 0 if requests know of all. */
int stream_fail_unowned(const char *call, const struct stream_failed *f);
/* One that a request knows of, of that turn, was told by that. */
void stream_fail_told(struct stream_failed *f, unsigned long turn);
/* The PE that all recent operations were for, or -1. */
int stream_fail_pe(const struct stream_failed *f);
/* Has something failed that no call has said yet? */
bool stream_fail_owes(struct stream_failed *f);

#endif
