/* SPDX-License-Identifier: BSD-3-Clause */
/* Atomics of the provider.  Words are bit patterns here, unsigned numbers of 4
 * or 8 bytes: for these operations signs make no difference.  Operands live
 * until the completion, since providers may read them late. */
#include "ofi/net/ofi_deferred.h"
#include "ofi/net/ofi_int.h"
#include "ofi/net/ofi_pool.h"

#include <string.h>

/* The provider's operation: fetching ones have a result. */
static const struct {
    enum fi_op op;
    bool compares;
} ops[AMO_OPS] = {
    [AMO_FETCH] = { FI_ATOMIC_READ, false },
    [AMO_SET] = { FI_ATOMIC_WRITE, false },
    [AMO_SWAP] = { FI_ATOMIC_WRITE, false },
    [AMO_CSWAP] = { FI_CSWAP, true },
    [AMO_ADD] = { FI_SUM, false },
    [AMO_AND] = { FI_BAND, false },
    [AMO_OR] = { FI_BOR, false },
    [AMO_XOR] = { FI_BXOR, false },
};

static enum fi_datatype type_of(int size)
{
    return size == 8 ? FI_UINT64 : FI_UINT32;
}

bool ofi_amo_all_valid(struct fid_ep *ep)
{
    static const int sizes[] = { 4, 8 };
    enum fi_datatype t;
    size_t count;

    if (!(ofi.info->caps & FI_ATOMIC))
        return false;
    for (int s = 0; s < 2; s++) {
        t = type_of(sizes[s]);
        for (int op = 0; op < AMO_OPS; op++) {
            count = 0;
            if (ops[op].compares
                ? fi_compare_atomicvalid(ep, t, ops[op].op, &count)
                : op == AMO_SET
                ? fi_atomicvalid(ep, t, ops[op].op, &count)
                : fi_fetch_atomicvalid(ep, t, ops[op].op, &count))
                return false;
            /* These come without a result as well. */
            if (op >= AMO_ADD && fi_atomicvalid(ep, t, ops[op].op, &count))
                return false;
        }
    }
    return true;
}

/* A word in flight. */
struct amo {
    struct ofi_op op;
    uint64_t value, cond, was;
    void *result;               /* nbi: where the program wants it */
    int size;
    enum amo_op what;     /* of one that a put leads: what, and where */
    struct xport_addr at;
};

enum { AMOS = 1024 };
static struct ofi_pool amos = OFI_POOL_INIT("room for atomics");

int ofi_amo_open(void)
{
    return ofi_pool_open(&amos, AMOS, sizeof(struct amo), FI_READ | FI_WRITE);
}

void ofi_amo_close(void)
{
    ofi_pool_close(&amos);
}

bool ofi_amo_room(bool little)
{
    return ofi_pool_has(&amos, little ? OFI_FEW : AMOS / 4);
}

static void amo_done(struct ofi_op *op)
{
    struct amo *x = (struct amo *)op;
    struct xport_ctx *f = op->ctx;

    if (x->result)
        memcpy(x->result, &x->was, (size_t)x->size);
    ofi_pool_free(&amos, op);
    __atomic_fetch_add(&f->amo_done, 1, __ATOMIC_RELEASE);
    ofi_ctx_completed(f);
}

/* The operand holds no result. */
static void amo_failed(struct ofi_op *op)
{
    ((struct amo *)op)->result = NULL;
    amo_done(op);
}

static const struct ofi_op_type amo_type = {
    .done = amo_done, .failed = amo_failed
};

static long post(struct xport_ctx *f, const struct xport_addr *at,
                 struct amo *x, enum amo_op op, bool fetches)
{
    const struct ofi_peer *p = ofi_peer(at->pe);
    struct fi_ioc value = { &x->value, 1 }, cond = { &x->cond, 1 };
    struct fi_ioc was = { &x->was, 1 };
    uint64_t key = ofi_remote_key(p, at) ^ ofi_wrong_key(f);
    struct fi_rma_ioc remote = { ofi_remote_addr(p, at), 1, key };
    void *desc = amos.desc;
    struct fi_msg_atomic m = {
        .msg_iov = &value, .desc = &desc, .iov_count = 1, .addr = p->addr,
        .rma_iov = &remote, .rma_iov_count = 1, .datatype = type_of(x->size),
        .op = ops[op].op, .context = &x->op
    };

    if (ops[op].compares)
        return fi_compare_atomicmsg(f->ep->ep, &m, &cond, &desc, 1, &was,
                                    &desc, 1, FI_COMPLETION);
    if (fetches || ofi.fetching)
        return fi_fetch_atomicmsg(f->ep->ep, &m, &was, &desc, 1,
                                  FI_COMPLETION);
    return fi_atomicmsg(f->ep->ep, &m, FI_COMPLETION | FI_DELIVERY_COMPLETE);
}

void ofi_amo_native(struct xport_ctx *f, const struct xport_addr *at,
             const struct xport_amo *a, void *result, bool nbi)
{
    struct ofi_wait w = { .what = "atomic", .wait.pe = at->pe };
    bool fetches = result || a->op == AMO_SWAP || a->op == AMO_FETCH;
    bool waits = result && !nbi;
    struct amo *x = ofi_pool_alloc(&amos, f);

    x->value = a->value;
    x->cond = a->cond;
    x->size = a->size;
    x->result = nbi ? result : NULL;
    ofi_op_init(&x->op, waits ? &ofi_op_waited : &amo_type, at->pe, f);
    ofi_wait_window(f);
    ofi_ctx_issued(f, at->pe);
    /* relaxed: counted before it can complete, in this thread's order. */
    __atomic_fetch_add(&f->amo_issued, 1, __ATOMIC_RELAXED);
    while (ofi_post_retry(OFI_POST(f, post(f, at, x, a->op, fetches)), &w, f))
        ;
    if (unlikely(w.failed))
        ofi_post_failed(f, &x->op);
    if (!waits)                 /* x may serve another thread by now */
        return;
    ofi_wait_op(&x->op, f);
    __atomic_fetch_add(&f->amo_done, 1, __ATOMIC_RELEASE);
    if (likely(x->op.state == OFI_OP_DONE))
        memcpy(result, &x->was, (size_t)a->size);
    ofi_pool_free(&amos, &x->op);
}

/* ---- behind a put ---- */

/* Whose put has ended, and which found no room since. */
struct ofi_deferred ofi_amo_deferred = OFI_DEFERRED_INIT;
int ofi_amo_awaiting_put;       /* atomic: whose put has not ended */

static const struct ofi_op_type put_then_amo = {
    .done = ofi_amo_put_done, .failed = ofi_amo_put_failed
};

void *ofi_amo_after_put(struct xport_ctx *f, const struct xport_addr *at,
                     const struct xport_amo *a)
{
    struct amo *x = ofi_pool_alloc(&amos, f);

    x->value = a->value;
    x->size = a->size;
    x->what = a->op;
    x->at = *at;
    x->result = NULL;
    ofi_op_init(&x->op, &put_then_amo, at->pe, f);
    ofi_ctx_note_peer(f, at->pe);
    __atomic_fetch_add(&f->issued, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&f->amo_issued, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&ofi_amo_awaiting_put, 1, __ATOMIC_SEQ_CST);
    ofi_progress_request();
    return &x->op;
}

/* False: there is no room.  Else it may serve another thread by now. */
static bool post_deferred(struct ofi_op *op)
{
    struct amo *x = (struct amo *)op;
    struct xport_ctx *f = op->ctx;
    int pe = op->pe;
    long rc = OFI_POST(f, post(f, &x->at, x, x->what, false));

    if (likely(!rc))
        return true;
    if (rc == -FI_EAGAIN)
        return false;
    ofi_op_error(f, "atomic", pe, rc, NULL);
    ofi_post_failed(f, op);
    return true;
}

void ofi_amo_put_done(struct ofi_op *op)
{
    struct xport_ctx *f = op->ctx;

    op->type = &amo_type;
    __atomic_fetch_add(&f->ep->in_flight, 1, __ATOMIC_RELAXED);
    if (unlikely(!post_deferred(op)))
        ofi_deferred_add(&ofi_amo_deferred, op);
    /* Last: the progress thread looks at all counts before it sleeps. */
    __atomic_fetch_sub(&ofi_amo_awaiting_put, 1, __ATOMIC_RELAXED);
    ofi_ctx_completed(f);           /* the put */
}

void ofi_amo_put_failed(struct ofi_op *op)
{
    struct xport_ctx *f = op->ctx;

    __atomic_fetch_sub(&ofi_amo_awaiting_put, 1, __ATOMIC_RELAXED);
    amo_failed(op);
    ofi_ctx_completed(f);
}

int ofi_amo_retry(void)
{
    struct ofi_op *op;

    for (int n = ofi_deferred_count(&ofi_amo_deferred); n > 0; n--) {
        op = ofi_deferred_take(&ofi_amo_deferred);
        if (!op)
            break;
        if (post_deferred(op))
            ofi_deferred_posted(&ofi_amo_deferred);
        else
            ofi_deferred_append(&ofi_amo_deferred, op);
    }
    return 0;
}
