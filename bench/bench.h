/* SPDX-License-Identifier: BSD-3-Clause */
/* bench.h - what the micro-benchmarks share: clock, cores, medians, rows.
 * Each measurement is a median over rounds, and two things to be compared
 * take turns in every round, so that a disturbance of the machine meets both.
 * Figures never decide anything: a program fails only when it cannot run. */
#ifndef BENCH_H
#define BENCH_H

#include <stddef.h>
#include <stdint.h>

#define BENCH_ROUNDS 21

/* A row: ours against the machine's own figure, both of the same run.
 * Absent figures are 0. */
struct bench_row {
    const char *name;
    const char *unit;               /* "ns", or "M/s": more is better */
    double ours;
    double limit;
    double ratio;                   /* 0: ours / limit */
    double target;                  /* of ours */
    double target_ratio;            /* of the ratio, at most */
};

/* Reads the options all programs take: --tsv. */
void bench_open(int argc, char **argv);
void bench_print(const struct bench_row *row);

double bench_now_ns(void);
/* Moves this process to the n-th core it may use; returns how many those
 * are. */
int bench_pin(int n);
/* Sorts. */
double bench_median(double *values, int count);

/* Two loops that take turns; medians of each and of their ratio. */
struct bench_pair {
    double ours, limit, ratio;
};
typedef void bench_loop(void *arg, int iters);
struct bench_pair bench_both(bench_loop *ours, bench_loop *limit, void *arg,
                             int iters);
/* Nanoseconds per iteration, median. */
double bench_one(bench_loop *loop, void *arg, int iters);

/* A store the compiler may not drop, merge or move. */
static inline void bench_store(void *at, uint64_t value)
{
    *(volatile uint64_t *)at = value;
}

/* What is in memory here may have been read or written by anyone. */
static inline void bench_barrier(void)
{
    __asm__ volatile("" ::: "memory");
}

static inline void bench_pause(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

#endif
