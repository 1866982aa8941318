/* SPDX-License-Identifier: BSD-3-Clause */
/* The initiator's side of puts and gets that need staging: a device takes part
 * in them, here, there or both, and a NIC does not reach its memory.
 * ofi_dispatch.c calls it, on any thread, with what is too long for a message.
 *
 * A transfer is cut into parts, and each takes a fragment of the pool: for its
 * bytes, or only for its place in the queue.  From a device here to memory that
 * the network reaches there, the part is copied into the fragment and then put
 * like any other.  Memory of a device there is the peer's work: a request asks
 * the peer to read the fragment, or the segment in which the source lies.  Gets
 * are the same in the other direction.  So the device, the network and the
 * peer's device work on three parts at a time, and no operation waits for
 * another one that lacks room. */
#include "ofi/stage/ofi_device.h"
#include "ofi/stage/ofi_stage_pool.h"
#include "base/copy.h"
#include "rt/rt.h"

#include <string.h>

/* A blocking transfer is cut in so many, for them to overlap, but not below
 * this; others overlap with each other. */
enum { PARTS = 4, LEAST = 65536 };

static size_t part_of(size_t len, bool nbi)
{
    size_t part = nbi ? OFI_FRAG_SIZE
                      : (len / PARTS + LEAST - 1) / LEAST * LEAST;
    size_t most = ofi.info->ep_attr->max_msg_size;

    most = most < OFI_FRAG_SIZE ? most : OFI_FRAG_SIZE;
    part = part < LEAST ? LEAST : part;
    return part < most ? part : most;
}

static struct ofi_frag *await_frag(struct xport_ctx *f)
{
    struct ofi_wait w = { .wait = { .pe = -1, .likely_pe = -1 }, .room = true };
    struct ofi_frag *p;

    while (!(p = ofi_frag_alloc(OFI_INITIATOR))) {
        ofi_progress();
        ofi_wait_step(&w, f->ep);
    }
    ofi_wait_end(&w);
    return p;
}

static void await_left(struct xport_ctx *f, const uint64_t *left, int pe)
{
    struct ofi_wait w = { .wait.pe = pe };
    uint64_t seen = 0, now;

    /* acquire: data of the fragments are there. */
    while ((now = __atomic_load_n(left, __ATOMIC_ACQUIRE))) {
        if (now != seen) {      /* it goes on: this is no stall */
            ofi_wait_end(&w);
            w = (struct ofi_wait){ .wait.pe = pe };
        }
        seen = now;
        ofi_wait_step(&w, f->ep);
    }
    ofi_wait_end(&w);
}

/* ---- steps that puts and gets share ---- */

/* The caller's memory is his again; he may be gone after this. */
static void release_caller(struct ofi_frag *p)
{
    uint64_t *left = p->left;

    p->left = NULL;
    if (left)                   /* release: pairs with await_left */
        __atomic_fetch_sub(left, 1, __ATOMIC_RELEASE);
}

static void count_sent(struct ofi_frag *p)
{
    if (p->put)
        __atomic_fetch_add(&p->op.ctx->sent, 1, __ATOMIC_RELEASE);
}

static bool end(struct ofi_frag *p)
{
    struct xport_ctx *f = p->op.ctx;
    uint64_t *left = p->left;

    ofi_frag_free(p);
    ofi_ctx_completed(f);
    if (left)
        __atomic_fetch_sub(left, 1, __ATOMIC_RELEASE);
    return true;
}

/* The buffer that the peer reads or writes. */
static struct ofi_remote_buf remote_of(const struct ofi_frag *p)
{
    bool virtual = ofi.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR;
    uint64_t off;
    int seg;

    if (!p->direct)
        return ofi_frag_remote(p);
    seg = heap_find(p->local, p->len);
    off = (uintptr_t)p->local - heap_segs[seg].base;
    return (struct ofi_remote_buf){
        off + (virtual ? xport_routes[rt_job.pe].map[seg] : 0),
        ofi_my_key(seg)
    };
}

static bool request_peer(struct ofi_frag *p, enum ofi_am_kind kind,
                     ofi_step *then)
{
    struct ofi_remote_buf l = remote_of(p);

    *p->msg = (struct ofi_am_head){
        .kind = (uint8_t)kind, .seg = (uint8_t)p->remote.seg,
        .off = p->remote.off, .value = p->len, .cond = l.addr,
        .stride = (int64_t)l.key
    };
    return ofi_frag_send(p, p->op.ctx->ep, true, then);
}

static struct ofi_remote_buf remote_buf_of(const struct xport_addr *at)
{
    const struct ofi_peer *p = ofi_peer_at(at);

    return (struct ofi_remote_buf){
        ofi_remote_addr(p, at), ofi_remote_key(p, at)
    };
}

/* Where NICs, a peer's or this PE's, may read and write. */
bool ofi_stage_is_registered(const void *p, size_t len)
{
    int seg = ofi_region_of(p, len);

    return seg >= 0 && !ofi_needs_staging(seg) && ofi.mr[seg];
}

/* ---- puts ---- */

static bool put_answered(struct ofi_frag *p)
{
    count_sent(p);
    return end(p);
}

static bool put_request(struct ofi_frag *p)
{
    if (!p->direct)
        release_caller(p);
    return request_peer(p, OFI_AM_PULL, put_answered);
}

static bool put_write(struct ofi_frag *p)
{
    struct xport_ctx *f = p->op.ctx;
    struct ofi_remote_buf to = remote_buf_of(&p->remote);

    release_caller(p);
    if (!ofi_frag_write(p, f->ep, p->bytes, p->len, &to, end))
        return false;
    /* Later puts come after it. */
    __atomic_fetch_add(&f->sent, 1, __ATOMIC_RELEASE);
    return true;
}

/* The poster of a put counts it as sent. */
static void failed(struct ofi_frag *p)
{
    if (p->step == put_answered)
        count_sent(p);
    end(p);
}

static void put_part(struct ofi_frag *p, bool here)
{
    ofi_step *send = p->device ? put_request : put_write;

    __atomic_fetch_add(&p->op.ctx->staged, 1, __ATOMIC_RELAXED);
    if (here) {
        ofi_frag_copy(p, OFI_FROM_DEVICE, p->bytes, p->local, p->len, send);
        return;
    }
    if (!p->direct)
        copy_bytes(p->bytes, p->local, p->len);
    ofi_frag_run(p, send);
}

/* ---- gets ---- */

static bool get_in(struct ofi_frag *p)
{
    if (ofi_is_device_only(p->local)) {
        ofi_frag_copy(p, OFI_TO_DEVICE, p->local, p->bytes, p->len, end);
        return true;
    }
    if (!p->direct)
        copy_bytes(p->local, p->bytes, p->len);
    return end(p);
}

static bool get_request(struct ofi_frag *p)
{
    return request_peer(p, OFI_AM_PUSH, get_in);
}

static bool get_read(struct ofi_frag *p)
{
    struct ofi_remote_buf from = remote_buf_of(&p->remote);

    return ofi_frag_read(p, p->op.ctx->ep, p->bytes, p->len, &from, get_in);
}

/* ---- both ---- */

/* The next part of a transfer, and its length. */
static struct ofi_frag *cut(struct xport_ctx *f,
                            const struct xport_addr *remote,
                            const void *local, size_t len, bool direct)
{
    struct ofi_frag *p = await_frag(f);

    p->op.pe = remote->pe;
    p->op.ctx = f;
    p->failed = failed;
    p->remote = *remote;
    p->local = (char *)local;
    p->len = len;
    p->device = ofi_needs_staging(remote->seg);
    if (!p->device)             /* no step has to ask for its key */
        ofi_peer_at(remote);
    p->direct = direct;
    ofi_ctx_note_peer(f, remote->pe);
    __atomic_fetch_add(&f->issued, 1, __ATOMIC_RELAXED);
    return p;
}

static void need_pool(void)
{
    if (ofi_stage_pool_open())
        ofi_fatal("device memory", -1, -FI_ENOMEM, "no room between it and the "
                 "network");
}

void ofi_stage_put(struct xport_ctx *f, const struct xport_addr *to,
                   const void *source, size_t len, bool nbi)
{
    bool here = ofi_is_device_only(source);
    size_t part = part_of(len, nbi), n;
    struct xport_addr at = *to;
    const char *from = source;
    struct ofi_frag *p;
    uint64_t left = 0;
    bool direct;

    need_pool();
    direct = !here && (nbi || len > OFI_STAGE_COPIED) &&
             ofi_stage_is_registered(source, len);
    for (; len; len -= n, from += n, at.off += n) {
        n = len < part ? len : part;
        p = cut(f, &at, from, n, direct);
        p->put = true;
        p->left = nbi ? NULL : &left;
        __atomic_fetch_add(&left, 1, __ATOMIC_RELAXED);
        put_part(p, here);
    }
    if (!nbi)
        await_left(f, &left, to->pe);
}

void ofi_stage_get(struct xport_ctx *f, void *dest,
                   const struct xport_addr *from, size_t len, bool nbi)
{
    bool here = ofi_is_device_only(dest), there = ofi_needs_staging(from->seg);
    size_t part = part_of(len, nbi), n;
    struct xport_addr at = *from;
    struct ofi_frag *p;
    uint64_t left = 0;
    char *to = dest;
    bool direct;

    need_pool();
    direct = !here && ofi_stage_is_registered(dest, len);
    for (; len; len -= n, to += n, at.off += n) {
        n = len < part ? len : part;
        p = cut(f, &at, to, n, direct);
        p->put = false;
        p->left = nbi ? NULL : &left;
        __atomic_fetch_add(&left, 1, __ATOMIC_RELAXED);
        ofi_frag_run(p, there ? get_request : get_read);
    }
    if (!nbi)
        await_left(f, &left, from->pe);
}
