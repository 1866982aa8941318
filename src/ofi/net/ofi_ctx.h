/* SPDX-License-Identifier: BSD-3-Clause */
/* ofi_ctx.h - endpoints, contexts that share them, waiting for what they carry.
 *
 * Completions come through the queues alone: counters would show neither whose
 * operation is done nor which one failed, and reading one is a round trip to
 * the NIC on CXI.  The context value of an operation is either odd, and says
 * which context it counts in (ofi_tag), or points to a struct ofi_op. Where
 * the provider keeps something of its own there (FI_CONTEXT), it always points
 * to one. */
#ifndef OFI_NET_OFI_CTX_H
#define OFI_NET_OFI_CTX_H

#include "base/atomics.h"
#include "base/fault.h"
#include "base/lock.h"
#include "base/trace.h"
#include "ofi/net/ofi_lib.h"
#include "xport/xport.h"

struct ofi_ep {
    struct fid_ep *ep;
    struct fid_cq *cq;
    struct fid_cq *rx;          /* of what comes, or NULL: nothing does */
    int fd;                     /* of rx, or -1 */
    unsigned users;             /* contexts; under ofi_lock */
    uint64_t *connected;       /* atomic: a bit for each PE, ofi_am_connect() */
    struct base_lock numbers_lock;      /* ofi_am_number.c: the last to a PE */
    uint16_t *numbers MEMBER_GUARDED_BY(numbers_lock);  /* NULL: none */
    uint32_t index;             /* in ofi.eps */
    _Alignas(64) uint64_t in_flight;    /* atomic */
};

/* ---- contexts ---- */
/* A peer that stores words without a reply, and the number of the last. */
struct ofi_unacked {
    int pe;
    uint64_t last;
};
enum { OFI_UNACKED = 8 };

struct xport_ctx {
    struct ofi_ep *ep;
    uint32_t index;             /* in the table of contexts */
    /* The PE of all operations under way, -1: several PEs.  For people: not
     * exact when threads race. */
    int to;
    /* Gets a report of each failure; NULL: a failure ends the job. */
    xport_failed *failed;
    void *failed_arg;
    uint64_t failures;          /* atomic */
    uint64_t checked_done, checked_ns, late_ns;   /* of ofi_ctx_check_timeout */
    int unconnected_pe;        /* atomic: PE + 1 that took no hello yet, or 0 */
    bool polled;                /* its user tests, and never waits */
    /* Of ofi_ack.c, under ack_lock; n_unacked and ack_pending are atomic. */
    struct base_lock ack_lock;
    struct ofi_unacked unacked[OFI_UNACKED];
    unsigned n_unacked;
    uint64_t last_update;       /* numbers of words: no two are the same */
    unsigned n_updates;         /* since the last request; single_update: */
    bool single_update;         /* it had one to wait for */
    bool ack_pending;           /* a number is awaited in the slot, */
    int ack_pe;                 /* of that PE */
    bool long_puts;             /* atomic: since the last fence */
    uint64_t fences, fences_over;       /* atomic, as of ofi_fence_end() */
    /* Atomics among them are counted twice, and so are puts that wait for a
     * device or a processor, until what is sent later cannot overtake them. */
    _Alignas(64) uint64_t issued, amo_issued, staged;
    /* Of what is fetched: a quiet has to flush device memory, and has. */
    uint64_t device_fetches, device_flushed;
    _Alignas(64) uint64_t done, amo_done, sent;
    uint64_t unsent;            /* messages besides these, until they are sent */
};

enum { OFI_OP_DONE = 1, OFI_OP_FAILED };

struct ofi_op;
/* Called at the end of an operation, in the thread that reads the queue: one of
 * the program's in a wait, or the progress thread, so it must not wait.  The
 * file that posts operations of a type defines it. */
struct ofi_op_type {
    void (*done)(struct ofi_op *op);
    /* It failed, and its context goes on: it counts as completed. */
    void (*failed)(struct ofi_op *op);
    /* Of a receive only, in place of both: a message of len bytes arrived. */
    void (*received)(struct ofi_op *op, size_t len);
    /* NULL, or true: this error needs no line (any more).  May add to text. */
    bool (*error_reported)(struct ofi_op *op, int err, char *text,
                           size_t size);
};

/* An operation that has something to do when it completes. */
struct ofi_op {
    struct fi_context2 room;    /* first: the provider's until the end */
    const struct ofi_op_type *type;
    int pe;
    int state;                  /* of ofi_op_waited, atomic: 0, OFI_OP_... */
    struct xport_ctx *ctx;      /* counts it; NULL: none does */
    struct ofi_op *next;        /* in a list of those that rest */
};

/* The room may hold anything. */
static inline void ofi_op_init(struct ofi_op *op,
                               const struct ofi_op_type *type, int pe,
                               struct xport_ctx *f)
{
    op->type = type;
    op->pe = pe;
    op->state = 0;
    op->ctx = f;
    op->next = NULL;
}

static inline void *ofi_tag(const struct xport_ctx *f, int pe)
{
    return (void *)(uintptr_t)((uint64_t)f->index << 32 |
                               (uint64_t)(uint32_t)pe << 1 | 1);
}

static inline int ofi_ctx_peer(const struct xport_ctx *f)
{
    return __atomic_load_n(&f->to, __ATOMIC_RELAXED);
}

static inline void ofi_ctx_note_peer(struct xport_ctx *f, int pe)
{
    if (ofi_ctx_peer(f) == pe)
        return;
    if (__atomic_load_n(&f->done, __ATOMIC_RELAXED) !=
        __atomic_load_n(&f->issued, __ATOMIC_RELAXED))
        pe = -1;
    __atomic_store_n(&f->to, pe, __ATOMIC_RELAXED);
}

static inline void ofi_ctx_issued(struct xport_ctx *f, int pe)
{
    ofi_ctx_note_peer(f, pe);
    /* relaxed: only sums are compared; the queue orders the data. */
    __atomic_fetch_add(&f->issued, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&f->ep->in_flight, 1, __ATOMIC_RELAXED);
}

static inline void ofi_ctx_unissue(struct xport_ctx *f)
{
    __atomic_fetch_sub(&f->issued, 1, __ATOMIC_RELAXED);
    __atomic_fetch_sub(&f->ep->in_flight, 1, __ATOMIC_RELAXED);
}

static inline void ofi_ctx_completed(struct xport_ctx *f)
{
    /* release: pairs with quiet, which sees what the operation brought. */
    __atomic_fetch_add(&f->done, 1, __ATOMIC_RELEASE);
}

static inline bool ofi_ep_is_busy(const struct ofi_ep *e)
{
    return __atomic_load_n(&e->in_flight, __ATOMIC_RELAXED);
}

/* ---- ofi_ctx.c ---- */
/* receives: peers address it. */
int ofi_ep_open(struct ofi_ep **out, bool receives);
void ofi_ep_close(struct ofi_ep *e);
int ofi_ctx_open(struct xport_ctx **out, bool own);
void ofi_ctx_close(struct xport_ctx *f);
struct xport_ctx *ofi_ctx_at(uint32_t index);
void ofi_ctx_set_polled(struct xport_ctx *f);
void ofi_ctx_continue_on_error(struct xport_ctx *f, xport_failed *fn,
                               void *arg);

/* ---- ofi_cq.c ---- */
/* A caller waits for it by ofi_wait_op(). */
extern const struct ofi_op_type ofi_op_waited;
uint64_t ofi_in_flight(void);
/* The operations that this endpoint started and has ended: the number of queue
 * entries. */
int ofi_ep_poll(struct ofi_ep *e);
/* The messages that have arrived; the number of queue entries. */
int ofi_poll_incoming(void);
/* The queues of all endpoints that wait for something, and ofi_work. */
bool ofi_progress(void);
/* The post failed, w->failed: the operation that was counted is done. */
void ofi_post_failed(struct xport_ctx *f, void *context) __attribute__((cold));

/* Further work that advances operations (ofi_work.c lists it): run() is called
 * while *pending, an atomic, is not 0, and returns how many operations
 * advanced, or 0 where it does not count them. */
struct ofi_work {
    const int *pending;
    int (*run)(void);
};
extern const struct ofi_work ofi_work[];        /* the last has no run() */
static inline int ofi_run_work(void)
{
    int n = 0;

    for (const struct ofi_work *w = ofi_work; w->run; w++)
        if (unlikely(__atomic_load_n(w->pending, __ATOMIC_RELAXED)))
            n += w->run();
    return n;
}
/* Atomics: as long as one is not 0, something is under way that wants polls
 * and that no descriptor announces.  The last is NULL. */
extern const int *const ofi_work_counts[];

/* ---- ofi_wait.c ---- */
/* Waiting in the library, for an operation or for room:
 *     struct ofi_wait w = { .wait.pe = pe };
 *     while (!done)
 *         ofi_wait_step(&w, f->ep);
 *     ofi_wait_end(&w); */
struct ofi_wait {
    const char *what;           /* is posted: for ofi_post_retry */
    bool failed;                /* the post has, and the context goes on */
    struct xport_wait wait;
    bool room;                  /* for buffers, that others may have */
    unsigned steps, polls;
    uint64_t last_ns, gaps_ns;  /* of the clock; while this PE did not run */
    uint64_t in_flight, moved_ns;       /* on the endpoint, at least so far; and
                                         * when they became so few */
};
void ofi_wait_step(struct ofi_wait *w, struct ofi_ep *e);
void ofi_trace_waited(const struct ofi_wait *w) __attribute__((cold));
static inline void ofi_wait_end(struct ofi_wait *w)
{
    if (trace_is_on() && w->wait.since_ns)
        ofi_trace_waited(w);
    if (unlikely(w->wait.reported))
        xport_wait_resumed(&w->wait);
}
/* Before a post: keeps the operations in flight below the window. */
void ofi_wait_window(struct xport_ctx *f);
/* while (ofi_post_retry(OFI_POST(f, fi_...()), w, f)); */
#define OFI_POST(f, call)                                                   \
    (fault_hit(FAULT_OFI_AGAIN) ? -FI_EAGAIN                                \
     : ofi_post_fault(f) ? -FI_EIO : (call))
static inline bool ofi_post_fault(const struct xport_ctx *f)
{
    return unlikely(fault_armed) && f && f->failed && fault_hit(FAULT_OFI_POST);
}
/* For the key of one that is to fail. */
static inline uint64_t ofi_wrong_key(const struct xport_ctx *f)
{
    return unlikely(fault_armed) && f->failed && fault_hit(FAULT_OFI_KEY)
           ? 0x5a5a : 0;
}
bool ofi_post_retry(long rc, struct ofi_wait *w, struct xport_ctx *f);
/* For an operation of type ofi_op_waited, which then counts as completed. */
void ofi_wait_op(struct ofi_op *op, struct xport_ctx *f);

#endif
