/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: what calls of the device table cost, on the device that
 * SHMEM_DEVICE chooses; copies beside the processor's own between host
 * buffers.  Medians of rounds. */
#include "bench.h"

#include "base/env.h"
#include "gtl/gtl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define LARGEST ((size_t)4 << 20)
enum { BATCH = 100 };

static struct {
    void *stream, *other;
    char *to, *from;            /* device memory */
    char *here, *there;         /* host memory */
    uint64_t *words;            /* device memory */
    size_t size;
} bed;

static void must(int rc, const char *what)
{
    if (rc) {
        fprintf(stderr, "gtl: %s: %s\n", what, gtl_error());
        exit(1);
    }
}

/* A round: the calls alone, while the stream has work, per call. */
static double enqueue_round(void (*call)(void))
{
    double start, ns;

    must(gtl->stream_sync(bed.stream), "stream_sync");
    call();                     /* it wakes up */
    start = bench_now_ns();
    for (int i = 0; i < BATCH; i++)
        call();
    ns = bench_now_ns() - start;
    must(gtl->stream_sync(bed.stream), "stream_sync");
    return ns / BATCH;
}

static void show(const char *name, double (*round)(void (*)(void)),
                 void (*call)(void), double target)
{
    double values[BENCH_ROUNDS];
    struct bench_row row = { .name = name, .unit = "ns", .target = target };

    round(call);
    for (int i = 0; i < BENCH_ROUNDS; i++)
        values[i] = round(call);
    row.ours = bench_median(values, BENCH_ROUNDS);
    bench_print(&row);
}

static void write_word(void)
{
    gtl->write64(bed.words, 1, bed.stream);
}

static void wait_word(void)
{
    gtl->wait64(bed.words, 0, bed.stream);
}

static void copy_word(void)
{
    gtl->copy(bed.to, bed.from, 8, bed.stream);
}

static void add_word(void)
{
    const struct gtl_amo a = {
        .op = AMO_ADD, .size = 8, .word = bed.words + 8, .value = 1
    };

    gtl->amo(&a, bed.stream);
}

static void do_nothing(void *arg)
{
    (void)arg;
}

static void call_host(void)
{
    gtl->host_call(do_nothing, NULL, bed.stream);
}

static void empty(const struct shmemx_item *item, void *arg)
{
    (void)item;
    (void)arg;
}

static void launch_one(void)
{
    static const struct shmemx_grid g = {
        .groups = 1, .items = 1, .phases = 1
    };

    gtl->launch(&g, empty, NULL, bed.stream);
}

/* From the call until the stream is empty. */
static double sync_round(void (*call)(void))
{
    double start = bench_now_ns();

    for (int i = 0; i < BATCH; i++) {
        call();
        must(gtl->stream_sync(bed.stream), "stream_sync");
    }
    return (bench_now_ns() - start) / BATCH;
}

/* The call that finds the stream asleep. */
static double asleep_round(void (*call)(void))
{
    const struct timespec pause_ms = { .tv_nsec = 500000 };
    double start, ns = 0;

    for (int i = 0; i < 5; i++) {
        nanosleep(&pause_ms, NULL);
        start = bench_now_ns();
        call();
        ns += bench_now_ns() - start;
        must(gtl->stream_sync(bed.stream), "stream_sync");
    }
    return ns / 5;
}

/* One way, of a word that goes back and forth between two streams. */
static double pass_round(void (*call)(void))
{
    static uint64_t count;
    uint64_t *ping = bed.words + 64, *pong = bed.words + 128;
    double start;

    (void)call;
    must(gtl->stream_sync(bed.other), "stream_sync");
    start = bench_now_ns();
    for (int i = 0; i < BATCH; i++) {
        count++;
        gtl->write64(ping, count, bed.stream);
        gtl->wait64(ping, count, bed.other);
        gtl->write64(pong, count, bed.other);
        gtl->wait64(pong, count, bed.stream);
    }
    must(gtl->stream_sync(bed.stream), "stream_sync");
    return (bench_now_ns() - start) / (2 * BATCH);
}

static void copies(void *arg, int iters)
{
    (void)arg;
    for (int i = 0; i < iters; i++)
        gtl->copy(bed.to, bed.from, bed.size, bed.stream);
    must(gtl->stream_sync(bed.stream), "stream_sync");
}

static void copies_at_once(void *arg, int iters)
{
    (void)arg;
    for (int i = 0; i < iters; i++)
        must(gtl_copy_now(bed.to, bed.from, bed.size), "copy");
}

static void plain_copies(void *arg, int iters)
{
    (void)arg;
    for (int i = 0; i < iters; i++) {
        memcpy(bed.there, bed.here, bed.size);
        bench_barrier();
    }
}

static void copies_by_processor(void *arg, int iters)
{
    (void)arg;
    for (int i = 0; i < iters; i++) {
        memcpy(bed.to, bed.from, bed.size);
        bench_barrier();
    }
}

/* What the memory itself costs: processes share it, so its pages may be of
 * another size than those of the host's buffers. */
static void show_memory(size_t size, int iters)
{
    struct bench_pair p = bench_both(copies_by_processor, plain_copies, NULL,
                                     iters);
    char name[48];
    struct bench_row row = {
        .name = name, .unit = "ns", .ours = p.ours, .limit = p.limit,
        .ratio = p.ratio
    };

    snprintf(name, sizeof name, "processor there, %zu B", size);
    bench_print(&row);
}

static void show_copies(size_t size)
{
    int iters = size < 65536 ? 500 : (int)(((size_t)32 << 20) / size);
    struct bench_pair p;
    struct bench_row row = { .unit = "ns" };
    char name[48];

    bed.size = size;
    p = bench_both(copies, plain_copies, NULL, iters);
    snprintf(name, sizeof name, "device copy, stream, %zu B", size);
    row.name = name;
    row.ours = p.ours;
    row.limit = p.limit;
    row.ratio = p.ratio;
    row.target_ratio = size >= 65536 ? 1.1 : 0;
    bench_print(&row);
    p = bench_both(copies_at_once, plain_copies, NULL,
                   iters < 100 ? iters : 100);
    snprintf(name, sizeof name, "device copy, at once, %zu B", size);
    row.ours = p.ours;
    row.limit = p.limit;
    row.ratio = p.ratio;
    row.target_ratio = 0;
    bench_print(&row);
    if (gtl_device.host_access)
        show_memory(size, iters);
}

static char *host_memory(void)
{
    char *p = mmap(NULL, LARGEST, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED) {
        perror("mmap");
        exit(1);
    }
    madvise(p, LARGEST, MADV_HUGEPAGE);
    memset(p, 1, LARGEST);
    return p;
}

static void make_bed(void)
{
    if (env_load() || gtl_open(0))
        exit(1);
    must(gtl->stream_create(GTL_NORMAL, &bed.stream), "stream_create");
    must(gtl->stream_create(GTL_NORMAL, &bed.other), "stream_create");
    must(gtl->alloc(LARGEST, (void **)&bed.to), "alloc");
    must(gtl->alloc(LARGEST, (void **)&bed.from), "alloc");
    must(gtl->alloc(4096, (void **)&bed.words), "alloc");
    must(gtl_fill_now(bed.words, 0, 4096), "fill");
    must(gtl_fill_now(bed.from, 1, LARGEST), "fill");
    must(gtl_fill_now(bed.to, 1, LARGEST), "fill");
    bed.here = host_memory();
    bed.there = host_memory();
}

int main(int argc, char **argv)
{
    bench_open(argc, argv);
    make_bed();
    show("enqueue write64", enqueue_round, write_word, 150);
    show("enqueue wait64 that is over", enqueue_round, wait_word, 150);
    show("enqueue copy of 8 B", enqueue_round, copy_word, 150);
    show("enqueue atomic add", enqueue_round, add_word, 150);
    show("enqueue host call", enqueue_round, call_host, 150);
    if (!strcmp(gtl->name, "software"))
        show("enqueue kernel", enqueue_round, launch_one, 150);
    show("enqueue write64, stream asleep", asleep_round, write_word, 0);
    show("write64 and sync", sync_round, write_word, 0);
    show("write64 to wait64 of a stream", pass_round, NULL, 0);
    show_copies(8);
    show_copies(4096);
    show_copies(65536);
    show_copies(LARGEST);
    gtl_close();
    return 0;
}
