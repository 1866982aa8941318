/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a thread that sleeps on an event count misses no signal, sees
 * what was stored before the signal, and wakes when its time has run out. */
#include "unit.h"

#include "base/clock.h"
#include "base/eventcount.h"

#include <pthread.h>
#include <sched.h>

enum { ROUNDS = 20000, SLEEPERS = 4, MANY = 2000 };

static struct eventcount to_echo, to_main;
static uint32_t ball;           /* atomic: whose turn it is */
static long payload;            /* plain: ordered by the signals alone */

/* Without an end: a signal that is lost hangs here, and the test with it. */
static void await_ball(struct eventcount *ec, uint32_t value)
{
    uint32_t seen;

    for (;;) {
        seen = eventcount_now(ec);
        if (__atomic_load_n(&ball, __ATOMIC_ACQUIRE) == value)
            return;
        eventcount_wait(ec, seen, 0);
    }
}

static void *echo(void *arg)
{
    for (uint32_t i = 0; i < ROUNDS; i++) {
        await_ball(&to_echo, 2 * i + 1);
        payload++;
        __atomic_store_n(&ball, 2 * i + 2, __ATOMIC_RELEASE);
        eventcount_signal(&to_main);
    }
    return arg;
}

T(no_signal_is_lost_between_two_threads)
{
    pthread_t t;

    pthread_create(&t, NULL, echo, NULL);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        payload++;
        __atomic_store_n(&ball, 2 * i + 1, __ATOMIC_RELEASE);
        eventcount_signal(&to_echo);
        await_ball(&to_main, 2 * i + 2);
        if (i % 64 == 0)        /* the other one gets to sleep, too */
            sched_yield();
    }
    pthread_join(t, NULL);
    T_EQ(payload, 2L * ROUNDS);
    T_EQ(to_echo.sleepers, 0u);
    T_EQ(to_main.sleepers, 0u);
}

static struct eventcount work;
static long posted, taken;      /* atomic */

static void *take_work(void *arg)
{
    long n;
    uint32_t seen;

    for (;;) {
        seen = eventcount_now(&work);
        n = __atomic_load_n(&posted, __ATOMIC_ACQUIRE);
        if (n < 0)
            return arg;
        if (n > 0 && __atomic_compare_exchange_n(&posted, &n, n - 1, false,
                                                 __ATOMIC_ACQ_REL,
                                                 __ATOMIC_RELAXED))
            __atomic_fetch_add(&taken, 1, __ATOMIC_RELAXED);
        else if (n == 0)
            eventcount_wait(&work, seen, 0);
    }
}

T(one_signal_wakes_all_sleepers)
{
    pthread_t t[SLEEPERS];

    for (int i = 0; i < SLEEPERS; i++)
        pthread_create(&t[i], NULL, take_work, NULL);
    for (int i = 0; i < MANY; i++) {
        __atomic_fetch_add(&posted, 1, __ATOMIC_RELEASE);
        eventcount_signal(&work);
    }
    while (__atomic_load_n(&taken, __ATOMIC_RELAXED) < MANY)
        sched_yield();
    __atomic_store_n(&posted, -1, __ATOMIC_RELEASE);
    eventcount_signal(&work);   /* once, for four */
    for (int i = 0; i < SLEEPERS; i++)
        pthread_join(t[i], NULL);
    T_EQ(taken, (long)MANY);
    T_EQ(work.sleepers, 0u);
}

T(a_wait_ends_when_its_time_has_run_out)
{
    struct eventcount ec = { 0 };
    uint64_t start = clock_ns();

    T_EQ(eventcount_wait(&ec, eventcount_now(&ec), 2000000), false);
    T_LT(1999999u, clock_ns() - start);
}

T(a_count_that_has_changed_is_not_slept_on)
{
    struct eventcount ec = { 0 };
    uint32_t seen = eventcount_now(&ec);

    eventcount_signal(&ec);
    T_EQ(eventcount_wait(&ec, seen, 0), true);
}

int main(void)
{
    T_RUN(no_signal_is_lost_between_two_threads);
    T_RUN(one_signal_wakes_all_sleepers);
    T_RUN(a_wait_ends_when_its_time_has_run_out);
    T_RUN(a_count_that_has_changed_is_not_slept_on);
    return T_DONE();
}
