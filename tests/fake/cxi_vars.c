/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Description: the stand-in for CXI reads the variables of that provider when
 * it is loaded, corrects them as that one does, and counts what an endpoint
 * pins by receiving.  Run by cxi_buffers.sh with a number of each kind of
 * endpoint: those that receive, those that do not; or with a queue of events
 * that is full early.
 */
#include "fabric.h"

#include <time.h>

enum { MOST = 8 };

static const struct want plain;
static int n_with, n_without;

T(a_variable_is_read_once)
{
    struct fi_info *h = fabric_hints(&plain), *info = NULL;

    T_EQ(fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, h, &info), 0);
    fi_freeinfo(info);
    setenv("FI_CXI_DEFAULT_TX_SIZE", "99", 1);
    T_EQ(fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, h, &info), 0);
    T_EQ(info->tx_attr->size, 77);
    fi_freeinfo(info);
    fi_freeinfo(h);
}

static struct fid_ep *open_one(struct node *n, bool receives)
{
    struct fi_info *info = fi_dupinfo(n->info);
    struct fid_ep *ep;

    if (!receives) {
        info->caps &= ~FI_RECV;
        info->rx_attr->caps &= ~FI_RECV;
    }
    T_EQ(fi_endpoint(n->domain, info, &ep, NULL), 0);
    fi_freeinfo(info);
    T_EQ(fi_ep_bind(ep, &n->av->fid, 0), 0);
    T_EQ(fi_ep_bind(ep, &n->txcq->fid, FI_TRANSMIT), 0);
    if (receives)
        T_EQ(fi_ep_bind(ep, &n->rxcq->fid, FI_RECV), 0);
    T_EQ(fi_enable(ep), 0);
    return ep;
}

/* Besides the one of the node, which does. */
T(an_endpoint_that_does_not_receive_needs_no_queue)
{
    struct node n = { 0 };
    struct fid_ep *eps[2 * MOST];
    char byte;

    fabric_open(&n, &plain);
    fabric_endpoint(&n, &plain);
    for (int i = 0; i < n_with + n_without; i++)
        eps[i] = open_one(&n, i < n_with);
    if (n_without)
        T_EQ(fi_recv(eps[n_with], &byte, 1, NULL, FI_ADDR_UNSPEC, NULL),
             -FI_ENOSYS);
    for (int i = 0; i < n_with + n_without; i++)
        T_EQ(fi_close(&eps[i]->fid), 0);
    fabric_close(&n);
}

/* Of 77 credits, 49 operations fill 4 % of the queue's 1228 events. */
T(an_endpoint_stops_when_its_events_are_not_taken)
{
    enum { FULL = 50, CREDITS = 77 };
    const struct timespec pause_ms = { .tv_nsec = 50000000 };
    static char memory[4096];
    char name[NAME_MAX_BYTES], byte = 3;
    size_t size = sizeof name;
    struct node n = { 0 };
    struct fid_mr *mr;
    fi_addr_t self;
    int sent, rc = 0, err;

    fabric_open(&n, &plain);
    fabric_endpoint(&n, &plain);
    mr = fabric_region(&n, memory, sizeof memory, 7);
    T_EQ(fi_getname(&n.ep->fid, name, &size), 0);
    self = fabric_peer(&n, name);
    for (sent = 0; sent < CREDITS - 1 && !rc; sent += !rc) {
        if (sent >= FULL)
            nanosleep(&pause_ms, NULL);
        rc = (int)fi_write(n.ep, &byte, 1, NULL, self, 0, 7, NULL);
    }
    T_EQ(rc, -FI_EAGAIN);
    T_LT(sent, CREDITS - 1);
    for (int i = 0; i < sent; i++) {
        fabric_wait(n.txcq, &err);
        T_EQ(err, 0);
    }
    T_EQ(fi_write(n.ep, &byte, 1, NULL, self, 0, 7, NULL), 0);
    fabric_wait(n.txcq, &err);
    T_EQ(fi_close(&mr->fid), 0);
    fabric_close(&n);
}

int main(int argc, char **argv)
{
    n_with = argc > 1 ? atoi(argv[1]) : 0;
    n_without = argc > 2 ? atoi(argv[2]) : 0;
    if (n_with > MOST || n_without > MOST)
        return 2;
    if (getenv("FI_CXI_CQ_FILL_PERCENT")) {
        T_RUN(an_endpoint_stops_when_its_events_are_not_taken);
        return T_DONE();
    }
    T_RUN(a_variable_is_read_once);
    T_RUN(an_endpoint_that_does_not_receive_needs_no_queue);
    return T_DONE();
}
