/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The objects of the stand-in for libfabric's CXI provider; prov.c says what
 * it is and where each rule is kept.
 *
 * Everything of a domain is guarded by the domain's one lock; functions whose
 * comment says "locked" are called with it held.
 */
#ifndef FAKE_CXI_H
#define FAKE_CXI_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/providers/fi_prov.h>

#define CXI_MAX_MSG     ((uint64_t)cxi_env("FAKE_CXI_MAX_MSG", 0xffffffff))
#define CXI_INJECT      192
#define CXI_TX_SIZE     1024
#define CXI_TX_MAX      16384
#define CXI_RX_SIZE     1024
#define CXI_SUCCESS_MAX ((1ull << 48) - 1)
#define CXI_ERROR_MAX   127

#define CXI_COMP_MODES  (FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE | \
                         FI_DELIVERY_COMPLETE | FI_MATCH_COMPLETE)
#define CXI_WRITE_FLAGS (FI_INJECT | FI_COMPLETION | FI_MORE | FI_FENCE | \
                         CXI_COMP_MODES)
#define CXI_READ_FLAGS  (CXI_WRITE_FLAGS & ~FI_INJECT)

/* The word of the key that the base provider sees, the endpoint's port on
 * top: a region answers at its own endpoint only.  A client key that is not
 * yet enabled answers to its shadow alone.  PROBE: asks, does not count.  Of
 * provider keys see keys.c. */
#define CXI_KEY_LOW     ((1ull << 45) - 1)
#define CXI_KEY_PROBE   (1ull << 46)
#define CXI_KEY_SHADOW  (1ull << 47)
#define CXI_PORT_LESS   ((1ull << 48) - 1)
#define CXI_KEY_ALIKE   8       /* regions that may have the same key */
#define CXI_PEERS       64      /* counted apart */

#define container(p, type, member) \
    ((type *)(void *)((char *)(p) - offsetof(type, member)))

struct cxi_fabric {
    struct fid_fabric fid;
    struct fid_fabric *real;
    atomic_int refs;
};

struct cxi_domain {
    struct fid_domain fid;
    struct cxi_fabric *fabric;
    struct fid_domain *real;
    struct fi_info *real_info;
    struct fid_cq *real_cq;     /* of every endpoint, both directions */
    bool prov_keys;
    uint32_t tclass;
    atomic_int refs;
    pthread_mutex_t lock;
    struct cxi_ep *eps;
    struct cxi_mr *mrs;
    int counters, arrivals;     /* of regions: how many, and their epoll */
    struct cxi_count *uncounted;        /* by them, yet */
    uint64_t next_key, random, delay;   /* delay: the longest, in ns */
    struct {
        uint64_t rkey;          /* of the first region with a key */
        unsigned alike;         /* which of them was right */
    } hints[64];
    struct cxi_op *graves;      /* received too late to be taken back */
    struct cxi_nic_use *nic_use;        /* with the other PEs on this NIC */
    int cntrs;
    bool hybrid;                /* atomics may come with a descriptor */

    /* Deferred work: entries of the NIC that wait, and what is said of how
     * many there are; counters that have reached what one of theirs waits for. */
    size_t depth, entries;
    struct cxi_cntr *due, *all;
    bool errors_count;          /* failures, towards thresholds */
    uint64_t late_ns;           /* so much later the queue reports them */
    struct cxi_op *late;        /* which the queue does not report yet */
    int doorbell_pipe[2];       /* what was stored at doorbells */
    atomic_int doorbells;           /* in it, or about to be */
    struct {
        uint64_t queued, fired, flushed, reads, doorbells, mapped, described,
                 full;
        size_t entries, credits, pinned;
        int cntrs;
    } log;                      /* the last four: the most at a time */
    struct {
        int n;
        size_t bytes, gpu;
    } buffers, most_buffers;    /* of endpoints that receive */

    pthread_t nic;              /* plays the NIC: see nic.c */
    int wake, real_fd;          /* an eventfd, and what real_cq wakes */
    uint64_t asleep_until;      /* of the NIC's thread; 0: it is awake */
    bool stop;
    int inflight;               /* operations the base provider holds */
    int to_peer[CXI_PEERS];     /* those for each, by its number */
};

struct cxi_cq {
    struct fid_cq fid;
    struct cxi_domain *dom;
    enum fi_cq_format format;
    enum fi_wait_obj wait;
    int fd;                     /* readable once something came, or -1 */
    size_t size;
    int refs;
    struct cxi_op *events, **events_end;    /* the NIC has written these */
    struct cxi_op *ready, **ready_end;      /* progress has seen these */
};

enum cxi_bound { CXI_C_SEND, CXI_C_RECV, CXI_C_READ, CXI_C_WRITE, CXI_C_N };

struct cxi_ep {
    struct fid_ep fid;
    struct cxi_domain *dom;
    struct cxi_ep *next;
    struct fid_ep *real;
    struct fid_av *av;
    struct cxi_cq *txcq, *rxcq;
    struct cxi_cntr *cntr[CXI_C_N];
    struct cxi_cntr *silent[8];     /* bound for remote events: never count */
    int silents, refs;
    bool tx_selective, rx_selective, enabled, hybrid;
    size_t armed;               /* deferred operations that have not fired */
    uint64_t caps, order, op_flags, port;
    uint32_t tclass;
    size_t tx_size, tx_used, rx_size, rx_used;
    size_t buffers;             /* bytes that it pins to receive */
    size_t tx_events, tx_room;  /* in the NIC's queue of events, and at most */
    bool tx_full;               /* full enough to transmit no more */
    struct cxi_op *first, **last;   /* not yet delivered, as submitted */
    struct cxi_op *recvs;           /* posted, nothing received yet */
};

struct cxi_mr {
    struct fid_mr fid;
    struct cxi_domain *dom;
    struct cxi_mr *next;
    struct cxi_ep *ep;
    struct fid_mr *real, *shadow, *probe;
    bool events;                /* may have a counter */
    struct cxi_cntr *cntr;
    struct fid_cntr *base;      /* counts for it; wakes the NIC by fd */
    uint64_t counted;
    int fd;
    void *buf, *seen;           /* seen: where this provider reaches a GPU's */
    size_t len;
    uint64_t access, key;
    unsigned alike;             /* number among those with the same key */
    char touched;
};

/* What a region's counter is late to count. */
struct cxi_count {
    struct cxi_count *next;
    struct cxi_mr *mr;
    uint64_t due, n;
};

enum cxi_kind { CXI_WRITE, CXI_READ, CXI_ATOMIC, CXI_FETCH, CXI_COMPARE,
                CXI_SEND, CXI_RECV };

/*
 * Steps of an operation:
 *   NEW      waits for its turn; an update without delivery completion goes
 *            to PROBE first, everything else to ISSUED
 *   PROBE    an empty write asks the target whether key and range are good
 *   HELD     completed at the initiator, not yet written at the target
 *   ISSUED   the base provider carries it out
 *   TOUCH    failed; asks whether the key is registered but not enabled
 *   DONE     delivered, or failed
 */
enum cxi_step { CXI_NEW, CXI_PROBE, CXI_HELD, CXI_ISSUED, CXI_TOUCH, CXI_DONE };

struct cxi_op {
    struct cxi_op *next, *next_event;
    struct cxi_ep *ep;
    enum cxi_kind kind;
    enum cxi_step step;
    bool entry, dc, fence;      /* entry: the CQ shows it when it succeeds */
    bool complete, seen;        /* event written; event taken by its user */
    bool deferred, quiet, copied;   /* no event; the operand when queued */
    struct cxi_cntr *counts;    /* of deferred work: completions */
    uint64_t flags, due;        /* of the CQ entry; not before, in ns */
    void *context;
    fi_addr_t peer;
    uint64_t addr, key, rkey;   /* rkey: what the base provider sees */
    unsigned alike, tries;      /* which of the regions with that key */
    char *buf, *copy;           /* copy: owned, takes the place of buf */
    size_t len;
    int err, prov_err;
    enum fi_datatype type;
    enum fi_op aop;
    void *result;
    const void *compare;
    uint64_t comparand[4];
    uint64_t data;
    fi_addr_t source;
};

#endif
