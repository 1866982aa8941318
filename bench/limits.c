/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: what this machine does without any library, between two
 * processes that share a memfd as PEs do, each on its own core. */
#define _GNU_SOURCE 1
#include "bench.h"

#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define LARGEST ((size_t)4 << 20)
#define CROWD 8
#define MEETINGS 2000

/* Words that processes share, each on lines of its own. */
struct shared {
    _Alignas(128) _Atomic uint64_t ball;
    _Alignas(128) _Atomic uint64_t counter;
    _Alignas(128) _Atomic uint32_t arrived;
    _Alignas(128) _Atomic uint32_t round;
    _Alignas(128) _Atomic int ready;
};

struct place {
    char *to, *from;
    size_t size;
    struct shared *shared;
};

static void *mapping(size_t size)
{
    int fd = memfd_create("limits", MFD_CLOEXEC);
    void *p = MAP_FAILED;

    if (fd >= 0 && !ftruncate(fd, (off_t)size))
        p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED) {
        perror("limits: memfd");
        exit(1);
    }
    close(fd);
    memset(p, 1, size);
    return p;
}

static pid_t split(void)
{
    pid_t pid = fork();

    if (pid < 0) {
        perror("limits: fork");
        exit(1);
    }
    return pid;
}

static void copies(void *arg, int iters)
{
    const struct place *p = arg;

    for (int i = 0; i < iters; i++) {
        memcpy(p->to, p->from, p->size);
        bench_barrier();
    }
}

static void stores_xchg(void *arg, int iters)
{
    const struct place *p = arg;
    _Atomic uint64_t own = 0;

    for (int i = 0; i < iters; i++) {
        bench_store(p->to, (uint64_t)i);
        atomic_exchange_explicit(&own, 1, memory_order_seq_cst);
    }
}

static void adds(void *arg, int iters)
{
    const struct place *p = arg;

    for (int i = 0; i < iters; i++)
        atomic_fetch_add_explicit(&p->shared->counter, 1,
                                  memory_order_relaxed);
}

static void single(struct place *p)
{
    static const size_t sizes[] = { 8, 64, 1024, 4096, 65536, 262144, 1048576,
                                    LARGEST };
    struct bench_row row = { .unit = "ns" };
    char name[40];

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        p->size = sizes[i];
        snprintf(name, sizeof name, "memcpy %zu B", sizes[i]);
        row.name = name;
        row.limit = bench_one(copies, p, sizes[i] < 4096 ? 100000 :
                              (int)(400000000 / sizes[i] / 20) + 2);
        bench_print(&row);
    }
    row.name = "store 8 B + xchg";
    row.limit = bench_one(stores_xchg, p, 50000);
    bench_print(&row);
    row.name = "fetch-add, alone";
    row.limit = bench_one(adds, p, 50000);
    bench_print(&row);
}

/* Both processes add at once.  On a busy machine the other may be off its
 * core, so only rounds count in which it added its share. */
static void contended(struct place *p)
{
    struct bench_row row = { .name = "fetch-add, two cores on one line",
                             .unit = "ns" };
    const int iters = 20000;
    double ns[BENCH_ROUNDS];
    int good = 0;
    pid_t other;

    atomic_store(&p->shared->ready, 0);
    other = split();
    if (other == 0) {
        bench_pin(1);
        atomic_store(&p->shared->ready, 1);
        while (atomic_load(&p->shared->ready) == 1)
            adds(p, 1000);
        _exit(0);
    }
    while (!atomic_load(&p->shared->ready))
        bench_pause();
    bench_pin(0);
    for (int r = 0; good < BENCH_ROUNDS && r < 50 * BENCH_ROUNDS; r++) {
        uint64_t before = atomic_load(&p->shared->counter);
        double start = bench_now_ns();

        adds(p, iters);
        ns[good] = (bench_now_ns() - start) / iters;
        good += atomic_load(&p->shared->counter) - before >
                (uint64_t)(3 * iters / 2);
    }
    atomic_store(&p->shared->ready, 2);
    waitpid(other, NULL, 0);
    row.limit = good ? bench_median(ns, good) : 0;
    bench_print(&row);
}

/* The side that is first writes odd values, the other even ones. */
static void volley(_Atomic uint64_t *ball, uint64_t first, int passes)
{
    for (uint64_t i = first; i < first + 2 * (uint64_t)passes; i += 2) {
        while (atomic_load_explicit(ball, memory_order_acquire) != i)
            bench_pause();
        atomic_store_explicit(ball, i + 1, memory_order_release);
    }
}

static void line_one_direction(struct place *p)
{
    struct bench_row row = { .name = "cache line, one way", .unit = "ns" };
    const int passes = 20000;
    double ns[BENCH_ROUNDS];
    uint64_t at = 0;
    pid_t other;

    atomic_store(&p->shared->ball, 0);
    other = split();
    if (other == 0) {
        bench_pin(1);
        volley(&p->shared->ball, 1, passes * (BENCH_ROUNDS + 1));
        _exit(0);
    }
    bench_pin(0);
    volley(&p->shared->ball, 0, passes);        /* both run by then */
    at = 2 * (uint64_t)passes;
    for (int r = 0; r < BENCH_ROUNDS; r++, at += 2 * (uint64_t)passes) {
        double start = bench_now_ns();

        volley(&p->shared->ball, at, passes);
        ns[r] = (bench_now_ns() - start) / (2 * passes);
    }
    waitpid(other, NULL, 0);
    row.limit = bench_median(ns, BENCH_ROUNDS);
    bench_print(&row);
}

static void synchronize(struct shared *s)
{
    uint32_t round = atomic_load_explicit(&s->round, memory_order_acquire);

    if (atomic_fetch_add_explicit(&s->arrived, 1, memory_order_acq_rel) ==
        CROWD - 1) {
        atomic_store_explicit(&s->arrived, 0, memory_order_relaxed);
        atomic_store_explicit(&s->round, round + 1, memory_order_release);
        syscall(SYS_futex, &s->round, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
        return;
    }
    while (atomic_load_explicit(&s->round, memory_order_acquire) == round)
        syscall(SYS_futex, &s->round, FUTEX_WAIT, round, NULL, NULL, 0);
}

static void crowd(struct place *p)
{
    struct bench_row row = { .name = "futex barrier, 8 processes",
                             .unit = "ns" };
    pid_t others[CROWD - 1];
    double ns[5];

    for (int i = 0; i < CROWD - 1; i++) {
        others[i] = split();
        if (others[i] == 0) {
            for (int k = 0; k < 5 * MEETINGS; k++)
                synchronize(p->shared);
            _exit(0);
        }
    }
    for (int r = 0; r < 5; r++) {
        double start = bench_now_ns();

        for (int k = 0; k < MEETINGS; k++)
            synchronize(p->shared);
        ns[r] = (bench_now_ns() - start) / MEETINGS;
    }
    for (int i = 0; i < CROWD - 1; i++)
        waitpid(others[i], NULL, 0);
    row.limit = bench_median(ns, 5);
    bench_print(&row);
}

int main(int argc, char **argv)
{
    struct place p;

    bench_open(argc, argv);
    p.to = mapping(LARGEST);
    p.from = mapping(LARGEST);
    p.shared = mapping(sizeof *p.shared);
    memset(p.shared, 0, sizeof *p.shared);
    crowd(&p);                          /* on all cores, before pinning */
    if (sysconf(_SC_NPROCESSORS_ONLN) > 1) {
        contended(&p);
        line_one_direction(&p);
    }
    bench_pin(0);
    single(&p);
    return 0;
}
