/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a waiter that sleeps says for which bytes, is woken by a store
 * there and by no other, and takes its word back.
 * Timeout: 20 */
#include "unit.h"

#include "base/env.h"
#include "core/core.h"

#include <pthread.h>

/* A PE alone: its heap, with the control block in front. */
static _Alignas(64) char heap[1 << 16];
static _Alignas(64) uint64_t elsewhere;     /* not symmetric */

static uint64_t *at(size_t offset)
{
    return (uint64_t *)(void *)(heap + offset);
}

static void sleep_briefly(void)
{
    heap_segs[HEAP_HOST] = (struct heap_seg){ (uintptr_t)heap, sizeof heap };
    T_EQ(xport_open(1), 0);
    xport_routes[0].map[HEAP_HOST] = (uintptr_t)heap;
    core_ctl = (struct core_ctl *)(void *)heap;
    core_world.n_pes = 1;
    core_world.my_pe = 0;
    T_EQ(env_load(), 0);
}

static void *wait_for_one(void *arg)
{
    uint64_t *word = arg;
    struct core_waiter w = core_wait_begin(word, sizeof *word);

    while (__atomic_load_n(word, __ATOMIC_ACQUIRE) != 1)
        core_wait_step(&w);
    core_wait_end(&w);
    return NULL;
}

static int64_t range_from(void)
{
    return __atomic_load_n(&core_ctl->wait_from, __ATOMIC_RELAXED);
}

static int64_t range_to(void)
{
    return __atomic_load_n(&core_ctl->wait_to, __ATOMIC_RELAXED);
}

static uint32_t wakes(void)
{
    return __atomic_load_n(&core_ctl->wake_seq, __ATOMIC_RELAXED);
}

/* Starts a waiter and returns when the range is that one. */
static pthread_t start(uint64_t *word, int64_t from, int64_t to)
{
    pthread_t thread;

    pthread_create(&thread, NULL, wait_for_one, word);
    for (int ms = 0; ms < 5000; ms++) {
        if (range_from() == from && range_to() == to)
            return thread;
        usleep(1000);
    }
    T_EQ(range_from(), from);
    T_EQ(range_to(), to);
    return thread;
}

static void store(uint64_t *word, uint64_t value)
{
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
    core_wake((struct core_target){ (uintptr_t)word, core_ctl }, sizeof *word);
}

T(only_a_store_to_the_bytes_wakes)
{
    enum { WORD = 4096 };
    pthread_t thread = start(at(WORD), WORD, WORD + 8);
    uint32_t was = wakes();
    struct core_target s = { .ctl = core_ctl };

    store(at(WORD - 8), 1);
    store(at(WORD + 8), 1);
    T_EQ(wakes(), was);
    /* One byte of it from below, one from above. */
    s.addr = (uintptr_t)at(WORD) - 7;
    core_wake(s, 8);
    T_EQ(wakes(), was + 1);
    s.addr = (uintptr_t)at(WORD) + 7;
    core_wake(s, 1);
    T_EQ(wakes(), was + 2);
    s.addr = (uintptr_t)heap;
    core_wake(s, sizeof heap);
    T_EQ(wakes(), was + 3);
    s.addr = (uintptr_t)at(WORD);
    core_wake(s, 0);
    T_EQ(wakes(), was + 3);
    T_EQ(range_to(), WORD + 8); /* it looked again and sleeps on */
    store(at(WORD), 1);
    pthread_join(thread, NULL);
    T_EQ(range_from(), 0);
    T_EQ(range_to(), 0);
    was = wakes();
    store(at(WORD), 2);
    T_EQ(wakes(), was);         /* no thread sleeps */
}

T(two_sleepers_are_both_covered)
{
    enum { LOW = 8192, HIGH = 16384 };
    pthread_t first, second;

    for (int order = 0; order < 2; order++) {
        int one = order ? LOW : HIGH, two = order ? HIGH : LOW;

        *at(LOW) = *at(HIGH) = 0;
        first = start(at((size_t)one), one, one + 8);
        second = start(at((size_t)two), LOW, HIGH + 8);
        store(at((size_t)one), 1);
        pthread_join(first, NULL);
        T_LE(range_from(), two);    /* too much, but never too little */
        T_LE(two + 8, range_to());
        store(at((size_t)two), 1);
        pthread_join(second, NULL);
        T_EQ(range_to(), 0);
    }
}

T(what_is_not_symmetric_is_waited_for_as_everything)
{
    pthread_t thread = start(&elsewhere, INT64_MIN, INT64_MAX);
    uint32_t was = wakes();

    store(at(512), 1);
    T_EQ(wakes(), was + 1);
    __atomic_store_n(&elsewhere, 1, __ATOMIC_RELEASE);  /* wakes no thread */
    pthread_join(thread, NULL); /* its sleeps are bounded */
    T_EQ(range_to(), 0);
}

/* A store through a pointer, which wakes no thread, is found within the bound
 * of a sleep. */
T(a_silent_store_is_noticed)
{
    enum { WORD = 4096 };
    pthread_t thread;
    struct timespec from, to;
    double ms;

    *at(WORD) = 0;
    thread = start(at(WORD), WORD, WORD + 8);
    usleep(20000);
    clock_gettime(CLOCK_MONOTONIC, &from);
    __atomic_store_n(at(WORD), 1, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
    clock_gettime(CLOCK_MONOTONIC, &to);
    ms = (double)(to.tv_sec - from.tv_sec) * 1e3 +
         (double)(to.tv_nsec - from.tv_nsec) / 1e6;
    T_LT(ms, 1000.0);           /* 5, had the machine nothing else to do */
}

T(an_oversubscribed_waiter_soon_sleeps)
{
    enum { WORD = 4096 };
    pthread_t thread;

    *at(WORD) = 0;
    core_status.oversubscribed = true;
    thread = start(at(WORD), WORD, WORD + 8);
    store(at(WORD), 1);
    pthread_join(thread, NULL);
    core_status.oversubscribed = false;
    T_EQ(range_to(), 0);
}

T(who_need_not_wait_announces_nothing)
{
    enum { WORD = 4096 };
    uint32_t was = wakes();

    *at(WORD) = 1;
    wait_for_one(at(WORD));
    T_EQ(range_to(), 0);
    T_EQ(wakes(), was);
}

int main(void)
{
    sleep_briefly();
    T_RUN(only_a_store_to_the_bytes_wakes);
    T_RUN(two_sleepers_are_both_covered);
    T_RUN(what_is_not_symmetric_is_waited_for_as_everything);
    T_RUN(a_silent_store_is_noticed);
    T_RUN(an_oversubscribed_waiter_soon_sleeps);
    T_RUN(who_need_not_wait_announces_nothing);
    xport_close();
    return T_DONE();
}
