/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_task.h - tasks of a ring: work that a stream has come to and that
 * completes out of the order of the ring's operations.
 *
 * A layer above embeds a task in its object and posts an operation of kind
 * STREAM_MESSAGE that names it.  When the stream comes to that operation, the
 * task joins the list of its ring, and the stream goes on; the holder of the
 * ring, which is the progress thread or a thread of the software device, steps
 * it until it is complete. */
#ifndef STREAM_RING_STREAM_TASK_H
#define STREAM_RING_STREAM_TASK_H

#include <stdbool.h>
#include <stddef.h>

struct stream_op;
struct stream_ring;
struct stream_task;

struct stream_task_ops {
    /* The stream has come to the operation that names the task. */
    void (*reach)(const struct stream_op *op);
    /* One step, which waits for nothing.  True: it is complete.  *any: it has
     * done something. */
    bool (*step)(struct stream_ring *ring, struct stream_task *t, bool *any);
    /* It has left the list, and may be gone when this returns. */
    void (*complete)(struct stream_task *t);
    /* A name of the task that call started, for a line at the end. */
    void (*describe)(const struct stream_task *t, const char *call, char *text,
                     size_t size);
};

struct stream_task {
    const struct stream_task_ops *ops;
    struct stream_task *next;   /* in its ring's list */
    const char *call;           /* that started it */
};

/* By the holder of the ring: the stream has come to that operation. */
void stream_task_add(const struct stream_op *op);
/* By the holder of the ring: did anything come of a step of each? */
bool stream_tasks_progress(struct stream_ring *ring);

#endif
