/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: more PEs than cores: 10000 barriers against a futex barrier of
 * the same processes, the two taking turns. */
#define _GNU_SOURCE 1
#include "bench.h"

#include <limits.h>
#include <linux/futex.h>
#include <shmem.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TURNS 5
#define TIMES 2000

struct meeting {
    _Alignas(128) _Atomic uint32_t arrived;
    _Alignas(128) _Atomic uint32_t round;
};

static void synchronize(struct meeting *m, uint32_t all)
{
    uint32_t round = atomic_load_explicit(&m->round, memory_order_acquire);

    if (atomic_fetch_add_explicit(&m->arrived, 1, memory_order_acq_rel) ==
        all - 1) {
        atomic_store_explicit(&m->arrived, 0, memory_order_relaxed);
        atomic_store_explicit(&m->round, round + 1, memory_order_release);
        syscall(SYS_futex, &m->round, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
        return;
    }
    while (atomic_load_explicit(&m->round, memory_order_acquire) == round)
        syscall(SYS_futex, &m->round, FUTEX_WAIT, round, NULL, NULL, 0);
}

int main(int argc, char **argv)
{
    struct meeting *own, *m;
    double futex[TURNS], ours[TURNS], start;
    uint32_t all;
    char name[40];
    struct bench_row r = { .name = name, .unit = "ns", .target_ratio = 4 };

    bench_open(argc, argv);
    shmem_init();
    all = (uint32_t)shmem_n_pes();
    own = shmem_align(4096, sizeof *own);
    memset(own, 0, sizeof *own);
    m = shmem_ptr(own, 0);
    shmem_barrier_all();
    for (int t = 0; t < TURNS; t++) {
        start = bench_now_ns();
        for (int i = 0; m && i < TIMES; i++)
            synchronize(m, all);
        futex[t] = (bench_now_ns() - start) / TIMES;
        start = bench_now_ns();
        for (int i = 0; i < TIMES; i++)
            shmem_barrier_all();
        ours[t] = (bench_now_ns() - start) / TIMES;
    }
    if (shmem_my_pe() == 0) {
        snprintf(name, sizeof name, "barrier_all, %u PEs; futex barrier",
                 all);
        r.ours = bench_median(ours, TURNS);
        r.limit = m ? bench_median(futex, TURNS) : 0;
        bench_print(&r);
    }
    shmem_finalize();
    return 0;
}
