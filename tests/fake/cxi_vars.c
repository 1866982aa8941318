/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Description: the stand-in for CXI reads the variables of that provider when
 * it is loaded, corrects them as that one does, and counts what an endpoint
 * pins by receiving.  Run by cxi_buffers.sh with a number of each kind of
 * endpoint: those that receive, those that do not.
 */
#include "fabric.h"

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

int main(int argc, char **argv)
{
    n_with = argc > 1 ? atoi(argv[1]) : 0;
    n_without = argc > 2 ? atoi(argv[2]) : 0;
    if (n_with > MOST || n_without > MOST)
        return 2;
    T_RUN(a_variable_is_read_once);
    T_RUN(an_endpoint_that_does_not_receive_needs_no_queue);
    return T_DONE();
}
