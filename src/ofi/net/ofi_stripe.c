/* SPDX-License-Identifier: BSD-3-Clause */
/* Large puts and gets, in a stripe for each rail.
 *
 * The context counts a transfer once, when its last stripe has ended.  A put
 * counts as staged until then, since what the first rail carries later could
 * overtake the stripes of the others; a signal behind it goes at its end. */
#include "ofi/net/ofi_rail.h"
#include "ofi/net/ofi_deferred.h"
#include "ofi/stage/ofi_device.h"
#include "ofi/net/ofi_local.h"
#include "ofi/net/ofi_pool.h"
#include "base/fault.h"

#include <stdio.h>
#include <string.h>

/* No word of a peer's is in two stripes. */
enum { TRANSFERS = 512, UNIT = 64 };

struct transfer;
struct stripe {
    struct ofi_op op;
    struct transfer *of;
    char *local;
    size_t off, len;            /* in the transfer */
    void *desc;
    struct fid_mr *mr;          /* of local memory, for this stripe alone */
    struct ofi_ep *ep;
    int rail;
};

struct transfer {
    struct ofi_op op;           /* state: of one that is waited for */
    int left;                   /* atomic: stripes that have not ended */
    bool put, waited;
    bool bad;                   /* atomic: a stripe has failed */
    struct ofi_ep *ep;    /* of its context, which may end before it */
    struct ofi_op *amo_after;        /* ofi_amo_after_put() or NULL */
    struct ofi_op *am_after;   /* ofi_am_after_put() or NULL: what, and where */
    struct xport_amo sig;
    struct xport_addr sig_at;
    uint32_t uses;              /* of the am_after */
    struct stripe part[OFI_RAILS];
};
static struct ofi_pool transfers = OFI_POOL_INIT("room for stripes");

int ofi_stripe_open(void)
{
    return ofi_pool_open(&transfers, TRANSFERS, sizeof(struct transfer), 0);
}

void ofi_stripe_close(void)
{
    ofi_pool_close(&transfers);
}

bool ofi_stripe_room(void)
{
    return ofi_pool_has(&transfers, TRANSFERS / 4);
}

/* ---- the end ---- */

/* Of transfers, their signals. */
struct ofi_deferred ofi_stripe_deferred = OFI_DEFERRED_INIT;

static bool post_am_after(struct transfer *x)
{
    if (!ofi_am_after_put_post(x->am_after, x->uses, x->ep, &x->sig_at,
                               &x->sig))
        return false;
    ofi_pool_free(&transfers, &x->op);
    return true;
}

void ofi_stripe_retry(void)
{
    struct ofi_op *op;

    for (int n = ofi_deferred_count(&ofi_stripe_deferred); unlikely(n > 0);
         n--) {
        op = ofi_deferred_take(&ofi_stripe_deferred);
        if (!op)
            return;
        if (post_am_after((struct transfer *)op))
            ofi_deferred_posted(&ofi_stripe_deferred);
        else
            ofi_deferred_append(&ofi_stripe_deferred, op);
    }
}

/* The put of x has ended, whose signal is a message. */
static void send_signal(struct transfer *x, bool bad)
{
    if (bad) {
        ofi_am_after_put_cancel(x->am_after);
        ofi_pool_free(&transfers, &x->op);
        return;
    }
    x->uses = ofi_am_after_put_publish(x->am_after);
    if (!post_am_after(x))
        ofi_deferred_add(&ofi_stripe_deferred, &x->op);
}

static void finish(struct transfer *x)
{
    struct xport_ctx *f = x->op.ctx;
    bool put = x->put, waited = x->waited;
    /* relaxed: the count of stripes orders it. */
    bool bad = __atomic_load_n(&x->bad, __ATOMIC_RELAXED);
    struct ofi_op *amo_after = x->amo_after, *am_after = x->am_after;

    if (!waited && !am_after)
        ofi_pool_free(&transfers, &x->op);
    if (put)                    /* release: pairs with all_sent() */
        __atomic_fetch_add(&f->sent, 1, __ATOMIC_RELEASE);
    if (!amo_after)
        ofi_ctx_completed(f);
    else if (bad)
        ofi_amo_put_failed(amo_after);
    else
        ofi_amo_put_done(amo_after);
    if (am_after)               /* which the context counts, too: it is there */
        send_signal(x, bad);
    if (waited)                 /* release: pairs with await() */
        __atomic_store_n(&x->op.state, OFI_OP_DONE, __ATOMIC_RELEASE);
}

/* acquire and release: the last one sees what the others brought. */
static void end_one(struct transfer *x)
{
    if (__atomic_sub_fetch(&x->left, 1, __ATOMIC_ACQ_REL) == 0)
        finish(x);
}

static void local_close(struct stripe *s)
{
    if (s->mr)
        fi_close(&s->mr->fid);
    s->mr = NULL;
}

static void stripe_done(struct ofi_op *op)
{
    struct stripe *s = (struct stripe *)op;

    local_close(s);
    end_one(s->of);
}

static void stripe_failed(struct ofi_op *op)
{
    struct stripe *s = (struct stripe *)op;

    __atomic_store_n(&s->of->bad, true, __ATOMIC_RELAXED);
    stripe_done(op);
}

/* Of the stripes of a transfer, the first error alone is reported, with the
 * rail in the text. */
static bool error_reported(struct ofi_op *op, int err, char *text, size_t size)
{
    struct stripe *s = (struct stripe *)op;
    size_t at = strlen(text);

    (void)err;
    if (__atomic_exchange_n(&s->of->bad, true, __ATOMIC_RELAXED))
        return true;
    if (s->rail)
        snprintf(text + at, size - at, "%son rail %s", at ? ", " : "",
                 ofi_rails[s->rail - 1].info->domain_attr->name);
    return false;
}

static const struct ofi_op_type stripe_type = {
    .done = stripe_done, .failed = stripe_failed,
    .error_reported = error_reported
};

/* ---- the begin ---- */

/* Which rails carry it, and all of it. */
struct plan {
    int n, rail[OFI_RAILS];
    struct ofi_pair *pairs;
    const struct ofi_peer *peer;
};

/* Rails that have not been tried are asked, and take part later. */
static bool plan(const struct xport_addr *at, const void *local, struct plan *p)
{
    if (at->seg >= OFI_RAIL_SEGS ||
        (unlikely(gtl_device_only) && ofi_is_device_only(local)))
        return false;
    p->peer = ofi_peer(at->pe);
    p->pairs = ofi_rail_pairs(at->pe);
    p->n = 0;
    for (int i = 0; i <= ofi_n_rails; i++) {
        int state = __atomic_load_n(&p->pairs[i].state, __ATOMIC_RELAXED);

        if (state == OFI_PAIR_READY)
            p->rail[p->n++] = i;
        else if (state == OFI_PAIR_NEW)
            ofi_rail_probe(i, at->pe, &p->pairs[i]);
    }
    return p->n > 1;
}

struct job {
    struct xport_ctx *f;
    const struct xport_addr *at;
    char *local;
    size_t len;
    bool put;
    struct plan plan;
};

/* text, of that size, holds the cause, or nothing; the rail is added. */
static void report(struct stripe *s, const struct job *j, long rc, char *text,
                   size_t size)
{
    if (!error_reported(&s->op, 0, text, size))
        ofi_op_error(j->f, j->put ? "put" : "get", j->at->pe, rc,
                     *text ? text : NULL);
}

/* False: the provider does not register that local memory. */
static bool local_open(struct stripe *s, const struct job *j)
{
    struct ofi_rail *r = s->rail ? &ofi_rails[s->rail - 1] : NULL;
    int seg;

    s->desc = NULL;
    if (!ofi.descs && !ofi.hmem)
        return true;
    seg = ofi_region_of(s->local, s->len);
    if (seg >= 0 && seg < OFI_RAIL_SEGS) {
        /* acquire: pairs with ofi_rails_register_commit(). */
        s->desc = r ? __atomic_load_n(&r->desc[seg], __ATOMIC_ACQUIRE)
                    : ofi_desc(seg);
        s->local = ofi_local_at(seg, s->local);
        return true;
    }
    if (!ofi.local_keys)
        return true;
    if (ofi_local_register_on(r ? r->domain : ofi.domain, s->local, s->len,
                              j->put ? FI_WRITE : FI_READ, &s->mr))
        return false;
    s->desc = fi_mr_desc(s->mr);
    return true;
}

static void make_room(const struct job *j, struct ofi_ep *e)
{
    struct ofi_wait w = { .wait = { .pe = -1, .likely_pe = j->at->pe },
                          .room = true };

    while (__atomic_load_n(&e->in_flight, __ATOMIC_RELAXED) >= ofi.window)
        ofi_wait_step(&w, e);
    ofi_wait_end(&w);
}

static void post(struct stripe *s, const struct job *j)
{
    struct ofi_pair *pair = &j->plan.pairs[s->rail];
    const struct xport_addr *at = j->at;
    /* relaxed: all keys of a segment serve what they did. */
    uint64_t key = __atomic_load_n(&pair->key[at->seg], __ATOMIC_RELAXED);
    struct ofi_wait w = { .wait.pe = at->pe };
    struct iovec iov = { s->local, s->len };
    struct fi_rma_iov remote = {
        j->plan.peer->base[at->seg] + at->off + s->off, s->len,
        key ^ ofi_wrong_key(j->f)
    };
    const uint64_t flags = FI_COMPLETION |
                           (j->put ? FI_DELIVERY_COMPLETE : 0);
    struct fi_msg_rma m = {
        .msg_iov = &iov, .desc = &s->desc, .iov_count = 1, .addr = pair->addr,
        .rma_iov = &remote, .rma_iov_count = 1, .context = &s->op
    };
    char text[64] = "";
    long rc;

    make_room(j, s->ep);
    __atomic_fetch_add(&s->ep->in_flight, 1, __ATOMIC_RELAXED);
    while ((rc = OFI_POST(j->f, j->put
                          ? fi_writemsg(s->ep->ep, &m, flags)
                          : fi_readmsg(s->ep->ep, &m, flags))) == -FI_EAGAIN)
        ofi_post_retry(rc, &w, j->f);
    ofi_wait_end(&w);
    if (likely(!rc))
        return;
    __atomic_fetch_sub(&s->ep->in_flight, 1, __ATOMIC_RELAXED);
    report(s, j, rc, text, sizeof text);
    stripe_failed(&s->op);
}

static void await(struct transfer *x)
{
    struct ofi_wait w = { .wait.pe = x->op.pe };

    /* acquire: data of the stripes are there. */
    while (!__atomic_load_n(&x->op.state, __ATOMIC_ACQUIRE))
        ofi_wait_step(&w, x->op.ctx->ep);
    ofi_wait_end(&w);
    ofi_pool_free(&transfers, &x->op);
}

/* Where stripe k begins: at a multiple of UNIT in the peer's segment. */
static size_t begin(const struct job *j, int k)
{
    size_t off = j->len / (size_t)j->plan.n * (size_t)k;

    if (k == 0)
        return 0;
    return k == j->plan.n ? j->len : off - (j->at->off + off) % UNIT;
}

/* All stripes with their local memory, or none of them. */
static bool cut(struct transfer *x, const struct job *j)
{
    for (int k = 0; k < j->plan.n; k++) {
        struct stripe *s = &x->part[k];
        int rail = j->plan.rail[k];

        s->op = (struct ofi_op){
            .type = &stripe_type, .pe = j->at->pe, .ctx = j->f
        };
        s->of = x;
        s->off = begin(j, k);
        s->len = begin(j, k + 1) - s->off;
        s->local = j->local + s->off;
        s->mr = NULL;
        s->rail = rail;
        s->ep = rail ? ofi_rails[rail - 1].ep : j->f->ep;
        if (likely(local_open(s, j)))
            continue;
        while (k > 0)
            local_close(&x->part[--k]);
        return false;
    }
    return true;
}

/* The further rails first: the first one is the program's own thread's, over
 * providers that copy in the call.  False: see ofi_stripe_put(). */
static bool start(const struct job *j, bool waited, const struct xport_addr *at,
                  const struct xport_amo *sig)
{
    struct transfer *x = ofi_pool_alloc(&transfers, j->f);

    x->op = (struct ofi_op){ .pe = j->at->pe, .ctx = j->f };
    x->ep = j->f->ep;
    x->put = j->put;
    x->waited = waited;
    x->bad = false;
    x->left = j->plan.n;
    if (unlikely(!cut(x, j))) {
        ofi_pool_free(&transfers, &x->op);
        return false;
    }
    x->amo_after = sig && ofi.nic_amo ? ofi_amo_after_put(j->f, at, sig) : NULL;
    x->am_after = sig && !ofi.nic_amo ? ofi_am_after_put(j->f, at, sig) : NULL;
    if (sig) {
        x->sig = *sig;
        x->sig_at = *at;
    }
    ofi_ctx_note_peer(j->f, j->at->pe);
    /* relaxed: only sums are compared; the queues order the data. */
    __atomic_fetch_add(&j->f->issued, 1, __ATOMIC_RELAXED);
    if (j->put)
        __atomic_fetch_add(&j->f->staged, 1, __ATOMIC_RELAXED);
    /* The last one that is posted may end the transfer: x serves another one
     * then, unless it is waited for. */
    for (int k = j->plan.n - 1; k >= 0; k--)
        post(&x->part[k], j);
    if (waited)
        await(x);
    return true;
}

bool ofi_stripe_put(struct xport_ctx *f, const struct xport_addr *to,
                    const void *source, size_t len, bool nbi)
{
    struct job j = { .f = f, .at = to, .local = (char *)source, .len = len,
                     .put = true };

    if (!plan(to, source, &j.plan))
        return false;
    return start(&j, !nbi, NULL, NULL);
}

bool ofi_stripe_get(struct xport_ctx *f, void *dest,
                    const struct xport_addr *from, size_t len, bool nbi)
{
    struct job j = { .f = f, .at = from, .local = dest, .len = len };

    if (!plan(from, dest, &j.plan))
        return false;
    return start(&j, !nbi, NULL, NULL);
}

bool ofi_stripe_put_signal(struct xport_ctx *f, const struct xport_addr *to,
                           const void *source, size_t len,
                           const struct xport_addr *sig_at,
                           const struct xport_amo *sig)
{
    struct job j = { .f = f, .at = to, .local = (char *)source, .len = len,
                     .put = true };

    if (len > ofi.info->ep_attr->max_msg_size || !plan(to, source, &j.plan))
        return false;
    return start(&j, false, sig_at, sig);
}
