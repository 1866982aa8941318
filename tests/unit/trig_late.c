/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a trigger is freed when the late hits that began before have
 * ended, though others begin all the time.
 * Timeout: 20 */
#include "trig/trig_int.h"

#include "unit.h"

#include <pthread.h>
#include <sched.h>

static unsigned turn;           /* whose turn it is to begin: turn % 2 */
static int stop;                /* both atomic */

/* Each begins before the other ends: at no time there is none. */
static void *hits(void *arg)
{
    unsigned me = *(unsigned *)arg, mine, begun;

    for (mine = me; !__atomic_load_n(&stop, __ATOMIC_ACQUIRE); mine += 2) {
        while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) != mine &&
               !__atomic_load_n(&stop, __ATOMIC_ACQUIRE))
            sched_yield();
        trig_late_begin(NULL, &begun);
        __atomic_store_n(&turn, mine + 1, __ATOMIC_RELEASE);
        while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) == mine + 1 &&
               !__atomic_load_n(&stop, __ATOMIC_ACQUIRE))
            sched_yield();
        trig_late_end(begun);
    }
    return NULL;
}

T(hits_that_begin_later_are_not_awaited)
{
    unsigned who[2] = { 0, 1 };
    pthread_t t[2];

    for (int i = 0; i < 2; i++)
        T_EQ(pthread_create(&t[i], NULL, hits, &who[i]), 0);
    while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) < 4)
        sched_yield();
    for (int i = 0; i < 1000; i++)
        trig_late_await();
    __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
}

static int ended;               /* atomic */

static void *one(void *arg)
{
    unsigned begun;

    trig_late_begin(NULL, &begun);
    __atomic_store_n((int *)arg, 1, __ATOMIC_RELEASE);
    while (__atomic_load_n((int *)arg, __ATOMIC_ACQUIRE) == 1)
        sched_yield();
    for (int i = 0; i < 1000; i++)
        sched_yield();
    __atomic_store_n(&ended, 1, __ATOMIC_RELEASE);
    trig_late_end(begun);
    return NULL;
}

T(a_hit_that_has_begun_is_awaited)
{
    int state;
    pthread_t t;

    for (int i = 0; i < 20; i++) {
        state = ended = 0;
        T_EQ(pthread_create(&t, NULL, one, &state), 0);
        while (!__atomic_load_n(&state, __ATOMIC_ACQUIRE))
            sched_yield();
        __atomic_store_n(&state, 2, __ATOMIC_RELEASE);
        trig_late_await();
        T_EQ(__atomic_load_n(&ended, __ATOMIC_ACQUIRE), 1);
        pthread_join(t, NULL);
    }
}

int main(void)
{
    T_RUN(hits_that_begin_later_are_not_awaited);
    T_RUN(a_hit_that_has_begun_is_awaited);
    
}
