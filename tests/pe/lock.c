/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: one PE at a time has a lock, in the order in which they
 * came; the next holder sees what the last one did, and test_lock takes a
 * free lock and no other, in every symmetric memory.
 * PEs: 1 2 4
 * Ppn: 2/1 4/2 */
#include "budget.h"
#include "off_node.h"
#include "../memory.h"

#include <sched.h>

enum { TURNS = 20000, LOCKS = 256, WORDS = 100, PICKS = 20000, ORDERS = 5 };
#define TURNS_S 0.4

static long *locks[SYMMETRIC], *many[SYMMETRIC];
/* Of the last PE: what a lock guards, touched by plain puts and gets. */
static long counter, entries, *counters, inside;
static uint64_t words[WORDS];
static int home, n_locks;       /* n_locks: used of LOCKS */

static void sleep_ms(int ms)
{
    struct timespec t = { 0, ms * 1000000L };

    nanosleep(&t, NULL);
}

/* ---- Exclusion ---- */

/* Adds 1 the slow way: two at once lose one. */
static void count_one(long *what)
{
    long was = shmem_long_g(what, home);

    shmem_long_p(what, was + 1, home);
}

/* By turns all line up, all poll, or some do this and some that. */
static void enter(long *lock, int turn)
{
    int kind = turn / (on_device ? 4 : 256) % 3;

    if (kind == 0 || (kind == 2 && (turn + me) % 4))
        shmem_set_lock(lock);
    else
        while (shmem_test_lock(lock))
            sched_yield();
}

static int most_turns(void)
{
    return on_device ? 12 : TURNS;
}

static void take_turns(long *lock)
{
    long entered = 0;
    double start = now();

    shmem_barrier_all();
    counter = entries = 0;
    shmem_barrier_all();
    while (entered < most_turns() && now() - start < TURNS_S) {
        enter(lock, (int)entered);
        T_EQ(shmem_long_atomic_fetch_inc(&inside, home), 0);
        count_one(&counter);
        T_EQ(shmem_long_atomic_fetch_add(&inside, -1, home), 1);
        shmem_clear_lock(lock);
        entered++;
    }
    shmem_long_atomic_add(&entries, entered, home);
    shmem_barrier_all();
    T_EQ(shmem_long_g(&counter, home), shmem_long_g(&entries, home));
}

T(one_pe_at_a_time_is_inside)
{
    for (int w = 0; w < SYMMETRIC; w++)
        take_turns(locks[w]);
}

/* ---- What the holder did is there for the next ---- */

T(the_next_holder_sees_what_the_last_one_wrote)
{
    static uint64_t mine[WORDS];
    double start = now();

    for (int i = 0; i < most_turns() && now() - start < TURNS_S; i++) {
        shmem_set_lock(locks[OTHER]);
        shmem_get64(mine, words, WORDS, home);
        for (int k = 1; k < WORDS; k++)
            if (mine[k] != mine[0]) {
                T_EQ(mine[k], mine[0]);
                break;
            }
        for (int k = 0; k < WORDS; k++)
            mine[k]++;
        /* Completed by clear_lock. */
        shmem_put64_nbi(&words[1], &mine[1], WORDS - 1, home);
        shmem_uint64_p(&words[0], mine[0], home);
        shmem_uint64_atomic_inc(&words[0], home);
        shmem_uint64_atomic_add(&words[0], (uint64_t)-1, home);
        shmem_clear_lock(locks[OTHER]);
    }
    shmem_barrier_all();
}

/* ---- Many ---- */

T(many_locks_do_not_touch_each_other)
{
    static long mine[2 * LOCKS];
    int picks = on_device ? 60 : rounds(PICKS, 2000);

    mem_fill(counters, 0, 2 * LOCKS * sizeof *counters);
    memset(mine, 0, sizeof mine);
    shmem_barrier_all();
    for (int i = 0; i < picks; i++) {
        /* The same numbers on all PEs, each from another place. */
        int k = (int)((T_RAND() + (unsigned)me * 77) % (2 * (unsigned)n_locks));
        long *lock = &many[k % SYMMETRIC][k / SYMMETRIC];

        enter(lock, i);
        count_one(&counters[k]);
        mine[k]++;
        shmem_clear_lock(lock);
    }
    shmem_barrier_all();
    for (int k = 0; k < 2 * LOCKS; k++)
        shmem_long_atomic_add(&counters[k], -mine[k], home);
    shmem_barrier_all();
    for (int k = 0; me == home && k < 2 * LOCKS; k++)
        T_EQ(mem_load_word(&counters[k], sizeof *counters), 0);
}

T(a_pe_holds_several_locks_at_once)
{
    for (int k = 0; k < n_locks; k++)
        shmem_set_lock(&many[OTHER][k]);
    for (int k = 0; k < n_locks; k++)
        T_EQ(shmem_test_lock(&many[OTHER][k]), 1);
    T_EQ(shmem_long_atomic_fetch_inc(&inside, home), 0);
    shmem_long_atomic_add(&inside, -1, home);
    for (int k = n_locks - 1; k >= 0; k--)
        shmem_clear_lock(&many[OTHER][k]);
    shmem_barrier_all();
}

/* ---- test_lock ---- */

T(test_lock_takes_a_free_lock_and_no_other)
{
    for (int holder = 0; holder < n_pes; holder++) {
        shmem_barrier_all();
        if (me == holder)
            T_EQ(shmem_test_lock(locks[OTHER]), 0);
        shmem_barrier_all();
        for (int i = 0; i < (on_device ? 5 : 100); i++)
            T_EQ(shmem_test_lock(locks[OTHER]), 1);
        shmem_barrier_all();
        if (me == holder)
            shmem_clear_lock(locks[OTHER]);
        shmem_barrier_all();
    }
    if (me == 0)
        T_EQ(shmem_test_lock(locks[OTHER]), 0);
    if (me == 0)
        shmem_clear_lock(locks[OTHER]);
    shmem_barrier_all();
}

/* ---- Fairness ---- */

static int coming;              /* of PE 0: how many are about to wait */
static int arrived_as;          /* of PE 0: how many have had the lock */

/* PE 0 holds the lock while the others line up, one after the other, and at
 * last lines up itself: 1 if they get it in that order. */
static int in_order(void)
{
    int place, fits;

    coming = arrived_as = 0;
    shmem_barrier_all();
    if (me == 0)
        shmem_set_lock(locks[HOST]);
    shmem_barrier_all();
    if (me) {
        while (shmem_int_atomic_fetch(&coming, 0) != me - 1)
            sleep_ms(1);
        sleep_ms(5);            /* the one before lines up meanwhile */
        shmem_int_atomic_inc(&coming, 0);
        shmem_set_lock(locks[HOST]);
    } else {
        shmem_int_wait_until(&coming, SHMEM_CMP_EQ, n_pes - 1);
        sleep_ms(8);
        shmem_clear_lock(locks[HOST]);
        shmem_set_lock(locks[HOST]);
    }
    place = shmem_int_atomic_fetch_inc(&arrived_as, 0);
    shmem_clear_lock(locks[HOST]);
    fits = place == (me ? me - 1 : n_pes - 1);
    shmem_barrier_all();
    if (!fits)
        shmem_int_atomic_set(&arrived_as, -1, 0);
    shmem_barrier_all();
    fits = shmem_int_atomic_fetch(&arrived_as, 0) != -1;
    shmem_barrier_all();
    return fits;
}

/* A PE that says it comes may be held up before it lines up: one miss. */
T(the_first_to_wait_is_the_first_served)
{
    int fits = 0;

    for (int i = 0; i < ORDERS; i++) {
        fits += in_order();
        sleep_ms(1 + me % 2);
    }
    T_LE(ORDERS - 1, fits);
}

int main(void)
{
    memory_begin(SHMEM_THREAD_SINGLE);
    home = n_pes - 1;
    n_locks = on_device ? 16 : LOCKS;
    for (int w = 0; w < SYMMETRIC; w++) {
        locks[w] = mem_alloc((enum memory)w, sizeof *locks[w]);
        many[w] = mem_alloc((enum memory)w, LOCKS * sizeof *many[w]);
        mem_fill(locks[w], 0, sizeof *locks[w]);
        mem_fill(many[w], 0, LOCKS * sizeof *many[w]);
    }
    counters = mem_alloc(OTHER, 2 * LOCKS * sizeof *counters);
    shmem_barrier_all();
    T_RUN(one_pe_at_a_time_is_inside);
    T_RUN(the_next_holder_sees_what_the_last_one_wrote);
    T_RUN(many_locks_do_not_touch_each_other);
    T_RUN(a_pe_holds_several_locks_at_once);
    T_RUN(test_lock_takes_a_free_lock_and_no_other);
    if (!on_device)             /* it waits as long as a lock of host memory */
        T_RUN(the_first_to_wait_is_the_first_served);
    mem_free(OTHER, counters);
    for (int w = 0; w < SYMMETRIC; w++) {
        mem_free((enum memory)w, many[w]);
        mem_free((enum memory)w, locks[w]);
    }
    return memory_end();
}
