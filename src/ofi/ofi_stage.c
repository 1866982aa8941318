/* SPDX-License-Identifier: BSD-3-Clause */
/* Far puts and gets that a device takes part in, here, there or both.
 *
 * What is short goes as messages, by way of a buffer.  The rest is cut, and
 * each part takes a piece from the ring, for its place in the queue if not for
 * its bytes: from a device here to the network's memory it is copied there and
 * then put like any other; what a device there is to have, the peer is asked
 * to read, from the piece or from the segment that the source lies in; gets
 * are the same the other way round.  So the device, the network and the peer's
 * device work on three parts at a time, and whoever lacks room is waited for
 * by nobody else. */
#include "ofi/ofi_device.h"
#include "ofi/ofi_ask.h"
#include "ofi/ofi_ring.h"
#include "base/copy.h"
#include "rt/rt.h"

#include <string.h>

/* Measured over TCP: with a device there, one message takes half the time of a
 * part, and two as long; without, a blocking put or get by way of the stack
 * takes three quarters of a part's at 14 KiB.  More than that a blocking put
 * leaves where it is, if it can. */
enum { SHORT = OFI_AM_PAYLOAD, COPIED = 16384 };
/* A blocking transfer is cut in so many, for them to overlap, but not below
 * this; others overlap with each other. */
enum { PARTS = 4, LEAST = 65536 };

bool ofi_is_foreign(const void *p)
{
    int seg = heap_find(p, 1);

    return seg < 0 ? gtl_is_device_only(p) : ofi_for_device(seg);
}

static size_t part_of(size_t len, bool nbi)
{
    size_t part = nbi ? OFI_PIECE : (len / PARTS + LEAST - 1) / LEAST * LEAST;
    size_t most = ofi.info->ep_attr->max_msg_size;

    most = most < OFI_PIECE ? most : OFI_PIECE;
    part = part < LEAST ? LEAST : part;
    return part < most ? part : most;
}

/* Is it better done at once? */
static bool is_short(size_t len, bool there, bool nbi)
{
    return len <= (there || nbi ? SHORT : COPIED);
}

static struct ofi_piece *await_piece(struct xport_ep *f)
{
    struct ofi_wait w = { .wait = { .pe = -1, .maybe = -1 }, .room = true };
    struct ofi_piece *p;

    while (!(p = ofi_piece_take(OFI_MINE))) {
        ofi_progress();
        ofi_wait_step(&w, f->ep);
    }
    ofi_wait_end(&w);
    return p;
}

static void await_left(struct xport_ep *f, const uint64_t *left, int pe)
{
    struct ofi_wait w = { .wait.pe = pe };
    uint64_t seen = 0, now;

    /* acquire: what the pieces brought is there. */
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
static void let_go(struct ofi_piece *p)
{
    uint64_t *left = p->left;

    p->left = NULL;
    if (left)                   /* release: pairs with await_left */
        __atomic_fetch_sub(left, 1, __ATOMIC_RELEASE);
}

static void count_sent(struct ofi_piece *p)
{
    if (p->put)
        __atomic_fetch_add(&p->op.flow->sent, 1, __ATOMIC_RELEASE);
}

static bool end(struct ofi_piece *p)
{
    struct xport_ep *f = p->op.flow;
    uint64_t *left = p->left;

    ofi_piece_give(p);
    ofi_flow_done(f);
    if (left)
        __atomic_fetch_sub(left, 1, __ATOMIC_RELEASE);
    return true;
}

/* What the peer reads or writes. */
static struct ofi_lent lent_of(const struct ofi_piece *p)
{
    bool virtual = ofi.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR;
    uint64_t off;
    int seg;

    if (!p->direct)
        return ofi_piece_lent(p);
    seg = heap_find(p->near, p->len);
    off = (uintptr_t)p->near - heap_segs[seg].base;
    return (struct ofi_lent){
        off + (virtual ? xport_routes[rt_job.pe].map[seg] : 0),
        ofi_my_key(seg)
    };
}

static bool ask_peer(struct ofi_piece *p, enum ofi_am_kind kind,
                     ofi_step *then)
{
    struct ofi_lent l = lent_of(p);

    *p->mail = (struct ofi_am_head){
        .kind = (uint8_t)kind, .seg = (uint8_t)p->far.seg, .off = p->far.off,
        .value = p->len, .cond = l.addr, .stride = (int64_t)l.key
    };
    return ofi_piece_mail(p, p->op.flow->ep, true, then);
}

static struct ofi_lent lent_by(const struct xport_addr *at)
{
    const struct ofi_peer *p = ofi_peer_at(at);

    return (struct ofi_lent){ ofi_remote_addr(p, at), ofi_remote_key(p, at) };
}

/* Where NICs, a peer's or this PE's, may read and write. */
static bool is_registered(const void *p, size_t len)
{
    int seg = ofi_region_of(p, len);

    return seg >= 0 && !ofi_staged(seg) && ofi.mr[seg];
}

/* ---- puts ---- */

static bool put_answered(struct ofi_piece *p)
{
    count_sent(p);
    return end(p);
}

static bool put_ask(struct ofi_piece *p)
{
    if (!p->direct)
        let_go(p);
    return ask_peer(p, OFI_AM_PULL, put_answered);
}

static bool put_write(struct ofi_piece *p)
{
    struct xport_ep *f = p->op.flow;
    struct ofi_lent to = lent_by(&p->far);

    let_go(p);
    if (!ofi_piece_write(p, f->ep, p->bytes, p->len, &to, end))
        return false;
    /* What is put from now on comes after it. */
    __atomic_fetch_add(&f->sent, 1, __ATOMIC_RELEASE);
    return true;
}

/* A put that was posted is counted as sent by who posted it. */
void ofi_stage_failed(struct ofi_piece *p)
{
    if (p->step == put_answered)
        count_sent(p);
    end(p);
}

static void put_part(struct ofi_piece *p, bool here)
{
    ofi_step *send = p->device ? put_ask : put_write;

    __atomic_fetch_add(&p->op.flow->staged, 1, __ATOMIC_RELAXED);
    if (here) {
        ofi_piece_copy(p, OFI_OUT, p->bytes, p->near, p->len, send);
        return;
    }
    if (!p->direct)
        copy_bytes(p->bytes, p->near, p->len);
    ofi_piece_go(p, send);
}

static void put_short(struct xport_ep *f, const struct xport_addr *to,
                      const void *source, size_t len, bool here)
{
    char copy[COPIED];

    if (here && gtl_copy_now(copy, source, len)) {
        ofi_failed(f, "device copy", rt_job.pe, -FI_EIO, gtl_error());
        return;
    }
    if (here)
        source = copy;
    if (ofi_staged(to->seg))
        ofi_am_put(f, to, source, len);
    else
        ofi_put(f, to, source, len, false);
}

/* ---- gets ---- */

static bool get_in(struct ofi_piece *p)
{
    if (ofi_is_foreign(p->near)) {
        ofi_piece_copy(p, OFI_IN, p->near, p->bytes, p->len, end);
        return true;
    }
    if (!p->direct)
        copy_bytes(p->near, p->bytes, p->len);
    return end(p);
}

static bool get_ask(struct ofi_piece *p)
{
    return ask_peer(p, OFI_AM_PUSH, get_in);
}

static bool get_read(struct ofi_piece *p)
{
    struct ofi_lent from = lent_by(&p->far);

    return ofi_piece_read(p, p->op.flow->ep, p->bytes, p->len, &from, get_in);
}

static void get_short(struct xport_ep *f, void *dest,
                      const struct xport_addr *from, size_t len, bool here,
                      bool nbi)
{
    char copy[COPIED];
    void *to = here ? copy : dest;

    if (ofi_staged(from->seg))
        ofi_am_get(f, to, from, len, nbi);
    else
        ofi_get(f, to, from, len, nbi);
    if (here && gtl_copy_now(dest, copy, len))
        ofi_failed(f, "device copy", rt_job.pe, -FI_EIO, gtl_error());
}

/* ---- both ---- */

/* The next part of a transfer, and its length. */
static struct ofi_piece *cut(struct xport_ep *f, const struct xport_addr *far,
                             const void *near, size_t len, bool direct)
{
    struct ofi_piece *p = await_piece(f);

    p->op.pe = far->pe;
    p->op.flow = f;
    p->far = *far;
    p->near = (char *)near;
    p->len = len;
    p->device = ofi_staged(far->seg);
    if (!p->device)             /* no step has to ask for its key */
        ofi_peer_at(far);
    p->direct = direct;
    ofi_flow_turns(f, far->pe);
    __atomic_fetch_add(&f->issued, 1, __ATOMIC_RELAXED);
    return p;
}

static void need_ring(void)
{
    if (ofi_ring_open())
        ofi_fail("device memory", -1, -FI_ENOMEM, "no room between it and the "
                 "network");
}

bool ofi_stage_put(struct xport_ep *f, const struct xport_addr *to,
                   const void *source, size_t len, bool nbi)
{
    bool here = ofi_is_foreign(source), there = ofi_staged(to->seg);
    size_t part = part_of(len, nbi), n;
    struct xport_addr at = *to;
    const char *from = source;
    struct ofi_piece *p;
    uint64_t left = 0;
    bool direct;

    if (!here && !there)
        return false;
    if (is_short(len, there, nbi)) {
        put_short(f, to, source, len, here);
        return true;
    }
    if (here && is_registered(source, len))
        return false;
    need_ring();
    direct = !here && (nbi || len > COPIED) && is_registered(source, len);
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
    return true;
}

bool ofi_stage_get(struct xport_ep *f, void *dest,
                   const struct xport_addr *from, size_t len, bool nbi)
{
    bool here = ofi_is_foreign(dest), there = ofi_staged(from->seg);
    size_t part = part_of(len, nbi), n;
    struct xport_addr at = *from;
    struct ofi_piece *p;
    uint64_t left = 0;
    char *to = dest;
    bool direct;

    if ((!here && !there) || (here && is_registered(dest, len)))
        return false;
    /* One that is nbi has its piece, from which the device copies later. */
    if (is_short(len, there, nbi) && !(here && nbi)) {
        get_short(f, dest, from, len, here, nbi);
        return true;
    }
    need_ring();
    direct = !here && is_registered(dest, len);
    for (; len; len -= n, to += n, at.off += n) {
        n = len < part ? len : part;
        p = cut(f, &at, to, n, direct);
        p->put = false;
        p->left = nbi ? NULL : &left;
        __atomic_fetch_add(&left, 1, __ATOMIC_RELAXED);
        ofi_piece_go(p, there ? get_ask : get_read);
    }
    if (!nbi)
        await_left(f, &left, from->pe);
    return true;
}
