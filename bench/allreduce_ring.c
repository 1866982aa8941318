/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a sum over all PEs of arrays in the memory of the software
 * device, by a ring, in three forms of the same algorithm, which take turns:
 *
 *   kernel  one persistent kernel for all sums of a round: its groups wait,
 *           add and put, each with parts of its own of the array, so that some
 *           transfer while others add
 *   host    the host waits for what comes in, launches the kernel that adds,
 *           waits for it, and puts
 *   stream  the stream does all that, in its order; the host waits in the end
 *
 *   allreduce_ring [--tsv] [-m [MIN:]MAX] [-n ROUNDS] [-g GROUPS]
 *                  [-p PIECES]
 *
 * MIN and MAX are bytes of the array (1024:4194304), GROUPS those of the
 * kernels (the cores for a PE), PIECES those that each group divides a step
 * into at most (8), so that it adds one while others are under way.  Each PE's array has P chunks, P being the
 * number of PEs.  In steps 0 to P - 2 a chunk goes to the next PE, which adds
 * its own; in P - 1 to 2P - 3 the sums go around.  Each element of each form's
 * result is checked.  Status 0, 1 after an error, a wrong result or a wrong
 * argument. */
#define _GNU_SOURCE 1
#include "bench.h"

#include <errno.h>
#include <sched.h>
#include <shmem.h>
#include <shmem_space.h>
#include <shmemx_dev.h>
#include <shmemx_st.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    MOST_GROUPS = 64, MOST_PIECES = 64,
    PIECE_BYTES = 8192,         /* the least that a group or a piece gets, */
    FAR_PIECE_BYTES = 512 << 10, /* if a next PE is on another node */
    MOST_ROUNDS = 1000,
    RUN_AHEAD = 16              /* sums that a stream has enqueued */
};

static struct {
    int me, pes, next;
    size_t min, max;            /* bytes */
    int rounds, groups, pieces;
    size_t piece_bytes;
    bool tsv;
} run = { .min = 1024, .max = 4 << 20, .rounds = 5,
          .pieces = 8 };

/* What kernels know: the plan of one size, and the symmetric arrays. */
static struct ring {
    shmemx_dev_t dev;
    size_t n, stride;           /* elements: all, from one landing to the next */
    unsigned groups, pieces;    /* of a chunk, of a group's part of it */
    double *in, *out;
    double *landing;            /* [P - 1][stride] a chunk for each step */
    uint64_t *arrived;          /* [2P - 2][groups][pieces] the sum's number */
    uint64_t sums;              /* made so far */
    int iters;                  /* sums of the kernel at hand */
} ring;

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

/* ---- the ring ---- */

struct span {
    size_t from, n;
};

static struct span part(struct span s, unsigned i, unsigned of)
{
    size_t from = s.n * i / of, to = s.n * (i + 1) / of;

    return (struct span){ s.from + from, to - from };
}

/* The chunk of step t, 0 to 2P - 2, in which what has come by step t - 1 is
 * added, or stays, and goes on. */
static struct span chunk_of(unsigned t)
{
    unsigned pes = (unsigned)run.pes;

    return part((struct span){ 0, ring.n },
                ((unsigned)run.me + 2 * pes - t) % pes, pes);
}

static bool adds(unsigned t)
{
    return t > 0 && t < (unsigned)run.pes;
}

static bool is_last(unsigned t)
{
    return t == 2 * (unsigned)run.pes - 2;
}

static uint64_t *word_of(unsigned t, unsigned group, unsigned piece)
{
    return ring.arrived + (t * ring.groups + group) * ring.pieces + piece;
}

static void add(unsigned t, struct span chunk, struct span p)
{
    const double *in = ring.in + p.from;
    const double *come = ring.landing + (t - 1) * ring.stride + p.from -
                         chunk.from;
    double *out = ring.out + p.from;

    for (size_t i = 0; i < p.n; i++)
        out[i] = in[i] + come[i];
}

static const double *source_of(unsigned t, struct span p)
{
    return (t ? ring.out : ring.in) + p.from;
}

static double *target_of(unsigned t, struct span chunk, struct span p)
{
    return t + 1 < (unsigned)run.pes
               ? ring.landing + t * ring.stride + p.from - chunk.from
               : ring.out + p.from;
}

/* ---- one kernel ---- */

static void step_inside(unsigned group, unsigned t, uint64_t sum)
{
    const shmemx_dev_t *dev = &ring.dev;
    struct span chunk = chunk_of(t), own = part(chunk, group, ring.groups), p;

    for (unsigned k = 0; k < ring.pieces; k++) {
        p = part(own, k, ring.pieces);
        if (t > 0)
            shmemx_dev_signal_wait_until_block(dev, word_of(t - 1, group, k),
                                               SHMEM_CMP_GE, sum);
        if (adds(t))
            add(t, chunk, p);
        if (!is_last(t))
            shmemx_dev_putmem_signal_nbi_block(
                dev, target_of(t, chunk, p), source_of(t, p),
                p.n * sizeof(double), word_of(t, group, k), sum,
                SHMEM_SIGNAL_SET, run.next);
    }
}

/* A quiet after each sum, for the next one overwrites what was put. */
static void inside(const shmemx_item_t *it, void *unused)
{
    (void)unused;
    for (int i = 1; i <= ring.iters; i++) {
        for (unsigned t = 0; t <= 2 * (unsigned)run.pes - 2; t++)
            step_inside(it->group, t, ring.sums + (unsigned)i);
        shmemx_dev_quiet_block(&ring.dev);
    }
}

static void by_kernel(int iters)
{
    shmemx_grid_t grid = { .groups = ring.groups, .items = 1, .phases = 1,
                           .resident = ring.groups };

    ring.iters = iters;
    must(shmemx_stream_launch(stream, &grid, inside, NULL), "a launch");
    must(shmemx_stream_sync(stream), "the kernel");
}

/* ---- the host, the stream ---- */

static void add_part(const shmemx_item_t *it, void *arg)
{
    unsigned t = *(const unsigned *)arg;
    struct span chunk = chunk_of(t);

    add(t, chunk, part(chunk, it->group, it->groups));
}

static void launch_add(const unsigned *t)
{
    shmemx_grid_t grid = { .groups = ring.groups, .items = 1, .phases = 1 };

    must(shmemx_stream_launch(stream, &grid, add_part, (void *)t), "a launch");
}

/* Numbers that outlive what a stream has enqueued. */
static unsigned *step_numbers;

static void by_host(int iters)
{
    for (int i = 1; i <= iters; i++) {
        uint64_t sum = ring.sums + (unsigned)i;

        for (unsigned t = 0; t <= 2 * (unsigned)run.pes - 2; t++) {
            struct span c = chunk_of(t);

            if (t > 0)
                shmem_signal_wait_until(word_of(t - 1, 0, 0), SHMEM_CMP_GE,
                                        sum);
            if (adds(t)) {
                launch_add(&step_numbers[t]);
                must(shmemx_stream_sync(stream), "an addition");
            }
            if (!is_last(t))
                shmem_putmem_signal_nbi(target_of(t, c, c), source_of(t, c),
                                        c.n * sizeof(double), word_of(t, 0, 0),
                                        sum, SHMEM_SIGNAL_SET, run.next);
        }
        shmem_quiet();
    }
}

static void by_stream(int iters)
{
    for (int i = 1; i <= iters; i++) {
        uint64_t sum = ring.sums + (unsigned)i;

        for (unsigned t = 0; t <= 2 * (unsigned)run.pes - 2; t++) {
            struct span c = chunk_of(t);

            if (t > 0)
                must(shmemx_signal_wait_until_on_stream(
                         NULL, word_of(t - 1, 0, 0), SHMEM_CMP_GE, sum,
                         stream), "a wait on the stream");
            if (adds(t))
                launch_add(&step_numbers[t]);
            if (!is_last(t))
                must(shmemx_putmem_signal_nbi_on_stream(
                         target_of(t, c, c), source_of(t, c),
                         c.n * sizeof(double), word_of(t, 0, 0), sum,
                         SHMEM_SIGNAL_SET, run.next, stream),
                     "a put on the stream");
        }
        must(shmemx_quiet_on_stream(stream), "a quiet on the stream");
        if (i % RUN_AHEAD == 0 || i == iters)
            must(shmemx_stream_sync(stream), "the stream");
    }
}

static const struct form {
    const char *name;
    void (*sums)(int iters);
} forms[] = {
    { "kernel", by_kernel }, { "host", by_host }, { "stream", by_stream },
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

/* How many elements of the result are wrong, on all PEs. */
static long wrong_after(const struct form *f)
{
    static long wrong;
    double factor = run.pes * (run.pes + 1) / 2.0;

    shmem_barrier_all();
    memset(ring.out, 0, ring.n * sizeof(double));
    measure(f, 2);
    shmem_barrier_all();
    wrong = 0;
    for (size_t i = 0; i < ring.n; i++)
        wrong += ring.out[i] != factor * value_of(0, i);
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &wrong, &wrong, 1);
    if (wrong && run.me == 0)
        fprintf(stderr, "allreduce_ring: %s, %zu bytes: %ld elements are "
                "wrong\n", f->name, ring.n * sizeof(double), wrong);
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
}

static int size_row(size_t bytes)
{
    static double us[FORMS][MOST_ROUNDS];
    int iters = bytes < 32768 ? 200 : bytes < (1 << 20) ? 40 : 8;
    long wrong = 0;
    double t[FORMS];

    plan(bytes);
    for (int f = 0; f < FORMS; f++)
        wrong += wrong_after(&forms[f]);
    for (int r = 0; r < run.rounds; r++)
        for (int f = 0; f < FORMS; f++)
            us[f][r] = measure(&forms[f], iters);
    for (int f = 0; f < FORMS; f++)
        t[f] = bench_median(us[f], run.rounds);
    if (run.me == 0)
        printf(run.tsv ? "%zu\t%u\t%u\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%ld\n"
                       : "%-10zu %6u %6u %11.2f %11.2f %11.2f %12.2f %13.2f "
                         "%8ld\n", bytes, ring.groups, ring.pieces, t[0], t[1],
               t[2], t[1] / t[0], t[2] / t[0], wrong);
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
    int pes = shmem_team_n_pes(SHMEM_TEAM_SHARED), n = 1;
    cpu_set_t set;

    if (sched_getaffinity(0, sizeof set, &set) == 0)
        n = CPU_COUNT(&set) / (pes > 0 ? pes : 1);
    return n < 1 ? 1 : n > MOST_GROUPS ? MOST_GROUPS : n;
}

static int open_device(void)
{
    shmemx_device_info_t device;
    int groups, near;

    if (run.pes < 2)
        return bad("started with", "1 PE", "needs 2 or more, as in oshrun -n 2");
    if (!least(!shmemx_stream_create(&stream)))
        return bad("this job", "", "has no device: SHMEM_DEVICE=software is "
                   "one in software");
    must(shmemx_device_info(&device), "shmemx_device_info");
    if (!least(!strcmp(device.driver, "host")))
        return bad("device", device.driver, "the kernels are C functions: they "
                   "need SHMEM_DEVICE=software");
    groups = run.groups ? run.groups : least(cores_here());
    if (!least(!shmemx_launch_check((unsigned)groups, 1, 0)))
        return bad("-g", "GROUPS", "so many do not run at once: see "
                   "SHMEM_DEVICE_RESIDENT");
    run.groups = groups;
    near = shmem_team_translate_pe(SHMEM_TEAM_WORLD, run.next,
                                   SHMEM_TEAM_SHARED) >= 0;
    run.piece_bytes = least(near) ? PIECE_BYTES : FAR_PIECE_BYTES;
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
    step_numbers = calloc(steps + 1, sizeof *step_numbers);
    if (!least(ring.in && ring.out && ring.landing && ring.arrived &&
               step_numbers))
        return bad("-m", "MAX", "no room in the device heap: set "
                   "SHMEM_SYMMETRIC_SIZE_DEVICE, or a smaller MAX");
    for (size_t t = 0; t <= steps; t++)
        step_numbers[t] = (unsigned)t;
    for (size_t i = 0; i < run.max / sizeof(double); i++)
        ring.in[i] = value_of(run.me, i);
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
    run.next = (run.me + 1) % run.pes;
    rc = arguments(argc, argv);
    if (!rc)
        rc = open_device();
    if (!rc)
        rc = open_ring();
    if (!rc && run.me == 0 && !run.tsv)
        printf("# sums of doubles over %d PEs, by a ring\n"
               "# %-8s %6s %6s %11s %11s %11s %12s %13s %8s\n", run.pes,
               "bytes", "groups", "pieces", "kernel(us)", "host(us)",
               "stream(us)", "host/kernel", "stream/kernel", "errors");
    for (size_t n = run.min; !rc && n <= run.max; n *= 4)
        rc = size_row(n);
    if (stream)
        shmemx_stream_destroy(stream);
    free(step_numbers);
    shmem_finalize();
    return rc;
}
