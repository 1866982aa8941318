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
 *   clear: no PE behind us and tail still me: tail = 0.  Else wait until the
 *          PE behind has written itself into our state; clear its WAITING.
 *
 * The home is chosen by the lock's offset, so that many locks spread. */
#include "core/core_lock.h"
#include "core/core_activity.h"
#include "core/core_amo.h"
#include "core/core_describe.h"

enum {
    WAITING = CORE_LOCK_WAITING, HELD = CORE_LOCK_HELD,
    BEHIND_SHIFT = CORE_LOCK_NEXT_SHIFT
};

/* Applies op to that PE's copy of a word of a lock, and returns the old value.
 * Earlier stores of this PE are visible to a PE that sees the change, and the
 * other way around. */
static inline uint32_t change(const char *call, enum amo_op op,
                              uint32_t *word, uint32_t value, uint32_t cond,
                              int pe)
{
    struct core_target s = core_mapped_amo(&core_ctx_inner, word, sizeof *word,
                                           pe);
    uint32_t *at = (uint32_t *)s.addr, old = cond;

    if (unlikely(!at)) {
        xport_call = call;
        core_remote_amo(call, &core_ctx_inner, op, sizeof *word, word, pe,
                        &value, &cond, &old, false);
        return old;
    }
    atomics_tsan_release();
    switch (op) {
    case AMO_FETCH:
        old = __atomic_load_n(at, __ATOMIC_ACQUIRE);
        atomics_tsan_acquire();
        return old;
    case AMO_SWAP:
        old = __atomic_exchange_n(at, value, __ATOMIC_ACQ_REL);
        atomics_tsan_acquire();
        return old;
    case AMO_CSWAP:
        __atomic_compare_exchange_n(at, &old, value, 0, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE);
        atomics_tsan_acquire();
        return old;
    case AMO_OR:
        old = __atomic_fetch_or(at, value, __ATOMIC_ACQ_REL);
        break;
    default:
        old = __atomic_fetch_and(at, value, __ATOMIC_ACQ_REL);
    }
    if (pe != core_world.my_pe)
        core_wake(s, sizeof *word);
    return old;
}

static int home_of(const long *lock)
{
    int seg = heap_find(lock, sizeof *lock);
    uintptr_t off = (uintptr_t)lock - heap_segs[seg < 0 ? 0 : seg].base;

    return (int)(off / sizeof *lock % (unsigned)core_world.n_pes);
}

static uint32_t my_tail_id(void)
{
    return (uint32_t)core_world.my_pe + 1;
}

static struct core_lock *area_of(const char *call, long *lock)
{
    core_need_up(call);
    core_need_aligned(call, lock, sizeof *lock);
    if (CORE_CHECK(heap_find(lock, sizeof *lock) < 0))
        core_refuse(call, &core_ctx_default, "lock", lock, sizeof *lock,
                    core_world.my_pe);
    return (struct core_lock *)lock;
}

/* Marks our place as waiting, before it enters the queue: no other PE touches
 * it until then. */
static void open_place(const char *call, struct core_lock *w)
{
    if (core_device_only(w))
        change(call, AMO_SWAP, &w->state, WAITING, 0, core_world.my_pe);
    else
        __atomic_store_n(&w->state, WAITING, __ATOMIC_RELEASE);
}

static _Noreturn void report_misuse(const char *call, const char *how,
                                    const long *lock)
{
    struct line at = { .n = 0 };

    core_describe_address(&at, lock);
    core_fatal(ERR_LOCK, call, "this PE %s the lock at %s", how, at.at);
}

void core_lock_set(const char *call, long *lock)
{
    struct core_lock *w = area_of(call, lock);
    struct core_waiter wait;
    uint32_t prev;
    int me = core_world.my_pe;

    open_place(call, w);
    /* Our place is open before we are found through the tail; the last holder's
     * stores are visible if the lock was free. */
    prev = change(call, AMO_SWAP, &w->tail, my_tail_id(), 0, home_of(lock));
    if (!prev)
        goto held;
    if (prev == my_tail_id())
        report_misuse(call, "already holds or waits for", lock);
    change(call, AMO_OR, &w->state, my_tail_id() << BEHIND_SHIFT, 0,
           (int)prev - 1);
    wait = core_wait_begin(lock, sizeof *lock);
    wait.info.device_only = core_device_only(lock);
    wait.info.call = call;
    wait.info.what = CORE_FOR_LOCK;
    wait.info.value = prev - 1;
    /* acquire: pairs with the release of the PE that hands the lock over. */
    while (CORE_LOAD(uint32_t, &w->state, wait.info.device_only) & WAITING)
        core_wait_step(&wait);
    core_wait_end(&wait);
held:
    xport_flush();
    /* A peer may be writing itself behind us meanwhile. */
    change(call, AMO_OR, &w->state, HELD, 0, me);
}

int core_lock_test(const char *call, long *lock)
{
    struct core_lock *w = area_of(call, lock);
    int home = home_of(lock);

    if (change(call, AMO_FETCH, &w->tail, 0, 0, home))
        return 1;
    open_place(call, w);
    if (change(call, AMO_CSWAP, &w->tail, my_tail_id(), 0, home))
        return 1;
    change(call, AMO_OR, &w->state, HELD, 0, core_world.my_pe);
    xport_flush();
    return 0;
}

void core_lock_clear(const char *call, long *lock)
{
    struct core_lock *w = area_of(call, lock);
    struct core_waiter wait;
    uint32_t next;
    int me = core_world.my_pe;

    core_quiet(call, &core_ctx_default);
    next = change(call, AMO_AND, &w->state, ~(uint32_t)HELD, 0, me);
    if (!(next & HELD))
        report_misuse(call, "does not hold", lock);
    if (!(next >> BEHIND_SHIFT) &&
        change(call, AMO_CSWAP, &w->tail, 0, my_tail_id(), home_of(lock)) ==
            my_tail_id())
        return;
    wait = core_wait_begin(lock, sizeof *lock);
    wait.info.device_only = core_device_only(lock);
    wait.info.call = call;
    wait.info.what = CORE_FOR_LOCK;
    wait.info.value = CORE_LOCK_BEHIND;
    while (!(next = CORE_LOAD(uint32_t, &w->state, wait.info.device_only) >>
                    BEHIND_SHIFT))
        core_wait_step(&wait);
    core_wait_end(&wait);
    /* Our stores under the lock come before it is theirs. */
    change(call, AMO_AND, &w->state, ~(uint32_t)WAITING, 0, (int)next - 1);
}
