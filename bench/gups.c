/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: atomic updates of random words of a table over all PEs, made by
 * the host, by the host between steps of a device, by the device's stream, and
 * by kernels.
 *
 *   gups [-m BITS] [-n UPDATES] [-b BATCH] [-x MODE] [-d H|D]
 *
 * The table has 2^BITS words (2^16) in host or device memory, UPDATES are
 * those of all PEs (4 for each word).  An update is T[a] ^= a, a being the
 * next number of a shift register of 64 bits; at most BATCH (1024, at most
 * that) are under way.  Modes:
 *   host    atomic_xor, a quiet after each batch
 *   nbi     atomic_fetch_xor_nbi, likewise
 *   driven  a step of the device, the host's wait for it, the batch by the
 *           host as above
 *   stream  the same steps and batches in the order of a stream; the host
 *           waits in the end
 *   queue   likewise, but T[a] += a, each batch of a queue, with one start
 *   kernel  one kernel for all updates, which its items make by calls of their
 *           own: each has a part of them, and a quiet after its part of a
 *           batch
 *   A       each of these (default)
 * Then the host's atomics take all back, and what is not as before counts as
 * an error.  Status 0, 1 after errors or a wrong argument. */
#define _GNU_SOURCE 1
#include "bench.h"
#include "gups.inc"

#include "../apps/bucketsort/dev_gpu.h"

#include <errno.h>
#include <shmem.h>
#include <shmem_space.h>
#include <shmemx_st.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    MOST_BATCH = 1024, WORK = 8,
    GROUPS = 2, ITEMS = 4, GPU_GROUPS = 8, GPU_ITEMS = 128
};

static struct {
    int me, n_pes;
    int bits;
    long long updates;              /* of all PEs; -1: the default */
    int batch;
    const char *mode;
    bool device;                    /* the table lies there */
} run = { .bits = 16, .updates = -1, .batch = MOST_BATCH, .mode = "A" };

static uint64_t *table;             /* this PE's words, as on all PEs */
static uint64_t words;              /* of each PE */
static uint64_t *results;           /* of a batch */
static shmemx_stream_t stream;      /* NULL: there is no device */
static shmemx_queue_t queue;
static char *step_word;
static shmemx_device_info_t device;
static struct updates updates;      /* of the kernel */

KI_TEXT(gups, KI_TEXT_FILE, KI_PTX_FILE);
static const char *const kernel_name = "bench_update";
static struct dev_gpu gpu = {
    .names = &kernel_name, .count = 1, .otherwise = "SHMEM_DEVICE=software"
};
static bool kernel_runs;

static int bad(const char *what, const char *text, const char *wanted)
{
    if (run.me == 0)
        fprintf(stderr, "gups: %s %s: %s\n", what, text, wanted);
    return 1;
}

/* ---- one batch, by each of the modes ---- */

static void notified(int rc)
{
    if (!rc)
        return;
    fprintf(stderr, "gups: PE %d: a call on a stream of this device (%s) gave "
            "%d: %s\n", run.me, device.driver, rc, strerror(-rc));
    shmem_global_exit(1);
}

static uint64_t *word_of(uint64_t a, int *pe)
{
    uint64_t i = a & ((UINT64_C(1) << run.bits) - 1);

    *pe = (int)(i / words);
    return &table[i % words];
}

static void host_batch(const uint64_t *a, int n)
{
    uint64_t *at;
    int pe;

    for (int i = 0; i < n; i++) {
        at = word_of(a[i], &pe);
        shmem_uint64_atomic_xor(at, a[i], pe);
    }
    shmem_quiet();
}

static void nbi_batch(const uint64_t *a, int n)
{
    uint64_t *at;
    int pe;

    for (int i = 0; i < n; i++) {
        at = word_of(a[i], &pe);
        shmem_uint64_atomic_fetch_xor_nbi(&results[i], at, a[i], pe);
    }
    shmem_quiet();
}

/* What stands for a kernel. */
static void step(void)
{
    notified(shmemx_stream_fill(stream, step_word, 1, WORK));
}

static void driven_batch(const uint64_t *a, int n)
{
    step();
    notified(shmemx_stream_sync(stream));
    host_batch(a, n);
}

static void stream_batch(const uint64_t *a, int n)
{
    uint64_t *at;
    int pe;

    step();
    for (int i = 0; i < n; i++) {
        at = word_of(a[i], &pe);
        notified(shmemx_uint64_atomic_xor_on_stream(at, a[i], pe, stream));
    }
    notified(shmemx_quiet_on_stream(stream));
}

static void queue_batch(const uint64_t *a, int n)
{
    uint64_t *at;
    int pe;

    step();
    for (int i = 0; i < n; i++) {
        at = word_of(a[i], &pe);
        notified(shmemx_enqueue_atomic_add_uint64(queue, at, a[i], pe, NULL));
    }
    notified(shmemx_enqueue_start(queue));
    notified(shmemx_enqueue_wait(queue));
}

/* The host takes back what queue_batch does. */
static void back_batch(const uint64_t *a, int n)
{
    uint64_t *at;
    int pe;

    for (int i = 0; i < n; i++) {
        at = word_of(a[i], &pe);
        shmem_uint64_atomic_add(at, -a[i], pe);
    }
    shmem_quiet();
}

static const struct mode {
    const char *name;
    void (*batch)(const uint64_t *a, int n);    /* NULL: by one kernel */
    void (*back)(const uint64_t *a, int n);
    bool on_device, on_stream;
} modes[] = {
    { "host", host_batch, host_batch, false, false },
    { "nbi", nbi_batch, host_batch, false, false },
    { "driven", driven_batch, host_batch, true, false },
    { "stream", stream_batch, host_batch, true, true },
    { "queue", queue_batch, back_batch, true, true },
    { "kernel", NULL, host_batch, true, false },
};
enum { MODES = sizeof modes / sizeof *modes };

/* ---- all updates of this PE ---- */

/* Numbers [from, from + n) of the register. */
struct part {
    long long from, n;
};

static struct part part_of(struct part of, long long i, long long parts)
{
    long long from = of.n * i / parts;

    return (struct part){ of.from + from, of.n * (i + 1) / parts - from };
}

static void kernel(const shmemx_item_t *it, void *arg)
{
    const struct coord s = { it->group, it->item, it->groups, it->items };

    update(arg, &s);
}

static bool is_gpu(void)
{
    return strcmp(device.driver, "host") != 0;
}

static void by_kernel(struct part p)
{
    shmemx_grid_t grid = { .groups = GROUPS, .items = ITEMS, .phases = 1 };

    updates.from = (word64)p.from;
    updates.n = (word64)p.n;
    if (!is_gpu()) {
        notified(shmemx_stream_launch(stream, &grid, kernel, &updates));
    } else if (dev_gpu_launch(&gpu, 0, GPU_GROUPS, GPU_ITEMS, &updates,
                              stream)) {
        fprintf(stderr, "gups: PE %d: the kernel: %s\n", run.me, gpu.said);
        shmem_global_exit(1);
    }
    notified(shmemx_stream_sync(stream));
}

static void by_host(void (*batch)(const uint64_t *a, int n), struct part p)
{
    static uint64_t a[MOST_BATCH];
    uint64_t x = gups_number_at((uint64_t)p.from);
    int n;

    for (; p.n > 0; p.n -= n) {
        n = p.n < run.batch ? (int)p.n : run.batch;
        for (int i = 0; i < n; i++)
            a[i] = x = gups_next(x);
        batch(a, n);
    }
    if (stream)
        notified(shmemx_stream_sync(stream));
}

static void all_batches(void (*batch)(const uint64_t *a, int n))
{
    struct part p = part_of((struct part){ 0, run.updates }, run.me, run.n_pes);

    if (batch)
        by_host(batch, p);
    else
        by_kernel(p);
    shmem_barrier_all();
}

/* ---- what is measured ---- */

static void load(uint64_t *to, const uint64_t *from, size_t n)
{
    if (run.device)
        shmem_uint64_get(to, from, n, run.me);
    else
        memcpy(to, from, n * sizeof *to);
}

/* Each word holds its number. */
static long long wrong_words(uint64_t *buffer)
{
    static long long wrong;

    wrong = 0;
    load(buffer, table, words);
    for (uint64_t i = 0; i < words; i++)
        wrong += buffer[i] != words * (uint64_t)run.me + i;
    shmem_longlong_sum_reduce(SHMEM_TEAM_WORLD, &wrong, &wrong, 1);
    return wrong;
}

/* Who works for the stream: for words of other nodes, if there are such. */
static const char *engine_of(const struct mode *m)
{
    const shmemx_engines_t *engines = run.device ? &device.near_device
                                              : &device.near_host;

    if (!m->on_stream)
        return "-";
    return device.far.atomic[0] ? device.far.atomic : engines->atomic;
}

static int measure(const struct mode *m, uint64_t *buffer)
{
    double start, s;
    long long wrong;

    shmem_barrier_all();
    start = bench_now_ns();
    all_batches(m->batch);
    s = (bench_now_ns() - start) * 1e-9;
    all_batches(m->back);
    wrong = wrong_words(buffer);
    if (run.me == 0)
        printf("%-8s %-7s %4s %4d %12lld %10.6f %12.9f %8s %8lld\n", "gups",
               m->name, run.device ? "D" : "H", run.n_pes, run.updates, s,
               (double)run.updates / s * 1e-9, engine_of(m), wrong);
    fflush(stdout);
    return wrong != 0;
}

/* ---- arguments, buffers ---- */

static bool number(const char *text, long long least, long long greatest,
                   long long *out)
{
    char *end;

    errno = 0;
    *out = strtoll(text, &end, 10);
    return end != text && !*end && !errno && *out >= least && *out <= greatest;
}

static int mode_named(const char *name)
{
    for (int i = 0; i < MODES; i++)
        if (!strcmp(modes[i].name, name))
            return i;
    return -1;
}

static int one_option(int c, char *const *argv)
{
    long long v;

    switch (c) {
    case 'm':
        if (!number(optarg, 1, 30, &v))
            return bad("-m", optarg, "want 1 to 30 bits");
        run.bits = (int)v;
        return 0;
    case 'n':
        if (!number(optarg, 1, 1ll << 40, &run.updates))
            return bad("-n", optarg, "want a number of updates from 1");
        return 0;
    case 'b':
        if (!number(optarg, 1, MOST_BATCH, &v))
            return bad("-b", optarg, "want 1 to 1024 updates");
        run.batch = (int)v;
        return 0;
    case 'x':
        if (strcmp(optarg, "A") && mode_named(optarg) < 0)
            return bad("-x", optarg, "want host, nbi, driven, stream, queue, "
                       "kernel or A (each in turn)");
        run.mode = optarg;
        return 0;
    case 'd':
        if (strcmp(optarg, "H") && strcmp(optarg, "D"))
            return bad("-d", optarg, "want H (host) or D (device)");
        run.device = *optarg == 'D';
        return 0;
    default:
        return bad("option", argv[optind - 1],
                   c == ':' ? "its value is missing" : "unknown");
    }
}

static int arguments(int argc, char **argv)
{
    int c, rc;

    opterr = 0;
    while ((c = getopt(argc, argv, ":m:n:b:x:d:")) != -1) {
        rc = one_option(c, argv);
        if (rc)
            return rc;
    }
    if (optind < argc)
        return bad("argument", argv[optind], "not expected");
    if (run.updates < 0)
        run.updates = 4ll << run.bits;
    words = ((UINT64_C(1) << run.bits) + (uint64_t)run.n_pes - 1) /
            (uint64_t)run.n_pes;
    return 0;
}

/* The same answer on all PEs. */
static bool all_have(bool has)
{
    static int having;

    having = has;
    shmem_int_min_reduce(SHMEM_TEAM_WORLD, &having, &having, 1);
    return having;
}

/* Without a device: nothing, and modes that need one are left out. */
static int open_stream(void)
{
    bool has = all_have(!shmemx_stream_create(&stream));
    int mode = mode_named(run.mode);

    if (!has) {
        stream = NULL;
        if (run.device || (mode >= 0 && modes[mode].on_device))
            return bad(run.device ? "-d" : "-x", run.device ? "D" : run.mode,
                       "this job has no device: SHMEM_DEVICE=software is one in "
                       "software");
        return 0;
    }
    step_word = shmem_space_malloc(SHMEM_SPACE_DEVICE, WORK);
    notified(shmemx_queue_create(stream, NULL, 0, &queue));
    if (!all_have(step_word))
        return bad("the device", "", "no room there for 8 bytes");
    notified(shmemx_device_info(&device));
    return 0;
}

/* After the table, whose memory the state of kernels is to know. */
static int open_kernel(void)
{
    bool wanted = stream && (!strcmp(run.mode, "A") ||
                             !strcmp(run.mode, "kernel"));

    kernel_runs = all_have(wanted &&
                           (!is_gpu() ||
                            !dev_gpu_load(&gpu, device.driver, device.ordinal,
                                          gups_ptx, gups_text)));
    if (kernel_runs)
        notified(shmemx_dev_get(SHMEM_DEVICE_CTX_DEFAULT, &updates.dev));
    else if (!strcmp(run.mode, "kernel"))
        return bad("-x", run.mode, *gpu.said ? gpu.said
                                             : "another PE has no kernel");
    updates.table = (word64 *)table;
    updates.words = words;
    updates.mask = ((word64)1 << run.bits) - 1;
    updates.batch = (word64)run.batch;
    return 0;
}

static int open_table(uint64_t *buffer)
{
    size_t bytes = words * sizeof *table;

    table = shmem_space_malloc(run.device ? SHMEM_SPACE_DEVICE
                                          : SHMEM_SPACE_CPU, bytes);
    results = shmem_space_malloc(SHMEM_SPACE_CPU, MOST_BATCH * sizeof *results);
    if (!all_have(table && results && buffer))
        return bad("-m", "BITS", "no room in the symmetric heap: set "
                   "SHMEM_SYMMETRIC_SIZE, with -d D "
                   "SHMEM_SYMMETRIC_SIZE_DEVICE, or a smaller table");
    for (uint64_t i = 0; i < words; i++)
        buffer[i] = words * (uint64_t)run.me + i;
    if (run.device)
        shmem_uint64_put(table, buffer, words, run.me);
    else
        memcpy(table, buffer, bytes);
    shmem_barrier_all();
    if (stream)                     /* the engines for the table's memory */
        notified(shmemx_device_info(&device));
    return open_kernel();
}

static int all_modes(uint64_t *buffer)
{
    int rc = 0;

    if (run.me == 0)
        printf("# 2^%d words over %d PEs, batches of %d, device %s\n"
               "# %-6s %-7s %4s %4s %12s %10s %12s %8s %8s\n", run.bits,
               run.n_pes, run.batch, stream ? device.driver : "none", "kernel",
               "mode", "mem", "PEs", "updates", "time(s)", "GUPS", "engine",
               "errors");
    for (int i = 0; i < MODES; i++) {
        if (strcmp(run.mode, "A")
                ? strcmp(run.mode, modes[i].name) != 0
                : (modes[i].on_device && !stream) ||
                      (!modes[i].batch && !kernel_runs))
            continue;
        rc |= measure(&modes[i], buffer);
    }
    return rc;
}

int main(int argc, char **argv)
{
    uint64_t *buffer = NULL;
    int rc;

    shmem_init();
    run.me = shmem_my_pe();
    run.n_pes = shmem_n_pes();
    rc = arguments(argc, argv);
    if (!rc) {
        buffer = malloc(words * sizeof *buffer);
        rc = open_stream();
    }
    if (!rc)
        rc = open_table(buffer);
    if (!rc)
        rc = all_modes(buffer);
    if (queue)
        notified(shmemx_queue_destroy(queue));
    if (stream)
        shmemx_stream_destroy(stream);
    dev_gpu_unload(&gpu);
    free(buffer);
    shmem_finalize();
    return rc;
}
