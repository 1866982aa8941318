/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: what a call on a stream takes, one by one, while nothing else is
 * under way and while the progress thread moves 64 MiB of another stream's to
 * PE 1: the median, the 99.9th percentile and the worst.  The calls take turns
 * between two streams.  PE 0 measures; with --ppn 1 PE 1 is far.
 *
 *   enqueue [--tsv] [-n CALLS] */
#define _GNU_SOURCE 1
#include "bench.h"

#include <sched.h>
#include <shmem.h>
#include <shmemx_st.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LARGE = 64 << 20, BATCH = 64, BLOCK = 32 };

static long calls = 20000;
static char *large, *source;
static long word[2], value = 7;
static shmemx_stream_t mover, streams[2];

static void must(int rc, const char *what)
{
    if (!rc)
        return;
    fprintf(stderr, "enqueue: %s: %s\n", what, strerror(-rc));
    shmem_global_exit(1);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void show(const char *name, double us, double target)
{
    struct bench_row row = {
        .name = name, .unit = "us", .ours = us, .target = target
    };

    bench_print(&row);
}

static void none(void)
{
}

static void put(void)
{
    must(shmemx_putmem_nbi_on_stream(large, source, LARGE, 1, mover), "put");
}

static void blocks(void)
{
    must(shmemx_ibput8_on_stream(large, source, 2 * BLOCK, 2 * BLOCK, BLOCK,
                                 LARGE / (2 * BLOCK), 1, mover), "ibput");
}

static void sync_both(void)
{
    for (int i = 0; i < 2; i++) {
        must(shmemx_quiet_on_stream(streams[i]), "quiet");
        must(shmemx_stream_sync(streams[i]), "stream_sync");
    }
}

static void measure(const char *what, void (*begin)(void), double *us)
{
    char name[64];

    sync_both();
    for (long n = 0; n < calls; n++) {
        double start;

        if (n % BATCH == 0) {
            sync_both();
            if (!shmemx_stream_query(mover))
                begin();
        }
        start = bench_now_ns();
        must(shmemx_long_put_nbi_on_stream(&word[n % 2], &value, 1, 1,
                                           streams[n % 2]), "long_put");
        us[n] = (bench_now_ns() - start) / 1e3;
    }
    must(shmemx_quiet_on_stream(mover), "quiet");
    must(shmemx_stream_sync(mover), "stream_sync");
    sync_both();
    qsort(us, (size_t)calls, sizeof *us, by_value);
    snprintf(name, sizeof name, "%s, median", what);
    show(name, us[calls / 2], 0);
    snprintf(name, sizeof name, "%s, 99.9 %%", what);
    show(name, us[calls - 1 - calls / 1000], 20);
    snprintf(name, sizeof name, "%s, worst", what);
    show(name, us[calls - 1], 0);
}

static int options(int argc, char **argv)
{
    int c;

    bench_open(argc, argv);
    optind = 1 + (argc > 1 && !strcmp(argv[1], "--tsv"));
    while ((c = getopt(argc, argv, "n:")) != -1)
        calls = c == 'n' ? atol(optarg) : 0;
    return calls > 0 && optind == argc ? 0 : 2;
}

int main(int argc, char **argv)
{
    double *us;

    if (options(argc, argv)) {
        fprintf(stderr, "usage: enqueue [--tsv] [-n CALLS]\n");
        return 2;
    }
    shmem_init();
    large = shmem_malloc(LARGE);
    source = malloc(LARGE);
    us = malloc((size_t)calls * sizeof *us);
    if (shmem_n_pes() < 2 || !large || !source || !us ||
        shmemx_stream_create(&mover))
        shmem_global_exit(77);
    memset(source, 1, LARGE);
    for (int i = 0; i < 2; i++)
        must(shmemx_stream_create(&streams[i]), "stream_create");
    shmem_barrier_all();
    if (shmem_my_pe() == 0) {
        measure("a call, nothing else", none, us);
        measure("a call beside a put of 64 MiB", put, us);
        measure("a call beside an ibput of 64 MiB", blocks, us);
    }
    shmem_barrier_all();
    for (int i = 0; i < 2; i++)
        must(shmemx_stream_destroy(streams[i]), "stream_destroy");
    must(shmemx_stream_destroy(mover), "stream_destroy");
    shmem_free(large);
    free(source);
    free(us);
    shmem_finalize();
    return 0;
}
