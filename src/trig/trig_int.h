/* SPDX-License-Identifier: BSD-3-Clause */
/* trig_int.h - a trigger, for the files of this layer. */
#ifndef TRIG_TRIG_INT_H
#define TRIG_TRIG_INT_H

#include "base/handle.h"
#include "base/list.h"
#include "base/lock.h"
#include "stream/exec/stream_exec.h"
#include "trig/trig.h"

/* A posted operation.  It waits for hits; once released it is linked by `after`
 * in the trigger's list of such operations, then in that of those under way;
 * then it has completed, until its tag is armed again. */
struct trig_op {
    struct stream_op op;
    uint64_t threshold;
    int tag;
    bool released;
    struct trig_op *next;       /* of the tag, by threshold */
    struct trig_op *after;
};

struct trig_tag {
    uint64_t base;              /* the count when it was armed */
    uint64_t period;            /* the largest threshold */
    uint64_t host;              /* atomic: hits of the host */
    struct trig_op *ops, *next; /* next: the first one that waits for hits */
    unsigned n_ops, completed;  /* completed: since it was armed */
    bool repeats;
};

/* The hits of a stream: it stores how many there have been. */
struct trig_stream {
    struct trig_stream *next;
    void *stream;
    uint64_t id;                /* as gtl->stream_check() */
    uint64_t *counts;            /* pinned, [tags] */
    uint64_t total[];           /* enqueued so far */
};

struct trig_list {
    struct trig_op *first, **end;
};

struct trig {
    struct handle handle;
    struct list_link link;      /* of all, under their lock */
    struct base_lock lock;      /* of all that follows, but for atomic words */
    bool open;
    int n_tags;
    struct core_ctx ctx;        /* of the team whose PEs its operations name */
    struct trig_tag *tags;
    /* Pinned, [tags] each: hits is the kernels', done the host's. */
    uint64_t *hits, *done;
    /* Atomic, [tags]: the count at which the next operation is released, or
     * UINT64_MAX.  A hit that does not reach it takes no lock. */
    uint64_t *limit;
    struct trig_stream *streams;        /* atomic: grows at its head */
    struct stream_exec_ctx exec;
    struct trig_list released, issued;
    unsigned n_released, n_issued;
    bool begun, holds;          /* the first released one */
    unsigned n_waiting;         /* operations that wait for hits */
};

extern hidden struct handle_table trig_table;

/* ---- trig.c ---- */
/* NULL: a line says that there is none. */
struct trig *trig_find(const char *call, struct shmemx_trig *trig);
bool trig_has_tag(const char *call, const struct trig *t, int tag);

/* ---- trig_engine.c; the lock is held, but by trig_count ---- */
/* The hits of the tag so far. */
uint64_t trig_count(const struct trig *t, int tag);
/* Publishes limit[tag], and releases what the count has reached. */
void trig_check(struct trig *t, int tag);
/* All operations of the tag wait for hits again, behind those it has used. */
void trig_arm_again(struct trig *t, int tag);
/* Looks at all tags. */
void trig_scan(struct trig *t);
/* Some steps of what is released: did anything advance? */
bool trig_step(struct trig *t, bool *busy);
static inline bool trig_is_busy(const struct trig *t)
{
    return t->n_released || t->n_issued;
}
/* Unlocked: the progress thread looks at all triggers. */
void trig_wake(void);
int trig_engine_open(void);
void trig_engine_close(void);
void trig_engine_add(struct trig *t);
void trig_engine_remove(struct trig *t);

#endif
