/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: the allreduce of doubles by partitions, beside the host's call and
 * the stream's request of the same bytes, on any number of PEs, which may be on
 * several nodes.  On the software device.
 *
 *   pcoll [--tsv] [-n ROUNDS] [-m BYTES]        rounds of each row (21); most
 *
 * host: shmem_double_sum_reduce; stream: a request of shmemx_allreduce_init,
 * started on a queue; one, eight: a partitioned request of so many partitions,
 * started and made ready by the host; kernel: of eight, which a kernel makes
 * ready; all until the PE has the result.  The ratio is the best partitioned one
 * divided by the better of host and stream.  Medians, of the slowest PE; status
 * 1 after an error or wrong data. */
#define _GNU_SOURCE 1
#include "bench.h"

#include <shmem.h>
#include <shmemx_pcoll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EIGHT = 8, ROUNDS_MOST = 1001 };

static int rounds = BENCH_ROUNDS, me, n_pes;
static bool tsv;
static size_t most = 8 << 20;
static double *dest, *source, *times, *slowest;
static shmemx_stream_t stream;
static shmemx_queue_t queue;
static shmemx_req_t req;
static shmemx_prequest_t dev_req;

static void must(int rc, const char *what)
{
    if (!rc)
        return;
    fprintf(stderr, "pcoll: %s: %s\n", what, strerror(rc < 0 ? -rc : rc));
    shmem_global_exit(1);
}

/* ---- the calls that reduce n elements ---- */

static void by_host(size_t n)
{
    shmem_double_sum_reduce(SHMEM_TEAM_WORLD, dest, source, n);
}

static void by_stream(size_t n)
{
    (void)n;
    must(shmemx_enqueue_startall(queue, 1, &req), "a start");
    must(shmemx_req_wait(req), "to wait");
}

static int parts;
static void by_parts(size_t n)
{
    (void)n;
    must(shmemx_req_start(req), "a start");
    must(shmemx_pready_range(req, 0, parts - 1), "ready");
    must(shmemx_req_wait(req), "to wait");
}

static void ready_by_kernel(const shmemx_item_t *it, void *arg)
{
    (void)it;
    (void)arg;
    for (int i = 0; i < EIGHT; i++)
        shmemx_dev_pready_block(&dev_req, i);
}

static void by_kernel(size_t n)
{
    static const shmemx_grid_t grid = { .groups = 1, .items = 1, .phases = 1 };

    (void)n;
    must(shmemx_req_start(req), "a start");
    must(shmemx_stream_launch(stream, &grid, ready_by_kernel, NULL),
         "a launch");
    must(shmemx_req_wait(req), "to wait");
}

/* ---- rows ---- */

static void check(size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (dest[i] != (double)(n_pes * (int)(i % 1000) +
                                n_pes * (n_pes - 1) / 2)) {
            fprintf(stderr, "pcoll: element %zu of %zu is %g\n", i, n,
                    dest[i]);
            shmem_global_exit(1);
        }
    memset(dest, 0, n * sizeof *dest);
    shmem_barrier_all();
}

static double measure_us(void (*reduce)(size_t), size_t n)
{
    for (int r = -2; r < rounds; r++) {
        double start;

        shmem_barrier_all();
        start = bench_now_ns();
        reduce(n);
        times[r < 0 ? 0 : r] = (bench_now_ns() - start) / 1000;
    }
    shmem_double_max_reduce(SHMEM_TEAM_WORLD, slowest, times, (size_t)rounds);
    check(n);
    return bench_median(slowest, rounds);
}

static void make(int partitions, size_t n)
{
    parts = partitions;
    must(shmemx_pallreduce_init(SHMEM_TEAM_WORLD, dest, source, partitions,
                                n / (size_t)partitions, SHMEMX_DOUBLE,
                                SHMEMX_SUM, &req), "a request");
}

static void unmake(void)
{
    must(shmemx_req_free(&req), "to free a request");
    shmem_barrier_all();
}

static double stream_us(size_t n)
{
    double us;

    must(shmemx_allreduce_init(SHMEM_TEAM_WORLD, dest, source, n,
                               SHMEMX_DOUBLE, SHMEMX_SUM, &req), "a request");
    us = measure_us(by_stream, n);
    unmake();
    return us;
}

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

static void row(size_t n)
{
    double host = measure_us(by_host, n), str = stream_us(n), one, eight;
    double kernel;

    make(1, n);
    one = measure_us(by_parts, n);
    unmake();
    make(EIGHT, n);
    eight = measure_us(by_parts, n);
    must(shmemx_prequest_create(req, NULL, 0, &dev_req), "a prequest");
    kernel = measure_us(by_kernel, n);
    must(shmemx_prequest_free(&dev_req), "to free a prequest");
    unmake();
    if (me == 0)
        printf(tsv ? "%zu\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t%.3f\n"
                   : "%-10zu%12.2f%12.2f%12.2f%12.2f%12.2f%9.3f\n",
               n * sizeof *dest, host, str, one, eight, kernel,
               smaller(one, eight) / smaller(host, str));
}

static void usage(void)
{
    fprintf(stderr, "usage: pcoll [--tsv] [-n ROUNDS] [-m BYTES]\n");
    exit(1);
}

static void options(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--tsv"))
            tsv = true;
        else if (!strcmp(argv[i], "-n") && i + 1 < argc)
            rounds = atoi(argv[++i]);
        else if (!strcmp(argv[i], "-m") && i + 1 < argc)
            most = strtoul(argv[++i], NULL, 0);
        else
            usage();
    }
    if (rounds < 1 || rounds > ROUNDS_MOST || most < 64)
        usage();
}

int main(int argc, char **argv)
{
    options(argc, argv);
    shmem_init();
    me = shmem_my_pe();
    n_pes = shmem_n_pes();
    must(shmemx_stream_create(&stream), "SHMEM_DEVICE=software: a stream");
    must(shmemx_queue_create(stream, NULL, 0, &queue), "a queue");
    dest = shmem_calloc(1, most);
    source = shmem_malloc(most);
    times = shmem_calloc(ROUNDS_MOST, sizeof *times);
    slowest = shmem_calloc(ROUNDS_MOST, sizeof *times);
    if (!dest || !source || !times || !slowest)
        must(12, "SHMEM_SYMMETRIC_SIZE");
    for (size_t i = 0; i < most / sizeof *source; i++)
        source[i] = (double)(i % 1000) + me;
    if (me == 0 && !tsv)
        printf("# %-8s%12s%12s%12s%12s%12s%9s\n", "bytes", "host(us)",
               "stream(us)", "one(us)", "eight(us)", "kernel(us)", "ratio");
    for (size_t bytes = 64; bytes <= most; bytes *= 8)
        row(bytes / sizeof *dest);
    if (most & (most - 1) || (size_t)__builtin_ctzl(most) % 3)
        row(most / 64 * 8);     /* the largest one that eight divides */
    must(shmemx_queue_destroy(queue), "the queue");
    must(shmemx_stream_destroy(stream), "the stream");
    shmem_finalize();
    return 0;
}
