/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: what a PE did last stays true where several of its threads
 * make calls at once: the time, by which call each has come to its team, and
 * who waits for a far PE. Timeout: 20 */
#include "unit.h"

#include "core/core_activity.h"

#include <pthread.h>

enum { TEAMS = 2, CALLS = 2000000 };

/* A PE alone: its heap, with the control block in front. */
static _Alignas(64) char heap[1 << 16];
static struct core_team teams[TEAMS];
static const char *const names[TEAMS] = { "shmem_team_sync",
                                          "shmem_long_sum_reduce" };
static uint64_t wrong;

static void sleep_briefly(void)
{
    heap_segs[HEAP_HOST] = (struct heap_seg){ (uintptr_t)heap, sizeof heap };
    T_EQ(xport_open(1), 0);
    xport_routes[0].map[HEAP_HOST] = (uintptr_t)heap;
    core_ctl = (struct core_ctl *)(void *)heap;
    core_world.n_pes = 1;
    for (int i = 0; i < TEAMS; i++)
        teams[i] = (struct core_team){
            .n_pes = 1, .stride = 1, .area_at = (uintptr_t)(i + 1) * 16384
        };
    core_activity_open();
}

static void *enter(void *arg)
{
    int i = *(int *)arg;
    uint64_t seen;

    for (uint64_t n = 1; n <= CALLS; n++) {
        core_activity_enter(names[i], &teams[i]);
        seen = core_team_area_of(&teams[i], 0)->entry;
        if (seen != core_activity_entry(n, core_activity_call_id(names[i])))
            __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

T(a_thread_comes_by_its_own_call)
{
    pthread_t threads[TEAMS];
    int which[TEAMS] = { 0, 1 };

    for (int i = 0; i < TEAMS; i++)
        pthread_create(&threads[i], NULL, enter, &which[i]);
    for (int i = 0; i < TEAMS; i++)
        pthread_join(threads[i], NULL);
    T_EQ(wrong, 0);
}

/* Two threads take the time at once, and the slower is late with when to take
 * it next: many calls ago. */
T(the_time_goes_on_being_taken)
{
    struct core_activity *d = &core_ctl->activity;

    core_activity_call(names[0]);
    T_EQ(d->at_calls, d->calls);
    d->calls += 100;
    for (int n = 0; n < 64; n++)
        core_activity_call(names[0]);
    T_LT(d->calls - d->at_calls, 64);
}

/* No two take turns: each turn would ask for a host. */
T(the_last_to_wait_is_shown)
{
    struct xport_wait first = { .pe = 1, .since_ns = 1 };
    struct xport_wait last = { .pe = 2, .since_ns = 2 };
    const struct core_activity *d = &core_ctl->activity;

    core_activity_transport(&first, 1000);
    core_activity_transport(&last, 1000);
    for (uint64_t ns = 1000; ns < 1000000000; ns *= 10) {
        core_activity_transport(&first, ns);
        T_EQ(core_transport_wait.pe, 2);
        core_activity_transport(&last, ns);
    }
    core_activity_transport_end(&last);
    T_TRUE(!core_transport_wait.of);
    T_EQ(d->waits, 0);
    core_activity_transport(&first, 2000);
    T_TRUE(core_transport_wait.of == &first);
    T_EQ(core_transport_wait.pe, 1);
    T_EQ(core_transport_wait.host[0], 0);
    T_EQ(d->waits, (uint64_t)CORE_WAITS_TRANSPORT);
    core_activity_transport_end(&first);
    T_EQ(d->waits, 0);
}

int main(void)
{
    sleep_briefly();
    T_RUN(the_time_goes_on_being_taken);
    T_RUN(a_thread_comes_by_its_own_call);
    T_RUN(the_last_to_wait_is_shown);
    xport_close();
    return T_DONE();
}
