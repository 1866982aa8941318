/* SPDX-License-Identifier: BSD-3-Clause */
/* fabric.h - an endpoint and all it needs, for tests of providers. */
#ifndef FAKE_FABRIC_H
#define FAKE_FABRIC_H

#include "t.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

enum { NAME_MAX_BYTES = 64 };

struct node {
    struct fi_info *info;
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_av *av;
    struct fid_cq *txcq, *rxcq;
    struct fid_ep *ep;
    struct fid_cntr *writes, *reads;
};

/* What a test asks of getinfo; zeros take what the provider gives. */
struct want {
    const char *provider;       /* NULL: cxi */
    uint64_t caps, order, mr_mode;
    size_t tx_size;
    bool selective;
};

struct fi_info *fabric_hints(const struct want *want);
/* Each ends the program where the provider fails. */
void fabric_open(struct node *n, const struct want *want);
void fabric_endpoint(struct node *n, const struct want *want);
void fabric_close(struct node *n);
struct fid_mr *fabric_region(struct node *n, void *buf, size_t size,
                             uint64_t key);
fi_addr_t fabric_peer(struct node *n, const void *name);
/* The next entry or error of the queue: its context; err gets 0 or the error.
 * Ends the program after 5 s. */
void *fabric_wait(struct fid_cq *cq, int *err);
/* True when the condition of the loop may be asked once more. */
bool fabric_patience(unsigned *turns);

#endif
