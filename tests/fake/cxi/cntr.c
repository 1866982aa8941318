/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters (rule 6).  The NIC counts; reading a counter makes progress on the
 * queues of the endpoints it is bound to, and is a round trip to the NIC, which
 * is why FAKE_CXI_LOG prints how many there were.
 */
#include "work.h"

#include <stdlib.h>
#include <string.h>
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

/* A round trip to the NIC, which writes the counter back. */
static void round_trip(struct fid_cntr *fid, uint64_t *success,
                       uint64_t *errors)
{
    struct cxi_cntr *cntr = container(fid, struct cxi_cntr, fid);

    values(cntr, success, errors);
    pthread_mutex_lock(&cntr->dom->lock);
    cntr->dom->log.reads++;
    cxi_cntr_write_back(cntr);
    pthread_mutex_unlock(&cntr->dom->lock);
}

static uint64_t cntr_read(struct fid_cntr *fid)
{
    uint64_t success, errors;

    round_trip(fid, &success, &errors);
    return success;
}

static uint64_t cntr_readerr(struct fid_cntr *fid)
{
    uint64_t success, errors;

    round_trip(fid, &success, &errors);
    return errors;
}

/* No publication says whether failures count towards a threshold.  If they do
 * not, what hangs on a failed operation never fires. */
uint64_t cxi_cntr_reached(const struct cxi_cntr *cntr)
{
    return cntr->success + (cntr->dom->errors_count ? cntr->errors : 0);
}

void cxi_cntr_change(struct cxi_cntr *cntr, bool error, bool keep,
                     uint64_t value)
{
    uint64_t max = error ? CXI_ERROR_MAX : CXI_SUCCESS_MAX;
    uint64_t *word = error ? &cntr->errors : &cntr->success;

    bool sound = !cntr->errors;

    *word = ((keep ? *word : 0) + value) & max;
    if (sound && cntr->errors)
        cxi_cntr_write_back(cntr);
    if (cntr->is_due || !cntr->armed ||
        cntr->armed->threshold > cxi_cntr_reached(cntr))
        return;
    cntr->is_due = true;
    cntr->next_due = cntr->dom->due;
    cntr->dom->due = cntr;
}

/* Bits 0-47, 48-54, and 63: written. */
void cxi_cntr_write_back(struct cxi_cntr *cntr)
{
    if (cntr->back)
        __atomic_store_n(cntr->back, 1ull << 63 | cntr->errors << 48 |
                         cntr->success, __ATOMIC_RELEASE);
}

static int change(struct fid_cntr *fid, bool error, bool keep, uint64_t value)
{
    struct cxi_cntr *cntr = container(fid, struct cxi_cntr, fid);

    if (value > (error ? CXI_ERROR_MAX : CXI_SUCCESS_MAX))
        return -FI_EINVAL;
    pthread_mutex_lock(&cntr->dom->lock);
    cxi_cntr_change(cntr, error, keep, value);
    if (!keep && !value)
        cxi_cntr_write_back(cntr);
    if (cntr->dom->due)
        cxi_nic_wake(cntr->dom);
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
    int rc = 0;

    if (threshold > CXI_SUCCESS_MAX || cntr->wait == FI_WAIT_NONE)
        return -FI_EINVAL;
    values(cntr, &success, &before);
    pthread_mutex_lock(&cntr->dom->lock);
    if (success < threshold)
        rc = cxi_work_event(cntr, threshold);
    pthread_mutex_unlock(&cntr->dom->lock);
    if (rc)
        return rc;
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
    struct cxi_cntr **at = &dom->all;
    int rc;

    if (cntr->refs)
        return -FI_EBUSY;
    pthread_mutex_lock(&dom->lock);
    cxi_nic_pass(dom);
    rc = cntr->users ? cxi_rule(-FI_EBUSY, "13", "a counter is closed that "
                                "deferred work uses (%zu)", cntr->users) : 0;
    if (rc) {
        pthread_mutex_unlock(&dom->lock);
        return rc;
    }
    cxi_doorbell_close(cntr);
    cxi_work_forget(cntr);
    while (*at != cntr)
        at = &(*at)->next;
    *at = cntr->next;
    dom->cntrs--;
    cxi_use(dom->nic_use, CXI_CNTRS, -1);
    pthread_mutex_unlock(&dom->lock);
    atomic_fetch_sub(&dom->refs, 1);
    free(cntr);
    return 0;
}

static int set_wb_buffer(struct fid *fid, void *buf, size_t len)
{
    struct cxi_cntr *cntr = container(fid, struct cxi_cntr, fid.fid);

    if (!buf || len < 8 || (uintptr_t)buf % 8)
        return -FI_EINVAL;
    pthread_mutex_lock(&cntr->dom->lock);
    cntr->back = buf;
    cxi_cntr_write_back(cntr);
    pthread_mutex_unlock(&cntr->dom->lock);
    return 0;
}

/* The length is that of a pointer, in the real one too, and not the page's. */
static int get_mmio_addr(struct fid *fid, void **addr, size_t *len)
{
    struct cxi_cntr *cntr = container(fid, struct cxi_cntr, fid.fid);
    int rc = addr && len ? cxi_doorbell_open(cntr, addr) : -FI_EINVAL;

    if (!rc)
        *len = sizeof *addr;
    return rc;
}

static int cntr_ops_open(struct fid *fid, const char *name, uint64_t flags,
                         void **ops, void *context)
{
    static struct cxi_cntr_ops extra = { set_wb_buffer, get_mmio_addr };

    (void)fid, (void)flags, (void)context;
    if (strcmp(name, "cxi_counter_ops"))
        return -FI_EINVAL;
    *ops = &extra;
    return 0;
}

static struct fi_ops cntr_fid_ops = {
    .size = sizeof cntr_fid_ops, .close = cntr_close, .bind = cxi_no_bind,
    .control = cxi_no_control, .ops_open = cntr_ops_open,
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

    cxi_long(attr, sizeof *attr, 32);
    if (wait != FI_WAIT_NONE && wait != FI_WAIT_UNSPEC &&
        wait != FI_WAIT_YIELD)
        return -FI_ENOSYS;
    if (attr && (attr->flags || attr->events != FI_CNTR_EVENTS_COMP))
        return -FI_ENOSYS;
    cntr = calloc(1, sizeof *cntr);
    if (!cntr)
        return -FI_ENOMEM;
    pthread_mutex_lock(&dom->lock);
    if (cxi_use(dom->nic_use, CXI_CNTRS, 1)) {
        pthread_mutex_unlock(&dom->lock);
        free(cntr);
        return -FI_EDOMAIN;
    }
    dom->cntrs++;
    if (dom->cntrs > dom->log.cntrs)
        dom->log.cntrs = dom->cntrs;
    cntr->dom = dom;
    cntr->next = dom->all;
    dom->all = cntr;
    pthread_mutex_unlock(&dom->lock);
    cntr->wait = wait;
    cntr->fid.fid = (struct fid){ FI_CLASS_CNTR, context, &cntr_fid_ops };
    cntr->fid.ops = &cntr_ops;
    atomic_fetch_add(&dom->refs, 1);
    *out = &cntr->fid;
    return 0;
}
