/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a store that comes while its waiter goes to sleep wakes it: of
 * two processes one stores and looks for a sleeper, the other announces itself
 * and looks for the store, many times at nearly the same moment.  Counted are
 * sleeps that ended by time although the store had found them announced.
 * Timeout: 60 */
#include "unit.h"

#include "base/clock.h"
#include "base/env.h"
#include "base/fault.h"
#include "core/core.h"

#include <sched.h>
#include <sys/wait.h>

enum { HEAP = 1 << 16, DATA = 4096, WORD = 32768, LINE = 64, LINES = 16,
       ROUNDS = 200000, LEAST = 1000, MOST_S = 4, STEP = 8 };

/* Shared by both, apart from the heap: one line for each writer. */
static struct both {
    _Alignas(64) uint64_t waits;        /* the sleeper waits for this round */
    uint64_t announced, missed;
    struct core_wait_counts counts;
    _Alignas(64) uint64_t stored;       /* the writer has stored and looked */
    uint64_t last;              /* round */
} *both;
static char *heap;

static uint64_t load(const uint64_t *p)
{
    return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}

static void store(uint64_t *p, uint64_t value)
{
    __atomic_store_n(p, value, __ATOMIC_RELEASE);
}

static void sleep_briefly(void)
{
    void *p = mmap(NULL, HEAP + sizeof *both, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    T_TRUE(p != MAP_FAILED);
    heap = p;
    both = (struct both *)(void *)(heap + HEAP);
    heap_segs[HEAP_HOST] = (struct heap_seg){ (uintptr_t)heap, HEAP };
    T_EQ(xport_open(1), 0);
    xport_routes[0].map[HEAP_HOST] = (uintptr_t)heap;
    core_ctl = (struct core_ctl *)(void *)heap;
    core_world.n_pes = 1;
    core_world.my_pe = 0;
    core_status.oversubscribed = true;
    core_wait_quick = 0;
    T_EQ(env_load(), 0);
}

/* The word was not there when the sleep began, so the store came after the
 * fence, and the announcement stands until the writer has looked. */
static void sleeper(void)
{
    uint64_t *word = (uint64_t *)(void *)(heap + WORD);

    for (uint64_t r = 1; ; r++) {
        struct core_waiter w = core_wait_begin(word, sizeof *word);

        for (int i = 0; i < LINES; i++)
            heap[DATA + i * LINE + 1] = (char)r;
        store(&both->waits, r);
        while (load(word) < r)
            core_wait_step(&w);
        if (w.fenced && w.timed_out) {
            while (load(&both->stored) < r)
                sched_yield();
            both->missed += __atomic_load_n(&core_ctl->wake_seq,
                                            __ATOMIC_ACQUIRE) == w.seen;
        }
        both->announced += w.announced;
        core_wait_end(&w);
        if (r == load(&both->last))
            break;
    }
}

/* Stores later where the sleeper found the store before it slept, and earlier
 * where it slept: so most stores come beside the announcement. */
static void writer(void)
{
    uint64_t *word = (uint64_t *)(void *)(heap + WORD), announced = 0,
             delay = 0;
    uint64_t end = clock_ns() + (uint64_t)MOST_S * 1000000000u;

    for (uint64_t r = 1; r <= load(&both->last); r++) {
        while (load(&both->waits) < r)
            atomics_pause();
        if (both->announced == announced)
            delay += STEP;
        else
            delay -= delay > STEP ? STEP : delay;
        announced = both->announced;
        if (clock_ns() > end && r > LEAST)
            store(&both->last, r);
        for (uint64_t i = delay + T_RAND() % (16 * STEP); i; i--)
            __asm__ volatile("" ::: "memory");
        /* Data before it, so that the word is stored later than the look. */
        for (int i = 0; i < LINES; i++)
            *(volatile char *)(heap + DATA + i * LINE) = (char)r;
        *(volatile uint64_t *)word = r;
        core_wake((struct core_target){ (uintptr_t)word, core_ctl }, 8);
        store(&both->stored, r);
    }
}

static void synchronize(void)
{
    int status = -1;
    pid_t pid;

    memset(both, 0, sizeof *both);
    memset(heap, 0, HEAP);
    both->last = ROUNDS;
    pid = fork();
    if (pid == 0) {
        membarrier_open();
        sleeper();
        both->counts = core_wait_counts_take();
        _exit(0);
    }
    writer();
    T_EQ(waitpid(pid, &status, 0), pid);
    T_EQ(status, 0);
    printf("%" PRIu64 " of %" PRIu64 " rounds announced, %" PRIu64
           " sleeps, %" PRIu64 " fenced, %" PRIu64 " missed, %" PRIu64
           " late\n",
           both->announced, both->last, both->counts.sleeps,
           both->counts.fenced, both->missed, both->counts.late);
}

T(core_wait_store_beside_announcement_wakes)
{
    if (!membarrier_open())
        T_SKIP("the kernel refuses membarrier");
    /* While the kernel's fence takes longer than the sleeps, none is fenced. */
    for (int i = 0; i < 20 && (!i || !both->counts.fenced); i++) {
        synchronize();
        T_EQ(both->missed, 0);
    }
    T_LT(0, both->counts.fenced);
}

/* As where the kernel refuses: sleeps are bounded, so all rounds end. */
T(core_wait_without_membarrier_sleeps_by_time)
{
    setenv("SHMEM_FAULT", "membarrier:1:1", 1);
    T_EQ(env_load(), 0);
    T_EQ(fault_load(), 0);
    T_TRUE(!membarrier_open());
    T_TRUE(!membarrier_works());
    T_TRUE(!membarrier_all());
    synchronize();
    T_EQ(both->counts.fenced, 0);
    T_EQ(load((uint64_t *)(void *)(heap + WORD)), both->last);
}

int main(void)
{
    sleep_briefly();
    T_RUN(core_wait_store_beside_announcement_wakes);
    T_RUN(core_wait_without_membarrier_sleeps_by_time);
    xport_close();
    return T_DONE();
}
