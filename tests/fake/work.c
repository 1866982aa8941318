/* SPDX-License-Identifier: BSD-3-Clause */
#include "work.h"

struct node me;
_Atomic uint64_t word[WORDS];
uint64_t source[WORDS];
struct fid_mr *mr, *source_mr;
fi_addr_t self;
struct fid_cntr *cntr[CNTRS];
volatile uint64_t *doorbell[CNTRS];
struct cntr_ops *cntr_ops;
struct dom_ops *dom_ops;

#define MUST(call) must((call) ? true : false, #call)

static void must(bool ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "work.c: not so: %s\n", what);
    exit(1);
}

void begin(uint64_t more_caps, bool hybrid)
{
    const struct want want = { .tx_size = TX, .selective = true,
        .caps = FI_RMA | FI_ATOMIC | FI_MSG | FI_TRIGGER | more_caps,
        .mr_mode = FI_MR_ENDPOINT | FI_MR_ALLOCATED | FI_MR_PROV_KEY };
    struct fi_cntr_attr attr = { .wait_obj = FI_WAIT_UNSPEC };
    char name[NAME_MAX_BYTES];
    size_t size = sizeof name, len;
    void *at;

    fabric_open(&me, &want);
    MUST(fi_open_ops(&me.domain->fid, "dom_ops_v6", 0, (void **)&dom_ops,
                     NULL) == 0);
    if (hybrid)
        MUST(dom_ops->enable_hybrid_mr_desc(&me.domain->fid, true) == 0);
    fabric_endpoint(&me, &want);
    mr = fabric_region(&me, word, sizeof word, 0);
    source_mr = fabric_region(&me, source, sizeof source, 0);
    MUST(fi_getname(&me.ep->fid, name, &size) == 0);
    self = fabric_peer(&me, name);
    for (int i = 0; i < CNTRS; i++) {
        MUST(fi_cntr_open(me.domain, &attr, &cntr[i], NULL) == 0);
        MUST(fi_open_ops(&cntr[i]->fid, "cxi_counter_ops", 0,
                         (void **)&cntr_ops, NULL) == 0);
        MUST(cntr_ops->get_mmio_addr(&cntr[i]->fid, &at, &len) == 0);
        MUST(len == 8);
        doorbell[i] = at;
    }
    memset((void *)(uintptr_t)word, 0, sizeof word);
}

int reap(void)
{
    struct fi_cq_msg_entry entry;
    int n = 0;

    while (fi_cq_read(me.txcq, &entry, 1) == 1)
        n++;
    return n;
}

void end(void)
{
    reap();
    nanosleep(&(struct timespec){ 0, 3000000 }, NULL);  /* late updates */
    for (int i = 0; i < CNTRS; i++)
        MUST(fi_close(&cntr[i]->fid) == 0);
    MUST(fi_close(&mr->fid) == 0);
    MUST(fi_close(&source_mr->fid) == 0);
    fabric_close(&me);
}

int queue(struct fi_deferred_work *w, int trigger, uint64_t threshold,
          int completion)
{
    int rc;

    w->triggering_cntr = trigger < 0 ? NULL : cntr[trigger];
    w->threshold = threshold;
    w->completion_cntr = completion < 0 ? NULL : cntr[completion];
    rc = fi_control(&me.domain->fid, FI_QUEUE_WORK, w);
    memset(w, 0xa5, sizeof *w);
    return rc;
}

int put(struct rma r, int trigger, uint64_t threshold, int completion)
{
    struct iovec iov = { (void *)(uintptr_t)r.buf, r.len ? r.len : 8 };
    struct fi_rma_iov rma = { (uint64_t)r.word * 8, iov.iov_len,
                              r.key ? r.key : fi_mr_key(mr) };
    struct fi_op_rma op = { .ep = me.ep, .flags = r.flags,
        .msg = { .msg_iov = &iov, .iov_count = r.iovs ? r.iovs : 1,
                 .addr = self, .rma_iov = &rma, .rma_iov_count = 1,
                 .context = (void *)(uintptr_t)r.buf } };
    struct fi_deferred_work w = {
        .op_type = r.type ? r.type : FI_OP_WRITE, .op.rma = &op };
    int rc = queue(&w, trigger, threshold, completion);

    memset(&op, 0xa5, sizeof op);
    memset(&rma, 0xa5, sizeof rma);
    memset(&iov, 0xa5, sizeof iov);
    return rc;
}

int amo(struct amo a, int trigger, uint64_t threshold, int completion)
{
    size_t n = a.count ? a.count : 1;
    struct fi_ioc ioc = { a.buf, n }, back = { a.result, n };
    struct fi_ioc with = { a.compare, n };
    struct fi_rma_ioc rma = { (uint64_t)a.word * 8, n, fi_mr_key(mr) };
    struct fi_op_compare_atomic op = { .ep = me.ep,
        .msg = { .msg_iov = &ioc, .iov_count = 1, .addr = self,
                 .desc = a.desc ? &a.desc : NULL,
                 .rma_iov = &rma, .rma_iov_count = 1, .datatype = FI_UINT64,
                 .op = a.op, .context = a.buf },
        .fetch = { .msg_iov = &back, .iov_count = 1 },
        .compare = { .msg_iov = &with, .iov_count = 1 }, .flags = a.flags };
    struct fi_op_atomic plain = { op.ep, op.msg, op.flags };
    struct fi_op_fetch_atomic fetch = { op.ep, op.msg, op.fetch, op.flags };
    struct fi_deferred_work w = { .op_type = FI_OP_ATOMIC,
                                  .op.atomic = &plain };
    int rc;

    if (a.compare) {
        w.op_type = FI_OP_COMPARE_ATOMIC;
        w.op.compare_atomic = &op;
    } else if (a.result) {
        w.op_type = FI_OP_FETCH_ATOMIC;
        w.op.fetch_atomic = &fetch;
    }
    rc = queue(&w, trigger, threshold, completion);
    memset(&ioc, 0xa5, sizeof ioc);
    memset(&rma, 0xa5, sizeof rma);
    return rc;
}

int message(enum fi_op_type type, void *buf, size_t len, int trigger,
            uint64_t threshold, int completion)
{
    struct iovec iov = { buf, len };
    struct fi_op_msg op = { .ep = me.ep, .flags = FI_COMPLETION,
        .msg = { .msg_iov = &iov, .iov_count = 1,
                 .addr = type == FI_OP_RECV ? FI_ADDR_UNSPEC : self } };
    struct fi_deferred_work w = { .op_type = type, .op.msg = &op };

    return queue(&w, trigger, threshold, completion);
}

int increment(enum fi_op_type type, int target, uint64_t value, int trigger,
         uint64_t threshold, int completion)
{
    struct fi_op_cntr op = { cntr[target], value };
    struct fi_deferred_work w = { .op_type = type, .op.cntr = &op };

    return queue(&w, trigger, threshold, completion);
}

bool is(int i, uint64_t value)
{
    unsigned turns = 0;

    while (atomic_load(&word[i]) != value)
        if (!fabric_patience(&turns))
            return false;
    return true;
}

bool counts(int i, uint64_t value)
{
    unsigned turns = 0;

    while (fi_cntr_read(cntr[i]) != value)
        if (!fabric_patience(&turns))
            return false;
    return true;
}
