/* SPDX-License-Identifier: BSD-3-Clause */
/* ofi_flow.h - endpoints, the flows that share them, and waiting for what they
 * carry.
 *
 * Completions come through the queues alone: counters would tell neither
 * whose operation is done nor which one failed, and reading one is a round
 * trip to the NIC on CXI.  The context value of an operation is either odd,
 * and says which flow it counts in (ofi_tag), or points to a struct ofi_op.
 * Where the provider keeps something of its own there (FI_CONTEXT), it always
 * points to one. */
#ifndef OFI_OFI_FLOW_H
#define OFI_OFI_FLOW_H

#include "base/atomics.h"
#include "base/fault.h"
#include "base/lock.h"
#include "ofi/ofi_lib.h"
#include "xport/xport.h"

struct ofi_ep {
    struct fid_ep *ep;
    struct fid_cq *cq;
    struct fid_cq *rx;          /* of what comes, or NULL: nothing does */
    int fd;                     /* of rx, or -1 */
    unsigned users;             /* flows; under ofi_lock */
    uint64_t *met;              /* atomic: a bit for each PE, ofi_am_meet() */
    _Alignas(64) uint64_t in_flight;    /* atomic */
};

/* ---- flows ---- */
/* A peer that stores words without a reply, and the number of the last. */
struct ofi_owed {
    int pe;
    uint64_t last;
};
enum { OFI_OWED = 8 };

struct xport_ep {
    struct ofi_ep *ep;
    uint32_t index;             /* in the table of flows */
    /* To whom all that is under way goes, -1: to several.  For people: not
     * exact when threads race. */
    int to;
    /* Who is told of what fails, NULL: that ends the job; and how often. */
    xport_failed *failed;
    void *failed_arg;
    uint64_t failures;          /* atomic */
    uint64_t looked_done, looked_ns, late_ns;   /* of ofi_flow_look */
    int refused;                /* atomic: PE + 1 that took no hello yet, or 0 */
    bool polled;                /* no fence or quiet comes */
    /* Of ofi_words.c, under words_lock; n_owed and confirming are atomic. */
    struct base_lock words_lock;
    struct ofi_owed owed[OFI_OWED];
    unsigned n_owed;
    uint64_t last_owed;         /* numbers of words: no two are the same */
    unsigned words;             /* since the last fence or quiet */
    bool alone;                 /* that had one to wait for */
    bool confirming;            /* a number is awaited in the slot, */
    int confirming_pe;          /* of that PE */
    /* Atomics among them are counted twice, and so are puts that wait for a
     * device or a processor, until what is sent later cannot overtake them. */
    _Alignas(64) uint64_t issued, amo_issued, staged;
    /* Of what is fetched: a quiet has to flush device memory, and has. */
    uint64_t landing, landed;
    _Alignas(64) uint64_t done, amo_done, sent;
};

/* relaxed: a quiet counts what its own thread has begun. */
static inline void ofi_flow_lands(struct xport_ep *f)
{
    __atomic_fetch_add(&f->landing, 1, __ATOMIC_RELAXED);
}

enum ofi_kind {
    OFI_WAITED, OFI_BOUNCED, OFI_ATOMIC, OFI_SENT, OFI_RECEIVED, OFI_ANSWERED,
    OFI_PIECED, OFI_LEADS, OFI_STRIPED, OFI_RAIL_ASKED, OFI_COUNTED,
    OFI_FETCHED, OFI_LENT
};

enum { OFI_DONE = 1, OFI_BAD };

/* An operation that has something to do when it completes. */
struct ofi_op {
    struct fi_context2 room;    /* first: the provider's until the end */
    enum ofi_kind kind;
    int pe;
    int state;                  /* WAITED, atomic: 0, then OFI_DONE or BAD */
    struct xport_ep *flow;    /* whose it is; NULL: nobody's */
    struct ofi_op *next;        /* in a list of those that rest */
};

/* The room may hold anything. */
static inline void ofi_op_set(struct ofi_op *op, enum ofi_kind kind, int pe,
                              struct xport_ep *f)
{
    op->kind = kind;
    op->pe = pe;
    op->state = 0;
    op->flow = f;
    op->next = NULL;
}

static inline void *ofi_tag(const struct xport_ep *f, int pe)
{
    return (void *)(uintptr_t)((uint64_t)f->index << 32 |
                               (uint64_t)(uint32_t)pe << 1 | 1);
}

static inline int ofi_flow_to(const struct xport_ep *f)
{
    return __atomic_load_n(&f->to, __ATOMIC_RELAXED);
}

static inline void ofi_flow_turns(struct xport_ep *f, int pe)
{
    if (ofi_flow_to(f) == pe)
        return;
    if (__atomic_load_n(&f->done, __ATOMIC_RELAXED) !=
        __atomic_load_n(&f->issued, __ATOMIC_RELAXED))
        pe = -1;
    __atomic_store_n(&f->to, pe, __ATOMIC_RELAXED);
}

static inline void ofi_flow_issued(struct xport_ep *f, int pe)
{
    ofi_flow_turns(f, pe);
    /* relaxed: only sums are compared; the queue orders the data. */
    __atomic_fetch_add(&f->issued, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&f->ep->in_flight, 1, __ATOMIC_RELAXED);
}

static inline void ofi_flow_taken_back(struct xport_ep *f)
{
    __atomic_fetch_sub(&f->issued, 1, __ATOMIC_RELAXED);
    __atomic_fetch_sub(&f->ep->in_flight, 1, __ATOMIC_RELAXED);
}

static inline void ofi_flow_done(struct xport_ep *f)
{
    /* release: pairs with quiet, which sees what the operation brought. */
    __atomic_fetch_add(&f->done, 1, __ATOMIC_RELEASE);
}

/* ---- ofi_flow.c ---- */
/* receives: peers address it. */
int ofi_ep_open(struct ofi_ep **out, bool receives);
void ofi_ep_close(struct ofi_ep *e);
int ofi_flow_open(struct xport_ep **out, bool own);
void ofi_flow_close(struct xport_ep *f);
struct xport_ep *ofi_flow_at(uint32_t index);
void ofi_flow_polled(struct xport_ep *f);
void ofi_flow_forgive(struct xport_ep *f, xport_failed *fn, void *arg);
void ofi_flow_look(struct xport_ep *f, uint64_t now_ns);
uint64_t ofi_in_flight(void);
/* What this endpoint started and has ended: how many entries there were. */
int ofi_ep_read(struct ofi_ep *e);
/* The queues of all endpoints that wait for something. */
bool ofi_progress(void);

/* Waiting in the library, for an operation or for room:
 *     struct ofi_wait w = { .wait.pe = pe };
 *     while (!done)
 *         ofi_wait_step(&w, f->ep);
 *     ofi_wait_end(&w); */
struct ofi_wait {
    const char *what;           /* is posted: for ofi_again */
    bool failed;                /* the post has: the flow's to forgive */
    struct xport_wait wait;
    bool room;                  /* for buffers, that others may have */
    unsigned steps, looks;
    uint64_t last_ns, gaps_ns;  /* of the clock; while this PE did not run */
};
void ofi_wait_step(struct ofi_wait *w, struct ofi_ep *e);
static inline void ofi_wait_end(struct ofi_wait *w)
{
    if (unlikely(w->wait.shown))
        xport_wait_resumed(&w->wait);
}
/* Before a post: keeps the operations in flight below the window. */
void ofi_make_room(struct xport_ep *f);
/* while (ofi_again(OFI_POST(f, fi_...()), w, f)); */
#define OFI_POST(f, call)                                                   \
    (fault_hit(FAULT_OFI_AGAIN) ? -FI_EAGAIN                                \
     : ofi_post_fault(f) ? -FI_EIO : (call))
static inline bool ofi_post_fault(const struct xport_ep *f)
{
    return unlikely(fault_armed) && f && f->failed && fault_hit(FAULT_OFI_POST);
}
/* For the key of one that is to fail. */
static inline uint64_t ofi_wrong_key(const struct xport_ep *f)
{
    return unlikely(fault_armed) && f->failed && fault_hit(FAULT_OFI_KEY)
           ? 0x5a5a : 0;
}
bool ofi_again(long rc, struct ofi_wait *w, struct xport_ep *f);
/* The post failed, w->failed: the operation that was counted is done. */
void ofi_not_posted(struct xport_ep *f, void *context) __attribute__((cold));

#endif
