/* SPDX-License-Identifier: BSD-3-Clause */
/* Atomics that a peer's processor does without a reply to each; fence and
 * quiet request one acknowledgement for all.  ofi_dispatch.c and ofi_order.c
 * call it, on any thread; at the target ofi_am_target.c sends the
 * acknowledgement.
 *
 * A reply to each would double the messages, and only fence and quiet need the
 * completion.  On one stream of bytes messages are acted on in the order in
 * which they were sent, so one acknowledgement covers all before it: the
 * context keeps the peers that owe one.  A polled context has no fence or
 * quiet: its tests request what is owed.  Where the program waits for each
 * atomic by itself - the last fence or quiet had one to wait for - the message
 * of the atomic requests the acknowledgement, too.
 *
 * A confirmation is no message: the peer puts a number in a slot of the
 * context's in the asker's memory, which costs the asker no completion.  The
 * number is there encode_twice, once inverted, since the bytes of a write may
 * come in two parts: while they differ, it has not come.  It only grows. There
 * is one slot for each of the first contexts; where it is not free, or several
 * peers owe an acknowledgement, requests with a reply take its place. */
#include "ofi/am/ofi_ack.h"
#include "ofi/am/ofi_am_wire.h"
#include "ofi/am/ofi_am.h"
#include "rt/rt.h"

#include <errno.h>
#include <string.h>

enum { SLOTS = 64 };

static uint64_t *slots;         /* symmetric; a number, and it inverted */
static uint32_t acks_wanted[SLOTS];   /* contexts come and go, this grows */

int ofi_ack_reserve(void)
{
    slots = heap_reserve(SLOTS * sizeof *slots, 64);
    return slots ? 0 : -ENOMEM;
}

static uint64_t encode_twice(uint32_t number)
{
    return (uint64_t)~number << 32 | number;
}

static bool has_slot(const struct xport_ctx *f)
{
    return f->index < SLOTS;
}

/* That number, or a later one. */
static bool has_arrived(const struct xport_ctx *f, uint32_t number)
{
    /* acquire: data put before it are there. */
    uint64_t word = __atomic_load_n(&slots[f->index], __ATOMIC_ACQUIRE);

    return word == encode_twice((uint32_t)word) &&
           (int32_t)((uint32_t)word - number) >= 0;
}

/* ---- at the target ---- */

bool ofi_ack_is_wanted(uint64_t cookie)
{
    return (cookie >> 32) - 1 < SLOTS;
}

long ofi_ack_write(struct ofi_op *op, uint64_t cookie, void *room, void *desc)
{
    const struct ofi_peer *p = ofi_peer(op->pe);
    uint64_t word = encode_twice((uint32_t)cookie), slot = (cookie >> 32) - 1;
    struct xport_addr at = { .pe = op->pe, .seg = HEAP_HOST };

    memcpy(room, &word, sizeof word);
    at.off = (uintptr_t)&slots[slot] - heap_segs[HEAP_HOST].base;
    return fi_write(ofi.eps[0]->ep, room, sizeof word, desc, p->addr,
                    ofi_remote_addr(p, &at), ofi_remote_key(p, &at), op);
}

/* ---- at the initiator ---- */

static struct ofi_unacked *find(struct xport_ctx *f, int pe)
{
    for (unsigned i = 0; i < f->n_unacked; i++)
        if (f->unacked[i].pe == pe)
            return &f->unacked[i];
    return NULL;
}

/* The context's slot is the caller's: a cookie, or 0. */
static uint64_t take_slot(struct xport_ctx *f, int pe)
{
    if (!has_slot(f) || f->ack_pending)
        return 0;
    __atomic_store_n(&f->ack_pending, true, __ATOMIC_RELAXED);
    f->ack_pe = pe;
    return (uint64_t)(f->index + 1) << 32 | ++acks_wanted[f->index];
}

enum ack_mode { BATCHED, PIGGYBACKED, REQUESTED };

static enum ack_mode choose(struct xport_ctx *f, int pe, uint64_t *cookie)
{
    enum ack_mode ack_mode = BATCHED;
    bool single;

    lock_acquire(&f->ack_lock);
    single = f->single_update && !f->n_updates;
    *cookie = single && !f->polled ? take_slot(f, pe) : 0;
    __atomic_store_n(&f->n_updates, f->n_updates + 1, __ATOMIC_RELAXED);
    f->single_update &= f->n_updates == 1;
    if (*cookie)
        ack_mode = PIGGYBACKED;
    else if ((single && f->polled) ||
             (f->n_unacked == OFI_UNACKED && !find(f, pe)))
        ack_mode = REQUESTED;
    lock_release(&f->ack_lock);
    return ack_mode;
}

/* Behind its message: another thread that requests acknowledgements in between
 * requests those of other messages. */
static bool note_unacked(struct xport_ctx *f, int pe)
{
    struct ofi_unacked *o;

    lock_acquire(&f->ack_lock);
    o = find(f, pe);
    if (!o && f->n_unacked < OFI_UNACKED) {
        o = &f->unacked[f->n_unacked];
        *o = (struct ofi_unacked){ .pe = pe };
        __atomic_store_n(&f->n_unacked, f->n_unacked + 1, __ATOMIC_RELAXED);
    }
    if (o)
        o->last = ++f->last_update;
    lock_release(&f->ack_lock);
    return o;
}

/* A word that nothing is done to. */
static const struct xport_amo nothing = { .op = AMO_FETCH, .size = 8 };

static struct xport_addr word_of(int pe)
{
    return (struct xport_addr){
        pe, HEAP_HOST, (uintptr_t)slots - heap_segs[HEAP_HOST].base
    };
}

static void request(struct xport_ctx *f, int pe, uint64_t cookie)
{
    struct xport_addr at = word_of(pe);

    if (cookie)
        ofi_am_notify(f, NULL, &at, &nothing, cookie);
    else
        ofi_am_amo(f, &at, &nothing, NULL, true);
}

bool ofi_ack_update(struct xport_ctx *f, const struct ofi_am_put *put,
                    const struct xport_addr *at, const struct xport_amo *a)
{
    uint64_t cookie;

    if (!ofi.batched_acks || f->failed)
        return false;
    switch (choose(f, at->pe, &cookie)) {
    case REQUESTED:
        return false;
    case PIGGYBACKED:
        ofi_am_notify(f, put, at, a, cookie);
        return true;
    case BATCHED:
        ofi_am_notify(f, put, at, a, 0);
        break;
    }
    if (!note_unacked(f, at->pe))
        request(f, at->pe, 0);
    return true;
}

bool ofi_ack_put(struct xport_ctx *f, const struct ofi_am_put *put)
{
    struct xport_addr at = word_of(put->to->pe);

    return ofi_ack_update(f, put, &at, &nothing);
}

/* ---- fence and quiet ---- */

bool ofi_ack_idle(const struct xport_ctx *f)
{
    return !__atomic_load_n(&f->n_unacked, __ATOMIC_RELAXED) &&
           !__atomic_load_n(&f->ack_pending, __ATOMIC_RELAXED);
}

/* Unless further messages went to that peer meanwhile. */
static void remove_unacked(struct xport_ctx *f, const struct ofi_unacked *was)
{
    struct ofi_unacked *o = find(f, was->pe);

    if (!o || o->last != was->last)
        return;
    *o = f->unacked[f->n_unacked - 1];
    __atomic_store_n(&f->n_unacked, f->n_unacked - 1, __ATOMIC_RELAXED);
}

/* Into out, the PEs that owe one now; their number. */
static unsigned take_unacked(struct xport_ctx *f, struct ofi_unacked *out)
    REQUIRES(f->ack_lock)
{
    if (f->n_updates)
        f->single_update = f->n_updates == 1;
    __atomic_store_n(&f->n_updates, 0, __ATOMIC_RELAXED);
    for (unsigned i = 0; i < f->n_unacked; i++)
        out[i] = f->unacked[i];
    return f->n_unacked;
}

static bool owes_nothing(const struct xport_ctx *f)
{
    return !__atomic_load_n(&f->n_unacked, __ATOMIC_RELAXED) &&
           !__atomic_load_n(&f->n_updates, __ATOMIC_RELAXED);
}

bool ofi_ack_next(struct xport_ctx *f, int *pe)
{
    struct ofi_unacked unacked[OFI_UNACKED];
    unsigned n;

    if (owes_nothing(f))
        return false;
    lock_acquire(&f->ack_lock);
    n = take_unacked(f, unacked);
    lock_release(&f->ack_lock);
    *pe = n ? unacked[0].pe : -1;
    return n;
}

void ofi_ack_request_of(struct xport_ctx *f, int pe)
{
    struct ofi_unacked was;

    lock_acquire(&f->ack_lock);
    was = *find(f, pe);
    lock_release(&f->ack_lock);
    request(f, pe, 0);
    lock_acquire(&f->ack_lock);
    remove_unacked(f, &was);
    lock_release(&f->ack_lock);
}

void ofi_ack_request(struct xport_ctx *f)
{
    struct ofi_unacked unacked[OFI_UNACKED];
    uint64_t cookie = 0;
    unsigned n;

    if (owes_nothing(f))
        return;
    lock_acquire(&f->ack_lock);
    n = take_unacked(f, unacked);
    if (n == 1)
        cookie = take_slot(f, unacked[0].pe);
    lock_release(&f->ack_lock);
    for (unsigned i = 0; i < n; i++)
        request(f, unacked[i].pe, cookie);
    lock_acquire(&f->ack_lock);
    for (unsigned i = 0; i < n; i++)
        remove_unacked(f, &unacked[i]);
    lock_release(&f->ack_lock);
}

void ofi_ack_wait(struct xport_ctx *f)
{
    struct ofi_wait w = { 0 };
    uint32_t number = 0;
    bool waits;

    if (!__atomic_load_n(&f->ack_pending, __ATOMIC_RELAXED))
        return;
    lock_acquire(&f->ack_lock);
    waits = f->ack_pending;
    w.wait.pe = f->ack_pe;
    if (waits)
        number = acks_wanted[f->index];
    lock_release(&f->ack_lock);
    if (!waits)
        return;
    while (!has_arrived(f, number))
        ofi_wait_step(&w, f->ep);
    ofi_wait_end(&w);
    lock_acquire(&f->ack_lock);
    /* Another thread may have requested one since. */
    if (acks_wanted[f->index] == number)
        __atomic_store_n(&f->ack_pending, false, __ATOMIC_RELAXED);
    lock_release(&f->ack_lock);
}
