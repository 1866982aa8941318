/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: calls of kernels beside the same work by other means, in this
 * run and taking turns: beside plain stores to the same mapping where PE 1 is
 * on this node, beside the host's calls where it is not; and what the ring of
 * requests alone moves.  PE 0 measures, on the software device.
 *
 *   kernel [--tsv] [-n ITERATIONS]      of the small ones in each round
 *
 * The ratios and their targets are those of a kernel's cost beside what it
 * replaces; a missed target changes no exit status. */
#define _GNU_SOURCE 1
#include "bench.h"

#include <errno.h>
#include <shmem.h>
#include <shmemx_dev.h>
#include <shmemx_st.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 512, LARGE = 65536, SMALL = 8, BARRIERS = 200 };

static int iterations = 20000;
static int me;
static bool tsv;
static shmemx_stream_t stream;
static shmemx_dev_t dev;
static uint64_t words[WORDS];
static char dest[LARGE] __attribute__((aligned(4096)));
static char source[LARGE] __attribute__((aligned(4096)));

/* A loop that a kernel makes, and how long it took. */
struct turn {
    void (*loop)(int n);
    int n;
    double ns;                  /* of each */
};

static void must(int rc, const char *what)
{
    if (!rc)
        return;
    fprintf(stderr, "kernel: %s: %s\n", what, strerror(rc < 0 ? -rc : rc));
    shmem_global_exit(1);
}

static void body(const shmemx_item_t *it, void *arg)
{
    struct turn *t = arg;
    double start;

    (void)it;
    t->loop(t->n / 8 + 1);
    start = bench_now_ns();
    t->loop(t->n);
    t->ns = (bench_now_ns() - start) / t->n;
}

/* Nanoseconds of one of n, by a kernel of one item or by the host. */
static double kernel_ns(void (*loop)(int n), int n)
{
    static const shmemx_grid_t grid = { .groups = 1, .items = 1, .phases = 1,
                                        .resident = 1 };
    struct turn t = { loop, n, 0 };

    must(shmemx_stream_launch(stream, &grid, body, &t), "a launch");
    must(shmemx_stream_sync(stream), "a kernel");
    return t.ns;
}

static double host_ns(void (*loop)(int n), int n)
{
    struct turn t = { loop, n, 0 };

    body(NULL, &t);
    return t.ns;
}

/* ---- what is measured ---- */

static void p_loop(int n)
{
    for (int i = 0; i < n; i++)
        shmemx_dev_uint64_p(&dev, &words[i % WORDS], (uint64_t)i, 1);
}

/* The compiler may not merge the stores: a p is a store, too. */
static void store_loop(int n)
{
    uint64_t *to = shmemx_dev_ptr(&dev, words, 1);

    for (int i = 0; i < n; i++)
        bench_store(&to[i % WORDS], (uint64_t)i);
}

static void put_block_loop(int n)
{
    for (int i = 0; i < n; i++)
        shmemx_dev_putmem_block(&dev, dest, source, LARGE, 1);
}

static void memcpy_loop(int n)
{
    char *to = shmemx_dev_ptr(&dev, dest, 1);

    for (int i = 0; i < n; i++) {
        memcpy(to, source, LARGE);
        bench_barrier();
    }
}

/* Requests that the progress thread takes and makes nothing of. */
static void ring_loop(int n)
{
    for (int i = 0; i < n; i++)
        shmemi_dev_push(&dev, SHMEMI_DEV_HEAD(SHMEMI_DEV_NOTHING, 0,
                                              SHMEMI_DEV_CALL_FENCE, 0),
                        -1, NULL, NULL, 0, 0, 0, 0);
    shmemx_dev_quiet(&dev);
}

static void off_node_put_loop(int n)
{
    for (int i = 0; i < n; i++)
        shmemx_dev_putmem_nbi(&dev, dest, source, SMALL, 1);
    shmemx_dev_quiet(&dev);
}

static void host_put_loop(int n)
{
    for (int i = 0; i < n; i++)
        shmem_putmem_nbi(dest, source, SMALL, 1);
    shmem_quiet();
}

static void barrier_loop(int n)
{
    for (int i = 0; i < n; i++)
        shmemx_dev_barrier_all_block(&dev);
}

static void host_barrier_loop(int n)
{
    for (int i = 0; i < n; i++)
        shmem_barrier_all();
}

/* One item makes one store, as kernels do on a GPU. */
static void p_item(const shmemx_item_t *it, void *arg)
{
    (void)arg;
    shmemx_dev_uint64_p(&dev, &words[it->item], it->item, 1);
}

static void store_item(const shmemx_item_t *it, void *arg)
{
    uint64_t *to = arg;

    bench_store(&to[it->item], it->item);
}

static double items_ns(shmemx_kernel_t kernel, int n)
{
    const shmemx_grid_t grid = { .groups = (unsigned)n / WORDS + 1,
                                 .items = WORDS, .phases = 1 };
    double start = bench_now_ns();

    must(shmemx_stream_launch(stream, &grid, kernel,
                              shmemx_dev_ptr(&dev, words, 1)), "a launch");
    must(shmemx_stream_sync(stream), "a kernel");
    return (bench_now_ns() - start) / ((double)grid.groups * WORDS);
}

static double p_items_ns(void (*loop)(int n), int n)
{
    (void)loop;
    return items_ns(p_item, n);
}

static double store_items_ns(void (*loop)(int n), int n)
{
    (void)loop;
    return items_ns(store_item, n);
}

/* ---- rows ---- */

struct method {
    double (*by)(void (*loop)(int n), int n);
    void (*loop)(int n);
};

/* Medians of each and of the ratio of a round. */
static struct bench_pair both(struct method ours, struct method limit, int n)
{
    double a[BENCH_ROUNDS], b[BENCH_ROUNDS], q[BENCH_ROUNDS];

    for (int i = 0; i < BENCH_ROUNDS; i++) {
        a[i] = ours.by(ours.loop, n);
        b[i] = limit.by(limit.loop, n);
        q[i] = a[i] / b[i];
    }
    return (struct bench_pair){
        .ours = bench_median(a, BENCH_ROUNDS),
        .limit = bench_median(b, BENCH_ROUNDS),
        .ratio = bench_median(q, BENCH_ROUNDS)
    };
}

static void show(const char *name, struct bench_pair p, double target)
{
    const struct bench_row row = {
        .name = name, .unit = "ns", .ours = p.ours, .limit = p.limit,
        .ratio = p.ratio, .target_ratio = target
    };

    if (me == 0)
        bench_print(&row);
}

static const struct method by_p_items = { p_items_ns, NULL };
static const struct method by_store_items = { store_items_ns, NULL };
static const struct method by_p = { kernel_ns, p_loop };
static const struct method by_store = { kernel_ns, store_loop };
static const struct method by_block = { kernel_ns, put_block_loop };
static const struct method by_memcpy = { kernel_ns, memcpy_loop };
static const struct method by_request = { kernel_ns, off_node_put_loop };
static const struct method by_host = { host_ns, host_put_loop };
static const struct method by_barrier = { kernel_ns, barrier_loop };
static const struct method by_host_barrier = { host_ns, host_barrier_loop };

/* PE 1 is mapped. */
static void on_node(void)
{
    int large = iterations / 100 + 1;

    if (me == 0) {
        show("p / plain store, one per item",
             both(by_p_items, by_store_items, 20 * iterations), 2);
        show("p / plain store, in a loop", both(by_p, by_store, iterations),
             2);
        show("putmem_block 64 KiB / memcpy", both(by_block, by_memcpy, large),
             1.11);
    }
    shmem_barrier_all();
}

static void off_node(void)
{
    if (me == 0)
        show("off-node 8 B put / the host's",
             both(by_request, by_host, iterations / 4 + 1), 1.15);
    shmem_barrier_all();
}

static void ring_alone(void)
{
    double ns[BENCH_ROUNDS];
    struct bench_row row = { .name = "ring, empty requests", .unit = "M/s",
                             .target = 5 };

    if (me == 0) {
        for (int i = 0; i < BENCH_ROUNDS; i++)
            ns[i] = kernel_ns(ring_loop, iterations);
        row.ours = 1e3 / bench_median(ns, BENCH_ROUNDS);
        bench_print(&row);
    }
    shmem_barrier_all();
}

static void options(int argc, char **argv)
{
    bench_open(argc, argv);
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "-n") && i + 1 < argc &&
            (iterations = atoi(argv[++i])) > 0)
            continue;
        if (!strcmp(argv[i], "--tsv"))
            tsv = true;
        else
            must(EINVAL, "usage: kernel [--tsv] [-n ITERATIONS]");
    }
}

int main(int argc, char **argv)
{
    shmem_init();
    me = shmem_my_pe();
    options(argc, argv);
    if (shmem_n_pes() != 2)
        must(EINVAL, "the job needs 2 PEs");
    must(shmemx_stream_create(&stream), "a stream (SHMEM_DEVICE=software)");
    must(shmemx_dev_get(SHMEM_DEVICE_CTX_DEFAULT, &dev), "shmemx_dev_get");
    if (!dev.host)
        must(ENODEV, "C kernels want SHMEM_DEVICE=software");
    memset(source, 1, sizeof source);
    if (me == 0 && !tsv)
        printf("# %-32s %4s %10s %10s %7s  %s\n", "kernel / other means",
               "unit", "kernel", "other", "ratio", "target");
    if (shmemx_dev_ptr(&dev, dest, 1 - me))
        on_node();
    else
        off_node();
    ring_alone();
    show("barrier_all_block / the host's",
         both(by_barrier, by_host_barrier, BARRIERS), 2);
    must(shmemx_stream_destroy(stream), "the end of a stream");
    shmem_finalize();
    return 0;
}
