/* SPDX-License-Identifier: BSD-3-Clause */
/* ofi_trig.h - deferred work: what the NIC does by itself when a counter says
 * so (fi_trigger(3)), for xport/xport_trig.h.
 *
 * A trigger has two counters, and one more on sockets: `trigger`, which the
 * device increments, so that the k-th increment releases the k-th operation;
 * and `done`, which counts what has ended.  A flag is an atomic of the NIC's on
 * this PE's own memory, released by `done`.  A signal waits for its put by a
 * counter that only the two of them use until both have ended.
 *
 * fi_trigger(3) has failures count towards thresholds like successes; whether
 * a NIC does so is tried (errors_count).  Then `done` counts them itself, a
 * signal is posted when the queue reports that its put succeeded, and
 * report_failures() waits until the queue has reported what a flag stands for.
 *
 * The NIC has room for few entries, and what it does with more is not defined,
 * so they are counted here: each lies in a struct ofi_trig_entry from when it
 * is queued until it is known to have ended, and there are no more of these
 * than the NIC has room for. */
#ifndef OFI_TRIG_OFI_TRIG_H
#define OFI_TRIG_OFI_TRIG_H

#include "base/list.h"
#include "base/lock.h"
#include "ofi/stage/ofi_device.h"
#include "xport/xport_trig.h"

#include <rdma/fi_trigger.h>

enum ofi_trig_role { OFI_ENTRY_OP, OFI_ENTRY_CHAINED_PUT, OFI_ENTRY_FLAG };

/* An entry of the NIC's.  What it points to lives as long as it. */
struct ofi_trig_entry {
    struct fi_deferred_work work;       /* first: its context is the address */
    union {
        struct fi_op_rma rma;
        struct fi_op_atomic atomic;
        struct fi_op_fetch_atomic fetch;
        struct fi_op_compare_atomic compare;
    } op;
    union {
        struct iovec iov;
        struct fi_ioc ioc;
    } local;
    struct fi_ioc result, cond;
    union {
        struct fi_rma_iov rma;
        struct fi_rma_ioc ioc;
    } remote;
    void *desc, *result_desc;
    uint64_t operand, compared;
    unsigned char bytes[XPORT_TRIG_BYTES];
    struct xport_trig *trig;
    struct ofi_trig_entry *next;      /* unused */
    struct list_link link;      /* of its trigger's, as they were queued */
    /* number: of its operation, or the next one's; at: the threshold of a signal
     * that is to be posted. */
    uint64_t number, at;
    enum ofi_trig_role role;    /* CHAINED_PUT: a signal follows it */
    int pe;
    const char *call;
    int chain;                  /* the counter it gives back, or -1 */
    struct ofi_trig_entry *signal; /* to be posted when the put has succeeded */
    uint64_t flag;              /* FLAG: the word's value, once it is raised */
};

struct xport_trig {
    struct fid_cntr *trigger, *done, *flagged;
    uint64_t *word;             /* the flag */
    void *mmio;
    uint64_t *doorbell;
    /* Under ofi_trig.lock. */
    uint64_t armed, flags;
    /* Where the counter is when all are released, and before this owner. */
    uint64_t due, due_before;
    uint64_t entries;           /* that the NIC has */
    struct list_link works;
    uint64_t ended;             /* atomic */
    uint64_t first;             /* atomic: so many of the first */
    uint64_t increments;             /* atomic: by the processor */
    uint64_t base;              /* of them, before its present owner */
    bool is_failed, drained;
    uint64_t reported;        /* flags that are over: the last, see note_flag */
    uint64_t flagged_ops;       /* operations that flags now gone stood for */
    bool retired, closed;       /* takes no more: what it has goes on */
    bool free;                  /* see xport_trig_ops.open */
    bool two_input;                  /* see ofi_trig_two_input.c */
    struct fid_mr *region;
    xport_trig_failed *failed;
    void *arg;
    struct xport_trig *next;
};

/* What the kinds of NICs do differently. */
struct ofi_trig_kind {
    const char *name;
    bool entries;               /* each work's end is reported by a queue */
    size_t depth;               /* 0: ask */
    int counters;               /* of a NIC */
    uint64_t most;              /* a threshold's */
    int (*doorbell)(struct fid_cntr *trigger, void **page);
    size_t (*query_depth)(struct fid_domain *domain);
};

/* What one of `pes` PEs on a NIC takes of it. */
struct ofi_trig_plan {
    int pes;
    size_t entries;
    int counters, chains, two_inputs, made;  /* made: triggers, in advance */
};

enum { OFI_CHAINS = 64 };       /* two halos of 26 neighbours */
/* Words that the NIC raises, of so many bytes each; one more is the test's. */
enum { OFI_TRIG_FLAG_SIZE = 64, OFI_TRIG_FLAGS = 64 };
enum { OFI_TRIG_TEST_ADDS = 4 };   /* of the test */

struct ofi_trig_engine {
    struct base_lock lock;
    const struct ofi_trig_kind *kind;
    int state;                  /* atomic; 0: not tried; 1; or -errno */
    struct ofi_ep *ep;          /* its queue is for deferred work alone */
    bool errors_count;          /* towards thresholds, as successes do */
    uint64_t region_counts;       /* what OFI_TRIG_TEST_ADDS atomics to a region
                                 * count; 0: not tried, or nothing */
    bool amo_coherent;          /* NIC and processor see what the other one has
                                 * stored to a word */
    struct fid_cntr *writes, *reads, *probe[3];
    struct ofi_trig_entry *all, *unused;
    struct ofi_trig_entry *to_post;      /* signals to be posted, by next */
    size_t n_works;
    uint64_t *counted;     /* behind all: of two-input triggers and the test */
    size_t size;                /* of both */
    struct fid_mr *mr;
    void *desc;                 /* where the provider wants descriptors */
    struct {
        struct fid_cntr *counter;
        uint64_t uses;
        bool busy;
    } chains[OFI_CHAINS];
    struct xport_trig *triggers;
    uint64_t *flag_mem, *spare[OFI_TRIG_FLAGS];
    int n_spare;
    struct ofi_trig_plan plan;
    int n_counters;
    uint64_t *my_nic;           /* which, for the PEs of this node */
    struct xport_trig_counts counts;
    char cause[256];            /* why it did not open, or "" */
};
extern struct ofi_trig_engine ofi_trig;
static inline int ofi_trig_state(void)
{
    return __atomic_load_n(&ofi_trig.state, __ATOMIC_ACQUIRE);
}

static inline bool ofi_trig_has_two_input(void)
{
    return ofi_trig.region_counts == OFI_TRIG_TEST_ADDS &&
           ofi_trig.amo_coherent;
}

/* ---- ofi_trig.c ---- */
/* Before the provider is chosen: room for the flags. */
int ofi_trig_reserve(void);
/* Is that provider to be asked for deferred work? */
enum { OFI_TRIGGER_AUTO, OFI_TRIGGER_NIC, OFI_TRIGGER_SOFT };
bool ofi_trig_wanted(const char *provider);
/* The table for this provider; xport_trig_none where it has no such work. */
const struct xport_trig_ops *ofi_trig_table(void);
void ofi_trig_close(void);

/* ---- ofi_trig_pool.c ---- */
int ofi_trig_open_entries(void);
void ofi_trig_close_entries(void);
/* Under the lock; NULL: none; ofi_trig_entry_alloc() polls for one. */
struct ofi_trig_entry *ofi_trig_entry_take(void);
void ofi_trig_entry_free(struct ofi_trig_entry *w);
int ofi_trig_counter(struct fid_cntr **out);
void ofi_trig_counter_close(struct fid_cntr **c);

/* ---- ofi_trig_open.c ---- */
/* In advance, while no stream waits. */
void ofi_trig_make_some(void);
/* Of one that is in no list. */
void ofi_trig_destroy(struct xport_trig *t);
/* The next one that is idle, or a new one; then for the next owner. */
int ofi_trig_open(struct xport_trig **out, bool free,
                  xport_trig_failed *failed, void *arg);
bool ofi_trig_return(struct xport_trig *t);
void ofi_trig_increment(struct xport_trig *t, uint64_t n);
uint64_t ofi_trig_count(struct xport_trig *t);
/* To its next owner: its counters and its flag go on from where they are. */
void ofi_trig_assign(struct xport_trig *t, xport_trig_failed *failed, void *arg);

/* ---- ofi_trig_quota.c ---- */
/* Before the first fence of the job that has a provider: which NIC it is; and
 * after that fence: fills ofi_trig.plan. */
void ofi_trig_publish(void);
void ofi_trig_plan_share(void);
/* Of a NIC's entries and counters; at most requested (SHMEM_TRIGGER_DEPTH), or
 * 0; depth may be OFI_DEPTH_UNKNOWN. */
void ofi_trig_divide(size_t depth, int counters, int pes, size_t requested,
                     struct ofi_trig_plan *out);
/* To be reserved on a NIC for so many PEs, with the provider's own. */
int ofi_trig_wanted_entries(int pes);
/* A NIC's entries, or OFI_DEPTH_UNKNOWN. */
size_t ofi_trig_depth(void);
enum { OFI_TRIG_LEAST = 3 };    /* entries of a PE: a put, its signal, a flag */
/* -ENOSPC, and ofi_trig.cause says what to do. */
int ofi_trig_no_depth(void);

/* ---- ofi_trig_two_input.c ---- */
int ofi_trig_open_two_input(struct xport_trig **out, uint64_t *off,
                            uint64_t *word, xport_trig_failed *failed,
                            void *arg);
bool ofi_trig_is_due(struct xport_trig *t, uint64_t n);
void ofi_trig_skip(struct xport_trig *t);
void ofi_trig_skip_done(struct xport_trig *t);

/* ---- ofi_trig_poll.c ---- */
/* Under the lock: what has ended gives its room back. */
void ofi_trig_poll(void);
struct ofi_trig_entry *ofi_trig_entry_alloc(void);
/* Failures behind flags that are raised have been reported. */
void ofi_trig_await_errors(void);

/* ---- ofi_trig_test.c ---- */
/* Before anything is armed: do failures count towards thresholds, what does a
 * region's counter count, and may a word be raised by both sides? */
int ofi_trig_probe(void);
/* --check: has a failed put counted, and did the queue report it before? */
int ofi_trig_try_failure(bool *counts, bool *first);
/* A put to this PE itself and its flag, released as a stream does it. */
int ofi_trig_test(void);

/* ---- ofi_trig_entry.c ---- */
int ofi_trig_arm(struct xport_trig *t, const struct xport_trig_op *op,
                 uint64_t step);
int ofi_trig_flag(struct xport_trig *t, uint64_t *least);
/* ---- ofi_trig_fill.c ---- */
enum { OFI_TRIG_WRONG_KEY = 0x5a5a };   /* of a key's bits, to make it fail */
bool ofi_trig_can(const struct xport_trig_op *op);
/* result: where the value before goes, or NULL. */
void ofi_trig_fill_amo(struct ofi_trig_entry *w, const struct xport_addr *at,
                       const struct xport_amo *a, void *result);
void ofi_trig_fill(struct ofi_trig_entry *w, const struct xport_trig_op *op);
/* -EAGAIN: there is no room now; other errors: the NIC does not take it. */
int ofi_trig_post(struct ofi_trig_entry *w, struct fid_cntr *trigger,
                  uint64_t at, struct fid_cntr *done);

#endif
