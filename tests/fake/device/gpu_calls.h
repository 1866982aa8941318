/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu_calls.h - what the rows of gpu_calls.inc use, and calls of one vendor that
 * concern the same objects. */
#ifndef FAKE_GPU_CALLS_H
#define FAKE_GPU_CALLS_H

#include "dev_graph.h"

#include <stdlib.h>
#include <time.h>

enum { GPU_EVENT = 0x45564e54 };
struct gpu_event {
    unsigned magic;             /* GPU_EVENT until it is destroyed */
    void *owner;                /* a context, where the vendor has them */
    struct dev_mark mark;
    bool releases;              /* to the system, when it is recorded */
    bool untimed;
    struct dev_stream *last;    /* atomic; the last record's */
    struct gpu_time *time;      /* of the last record, where records are
                                 * atomic; NULL: not recorded */
};

/* When a stream came to the place of a record: of the event, and of the command
 * that stores it, whichever lives longer. */
struct gpu_time {
    int refs;                   /* atomic */
    uint64_t ns;                /* atomic; 0: not yet */
};

static inline void gpu_time_release(struct gpu_time *t)
{
    if (t && !__atomic_sub_fetch(&t->refs, 1, __ATOMIC_ACQ_REL))
        free(t);
}

static inline int gpu_stamp(void *arg)
{
    struct gpu_time *t = *(struct gpu_time **)arg;
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    __atomic_store_n(&t->ns, (uint64_t)now.tv_sec * 1000000000u +
                     (uint64_t)now.tv_nsec, __ATOMIC_RELEASE);
    gpu_time_release(t);
    return 0;
}

/* What a graph records has no time of its own.  Threads may record an event at
 * once, as with the vendors. */
static inline void gpu_event_stamp(struct gpu_event *e, struct dev_stream *s)
{
    struct gpu_time *t = NULL;

    if (!e->untimed && dev_capture_status(s) == DEV_NO_CAPTURE)
        t = calloc(1, sizeof *t);
    if (t) {
        t->refs = 2;
        dev_submit(s, gpu_stamp, &t, sizeof t);
    }
    gpu_time_release(__atomic_exchange_n(&e->time, t, __ATOMIC_ACQ_REL));
}

static inline bool is_device(int dev)
{
    return dev >= 0 && dev < dev_setup()->count;
}

/* A query is not recorded: it breaks the capture of this stream, and those that
 * this thread may not disturb. */
static inline bool may_query(struct dev_stream *s)
{
    if (dev_capture_status(s) == DEV_NO_CAPTURE)
        return dev_unsafe();
    dev_capture_break(s);
    return false;
}

#endif
