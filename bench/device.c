/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: puts between host and device memory on one node beside those
 * between host memories, and beside the device table's own copy of the same
 * bytes; reductions there; all in this run and taking turns.  2 PEs; PE 0
 * measures what one can. */
#include "bench.h"

#include "core/core_device.h"

#include <shmem.h>
#include <shmem_space.h>
#include <stdio.h>
#include <string.h>

#define LARGEST ((size_t)4 << 20)
enum { PARTS = 3 };

enum place { HOST, DEVICE, PLACES };
static const char letter[PLACES] = { 'H', 'D' };
static char *dest[PLACES], *source[PLACES];

struct form {
    enum place from, to;
    size_t size;
    char *mapped;                     /* dest at PE 1, as the device sees it */
    size_t at;                      /* in all buffers */
};

static void put(const char *from, char *to, size_t size, int iters)
{
    for (int i = 0; i < iters; i++) {
        shmem_putmem(to, from, size, 1);
        shmem_quiet();
    }
}

static void one_pass(void *arg, int iters)
{
    const struct form *w = arg;

    put(source[w->from] + w->at, dest[w->to] + w->at, w->size, iters);
}

static void in_host_memory(void *arg, int iters)
{
    const struct form *w = arg;

    put(source[HOST] + w->at, dest[HOST] + w->at, w->size, iters);
}

static void stream_of_puts(void *arg, int iters)
{
    const struct form *w = arg;

    for (int i = 0; i < iters; i++)
        shmem_putmem_nbi(dest[w->to] + w->at, source[w->from] + w->at,
                         w->size, 1);
    shmem_quiet();
}

static void stream_in_host_memory(void *arg, int iters)
{
    const struct form *w = arg;

    for (int i = 0; i < iters; i++)
        shmem_putmem_nbi(dest[HOST] + w->at, source[HOST] + w->at, w->size, 1);
    shmem_quiet();
}

static void raw_copies(void *arg, int iters)
{
    const struct form *w = arg;

    for (int i = 0; i < iters; i++)
        gtl_copy_now(w->mapped + w->at, source[w->from] + w->at, w->size);
}

/* How often in a round. */
static int turns_of(size_t size)
{
    return size < 65536 ? 200 : (int)(((size_t)8 << 20) / size);
}

/* In several parts of the buffers: how their pages share the caches differs by
 * a third from one to the next, and shall decide nothing. */
static struct bench_pair median_of(struct form *w, bench_loop *ours,
                                   bench_loop *limit)
{
    double a[PARTS], b[PARTS], q[PARTS];
    struct bench_pair p;

    for (size_t i = 0; i < PARTS; i++) {
        w->at = w->size < LARGEST ? i * (LARGEST / PARTS / 4096 * 4096) : 0;
        p = bench_both(ours, limit, w, turns_of(w->size));
        a[i] = p.ours;
        b[i] = p.limit;
        q[i] = p.ratio;
    }
    p.ours = bench_median(a, PARTS);
    p.limit = bench_median(b, PARTS);
    p.ratio = bench_median(q, PARTS);
    return p;
}

static __attribute__((format(printf, 1, 0)))
void show(const char *what, const struct form *w, bench_loop *ours,
          bench_loop *limit, double target)
{
    struct form form = *w;
    struct bench_pair p = median_of(&form, ours, limit);
    struct bench_row row = {
        .unit = "ns", .ours = p.ours, .limit = p.limit, .ratio = p.ratio,
        .target_ratio = target
    };
    char name[64];

    snprintf(name, sizeof name, what, letter[w->from], letter[w->to],
             w->size);
    row.name = name;
    bench_print(&row);
}

/* The table's figures for H-H say how far two turns of the same differ. */
static void puts_of(size_t size)
{
    for (int k = 0; k < 4; k++) {
        struct form w = { (enum place)(k / 2), (enum place)(k % 2), size,
                         NULL, 0 };
        double target = size >= 4096 && k ? 1.1 : 0;

        w.mapped = (char *)core_device_address(1, dest[w.to]);
        show("put %c-%c %zu B, of H-H", &w, one_pass, in_host_memory, target);
        show("puts %c-%c %zu B, of H-H", &w, stream_of_puts,
             stream_in_host_memory, target);
        if (k)
            show("put %c-%c %zu B, of raw", &w, one_pass, raw_copies, 1.1);
    }
}

/* ---- whose memory it is ---- */

static void find_segment(void *arg, int iters)
{
    int sum = 0;

    (void)arg;
    for (int i = 0; i < iters; i++) {
        sum += heap_find(dest[i & 1] + i, 8);
        bench_barrier();
    }
    bench_store(source[HOST], (uint64_t)sum);
}

static void query_device_only(void *arg, int iters)
{
    int sum = 0;

    (void)arg;
    for (int i = 0; i < iters; i++)
        sum += core_is_device_only(dest[i & 1] + i);
    bench_store(source[HOST], (uint64_t)sum);
}

static void classify(const char *name, bench_loop *loop)
{
    struct bench_row row = {
        .name = name, .unit = "ns", .target = 5,
        .ours = bench_one(loop, NULL, 100000)
    };

    bench_print(&row);
}

/* ---- reductions: both PEs ---- */

static void reductions(void *arg, int iters)
{
    const struct form *w = arg;

    for (int i = 0; i < iters; i++)
        shmem_float_sum_reduce(
            SHMEM_TEAM_WORLD, (float *)(void *)(dest[w->to] + w->at),
            (const float *)(const void *)(source[w->from] + w->at),
            w->size / sizeof(float));
}

static void reductions_in_host_memory(void *arg, int iters)
{
    struct form w = *(const struct form *)arg;

    w.from = w.to = HOST;
    reductions(&w, iters);
}

static void reduce_of(size_t size, int me)
{
    struct form w = { DEVICE, DEVICE, size, NULL, 0 };

    if (me == 0)
        show("reduce %c-%c %zu B, of H-H", &w, reductions,
             reductions_in_host_memory, 0);
    else
        median_of(&w, reductions, reductions_in_host_memory);
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = { 8, 512, 4096, 65536, 1 << 20, LARGEST };
    int me;

    bench_open(argc, argv);
    shmem_init();
    me = shmem_my_pe();
    bench_pin(me);
    for (int p = 0; p < PLACES; p++) {
        dest[p] = shmem_space_malloc(p ? SHMEM_SPACE_GPU : SHMEM_SPACE_CPU,
                                     LARGEST);
        source[p] = shmem_space_malloc(p ? SHMEM_SPACE_GPU : SHMEM_SPACE_CPU,
                                       LARGEST);
        if (!dest[p] || !source[p])
            shmem_global_exit(77);
        shmem_putmem(source[p], source[HOST], LARGEST, me);
        shmem_putmem(dest[p], source[HOST], LARGEST, me);
    }
    shmem_barrier_all();
    if (me == 0) {
        for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++)
            puts_of(sizes[i]);
        classify("segment of a symmetric address", find_segment);
        classify("is it device-only?", query_device_only);
    }
    shmem_barrier_all();
    for (unsigned i = 1; i < sizeof sizes / sizeof *sizes; i++)
        reduce_of(sizes[i], me);
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
