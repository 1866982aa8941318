/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: one thread at a time holds a lock, and what it stored before
 * it let go is seen by the next; the fences order what they say. */
#include "unit.h"

#include "base/atomics.h"
#include "base/lock.h"

#include <pthread.h>
#include <sched.h>

enum { THREADS = 4, ROUNDS = 20000 };

static struct base_lock lock = LOCK_INIT;
static struct {
    long one, two;              /* always equal outside of the lock */
    int inside;
    long torn, shared;
} guarded GUARDED_BY(lock);
static atomic_int ready;

static void gather(int n)
{
    atomic_fetch_add(&ready, 1);
    while (atomic_load(&ready) < n)
        atomics_pause();
}

static void *count(void *arg)
{
    long was;

    (void)arg;
    gather(THREADS);
    for (int i = 0; i < ROUNDS; i++) {
        lock_acquire(&lock);
        guarded.torn += guarded.one != guarded.two;
        guarded.shared += guarded.inside++ != 0;
        was = guarded.one;
        if (i % 16 == 0)        /* the others try even on one processor */
            sched_yield();
        guarded.one = was + 1;
        guarded.two = guarded.one;
        guarded.inside--;
        lock_release(&lock);
    }
    return NULL;
}

T(nothing_is_lost_or_torn_under_a_lock)
{
    pthread_t thread[THREADS];

    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, count, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    lock_acquire(&lock);
    T_EQ(guarded.one, (long)THREADS * ROUNDS);
    T_EQ(guarded.torn, 0);
    T_EQ(guarded.shared, 0);
    lock_release(&lock);
}

/* Dekker's question: of two threads that each store and then look at the
 * other's word, at least one sees the store. */
enum { TRIES = 20000, LEAST_TRIES = 50 };
static struct {
    _Alignas(64) atomic_int mine;
    _Alignas(64) atomic_int round;
    bool saw[TRIES];
} side[2];
static atomic_int tries;        /* lowered where a busy machine takes long */

static void *synchronize(void *arg)
{
    time_t end = time(NULL) + 2;
    int me = (int)(intptr_t)arg;

    for (int i = 0; i < atomic_load(&tries); i++) {
        if (me == 0 && i >= LEAST_TRIES && i + 1 < TRIES && time(NULL) >= end)
            atomic_store(&tries, i + 1);
        /* Both begin a round together. */
        atomic_store(&side[me].round, i + 1);
        while (atomic_load(&side[!me].round) < i + 1)
            atomics_pause();
        atomic_store_explicit(&side[me].mine, i + 1, memory_order_relaxed);
        atomics_full_fence();
        side[me].saw[i] = atomic_load_explicit(&side[!me].mine,
                                               memory_order_relaxed) == i + 1;
    }
    return NULL;
}

T(a_full_fence_shows_a_store_before_the_next_load)
{
    pthread_t other;
    cpu_set_t cpus;
    int missed = 0;

    if (sched_getaffinity(0, sizeof cpus, &cpus) || CPU_COUNT(&cpus) < 2)
        T_SKIP("one processor: the threads would only wait for each other");
    atomic_store(&tries, TRIES);
    pthread_create(&other, NULL, synchronize, (void *)1);
    synchronize((void *)0);
    pthread_join(other, NULL);
    for (int i = 0; i < atomic_load(&tries); i++)
        missed += !side[0].saw[i] && !side[1].saw[i];
    T_EQ(missed, 0);
}

int main(void)
{
    T_RUN(nothing_is_lost_or_torn_under_a_lock);
    T_RUN(a_full_fence_shows_a_store_before_the_next_load);
    return T_DONE();
}
