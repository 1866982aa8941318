/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: of two processes that share a core and wait for each other in
 * turn, each spins for a moment only; one that has its core to itself spins as
 * long as SHMEM_SPIN_US says.  Counted are looks, not time.
 * Timeout: 60 */
#define _GNU_SOURCE 1
#include "unit.h"

#include "base/env.h"
#include "base/membarrier.h"
#include "core/core_spin.h"
#include "core/core.h"

#include <sched.h>
#include <sys/wait.h>

/* A fixed millisecond of spinning takes some 600 looks a turn. */
enum { HEAP = 1 << 16, TURNS = 1000, MOST_POLLS = 100 };
#define SPIN_US "1000"

static char *heap;

static uint64_t *word(int i)
{
    return (uint64_t *)(void *)(heap + 4096 + 64 * i);
}

static void sleep_briefly(void)
{
    heap = mmap(NULL, HEAP, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                -1, 0);
    T_TRUE(heap != MAP_FAILED);
    heap_segs[HEAP_HOST] = (struct heap_seg){ (uintptr_t)heap, HEAP };
    T_EQ(xport_open(1), 0);
    xport_routes[0].map[HEAP_HOST] = (uintptr_t)heap;
    core_ctl = (struct core_ctl *)(void *)heap;
    core_world.n_pes = 1;
    core_world.my_pe = 0;
    setenv("SHMEM_SPIN_US", SPIN_US, 1);
    T_EQ(env_load(), 0);
    membarrier_open();
    core_spin_open();
}

/* Where that is allowed, at a priority at which others do not come between. */
static bool pin(void)
{
    const struct sched_param least = { .sched_priority = 1 };
    cpu_set_t one;

    sched_setscheduler(0, SCHED_FIFO, &least);
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    return !sched_setaffinity(0, sizeof one, &one);
}

static void await(uint64_t *w, uint64_t value)
{
    struct core_waiter wait = core_wait_begin(w, sizeof *w);

    while (__atomic_load_n(w, __ATOMIC_ACQUIRE) < value)
        core_wait_step(&wait);
    core_wait_end(&wait);
}

static void notify(uint64_t *w, uint64_t value)
{
    __atomic_store_n(w, value, __ATOMIC_RELEASE);
    core_wake((struct core_target){ (uintptr_t)w, core_ctl }, sizeof *w);
}

static void play(int mine)
{
    for (uint64_t t = 1; t <= TURNS; t++) {
        if (mine)
            await(word(0), t);
        notify(word(mine), t);
        if (!mine)
            await(word(1), t);
    }
}

T(core_wait_partner_on_same_core_is_not_spun_for)
{
    struct core_wait_counts c;
    int status = -1;
    pid_t pid;

    if (!pin())
        T_SKIP("a process may not be bound to a core");
    pid = fork();
    if (pid == 0) {
        play(1);
        _exit(0);
    }
    core_wait_counts_take();
    play(0);
    c = core_wait_counts_take();
    T_EQ(waitpid(pid, &status, 0), pid);
    T_EQ(status, 0);
    printf("%d turns: %" PRIu64 " looks, %" PRIu64 " yields, %" PRIu64
           " sleeps, %" PRIu64 " ns of spinning\n", TURNS, c.checks, c.yields,
           c.sleeps, core_spin_ns());
    T_LE(c.checks, TURNS * MOST_POLLS);
    T_LT(0, c.yields);
}

/* No store comes: its yields return at once, or run processes that do not wait
 * for it. */
T(core_wait_alone_spins_its_whole_time_again)
{
    T_EQ(core_spin_most_ns(), 1000000);
    for (int i = 0; i < 20; i++)
        core_spin_yield();
    printf("%" PRIu64 " ns of spinning alone\n", core_spin_ns());
    T_LT(core_spin_most_ns() / 4, core_spin_ns());
}

int main(void)
{
    sleep_briefly();
    T_RUN(core_wait_partner_on_same_core_is_not_spun_for);
    T_RUN(core_wait_alone_spins_its_whole_time_again);
    xport_close();
    return T_DONE();
}
