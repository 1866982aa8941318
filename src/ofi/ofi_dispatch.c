/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses what does a put, a get or an atomic: an operation of the provider,
 * stripes over several NICs, a message to the peer's processor, or staging
 * through host memory, by the memory at both ends, the length and what the
 * provider can do.  xport_ops and ofi_order.c call it, on any thread; nothing
 * below it does. */
#include "ofi/ofi_dispatch.h"
#include "ofi/am/ofi_ack.h"
#include "ofi/am/ofi_am.h"
#include "ofi/net/ofi_local.h"
#include "ofi/net/ofi_rail.h"
#include "ofi/stage/ofi_device.h"
#include "ofi/stage/ofi_stage_pool.h"
#include "rt/rt.h"

#include <errno.h>
#include <string.h>

/* Short transfers with a device go as messages, by way of a buffer.  Measured
 * over TCP: with a device there, one message takes half the time of a staged
 * part, and two as long; without, a blocking put or get by way of the stack
 * takes three quarters of a part's at 14 KiB. */
enum { SHORT = OFI_AM_PAYLOAD };

/* ---- fragments ---- */

/* A long transfer is a few operations, since each of them has SHMEM_TIMEOUT to
 * end: a slow link that works must carry an eighth of the transfer in that
 * time.  More operations would take more of a queue's share of the window. */
enum { FRAGMENT_LEAST = 16 << 20, FRAGMENTS = 8 };

static size_t most_bytes(void)
{
    return ofi.info->ep_attr->max_msg_size;
}

static size_t fragment_size(size_t len)
{
    size_t most = most_bytes(), n;

    if (likely(len <= FRAGMENT_LEAST && len <= most))
        return len;
    if (most > FRAGMENTS)
        most -= most % FRAGMENTS;       /* no word lies in two */
    if (len <= FRAGMENT_LEAST)
        return most;
    n = len / FRAGMENTS + FRAGMENTS;
    n = n < FRAGMENT_LEAST ? FRAGMENT_LEAST : n - n % FRAGMENTS;
    return n < most ? n : most;
}

/* ---- puts ---- */

/* A variable that a thread of the peer may be waiting for: where the provider
 * does not store it at once, the target's processor does. */
static bool is_whole(const struct xport_addr *to, size_t len)
{
    return ofi.nonatomic_delivery && (len == 2 || len == 4 || len == 8) &&
           to->off % len == 0;
}

bool ofi_put_is_message(const struct xport_addr *to, size_t len)
{
    return len == 2 && is_whole(to, len);
}

static void put_whole(struct xport_ctx *f, const struct xport_addr *to,
                      const void *source, size_t len)
{
    struct xport_amo set = { .op = AMO_SET, .size = (int)len };

    if (len == 2) {
        ofi_am_put_blocks(f, to, source, &(struct xport_blocks){ 2, 1, 2, 2 });
        return;
    }
    memcpy(&set.value, source, len);
    ofi_amo_dispatch(f, to, &set, NULL, false);
}

/* Behind a fence a short put is a message, too, which comes after those before
 * it.  False: it is to be put. */
static bool fenced_put(struct xport_ctx *f, const struct xport_addr *to,
                       const void *source, size_t len)
{
    if (likely(!ofi_behind_fence(f)))
        return false;
    ofi_fence_limit(f);
    if (len <= OFI_AM_PAYLOAD && !ofi_is_device_only_seg(to->seg) &&
        !ofi_is_device_only(source) && ofi_am_room(false) &&
        ofi_ack_put(f, &(struct ofi_am_put){ to, source, len }))
        return true;
    ofi_fence_end(f);
    return false;
}

static void put_fragment(struct xport_ctx *f, const struct xport_addr *to,
                         const void *source, size_t len, bool nbi)
{
    if (is_whole(to, len) &&
        !(unlikely(ofi.hmem) && ofi_is_device_only(source))) {
        put_whole(f, to, source, len);
        return;
    }
    if (fenced_put(f, to, source, len))
        return;
    if (len > OFI_AM_PAYLOAD)
        __atomic_store_n(&f->long_puts, true, __ATOMIC_RELAXED);
    if (unlikely(len >= ofi_stripe_from) &&
        ofi_stripe_put(f, to, source, len, nbi))
        return;
    ofi_rma_put(f, to, source, len, nbi);
}

static void put_fragments(struct xport_ctx *f, const struct xport_addr *to,
                          const void *source, size_t len, bool nbi)
{
    struct xport_addr at = *to;
    const char *from = source;
    size_t most = fragment_size(len), n;

    ofi_peer_prepare(to);
    for (; len; len -= n, from += n, at.off += n) {
        n = len < most ? len : most;
        put_fragment(f, &at, from, n, nbi);
    }
}

static bool is_short(size_t len, bool there, bool nbi)
{
    return len <= (size_t)(there || nbi ? SHORT : OFI_STAGE_COPIED);
}

static void put_short(struct xport_ctx *f, const struct xport_addr *to,
                      const void *source, size_t len, bool here)
{
    char copy[OFI_STAGE_COPIED];

    if (here && gtl_copy_now(copy, source, len)) {
        ofi_op_error(f, "device copy", rt_job.pe, -FI_EIO, gtl_error());
        return;
    }
    if (here)
        source = copy;
    if (ofi_needs_staging(to->seg))
        ofi_am_put(f, to, source, len);
    else
        put_fragments(f, to, source, len, false);
}

/* False: no device takes part, or the NIC reaches its memory. */
__attribute__((cold))
static bool put_device(struct xport_ctx *f, const struct xport_addr *to,
                       const void *source, size_t len, bool nbi)
{
    bool here = ofi_is_device_only(source), there = ofi_needs_staging(to->seg);

    if (!here && !there)
        return false;
    if (is_short(len, there, nbi)) {
        put_short(f, to, source, len, here);
        return true;
    }
    if (here && ofi_stage_is_registered(source, len))
        return false;
    ofi_fence_rma(f);
    ofi_stage_put(f, to, source, len, nbi);
    return true;
}

void ofi_put(struct xport_ctx *f, const struct xport_addr *to,
             const void *source, size_t len, bool nbi)
{
    if (unlikely(gtl_device_only) && put_device(f, to, source, len, nbi))
        return;
    put_fragments(f, to, source, len, nbi);
}

/* Where the device has a part in it, it may take more. */
bool ofi_put_is_single(const struct xport_addr *to, const void *source,
                       size_t len)
{
    if (len > most_bytes() || is_whole(to, len) ||
        (ofi.local_keys && ofi_region_of(source, len) < 0))
        return false;
    return !gtl_device_only ||
           (to->seg != HEAP_DEVICE && !ofi_is_device_only(source));
}

void ofi_put_transmit(struct xport_ctx *f, const struct xport_addr *to,
                      const void *source, size_t len, bool copies)
{
    size_t most = fragment_size(len), n;
    struct xport_addr at = *to;
    const char *from = source;

    ofi_peer_prepare(to);
    ofi_fence_rma(f);
    if (copies) {
        ofi_rma_transmit_copy(f, to, source, len);
        return;
    }
    for (; len; len -= n, from += n, at.off += n) {
        n = len < most ? len : most;
        ofi_rma_transmit(f, &at, from, n);
    }
}

/* ---- gets ---- */

/* relaxed: a quiet counts what its own thread has begun. */
static void count_fetch(struct xport_ctx *f)
{
    __atomic_fetch_add(&f->device_fetches, 1, __ATOMIC_RELAXED);
}

static void get_fragments(struct xport_ctx *f, void *dest,
                          const struct xport_addr *from, size_t len, bool nbi)
{
    bool lands = unlikely(xport_flusher != NULL) && ofi_is_device_only(dest);
    struct xport_addr at = *from;
    size_t most = fragment_size(len), n;
    char *to = dest;

    ofi_peer_prepare(from);
    if (lands && nbi)
        count_fetch(f);
    for (; len; len -= n, to += n, at.off += n) {
        n = len < most ? len : most;
        if (likely(n < ofi_stripe_from) || !ofi_stripe_get(f, to, &at, n, nbi))
            ofi_rma_get(f, to, &at, n, nbi);
    }
    if (lands && !nbi)
        xport_flush();
}

static void get_short(struct xport_ctx *f, void *dest,
                      const struct xport_addr *from, size_t len, bool here,
                      bool nbi)
{
    char copy[OFI_STAGE_COPIED];
    void *to = here ? copy : dest;

    if (ofi_needs_staging(from->seg))
        ofi_am_get(f, to, from, len, nbi);
    else
        get_fragments(f, to, from, len, nbi);
    if (here && gtl_copy_now(dest, copy, len))
        ofi_op_error(f, "device copy", rt_job.pe, -FI_EIO, gtl_error());
}

/* As put_device().  A get into a device that is nbi has its fragment, from
 * which the device copies later. */
__attribute__((cold))
static bool get_device(struct xport_ctx *f, void *dest,
                       const struct xport_addr *from, size_t len, bool nbi)
{
    bool here = ofi_is_device_only(dest), there = ofi_needs_staging(from->seg);

    if ((!here && !there) || (here && ofi_stage_is_registered(dest, len)))
        return false;
    if (is_short(len, there, nbi) && !(here && nbi))
        get_short(f, dest, from, len, here, nbi);
    else
        ofi_stage_get(f, dest, from, len, nbi);
    return true;
}

void ofi_get(struct xport_ctx *f, void *dest, const struct xport_addr *from,
             size_t len, bool nbi)
{
    if (unlikely(gtl_device_only) && get_device(f, dest, from, len, nbi))
        return;
    get_fragments(f, dest, from, len, nbi);
}

int ofi_try_get(struct xport_ctx *f, void *dest, const struct xport_addr *from,
                size_t len)
{
    if (from->seg == HEAP_DEVICE)       /* its key may have to be fetched */
        return -EBUSY;
    return ofi_rma_try_get(f, dest, from, len);
}

/* ---- blocks ---- */

void ofi_put_blocks(struct xport_ctx *f, const struct xport_addr *to,
                    const void *source, const struct xport_blocks *b)
{
    const char *from = source;
    struct xport_addr at = *to;

    if (ofi_am_packs(b)) {
        ofi_am_put_blocks(f, to, source, b);
        return;
    }
    for (size_t i = 0; i < b->count; i++) {
        ofi_put(f, &at, from, b->len, false);
        at.off += (size_t)b->remote_stride;
        from += b->local_stride;
    }
}

void ofi_get_blocks(struct xport_ctx *f, void *dest,
                    const struct xport_addr *from,
                    const struct xport_blocks *b, bool nbi)
{
    struct xport_addr at = *from;
    char *to = dest;

    if (ofi_am_packs(b)) {
        ofi_am_get_blocks(f, dest, from, b, nbi);
        return;
    }
    for (size_t i = 0; i < b->count; i++) {
        ofi_get(f, to, &at, b->len, nbi);
        at.off += (size_t)b->remote_stride;
        to += b->local_stride;
    }
}

/* ---- atomics ---- */

void ofi_amo_dispatch(struct xport_ctx *f, const struct xport_addr *at,
                      const struct xport_amo *a, void *result, bool nbi)
{
    if (unlikely(xport_flusher != NULL) && result && nbi)
        count_fetch(f);
    if (ofi.nic_amo && !ofi_is_device_only_seg(at->seg)) {
        ofi_peer_prepare(at);
        ofi_amo_native(f, at, a, result, nbi);
    } else if (result || !ofi_ack_update(f, NULL, at, a)) {
        ofi_am_amo(f, at, a, result, nbi);
    }
}
