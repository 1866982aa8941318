/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters (rule 6).  The NIC counts; reading a counter makes progress on the
 * queues of the endpoints it is bound to.
 */
#include "cxi.h"

#include <stdlib.h>
#include <time.h>

static void progress(struct cxi_cntr *cntr)
{
    cxi_nic_pass(cntr->dom);
    for (struct cxi_ep *ep = cntr->dom->eps; ep; ep = ep->next)
        for (int i = 0; i < CXI_C_N; i++)
            if (ep->cntr[i] == cntr && ep->txcq)
                cxi_cq_progress(i == CXI_C_RECV ? ep->rxcq : ep->txcq);
}

static void values(struct cxi_cntr *cntr, uint64_t *success, uint64_t *errors)
{
    pthread_mutex_lock(&cntr->dom->lock);
    progress(cntr);
    *success = cntr->success;
    *errors = cntr->errors;
    pthread_mutex_unlock(&cntr->dom->lock);
}

static uint64_t cntr_read(struct fid_cntr *fid)
{
    uint64_t success, errors;

    values(container(fid, struct cxi_cntr, fid), &success, &errors);
    return success;
}

static uint64_t cntr_readerr(struct fid_cntr *fid)
{
    uint64_t success, errors;

    values(container(fid, struct cxi_cntr, fid), &success, &errors);
    return errors;
}

/* Stores old * keep + value, when both are within the counter's bits. */
static int change(struct fid_cntr *fid, bool error, bool keep, uint64_t value)
{
    struct cxi_cntr *cntr = container(fid, struct cxi_cntr, fid);
    uint64_t max = error ? CXI_ERROR_MAX : CXI_SUCCESS_MAX;
    uint64_t *word = error ? &cntr->errors : &cntr->success;

    if (value > max)
        return -FI_EINVAL;
    pthread_mutex_lock(&cntr->dom->lock);
    *word = ((keep ? *word : 0) + value) & max;
    pthread_mutex_unlock(&cntr->dom->lock);
    return 0;
}

static int cntr_add(struct fid_cntr *fid, uint64_t value)
{
    return change(fid, false, true, value);
}

static int cntr_set(struct fid_cntr *fid, uint64_t value)
{
    return change(fid, false, false, value);
}

static int cntr_adderr(struct fid_cntr *fid, uint64_t value)
{
    return change(fid, true, true, value);
}

static int cntr_seterr(struct fid_cntr *fid, uint64_t value)
{
    return change(fid, true, false, value);
}

static int cntr_wait(struct fid_cntr *fid, uint64_t threshold, int timeout)
{
    struct cxi_cntr *cntr = container(fid, struct cxi_cntr, fid);
    uint64_t end = cxi_now() + (uint64_t)timeout * 1000000u;
    uint64_t success, errors, before;

    if (threshold > CXI_SUCCESS_MAX || cntr->wait == FI_WAIT_NONE)
        return -FI_EINVAL;
    values(cntr, &success, &before);
    for (;;) {
        values(cntr, &success, &errors);
        if (success >= threshold)
            return 0;
        if (errors != before)
            return -FI_EAVAIL;
        if (timeout >= 0 && cxi_now() >= end)
            return -FI_ETIMEDOUT;
        nanosleep(&(struct timespec){ 0, 20000 }, NULL);
    }
}

static int cntr_close(struct fid *fid)
{
    struct cxi_cntr *cntr = container(fid, struct cxi_cntr, fid.fid);
    struct cxi_domain *dom = cntr->dom;

    if (cntr->refs)
        return -FI_EBUSY;
    pthread_mutex_lock(&dom->lock);
    dom->cntrs--;
    pthread_mutex_unlock(&dom->lock);
    atomic_fetch_sub(&dom->refs, 1);
    free(cntr);
    return 0;
}

static struct fi_ops cntr_fid_ops = {
    .size = sizeof cntr_fid_ops, .close = cntr_close, .bind = cxi_no_bind,
    .control = cxi_no_control, .ops_open = cxi_no_ops,
};

static struct fi_ops_cntr cntr_ops = {
    .size = sizeof cntr_ops, .read = cntr_read, .readerr = cntr_readerr,
    .add = cntr_add, .set = cntr_set, .wait = cntr_wait,
    .adderr = cntr_adderr, .seterr = cntr_seterr,
};

int cxi_cntr_open(struct fid_domain *domain, struct fi_cntr_attr *attr,
                  struct fid_cntr **out, void *context)
{
    struct cxi_domain *dom = container(domain, struct cxi_domain, fid);
    enum fi_wait_obj wait = attr ? attr->wait_obj : FI_WAIT_NONE;
    struct cxi_cntr *cntr;

    if (wait != FI_WAIT_NONE && wait != FI_WAIT_UNSPEC &&
        wait != FI_WAIT_YIELD)
        return -FI_ENOSYS;
    if (attr && (attr->flags || attr->events != FI_CNTR_EVENTS_COMP))
        return -FI_ENOSYS;
    cntr = calloc(1, sizeof *cntr);
    if (!cntr)
        return -FI_ENOMEM;
    pthread_mutex_lock(&dom->lock);
    if (dom->cntrs == CXI_CNTR_MAX) {
        pthread_mutex_unlock(&dom->lock);
        free(cntr);
        return -FI_EDOMAIN;
    }
    dom->cntrs++;
    pthread_mutex_unlock(&dom->lock);
    cntr->dom = dom;
    cntr->wait = wait;
    cntr->fid.fid = (struct fid){ FI_CLASS_CNTR, context, &cntr_fid_ops };
    cntr->fid.ops = &cntr_ops;
    atomic_fetch_add(&dom->refs, 1);
    *out = &cntr->fid;
    return 0;
}
