/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: the calls that ofi_raw measures without the library, under the
 * same names, and a few more.  PE 0 measures, PE 1 waits inside the library; more PEs
 * only take part in the collective calls.
 *
 *   net [--tsv] [-i ITERATIONS]     the rows, then the collective calls
 *   net [--tsv] -b                  these alone
 *   net [--tsv] -n CONTEXTS         time and memory of that many contexts */
#define _GNU_SOURCE 1
#include "bench.h"

#include <shmem.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PIPE = 64, WINDOW = 8, LARGE = 1 << 20, SMALL = 64 };

static uint64_t ball, phase, counter, word;     /* symmetric */
static long sum, part;
static char (*block)[LARGE];
static char (*mine)[LARGE];
static int iterations = 500, contexts;
static bool barrier_only;

/* --------------------------------------------------------------- loops ---- */

static void puts_quiet(void *arg, int iters)
{
    (void)arg;
    for (int i = 0; i < iters; i++) {
        shmem_putmem(block, mine, 8, 1);
        shmem_quiet();
    }
}

static void gets(void *arg, int iters)
{
    (void)arg;
    for (int i = 0; i < iters; i++)
        shmem_getmem(mine, block, 8, 1);
}

static void fetch_adds(void *arg, int iters)
{
    (void)arg;
    for (int i = 0; i < iters; i++)
        word = shmem_uint64_atomic_fetch_add(&counter, 1, 1);
}

static void pipe_puts(void *arg, int iters)
{
    (void)arg;
    for (int i = 0; i < iters; i++) {
        shmem_putmem_nbi(block[0] + (size_t)(i % PIPE) * 8, mine, 8, 1);
        if (i % PIPE == PIPE - 1)
            shmem_quiet();
    }
    shmem_quiet();
}

static void large_puts(void *arg, int iters)
{
    (void)arg;
    for (int i = 0; i < iters; i++) {
        shmem_putmem_nbi(block[i % WINDOW], mine[i % WINDOW], LARGE, 1);
        if (i % WINDOW == WINDOW - 1)
            shmem_quiet();
    }
    shmem_quiet();
}

static void large_gets(void *arg, int iters)
{
    (void)arg;
    for (int i = 0; i < iters; i++) {
        shmem_getmem_nbi(mine[i % WINDOW], block[i % WINDOW], LARGE, 1);
        if (i % WINDOW == WINDOW - 1)
            shmem_quiet();
    }
    shmem_quiet();
}

/* How a ball is passed. */
typedef void pass_call(int pe, uint64_t n);

static void pass_word(int pe, uint64_t n)
{
    shmem_uint64_p(&ball, n, pe);
}

static void pass_signal(int pe, uint64_t n)
{
    shmem_putmem_signal(block, mine, SMALL, &ball, n, SHMEM_SIGNAL_SET, pe);
}

static void pass_fenced(int pe, uint64_t n)
{
    shmem_putmem(block, mine, SMALL, pe);
    shmem_fence();
    shmem_uint64_p(&ball, n, pe);
}

/* An iteration is a pass in one direction. */
static void passes(void *arg, int iters)
{
    pass_call *const *pass = arg;
    static uint64_t n;

    for (int i = 0; i < iters; i += 2) {
        (*pass)(1, ++n);
        shmem_uint64_wait_until(&ball, SHMEM_CMP_EQ, n);
    }
}

static void sums(void *arg, int iters)
{
    (void)arg;
    for (int i = 0; i < iters; i++)
        shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &sum, &part, 1);
}

static void barriers(void *arg, int iters)
{
    (void)arg;
    for (int i = 0; i < iters; i++)
        shmem_barrier_all();
}

/* ------------------------------------------------------------ the rows ---- */

static struct {
    const char *name;
    bench_loop *loop;
    int iters;                      /* 0: as the option says, -1: twice that */
    pass_call *pass;
} rows[] = {
    { "8 B put + quiet", puts_quiet, 0, NULL },
    { "8 B get", gets, 0, NULL },
    { "8 B fetch-add", fetch_adds, 0, NULL },
    { "8 B put, 64 to a quiet", pipe_puts, 8 * PIPE, NULL },
    { "8 B one way, polled", passes, -1, pass_word },
    { "64 B put with signal, one way", passes, -1, pass_signal },
    { "64 B put, fence, flag, one way", passes, -1, pass_fenced },
    { "1 MiB put, 8 to a quiet", large_puts, 4 * WINDOW, NULL },
    { "1 MiB get, 8 to a quiet", large_gets, 4 * WINDOW, NULL },
};

static int iters_of(size_t row)
{
    return rows[row].iters > 0 ? rows[row].iters
         : rows[row].iters < 0 ? 2 * iterations : iterations;
}

static void measure(void)
{
    struct bench_row row = { .unit = "ns" };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        row.name = rows[i].name;
        row.ours = bench_one(rows[i].loop, &rows[i].pass, iters_of(i));
        bench_print(&row);
    }
    shmem_uint64_p(&phase, 1, 1);
}

/* PE 1: returns each ball of all rounds, then waits. */
static void answer(void)
{
    uint64_t n = 1, balls = 0;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!rows[i].pass)
            continue;
        balls += (uint64_t)((iters_of(i) + 1) / 2) * (BENCH_ROUNDS + 1);
        for (; n <= balls; n++) {
            shmem_uint64_wait_until(&ball, SHMEM_CMP_EQ, n);
            rows[i].pass(0, n);
        }
    }
    shmem_uint64_wait_until(&phase, SHMEM_CMP_EQ, 1);
}

/* All PEs loop as often; only PE 0's clock counts. */
static void together(const char *what, bench_loop *loop)
{
    struct bench_row row = { .unit = "ns" };
    char name[40];

    snprintf(name, sizeof name, "%s, %d PEs", what, shmem_n_pes());
    row.name = name;
    row.ours = bench_one(loop, NULL, iterations);
    if (shmem_my_pe() == 0)
        bench_print(&row);
}

static double resident_kib(void)
{
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");

    if (f) {
        if (fscanf(f, "%*d %ld", &pages) != 1)
            pages = 0;
        fclose(f);
    }
    return (double)pages * (double)sysconf(_SC_PAGESIZE) / 1024;
}

/* Each is used once, so that what is set up late counts. */
static void make_contexts(void)
{
    shmem_ctx_t *ctx = calloc((size_t)contexts, sizeof *ctx);
    struct bench_row row = { 0 };
    double start = bench_now_ns(), before = resident_kib();
    char name[64];
    int n = 0, partner = shmem_n_pes() > 1 ? 1 : 0;

    if (!ctx)
        shmem_global_exit(1);
    while (n < contexts && shmem_ctx_create(0, &ctx[n]) == 0)
        n++;
    row.ours = n ? (bench_now_ns() - start) / n : 0;
    snprintf(name, sizeof name, "context, of %d made", n);
    row.name = name;
    row.unit = "ns";
    bench_print(&row);
    start = bench_now_ns();
    for (int i = 0; i < n; i++) {
        shmem_ctx_uint64_p(ctx[i], &word, (uint64_t)i, partner);
        shmem_ctx_quiet(ctx[i]);
    }
    row.ours = n ? (bench_now_ns() - start) / n : 0;
    row.name = "context, first put + quiet";
    bench_print(&row);
    row.ours = n ? (resident_kib() - before) / n : 0;
    row.name = "context, memory";
    row.unit = "KiB";
    bench_print(&row);
    for (int i = 0; i < n; i++)
        shmem_ctx_destroy(ctx[i]);
    free(ctx);
}

static int options(int argc, char **argv)
{
    int c;

    bench_open(argc, argv);
    optind = 1 + (argc > 1 && !strcmp(argv[1], "--tsv"));
    while ((c = getopt(argc, argv, "i:n:b")) != -1) {
        switch (c) {
        case 'i': iterations = atoi(optarg); break;
        case 'n': contexts = atoi(optarg); break;
        case 'b': barrier_only = true; break;
        default: return 2;
        }
    }
    return iterations > 0 && contexts >= 0 && optind == argc ? 0 : 2;
}

int main(int argc, char **argv)
{
    int me;

    if (options(argc, argv)) {
        fprintf(stderr, "usage: net [--tsv] [-i ITERATIONS] [-b] "
                "[-n CONTEXTS]\n");
        return 2;
    }
    shmem_init();
    me = shmem_my_pe();
    block = shmem_align(4096, sizeof *block * WINDOW);
    mine = shmem_align(4096, sizeof *mine * WINDOW);
    if (!block || !mine)
        shmem_global_exit(1);
    memset(block, 0, sizeof *block * WINDOW);
    memset(mine, 0, sizeof *mine * WINDOW);
    shmem_barrier_all();
    if (contexts) {
        if (me == 0)
            make_contexts();
    } else {
        if (!barrier_only && shmem_n_pes() > 1 && me == 0)
            measure();
        else if (!barrier_only && me == 1)
            answer();
        shmem_barrier_all();
        together("barrier_all", barriers);
        together("8 B sum_reduce", sums);
    }
    shmem_finalize();
    return 0;
}
