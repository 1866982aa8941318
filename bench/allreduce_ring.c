/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a sum over all PEs of arrays in the memory of the device, by a
 * ring, in three forms of the same algorithm, and by two collectives of the
 * library, which take turns:
 *
 *   kernel  one persistent kernel for all sums of a round: its groups wait,
 *           add and put, each with parts of its own of the array, so that some
 *           transfer while others add
 *   host    the host waits for what comes in, launches the kernel that adds,
 *           waits for it, and puts
 *   stream  the stream does all that, in its order; the host waits in the end
 *   call    shmem_double_sum_reduce: the host moves and adds
 *   parts   shmemx_pallreduce_init: 8 partitions, if they divide the array, that
 *           the host makes ready
 *
 *   allreduce_ring [--tsv] [-m [MIN:]MAX] [-n ROUNDS] [-g GROUPS]
 *                  [-p PIECES]
 *
 * MIN and MAX are bytes of the array (1024:4194304), GROUPS those of the
 * kernels (the cores for a PE, or a GPU's processors), PIECES those that each
 * group divides a step into at most (8), so that it adds one while others are
 * under way.  Each PE's array has P chunks, P being the number of PEs.  In steps 0 to P - 2 a chunk goes to the next PE, which adds
 * its own; in P - 1 to 2P - 3 the sums go around.  Each element of each form's
 * result is checked.  Status 0, 1 after an error, a wrong result or a wrong
 * argument. */
#define _GNU_SOURCE 1
#include "allreduce_ring.inc"
#include "../apps/cores.h"
#include "bench.h"
#include "launch.h"

#include <errno.h>
#include <shmem.h>
#include <shmem_space.h>
#include <shmemx_pcoll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    MOST_GROUPS = 64, MOST_PIECES = 64,
    PIECE_BYTES = 8192,         /* the least that a group or a piece gets, */
    OFF_NODE_PIECE_BYTES = 512 << 10, /* if a next PE is on another node */
    MOST_ROUNDS = 1000,
    RUN_AHEAD = 16,             /* sums that a stream has enqueued */
    PARTS = 8
};

static struct {
    int me, pes;
    size_t min, max;            /* bytes */
    int rounds, groups, pieces;
    size_t piece_bytes;
    bool tsv;
} run = { .min = 1024, .max = 4 << 20, .rounds = 5,
          .pieces = 8 };

static struct ring ring;
static struct adding *additions;        /* [2P - 1] of the plan */
static double *host;                    /* an array */

enum { SUMS_INSIDE, ADD_PART, KERNELS };
KI_TEXT(ring, KI_TEXT_FILE, KI_PTX_FILE);
static const char *const kernel_names[KERNELS] = {
    "bench_sums_inside", "bench_add_part"
};
LAUNCH_SOFT(sums_inside)
LAUNCH_SOFT(add_part)
static const shmemx_kernel_t soft[KERNELS] = {
    soft_sums_inside, soft_add_part
};
static struct launcher kernels;

static shmemx_stream_t stream;

static int bad(const char *what, const char *text, const char *wanted)
{
    if (run.me == 0)
        fprintf(stderr, "allreduce_ring: %s %s: %s\n", what, text, wanted);
    return 1;
}

static void must(int rc, const char *what)
{
    if (!rc)
        return;
    fprintf(stderr, "allreduce_ring: PE %d: %s: %s\n", run.me, what,
            strerror(-rc));
    shmem_global_exit(1);
}

/* ---- kernels ---- */

static void enqueue(int kernel, unsigned resident, void *arg)
{
    must(launch(&kernels, kernel, ring.groups, resident, arg, stream),
         kernel_names[kernel]);
}

static void by_kernel(int iters)
{
    ring.iters = (word32)iters;
    enqueue(SUMS_INSIDE, ring.groups, &ring);
    must(shmemx_stream_sync(stream), "the kernel");
}

/* ---- the host, the stream ---- */

static void by_host(int iters)
{
    for (int i = 1; i <= iters; i++) {
        uint64_t sum = ring.sums + (unsigned)i;

        for (word32 t = 0; t <= 2 * ring.pes - 2; t++) {
            struct span c = chunk_of(&ring, t);

            if (t > 0)
                shmem_signal_wait_until(word_of(&ring, t - 1, 0, 0), SHMEM_CMP_GE,
                                        sum);
            if (adds(&ring, t)) {
                enqueue(ADD_PART, 0, &additions[t]);
                must(shmemx_stream_sync(stream), "an addition");
            }
            if (!is_last(&ring, t))
                shmem_putmem_signal_nbi(target_of(&ring, t, c, c), source_of(&ring, t, c),
                                        c.n * sizeof(double), word_of(&ring, t, 0, 0),
                                        sum, SHMEM_SIGNAL_SET, (int)ring.next);
        }
        shmem_quiet();
    }
}

static void by_stream(int iters)
{
    for (int i = 1; i <= iters; i++) {
        uint64_t sum = ring.sums + (unsigned)i;

        for (word32 t = 0; t <= 2 * ring.pes - 2; t++) {
            struct span c = chunk_of(&ring, t);

            if (t > 0)
                must(shmemx_signal_wait_until_on_stream(
                         NULL, word_of(&ring, t - 1, 0, 0), SHMEM_CMP_GE, sum,
                         stream), "a wait on the stream");
            if (adds(&ring, t))
                enqueue(ADD_PART, 0, &additions[t]);
            if (!is_last(&ring, t))
                must(shmemx_putmem_signal_nbi_on_stream(
                         target_of(&ring, t, c, c), source_of(&ring, t, c),
                         c.n * sizeof(double), word_of(&ring, t, 0, 0), sum,
                         SHMEM_SIGNAL_SET, (int)ring.next, stream),
                     "a put on the stream");
        }
        must(shmemx_quiet_on_stream(stream), "a quiet on the stream");
        if (i % RUN_AHEAD == 0 || i == iters)
            must(shmemx_stream_sync(stream), "the stream");
    }
}

/* ---- the library's own ---- */

static void by_call(int iters)
{
    for (int i = 0; i < iters; i++)
        must(shmem_double_sum_reduce(SHMEM_TEAM_WORLD, ring.out, ring.in, ring.n),
             "a sum");
}

static shmemx_req_t parts;      /* of this size */
static int parts_of(size_t n)
{
    return n % PARTS ? 1 : PARTS;
}

static void by_parts(int iters)
{
    for (int i = 0; i < iters; i++) {
        must(shmemx_req_start(parts), "a start");
        must(shmemx_pready_range(parts, 0, parts_of(ring.n) - 1), "ready");
        must(shmemx_req_wait(parts), "a wait");
    }
}

static const struct form {
    const char *name;
    void (*sums)(int iters);
} forms[] = {
    { "kernel", by_kernel }, { "host", by_host }, { "stream", by_stream },
    { "call", by_call }, { "parts", by_parts },
};
enum { FORMS = sizeof forms / sizeof *forms };

/* ---- what is measured ---- */

static double value_of(int pe, size_t i)
{
    return (double)(pe + 1) * (double)(i % 1000 + 1);
}

/* Microseconds of one sum. */
static double measure(const struct form *f, int iters)
{
    double start;

    shmem_barrier_all();
    start = bench_now_ns();
    f->sums(iters);
    ring.sums += (unsigned)iters;
    return (bench_now_ns() - start) / iters * 1e-3;
}

static void copy(void *to, const void *from, size_t bytes)
{
    must(shmemx_stream_copy(stream, to, from, bytes), "a copy");
    must(shmemx_stream_sync(stream), "a copy");
}

/* How many elements of the result are wrong, on all PEs. */
static long wrong_after(const struct form *f)
{
    static long wrong;
    double factor = run.pes * (run.pes + 1) / 2.0;
    size_t bytes = ring.n * sizeof(double);

    shmem_barrier_all();
    copy(ring.out, memset(host, 0, bytes), bytes);
    measure(f, 2);
    shmem_barrier_all();
    copy(host, ring.out, bytes);
    wrong = 0;
    for (size_t i = 0; i < ring.n; i++)
        wrong += host[i] != factor * value_of(0, i);
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &wrong, &wrong, 1);
    if (wrong && run.me == 0)
        fprintf(stderr, "allreduce_ring: %s, %zu bytes: %ld elements are "
                "wrong\n", f->name, bytes, wrong);
    return wrong;
}

/* Small arrays are not divided. */
static void plan(size_t bytes)
{
    size_t chunk, share;

    ring.n = bytes / sizeof(double);
    chunk = bytes / (size_t)run.pes;
    share = chunk / run.piece_bytes;
    ring.groups = share < 1 ? 1
                : share < (size_t)run.groups ? (unsigned)share
                                             : (unsigned)run.groups;
    share = chunk / ring.groups / run.piece_bytes;
    ring.pieces = share < 1 ? 1
                : share < (size_t)run.pieces ? (unsigned)share
                                             : (unsigned)run.pieces;
    for (unsigned t = 0; t <= 2 * ring.pes - 2; t++)
        additions[t] = (struct adding){ ring, t };
}

static int size_row(size_t bytes)
{
    static double us[FORMS][MOST_ROUNDS];
    int iters = bytes < 32768 ? 200 : bytes < (1 << 20) ? 40 : 8;
    long wrong = 0;
    double t[FORMS];

    plan(bytes);
    must(shmemx_pallreduce_init(SHMEM_TEAM_WORLD, ring.out, ring.in,
                                parts_of(ring.n),
                                ring.n / (size_t)parts_of(ring.n),
                                SHMEMX_DOUBLE, SHMEMX_SUM, &parts), "a request");
    for (int f = 0; f < FORMS; f++)
        wrong += wrong_after(&forms[f]);
    for (int r = 0; r < run.rounds; r++)
        for (int f = 0; f < FORMS; f++)
            us[f][r] = measure(&forms[f], iters);
    for (int f = 0; f < FORMS; f++)
        t[f] = bench_median(us[f], run.rounds);
    must(shmemx_req_free(&parts), "a request's end");
    if (run.me == 0)
        printf(run.tsv ? "%zu\t%u\t%u\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f"
                         "\t%ld\n"
                       : "%-10zu %6u %6u %10.2f %10.2f %10.2f %10.2f %10.2f "
                         "%11.2f %10.2f %6ld\n", bytes, ring.groups,
               ring.pieces, t[0], t[1], t[2], t[3], t[4], t[1] / t[0],
               t[3] / t[4], wrong);
    fflush(stdout);
    return wrong != 0;
}

/* ---- arguments, memory ---- */

static bool number(const char *text, long long least, long long most,
                   long long *out)
{
    char *end;

    errno = 0;
    *out = strtoll(text, &end, 10);
    return end != text && !*end && !errno && *out >= least && *out <= most;
}

static int sizes(char *text)
{
    char *colon = strchr(text, ':');
    long long min = (long long)run.min, max;
    const char *wanted = "want [MIN:]MAX in bytes, each from 8 to 1073741824";

    if (colon) {
        *colon = '\0';
        if (!number(text, 8, 1 << 30, &min))
            return bad("-m", text, wanted);
    }
    if (!number(colon ? colon + 1 : text, 8, 1 << 30, &max))
        return bad("-m", colon ? colon + 1 : text, wanted);
    run.min = (size_t)(min < max || colon ? min : max);
    run.max = (size_t)max;
    return min > max && colon ? bad("-m", text, "MIN is above MAX") : 0;
}

static int arguments(int argc, char **argv)
{
    long long v;
    int c, rc = 0;

    if (argc > 1 && !strcmp(argv[1], "--tsv")) {
        run.tsv = true;
        argv++, argc--;
    }
    opterr = 0;
    while (!rc && (c = getopt(argc, argv, ":m:n:g:p:")) != -1) {
        if (c == 'm') {
            rc = sizes(optarg);
        } else if (c == 'n') {
            rc = number(optarg, 1, MOST_ROUNDS, &v)
                 ? 0 : bad("-n", optarg, "want 1 to 1000 rounds");
            run.rounds = (int)v;
        } else if (c == 'g') {
            rc = number(optarg, 1, MOST_GROUPS, &v)
                 ? 0 : bad("-g", optarg, "want 1 to 64 groups");
            run.groups = (int)v;
        } else if (c == 'p') {
            rc = number(optarg, 1, MOST_PIECES, &v)
                 ? 0 : bad("-p", optarg, "want 1 to 64 pieces");
            run.pieces = (int)v;
        } else {
            rc = bad("option", argv[optind - 1],
                     c == ':' ? "its value is missing" : "unknown");
        }
    }
    return !rc && optind < argc ? bad("argument", argv[optind], "not expected")
                                : rc;
}

/* The same answer on all PEs. */
static int least(int value)
{
    static int all;

    all = value;
    shmem_int_min_reduce(SHMEM_TEAM_WORLD, &all, &all, 1);
    return all;
}

static int cores_here(void)
{
    int n = cores_of_pe();

    return n > MOST_GROUPS ? MOST_GROUPS : n;
}

/* A GPU's processors, shared with the PEs of the node: they may use it, too. */
static int groups_here(const shmemx_device_info_t *device)
{
    int pes = shmem_team_n_pes(SHMEM_TEAM_SHARED), n = device->resident / pes;

    if (!kernels.on_gpu)
        return cores_here();
    return n < 1 ? 1 : n > MOST_GROUPS ? MOST_GROUPS : n;
}

static int open_device(void)
{
    shmemx_device_info_t device;
    int groups, mapped;

    if (run.pes < 2)
        return bad("started with", "1 PE", "needs 2 or more, as in oshrun -n 2");
    if (!least(!shmemx_stream_create(&stream)))
        return bad("this job", "", "has no device: SHMEM_DEVICE=software is "
                   "one in software");
    must(shmemx_device_info(&device), "shmemx_device_info");
    if (!least(launch_open(&kernels, &device, kernel_names, KERNELS, soft,
                           ring_ptx, ring_text)))
        return bad("kernels for", device.name,
                   *kernels.gpu.said ? kernels.gpu.said : "another PE has none");
    groups = run.groups ? run.groups : least(groups_here(&device));
    if (!least(!shmemx_launch_check((unsigned)groups, kernels.on_gpu ? LAUNCH_ITEMS : 1,
                                    0)))
        return bad("-g", "GROUPS", "so many do not run at once: see "
                   "SHMEM_DEVICE_RESIDENT");
    run.groups = groups;
    mapped = shmem_team_translate_pe(SHMEM_TEAM_WORLD, (int)ring.next,
                                   SHMEM_TEAM_SHARED) >= 0;
    run.piece_bytes = least(mapped) ? PIECE_BYTES : OFF_NODE_PIECE_BYTES;
    return 0;
}

static void *room(size_t bytes)
{
    return shmem_space_calloc(SHMEM_SPACE_DEVICE, 1, bytes);
}

static int open_ring(void)
{
    size_t pes = (size_t)run.pes, steps = 2 * pes - 2;

    ring.stride = run.max / sizeof(double) / pes + 1;
    ring.in = room(run.max);
    ring.out = room(run.max);
    ring.landing = room((pes - 1) * ring.stride * sizeof(double));
    ring.arrived = shmem_space_calloc(SHMEM_SPACE_CPU,
                                      steps * (size_t)run.groups *
                                          (size_t)run.pieces,
                                      sizeof(uint64_t));
    additions = calloc(steps + 1, sizeof *additions);
    host = malloc(run.max);
    if (!least(ring.in && ring.out && ring.landing && ring.arrived &&
               additions && host))
        return bad("-m", "MAX", "no room in the device heap: set "
                   "SHMEM_DEVICE_SYMMETRIC_SIZE, or a smaller MAX");
    for (size_t i = 0; i < run.max / sizeof(double); i++)
        host[i] = value_of(run.me, i);
    copy(ring.in, host, run.max / sizeof(double) * sizeof(double));
    must(shmemx_dev_get(SHMEM_DEVICE_CTX_DEFAULT, &ring.dev),
         "shmemx_dev_get");
    shmem_barrier_all();
    return 0;
}

int main(int argc, char **argv)
{
    int rc;

    shmem_init();
    run.me = shmem_my_pe();
    run.pes = shmem_n_pes();
    ring.me = (word32)run.me;
    ring.pes = (word32)run.pes;
    ring.next = (ring.me + 1) % ring.pes;
    rc = arguments(argc, argv);
    if (!rc)
        rc = open_device();
    if (!rc)
        rc = open_ring();
    if (!rc && run.me == 0 && !run.tsv)
        printf("# sums of doubles over %d PEs, by a ring\n"
               "# %-8s %6s %6s %10s %10s %10s %10s %10s %11s %10s %6s\n",
               run.pes, "bytes", "groups", "pieces", "kernel(us)", "host(us)",
               "stream(us)", "call(us)", "parts(us)", "host/kernel",
               "call/parts", "errors");
    for (size_t n = run.min; !rc && n <= run.max; n *= 4)
        rc = size_row(n);
    if (stream)
        shmemx_stream_destroy(stream);
    dev_gpu_unload(&kernels.gpu);
    free(additions);
    free(host);
    shmem_finalize();
    return rc;
}
