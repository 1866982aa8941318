/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_int.h - stream operations, and what the files of the layer share. */
#ifndef STREAM_STREAM_INT_H
#define STREAM_STREAM_INT_H

#include "gtl/gtl.h"
#include "stream/stream.h"
#include "stream/stream_errors.h"
#include "stream/exec/stream_exec_nic.h"
#include "stream/stream_wait.h"

enum stream_kind {
    STREAM_PUT,
    STREAM_GET,
    STREAM_PUT_BLOCKS,
    STREAM_GET_BLOCKS,
    STREAM_AMO,
    STREAM_PUT_SIGNAL,
    STREAM_SIGNAL,
    STREAM_INCREMENT,
    STREAM_MESSAGE,
    STREAM_FENCE,
    STREAM_LOCAL_QUIET,
    STREAM_QUIET,
    STREAM_WAIT,
    STREAM_KINDS
};

/* A stream operation.  One that is posted in a ring is done once the stream has
 * raised the ring's trigger counter to its sequence number, in the order of
 * these numbers. */
struct stream_op {
    enum stream_kind kind;
    int pe;                     /* of the world */
    bool waits;                 /* the stream waits for its completion */
    bool notifies;              /* SIGNAL: no fence or quiet waits for it */
    bool value;                 /* source is bytes[] */
    bool message;               /* flags in memory report its completion */
    bool for_nic;                /* QUIET: waits for one operation of the NIC */
    const char *call;
    struct stream_ring *ring;
    uint64_t seq;
    void *dest;
    const void *source;
    size_t len;
    union {
        struct core_strided blocks;
        struct stream_signal signal;
        struct stream_amo amo;
        struct stream_wait *wait;       /* the ring frees it */
        uint64_t two_input;         /* INCREMENT: that PE's two-input trigger */
        struct {
            struct stream_task *task;
            uint64_t seq;
            bool by_nic;        /* the task watches what the NIC does */
        } task;                 /* MESSAGE: see ring/stream_task.h */
        unsigned char bytes[32];
    };
};
_Static_assert(sizeof(struct stream_op) <= 112, "100,000 may be posted");

/* The counters between the device and the host, in pinned memory: each has one
 * writer and only grows. */
struct stream_counters {
    _Alignas(64) uint64_t trigger;      /* the stream is past that seq */
    uint64_t started;           /* past so many starts that posted nothing */
    uint64_t increments;        /* for a NIC without a doorbell: so many */
    /* The host: the last operation that a stream waits for.  All of them count
     * in stream_ring.completed. */
    _Alignas(64) uint64_t completed_waited;
};

struct stream_ring;
enum { STREAM_DECLINED = 1 };   /* the next executor is to do it */

/* The operation is begun. */
static inline void stream_errors_note_op(struct stream_errors *f,
                                         const struct stream_op *op)
{
    unsigned at = __atomic_load_n(&f->at, __ATOMIC_RELAXED);
    unsigned k = at % STREAM_RECENT;

    if (op->kind >= STREAM_FENCE)
        return;                 /* it has no PE */
    /* relaxed: for a line alone. */
    __atomic_store_n(&f->recent[k].call, op->call, __ATOMIC_RELAXED);
    __atomic_store_n(&f->recent[k].pe, op->pe, __ATOMIC_RELAXED);
    __atomic_store_n(&f->at, at + 1, __ATOMIC_RELAXED);
}

/* ---- stream_op.c ---- */
/* Gives the operation to the first executor that takes it (stream_exec.h); in a
 * stream that records a graph, to the graph.  0 or -errno, logged. */
int stream_op_enqueue(const struct stream_where *w, struct stream_op *op);

/* ---- stream_rma.c: operations out of arguments, checked ---- */
/* With that signal, or s NULL. */
int stream_make_put(const struct stream_where *w, void *dest,
                    const void *source, size_t n, size_t size,
                    const struct stream_signal *s, int pe,
                    struct stream_op *out);
int stream_make_get(const struct stream_where *w, void *dest,
                    const void *source, size_t n, size_t size, int pe,
                    struct stream_op *out);
int stream_make_signal(const struct stream_where *w,
                       const struct stream_signal *s, int pe,
                       struct stream_op *out);
int stream_make_amo(const struct stream_where *w, const struct stream_amo *a,
                    int pe, struct stream_op *out);

/* ---- ring/stream_ring_table.c ---- */
/* A queue's ring, one of several of that stream, with the stream's number or
 * STREAM_ID_UNKNOWN, of a stream that records a graph. */
#define STREAM_ID_UNKNOWN UINT64_MAX
int stream_ring_create(void *stream, uint64_t id, struct stream_ring **out);
/* The ring of a stream.  0 or -errno, logged but for -EBUSY: the stream records
 * a graph. */
int stream_ring_of(const struct stream_where *w, struct stream_ring **out);
/* There is none, for that reason: rc, logged. */
int stream_ring_refuse(const struct stream_where *w, int rc);
/* The stream is destroyed: its ring is freed once it is empty. */
void stream_ring_retire(void *stream);
/* Has anything been posted for this stream? */
bool stream_has_ring(void *stream);

/* ---- ring/stream_ring_post.c ---- */
/* Chunks for n more operations: 0 or -ENOMEM. */
int stream_ring_reserve(struct stream_ring *q, size_t n);
/* The entry for the next operation; NULL: no memory. */
struct stream_op *stream_ring_next_entry(struct stream_ring *q);
/* That entry is filled in: its sequence number. */
uint64_t stream_ring_publish(struct stream_ring *q);
/* Enqueues the store that raises the trigger counter to the last sequence
 * number. */
int stream_ring_trigger(struct stream_ring *q, void *stream);
/* Posts the operation: the stream triggers it when it gets there, and waits for
 * its completion if op->waits.  The ring frees the condition of a wait, also on
 * an error: 0 or -errno, logged. */
int stream_ring_post(const struct stream_where *w, struct stream_ring *q,
                     const struct stream_op *op);

/* ---- ring/stream_ring_list.c ---- */
bool stream_ring_empty(const struct stream_ring *q);
/* Operations posted so far in the rings there are. */
uint64_t stream_posted_ops(void);
/* Each ring's operation that has begun.  False: some rings were locked. */
typedef void stream_ring_visitor(struct stream_ring *q,
                                 const struct stream_op *op);
bool stream_rings_visit_heads(stream_ring_visitor *visit);

/* ---- ring/stream_ring_close.c ---- */
/* Posted operations that are not released never are.  Nothing is posted there
 * any more. */
void stream_ring_cancel(struct stream_ring *q);

/* ---- ring/stream_ring_triggered.c ---- */
/* On the thread of a stream that gets to the operation arg: raises the word,
 * and sees to the operation. */
void stream_ring_triggered(void *arg);

/* ---- stream_progress.c ---- */
/* The progress thread calls it in each turn: did anything advance?  *posted:
 * operations are posted that no thread will announce, *busy: something is under
 * way. */
typedef bool stream_progress_poll(bool *posted, bool *busy);
void stream_progress_open(stream_progress_poll *poll);
int stream_progress_start(void);
void stream_progress_stop(void);
/* There is work.  Any thread, also the device's. */
void stream_progress_wake(void);
/* The stream wakes the progress thread when it gets there. */
int stream_enqueue_wakeup(void *stream);

/* ---- stream_check.c ---- */
/* [sym, sym + len) of that PE of the context; its number in the world to
 * *world_pe.  arg names the argument in messages, see core_misuse_reason.
 * 0 or -EINVAL, logged. */
int stream_need_symmetric(const struct stream_where *w, const char *arg,
                          const void *sym, size_t len, int pe, int *world_pe);
int stream_need_local(const struct stream_where *w, const char *arg,
                      const void *p, size_t len);
/* Of what is made once, at the cost of a system call: are both ends of it
 * memory of this process?  What a GPU reaches is not asked. */
int stream_need_mapped(const struct stream_where *w, const void *p, size_t len);
int stream_need_aligned(const struct stream_where *w, const void *p,
                        size_t size);
/* Where nothing is enqueued, which would check it: 0, or -errno, logged, if it
 * is no stream. */
int stream_need_stream(const struct stream_where *w);
/* This thread does what a graph has recorded, in one of its launches. */
extern hidden __thread bool stream_in_graph_launch;
/* One line; gives -EINVAL. */
int stream_refuse(enum err_code code, const char *call, const char *fmt, ...)
    __attribute__((format(printf, 3, 4), cold));

/* One line; gives -ENOMEM. */
int stream_no_memory(const char *call) __attribute__((cold));

/* It is a stream, and records no graph, for what is enqueued once counts what
 * came before.  Else an error, logged. */
int stream_need_live(const struct stream_where *w);

/* A stream that waits delays no other stream: else -ENOTSUP, logged. */
bool stream_waits_allowed(void);
int stream_refuse_wait(const struct stream_where *w) __attribute__((cold));
/* Reports a refusal of the device: rc, or -ENOTSUP if the stream records a
 * graph. */
int stream_device_rc(const struct stream_where *w, int rc);

/* ---- stream_address.c: addresses for the device ---- */
void stream_address_open(void);
void stream_address_close(void);
/* Where it reaches that PE's memory, or 0. */
uintptr_t stream_device_address(int world_pe, const void *sym, size_t len);
/* The same for atomics, exclusive with those of others. */
uintptr_t stream_device_address_amo(int world_pe, const void *sym, size_t len);
/* Does a kernel make them itself, not by a host function of a stream, and are
 * they exclusive there? */
bool stream_kernel_atomics(int seg);
/* May a stream use this memory of ours without the host's waiting? */
bool stream_device_reaches(const void *p, size_t len);

#endif
