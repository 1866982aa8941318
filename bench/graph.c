/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a step of so many puts with their signals, and waits for as
 * many of the other PE's, recorded once and launched, beside the same enqueued
 * each time: what the host needs for a step, and what a step takes.  Two PEs;
 * with --ppn 1 they are far.
 *
 *   graph [--tsv] [-n STEPS] [-p PUTS] [-b BYTES] [-e]
 *
 * -e: waits are of epochs, which the progress thread repeats; else they set
 * their signal back. */
#define _GNU_SOURCE 1
#include "bench.h"

#include <shmem.h>
#include <shmemx_st.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 1024, WARM = 20, REPEATS = 5 };

static long steps = 300, transfers = 64, bytes = 8;
static bool epochs;
static char *from, *to;
static uint64_t *came, *went;
static shmemx_epoch_t epoch[MOST];
static shmemx_stream_t s;
static shmemx_graph_t graph;
static int other;

static void must(int rc, const char *what)
{
    if (!rc)
        return;
    fprintf(stderr, "graph: %s: %s\n", what, strerror(-rc));
    shmem_global_exit(1);
}

/* Both PEs have read what came before the next step stores there. */
static void step(void)
{
    must(shmemx_signal_add_on_stream(went, 1, other, s), "signal");
    must(shmemx_signal_wait_reset_on_stream(went, SHMEM_CMP_GE, 1, s), "wait");
    for (long i = 0; i < transfers; i++)
        must(shmemx_putmem_signal_on_stream(to + i * bytes, from + i * bytes,
                                            (size_t)bytes, &came[i], 1,
                                            SHMEM_SIGNAL_ADD, other, s), "put");
    for (long i = 0; i < transfers; i++)
        must(epochs ? shmemx_epoch_wait_on_stream(epoch[i], 1, s)
                    : shmemx_signal_wait_reset_on_stream(&came[i],
                                                         SHMEM_CMP_GE, 1, s),
             "wait");
}

static void launch(void)
{
    must(shmemx_graph_launch(graph, s), "launch");
}

struct times {
    double host, whole;         /* ns for a step */
};

/* Several steps lie in the stream at a time, as in a program. */
static struct times measure(void (*once)(void))
{
    struct times t = { 0, 0 };
    double start, begun;

    shmem_barrier_all();
    start = bench_now_ns();
    for (long n = 0; n < steps; n++) {
        begun = bench_now_ns();
        once();
        t.host += bench_now_ns() - begun;
        if (n % 8 == 7)
            must(shmemx_stream_sync(s), "sync");
    }
    must(shmemx_stream_sync(s), "sync");
    t.whole = (bench_now_ns() - start) / (double)steps;
    t.host /= (double)steps;
    return t;
}

static void show(const char *name, double ours, double base)
{
    struct bench_row row = {
        .name = name, .unit = "us", .ours = ours / 1e3, .limit = base / 1e3
    };

    bench_print(&row);
}

static void compare(void)
{
    double host[2][REPEATS], whole[2][REPEATS];
    struct times t;

    for (int i = 0; i < REPEATS; i++)
        for (int k = 0; k < 2; k++) {
            t = measure(k ? launch : step);
            host[k][i] = t.host;
            whole[k][i] = t.whole;
        }
    if (shmem_my_pe())
        return;
    show("host, a launch | enqueued", bench_median(host[1], REPEATS),
         bench_median(host[0], REPEATS));
    show("a step, launched | enqueued", bench_median(whole[1], REPEATS),
         bench_median(whole[0], REPEATS));
}

static int options(int argc, char **argv)
{
    int c;

    bench_open(argc, argv);
    optind = 1 + (argc > 1 && !strcmp(argv[1], "--tsv"));
    while ((c = getopt(argc, argv, "n:p:b:e")) != -1)
        if (c == 'n')
            steps = atol(optarg);
        else if (c == 'p')
            transfers = atol(optarg);
        else if (c == 'b')
            bytes = atol(optarg);
        else
            epochs = c == 'e';
    return steps > 0 && transfers > 0 && transfers <= MOST && bytes > 0 &&
           optind == argc ? 0 : 2;
}

static void make_epochs(void)
{
    for (long i = 0; i < transfers && epochs; i++)
        must(shmemx_epoch_create(&came[i], &epoch[i]), "epoch");
}

int main(int argc, char **argv)
{
    if (options(argc, argv)) {
        fprintf(stderr, "usage: graph [--tsv] [-n STEPS] [-p PUTS] "
                        "[-b BYTES] [-e]\n");
        return 2;
    }
    shmem_init();
    from = shmem_calloc((size_t)transfers, (size_t)bytes);
    to = shmem_calloc((size_t)transfers, (size_t)bytes);
    came = shmem_calloc((size_t)transfers + 1, sizeof *came);
    if (shmem_n_pes() != 2 || !from || !to || !came ||
        shmemx_stream_create(&s))
        shmem_global_exit(77);
    went = came + transfers;
    other = 1 - shmem_my_pe();
    make_epochs();
    shmem_barrier_all();
    for (int i = 0; i < WARM; i++)
        step();
    must(shmemx_stream_capture_begin(s), "capture_begin");
    step();
    must(shmemx_stream_capture_end(s, &graph), "capture_end");
    compare();
    shmem_barrier_all();
    must(shmemx_graph_destroy(graph), "graph_destroy");
    must(shmemx_stream_destroy(s), "stream_destroy");
    shmem_free(came);
    shmem_free(to);
    shmem_free(from);
    shmem_finalize();
    return 0;
}
