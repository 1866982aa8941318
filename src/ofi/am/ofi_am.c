/* SPDX-License-Identifier: BSD-3-Clause */
/* Active messages, at the initiator: atomics, short blocks and signals that a
 * peer's processor does.  ofi_dispatch.c, ofi_order.c and the stripes call it,
 * on any thread; ofi_am_target.c passes replies to ofi_am_complete().
 *
 * A request is remembered until its reply comes; the cookie says where, and
 * how often that place was used, so a stray reply finds nothing. */
#include "ofi/net/ofi_pool.h"
#include "ofi/net/ofi_rail.h"
#include "ofi/am/ofi_am_number.h"
#include "ofi/am/ofi_am_target.h"
#include "base/log.h"
#include "rt/rt.h"

#include <errno.h>
#include <string.h>

enum { SENDS = 64, REQUESTS = 4096 };

struct request;
struct am_buf {
    struct ofi_op op;
    struct request *request;    /* that it requests, or NULL, and its uses */
    uint32_t uses;
    bool counts;                /* in its context, until it is sent */
    bool posted;                /* it has a number */
    _Alignas(64) char bytes[OFI_AM_MAX];
};
static struct ofi_pool bufs = OFI_POOL_INIT("room for messages");

static struct ofi_am_head *head_of(struct am_buf *b)
{
    return (struct ofi_am_head *)(void *)b->bytes;
}

struct request {
    struct ofi_op op;
    uint32_t uses;              /* atomic; odd while it waits for a reply */
    uint64_t *left;             /* atomic; counted down, or NULL */
    char *dest;                 /* for the word before, or the blocks */
    size_t size;                /* of the word; 0: blocks */
    bool staged;                /* counts in the context's sent, too */
    struct xport_blocks b;
};
static struct ofi_pool requests = OFI_POOL_INIT("room for requests");

static struct request *request_at(uint32_t i)
{
    return (struct request *)(void *)requests.all + i;
}

_Static_assert((int)XPORT_PACKED_MAX == (int)OFI_AM_PAYLOAD &&
               (int)XPORT_FRAGMENT == (int)OFI_FRAG_SIZE, "xport.h says so");

/* ---- what comes back ---- */

static void am_sent(struct ofi_op *op)
{
    bool counts = ((struct am_buf *)op)->counts;
    struct xport_ctx *f = op->ctx;

    ofi_pool_free(&bufs, op);
    if (counts)
        ofi_ctx_completed(f);
    else                        /* release: the last use of the context */
        __atomic_fetch_sub(&f->unsent, 1, __ATOMIC_RELEASE);
}

/* Of the threads that saw the request complete, one frees it; uses: its value
 * then. */
static bool claim(struct request *a, uint32_t uses)
{
    return __atomic_compare_exchange_n(&a->uses, &uses, uses + 1, false,
                                       __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

static void finish_request(struct request *a)
{
    struct xport_ctx *f = a->op.ctx;
    uint64_t *left = a->left;
    bool staged = a->staged;

    ofi_pool_free(&requests, &a->op);
    __atomic_fetch_add(&f->amo_done, 1, __ATOMIC_RELEASE);
    if (staged)
        __atomic_fetch_add(&f->sent, 1, __ATOMIC_RELEASE);
    ofi_ctx_completed(f);
    if (left)                   /* release: the waiter sees what came */
        __atomic_fetch_sub(left, 1, __ATOMIC_RELEASE);
}

void ofi_am_complete(const struct ofi_am_head *h, const char *payload,
                   size_t len)
{
    uint32_t i = (uint32_t)h->cookie;
    struct request *a = i < REQUESTS ? request_at(i) : NULL;
    /* acquire: pairs with publish(). */
    uint32_t uses = a ? __atomic_load_n(&a->uses, __ATOMIC_ACQUIRE) : 0;

    if (!(uses & 1) || uses != (uint32_t)(h->cookie >> 32) ||
        a->op.pe != (int)h->pe ||
        len != (a->size ? 0 : a->b.len * a->b.count) || !claim(a, uses)) {
        log_warn(ERR_NET, "a reply to no request, said to be of PE %u, "
                 "is ignored", (unsigned)h->pe);
        return;
    }
    if (a->dest && a->size)
        memcpy(a->dest, &h->value, a->size);
    else if (a->dest)
        ofi_copy_blocks(a->dest, a->b.local_stride, payload,
                        (ptrdiff_t)a->b.len, a->b.len, a->b.count);
    finish_request(a);
}

static void cancel_request(struct request *a, uint32_t uses)
{
    if (uses & 1 && claim(a, uses))
        finish_request(a);
}

static void am_failed(struct ofi_op *op)
{
    struct am_buf *b = (struct am_buf *)op;

    if (b->posted)
        ofi_am_post_failed(op->ctx->ep, op->pe);
    if (b->request)
        cancel_request(b->request, b->uses);
    am_sent(op);
}

static const struct ofi_op_type send_type = {
    .done = am_sent, .failed = am_failed
};

void ofi_am_cancel(struct xport_ctx *f, int pe, const char *why)
{
    for (uint32_t i = 0; i < REQUESTS; i++) {
        struct request *a = request_at(i);
        uint32_t uses = __atomic_load_n(&a->uses, __ATOMIC_ACQUIRE);

        /* relaxed: of a later use, they are not believed, see claim(). */
        if (!(uses & 1) ||
            __atomic_load_n(&a->op.ctx, __ATOMIC_RELAXED) != f ||
            (pe >= 0 && __atomic_load_n(&a->op.pe, __ATOMIC_RELAXED) != pe) ||
            !claim(a, uses))
            continue;
        if (why)
            ofi_op_error(f, "request", a->op.pe, -FI_ETIMEDOUT, why);
        finish_request(a);
    }
}

/* ---- asking ---- */

/* The caller alone has it and fills it, until publish(). */
static struct request *alloc_request(struct xport_ctx *f, int pe)
{
    struct request *a = ofi_pool_alloc(&requests, f);

    /* relaxed: pairs with ofi_am_cancel(), which believes both only if it
     * claims the use that it saw. */
    __atomic_store_n(&a->op.pe, pe, __ATOMIC_RELAXED);
    __atomic_store_n(&a->op.ctx, f, __ATOMIC_RELAXED);
    a->staged = false;
    return a;
}

/* From here on any thread may end it.  Gives its uses. */
static uint32_t publish(struct request *a)
{
    uint32_t uses = a->uses + 1;

    /* release: a thread that claims the request sees what the caller has
     * filled in, and counted. */
    __atomic_store_n(&a->uses, uses, __ATOMIC_RELEASE);
    return uses;
}

static bool is_connected(const struct ofi_ep *e, int pe)
{
    return __atomic_load_n(&e->connected[pe / 64], __ATOMIC_RELAXED) >>
           pe % 64 & 1;
}

/* Other errors are those of the operation that follows, which reports them. */
bool ofi_am_connect(struct xport_ctx *f, int pe)
{
    const struct ofi_peer *p;
    struct ofi_am_head h = { .kind = OFI_AM_HELLO, .pe = (uint32_t)rt_job.pe };

    if (likely(is_connected(f->ep, pe)) || sizeof h > ofi.inject_msg) {
        if (unlikely(__atomic_load_n(&f->unconnected_pe, __ATOMIC_RELAXED)))
            __atomic_store_n(&f->unconnected_pe, 0, __ATOMIC_RELAXED);
        return true;
    }
    p = ofi_peer(pe);
    h.token = p->token;
    if (fault_hit(FAULT_OFI_AGAIN) ||
        fi_inject(f->ep->ep, &h, sizeof h, p->addr) == -FI_EAGAIN) {
        __atomic_store_n(&f->unconnected_pe, pe + 1, __ATOMIC_RELAXED);
        return false;
    }
    __atomic_store_n(&f->unconnected_pe, 0, __ATOMIC_RELAXED);
    __atomic_fetch_or(&f->ep->connected[pe / 64], (uint64_t)1 << pe % 64,
                      __ATOMIC_RELAXED);
    return true;
}

/* A message: its head, and bytes that are packed from blocks, or NULL; a: that
 * requests, or NULL. */
struct outgoing {
    struct request *a;
    struct ofi_am_head *h;
    const char *from;
    const struct xport_blocks *blocks;
    bool counts;                /* in the context until it is sent */
};

static size_t pack(char *to, const struct outgoing *m)
{
    const struct xport_blocks *k = m->blocks;

    memcpy(to, m->h, sizeof *m->h);
    if (!m->from)
        return sizeof *m->h;
    ofi_copy_blocks(to + sizeof *m->h, (ptrdiff_t)k->len, m->from,
                    k->local_stride, k->len, k->count);
    return sizeof *m->h + k->len * k->count;
}

/* No event says that it was sent. */
static void inject_am(struct xport_ctx *f, int pe, struct ofi_wait *w,
                      const struct outgoing *m)
{
    _Alignas(struct ofi_am_head) char bytes[OFI_AM_MAX];
    size_t len = pack(bytes, m);

    while (ofi_post_retry(OFI_POST(f, ofi_am_post(f->ep, pe, (void *)bytes, len,
                                                  NULL, NULL)), w, f))
        ;
    if (unlikely(w->failed) && m->a)
        cancel_request(m->a, (uint32_t)(m->h->cookie >> 32));
}

/* Over tcp not what a PE waits for an answer to, or the loss would show late. */
static bool may_inject(const struct outgoing *m, size_t len)
{
    return len <= ofi.inject_msg &&
           (!ofi.loses_injected || (ofi.numbered && !m->h->cookie));
}

static void fill_buf(struct am_buf *b, struct xport_ctx *f, int pe,
                     const struct outgoing *m)
{
    ofi_op_init(&b->op, &send_type, pe, f);
    b->request = m->a;
    b->uses = m->a ? (uint32_t)(m->h->cookie >> 32) : 0;
    b->counts = m->counts;
    b->posted = true;
    if (!m->counts)
        __atomic_fetch_add(&f->unsent, 1, __ATOMIC_RELAXED);
    pack(b->bytes, m);
}

static void send_am(struct xport_ctx *f, int pe, const struct outgoing *m)
{
    const struct ofi_peer *p = ofi_peer(pe);
    struct ofi_wait w = { .what = "request", .wait.pe = pe };
    size_t len = sizeof *m->h +
                 (m->from ? m->blocks->len * m->blocks->count : 0);
    struct am_buf *b;

    m->h->token = p->token;
    m->h->pe = (uint32_t)rt_job.pe;
    atomics_tsan_release();             /* the PE that replies */
    if (!m->counts && may_inject(m, len)) {
        inject_am(f, pe, &w, m);
        return;
    }
    b = ofi_pool_alloc(&bufs, f);
    fill_buf(b, f, pe, m);
    __atomic_fetch_add(&f->ep->in_flight, 1, __ATOMIC_RELAXED);
    while (ofi_post_retry(OFI_POST(f, ofi_am_post(f->ep, pe, head_of(b), len,
                                                  bufs.desc, &b->op)),
                          &w, f))
        ;
    if (unlikely(w.failed)) {
        b->posted = false;
        ofi_post_failed(f, &b->op);
    }
}

static void send_request(struct xport_ctx *f, struct request *a,
                     struct ofi_am_head *h, const char *from,
                     const struct xport_blocks *blocks)
{
    int pe = a->op.pe;

    ofi_ctx_note_peer(f, pe);
    __atomic_fetch_add(&f->issued, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&f->amo_issued, 1, __ATOMIC_RELAXED);
    h->cookie = (uint64_t)publish(a) << 32 | (uint64_t)(a - request_at(0));
    send_am(f, pe, &(struct outgoing){ .a = a, .h = h, .from = from,
                                       .blocks = blocks });
}

static void wait_zero(struct xport_ctx *f, const uint64_t *left, int pe)
{
    struct ofi_wait w = { .wait.pe = pe };

    while (__atomic_load_n(left, __ATOMIC_ACQUIRE))
        ofi_wait_step(&w, f->ep);
    ofi_wait_end(&w);
}

static struct ofi_am_head amo_head(enum ofi_am_kind kind,
                                   const struct xport_addr *at,
                                   const struct xport_amo *x)
{
    return (struct ofi_am_head){
        .kind = (uint8_t)kind, .op = (uint8_t)x->op, .size = (uint8_t)x->size,
        .seg = (uint8_t)at->seg, .off = at->off, .value = x->value,
        .cond = x->cond
    };
}

void ofi_am_amo(struct xport_ctx *f, const struct xport_addr *at,
                const struct xport_amo *x, void *result, bool nbi)
{
    struct ofi_am_head h = amo_head(OFI_AM_AMO, at, x);
    uint64_t left = 1;
    struct request *a = alloc_request(f, at->pe);

    a->dest = result;
    a->size = (size_t)x->size;
    a->left = result && !nbi ? &left : NULL;
    /* Atomics of the provider may overtake it. */
    a->staged = ofi.nic_amo && !result;
    __atomic_fetch_add(&f->staged, a->staged, __ATOMIC_RELAXED);
    send_request(f, a, &h, NULL, NULL);
    if (result && !nbi)
        wait_zero(f, &left, at->pe);
}

/* ---- behind a put: by the thread that sees its end ---- */

/* It counts as staged until its reply has come, so a fence waits for it. */
struct ofi_op *ofi_am_after_put(struct xport_ctx *f,
                                const struct xport_addr *at,
                                const struct xport_amo *x)
{
    struct request *a = alloc_request(f, at->pe);

    a->dest = NULL;
    a->size = (size_t)x->size;
    a->left = NULL;
    a->staged = true;
    ofi_ctx_note_peer(f, at->pe);
    __atomic_fetch_add(&f->staged, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&f->issued, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&f->amo_issued, 1, __ATOMIC_RELAXED);
    return &a->op;
}

uint32_t ofi_am_after_put_publish(struct ofi_op *op)
{
    atomics_tsan_release();             /* the PE that replies */
    return publish((struct request *)op);
}

static long try_send(struct xport_ctx *f, struct ofi_ep *e, int pe,
                     const struct outgoing *m)
{
    struct am_buf *b = ofi_pool_try_alloc(&bufs);
    long rc;

    if (!b)
        return -FI_EAGAIN;
    fill_buf(b, f, pe, m);
    __atomic_fetch_add(&e->in_flight, 1, __ATOMIC_RELAXED);
    rc = OFI_POST(f, ofi_am_post(e, pe, head_of(b), sizeof *m->h, bufs.desc,
                                 &b->op));
    if (rc) {
        __atomic_fetch_sub(&e->in_flight, 1, __ATOMIC_RELAXED);
        am_sent(&b->op);
    }
    return rc;
}

bool ofi_am_after_put_post(struct ofi_op *op, uint32_t uses, struct ofi_ep *e,
                           const struct xport_addr *at,
                           const struct xport_amo *x)
{
    struct ofi_am_head h = amo_head(OFI_AM_AMO, at, x);
    struct request *a = (struct request *)op;
    struct xport_ctx *f = a->op.ctx;
    long rc;

    /* acquire: pairs with publish().  A request that has ended since needs no
     * message. */
    if (__atomic_load_n(&a->uses, __ATOMIC_ACQUIRE) != uses)
        return true;
    h.token = ofi_peer(at->pe)->token;
    h.pe = (uint32_t)rt_job.pe;
    h.cookie = (uint64_t)uses << 32 | (uint64_t)(a - request_at(0));
    rc = try_send(f, e, at->pe, &(struct outgoing){ .a = a, .h = &h });
    if (rc == -FI_EAGAIN)
        return false;
    if (rc && claim(a, uses)) {
        ofi_op_error(f, "request", at->pe, rc, NULL);
        finish_request(a);
    }
    return true;
}

void ofi_am_after_put_cancel(struct ofi_op *op)
{
    finish_request((struct request *)op);
}

static void notify(struct xport_ctx *f, const struct ofi_am_put *put,
                   const struct xport_addr *at, const struct xport_amo *x,
                   uint64_t cookie, bool counts)
{
    struct ofi_am_head h = amo_head(put ? OFI_AM_PUT_NOTIFY : OFI_AM_NOTIFY,
                                    at, x);
    struct outgoing m = { .h = &h, .counts = counts };
    struct xport_blocks all;

    h.cookie = cookie;
    if (put) {
        h.cond = (uint64_t)put->to->seg;
        h.stride = (int64_t)put->to->off;
        all = (struct xport_blocks){ put->len, 1, (ptrdiff_t)put->len,
                                     (ptrdiff_t)put->len };
        m.from = put->source;
        m.blocks = &all;
    }
    send_am(f, at->pe, &m);
}

void ofi_am_notify(struct xport_ctx *f, const struct ofi_am_put *put,
                   const struct xport_addr *at, const struct xport_amo *x,
                   uint64_t cookie)
{
    notify(f, put, at, x, cookie, false);
}

void ofi_am_notify_counted(struct xport_ctx *f, const struct ofi_am_put *put,
                           const struct xport_addr *at,
                           const struct xport_amo *x)
{
    ofi_ctx_note_peer(f, at->pe);
    __atomic_fetch_add(&f->issued, 1, __ATOMIC_RELAXED);
    notify(f, put, at, x, 0, true);
}

bool ofi_am_packs(const struct xport_blocks *b)
{
    return b->len && b->len <= OFI_AM_PAYLOAD / 4;
}

static struct ofi_am_head blocks_head(enum ofi_am_kind kind,
                                      const struct xport_addr *at,
                                      const struct xport_blocks *b)
{
    return (struct ofi_am_head){
        .kind = (uint8_t)kind, .seg = (uint8_t)at->seg, .off = at->off,
        .value = b->len, .cond = b->count, .stride = b->remote_stride
    };
}

void ofi_am_put_blocks(struct xport_ctx *f, const struct xport_addr *to,
                       const void *source, const struct xport_blocks *b)
{
    size_t most = b->len ? OFI_AM_PAYLOAD / b->len : 1;
    struct xport_blocks part = *b;
    struct xport_addr at = *to;
    struct ofi_am_head h;
    struct request *a;

    for (size_t i = 0; i < b->count; i += part.count) {
        const char *from = (const char *)source +
                           (ptrdiff_t)i * b->local_stride;

        at.off = to->off + i * (size_t)b->remote_stride;
        part.count = most < b->count - i ? most : b->count - i;
        h = blocks_head(OFI_AM_PUT_BLOCKS, &at, &part);
        a = alloc_request(f, at.pe);
        a->dest = NULL;
        a->size = 8;            /* the reply has no payload */
        a->left = NULL;
        /* Atomics of the provider may overtake it. */
        a->staged = ofi.nic_amo;
        __atomic_fetch_add(&f->staged, a->staged, __ATOMIC_RELAXED);
        send_request(f, a, &h, from, &part);
    }
}

void ofi_am_get_blocks(struct xport_ctx *f, void *dest,
                       const struct xport_addr *from,
                       const struct xport_blocks *b, bool nbi)
{
    size_t most = b->len ? OFI_AM_PAYLOAD / b->len : 1;
    struct xport_blocks part = *b;
    struct xport_addr at = *from;
    struct ofi_am_head h;
    uint64_t left = 0;
    struct request *a;

    for (size_t i = 0; i < b->count; i += part.count) {
        char *to = (char *)dest + (ptrdiff_t)i * b->local_stride;

        at.off = from->off + i * (size_t)b->remote_stride;
        part.count = most < b->count - i ? most : b->count - i;
        h = blocks_head(OFI_AM_GET_BLOCKS, &at, &part);
        a = alloc_request(f, at.pe);
        a->dest = to;
        a->size = 0;
        a->b = part;
        a->left = nbi ? NULL : &left;
        __atomic_fetch_add(&left, !nbi, __ATOMIC_RELAXED);
        send_request(f, a, &h, NULL, NULL);
    }
    wait_zero(f, &left, from->pe);
}

/* Whole blocks, and what is left. */
static struct xport_blocks cut(size_t len, struct xport_blocks *rest)
{
    enum { UNIT = OFI_AM_PAYLOAD / 4 };
    size_t left = len % UNIT;

    *rest = (struct xport_blocks){ left, left != 0, (ptrdiff_t)left,
                                   (ptrdiff_t)left };
    return (struct xport_blocks){ UNIT, len / UNIT, UNIT, UNIT };
}

void ofi_am_put(struct xport_ctx *f, const struct xport_addr *to,
                const void *source, size_t len)
{
    struct xport_blocks rest, b = cut(len, &rest);
    size_t whole = b.len * b.count;
    struct xport_addr at = { to->pe, to->seg, to->off + whole };

    ofi_am_put_blocks(f, to, source, &b);
    ofi_am_put_blocks(f, &at, (const char *)source + whole, &rest);
}

void ofi_am_get(struct xport_ctx *f, void *dest, const struct xport_addr *from,
                size_t len, bool nbi)
{
    struct xport_blocks rest, b = cut(len, &rest);
    size_t whole = b.len * b.count;
    struct xport_addr at = { from->pe, from->seg, from->off + whole };

    ofi_am_get_blocks(f, dest, from, &b, nbi);
    ofi_am_get_blocks(f, (char *)dest + whole, &at, &rest, nbi);
}

bool ofi_am_room(bool little)
{
    return ofi_pool_has(&bufs, little ? OFI_FEW : SENDS / 4) &&
           ofi_pool_has(&requests, little ? OFI_FEW : REQUESTS / 4);
}

/* ---- opening ---- */

int ofi_am_open(void)
{
    int rc;

    if (rt_job.n_pes > OFI_AM_PES) {
        log_error(ERR_LIMIT, "%d PEs on several nodes; %d are possible",
                  rt_job.n_pes, OFI_AM_PES);
        return -E2BIG;
    }
    rc = ofi_pool_open(&bufs, SENDS, sizeof(struct am_buf), FI_SEND);
    if (!rc)
        rc = ofi_pool_open(&requests, REQUESTS, sizeof(struct request), 0);
    if (!rc)
        ofi.cancel_requests = ofi_am_cancel;
    return rc;
}

void ofi_am_close(void)
{
    ofi.cancel_requests = NULL;
    ofi_pool_close(&bufs);
    ofi_pool_close(&requests);
}
