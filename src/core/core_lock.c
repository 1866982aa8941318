/* SPDX-License-Identifier: BSD-3-Clause */
/* Locks: first come, first served, and each waiter watches its own memory.
 *
 * The long is two 32-bit words.  `tail`, on the lock's home PE, is 1 + the PE
 * that came last, 0 when free.  `state`, on each PE, belongs to that PE's
 * place in the queue: WAITING, then HELD, and above them 1 + the PE behind.
 *
 *   set:   state = WAITING; prev = swap(home.tail, me)
 *          prev == 0: ours.  Else write us into prev's state as the one
 *          behind, and wait until it clears our WAITING.  Then state |= HELD.
 *   clear: nobody behind us and tail still me: tail = 0.  Else wait until the
 *          one behind has written itself into our state; clear its WAITING.
 *
 * The home is chosen by the lock's offset, so that many locks spread. */
#include "core/core_rma.h"

enum { WAITING = 1, HELD = 2, BEHIND_SHIFT = 2 };

struct lock_words {
    uint32_t tail, state;
};
_Static_assert(sizeof(struct lock_words) == sizeof(long),
               "a lock is one long");

static struct lock_words *at(const char *call, long *lock, int pe)
{
    core_need_aligned(call, lock, sizeof *lock);
    return (struct lock_words *)core_word(call, &core_ctx_default, lock,
                                          sizeof *lock, pe).near;
}

/* After a change of that PE's state. */
static void wake(int pe, struct lock_words *w)
{
    core_wake((struct core_spot){ (uintptr_t)&w->state, core_peer_ctl(pe) },
              sizeof w->state);
}

static int home_of(const long *lock)
{
    int seg = heap_find(lock, sizeof *lock);
    uintptr_t off = (uintptr_t)lock - heap_segs[seg < 0 ? 0 : seg].base;

    return (int)(off / sizeof *lock % (unsigned)core_world.n_pes);
}

static uint32_t my_ticket(void)
{
    return (uint32_t)core_world.my_pe + 1;
}

/* Marks our place as waiting before anyone can learn of it. */
static struct lock_words *open_place(const char *call, long *lock)
{
    struct lock_words *mine = at(call, lock, core_world.my_pe);

    __atomic_store_n(&mine->state, WAITING, __ATOMIC_RELAXED);
    return mine;
}

void core_lock_set(const char *call, long *lock)
{
    struct lock_words *home, *mine, *theirs;
    struct core_waiter w;
    uint32_t prev;

    core_need_up(call);
    home = at(call, lock, home_of(lock));
    mine = open_place(call, lock);
    /* acq_rel: our place is open before we are found through the tail; what
     * the last holder did is visible if the lock was free. */
    prev = __atomic_exchange_n(&home->tail, my_ticket(), __ATOMIC_ACQ_REL);
    if (!prev)
        goto held;
    if (prev == my_ticket())
        core_fatal(ERR_LOCK, call, "this PE already holds or waits for the "
                   "lock at %p", (void *)lock);
    theirs = at(call, lock, (int)prev - 1);
    __atomic_fetch_or(&theirs->state, my_ticket() << BEHIND_SHIFT,
                      __ATOMIC_RELEASE);
    wake((int)prev - 1, theirs);
    w = core_wait_begin(lock, sizeof *lock);
    /* acquire: pairs with the release of the PE that hands the lock over. */
    while (__atomic_load_n(&mine->state, __ATOMIC_ACQUIRE) & WAITING)
        core_wait_step(&w);
    core_wait_end(&w);
held:
    /* A peer may be writing itself behind us meanwhile. */
    __atomic_fetch_or(&mine->state, HELD, __ATOMIC_RELAXED);
}

int core_lock_test(const char *call, long *lock)
{
    struct lock_words *home, *mine;
    uint32_t tail = 0;

    core_need_up(call);
    home = at(call, lock, home_of(lock));
    if (__atomic_load_n(&home->tail, __ATOMIC_RELAXED))
        return 1;
    mine = open_place(call, lock);
    if (!__atomic_compare_exchange_n(&home->tail, &tail, my_ticket(), 0,
                                     __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        return 1;
    __atomic_fetch_or(&mine->state, HELD, __ATOMIC_RELAXED);
    return 0;
}

void core_lock_clear(const char *call, long *lock)
{
    struct lock_words *home, *mine, *theirs;
    uint32_t tail = my_ticket(), next;
    struct core_waiter w;

    core_need_up(call);
    core_quiet(&core_ctx_default);
    home = at(call, lock, home_of(lock));
    mine = at(call, lock, core_world.my_pe);
    next = __atomic_fetch_and(&mine->state, ~(uint32_t)HELD, __ATOMIC_ACQUIRE);
    if (!(next & HELD))
        core_fatal(ERR_LOCK, call, "this PE does not hold the lock at %p",
                   (void *)lock);
    if (!(next >> BEHIND_SHIFT) &&
        __atomic_compare_exchange_n(&home->tail, &tail, 0, 0,
                                    __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        return;
    w = core_wait_begin(lock, sizeof *lock);
    while (!(next = __atomic_load_n(&mine->state, __ATOMIC_ACQUIRE) >>
                    BEHIND_SHIFT))
        core_wait_step(&w);
    core_wait_end(&w);
    theirs = at(call, lock, (int)next - 1);
    /* release: what we did under the lock comes before it is theirs. */
    __atomic_fetch_and(&theirs->state, ~(uint32_t)WAITING, __ATOMIC_RELEASE);
    wake((int)next - 1, theirs);
}
