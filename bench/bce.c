/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: steps of training by binary cross-entropy, data-parallel: each PE
 * has the same weights and its own labels, and the gradients are summed over all
 * PEs; in five forms, which take turns:
 *
 *   cpu     one thread of the host does all of it (software device)
 *   host    kernels compute; the host waits for them and calls the sum
 *   stream  the same by a request of shmemx_allreduce_init, in the stream's order
 *   parts   a partitioned sum: the kernel makes a part of the gradients ready as
 *           soon as it is computed, while it computes others
 *   kernel  one kernel for all steps, of one group, which sums, too
 *
 *   bce [--tsv] [-g GRID] [-s STEPS] [-p PARTS] [-n ROUNDS] [-b]
 *
 * GRID blocks have 1024 weights each (64); PARTS divides the weights (8).  Before
 * it is measured, each form makes STEPS steps (100) that are compared: the sums
 * with those of all PEs' gradients in double precision, within 1e-5; the weights
 * between PEs, bit by bit; the loss, which falls.  Columns: microseconds of a step,
 * with its start, of the slowest PE; of its kernels alone; the rest; the bytes of
 * weights and gradients by the step; the time of host by this one.  -b: then what
 * an application gains of which sums take 4 to 50 percent.  Status 0, 1 after an
 * error, a wrong result or a wrong argument. */
#define _GNU_SOURCE 1
#include "bce.inc"
#include "bench.h"
#include "launch.h"

#include <math.h>
#include <shmem.h>
#include <shmem_space.h>
#include <shmemx_pcoll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BLOCK = 1024, MOST_ROUNDS = 1000 };

enum { GRADIENTS, UPDATE, GRADIENTS_READY, TRAIN, KERNELS };
KI_TEXT(bce, KI_TEXT_FILE, KI_PTX_FILE);
static const char *const kernel_names[KERNELS] = {
    "bench_gradients_all", "bench_update", "bench_gradients_ready",
    "bench_train"
};
LAUNCH_SOFT(gradients_all)
LAUNCH_SOFT(update)
LAUNCH_SOFT(gradients_ready)
LAUNCH_SOFT(train)
static const shmemx_kernel_t soft[KERNELS] = {
    soft_gradients_all, soft_update, soft_gradients_ready, soft_train
};

static struct {
    int me, pes, grid, steps, parts, rounds;
    unsigned groups;
    bool tsv, gain;
} run = { .grid = 64, .steps = 100, .parts = 8, .rounds = 5 };

static struct model model;
static struct readying readying;
static struct training training;
static struct launcher kernels;
static shmemx_stream_t stream;
static shmemx_queue_t queue;
static shmemx_req_t whole, in_parts;
static float *host_z, *host_sum;        /* copies */
static double *host_losses;

static int bad(const char *what, const char *text, const char *wanted)
{
    if (run.me == 0)
        fprintf(stderr, "bce: %s %s: %s\n", what, text, wanted);
    return 1;
}

static void must(int rc, const char *what)
{
    if (!rc)
        return;
    fprintf(stderr, "bce: PE %d: %s: %s\n", run.me, what, strerror(-rc));
    shmem_global_exit(1);
}

/* ---- steps ---- */

static void enqueue(int kernel, unsigned groups, void *arg)
{
    must(launch(&kernels, kernel, groups, 0, arg, stream), kernel_names[kernel]);
}

static void sync_stream(void)
{
    must(shmemx_stream_sync(stream), "what was enqueued");
}

static void sum_by_host(void)
{
    must(shmem_float_sum_reduce(SHMEM_TEAM_WORLD, model.sum, model.grad, model.n),
         "a sum");
}

static void by_cpu(int steps)
{
    static const struct coord alone = { 0, 0, 1, 1 };

    for (int i = 0; i < steps; i++) {
        gradients_all(&model, &alone);
        sum_by_host();
        update(&model, &alone);
    }
}

static void by_host(int steps)
{
    for (int i = 0; i < steps; i++) {
        enqueue(GRADIENTS, run.groups, &model);
        sync_stream();
        sum_by_host();
        enqueue(UPDATE, run.groups, &model);
    }
    sync_stream();
}

static void by_stream(int steps)
{
    for (int i = 0; i < steps; i++) {
        enqueue(GRADIENTS, run.groups, &model);
        must(shmemx_enqueue_startall(queue, 1, &whole), "a start");
        must(shmemx_enqueue_waitall(queue, 1, &whole), "a wait");
        enqueue(UPDATE, run.groups, &model);
    }
    sync_stream();
}

static void by_parts(int steps)
{
    for (int i = 0; i < steps; i++) {
        must(shmemx_enqueue_startall(queue, 1, &in_parts), "a start");
        enqueue(GRADIENTS_READY, run.groups, &readying);
        must(shmemx_enqueue_waitall(queue, 1, &in_parts), "a wait");
        enqueue(UPDATE, run.groups, &model);
    }
    sync_stream();
}

static void by_kernel(int steps)
{
    training.steps = (word32)steps;
    enqueue(TRAIN, 1, &training);
    sync_stream();
}

/* Without sums: what is in no form of a whole step. */
static void kernels_alone(int steps)
{
    for (int i = 0; i < steps; i++) {
        enqueue(GRADIENTS, run.groups, &model);
        enqueue(UPDATE, run.groups, &model);
    }
    sync_stream();
}

static const struct form {
    const char *name;
    void (*train)(int steps);
} forms[] = {
    { "cpu", by_cpu }, { "host", by_host }, { "stream", by_stream },
    { "parts", by_parts }, { "kernel", by_kernel },
};
enum { CPU, HOST, FORMS = sizeof forms / sizeof *forms };

static bool has(int form)
{
    return form != CPU || !kernels.on_gpu;
}

/* ---- is it right ---- */

static void copy(void *to, const void *from, size_t bytes)
{
    must(shmemx_stream_copy(stream, to, from, bytes), "a copy");
    sync_stream();
}

static float label_of(int pe, size_t i)
{
    uint64_t x = (i + 1) * UINT64_C(0x9e3779b97f4a7c15) ^
                 (uint64_t)(pe + 1) * UINT64_C(0xbf58476d1ce4e5b9);

    x = (x ^ x >> 30) * UINT64_C(0x94d049bb133111eb);
    return x >> 33 & 1 ? 1 : 0;
}

static void start_over(void)
{
    for (size_t i = 0; i < model.n; i++)
        host_z[i] = (float)((double)(i * 7919 % 2001) / 1000 - 1);
    copy(model.z, host_z, model.n * sizeof *host_z);
    shmem_barrier_all();
}

/* Those of the sums that this PE's weights of before do not make, in double
 * precision and by the C library. */
static size_t wrong_sums(double *loss)
{
    size_t wrong = 0;

    *loss = 0;
    for (size_t i = 0; i < model.n; i++) {
        double p = 1 / (1 + exp(-(double)host_z[i])), q = p * (1 - p);
        double sum = 0, size = 0;

        for (int pe = 0; pe < run.pes; pe++) {
            double grad = (p - label_of(pe, i)) / q / (double)model.n;

            sum += grad;
            size += fabs(grad);
        }
        wrong += !(fabs(sum - host_sum[i]) <= 1e-5 * size);
        *loss -= (label_of(run.me, i) ? log(p) : log(1 - p)) / (double)model.n;
    }
    return wrong;
}

static double device_loss(void)
{
    double loss = 0;

    copy(host_losses, model.losses, model.parts * LAUNCH_ITEMS *
                                        sizeof *host_losses);
    for (word32 i = 0; i < model.parts * LAUNCH_ITEMS; i++)
        loss += host_losses[i];
    return loss;
}

/* PEs whose weights are not those of PE 0. */
static long different_weights(void)
{
    static long differs;
    static uint64_t mine, of_0;

    mine = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < model.n; i++) {
        uint32_t bits;

        memcpy(&bits, &host_z[i], sizeof bits);
        mine = (mine ^ bits) * UINT64_C(1099511628211);
    }
    shmem_uint64_broadcast(SHMEM_TEAM_WORLD, &of_0, &mine, 1, 0);
    differs = of_0 != mine;
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &differs, &differs, 1);
    return differs;
}

static int wrong(const struct form *f, int step, const char *what, double is,
                 double want)
{
    fprintf(stderr, "bce: PE %d: %s, step %d: %s: %.9g, not %.9g\n", run.me,
            f->name, step, what, is, want);
    return 1;
}

/* Each step by itself: so that all that it made is there to be compared. */
static int check(const struct form *f)
{
    size_t bytes = model.n * sizeof *host_z;
    static long bad_steps;
    double last = INFINITY, want;

    bad_steps = 0;
    start_over();
    for (int step = 0; step < run.steps; step++) {
        size_t sums;
        double loss;

        copy(host_z, model.z, bytes);
        f->train(1);
        copy(host_sum, model.sum, bytes);
        sums = wrong_sums(&want);
        loss = device_loss();
        if (sums)
            bad_steps += wrong(f, step, "gradients that are wrong",
                               (double)sums, 0);
        if (!(fabs(loss - want) <= 1e-5 * want))
            bad_steps += wrong(f, step, "the loss", loss, want);
        want = run.pes == 1 ? last : INFINITY;  /* its own labels alone */
        if (!(loss < want))
            bad_steps += wrong(f, step, "the loss does not fall", loss, want);
        last = loss;
    }
    copy(host_z, model.z, bytes);
    if (different_weights() && run.me == 0)
        bad_steps += wrong(f, run.steps, "PEs whose weights differ", 1, 0);
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &bad_steps, &bad_steps, 1);
    return bad_steps != 0;
}

/* The mean of the losses of all PEs falls from the first step to the last. */
static int mean_falls(const struct form *f)
{
    static double first, last;

    start_over();
    f->train(1);
    first = device_loss();
    f->train(run.steps > 1 ? run.steps - 1 : 1);
    last = device_loss();
    shmem_double_sum_reduce(SHMEM_TEAM_WORLD, &first, &first, 1);
    shmem_double_sum_reduce(SHMEM_TEAM_WORLD, &last, &last, 1);
    return last < first ? 0 : run.me == 0
         ? wrong(f, run.steps, "the mean loss does not fall", last, first) : 1;
}

/* ---- what is measured ---- */

static double measure_us(void (*form)(int), int steps)
{
    static double mine, slowest;

    shmem_barrier_all();
    mine = bench_now_ns();
    form(steps);
    mine = (bench_now_ns() - mine) / steps / 1000;
    shmem_double_max_reduce(SHMEM_TEAM_WORLD, &slowest, &mine, 1);
    return slowest;
}

/* Paper 003's projection: of a program that takes f of its time for sums, which
 * are s times as fast. */
static void projection(const char *name, double s)
{
    static const double blocked[] = { 0.04, 0.1, 0.2, 0.3, 0.4, 0.5 };

    printf("# %-7s sums %.2f times as fast as host's; a program with sums of ",
           name, s);
    for (size_t i = 0; i < sizeof blocked / sizeof *blocked; i++)
        printf("%s%.0f %%: %.3f", i ? ", " : "", blocked[i] * 100,
               1 / (1 - blocked[i] + blocked[i] / s));
    printf(" times\n");
}

static void rows(void)
{
    static double us[FORMS][MOST_ROUNDS], alone[MOST_ROUNDS];
    double step[FORMS], kernel, bytes = (double)model.n * 8;

    for (int r = 0; r < run.rounds; r++) {
        alone[r] = measure_us(kernels_alone, run.steps);
        for (int f = 0; f < FORMS; f++)
            us[f][r] = has(f) ? measure_us(forms[f].train, run.steps) : 0;
    }
    kernel = bench_median(alone, run.rounds);
    for (int f = 0; f < FORMS; f++)
        step[f] = bench_median(us[f], run.rounds);
    if (run.me)
        return;
    if (!run.tsv)
        printf("# training by binary cross-entropy, %d steps; %d PEs\n"
               "# %-6s %4s %-7s %10s %10s %12s %13s %8s\n", run.steps, run.pes,
               "grid", "P", "form", "step(us)", "kernel(us)", "the rest(us)",
               "goodput(GB/s)", "vs_host");
    for (int f = 0; f < FORMS; f++)
        if (has(f))
            printf(run.tsv ? "%d\t%d\t%s\t%.2f\t%.2f\t%.2f\t%.3f\t%.3f\n"
                           : "%-8d %4d %-7s %10.2f %10.2f %12.2f %13.3f %8.3f\n",
                   run.grid, run.pes, forms[f].name, step[f], kernel,
                   step[f] - kernel, bytes / step[f] / 1e3,
                   step[HOST] / step[f]);
    for (int f = HOST + 1; f < FORMS && run.gain; f++)
        if (step[f] > kernel && step[HOST] > kernel)
            projection(forms[f].name, (step[HOST] - kernel) / (step[f] - kernel));
        else if (has(f))        /* other work, or too few steps */
            printf("# %-7s sums cannot be measured: the kernel alone took as "
                   "long\n", forms[f].name);
}

/* ---- arguments, memory ---- */

static int number(const char *option, const char *text, long least, long most,
                  int *out)
{
    char *end, wanted[64];
    long n;

    errno = 0;
    n = strtol(text, &end, 10);
    snprintf(wanted, sizeof wanted, "want a number from %ld to %ld", least, most);
    *out = (int)n;
    return end != text && !*end && !errno && n >= least && n <= most
         ? 0 : bad(option, text, wanted);
}

static int arguments(int argc, char **argv)
{
    char letter[3] = "-?";
    int c, rc = 0;

    if (argc > 1 && !strcmp(argv[1], "--tsv")) {
        run.tsv = true;
        argv++, argc--;
    }
    opterr = 0;
    while (!rc && (c = getopt(argc, argv, ":g:s:p:n:b")) != -1) {
        letter[1] = (char)c;
        switch (c) {
        case 'g': rc = number(letter, optarg, 1, 1 << 17, &run.grid); break;
        case 's': rc = number(letter, optarg, 1, 100000, &run.steps); break;
        case 'p': rc = number(letter, optarg, 1, 1024, &run.parts); break;
        case 'n': rc = number(letter, optarg, 1, MOST_ROUNDS, &run.rounds); break;
        case 'b': run.gain = true; break;
        default:
            letter[1] = (char)optopt;
            rc = bad("option", letter, c == ':' ? "its value is missing"
                                                : "unknown");
        }
    }
    if (!rc && optind < argc)
        rc = bad("argument", argv[optind], "not expected");
    if (!rc && run.grid * BLOCK % run.parts)
        rc = bad("-p", "PARTS", "does not divide 1024 times GRID");
    return rc;
}

/* The same answer on all PEs. */
static bool all_have(bool mine)
{
    static int least;

    least = mine;
    shmem_int_min_reduce(SHMEM_TEAM_WORLD, &least, &least, 1);
    return least != 0;
}

static int open_device(void)
{
    shmemx_device_info_t d;

    if (!all_have(!shmemx_stream_create(&stream)))
        return bad("this job", "", "has no device: SHMEM_DEVICE=software is one "
                   "in software");
    must(shmemx_device_info(&d), "shmemx_device_info");
    if (!all_have(launch_open(&kernels, &d, kernel_names, KERNELS, soft, bce_ptx,
                              bce_text)))
        return bad("kernels for", d.name,
                   *kernels.gpu.said ? kernels.gpu.said : "another PE has none");
    run.groups = kernels.on_gpu ? (unsigned)run.parts : 1;
    return 0;
}

static void *room(size_t bytes)
{
    return shmem_space_calloc(SHMEM_SPACE_DEVICE, 1, bytes);
}

static int open_model(void)
{
    size_t n = (size_t)run.grid * BLOCK;
    size_t shares = (size_t)run.parts * LAUNCH_ITEMS;
    float *label = room(n * sizeof(float));

    model = (struct model){
        .z = room(n * sizeof(float)), .p = room(n * sizeof(float)), .grad = room(n * sizeof(float)),
        .sum = room(n * sizeof(float)), .label = label,
        .losses = room(shares * sizeof(double)), .n = n,
        .parts = (word32)run.parts, .pes = (word32)run.pes,
        .rate = 0.5f * (float)n
    };
    host_z = malloc(n * sizeof *host_z);
    host_sum = malloc(n * sizeof *host_sum);
    host_losses = malloc(shares * sizeof *host_losses);
    if (!all_have(model.z && model.p && model.grad && model.sum && label && model.losses &&
                  host_z && host_sum && host_losses))
        return bad("-g", "GRID", "no room in the device heap: set "
                   "SHMEM_DEVICE_SYMMETRIC_SIZE, or a smaller GRID");
    for (size_t i = 0; i < n; i++)
        host_z[i] = label_of(run.me, i);
    copy(label, host_z, n * sizeof *host_z);
    return 0;
}

static void open_sums(void)
{
    size_t each = model.n / model.parts;

    must(shmemx_queue_create(stream, NULL, 0, &queue), "a queue");
    must(shmemx_allreduce_init(SHMEM_TEAM_WORLD, model.sum, model.grad, model.n,
                               SHMEMX_FLOAT, SHMEMX_SUM, &whole), "a request");
    must(shmemx_pallreduce_init(SHMEM_TEAM_WORLD, model.sum, model.grad,
                                run.parts, each, SHMEMX_FLOAT, SHMEMX_SUM,
                                &in_parts), "a partitioned request");
    readying.m = training.m = model;
    must(shmemx_prequest_create(in_parts, NULL, 0, &readying.sum),
         "a prequest");
    must(shmemx_dev_get(SHMEM_DEVICE_CTX_DEFAULT, &training.dev),
         "shmemx_dev_get");
    shmem_barrier_all();
}

static void close_sums(void)
{
    must(shmemx_prequest_free(&readying.sum), "a prequest's end");
    must(shmemx_req_free(&in_parts), "a request's end");
    must(shmemx_req_free(&whole), "a request's end");
    must(shmemx_queue_destroy(queue), "a queue's end");
}

int main(int argc, char **argv)
{
    int rc;

    shmem_init();
    run.me = shmem_my_pe();
    run.pes = shmem_n_pes();
    rc = arguments(argc, argv);
    rc = rc ? rc : open_device();
    rc = rc ? rc : open_model();
    if (!rc) {
        open_sums();
        for (int f = 0; f < FORMS && !rc; f++)
            rc = has(f) && (check(&forms[f]) || mean_falls(&forms[f]));
        if (!rc)
            rows();
        close_sums();
    }
    if (stream)
        shmemx_stream_destroy(stream);
    dev_gpu_unload(&kernels.gpu);
    free(host_z);
    free(host_sum);
    free(host_losses);
    shmem_finalize();
    return rc;
}
