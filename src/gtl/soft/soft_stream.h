/* SPDX-License-Identifier: BSD-3-Clause */
/* soft_stream.h - a stream of the software device: soft_stream.c runs
 * it, soft_sync.c asks how far it is.
 *
 * A stream's commands lie in a ring of chunks that grows when it is full, so
 * no caller is ever held up; one thread at a time fills it, the stream's thread
 * empties it, and each counts how far it is.  A handle is the place
 * of the stream in a table, and a number that no other stream ever has; a
 * stream's memory is kept for the next one, counts included, so that events
 * need nothing but a stream and a count. */
#ifndef GTL_SOFT_STREAM_H
#define GTL_SOFT_STREAM_H

#include "gtl/soft/soft_int.h"

#include <stdalign.h>

enum { CHUNK = 128 };

struct chunk {
    struct chunk *next;
    uint64_t end;               /* the stream's count behind it */
    alignas(64) struct gtl_soft_command commands[CHUNK];
};

struct gtl_soft_stream {
    /* Written by the threads that enqueue. */
    alignas(64) uint64_t tail, filled;  /* commands: handed over, and made */
    uintptr_t handle;           /* 0: no stream */
    struct chunk *in;
    unsigned in_at;
    bool runs;
    bool plain;                 /* it runs and records nothing */
    bool own;                   /* the library's, not the program's */
    uint64_t ops, ops_end;      /* of count_ops(); the count behind the last */
    pthread_t thread;
    void *scratch;
    struct gtl_soft_resident_share share;        /* see soft_grid.c */
    struct gtl_soft_graph *graph;       /* that it records, or NULL */
    struct gtl_soft_stream *next_free;
    unsigned place;
    /* Written by the stream's thread. */
    alignas(64) uint64_t done;
    uint64_t sync_at;           /* a sleeper wants this count */
    struct chunk *out;
    unsigned out_at;
    bool cancelled;                 /* the rest is not done: */
    uint64_t ops_kept;          /* so many of those had been enqueued before */
    uint64_t kernels_dropped;   /* and so many launches come after */
    alignas(64) uint32_t sleeps;        /* futexes: for work, */
    uint32_t waits;                     /* in a wait, */
    uint32_t beat;                      /* and of threads that sync */
};

extern hidden struct gtl_soft_stream *gtl_soft_streams[GTL_SOFT_STREAMS];

/* NULL, and the reason is kept: no memory. */
struct chunk *gtl_soft_chunk(void);

/* Atomic, relaxed: threads of the library's own ask whether there is one. */
static inline struct gtl_soft_graph *
gtl_soft_graph_of(const struct gtl_soft_stream *s)
{
    return __atomic_load_n(&s->graph, __ATOMIC_RELAXED);
}

/* NULL: it is no stream, or one that is destroyed. */
static inline struct gtl_soft_stream *gtl_soft_find(void *handle)
{
    uintptr_t h = (uintptr_t)handle;
    struct gtl_soft_stream *s;
    uintptr_t is;

    s = __atomic_load_n(&gtl_soft_streams[h % GTL_SOFT_STREAMS],
                        __ATOMIC_ACQUIRE);
    if (!s)
        return NULL;
    is = __atomic_load_n(&s->handle, __ATOMIC_ACQUIRE);
    if (h % GTL_SOFT_STREAMS == 0)
        return h == 0 && is ? s : NULL;
    return is == h ? s : NULL;
}

/* Of the groups of a grid, those that must be resident together. */
static inline unsigned gtl_soft_residents(const struct shmemx_grid *g)
{
    return g->resident < g->groups ? g->resident : g->groups;
}

/* Says that there is no such stream: -EINVAL, or -ENODEV in a forked child. */
int gtl_soft_fail_handle(void) __attribute__((cold));

static inline bool gtl_soft_reached(const struct gtl_soft_stream *s,
                                    uint64_t count)
{
    return __atomic_load_n(&s->done, __ATOMIC_ACQUIRE) >= count;
}

#endif
