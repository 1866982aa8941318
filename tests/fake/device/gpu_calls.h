/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu_calls.h - what the rows of gpu_calls.inc use, and calls of one vendor that
 * concern the same objects. */
#ifndef FAKE_GPU_CALLS_H
#define FAKE_GPU_CALLS_H

#include "dev_graph.h"

#include <stdlib.h>

enum { GPU_EVENT = 0x45564e54 };
struct gpu_event {
    unsigned magic;             /* GPU_EVENT until it is destroyed */
    void *owner;                /* a context, where the vendor has them */
    struct dev_mark mark;
    bool releases;              /* to the system, when it is recorded */
};

static inline bool is_device(int dev)
{
    return dev >= 0 && dev < dev_setup()->count;
}

/* A query is not recorded: it breaks the capture of this stream, and those that
 * this thread may not disturb. */
static inline bool may_ask(struct dev_stream *s)
{
    if (dev_capture_status(s) == DEV_NO_CAPTURE)
        return dev_unsafe();
    dev_capture_break(s);
    return false;
}

#endif
