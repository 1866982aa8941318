/* SPDX-License-Identifier: BSD-3-Clause */
/* Active messages: what the target's processor does for a far PE.
 *
 * A request is remembered in a slot until its reply comes; the cookie names
 * the slot and how often it was used, so a stray reply finds nothing.  The
 * target acts on a message in whatever thread reads the queue and answers from
 * the buffer that the message came in.  While there is no room for the answer
 * the buffer waits in a list and is not received into again: so a peer that
 * asks too fast slows itself down. */
#include "ofi/ofi_am.h"
#include "ofi/ofi_int.h"
#include "base/copy.h"
#include "base/log.h"
#include "rt/rt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { RECEIVES = 64, SENDS = 64, ASKS = 4096 };

/* A buffer for one message, in either direction. */
struct box {
    struct ofi_op op;
    bool mine;                  /* of the send pool */
    size_t len;                 /* of an answer */
    struct box *next;
    _Alignas(64) char bytes[OFI_AM_MOST];
};

struct ask {
    struct ask *next;
    uint32_t uses;              /* odd while it waits for a reply */
    int pe;
    struct xport_flow *flow;
    uint64_t *left;             /* atomic; counted down, or NULL */
    char *dest;                 /* for the word before, or the blocks */
    size_t size;                /* of the word; 0: blocks */
    struct xport_blocks b;
};

static struct {
    struct base_lock lock;
    struct box *boxes;
    size_t boxes_size;
    struct box *sends, *stuck;  /* under the lock */
    int n_stuck;                /* atomic: spares the lock */
    struct ask *asks, *free_asks;       /* the list under the lock */
    struct fid_mr *mr;
    void *desc;
    size_t seg_size[HEAP_SEGS];
} am = { .lock = LOCK_INIT };

/* ---- receiving ---- */

static long post_receive(struct box *b)
{
    b->op = (struct ofi_op){ .kind = OFI_RECEIVED, .pe = -1 };
    return fi_recv(ofi.eps[0]->ep, b->bytes, sizeof b->bytes, am.desc,
                   FI_ADDR_UNSPEC, &b->op);
}

static void receive_again(struct box *b)
{
    long rc = post_receive(b);

    if (rc == -FI_EAGAIN) {     /* nothing to answer, only to receive */
        b->len = 0;
        lock_acquire(&am.lock);
        b->next = am.stuck;
        am.stuck = b;
        __atomic_fetch_add(&am.n_stuck, 1, __ATOMIC_RELAXED);
        lock_release(&am.lock);
    } else if (rc) {
        ofi_fail("receive", -1, rc, NULL);
    }
}

/* Sends len bytes of b to a peer; true when that is done or under way. */
static bool send_answer(struct box *b)
{
    const struct ofi_peer *p = ofi_peer(b->op.pe);
    struct ofi_ep *e = ofi.eps[0];
    long rc;

    if (b->len <= ofi.inject_msg) {
        rc = fi_inject(e->ep, b->bytes, b->len, p->addr);
        if (!rc)
            receive_again(b);
    } else {
        b->op.kind = OFI_SENT;
        __atomic_fetch_add(&e->in_flight, 1, __ATOMIC_RELAXED);
        rc = fi_send(e->ep, b->bytes, b->len, am.desc, p->addr, &b->op);
        if (rc)
            __atomic_fetch_sub(&e->in_flight, 1, __ATOMIC_RELAXED);
    }
    if (rc && rc != -FI_EAGAIN)
        ofi_fail("reply", b->op.pe, rc, NULL);
    return !rc;
}

static void answer(struct box *b, size_t len)
{
    b->len = len;
    if (send_answer(b))
        return;
    lock_acquire(&am.lock);
    b->next = am.stuck;
    am.stuck = b;
    __atomic_fetch_add(&am.n_stuck, 1, __ATOMIC_RELAXED);
    lock_release(&am.lock);
}

void ofi_am_retry(void)
{
    struct box *b;

    while (unlikely(__atomic_load_n(&am.n_stuck, __ATOMIC_RELAXED))) {
        lock_acquire(&am.lock);
        b = am.stuck;
        if (b) {
            am.stuck = b->next;
            __atomic_fetch_sub(&am.n_stuck, 1, __ATOMIC_RELAXED);
        }
        lock_release(&am.lock);
        if (!b)
            return;
        if (b->len == 0) {
            receive_again(b);
            return;
        }
        if (!send_answer(b)) {
            answer(b, b->len);
            return;
        }
    }
}

bool ofi_am_stuck(void)
{
    return __atomic_load_n(&am.n_stuck, __ATOMIC_RELAXED);
}

void ofi_am_sent(struct ofi_op *op)
{
    struct box *b = (struct box *)op;

    if (!b->mine) {
        receive_again(b);
        return;
    }
    lock_acquire(&am.lock);
    b->next = am.sends;
    am.sends = b;
    lock_release(&am.lock);
}

/* ---- what the target does ---- */

#define DO_WORD(T, at, op, value, cond, was)                                \
    do {                                                                    \
        T *to_ = (T *)(at), v_ = (T)(value), c_ = (T)(cond);                \
        switch (op) {                                                       \
        case XPORT_FETCH:                                                   \
            c_ = __atomic_load_n(to_, __ATOMIC_ACQUIRE);                    \
            break;                                                          \
        case XPORT_SET:                                                     \
        case XPORT_SWAP:                                                    \
            c_ = __atomic_exchange_n(to_, v_, __ATOMIC_ACQ_REL);            \
            break;                                                          \
        case XPORT_CSWAP:                                                   \
            __atomic_compare_exchange_n(to_, &c_, v_, 0, __ATOMIC_ACQ_REL,  \
                                        __ATOMIC_ACQUIRE);                  \
            break;                                                          \
        case XPORT_ADD:                                                     \
            c_ = __atomic_fetch_add(to_, v_, __ATOMIC_ACQ_REL);             \
            break;                                                          \
        case XPORT_AND:                                                     \
            c_ = __atomic_fetch_and(to_, v_, __ATOMIC_ACQ_REL);             \
            break;                                                          \
        case XPORT_OR:                                                      \
            c_ = __atomic_fetch_or(to_, v_, __ATOMIC_ACQ_REL);              \
            break;                                                          \
        default:                                                            \
            c_ = __atomic_fetch_xor(to_, v_, __ATOMIC_ACQ_REL);             \
        }                                                                   \
        (was) = c_;                                                         \
    } while (0)

static uint64_t do_word(const struct ofi_am_head *h, char *at)
{
    uint64_t was;

    if (h->size == 8)
        DO_WORD(uint64_t, at, h->op, h->value, h->cond, was);
    else
        DO_WORD(uint32_t, at, h->op, h->value, h->cond, was);
    if (h->op != XPORT_FETCH)
        xport_arrived(at, h->size);
    return was;
}

static void copy_all(char *to, ptrdiff_t to_stride, const char *from,
                     ptrdiff_t from_stride, size_t len, size_t count)
{
    for (size_t i = 0; i < count; i++, to += to_stride, from += from_stride)
        copy_bytes(to, from, len);
}

static void serve(struct box *b, const struct ofi_am_head *h)
{
    char *at = (char *)xport_routes[rt_job.pe].map[h->seg] + h->off;
    char *payload = b->bytes + sizeof *h;
    struct ofi_am_head r = {
        .kind = OFI_AM_REPLY, .pe = (uint32_t)rt_job.pe, .cookie = h->cookie,
        .token = ofi_peer((int)h->pe)->token
    };
    size_t len = sizeof r, each = h->value, n = h->cond;

    if (h->kind == OFI_AM_TELL) {
        do_word(h, at);
        receive_again(b);
        return;
    }
    if (h->kind == OFI_AM_AMO) {
        r.value = do_word(h, at);
    } else if (h->kind == OFI_AM_PUT_BLOCKS) {
        copy_all(at, (ptrdiff_t)h->stride, payload, (ptrdiff_t)each, each, n);
        atomics_store_fence();
        xport_arrived(NULL, 0);
    } else {
        copy_all(payload, (ptrdiff_t)each, at, (ptrdiff_t)h->stride, each, n);
        len += each * n;
    }
    memcpy(b->bytes, &r, sizeof r);
    b->op.pe = (int)h->pe;
    answer(b, len);
}

/* ---- what comes back ---- */

static void give_ask(struct ask *a)
{
    lock_acquire(&am.lock);
    a->uses++;
    a->next = am.free_asks;
    am.free_asks = a;
    lock_release(&am.lock);
}

static void settle(const struct ofi_am_head *h, const char *payload, size_t len)
{
    uint32_t i = (uint32_t)h->cookie;
    struct ask *a = i < ASKS ? &am.asks[i] : NULL;
    struct xport_flow *f;
    uint64_t *left;

    if (!a || !(a->uses & 1) || a->uses != (uint32_t)(h->cookie >> 32) ||
        a->pe != (int)h->pe || len != (a->size ? 0 : a->b.len * a->b.count)) {
        log_warn(ERR_NET, "a reply that nobody waits for, said to be of PE %u, "
                 "is ignored", (unsigned)h->pe);
        return;
    }
    f = a->flow;
    left = a->left;
    if (a->dest && a->size)
        memcpy(a->dest, &h->value, a->size);
    else if (a->dest)
        copy_all(a->dest, a->b.near_stride, payload, (ptrdiff_t)a->b.len,
                 a->b.len, a->b.count);
    give_ask(a);
    __atomic_fetch_add(&f->amo_done, 1, __ATOMIC_RELEASE);
    ofi_flow_done(f);
    if (left)                   /* release: the waiter sees what came */
        __atomic_fetch_sub(left, 1, __ATOMIC_RELEASE);
}

void ofi_am_received(struct ofi_op *op, size_t len)
{
    struct ofi_am_rules rules = { ofi.my_token, (uint32_t)rt_job.n_pes,
                                  am.seg_size };
    struct box *b = (struct box *)op;
    struct ofi_am_head h;

    if (!ofi_am_parse(&rules, b->bytes, len, &h)) {
        log_warn(ERR_NET, "a message of %zu bytes that no PE of this job can "
                 "have sent is ignored", len);
        receive_again(b);
    } else if (h.kind == OFI_AM_REPLY) {
        settle(&h, b->bytes + sizeof h, len - sizeof h);
        receive_again(b);
    } else {
        serve(b, &h);
    }
}

/* ---- asking ---- */

static struct ask *take_ask(struct xport_flow *f, int pe)
{
    struct ofi_wait w = { .what = "room for requests", .pe = pe };
    struct ask *a;

    for (;;) {
        lock_acquire(&am.lock);
        a = am.free_asks;
        if (a) {
            am.free_asks = a->next;
            a->uses++;
        }
        lock_release(&am.lock);
        if (a)
            break;
        ofi_progress();
        ofi_wait_step(&w, f->ep);
    }
    a->pe = pe;
    a->flow = f;
    return a;
}

static struct box *take_send(struct xport_flow *f, int pe)
{
    struct ofi_wait w = { .what = "room for messages", .pe = pe };
    struct box *b;

    for (;;) {
        lock_acquire(&am.lock);
        b = am.sends;
        if (b)
            am.sends = b->next;
        lock_release(&am.lock);
        if (b)
            return b;
        ofi_progress();
        ofi_wait_step(&w, f->ep);
    }
}

/* Sends head and payload, which is packed from blocks. */
static void send_head(struct xport_flow *f, int pe, struct ofi_am_head *h,
                      const char *from, const struct xport_blocks *blocks)
{
    const struct ofi_peer *p = ofi_peer(pe);
    struct ofi_wait w = { .what = "request", .pe = pe };
    size_t len = sizeof *h;
    struct box *b;

    h->token = p->token;
    h->pe = (uint32_t)rt_job.pe;
    if (!from && len <= ofi.inject_msg) {
        while (ofi_again(OFI_POST(fi_inject(f->ep->ep, h, len, p->addr)), &w,
                         f->ep))
            ;
        return;
    }
    b = take_send(f, pe);
    b->op = (struct ofi_op){ .kind = OFI_SENT, .pe = pe };
    memcpy(b->bytes, h, sizeof *h);
    if (from) {
        copy_all(b->bytes + len, (ptrdiff_t)blocks->len, from,
                 blocks->near_stride, blocks->len, blocks->count);
        len += blocks->len * blocks->count;
    }
    __atomic_fetch_add(&f->ep->in_flight, 1, __ATOMIC_RELAXED);
    while (ofi_again(OFI_POST(fi_send(f->ep->ep, b->bytes, len, am.desc,
                                      p->addr, &b->op)), &w, f->ep))
        ;
}

static void send_ask(struct xport_flow *f, struct ask *a,
                     struct ofi_am_head *h, const char *from,
                     const struct xport_blocks *blocks)
{
    h->cookie = (uint64_t)a->uses << 32 | (uint64_t)(a - am.asks);
    __atomic_fetch_add(&f->issued, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&f->amo_issued, 1, __ATOMIC_RELAXED);
    send_head(f, a->pe, h, from, blocks);
}

static void wait_left(struct xport_flow *f, const uint64_t *left, int pe,
                      const char *what)
{
    struct ofi_wait w = { .what = what, .pe = pe };

    while (__atomic_load_n(left, __ATOMIC_ACQUIRE))
        ofi_wait_step(&w, f->ep);
}

static struct ofi_am_head amo_head(enum ofi_am_kind kind,
                                   const struct xport_at *at,
                                   const struct xport_amo *x)
{
    return (struct ofi_am_head){
        .kind = (uint8_t)kind, .op = (uint8_t)x->op, .size = (uint8_t)x->size,
        .seg = (uint8_t)at->seg, .off = at->off, .value = x->value,
        .cond = x->cond
    };
}

void ofi_am_amo(struct xport_flow *f, const struct xport_at *at,
                const struct xport_amo *x, void *result, bool nbi)
{
    struct ofi_am_head h = amo_head(OFI_AM_AMO, at, x);
    uint64_t left = 1;
    struct ask *a = take_ask(f, at->pe);

    a->dest = result;
    a->size = (size_t)x->size;
    a->left = result && !nbi ? &left : NULL;
    send_ask(f, a, &h, NULL, NULL);
    if (result && !nbi)
        wait_left(f, &left, at->pe, "atomic");
}

void ofi_am_tell(struct xport_flow *f, const struct xport_at *at,
                 const struct xport_amo *x)
{
    struct ofi_am_head h = amo_head(OFI_AM_TELL, at, x);

    send_head(f, at->pe, &h, NULL, NULL);
}

/* Blocks that a message brings better than one operation each. */
static size_t blocks_per_message(const struct xport_blocks *b)
{
    return b->len <= OFI_AM_PAYLOAD / 4 ? OFI_AM_PAYLOAD / b->len : 0;
}

static struct ofi_am_head blocks_head(enum ofi_am_kind kind,
                                      const struct xport_at *at,
                                      const struct xport_blocks *b)
{
    return (struct ofi_am_head){
        .kind = (uint8_t)kind, .seg = (uint8_t)at->seg, .off = at->off,
        .value = b->len, .cond = b->count, .stride = b->far_stride
    };
}

void ofi_am_put_blocks(struct xport_flow *f, const struct xport_at *to,
                       const void *source, const struct xport_blocks *b)
{
    size_t most = blocks_per_message(b);
    struct xport_blocks part = *b;
    struct xport_at at = *to;
    struct ofi_am_head h;
    struct ask *a;

    for (size_t i = 0; i < b->count; i += part.count) {
        const char *from = (const char *)source + (ptrdiff_t)i * b->near_stride;

        at.off = to->off + i * (size_t)b->far_stride;
        part.count = most ? most < b->count - i ? most : b->count - i : 1;
        if (!most) {
            ofi_put(f, &at, from, b->len, false);
            continue;
        }
        h = blocks_head(OFI_AM_PUT_BLOCKS, &at, &part);
        a = take_ask(f, at.pe);
        a->dest = NULL;
        a->size = 8;            /* the reply has no payload */
        a->left = NULL;
        send_ask(f, a, &h, from, &part);
    }
}

void ofi_am_get_blocks(struct xport_flow *f, void *dest,
                       const struct xport_at *from,
                       const struct xport_blocks *b)
{
    size_t most = blocks_per_message(b);
    struct xport_blocks part = *b;
    struct xport_at at = *from;
    struct ofi_am_head h;
    uint64_t left = 0;
    struct ask *a;

    for (size_t i = 0; i < b->count; i += part.count) {
        char *to = (char *)dest + (ptrdiff_t)i * b->near_stride;

        at.off = from->off + i * (size_t)b->far_stride;
        part.count = most ? most < b->count - i ? most : b->count - i : 1;
        if (!most) {
            ofi_get(f, to, &at, b->len, false);
            continue;
        }
        h = blocks_head(OFI_AM_GET_BLOCKS, &at, &part);
        a = take_ask(f, at.pe);
        a->dest = to;
        a->size = 0;
        a->b = part;
        a->left = &left;
        __atomic_fetch_add(&left, 1, __ATOMIC_RELAXED);
        send_ask(f, a, &h, NULL, NULL);
    }
    wait_left(f, &left, from->pe, "get of blocks");
}

/* ---- opening ---- */

static int open_boxes(void)
{
    int rc;

    am.boxes_size = (RECEIVES + SENDS) * sizeof(struct box);
    am.boxes = mmap(NULL, am.boxes_size, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (am.boxes == MAP_FAILED) {
        am.boxes = NULL;
        return -ENOMEM;
    }
    if (!ofi.local_keys)
        return 0;
    rc = ofi_local_register(am.boxes, am.boxes_size, FI_SEND | FI_RECV, &am.mr);
    if (!rc)
        am.desc = fi_mr_desc(am.mr);
    return rc;
}

int ofi_am_open(void)
{
    int rc = open_boxes();

    if (rc)
        goto failed;
    am.asks = calloc(ASKS, sizeof *am.asks);
    if (!am.asks) {
        rc = -ENOMEM;
        goto failed;
    }
    for (int s = 0; s < HEAP_SEGS; s++)
        am.seg_size[s] = heap_segs[s].size;
    lock_acquire(&am.lock);
    am.sends = am.stuck = NULL;
    am.free_asks = NULL;
    am.n_stuck = 0;
    for (int i = ASKS - 1; i >= 0; i--) {
        am.asks[i].next = am.free_asks;
        am.free_asks = &am.asks[i];
    }
    for (int i = 0; i < SENDS; i++) {
        am.boxes[i].mine = true;
        am.boxes[i].next = am.sends;
        am.sends = &am.boxes[i];
    }
    lock_release(&am.lock);
    for (int i = SENDS; i < SENDS + RECEIVES && !rc; i++)
        rc = (int)post_receive(&am.boxes[i]);
    if (!rc)
        return 0;
failed:
    log_error(ERR_NET, "buffers for messages: %s", ofi_strerror(rc));
    ofi_am_close();
    return rc;
}

void ofi_am_close(void)
{
    if (am.mr)
        fi_close(&am.mr->fid);
    if (am.boxes)
        munmap(am.boxes, am.boxes_size);
    free(am.asks);
    am.mr = NULL;
    am.desc = NULL;
    am.boxes = NULL;
    am.asks = NULL;
}
