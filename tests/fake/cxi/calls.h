/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the stand-in for CXI call of each other. */
#ifndef FAKE_CXI_CALLS_H
#define FAKE_CXI_CALLS_H

#include "cxi.h"

/* prov.c */
long cxi_env(const char *name, long otherwise);
/* Says which rule of the hardware was broken and aborts, or returns code when
 * FAKE_CXI_SOFT=1. */
__attribute__((format(printf, 3, 4)))
int cxi_rule(int code, const char *rule, const char *format, ...);
uint64_t cxi_now(void);
/* Of a structure that the caller made: newer releases read it as far as
 * `newest`, so with FAKE_CXI_LONG=1 there have to be zeros (rule 22). */
void cxi_long(const void *made, size_t size, size_t newest);
int cxi_no_bind(struct fid *fid, struct fid *to, uint64_t flags);
int cxi_no_control(struct fid *fid, int command, void *arg);
int cxi_no_ops(struct fid *fid, const char *name, uint64_t flags, void **ops,
               void *context);

/* tuning.c: FI_CXI_... as they were when the provider was loaded. */
struct cxi_tuning {
    bool hardware, software;    /* messages are matched by */
    bool gpu_buffers;           /* buffers are registered with a GPU, too */
    size_t oflow_size, oflow_count, req_size, req_count;
    size_t tx_size, rx_size, cq_size, fill;
};
extern struct cxi_tuning cxi_tuning;
void cxi_tuning_read(void);
/* Entries of the queue of events of an endpoint that transmits. */
size_t cxi_tuning_tx_events(size_t tx_size, size_t cq_size);
size_t cxi_tuning_buffers(void);

/* spin.c: the base provider does not hold a core for nothing. */
void cxi_spin_yields(void);

/* bus.c: where NIC number n is, or NULL. */
struct fid_nic *cxi_bus_nic(int number);

/* keys.c: provider keys, locked.  The key of a region that is enabled; what
 * the base provider sees of it; an operation's aim, the next place to try after
 * a refusal, if there is one, and what was found out. */
uint64_t cxi_key_new(struct cxi_mr *mr);
uint64_t cxi_key_base(uint64_t key, unsigned alike);
void cxi_key_aim(struct cxi_op *op, uint64_t port);
bool cxi_key_next(struct cxi_op *op);
void cxi_key_was_right(const struct cxi_op *op);

/* info.c */
struct fi_info *cxi_base_info(void);
int cxi_getinfo(uint32_t version, const char *node, const char *service,
                uint64_t flags, const struct fi_info *hints,
                struct fi_info **out);

/* domain.c: the class that is asked for, or the other one; -FI_EINVAL. */
int cxi_tclass(uint32_t wanted, uint32_t otherwise, uint32_t *out);
int cxi_fabric_open(struct fi_fabric_attr *attr, struct fid_fabric **out,
                    void *context);

/* mr.c, ep.c, cq.c, cntr.c */
extern struct fi_ops_mr cxi_mr_ops;
extern struct fi_ops_rma cxi_rma_ops;
extern struct fi_ops_atomic cxi_atomic_ops;
extern struct fi_ops_msg cxi_msg_ops;
int cxi_ep_open(struct fid_domain *domain, struct fi_info *info,
                struct fid_ep **out, void *context);
int cxi_cq_open(struct fid_domain *domain, struct fi_cq_attr *attr,
                struct fid_cq **out, void *context);
int cxi_cntr_open(struct fid_domain *domain, struct fi_cntr_attr *attr,
                  struct fid_cntr **out, void *context);
int cxi_query_atomic(struct fid_domain *domain, enum fi_datatype type,
                     enum fi_op op, struct fi_atomic_attr *attr,
                     uint64_t flags);

/* mr.c, locked: where this provider reaches that local memory; its region, if
 * it is a GPU's; counts how an operation gets at its memory, which is gone
 * where the descriptor is wrong. */
void *cxi_local(struct cxi_domain *dom, const void *buf);
const struct cxi_mr *cxi_mr_of(struct cxi_domain *dom, const void *buf);
int cxi_mr_reach(struct cxi_op *op, const void *buf, size_t len,
                 const void *desc);
/* The same of deferred work, which still has to be cancelled then. */
int cxi_mr_reach_later(struct cxi_ep *ep, const void *buf, size_t len,
                       const void *desc);
void cxi_mr_count(struct cxi_domain *dom);          /* locked */
void cxi_mr_count_late(struct cxi_domain *dom);     /* locked: what is due */

/* cq.c: all locked. */
void cxi_cq_event(struct cxi_op *op);
void cxi_cq_late(struct cxi_domain *dom);   /* failures that are due */
void cxi_cq_progress(struct cxi_cq *cq);
void cxi_op_put(struct cxi_op *op);
void cxi_cq_release(struct cxi_ep *ep, struct cxi_cq *cq);
int cxi_cq_trywait(struct fid *fid);            /* not locked */

/* ep.c: flags of an operation with what the endpoint adds to them; those of
 * calls that take none.  Then, locked: a new operation with a transmit credit,
 * or -FI_EAGAIN and the like; its aim, and without one the operation and its
 * credit are gone; a copy of its source, whose owner may change it then. */
uint64_t cxi_ep_tx_flags(struct fid_ep *fid, uint64_t flags);
uint64_t cxi_ep_plain_flags(struct fid_ep *fid);
int cxi_ep_start(struct cxi_ep *ep, enum cxi_kind kind, fi_addr_t peer,
                 uint64_t flags, struct cxi_op **out);
int cxi_ep_aim(struct cxi_op *op, uint64_t addr, uint64_t key);
void cxi_op_copy(struct cxi_op *op);
void cxi_op_cancel(struct cxi_op *op);      /* one that was not submitted */

/* share.c: a NIC's entries and counters, which all PEs on it share.  use: takes
 * n more of them, or gives -n back; -FI_ENOSPC: there are not so many. */
enum cxi_what { CXI_ENTRIES, CXI_CNTRS, CXI_SHARED };
int cxi_use_open(const char *nic, struct cxi_nic_use **out);
void cxi_use_close(struct cxi_nic_use *u);
int cxi_use(struct cxi_nic_use *u, enum cxi_what what, long n);
long cxi_used(struct cxi_nic_use *u, enum cxi_what what);   /* of all PEs */
long cxi_most(struct cxi_nic_use *u, enum cxi_what what);
size_t cxi_depth(void);         /* as get_dwq_depth says it */

/* stale.c: around an atomic that the base provider carries out; locked. */
void cxi_stale_before(const struct cxi_op *op);
void cxi_stale_after(const struct cxi_op *op);
/* It has ended. */
void cxi_mr_was_read(const struct cxi_op *op);

/* nic.c */
int cxi_nic_start(struct cxi_domain *dom);
void cxi_nic_stop(struct cxi_domain *dom);
void cxi_nic_append(struct cxi_op *op);             /* locked */
void cxi_nic_submit(struct cxi_op *op);             /* locked */
void cxi_nic_wake(struct cxi_domain *dom);          /* locked */
void cxi_nic_pass(struct cxi_domain *dom);          /* locked */
void cxi_nic_drain(struct cxi_ep *ep);              /* locked */

#endif
