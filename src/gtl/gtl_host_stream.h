/* SPDX-License-Identifier: BSD-3-Clause */
/* gtl_host_stream.h - a stream of the software device: gtl_host_stream.c runs
 * it, gtl_host_sync.c asks how far it is.
 *
 * A stream's commands lie in a ring of chunks that grows when it is full, so
 * nobody is ever held up; one thread at a time fills it, the stream's thread
 * empties it, and two counts tell how far either is.  A handle is the place
 * of the stream in a table, and a number that no other stream ever has; a
 * stream's memory is kept for the next one, counts included, so that events
 * need nothing but a stream and a count. */
#ifndef GTL_GTL_HOST_STREAM_H
#define GTL_GTL_HOST_STREAM_H

#include "gtl/gtl_host_int.h"

#include <stdalign.h>

enum { CHUNK = 128 };

struct chunk {
    struct chunk *next;
    uint64_t end;               /* the stream's count behind it */
    alignas(64) struct gtl_host_command commands[CHUNK];
};

struct gtl_host_stream {
    /* Of who enqueues. */
    alignas(64) uint64_t tail, filled;  /* commands: handed over, and made */
    uintptr_t handle;           /* 0: no stream */
    struct chunk *in;
    unsigned in_at;
    bool runs;
    bool plain;                 /* it runs and records nothing */
    bool own;                   /* the library's, not the program's */
    uint64_t ops, ops_end;      /* of gtl_ops; the count behind the last */
    pthread_t thread;
    void *scratch;
    struct gtl_host_share share;        /* see gtl_host_grid.c */
    struct gtl_host_graph *graph;       /* that it records, or NULL */
    struct gtl_host_stream *next_free;
    unsigned place;
    /* Of the thread. */
    alignas(64) uint64_t done;
    uint64_t sync_at;           /* a sleeper wants this count */
    struct chunk *out;
    unsigned out_at;
    bool drops;                 /* the rest is not done: */
    uint64_t ops_kept;          /* so many of those had been enqueued before */
    alignas(64) uint32_t sleeps;        /* futexes: for work, */
    uint32_t waits;                     /* in a wait, */
    uint32_t beat;                      /* and of those who sync */
};

extern hidden struct gtl_host_stream *gtl_host_streams[GTL_HOST_STREAMS];

/* NULL, and the reason is kept: no memory. */
struct chunk *gtl_host_chunk(void);

/* Atomic, relaxed: threads of the library's own ask whether there is one. */
static inline struct gtl_host_graph *
gtl_host_graph_of(const struct gtl_host_stream *s)
{
    return __atomic_load_n(&s->graph, __ATOMIC_RELAXED);
}

/* NULL: it is no stream, or one that is destroyed. */
static inline struct gtl_host_stream *gtl_host_find(void *handle)
{
    uintptr_t h = (uintptr_t)handle;
    struct gtl_host_stream *s;
    uintptr_t is;

    s = __atomic_load_n(&gtl_host_streams[h % GTL_HOST_STREAMS], __ATOMIC_ACQUIRE);
    if (!s)
        return NULL;
    is = __atomic_load_n(&s->handle, __ATOMIC_ACQUIRE);
    if (h % GTL_HOST_STREAMS == 0)
        return h == 0 && is ? s : NULL;
    return is == h ? s : NULL;
}

/* Says that there is no such stream: -EINVAL, or -ENODEV in a forked child. */
int gtl_host_unknown(void) __attribute__((cold));

static inline bool gtl_host_reached(const struct gtl_host_stream *s,
                                    uint64_t count)
{
    return __atomic_load_n(&s->done, __ATOMIC_ACQUIRE) >= count;
}

#endif
