/* SPDX-License-Identifier: BSD-3-Clause */
/* trig_int.h - a trigger, for the files of this layer. */
#ifndef TRIG_TRIG_INT_H
#define TRIG_TRIG_INT_H

#include "base/handle.h"
#include "base/list.h"
#include "base/lock.h"
#include "base/trace.h"
#include "stream/exec/stream_exec.h"
#include "stream/queue/stream_queue.h"
#include "trig/trig_owner.h"

struct trig_tag {
    uint64_t base;              /* the count when it was armed */
    uint64_t period;            /* the largest threshold */
    struct trig_op *ops, *next; /* next: the first one that waits for hits */
    unsigned n_ops, completed;  /* completed: since it was armed */
    bool repeats, no_nic;
    bool copies;                /* kernels do its operation: trig_copy.c */
    uint64_t by_kernel;         /* `done`, as far as that has been counted */
    /* The counter that has its place (trig_nic.c), or NULL. */
    struct xport_trig *nic;
    uint64_t due;               /* of the last operation that is armed */
    uint64_t forwarded;         /* hits of the host, streams, kernels */
    uint64_t nic_done;          /* completed, of what was armed */
    unsigned armed;             /* with the NIC, and not completed */
    uint64_t beyond;            /* hits that a NIC has counted, which it left */
};

/* What a stream does for a trigger: it stores how many hits there have been, and
 * how many of its waits are over. */
struct trig_stream {
    struct trig_stream *next;
    void *stream;               /* NULL: it has been destroyed */
    uint64_t id;                /* as gtl->stream_check() */
    uint64_t *counts;           /* pinned, [tags + 1]: the waits are last */
    uint64_t total[];           /* enqueued so far, as counts */
};

struct trig_list {
    struct trig_op *first, **end;
};

struct trig {
    struct handle handle;
    struct list_link link;      /* of all, under their lock */
    struct base_lock lock;      /* of all that follows, but for atomic words */
    bool open;
    unsigned attended;          /* atomic: threads that step it while they wait */
    uint64_t delayed_ns;          /* atomic: the progress thread's time comes then */
    int n_tags;
    struct core_ctx ctx;        /* of the team whose PEs its operations name */
    struct trig_owner owner;    /* zeros: the program */
    struct trig_tag *tags;
    /* Pinned, [tags] each: hits is the kernels', done the host's. */
    uint64_t *hits, *done;
    struct trig_kept *kept;          /* has the words when it is freed */
    /* Atomic, [tags]: the count at which the next operation is released, or
     * UINT64_MAX.  A hit that does not reach it takes no lock. */
    uint64_t *limit;
    uint64_t *host_hits;        /* atomic, [tags], in the allocation of limit */
    unsigned hitting;           /* atomic: threads within hit() */
    struct trig_stream *streams;        /* atomic: grows at its head */
    struct stream_exec_ctx exec;
    struct trig_list released, issued;  /* exec: of the first released one */
    unsigned n_released, n_issued;
    unsigned n_waiting;         /* operations that wait for hits */
    bool may_use_nic;
    uint64_t *doorbells;        /* the device's memory, [tags]: 0 or a doorbell;
                                 * NULL: not a partitioned message's */
    int *nic_tags;              /* [tags] */
    unsigned n_nic_tags, n_armed;
    struct shmemi_dev_trig_copy *copies;        /* pinned, [tags], or NULL */
    unsigned n_copies;          /* operations that kernels have */
};

extern hidden struct handle_table trig_table;

/* For SHMEM_STATS, atomic: operations, and tags that found no counter of the
 * NIC's. */
extern hidden struct trig_counts {
    uint64_t by_host, by_nic, no_counter, by_kernel;
} trig_counts;
static inline void trig_counted(uint64_t *n)
{
    __atomic_fetch_add(n, 1, __ATOMIC_RELAXED);
}

/* In a trace: hits and operations of a tag of the program's. */
static inline void trig_trace(const struct trig *t, const char *what, int tag,
                              uint64_t threshold, int pe)
{
    if (!t->owner.arg)
        TRACE_MARK(.name = what, .kind = TRACE_TRIGGER, .pe = pe + 1,
                   .at = TRACE_NOWHERE,
                   .arg = { tag, (int64_t)threshold });
}

/* ---- trig.c ---- */
/* Do kernels add to `hits` themselves? */
bool trig_hits_directly(void);
/* NULL: a line says that there is none. */
struct trig *trig_find(const char *call, struct shmemx_trig *trig);
bool trig_has_tag(const char *call, const struct trig *t, int tag);
/* For a thread whose hit has been counted before: others may have seen that, and
 * free the trigger.  It is not freed between the two; NULL: it has been. */
struct trig *trig_late_begin(void *trig, unsigned *begun);
void trig_late_end(unsigned begun);
/* After handle_hide() and a full fence: returns when all that had found the
 * trigger before have ended. */
void trig_late_await(void);
/* Has the operation had its hits?  With the lock. */
bool trig_has_begun(const struct trig *t, const struct trig_op *op);

/* ---- trig_memory.c ---- */
/* hits and done; false: no memory. */
bool trig_memory_open(struct trig *t);
/* The stream's, made at its first use, or NULL; with the lock.  id: as
 * gtl->stream_check(). */
struct trig_stream *trig_memory_stream(struct trig *t, void *stream,
                                       uint64_t id);
/* The trigger is freed: this memory goes once no stream uses it, be that after
 * the close. */
void trig_memory_keep(struct trig *t);
void trig_memory_close(void);

/* ---- trig_engine.c; the lock is held, but by trig_count ---- */
/* The hits of the tag so far, but for those that a NIC has; and all. */
uint64_t trig_host_count(const struct trig *t, int tag);
uint64_t trig_count(const struct trig *t, int tag);
/* An operation of the tag has. */
void trig_complete(struct trig *t, int tag);
/* Publishes limit[tag], and releases what the count has reached. */
void trig_check(struct trig *t, int tag);
/* All operations of the tag wait for hits again, behind those it has used. */
void trig_arm_again(struct trig *t, int tag);
/* Has it had its hits, and waits for its trigger's owner? */
bool trig_is_held(const struct trig *t, int tag);
/* Looks at all tags: is one held? */
bool trig_scan(struct trig *t);
/* The same of the tags from `from` to before `end`. */
bool trig_scan_tags(struct trig *t, int from, int end);
/* Some steps of what is released: did anything advance? */
bool trig_step(struct trig *t, bool *busy);

/* ---- trig_nic.c ---- */
/* The NIC counts the hits of the tag from now on, if its first operation is one
 * for the NIC. */
void trig_nic_use(struct trig *t, const struct trig_op *op);
void trig_nic_forward(struct trig *t, int tag);
/* Arms the next operation.  NEVER: it is the processor's, which reads the count;
 * FULL: the NIC has no room now. */
enum trig_armed { TRIG_ARMED, TRIG_FULL, TRIG_NEVER };
enum trig_armed trig_nic_arm(struct trig *t, struct trig_op *op);
/* Counts what has completed. */
bool trig_nic_reap(struct trig *t);
/* The processor counts again.  Armed operations may still begin where hits come
 * to the NIC too late. */
void trig_nic_leave(struct trig *t, int tag);
/* All tags have left, and the network closes: the NIC's are free again. */
void trig_nic_close(void);

/* ---- trig_copy.c ---- */
int trig_copy_open(struct trig *t);
/* The table, for its end: its size, 0 if there is none. */
size_t trig_copy_table(const struct trig *t, uint64_t **out);
/* Before the post: kernels do it, or threads.  -EINVAL, logged: the tag has
 * one that kernels do. */
int trig_copy_use(const char *call, struct trig *t, const struct trig_op *op);
/* ARMED: kernels have it. */
enum trig_armed trig_copy_arm(struct trig *t, const struct trig_op *op);
bool trig_copy_reap(struct trig *t);
/* Kernels have it no more. */
void trig_copy_leave(struct trig *t, int tag);
/* The tag repeats from now on. */
void trig_copy_repeat(struct trig *t, int tag);
/* Of hits, UINT64_MAX: none. */
uint64_t trig_copy_limit(const struct trig *t, int tag);
/* -ENOTSUP, logged: a hit that is no kernel's. */
int trig_copy_refuse(const char *call);

static inline bool trig_is_busy(const struct trig *t)
{
    return t->n_released || t->n_issued;
}

/* ---- trig_report.c ---- */
/* The hang report has triggers from now on. */
void trig_report_open(void);
/* A line at the end about what still waits for hits. */
void trig_report_unfinished(void);
/* The text for a wait for completed operations of the tag. */
void trig_describe(const struct trig *t, int tag, char *text, size_t size);

/* ---- trig_engine.c ---- */
int trig_engine_open(void);
void trig_engine_close(void);
void trig_engine_add(struct trig *t);
void trig_engine_remove(struct trig *t);
/* Each trigger there is, but for what is in use just now; locks: with its lock. */
typedef void trig_visitor(struct trig *t, void *arg);
void trig_try_visit(bool locks, trig_visitor *visit, void *arg);
/* Each, with its lock. */
void trig_visit_each(trig_visitor *visit, void *arg);

#endif
