/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: collectives over all PEs: each call is timed on every PE, a
 * barrier between the calls is not; the figure is the median over rounds of
 * the mean over PEs, as OSU's collective tests have it.
 *
 *   coll [--tsv]    rows: small ones against barrier_all, long sums against
 *                   the adds and copies they are made of
 *   coll --sweep    KIND BYTES NS for all kinds and sizes, for
 *                   scripts/bench-coll */
#define _GNU_SOURCE 1
#include "bench.h"

#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 20, WORDS = MOST / 8 };

static char *dest, *source;
static int n_pes, me;

static void barrier(size_t bytes)
{
    (void)bytes;
    shmem_barrier_all();
}

static void broadcast(size_t bytes)
{
    shmem_broadcastmem(SHMEM_TEAM_WORLD, dest, source, bytes, 0);
}

static void collect(size_t bytes)
{
    shmem_collectmem(SHMEM_TEAM_WORLD, dest, source, bytes);
}

static void fcollect(size_t bytes)
{
    shmem_fcollectmem(SHMEM_TEAM_WORLD, dest, source, bytes);
}

static void alltoall(size_t bytes)
{
    shmem_alltoallmem(SHMEM_TEAM_WORLD, dest, source, bytes);
}

static void reduce(size_t bytes)
{
    shmem_double_sum_reduce(SHMEM_TEAM_WORLD, (double *)(void *)dest,
                            (const double *)(const void *)source, bytes / 8);
}

static void scan(size_t bytes)
{
    shmem_double_sum_inscan(SHMEM_TEAM_WORLD, (double *)(void *)dest,
                            (const double *)(const void *)source, bytes / 8);
}

/* What a sum over all PEs cannot do without: every element of each source is
 * read by someone and added, and the sum written to every dest. */
static void sum_by_hand(size_t bytes)
{
    size_t n = bytes / 8, part = n / (size_t)n_pes;
    size_t from = (size_t)me * part, to = me == n_pes - 1 ? n : from + part;
    double acc[512];

    for (size_t at = from, len; at < to; at += len) {
        len = to - at < 512 ? to - at : 512;
        memcpy(acc, (double *)shmem_ptr(source, 0) + at, len * 8);
        for (int pe = 1; pe < n_pes; pe++) {
            const double *theirs = (double *)shmem_ptr(source, pe) + at;

            for (size_t i = 0; i < len; i++)
                acc[i] += theirs[i];
        }
        for (int pe = 0; pe < n_pes; pe++)
            memcpy((double *)shmem_ptr(dest, pe) + at, acc, len * 8);
    }
}

/* Nanoseconds of a call, on average over the PEs; on all alike. */
static double time_of(void (*call)(size_t), size_t bytes, int times)
{
    static double mine, all;
    double rounds[BENCH_ROUNDS], start;

    for (int r = -1; r < BENCH_ROUNDS; r++) {
        mine = 0;
        for (int i = 0; i < times; i++) {
            shmem_barrier_all();
            start = bench_now_ns();
            call(bytes);
            mine += bench_now_ns() - start;
        }
        shmem_double_sum_reduce(SHMEM_TEAM_WORLD, &all, &mine, 1);
        if (r >= 0)             /* the first one warms */
            rounds[r] = all / times / n_pes;
    }
    return bench_median(rounds, BENCH_ROUNDS);
}

static int times_of(size_t bytes)
{
    int times = bytes <= 1024 ? 200 : bytes <= 65536 ? 40 : 8;

    return n_pes > 4 ? times / 4 + 1 : times;
}

static const struct kind {
    const char *name;
    void (*call)(size_t);
    size_t most;                /* for each of many PEs */
    double target;              /* of a small one, in barriers */
} kinds[] = {
    { "broadcast", broadcast, MOST, 3 },
    { "collect", collect, MOST, 3 },
    { "fcollect", fcollect, MOST, 3 },
    { "alltoall", alltoall, MOST, 3 },
    { "reduce", reduce, MOST, 3 },
    { "scan", scan, MOST, 0 },
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void sweep(void)
{
    for (int k = 0; k < KINDS; k++)
        for (size_t bytes = 8; bytes <= kinds[k].most; bytes *= 4) {
            double ns = time_of(kinds[k].call, bytes, times_of(bytes));

            if (me == 0)
                printf("%s\t%zu\t%.0f\n", kinds[k].name, bytes, ns);
        }
}

static void row(const struct bench_row *r)
{
    if (me == 0)
        bench_print(r);
}

static void rows(void)
{
    static const size_t sizes[] = { 8, 65536, MOST };
    double synchronize, ours;
    char name[64];

    synchronize = time_of(barrier, 0, 1000);
    for (int k = 0; k < KINDS; k++)
        for (int s = 0; s < 3; s++) {
            struct bench_row r = { .name = name, .unit = "ns" };
            double hand = 0;

            ours = time_of(kinds[k].call, sizes[s], times_of(sizes[s]));
            if (kinds[k].call == reduce && sizes[s] > 8)
                hand = time_of(sum_by_hand, sizes[s], times_of(sizes[s]));
            snprintf(name, sizeof name, "%s %zu B, %d PEs; %s", kinds[k].name,
                     sizes[s], n_pes, s == 0 ? "barrier_all" :
                     hand > 0 ? "adds and copies" : "-");
            r.ours = ours;
            r.limit = s == 0 ? synchronize : hand;
            r.target_ratio = s == 0 ? kinds[k].target : hand > 0 ? 1.3 : 0;
            row(&r);
        }
}

int main(int argc, char **argv)
{
    bench_open(argc, argv);
    shmem_init();
    me = shmem_my_pe();
    n_pes = shmem_n_pes();
    dest = shmem_align(4096, (size_t)MOST * (size_t)n_pes);
    source = shmem_align(4096, (size_t)MOST * (size_t)n_pes);
    if (!dest || !source)
        shmem_global_exit(1);
    for (size_t i = 0; i < (size_t)WORDS * (size_t)n_pes; i++)
        ((double *)(void *)source)[i] = (double)(i % 100);
    memset(dest, 0, (size_t)MOST * (size_t)n_pes);
    if (argc > 1 && !strcmp(argv[1], "--sweep"))
        sweep();
    else
        rows();
    shmem_finalize();
    return 0;
}
