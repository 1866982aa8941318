/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters and deferred work of the stand-in for CXI. */
#ifndef FAKE_CXI_WORK_H
#define FAKE_CXI_WORK_H

#include "calls.h"

#include <rdma/fi_trigger.h>

#define CXI_CNTR_WB     (1ull << 62)    /* of deferred work */
#define CXI_WORK_FLAGS  (FI_MORE | FI_COMPLETION | FI_TRANSMIT_COMPLETE | \
                         FI_DELIVERY_COMPLETE | FI_MATCH_COMPLETE | \
                         CXI_CNTR_WB)

/* What fi_open_ops() gives: of a counter, and of a domain. */
struct cxi_cntr_ops {
    int (*set_wb_buffer)(struct fid *fid, void *buf, size_t len);
    int (*get_mmio_addr)(struct fid *fid, void **addr, size_t *len);
};

struct cxi_dom_ops {
    int (*cntr_read)(struct fid *fid, unsigned int cntr, uint64_t *value,
                     struct timespec *ts);
    int (*topology)(struct fid *fid, unsigned int *group,
                    unsigned int *where_switch, unsigned int *port);
    int (*enable_hybrid_mr_desc)(struct fid *fid, bool enable);
    size_t (*ep_get_unexp_msgs)(struct fid_ep *ep,
                                struct fi_cq_tagged_entry *entry,
                                size_t count, fi_addr_t *source,
                                size_t *found);
    int (*get_dwq_depth)(struct fid *fid, size_t *depth);
    int (*enable_mr_match_events)(struct fid *fid, bool enable);
    int (*enable_optimized_mrs)(struct fid *fid, bool enable);
};

struct cxi_cntr {
    struct fid_cntr fid;
    struct cxi_domain *dom;
    struct cxi_cntr *next;
    enum fi_wait_obj wait;
    int refs;
    uint64_t success, errors;
    char *page;                 /* its doorbell, once the program wants it */
    uint64_t *back;             /* where the NIC writes it back */
    struct cxi_work *armed;     /* by threshold, then as queued */
    struct cxi_cntr *next_due;
    bool is_due;
    size_t users;               /* work that it triggers or that counts on it */
};

/* What a trigger does when its counter has come to the threshold. */
enum cxi_does { CXI_DOES_OP, CXI_DOES_ADD, CXI_DOES_SET, CXI_DOES_WRITE_BACK };

struct cxi_work {
    struct cxi_work *next;
    uint64_t threshold, value;
    enum cxi_does does;
    struct cxi_op *op;
    struct cxi_cntr *cntr;      /* that it adds to, sets or writes back */
};

/* cntr.c: all locked.  Stores old * keep + value. */
void cxi_cntr_change(struct cxi_cntr *cntr, bool error, bool keep,
                     uint64_t value);
void cxi_cntr_write_back(struct cxi_cntr *cntr);
/* What thresholds are compared with. */
uint64_t cxi_cntr_reached(const struct cxi_cntr *cntr);

/* doorbell.c; cxi_bell_close() and cxi_bell_take() are locked. */
int cxi_doorbell_open(struct cxi_cntr *cntr, void **out);
void cxi_doorbell_forget(void);
void cxi_doorbell_close(struct cxi_cntr *cntr);
void cxi_doorbell_take(struct cxi_domain *dom);
int cxi_doorbell_start(struct cxi_domain *dom);
void cxi_doorbell_stop(struct cxi_domain *dom);

/* work.c; cxi_work_event() and _fire() and _forget() are locked. */
int cxi_work_control(struct fid *domain, int command, void *arg);
int cxi_work_ops(struct fid *domain, const char *name, uint64_t flags,
                 void **ops, void *context);
int cxi_work_event(struct cxi_cntr *cntr, uint64_t threshold);
void cxi_work_fire(struct cxi_domain *dom);
void cxi_work_forget(struct cxi_cntr *cntr);    /* its write backs */
void cxi_work_log(struct cxi_domain *dom);

/* rma.c, atomic.c, msg.c: an operation, not yet submitted; locked. */
struct cxi_amo {
    enum cxi_kind kind;
    const void *buf, *compare;
    void *result;
    fi_addr_t peer;
    uint64_t addr, key;
    enum fi_datatype type;
    enum fi_op op;
    void *context;
    const void *desc;           /* of result */
};
int cxi_rma_make(struct cxi_ep *ep, enum cxi_kind kind,
                 const struct fi_msg_rma *msg, uint64_t flags,
                 struct cxi_op **out);
int cxi_amo_make(struct cxi_ep *ep, const struct cxi_amo *a, size_t count,
                 uint64_t flags, struct cxi_op **out);
int cxi_send_make(struct cxi_ep *ep, const struct fi_msg *msg, uint64_t flags,
                  struct cxi_op **out);
int cxi_recv_make(struct cxi_ep *ep, const struct fi_msg *msg, uint64_t flags,
                  struct cxi_op **out);

#endif
