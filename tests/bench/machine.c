/* SPDX-License-Identifier: BSD-3-Clause */
/* machine - what this machine can do without any library: the figures that
 * scripts/bench prints beside ours.  One line each: name, nanoseconds (the
 * best of several rounds: a limit has no noise below it). */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 7
#define LARGEST ((size_t)4 << 20)
#define CROWD 8

static char *from, *to;
static int cores[2];
static _Alignas(64) _Atomic uint64_t ball;
static _Alignas(64) _Atomic uint64_t word;

static double now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void pin(int core)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(core, &set);
    sched_setaffinity(0, sizeof(set), &set);
}

/* A shared mapping with all its pages there, as a symmetric heap is. */
static char *segment(void)
{
    int fd = memfd_create("machine", MFD_CLOEXEC);
    char *p;

    if (fd < 0 || ftruncate(fd, (off_t)LARGEST)) {
        perror("machine: memfd");
        exit(1);
    }
    p = mmap(NULL, LARGEST, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED) {
        perror("machine: mmap");
        exit(1);
    }
    close(fd);
    memset(p, 1, LARGEST);
    return p;
}

typedef void step(size_t n);

static void copy(size_t n)
{
    memcpy(to, from, n);
    /* The copy is observable, so it stays in the loop. */
    __asm__ volatile("" ::: "memory");
}

/* A store made visible to all before the next instruction. */
static void store_fence(size_t n)
{
    (void)n;
    *(volatile uint64_t *)to = 1;
    atomic_thread_fence(memory_order_seq_cst);
}

static void fetch_add(size_t n)
{
    atomic_fetch_add_explicit(&word, n, memory_order_acq_rel);
}

static void measure(const char *name, step *f, size_t n)
{
    int iters = n > 65536 ? 200 : n > 1024 ? 5000 : 1000000;
    double best = 1e18;

    for (int r = 0; r < ROUNDS; r++) {
        double start = now_ns(), ns;

        for (int i = 0; i < iters; i++)
            f(n);
        ns = (now_ns() - start) / iters;
        best = ns < best ? ns : best;
    }
    printf("%s %.3f\n", name, best);
}

/* Two threads pass one cache line; each pass is one way. */
static void *return_ball(void *arg)
{
    uint64_t passes = *(uint64_t *)arg;

    pin(cores[1]);
    for (uint64_t i = 1; i <= passes; i += 2) {
        while (atomic_load_explicit(&ball, memory_order_acquire) != i)
            ;
        atomic_store_explicit(&ball, i + 1, memory_order_release);
    }
    return NULL;
}

static void ping_pong(void)
{
    uint64_t passes = 400000;
    double best = 1e18;

    for (int r = 0; r < ROUNDS; r++) {
        pthread_t t;
        double start = 0, ns;

        atomic_store(&ball, 0);
        if (pthread_create(&t, NULL, return_ball, &passes))
            exit(1);
        for (uint64_t i = 0; i < passes; i += 2) {
            while (atomic_load_explicit(&ball, memory_order_acquire) != i)
                ;
            if (i == 2000)
                start = now_ns();       /* both run by then */
            atomic_store_explicit(&ball, i + 1, memory_order_release);
        }
        pthread_join(t, NULL);
        ns = (now_ns() - start) / (double)(passes - 2000);
        best = ns < best ? ns : best;
    }
    printf("line_one_way %.3f\n", best);
}

/* More threads than cores meet: the C library's barrier sleeps in futexes. */
static pthread_barrier_t meeting;

static void *meet(void *arg)
{
    for (int i = 0; i < *(int *)arg; i++)
        pthread_barrier_wait(&meeting);
    return NULL;
}

static void crowd(void)
{
    pthread_t t[CROWD];
    int times = 3000;
    double start = now_ns();

    pthread_barrier_init(&meeting, NULL, CROWD);
    for (int i = 0; i < CROWD; i++)
        if (pthread_create(&t[i], NULL, meet, &times))
            exit(1);
    for (int i = 0; i < CROWD; i++)
        pthread_join(t[i], NULL);
    printf("futex_barrier_8 %.1f\n", (now_ns() - start) / times);
}

int main(void)
{
    cpu_set_t all;
    int n = 0;

    sched_getaffinity(0, sizeof(all), &all);
    for (int c = 0; c < CPU_SETSIZE && n < 2; c++)
        if (CPU_ISSET(c, &all))
            cores[n++] = c;
    crowd();                            /* on every core, before pinning */
    if (n == 2) {
        pin(cores[0]);
        ping_pong();
    }
    from = segment();
    to = segment();
    measure("memcpy_8", copy, 8);
    measure("memcpy_4096", copy, 4096);
    measure("memcpy_65536", copy, 65536);
    measure("memcpy_1048576", copy, 1048576);
    measure("memcpy_4194304", copy, LARGEST);
    measure("store_fence", store_fence, 0);
    measure("fetch_add", fetch_add, 1);
    return 0;
}
