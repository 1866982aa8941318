/* SPDX-License-Identifier: BSD-3-Clause */
/* Words that a peer's processor stores, or adds to, without a reply.
 *
 * A reply to each would double the messages, and only fence and quiet want to
 * know.  On one stream of bytes messages are acted on in the order in which
 * they were sent, so one confirmation tells of all before it: the flow keeps
 * the peers that owe one, and fence and quiet ask them.  Where the program
 * waits for each word by itself - the last fence or quiet had one word to wait
 * for - the word brings the question with it.
 *
 * A confirmation is no message: the peer writes a number to a slot of the
 * flow's in the asker's memory, which costs neither side a completion.  The
 * number is there twice, once inverted, since the bytes of a write may come in
 * two parts: while they differ, it has not come.  It only grows.  There is one
 * slot for each of the first flows; where it is not free, or several peers owe
 * a confirmation, these are asked by requests. */
#include "ofi/ofi_words.h"
#include "ofi/ofi_am.h"
#include "ofi/ofi_ask.h"
#include "rt/rt.h"

#include <errno.h>

enum { SLOTS = 64 };

static uint64_t *slots;         /* symmetric; a number, and it inverted */
static uint32_t asked[SLOTS];   /* flows come and go, this grows */

int ofi_words_reserve(void)
{
    slots = heap_reserve(SLOTS * sizeof *slots, 64);
    return slots ? 0 : -ENOMEM;
}

static uint64_t twice(uint32_t number)
{
    return (uint64_t)~number << 32 | number;
}

static bool has_slot(const struct xport_ep *f)
{
    return f->index < SLOTS && ofi.inject_put >= sizeof *slots;
}

/* That number, or a later one. */
static bool has_come(const struct xport_ep *f, uint32_t number)
{
    /* acquire: what was before it is there. */
    uint64_t word = __atomic_load_n(&slots[f->index], __ATOMIC_ACQUIRE);

    return word == twice((uint32_t)word) &&
           (int32_t)((uint32_t)word - number) >= 0;
}

/* ---- at the target ---- */

long ofi_words_confirm(int pe, uint64_t cookie)
{
    const struct ofi_peer *p = ofi_peer(pe);
    uint64_t word = twice((uint32_t)cookie), slot = (cookie >> 32) - 1;
    struct xport_addr at = { .pe = pe, .seg = HEAP_HOST };

    if (slot >= SLOTS)
        return 0;
    at.off = (uintptr_t)&slots[slot] - heap_segs[HEAP_HOST].base;
    return fi_inject_write(ofi.eps[0]->ep, &word, sizeof word, p->addr,
                           ofi_remote_addr(p, &at), ofi_remote_key(p, &at));
}

/* ---- who owes ---- */

static struct ofi_owed *find(struct xport_ep *f, int pe)
{
    for (unsigned i = 0; i < f->n_owed; i++)
        if (f->owed[i].pe == pe)
            return &f->owed[i];
    return NULL;
}

/* The flow's slot is the caller's: a cookie, or 0. */
static uint64_t take_slot(struct xport_ep *f, int pe)
{
    if (!has_slot(f) || f->confirming)
        return 0;
    __atomic_store_n(&f->confirming, true, __ATOMIC_RELAXED);
    f->confirming_pe = pe;
    return (uint64_t)(f->index + 1) << 32 | ++asked[f->index];
}

enum how { LATER, WITH_IT, REQUEST };

static enum how choose(struct xport_ep *f, int pe, uint64_t *cookie)
{
    enum how how = LATER;

    lock_acquire(&f->words_lock);
    *cookie = f->alone && !f->words ? take_slot(f, pe) : 0;
    __atomic_store_n(&f->words, f->words + 1, __ATOMIC_RELAXED);
    f->alone &= f->words == 1;
    if (*cookie)
        how = WITH_IT;
    else if (f->n_owed == OFI_OWED && !find(f, pe))
        how = REQUEST;
    lock_release(&f->words_lock);
    return how;
}

/* Behind its word: who asks in between, of another thread, asks for others. */
static bool owes(struct xport_ep *f, int pe)
{
    struct ofi_owed *o;

    lock_acquire(&f->words_lock);
    o = find(f, pe);
    if (!o && f->n_owed < OFI_OWED) {
        o = &f->owed[f->n_owed];
        *o = (struct ofi_owed){ .pe = pe };
        __atomic_store_n(&f->n_owed, f->n_owed + 1, __ATOMIC_RELAXED);
    }
    if (o)
        o->last = ++f->last_owed;
    lock_release(&f->words_lock);
    return o;
}

/* A word that nothing is done to. */
static const struct xport_amo nothing = { .op = XPORT_FETCH, .size = 8 };

static void ask(struct xport_ep *f, int pe, uint64_t cookie)
{
    struct xport_addr at = { .pe = pe, .seg = HEAP_HOST };

    at.off = (uintptr_t)slots - heap_segs[HEAP_HOST].base;
    if (cookie)
        ofi_am_tell(f, &at, &nothing, cookie);
    else
        ofi_am_amo(f, &at, &nothing, NULL, true);
}

bool ofi_word(struct xport_ep *f, const struct xport_addr *at,
              const struct xport_amo *a)
{
    uint64_t cookie;

    if (!ofi.words || f->failed || f->polled)
        return false;
    switch (choose(f, at->pe, &cookie)) {
    case REQUEST:
        return false;
    case WITH_IT:
        ofi_am_tell(f, at, a, cookie);
        return true;
    case LATER:
        ofi_am_tell(f, at, a, 0);
        break;
    }
    if (!owes(f, at->pe))
        ask(f, at->pe, 0);
    return true;
}

/* ---- fence and quiet ---- */

bool ofi_words_known(const struct xport_ep *f)
{
    return !__atomic_load_n(&f->n_owed, __ATOMIC_RELAXED) &&
           !__atomic_load_n(&f->confirming, __ATOMIC_RELAXED);
}

/* One that got further words meanwhile still owes. */
static void asked_for(struct xport_ep *f, const struct ofi_owed *was)
{
    struct ofi_owed *o = find(f, was->pe);

    if (!o || o->last != was->last)
        return;
    *o = f->owed[f->n_owed - 1];
    __atomic_store_n(&f->n_owed, f->n_owed - 1, __ATOMIC_RELAXED);
}

void ofi_words_ask(struct xport_ep *f)
{
    struct ofi_owed owed[OFI_OWED];
    uint64_t cookie = 0;
    unsigned n;

    if (!__atomic_load_n(&f->n_owed, __ATOMIC_RELAXED) &&
        !__atomic_load_n(&f->words, __ATOMIC_RELAXED))
        return;
    lock_acquire(&f->words_lock);
    if (f->words)
        f->alone = f->words == 1;
    __atomic_store_n(&f->words, 0, __ATOMIC_RELAXED);
    n = f->n_owed;
    for (unsigned i = 0; i < n; i++)
        owed[i] = f->owed[i];
    if (n == 1)
        cookie = take_slot(f, owed[0].pe);
    lock_release(&f->words_lock);
    for (unsigned i = 0; i < n; i++)
        ask(f, owed[i].pe, cookie);
    lock_acquire(&f->words_lock);
    for (unsigned i = 0; i < n; i++)
        asked_for(f, &owed[i]);
    lock_release(&f->words_lock);
}

void ofi_words_wait(struct xport_ep *f)
{
    struct ofi_wait w = { 0 };
    uint32_t number = 0;
    bool waits;

    if (!__atomic_load_n(&f->confirming, __ATOMIC_RELAXED))
        return;
    lock_acquire(&f->words_lock);
    waits = f->confirming;
    w.wait.pe = f->confirming_pe;
    if (waits)
        number = asked[f->index];
    lock_release(&f->words_lock);
    if (!waits)
        return;
    while (!has_come(f, number))
        ofi_wait_step(&w, f->ep);
    ofi_wait_end(&w);
    lock_acquire(&f->words_lock);
    /* Another thread may have asked again. */
    if (asked[f->index] == number)
        __atomic_store_n(&f->confirming, false, __ATOMIC_RELAXED);
    lock_release(&f->words_lock);
}
