/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: calls of kernels beside the same work by other means, in this
 * run and taking turns: beside plain stores to the same mapping where PE 1 is
 * on this node, beside the host's calls where it is not; and what the ring of
 * requests alone moves.  PE 0 measures, on the software device.
 *
 *   kernel [--tsv] [-n ITERATIONS]      of the small ones in each round
 *
 * The ratios and their targets are those of a kernel's cost beside what it
 * stands in for; a target that is missed changes no exit status. */
#define _GNU_SOURCE 1
#include "bench.h"

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
    fprintf(stderr, "kernel: %s: %s\n", what, strerror(-rc));
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

static void far_put_loop(int n)
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

/* ---- rows ---- */

struct way {
    double (*by)(void (*loop)(int n), int n);
    void (*loop)(int n);
};

/* Medians of each and of the ratio of a round. */
static struct bench_pair both(struct way ours, struct way limit, int n)
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

