/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The objects of the stand-in for providers that ask much of their user;
 * prov.c says what it is.  Everything of a domain is guarded by the domain's
 * lock; functions whose comment says "locked" are called with it held.
 */
#ifndef FAKE_LOCAL_H
#define FAKE_LOCAL_H

#include <pthread.h>
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

#define container(p, type, member) \
    ((type *)(void *)((char *)(p) - offsetof(type, member)))

/* Whom it plays. */
struct local_like {
    const char *name;
    uint64_t mode;
    int mr_mode;
    size_t inject, tx_size;
    uint32_t hmem_api;          /* the oldest that gives FI_HMEM and atomics */
    bool late_inject;           /* reads the source of a put inline later */
};
extern const struct local_like *local_like;

struct local_fabric {
    struct fid_fabric fid;
    struct fid_fabric *real;
};

struct local_domain {
    struct fid_domain fid;
    struct fid_domain *real;
    struct fi_info *real_info;
    pthread_mutex_t lock;
    struct local_mr *mrs;       /* closed ones, too */
    struct local_op *ops, *spare;
    uint64_t random;
    int storm;                  /* posts that are yet to be refused */
    struct {
        uint64_t posts, refused, regions, contexts;
    } log;
};

struct local_mr {
    struct fid_mr fid;
    struct fid_mr *real;
    struct local_domain *dom;
    struct local_mr *next;
    const char *base;
    size_t len;
    uint64_t access;
    int uses;                   /* operations under way */
    bool closed;
};

struct local_cq {
    struct fid_cq fid;
    struct fid_cq *real;
    struct local_domain *dom;
};

struct local_ep {
    struct fid_ep fid;
    struct fid_ep *real;
    struct local_domain *dom;
    size_t outstanding;
};

enum { LOCAL_BUFFERS = 3 };

/* What was posted, until its entry is read. */
struct local_op {
    struct fi_context2 room;    /* the base provider's */
    struct local_op *next_all, *next;
    struct local_ep *ep;
    struct local_mr *mrs[LOCAL_BUFFERS];
    void *context;
    bool posted, receives;
};

/* prov.c */
long local_env(const char *name, long otherwise);
/* Says which rule was broken and aborts. */
__attribute__((format(printf, 1, 2), noreturn))
void local_broken(const char *format, ...);

/* info.c */
int local_getinfo(uint32_t version, const char *node, const char *service,
                  uint64_t flags, const struct fi_info *hints,
                  struct fi_info **out);
struct fi_info *local_base_info(void);

/* domain.c */
int local_fabric_open(struct fi_fabric_attr *attr, struct fid_fabric **out,
                      void *context);
int local_no_bind(struct fid *fid, struct fid *to, uint64_t flags);
int local_no_control(struct fid *fid, int command, void *arg);
int local_no_ops(struct fid *fid, const char *name, uint64_t flags, void **ops,
                 void *context);

/* mr.c */
extern struct fi_ops_mr local_mr_ops;
/* Locked: the region that the descriptor names, which must hold the bytes. */
struct local_mr *local_mr_check(struct local_domain *d, void *desc,
                                const void *buf, size_t len, uint64_t access);

/* cq.c */
int local_cq_open(struct fid_domain *domain, struct fi_cq_attr *attr,
                  struct fid_cq **out, void *context);
int local_trywait(struct fid_fabric *fabric, struct fid **fids, int count);

/* ep.c */
int local_ep_open(struct fid_domain *domain, struct fi_info *info,
                  struct fid_ep **out, void *context);
/* Locked: its entry was read; gives the user's context. */
void *local_op_end(struct local_op *op);

#endif
