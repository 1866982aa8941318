/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_errors.h - what failed of a stream's operations, until it is told. */
#ifndef STREAM_STREAM_ERRORS_H
#define STREAM_STREAM_ERRORS_H

#include "stream/stream.h"

/* What failed of a queue's operations: such a thing lives in it. */
enum { STREAM_RECENT = 8 };
struct stream_errors {
    void *stream;
    uint64_t owner;             /* as gtl_stream_owner() */
    /* What was done last, for the name of the call. */
    struct {
        const char *call;
        int pe;
    } recent[STREAM_RECENT];    /* atomic */
    unsigned at;                /* atomic */
    /* The first that nobody has been told of, and how many there were. */
    struct stream_errors *next;
    bool listed, told;
    unsigned long n;
    /* Atomic: what the network failed to do, ever; the PE of the last, or -1.
     */
    unsigned long lost;
    int lost_pe;
    unsigned long owned;        /* of them: of requests that tell it, too */
    unsigned long turn;         /* another one when these are told */
    const char *call, *what;
    int pe;
    char cause[256];
};
/* What fails on the flow (or NULL) goes there. */
void stream_errors_init(struct stream_errors *f, void *stream,
                        struct xport_ep *flow);
static inline unsigned long stream_errors_net_count(
    const struct stream_errors *f)
{
    return __atomic_load_n(&f->lost, __ATOMIC_RELAXED);
}
/* Has something for that PE, as far as is known, since there were so many? */
static inline bool stream_errors_net_since(const struct stream_errors *f,
                                           unsigned long lost, int pe)
{
    int last = __atomic_load_n(&f->lost_pe, __ATOMIC_RELAXED);

    return unlikely(stream_errors_net_count(f) != lost) &&
           (last < 0 || last == pe);
}
/* An operation failed; it counts as done after this.  Any thread.  call: NULL
 * where that is not known; *turn, never 0: of a request that knows of it. */
void stream_errors_record(struct stream_errors *f, const char *call,
                          const char *what, int pe, const char *cause,
                          unsigned long *turn) __attribute__((cold));
/* stream_errors_take() of that stream's alone, and of no graph's. */
int stream_errors_take_stream(const char *call, void *stream);
/* -EIO, with a line unless that was printed, if one has failed; that is said
 * once.  At last before the queue goes, then without a call. */
int stream_errors_take_ring(const char *call, const struct stream_errors *f);
/* The same, but 0 if requests know of all. */
int stream_errors_take_unowned(const char *call, const struct stream_errors *f);
/* One that a request knows of, of that turn, was told by that. */
void stream_errors_withdraw(struct stream_errors *f, unsigned long turn);
/* The PE that all recent operations were for, or -1. */
int stream_errors_recent_pe(const struct stream_errors *f);
/* Has something failed that no call has said yet? */
bool stream_errors_unreported(struct stream_errors *f);

#endif
