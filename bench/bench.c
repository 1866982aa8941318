/* SPDX-License-Identifier: BSD-3-Clause */
/* bench.c - clock, cores, medians and rows of the micro-benchmarks. */
#include "bench.h"

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static bool tsv;

void bench_open(int argc, char **argv)
{
    tsv = argc > 1 && !strcmp(argv[1], "--tsv");
}

double bench_now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int bench_pin(int n)
{
    static cpu_set_t may;               /* as it was before the first pin */
    cpu_set_t one;
    int count, seen = 0;

    if (CPU_COUNT(&may) == 0 && sched_getaffinity(0, sizeof may, &may))
        return 0;
    count = CPU_COUNT(&may);
    CPU_ZERO(&one);
    for (int c = 0; c < CPU_SETSIZE; c++) {
        if (CPU_ISSET(c, &may) && seen++ == n % count)
            CPU_SET(c, &one);
    }
    sched_setaffinity(0, sizeof one, &one);
    return count;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

double bench_median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, ascending);
    return values[count / 2];
}

static double round_ns(bench_loop *loop, void *arg, int iters)
{
    double start = bench_now_ns();

    loop(arg, iters);
    return (bench_now_ns() - start) / iters;
}

double bench_one(bench_loop *loop, void *arg, int iters)
{
    double ns[BENCH_ROUNDS];

    round_ns(loop, arg, iters);         /* warms the path */
    for (int r = 0; r < BENCH_ROUNDS; r++)
        ns[r] = round_ns(loop, arg, iters);
    return bench_median(ns, BENCH_ROUNDS);
}

struct bench_pair bench_both(bench_loop *ours, bench_loop *limit, void *arg,
                             int iters)
{
    double a[BENCH_ROUNDS], b[BENCH_ROUNDS], q[BENCH_ROUNDS];
    struct bench_pair p;

    round_ns(limit, arg, iters);
    round_ns(ours, arg, iters);
    for (int r = 0; r < BENCH_ROUNDS; r++) {
        b[r] = round_ns(limit, arg, iters);
        a[r] = round_ns(ours, arg, iters);
        q[r] = a[r] / b[r];
    }
    p.ours = bench_median(a, BENCH_ROUNDS);
    p.limit = bench_median(b, BENCH_ROUNDS);
    p.ratio = bench_median(q, BENCH_ROUNDS);
    return p;
}

static void cell(char out[16], double value, const char *after)
{
    if (value <= 0)
        strcpy(out, "-");
    else
        snprintf(out, 16, value < 100 ? "%.2f%s" : "%.0f%s", value, after);
}

void bench_print(const struct bench_row *row)
{
    bool more = !strcmp(row->unit, "M/s");
    double ratio = row->ratio > 0 ? row->ratio
                 : row->limit > 0 ? row->ours / row->limit : 0;
    bool missed = (row->target > 0 && (more ? row->ours < row->target
                                            : row->ours > row->target)) ||
                  (row->target_ratio > 0 && ratio > row->target_ratio);
    bool aimed = row->target > 0 || row->target_ratio > 0;
    char ours[16], limit[16], times[16], want[48] = "";

    cell(ours, row->ours, "");
    cell(limit, row->limit, "");
    cell(times, row->ours > 0 ? ratio : 0, "");
    if (row->target > 0)
        snprintf(want, sizeof want, "%s %g %s", more ? ">=" : "<=",
                 row->target, row->unit);
    if (row->target_ratio > 0)
        snprintf(want + strlen(want), sizeof want - strlen(want), "%s<= %g x",
                 *want ? ", " : "", row->target_ratio);
    printf(tsv ? "%s\t%s\t%s\t%s\t%s\t%s\t%s\n"
               : "%-34s %4s %10s %10s %7s  %-20s %s\n",
           row->name, row->unit, ours, limit, times, *want ? want : "-",
           !aimed ? "-" : missed ? "missed" : "met");
    fflush(stdout);
}
