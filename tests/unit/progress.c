/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: the progress thread gives each poller its turns: at the time it
 * asks for, when it is woken, and when a descriptor has input, also while
 * another poller never sleeps; none after it has left. */
#include "unit.h"

#include "base/clock.h"
#include "progress/progress.h"

#include <sched.h>
#include <unistd.h>

#define MS ((uint64_t)1000000)

struct counted {
    struct progress_poller p;
    uint64_t sleep_ns;
    bool fds;
    int wakes;                  /* atomic: what the wakers count */
    int seen;                   /* atomic: of wakes, by the last turn */
    long turns, events;         /* atomic */
};

static uint64_t turn(struct progress_poller *p, const struct progress_turn *t)
{
    struct counted *c = (struct counted *)p;

    __atomic_store_n(&c->seen, __atomic_load_n(&c->wakes, __ATOMIC_RELAXED),
                     __ATOMIC_RELEASE);
    __atomic_fetch_add(&c->turns, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&c->events, t->event, __ATOMIC_RELAXED);
    p->uses_fds = c->fds;
    return c->sleep_ns;
}

static int pipes[2];

static int fds_of(int fds[PROGRESS_FDS])
{
    fds[0] = pipes[0];
    return 1;
}

static void await(const long *n, long least)
{
    while (__atomic_load_n(n, __ATOMIC_ACQUIRE) < least)
        sched_yield();
}

/* Without a time of its own: a wake-up that is lost hangs here. */
static void wake_often(struct counted *c, int n)
{
    for (int i = 1; i <= n; i++) {
        __atomic_fetch_add(&c->wakes, 1, __ATOMIC_RELAXED);
        progress_wake(&c->p);
        while (__atomic_load_n(&c->seen, __ATOMIC_ACQUIRE) < i)
            sched_yield();
    }
}

T(no_wake_up_is_lost)
{
    struct counted c = { .p.turn = turn, .sleep_ns = PROGRESS_WHEN_WOKEN };

    T_EQ(progress_register(&c.p), 0);
    wake_often(&c, 2000);
    progress_unregister(&c.p);
    T_EQ(c.seen, 2000);
}

T(no_wake_up_is_lost_beside_descriptors)
{
    struct counted c = { .p.turn = turn, .sleep_ns = PROGRESS_WHEN_WOKEN };
    struct counted f = { .p = { .turn = turn, .wait_fds = fds_of },
                         .sleep_ns = PROGRESS_WHEN_WOKEN, .fds = true };

    T_EQ(pipe(pipes), 0);
    T_EQ(progress_register(&f.p), 0);
    T_EQ(progress_register(&c.p), 0);
    wake_often(&c, 2000);
    T_LT(f.turns, 3L);          /* wake-ups of another one are none of its */
    progress_unregister(&c.p);
    progress_unregister(&f.p);
    close(pipes[0]);
    close(pipes[1]);
}

static uint64_t wake_itself(struct progress_poller *p,
                            const struct progress_turn *t)
{
    progress_wake(p);
    return turn(p, t);
}

/* Each turn's call comes before the thread would sleep. */
T(descriptors_are_examined_where_calls_never_end)
{
    struct counted c = { .p.turn = wake_itself,
                         .sleep_ns = PROGRESS_WHEN_WOKEN };
    struct counted f = { .p = { .turn = turn, .wait_fds = fds_of },
                         .sleep_ns = PROGRESS_WHEN_WOKEN, .fds = true };

    T_EQ(pipe(pipes), 0);
    T_EQ(progress_register(&f.p), 0);
    T_EQ(progress_register(&c.p), 0);
    await(&c.turns, 1000);
    T_EQ(write(pipes[1], "x", 1), 1);
    await(&f.events, 1);
    progress_unregister(&c.p);
    progress_unregister(&f.p);
    close(pipes[0]);
    close(pipes[1]);
}

T(a_turn_comes_at_its_time)
{
    struct counted c = { .p.turn = turn, .sleep_ns = MS };
    uint64_t start = clock_ns();

    T_EQ(progress_register(&c.p), 0);
    await(&c.turns, 6);
    T_LT(5 * MS - 1, clock_ns() - start);
    progress_unregister(&c.p);
}

T(a_descriptor_is_seen_beside_a_poller_that_never_sleeps)
{
    struct counted busy = { .p.turn = turn, .sleep_ns = PROGRESS_AGAIN };
    struct counted f = { .p = { .turn = turn, .wait_fds = fds_of },
                         .sleep_ns = PROGRESS_WHEN_WOKEN, .fds = true };

    T_EQ(pipe(pipes), 0);
    T_EQ(progress_register(&busy.p), 0);
    T_EQ(progress_register(&f.p), 0);
    await(&f.turns, 1);
    T_EQ(write(pipes[1], "x", 1), 1);
    await(&f.events, 1);
    T_EQ(progress_sleeps(), (uint64_t)0);
    progress_unregister(&f.p);
    progress_unregister(&busy.p);
    close(pipes[0]);
    close(pipes[1]);
}

T(one_that_has_left_gets_no_turn)
{
    struct counted busy = { .p.turn = turn, .sleep_ns = PROGRESS_AGAIN };
    struct counted other = { .p.turn = turn, .sleep_ns = MS };
    long turns, deferred;

    T_EQ(progress_register(&busy.p), 0);
    T_EQ(progress_register(&other.p), 0);
    await(&busy.turns, 1);
    progress_unregister(&busy.p);
    turns = busy.turns;
    deferred = __atomic_load_n(&other.turns, __ATOMIC_RELAXED) + 3;
    await(&other.turns, deferred);
    T_EQ(busy.turns, turns);
    progress_unregister(&other.p);
}

int main(void)
{
    T_RUN(no_wake_up_is_lost);
    T_RUN(no_wake_up_is_lost_beside_descriptors);
    T_RUN(a_turn_comes_at_its_time);
    T_RUN(a_descriptor_is_seen_beside_a_poller_that_never_sleeps);
    T_RUN(descriptors_are_examined_where_calls_never_end);
    T_RUN(one_that_has_left_gets_no_turn);
    return T_DONE();
}
