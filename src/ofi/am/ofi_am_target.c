/* SPDX-License-Identifier: BSD-3-Clause */
/* Active messages, at the target: this PE's processor executes requests of PEs
 * of other nodes.  ofi_cq.c calls it with each message, in any thread, one at a
 * time; nothing here waits.
 *
 * A message is answered from the buffer in which it arrived.  While there is
 * no room for the reply the buffer waits in a list and receives nothing: so a
 * peer that requests too fast slows itself down. */
#include "ofi/net/ofi_deferred.h"
#include "ofi/net/ofi_pool.h"
#include "ofi/am/ofi_am_target.h"
#include "ofi/am/ofi_ack.h"
#include "ofi/am/ofi_am_number.h"
#include "base/log.h"
#include "rt/rt.h"

#include <string.h>
#include <time.h>

enum { RECEIVES = 64 };

struct am_buf {
    struct ofi_op op;
    size_t len;                 /* of the reply, 0 if there is none */
    bool retry;                 /* its handler is to be called again */
    uint64_t cookie;            /* not 0: the reply is an acknowledgement */
    _Alignas(64) char bytes[OFI_AM_MAX];
};
/* All are taken, for ever: it is the memory that counts. */
static struct ofi_pool bufs = OFI_POOL_INIT("room for what comes");

struct ofi_deferred ofi_am_target_deferred = OFI_DEFERRED_INIT;
static int replying;            /* atomic: buffers of replies under way */
static size_t seg_size[HEAP_SEGS];

/* ---- receiving ---- */

static void received(struct ofi_op *op, size_t len);
static void replied(struct ofi_op *op);

static const struct ofi_op_type receive_type = { .received = received };
static const struct ofi_op_type reply_type = {
    .done = replied, .failed = replied
};

static long post_receive(struct am_buf *b)
{
    ofi_op_init(&b->op, &receive_type, -1, NULL);
    b->cookie = 0;
    return fi_recv(ofi.eps[0]->ep, b->bytes, sizeof b->bytes, bufs.desc,
                   FI_ADDR_UNSPEC, &b->op);
}

static void defer_buf(struct am_buf *b)
{
    ofi_deferred_add(&ofi_am_target_deferred, &b->op);
}

static void receive_again(struct am_buf *b)
{
    long rc = post_receive(b);

    if (rc == -FI_EAGAIN) {     /* nothing to reply, only to receive */
        b->len = 0;
        defer_buf(b);
    } else if (rc) {
        ofi_fatal("receive", -1, rc, NULL);
    }
}

static void replied(struct ofi_op *op)
{
    __atomic_fetch_sub(&replying, 1, __ATOMIC_RELAXED);
    receive_again((struct am_buf *)op);
}

static long send_from(struct am_buf *b)
{
    if (b->cookie)
        return ofi_ack_write(&b->op, b->cookie, b->bytes, bufs.desc);
    return ofi_am_post(ofi.eps[0], b->op.pe, (void *)b->bytes, b->len,
                       bufs.desc, &b->op);
}

/* Over tcp a completion shows its loss at once; but two PEs whose buffers all
 * wait for room in the other's socket would both receive nothing. */
static bool may_inject(const struct am_buf *b)
{
    return !b->cookie && b->len <= ofi.inject_msg &&
           (!ofi.loses_injected ||
            (ofi.numbered && __atomic_load_n(&replying, __ATOMIC_RELAXED) >
                                 RECEIVES / 2));
}

/* Sends len bytes of b to a peer; true when that is done or under way. */
static bool post_reply(struct am_buf *b)
{
    struct ofi_ep *e = ofi.eps[0];
    long rc;

    if (may_inject(b)) {
        rc = ofi_am_post(e, b->op.pe, (void *)b->bytes, b->len, NULL, NULL);
        if (!rc)
            receive_again(b);
    } else {
        b->op.type = &reply_type;
        __atomic_fetch_add(&e->in_flight, 1, __ATOMIC_RELAXED);
        __atomic_fetch_add(&replying, 1, __ATOMIC_RELAXED);
        rc = send_from(b);
        if (rc) {
            __atomic_fetch_sub(&replying, 1, __ATOMIC_RELAXED);
            __atomic_fetch_sub(&e->in_flight, 1, __ATOMIC_RELAXED);
        }
    }
    if (rc == -FI_EAGAIN)
        ofi_ep_poll(e);
    else if (rc)
        ofi_fatal("reply", b->op.pe, rc, NULL);
    return !rc;
}

static void reply_or_defer(struct am_buf *b, size_t len)
{
    b->len = len;
    if (!post_reply(b))
        defer_buf(b);
}

static ofi_am_handler *handlers[OFI_AM_KINDS];
static const struct ofi_am_device_ops *device;

void ofi_am_register(enum ofi_am_kind kind, ofi_am_handler *handler)
{
    handlers[kind] = handler;
}

void ofi_am_set_device_ops(const struct ofi_am_device_ops *ops)
{
    device = ops;
}

static void run_handler(struct am_buf *b)
{
    struct ofi_am_head h;

    memcpy(&h, b->bytes, sizeof h);
    b->retry = !handlers[h.kind](&h);
    if (b->retry)
        defer_buf(b);
    else
        receive_again(b);
}

int ofi_am_target_retry(void)
{
    struct am_buf *b;

    for (int n = ofi_deferred_count(&ofi_am_target_deferred); n > 0; n--) {
        b = (struct am_buf *)ofi_deferred_take(&ofi_am_target_deferred);
        if (!b)
            break;
        ofi_deferred_posted(&ofi_am_target_deferred);   /* or it comes again */
        if (b->retry)
            run_handler(b);
        else if (b->len == 0)
            receive_again(b);
        else if (!post_reply(b))
            defer_buf(b);
    }
    return 0;
}

/* ---- what the target does ---- */

static uint64_t apply_amo(const struct ofi_am_head *h, char *at)
{
    const struct xport_amo a = {
        .op = (enum amo_op)h->op, .size = h->size, .value = h->value,
        .cond = h->cond
    };
    uint64_t was;

    if (unlikely(ofi_is_device_only_seg(h->seg)))
        was = device->amo(h, at);
    else
        was = xport_amo_local(at, &a);
    if (h->op != AMO_FETCH)
        xport_data_arrived(at, h->size);
    return was;
}

static void move_blocks(int seg, char *to, ptrdiff_t to_stride,
                        const char *from, ptrdiff_t from_stride, size_t len,
                        size_t count)
{
    if (unlikely(ofi_is_device_only_seg(seg)))
        device->copy_blocks(to, from, &(struct gtl_blocks){
            len, count, to_stride, from_stride });
    else
        ofi_copy_blocks(to, to_stride, from, from_stride, len, count);
}

static void handle_notify(struct am_buf *b, const struct ofi_am_head *h,
                          size_t len)
{
    char *payload = b->bytes + sizeof *h, *to;

    if (len) {
        to = (char *)heap_segs[h->cond].base + h->stride;
        atomics_store_fence();          /* a fence may be before it */
        move_blocks((int)h->cond, to, (ptrdiff_t)len, payload, (ptrdiff_t)len,
                    len, 1);
        atomics_store_fence();
        xport_data_arrived(to, len);
    }
    apply_amo(h, (char *)heap_segs[h->seg].base + h->off);
    atomics_tsan_release();
    if (!ofi_ack_is_wanted(h->cookie)) {
        receive_again(b);
        return;
    }
    b->cookie = h->cookie;
    b->op.pe = (int)h->pe;
    reply_or_defer(b, sizeof b->cookie);
}

static void handle_request(struct am_buf *b, const struct ofi_am_head *h)
{
    char *at = (char *)heap_segs[h->seg].base + h->off;
    char *payload = b->bytes + sizeof *h;
    struct ofi_am_head r = {
        .kind = OFI_AM_REPLY, .pe = (uint32_t)rt_job.pe, .cookie = h->cookie,
        .token = ofi_peer((int)h->pe)->token
    };
    size_t len = sizeof r, each = h->value, n = h->cond;

    atomics_tsan_acquire();            /* by way of the PE that sent this */
    if (h->kind == OFI_AM_AMO) {
        r.value = apply_amo(h, at);
    } else if (h->kind == OFI_AM_PUT_BLOCKS) {
        atomics_store_fence();          /* a fence may be before it */
        move_blocks(h->seg, at, (ptrdiff_t)h->stride, payload,
                    (ptrdiff_t)each, each, n);
        atomics_store_fence();
        xport_data_arrived(NULL, 0);
    } else {
        move_blocks(h->seg, payload, (ptrdiff_t)each, at,
                    (ptrdiff_t)h->stride, each, n);
        len += each * n;
    }
    atomics_tsan_release();
    memcpy(b->bytes, &r, sizeof r);
    b->op.pe = (int)h->pe;
    reply_or_defer(b, len);
}

static void received(struct ofi_op *op, size_t len)
{
    struct ofi_am_rules rules = { ofi.my_token, (uint32_t)rt_job.n_pes,
                                  seg_size };
    struct am_buf *b = (struct am_buf *)op;
    struct ofi_am_head h;

    if (!ofi_am_parse(&rules, b->bytes, len, &h)) {
        log_warn(ERR_NET, "a message of %zu bytes that no PE of this job can "
                 "have sent is ignored", len);
        receive_again(b);
        return;
    }
    ofi_am_check_number(&h);
    if (handlers[h.kind]) {
        atomics_tsan_acquire();        /* by way of the PE that sent this */
        run_handler(b);
    } else if (h.kind == OFI_AM_REPLY) {
        atomics_tsan_acquire();
        ofi_am_complete(&h, b->bytes + sizeof h, len - sizeof h);
        receive_again(b);
    } else if (h.kind == OFI_AM_HELLO) {
        receive_again(b);
    } else if (h.kind == OFI_AM_NOTIFY || h.kind == OFI_AM_PUT_NOTIFY) {
        atomics_tsan_acquire();        /* by way of the PE that sent this */
        handle_notify(b, &h, len - sizeof h);
    } else {
        handle_request(b, &h);
    }
}

/* ---- opening ---- */

/* Room may come as long as no peer has it. */
static int receive_first(struct am_buf *b)
{
    const struct timespec pause = { .tv_nsec = 100000 };
    long rc = post_receive(b);

    for (int i = 0; rc == -FI_EAGAIN && i < 50000; i++) {
        ofi_progress();
        nanosleep(&pause, NULL);
        rc = post_receive(b);
    }
    return (int)rc;
}

int ofi_am_target_open(void)
{
    int rc = ofi_pool_open(&bufs, RECEIVES, sizeof(struct am_buf),
                           FI_SEND | FI_RECV | FI_WRITE);

    for (int s = 0; s < HEAP_SEGS; s++)
        seg_size[s] = heap_segs[s].size;
    ofi_am_target_deferred = (struct ofi_deferred)OFI_DEFERRED_INIT;
    if (rc)
        return rc;
    for (int i = 0; i < RECEIVES && !rc; i++)
        rc = receive_first((struct am_buf *)(void *)bufs.all + i);
    /* The bufs stay as long as an endpoint that may receive into them. */
    if (rc)
        log_error(ERR_NET, "receiving messages: %s", ofi_strerror(rc));
    return rc;
}

void ofi_am_target_close(void)
{
    ofi_pool_close(&bufs);
    ofi_am_numbers_close();
}

void ofi_am_target_segment(int seg)
{
    /* release: the segment is there for threads that handle messages. */
    __atomic_store_n(&seg_size[seg], heap_segs[seg].size, __ATOMIC_RELEASE);
}
