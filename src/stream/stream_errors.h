/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_errors.h - the failed operations of a ring, until a host call returns
 * them.  Threads: any. */
#ifndef STREAM_STREAM_ERRORS_H
#define STREAM_STREAM_ERRORS_H

#include "stream/stream.h"

/* The failures of a ring; a member of it. */
enum { STREAM_RECENT = 8 };
struct stream_errors {
    void *stream;
    uint64_t owner;             /* as gtl_stream_owner() */
    /* The last operations, for the name of the call. */
    struct {
        const char *call;
        int pe;
    } recent[STREAM_RECENT];    /* atomic */
    unsigned at;                /* atomic */
    /* The first failure that no call has returned, and how many there are. */
    struct stream_errors *next;
    bool listed, reported;
    bool of_request;            /* what the line would name */
    bool of_trigger;            /* no stream's: `stream` is none */
    unsigned long n;
    unsigned long n_printed;    /* of n, when a line was printed */
    /* Atomic: failures of the network so far; the PE of the last one, or -1.
     */
    unsigned long lost;
    int lost_pe;
    unsigned long owned;        /* of n: failures that a request returns, too */
    unsigned long turn;         /* another number when they are returned */
    const char *call, *what;
    int pe;
    char cause[256];
};
/* From here on the calls of that stream return the failures. */
void stream_errors_assign(struct stream_errors *f, void *stream);
/* Failures of the endpoint context (or NULL) are recorded there. */
void stream_errors_init(struct stream_errors *f, void *stream,
                        struct xport_ctx *net);
static inline unsigned long stream_errors_net_count(
    const struct stream_errors *f)
{
    return __atomic_load_n(&f->lost, __ATOMIC_RELAXED);
}
/* Has an operation for that PE failed, as far as is known, since the count was
 * `lost`? */
static inline bool stream_errors_net_since(const struct stream_errors *f,
                                           unsigned long lost, int pe)
{
    int last = __atomic_load_n(&f->lost_pe, __ATOMIC_RELAXED);

    return unlikely(stream_errors_net_count(f) != lost) &&
           (last < 0 || last == pe);
}
/* An operation failed; it counts as completed after this.  Any thread.  call:
 * NULL where that is not known.  turn: where the request that will return the
 * failure keeps its number, never 0; or NULL. */
void stream_errors_record(struct stream_errors *f, const char *call,
                          const char *what, int pe, const char *cause,
                          unsigned long *turn) __attribute__((cold));
/* stream_errors_take() of the stream alone, and of no graph. */
int stream_errors_take_stream(const char *call, void *stream);
/* -EIO once, with a line unless that was printed, if an operation of the ring
 * has failed.  The last call comes before the ring goes, with call NULL. */
int stream_errors_take_ring(const char *call, const struct stream_errors *f);
/* The same, but 0 if requests return all of them. */
int stream_errors_take_unowned(const char *call, const struct stream_errors *f);
/* A request has returned its failure, of that turn. */
void stream_errors_withdraw(struct stream_errors *f, unsigned long turn);
/* The PE that all recent operations were for, or -1. */
int stream_errors_recent_pe(const struct stream_errors *f);
/* Is there a failure that no line has reported yet? */
bool stream_errors_unreported(struct stream_errors *f);

#endif
