/* SPDX-License-Identifier: BSD-3-Clause */
/* The order of operations, and their completion.
 *
 * Where the provider keeps puts, and atomics after puts, in order on their way
 * to a peer, a fence waits for atomics only: these are executed by software,
 * one after the other, and later puts may overtake them.  Elsewhere a fence is
 * a quiet. */
#include "ofi/ofi_dispatch.h"
#include "ofi/stage/ofi_device.h"
#include "ofi/net/ofi_local.h"
#include "ofi/am/ofi_am_wire.h"
#include "ofi/am/ofi_am.h"
#include "ofi/net/ofi_rail.h"
#include "ofi/stage/ofi_stage_pool.h"
#include "ofi/am/ofi_ack.h"

#include <errno.h>

/* Until as many are done as were issued when it was called or later. */
static void drain(struct xport_ctx *f, const uint64_t *issued,
                  const uint64_t *done)
{
    struct ofi_wait w = { .wait.pe = -1, .wait.likely_pe = ofi_ctx_peer(f) };
    uint64_t seen = 0, now;

    /* acquire: data of the operations are there. */
    while ((now = __atomic_load_n(done, __ATOMIC_ACQUIRE)) <
           __atomic_load_n(issued, __ATOMIC_RELAXED)) {
        if (now != seen) {
            ofi_wait_end(&w);
            w = (struct ofi_wait){ .wait.pe = -1,
                                   .wait.likely_pe = ofi_ctx_peer(f) };
        }
        seen = now;
        ofi_wait_step(&w, f->ep);
    }
    ofi_wait_end(&w);
}

/* Other threads may have fenced since. */
static void fences_are_over(struct xport_ctx *f, uint64_t n)
{
    uint64_t was = __atomic_load_n(&f->fences_over, __ATOMIC_RELAXED);

    while (was < n && !__atomic_compare_exchange_n(&f->fences_over, &was, n,
                                                   true, __ATOMIC_RELEASE,
                                                   __ATOMIC_RELAXED))
        ;
}

void ofi_quiet(struct xport_ctx *f)
{
    uint64_t fetches = __atomic_load_n(&f->device_fetches, __ATOMIC_RELAXED);
    uint64_t fences = __atomic_load_n(&f->fences, __ATOMIC_ACQUIRE);

    if (ofi.batched_acks)
        ofi_ack_request(f);
    drain(f, &f->issued, &f->done);
    if (ofi.batched_acks)
        ofi_ack_wait(f);
    fences_are_over(f, fences);
    if (unlikely(__atomic_load_n(&f->device_flushed, __ATOMIC_ACQUIRE) <
                 fetches)) {
        xport_flush();
        __atomic_store_n(&f->device_flushed, fetches, __ATOMIC_RELEASE);
    }
}

/* Does what is put come before what is sent later?  Puts of blocks, and atomics
 * on device words, are messages, whatever other atomics are. */
static bool in_order(void)
{
    return ofi.put_amo_order && (!ofi.nic_amo || ofi.put_msg_order);
}

/* As far as there is room: a test waits for nothing. */
static void request_polled(struct xport_ctx *f)
{
    int pe;

    if (!f->polled || !ofi.batched_acks)
        return;
    while (ofi_ack_next(f, &pe) && ofi_has_room(f, pe))
        ofi_ack_request_of(f, pe);
}

bool ofi_all_answered(const struct xport_ctx *f)
{
    /* acquire: data of the operations are there. */
    return __atomic_load_n(&f->done, __ATOMIC_ACQUIRE) ==
           __atomic_load_n(&f->issued, __ATOMIC_RELAXED);
}

bool ofi_quiet_test(struct xport_ctx *f)
{
    request_polled(f);
    return ofi_ack_idle(f) && ofi_all_answered(f);
}

/* A striped put is not kept behind what was sent over one NIC; an atomic, which
 * goes over that one, is. */
static bool fence_waits(bool then_amo)
{
    return !ofi.waw_order || !in_order() || (ofi_n_rails && !then_amo);
}

static bool messages_answered(const struct xport_ctx *f)
{
    return ofi_ack_idle(f) &&
           __atomic_load_n(&f->amo_done, __ATOMIC_ACQUIRE) ==
               __atomic_load_n(&f->amo_issued, __ATOMIC_RELAXED);
}

/* Over a byte stream what is sent comes in order, and only a put of the provider's
 * may overtake messages.  So the next such put waits for these, unless long puts
 * came before: then another one is likely, and waits less long here. */
void ofi_fence(struct xport_ctx *f, bool then_amo)
{
    bool long_puts;

    if (fence_waits(then_amo)) {
        ofi_quiet(f);
        return;
    }
    drain(f, &f->staged, &f->sent);
    if (then_amo)
        return;
    if (!ofi.batched_acks) {
        drain(f, &f->amo_issued, &f->amo_done);
        return;
    }
    long_puts = __atomic_exchange_n(&f->long_puts, false, __ATOMIC_RELAXED);
    if (messages_answered(f))
        return;
    /* release: a thread that ends this fence knows of its messages. */
    __atomic_fetch_add(&f->fences, 1, __ATOMIC_RELEASE);
    if (long_puts)
        ofi_fence_end(f);
}

enum { UNANSWERED_MOST = 64 };
void ofi_fence_limit(struct xport_ctx *f)
{
    if (unlikely(__atomic_load_n(&f->n_updates, __ATOMIC_RELAXED) >=
                 UNANSWERED_MOST))
        ofi_fence_end(f);
}

void ofi_fence_end(struct xport_ctx *f)
{
    uint64_t fences = __atomic_load_n(&f->fences, __ATOMIC_ACQUIRE);

    ofi_ack_request(f);
    drain(f, &f->amo_issued, &f->amo_done);
    ofi_ack_wait(f);
    fences_are_over(f, fences);
}

static bool all_sent(const struct xport_ctx *f)
{
    return __atomic_load_n(&f->sent, __ATOMIC_ACQUIRE) ==
           __atomic_load_n(&f->staged, __ATOMIC_RELAXED);
}

bool ofi_fenced(struct xport_ctx *f, bool then_amo)
{
    if (fence_waits(then_amo))
        return ofi_quiet_test(f);
    if (!then_amo)
        request_polled(f);
    return all_sent(f) && (then_amo || messages_answered(f));
}

/* A context's share of the window, and no more than any provider takes for one
 * peer that is silent; an operation posts twice at most, but for a put of memory
 * that the provider does not register, which waits for room.  The reserve of the
 * pools is for contexts that have next to nothing under way. */
enum { SHARE = 4, MINE = 64, POSTS = 2 };

static bool pools_have(uint64_t mine)
{
    bool little = mine < POSTS;

    return ofi_am_room(little) && ofi_local_room(little) &&
           ofi_amo_room(little);
}

static bool has_share(const struct xport_ctx *f)
{
    uint64_t mine = __atomic_load_n(&f->issued, __ATOMIC_RELAXED) -
                    __atomic_load_n(&f->done, __ATOMIC_RELAXED);
    uint64_t all = __atomic_load_n(&f->ep->in_flight, __ATOMIC_RELAXED);

    /* Requests that were sent hold room though none is under way here. */
    return ((!mine && !all) ||
            (mine < MINE && mine <= ofi.window / SHARE &&
             all + POSTS <= ofi.window)) && pools_have(mine) &&
           (!gtl_device_only || ofi_frag_available(OFI_INITIATOR)) &&
           (!ofi_n_rails || (ofi_stripe_room() && ofi_rails_room()));
}

bool ofi_has_room(struct xport_ctx *f, int pe)
{
    return has_share(f) && ofi_am_connect(f, pe);
}

void ofi_notify(struct xport_ctx *f, const struct xport_addr *at,
              const struct xport_amo *a)
{
    if (!ofi.nic_amo) {
        ofi_am_notify(f, NULL, at, a, 0);
        return;
    }
    ofi_peer_prepare(at);
    ofi_amo_native(f, at, a, NULL, false);
}

/* Where nothing keeps a signal behind its put, the put's end sends it. */
static bool may_lead(const struct xport_addr *sig_at)
{
    return !in_order() && ofi.nic_amo && !ofi_is_device_only_seg(sig_at->seg);
}

/* The same of the stripes of a put, also where it is a message. */
static bool may_follow(const struct xport_addr *sig_at)
{
    return (!ofi.nic_amo || !in_order()) &&
           !ofi_is_device_only_seg(sig_at->seg);
}

/* The put's completion sends the signal: true, or nothing was done. */
static bool put_then_signal(struct xport_ctx *f, const struct xport_addr *to,
                            const void *source, size_t len,
                            const struct xport_addr *sig_at,
                            const struct xport_amo *sig)
{
    if (unlikely(len >= ofi_stripe_from) && may_follow(sig_at)) {
        ofi_peer_prepare(sig_at);
        if (ofi_stripe_put_signal(f, to, source, len, sig_at, sig))
            return true;
    }
    if (!may_lead(sig_at) || !ofi_put_is_single(to, source, len))
        return false;
    ofi_peer_prepare(to);
    ofi_peer_prepare(sig_at);
    ofi_put_single(f, to, source, len, ofi_amo_after_put(f, sig_at, sig));
    return true;
}

/* Does a device here or there take part? */
static bool is_staged(const struct xport_addr *to, const void *source)
{
    return gtl_device_only &&
           (to->seg == HEAP_DEVICE || ofi_is_device_only(source));
}

/* A copy, of which some are left for others, or one put. */
static bool may_transmit(const struct xport_addr *to, const void *source,
                         size_t len)
{
    return ofi_in_flight() <= OFI_COPIES / 2 &&
           (len <= XPORT_COPY_MAX ||
            (len < ofi_stripe_from && ofi_put_is_single(to, source, len)));
}

/* Are they done in that order, each at once, as messages or copies? */
static bool may_message(const struct xport_addr *to, const void *source,
                        size_t len, const struct xport_addr *sig_at)
{
    return in_order() && !ofi.nic_amo && !ofi_is_device_only_seg(sig_at->seg) &&
           (!to || (!is_staged(to, source) &&
                    (len <= OFI_AM_PAYLOAD || may_transmit(to, source, len))));
}

/* Both by one message, or a copy that is sent and a message behind it, whose
 * answer stands for both.  False: nothing was done. */
static bool put_with_signal(struct xport_ctx *f, const struct xport_addr *to,
                            const void *source, size_t len,
                            const struct xport_addr *sig_at,
                            const struct xport_amo *sig)
{
    if (!len || len > XPORT_COPY_MAX || !ofi.batched_acks || f->failed ||
        f->polled || !may_message(to, source, len, sig_at) ||
        !ofi_am_room(false))
        return false;
    ofi_fence_limit(f);
    if (len <= OFI_AM_PAYLOAD)
        return ofi_ack_update(f, &(struct ofi_am_put){ to, source, len },
                              sig_at, sig);
    ofi_put_transmit(f, to, source, len, true);
    ofi_amo_dispatch(f, sig_at, sig, NULL, false);
    return true;
}

void ofi_put_signal(struct xport_ctx *f, const struct xport_addr *to,
                    const void *source, size_t len,
                    const struct xport_addr *sig_at,
                    const struct xport_amo *sig, bool nbi)
{
    uint64_t failures = __atomic_load_n(&f->failures, __ATOMIC_RELAXED);

    if ((nbi && put_then_signal(f, to, source, len, sig_at, sig)) ||
        put_with_signal(f, to, source, len, sig_at, sig))
        return;
    ofi_put(f, to, source, len, nbi);
    if (!in_order())
        ofi_quiet(f);
    else
        drain(f, &f->staged, &f->sent);
    /* As far as failures are known by now, no signal follows a failed put. */
    if (unlikely(__atomic_load_n(&f->failures, __ATOMIC_RELAXED) != failures))
        return;
    ofi_amo_dispatch(f, sig_at, sig, NULL, false);
}

int ofi_try_put_signal(struct xport_ctx *f, const struct xport_addr *to,
                       const void *source, size_t len,
                       const struct xport_addr *sig_at,
                       const struct xport_amo *sig, bool nbi)
{
    uint64_t failures = __atomic_load_n(&f->failures, __ATOMIC_RELAXED);

    if (!ofi_has_room(f, to->pe))
        return -EAGAIN;
    if (nbi && put_then_signal(f, to, source, len, sig_at, sig))
        return 0;
    if (!in_order() || is_staged(to, source) || (!nbi && len > OFI_BOUNCE) ||
        len >= ofi_stripe_from || (ofi.nic_amo && ofi_put_is_message(to, len)))
        return -ENOTSUP;
    if (!all_sent(f))
        return -EAGAIN;
    ofi_put(f, to, source, len, nbi);
    if (likely(__atomic_load_n(&f->failures, __ATOMIC_RELAXED) == failures))
        ofi_amo_dispatch(f, sig_at, sig, NULL, false);
    return 0;
}

/* The stream's bytes come in order, so no thread has to see the end of the put:
 * short data go with their signal, longer ones before it.  Copies are few: a PE
 * that takes nothing must not have them all, or messages to others wait for
 * it. */
static void send_message(struct xport_ctx *f, const struct xport_addr *to,
                         const void *source, size_t len,
                         const struct xport_addr *sig_at,
                         const struct xport_amo *sig)
{
    uint64_t failures = __atomic_load_n(&f->failures, __ATOMIC_RELAXED);

    if (len <= OFI_AM_PAYLOAD) {
        ofi_am_notify_counted(f, &(struct ofi_am_put){ to, source, len },
                              sig_at, sig);
        return;
    }
    ofi_put_transmit(f, to, source, len, len <= XPORT_COPY_MAX);
    if (likely(__atomic_load_n(&f->failures, __ATOMIC_RELAXED) == failures))
        ofi_notify(f, sig_at, sig);
}

void ofi_put_notify(struct xport_ctx *f, const struct xport_addr *to,
                    const void *source, size_t len,
                    const struct xport_addr *at, const struct xport_amo *a)
{
    bool copies = len <= XPORT_COPY_MAX && may_message(to, source, len, at);

    if (!copies)
        ofi_put(f, to, source, len, false);
    ofi_fence(f, true);
    if (copies && len <= OFI_AM_PAYLOAD) {
        ofi_am_notify(f, &(struct ofi_am_put){ to, source, len }, at, a, 0);
        return;
    }
    if (copies)
        ofi_put_transmit(f, to, source, len, true);
    ofi_notify(f, at, a);
}

int ofi_message(struct xport_ctx *f, const struct xport_addr *to,
                const void *source, size_t len,
                const struct xport_addr *sig_at, const struct xport_amo *sig)
{
    if (!may_message(to, source, len, sig_at))
        return -ENOTSUP;
    if (!all_sent(f) || !ofi_has_room(f, sig_at->pe))
        return -EAGAIN;
    if (to)
        send_message(f, to, source, len, sig_at, sig);
    else
        ofi_notify(f, sig_at, sig);
    return 0;
}
