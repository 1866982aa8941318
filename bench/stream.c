/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: communication on a stream beside the same work by other means,
 * in this run and taking turns: beside the device table's own copy, write and
 * wait where PE 1 is near, and beside the host's calls where it is far.  PE 0
 * measures, PE 1 answers; on the software device.
 *
 *   stream [--tsv] [-i ITERATIONS]      of the small ones in each round */
#define _GNU_SOURCE 1
#include "bench.h"

#include "gtl/gtl.h"

#include <malloc.h>
#include <sched.h>
#include <shmem.h>
#include <shmemx_st.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BATCH = 64, LARGEST = 65536, STREAMS = 100, ARMED = 100000 };

static shmemx_stream_t stream;
static shmemx_queue_t queue;
static uint64_t flag, ack, start_flag, lap, calm, over;   /* symmetric */
static char dest[LARGEST];
static char *source;
static uint64_t *raw_dest, *raw_word;
static int iterations = 200;

static void must(int rc, const char *what)
{
    if (!rc)
        return;
    fprintf(stderr, "stream: %s: %s\n", what, strerror(-rc));
    shmem_global_exit(1);
}

static void sync_stream(void)
{
    must(shmemx_stream_sync(stream), "stream_sync");
}

static void put8(void)
{
    must(shmemx_putmem_on_stream(dest, source, 8, 1, stream), "put");
}

static void quiet(void)
{
    must(shmemx_quiet_on_stream(stream), "quiet");
}

/* Holds the stream until the start flag is set.  PE 1, whose core may be half
 * of this one's, is calm meanwhile. */
static void shut(void)
{
    shmem_uint64_p(&calm, 1, 1);
    shmem_quiet();
    must(shmemx_uint64_wait_until_on_stream(&start_flag, SHMEM_CMP_GE, ++lap,
                                            stream), "wait_until");
}

static void open_streams(void)
{
    shmem_uint64_p(&calm, 0, 1);
    shmem_uint64_p(&start_flag, lap, 0);
}

static void show(const char *name, const char *unit, double ours,
                 double target)
{
    struct bench_row row = {
        .name = name, .unit = unit, .ours = ours, .target = target
    };

    bench_print(&row);
}

static void show_pair(const char *name, struct bench_pair p, double target,
                      double target_ratio)
{
    struct bench_row row = {
        .name = name, .unit = "ns", .ours = p.ours, .limit = p.limit,
        .ratio = p.ratio, .target = target, .target_ratio = target_ratio
    };

    bench_print(&row);
}

/* ---- near: beside the device's own ---- */

static void on_node_step(void)
{
    put8();
    quiet();
    must(shmemx_uint64_wait_until_on_stream(&flag, SHMEM_CMP_GE, 0, stream),
         "wait_until");
}

static void raw_step(void)
{
    must(gtl->copy(raw_dest, source, 8, stream), "copy");
    must(gtl->write64(raw_word, 1, stream), "write64");
    must(gtl->wait64(raw_word, 1, stream), "wait64");
}

static void on_node_steps(void *arg, int iters)
{
    (void)arg;
    for (int i = 0; i < iters; i++)
        on_node_step();
    sync_stream();
}

static void raw_steps(void *arg, int iters)
{
    (void)arg;
    for (int i = 0; i < iters; i++)
        raw_step();
    sync_stream();
}

static void on_node_step_sync(void *arg, int iters)
{
    (void)arg;
    for (int i = 0; i < iters; i++) {
        on_node_step();
        sync_stream();
    }
}

static void raw_step_sync(void *arg, int iters)
{
    (void)arg;
    for (int i = 0; i < iters; i++) {
        raw_step();
        sync_stream();
    }
}

/* Per call: the calls alone, what they enqueue runs later or meanwhile. */
static double calls_ns(void (*call)(void), int times, bool held)
{
    double ns[BENCH_ROUNDS], start;

    for (int r = -1; r < BENCH_ROUNDS; r++) {
        sync_stream();
        if (queue)                      /* what a start let go goes on */
            must(shmemx_queue_wait(queue), "queue_wait");
        if (held)
            shut();
        call();                         /* the stream wakes up */
        start = bench_now_ns();
        for (int i = 0; i < times; i++)
            call();
        if (r >= 0)
            ns[r] = (bench_now_ns() - start) / times;
        if (held)
            open_streams();
    }
    sync_stream();
    return bench_median(ns, BENCH_ROUNDS);
}

static void batch(void)
{
    for (int i = 0; i < BATCH; i++)
        must(shmemx_enqueue_putmem(queue, dest + i * 8, source, 8, 1, NULL),
             "enqueue_putmem");
    must(shmemx_enqueue_start(queue), "enqueue_start");
}

static void batches(const char *name)
{
    must(shmemx_queue_create(stream, NULL, 0, &queue), "queue_create");
    show(name, "ns", calls_ns(batch, 10, true) / BATCH, 100);
    must(shmemx_queue_wait(queue), "queue_wait");
    must(shmemx_queue_destroy(queue), "queue_destroy");
    queue = NULL;
}

static void on_node(void)
{
    raw_dest = shmem_ptr(dest, 1);
    raw_word = shmem_ptr(&flag, 1);
    /* A call takes a little longer than the stream its step, and a raw one
     * less: with many to a sync calls are all there is. */
    show_pair("near put, quiet, wait, many",
              bench_both(on_node_steps, raw_steps, NULL, iterations), 0, 0);
    show_pair("near put, quiet, wait, sync",
              bench_both(on_node_step_sync, raw_step_sync, NULL, iterations), 0,
              1.2);
    show("near put, the call alone", "ns", calls_ns(put8, iterations, true),
         150);
    show("near put, call, stream running", "ns",
         calls_ns(put8, iterations, false), 150);
    batches("near put, of 64 to a start");
}

/* ---- far: beside the host's ---- */

static double triggered;

static void stamp(void *arg)
{
    (void)arg;
    triggered = bench_now_ns();
}

/* PE 1 sees the flag and reports when: the clock is the machine's.  Then it
 * makes the network advance, as some need it, until PE 0 is through. */
static void answer(int pings)
{
    const struct timespec pause_ms = { 0, 100000 };

    for (int i = 1; i <= pings; i++) {
        shmem_signal_wait_until(&flag, SHMEM_CMP_GE, (uint64_t)i);
        shmem_uint64_p(&ack, (uint64_t)bench_now_ns(), 0);
    }
    while (!shmem_uint64_test(&over, SHMEM_CMP_GE, 1)) {
        if (shmem_uint64_test(&calm, SHMEM_CMP_EQ, 1))
            nanosleep(&pause_ms, NULL);
        else
            sched_yield();
    }
}

/* The host sleeps as soon as it can, so that it takes no core. */
static double ping(bool on_stream)
{
    static uint64_t n, seen;

    n++;
    if (on_stream) {
        must(shmemx_stream_call(stream, stamp, NULL), "call");
        must(shmemx_putmem_signal_nbi_on_stream(
                 dest, source, 8, &flag, n, SHMEM_SIGNAL_SET, 1, stream),
             "put_signal");
    } else {
        triggered = bench_now_ns();
        shmem_putmem_signal_nbi(dest, source, 8, &flag, n, SHMEM_SIGNAL_SET,
                                1);
    }
    shmem_uint64_wait_until(&ack, SHMEM_CMP_GT, seen);
    seen = ack;
    if (on_stream)
        sync_stream();
    return (double)seen - triggered;
}

static double pings_ns(bool on_stream, double *ns)
{
    for (int i = 0; i < iterations; i++)
        ns[i] = ping(on_stream);
    return bench_median(ns, iterations);
}

static void one_direction(double target)
{
    double *ns = malloc((size_t)iterations * sizeof *ns);
    double a[BENCH_ROUNDS], b[BENCH_ROUNDS], q[BENCH_ROUNDS];
    struct bench_pair p;

    if (!ns)
        must(-12, "malloc");
    pings_ns(false, ns);
    pings_ns(true, ns);
    for (int r = 0; r < BENCH_ROUNDS; r++) {
        b[r] = pings_ns(false, ns);
        a[r] = pings_ns(true, ns);
        q[r] = a[r] / b[r];
    }
    free(ns);
    p.ours = bench_median(a, BENCH_ROUNDS);
    p.limit = bench_median(b, BENCH_ROUNDS);
    p.ratio = bench_median(q, BENCH_ROUNDS);
    show_pair("far put_signal, trigger to flag", p, target, 1.3);
}

static int pings(void)
{
    return 2 * iterations * (BENCH_ROUNDS + 1);
}

static void kernel(const shmemx_item_t *item, void *arg)
{
    (void)item;
    ++*(char *)arg;
}

static void launch(void)
{
    static const shmemx_grid_t grid = { .groups = 1, .items = 1, .phases = 1 };

    must(shmemx_stream_launch(stream, &grid, kernel, source), "launch");
}

static void on_stream(void *arg, int iters)
{
    const size_t *size = arg;

    for (int i = 0; i < iters; i++) {
        launch();
        must(shmemx_putmem_on_stream(dest, source, *size, 1, stream), "put");
        quiet();
    }
    sync_stream();
}

static void host_driven(void *arg, int iters)
{
    const size_t *size = arg;

    for (int i = 0; i < iters; i++) {
        launch();
        sync_stream();
        shmem_putmem(dest, source, *size, 1);
        shmem_quiet();
    }
}

static void sequences(const char *where)
{
    static const size_t sizes[] = { 8, 512, 4096, 16384, LARGEST };
    char name[64];

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t size = sizes[i];

        snprintf(name, sizeof name, "%s kernel, put %zu B, quiet", where,
                 size);
        show_pair(name, bench_both(on_stream, host_driven, &size, iterations),
                  0, 1);
    }
}

/* ---- many ---- */

static double resident(void)
{
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");

    if (f && fscanf(f, "%*d %ld", &pages) != 1)
        pages = 0;
    if (f)
        fclose(f);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static void armed(const char *name, bool nbi)
{
    shmemx_stream_t was = stream;
    double start, ns, bytes, end;
    char text[64];

    must(shmemx_stream_create(&stream), "stream_create");
    put8();                             /* its queue is there */
    sync_stream();
    malloc_trim(0);                     /* what was freed counts as well */
    bytes = resident();
    shut();
    start = bench_now_ns();
    for (int i = 0; i < ARMED; i++)
        must(nbi ? shmemx_putmem_nbi_on_stream(dest, source, 8, 1, stream)
                 : shmemx_putmem_on_stream(dest, source, 8, 1, stream), "put");
    ns = bench_now_ns() - start;
    bytes = resident() - bytes;
    start = bench_now_ns();
    open_streams();
    quiet();
    sync_stream();
    end = bench_now_ns();
    must(shmemx_stream_destroy(stream), "stream_destroy");
    stream = was;
    snprintf(text, sizeof text, "%s, each of 100,000", name);
    show(text, "ns", ns / ARMED, 200);
    snprintf(text, sizeof text, "%s, memory", name);
    show(text, "B", bytes / ARMED, 256);
    snprintf(text, sizeof text, "%s, then done", name);
    show(text, "ns", (end - start) / ARMED, 0);
}

static double cpu_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* In per cent of a core, while all streams of the process are idle, or each
 * waits for a word. */
static void idle(bool waiting)
{
    const struct timespec complete_all = { 0, 300000000 }, while_ = { 2, 0 };
    shmemx_stream_t was = stream, all[STREAMS];
    double cpu;

    for (int i = 0; i < STREAMS; i++) {
        must(shmemx_stream_create(&stream), "stream_create");
        put8();
        quiet();
        sync_stream();
        all[i] = stream;
    }
    lap++;
    for (int i = 0; i < STREAMS && waiting; i++)
        must(shmemx_uint64_wait_until_on_stream(&start_flag, SHMEM_CMP_GE, lap,
                                                all[i]), "wait_until");
    nanosleep(&complete_all, NULL);
    cpu = cpu_ns();
    nanosleep(&while_, NULL);
    cpu = cpu_ns() - cpu;
    open_streams();
    for (int i = 0; i < STREAMS; i++) {
        must(shmemx_stream_sync(all[i]), "stream_sync");
        must(shmemx_stream_destroy(all[i]), "stream_destroy");
    }
    stream = was;
    show(waiting ? "100 streams that wait" : "100 idle streams", "%",
         cpu / 2e7, 1);
}

static int options(int argc, char **argv)
{
    int c;

    bench_open(argc, argv);
    optind = 1 + (argc > 1 && !strcmp(argv[1], "--tsv"));
    while ((c = getopt(argc, argv, "i:")) != -1)
        iterations = c == 'i' ? atoi(optarg) : 0;
    return iterations > 0 && optind == argc ? 0 : 2;
}

static void measure(bool is_off_node, double target)
{
    if (is_off_node) {
        one_direction(target);
        sequences("far");
        show("far put, the call alone", "ns",
             calls_ns(put8, iterations, true), 150);
        batches("far put, of 64 to a start");
        armed("far put", false);
        armed("far put_nbi", true);
    } else {
        on_node();
        sequences("near");
        armed("near put", false);
    }
    idle(false);
    idle(true);
    shmem_uint64_p(&over, 1, 1);
}

int main(int argc, char **argv)
{
    const char *provider = getenv("SHMEM_OFI_PROVIDER");
    bool is_off_node;

    if (options(argc, argv)) {
        fprintf(stderr, "usage: stream [--tsv] [-i ITERATIONS]\n");
        return 2;
    }
    shmem_init();
    source = shmem_calloc(1, LARGEST);
    if (shmem_n_pes() < 2 || !source || shmemx_stream_create(&stream) ||
        !gtl_device.host_streams)
        shmem_global_exit(77);
    shmem_barrier_all();
    is_off_node = !shmem_ptr(dest, 1 - shmem_my_pe());
    if (shmem_my_pe() == 0)
        measure(is_off_node,
                provider && !strcmp(provider, "shm") ? 5000 : 16000);
    else if (shmem_my_pe() == 1 && is_off_node)
        answer(pings());
    must(shmemx_stream_destroy(stream), "stream_destroy");
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
