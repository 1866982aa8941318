/* SPDX-License-Identifier: BSD-3-Clause */
/* Puts and gets of the provider: one operation each, of memory that the NIC
 * reaches here and there.  ofi_dispatch.c chooses them, on any thread.
 *
 * A put is complete when its bytes are in the target's memory, so each asks
 * for FI_DELIVERY_COMPLETE, except ofi_rma_transmit*(): a message behind it on
 * the same byte stream stands for it.  The source of a blocking put must be free when
 * the call returns: few bytes go inline (FI_INJECT), more through a copy that
 * lives until the completion, and where copying would take long the call
 * waits for the operation instead. */
#include "ofi/net/ofi_local.h"
#include "base/copy.h"

#include <errno.h>
#include <string.h>

/* ---- one operation ---- */

struct transfer {
    struct fi_msg_rma msg;
    struct iovec iov;
    struct fi_rma_iov remote;
    void *desc;
};

static void aim(struct transfer *t, const struct xport_ctx *f,
                const struct xport_addr *at, void *local, size_t len,
                void *desc, void *context)
{
    const struct ofi_peer *p = ofi_peer(at->pe);

    t->iov = (struct iovec){ local, len };
    t->remote = (struct fi_rma_iov){ ofi_remote_addr(p, at), len,
                                  ofi_remote_key(p, at) ^ ofi_wrong_key(f) };
    t->desc = desc;
    t->msg = (struct fi_msg_rma){
        .msg_iov = &t->iov, .desc = &t->desc, .iov_count = 1, .addr = p->addr,
        .rma_iov = &t->remote, .rma_iov_count = 1, .context = context
    };
}

/* A completion means that the data are sent. */
static void post_sent(struct xport_ctx *f, const struct transfer *t, int pe,
                      uint64_t flags)
{
    struct ofi_wait w = { .what = "put", .wait.pe = pe };

    ofi_wait_window(f);
    ofi_ctx_issued(f, pe);
    flags |= FI_COMPLETION;
    while (ofi_post_retry(OFI_POST(f, fi_writemsg(f->ep->ep, &t->msg, flags)),
                          &w, f))
        ;
    if (unlikely(w.failed))
        ofi_post_failed(f, t->msg.context);
}

static void post_write(struct xport_ctx *f, const struct transfer *t, int pe,
                       uint64_t flags)
{
    post_sent(f, t, pe, flags | FI_DELIVERY_COMPLETE);
}

static void post_read(struct xport_ctx *f, const struct transfer *t, int pe)
{
    struct ofi_wait w = { .what = "get", .wait.pe = pe };

    ofi_wait_window(f);
    ofi_ctx_issued(f, pe);
    while (ofi_post_retry(OFI_POST(f, fi_readmsg(f->ep->ep, &t->msg,
                                                 FI_COMPLETION)), &w, f))
        ;
    if (unlikely(w.failed))
        ofi_post_failed(f, t->msg.context);
}

static void post_copy(struct xport_ctx *f, const struct xport_addr *to,
                      const void *source, size_t len, uint64_t flags)
{
    struct ofi_copy *c = ofi_copy_alloc(f);
    struct transfer t;

    ofi_op_init(&c->op, &ofi_op_bounce, to->pe, f);
    copy_bytes(c->bytes, source, len);
    aim(&t, f, to, c->bytes, len, ofi_copy_desc(), &c->op);
    post_sent(f, &t, to->pe, flags);
}

void ofi_rma_transmit_copy(struct xport_ctx *f, const struct xport_addr *to,
                           const void *source, size_t len)
{
    post_copy(f, to, source, len, 0);
}

/* Memory of the processor's that the provider does not register: read-only, or
 * more than may be locked. */
static void put_pieces(struct xport_ctx *f, const struct xport_addr *to,
                       const void *source, size_t len)
{
    struct xport_addr at = *to;
    size_t n;

    for (size_t done = 0; done < len; done += n, at.off += n) {
        n = len - done < OFI_BOUNCE ? len - done : OFI_BOUNCE;
        post_copy(f, &at, (const char *)source + done, n,
                  FI_DELIVERY_COMPLETE);
    }
}

void ofi_rma_put(struct xport_ctx *f, const struct xport_addr *to,
                 const void *source, size_t len, bool nbi)
{
    struct ofi_op op;
    /* The rest of a long one, perhaps: the NIC's to read, no processor's. */
    bool device = unlikely(ofi.hmem) && ofi_is_device_only(source);
    struct ofi_local l;
    struct transfer t;
    int rc;

    if (!device && len <= ofi.inject_put) {
        aim(&t, f, to, (void *)source, len, NULL, ofi_context(f, to->pe));
        post_write(f, &t, to->pe, FI_INJECT);
        return;
    }
    /* Memory that would have to be registered first is copied, if short. */
    if (len <= OFI_BOUNCE && !device &&
        (!nbi || (ofi.local_keys && ofi_region_of(source, len) < 0))) {
        post_copy(f, to, source, len, FI_DELIVERY_COMPLETE);
        return;
    }
    rc = ofi_local_use(source, len, FI_WRITE, &l);
    if (unlikely(rc && !device)) {
        put_pieces(f, to, source, len);
        return;
    } else if (unlikely(rc)) {
        ofi_local_failed(f, source, len, FI_WRITE, to->pe, rc);
        return;
    }
    if (nbi) {
        aim(&t, f, to, l.at, len, l.desc, ofi_local_context(f, to->pe, &l));
        post_write(f, &t, to->pe, 0);
        return;
    }
    ofi_op_init(&op, &ofi_op_waited, to->pe, f);
    aim(&t, f, to, l.at, len, l.desc, &op);
    post_write(f, &t, to->pe, 0);
    ofi_wait_op(&op, f);
    if (l.mr)
        fi_close(&l.mr->fid);
}

void ofi_rma_transmit(struct xport_ctx *f, const struct xport_addr *to,
                      const void *source, size_t len)
{
    int seg = ofi.descs || ofi.hmem ? ofi_region_of(source, len) : -1;
    struct transfer t;

    aim(&t, f, to, ofi_local_at(seg, source), len, ofi_desc(seg),
        ofi_context(f, to->pe));
    post_sent(f, &t, to->pe, 0);
}

void ofi_put_single(struct xport_ctx *f, const struct xport_addr *to,
                    const void *source, size_t len, void *context)
{
    int seg = ofi.descs || ofi.hmem ? ofi_region_of(source, len) : -1;
    struct transfer t;

    aim(&t, f, to, ofi_local_at(seg, source), len, ofi_desc(seg), context);
    post_write(f, &t, to->pe, len <= ofi.inject_put ? FI_INJECT : 0);
}

/* For memory that would have to be registered or mapped first. */
static void get_copy(struct xport_ctx *f, void *dest,
                     const struct xport_addr *from, size_t len, bool nbi)
{
    struct ofi_copy *c = ofi_copy_alloc(f);
    struct transfer t;

    ofi_op_init(&c->op, nbi ? &ofi_op_fetch : &ofi_op_waited, from->pe, f);
    c->dest = dest;
    c->len = len;
    aim(&t, f, from, c->bytes, len, ofi_copy_desc(), &c->op);
    post_read(f, &t, from->pe);
    if (nbi)
        return;
    ofi_wait_op(&c->op, f);
    if (likely(c->op.state == OFI_OP_DONE))
        copy_bytes(dest, c->bytes, len);
    ofi_copy_free(c);
}

void ofi_rma_get(struct xport_ctx *f, void *dest,
                 const struct xport_addr *from, size_t len, bool nbi)
{
    struct ofi_local l;
    struct transfer t;
    struct ofi_op op;
    int rc;

    if (ofi.descs && len <= OFI_BOUNCE && (!nbi || ofi.local_keys) &&
        ofi_region_of(dest, len) < 0 && !ofi_is_device_only(dest)) {
        get_copy(f, dest, from, len, nbi);
        return;
    }
    rc = ofi_local_use(dest, len, FI_READ, &l);
    if (unlikely(rc)) {
        ofi_local_failed(f, dest, len, FI_READ, from->pe, rc);
        return;
    }
    if (nbi) {
        aim(&t, f, from, l.at, len, l.desc, ofi_local_context(f, from->pe, &l));
        post_read(f, &t, from->pe);
        return;
    }
    ofi_op_init(&op, &ofi_op_waited, from->pe, f);
    aim(&t, f, from, l.at, len, l.desc, &op);
    post_read(f, &t, from->pe);
    ofi_wait_op(&op, f);
    if (l.mr)
        fi_close(&l.mr->fid);
}

/* It may use what the window leaves free: a thread that waits for room finds
 * the silent PE by it.  Where one silent PE blocks all operations, it would
 * show nothing. */
static bool may_try_get(const struct xport_ctx *f)
{
    uint64_t n = __atomic_load_n(&f->ep->in_flight, __ATOMIC_RELAXED);

    if (ofi.one_outstanding)
        return n <= __atomic_load_n(&f->issued, __ATOMIC_RELAXED) -
                    __atomic_load_n(&f->done, __ATOMIC_RELAXED);
    return n < ofi.info->tx_attr->size;
}

int ofi_rma_try_get(struct xport_ctx *f, void *dest,
                    const struct xport_addr *from, size_t len)
{
    int seg = ofi_region_of(dest, len);
    struct transfer t;
    void *context;
    long rc;

    context = !may_try_get(f) ? NULL
              : likely(!ofi.contexts) ? ofi_tag(f, from->pe)
                                      : ofi_counted_alloc(f, from->pe, false);
    if (!context)
        return -EBUSY;
    aim(&t, f, from, ofi_local_at(seg, dest), len, ofi_desc(seg), context);
    ofi_ctx_issued(f, from->pe);
    rc = OFI_POST(f, fi_readmsg(f->ep->ep, &t.msg, FI_COMPLETION));
    if (!rc)
        return 0;
    ofi_ctx_unissue(f);
    if (unlikely(ofi.contexts))
        ofi_counted_free(context);
    if (rc != -FI_EAGAIN)
        ofi_fatal("get", from->pe, rc, NULL);
    return -EAGAIN;
}
