/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: partitioned messages between 2 PEs, which may be on two nodes:
 * beside a persistent message of the same bytes, with a producer that overlaps,
 * and what making a partition ready costs in a kernel.  On the software device.
 *
 *   partitioned [--tsv] [-n ROUNDS]     of each row (21)
 *
 * message, one, eight: half of a round trip, by shmemx_send_init and a stream, in
 * one partition, and in eight, started and made ready by the host; kernel:
 * eight, made ready by a kernel.  overlap: a producer that computes for twice as
 * long as the transfer takes and makes eight partitions ready on its way,
 * divided by its computing alone: the progress thread needs a core of its own
 * for that (oshrun --bind-to none).  Then, in a kernel, by partition of 8 bytes:
 * store, a release store to the peer (or to this PE, if the peer is on another
 * node); copy, engine: shmemx_dev_pready_block in these modes, where each
 * travels by itself; count: where 1024 travel together.  Medians; status 1
 * after an error or wrong data. */
#define _GNU_SOURCE 1
#include "bench.h"

#include <shmem.h>
#include <shmemx_part.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EIGHT = 8, SMALL = 1024, ROUNDS_MOST = 1001, MOST = 32 << 20 };

static int rounds = BENCH_ROUNDS, me;
static bool tsv;
static char *from, *to;
static uint64_t *ack;
static shmemx_stream_t stream;
static shmemx_queue_t queue;
static shmemx_req_t ends[2];            /* the send, the receive */
static shmemx_prequest_t out;
static double kernel_ns;

static void must(int rc, const char *what)
{
    if (!rc)
        return;
    fprintf(stderr, "partitioned: %s: %s\n", what,
            strerror(rc < 0 ? -rc : rc));
    shmem_global_exit(1);
}

static void free_ends(void)
{
    for (int i = 0; i < 2; i++)
        must(shmemx_req_free(&ends[i]), "to free a request");
    shmem_barrier_all();
}

static void make_parts(int n, size_t bytes, int most)
{
    must(shmemx_psend_init(from, n, bytes, !me, 1, &ends[0]), "a send");
    must(shmemx_ptransport(ends[0], most), "partitions that travel");
    must(shmemx_precv_init(to, n, bytes, !me, 1, &ends[1]), "a receive");
    must(shmemx_matchall(2, ends), "a match");
}

/* ---- there and back ---- */

static void ready_by_kernel(const shmemx_item_t *it, void *arg)
{
    (void)it;
    (void)arg;
    for (int i = 0; i < EIGHT; i++)
        shmemx_dev_pready_block(&out, i);
}

static void send_parts(int n, bool kernel)
{
    static const shmemx_grid_t grid = { .groups = 1, .items = 1, .phases = 1 };

    if (!kernel)
        must(shmemx_pready_range(ends[0], 0, n - 1), "ready");
    else
        must(shmemx_stream_launch(stream, &grid, ready_by_kernel, NULL),
             "a launch");
    must(shmemx_req_wait(ends[0]), "to wait for a send");
}

static double parts_us(int n, size_t bytes, bool kernel)
{
    static double times[ROUNDS_MOST];

    make_parts(n, bytes / (size_t)n, n);
    if (kernel)
        must(shmemx_prequest_create(ends[0], NULL, 0, &out), "a prequest");
    for (int r = -2; r < rounds; r++) {
        double start;

        shmem_barrier_all();
        start = bench_now_ns();
        must(shmemx_req_startall(2, ends), "a start");
        if (me == 0)
            send_parts(n, kernel);
        must(shmemx_req_wait(ends[1]), "to wait for a receive");
        if (me == 1)
            send_parts(n, kernel);
        times[r < 0 ? 0 : r] = (bench_now_ns() - start) / 2000;
    }
    if (kernel)
        must(shmemx_prequest_free(&out), "to free a prequest");
    free_ends();
    return bench_median(times, rounds);
}

static void exchange(int which)
{
    must(shmemx_enqueue_startall(queue, 1, &ends[which]), "a start");
    must(shmemx_req_wait(ends[which]), "to wait");
}

static double message_us(size_t bytes)
{
    static double times[ROUNDS_MOST];

    must(shmemx_send_init(from, bytes, !me, 1, &ends[0]), "a send");
    must(shmemx_recv_init(to, bytes, !me, 1, &ends[1]), "a receive");
    must(shmemx_matchall(2, ends), "a match");
    for (int r = -2; r < rounds; r++) {
        double start;

        shmem_barrier_all();
        start = bench_now_ns();
        exchange(me);
        exchange(!me);
        times[r < 0 ? 0 : r] = (bench_now_ns() - start) / 2000;
    }
    free_ends();
    return bench_median(times, rounds);
}

/* ---- a producer ---- */

static void compute(double ns)
{
    double end = bench_now_ns() + ns;

    while (bench_now_ns() < end)
        ;
}

/* Until PE 1 has all of it.  ns: of computing, in all. */
static double produce_us(double ns)
{
    static double times[ROUNDS_MOST];

    for (int r = -2; r < rounds; r++) {
        uint64_t was = *ack;
        double start;

        must(shmemx_req_start(ends[me]), "a start");
        shmem_barrier_all();    /* the receiver has started */
        start = bench_now_ns();
        for (int i = 0; me == 0 && i < EIGHT; i++) {
            compute(ns / EIGHT);
            must(shmemx_pready(ends[0], i), "ready");
        }
        must(shmemx_req_wait(ends[me]), "to wait");
        if (me == 1)
            shmem_signal_add(ack, 1, 0);
        else
            shmem_signal_wait_until(ack, SHMEM_CMP_GT, was);
        times[r < 0 ? 0 : r] = (bench_now_ns() - start) / 1000;
    }
    return bench_median(times, rounds);
}

static double overlap(size_t bytes)
{
    static double alone;        /* symmetric: both PEs need it */
    double both;

    make_parts(EIGHT, bytes / EIGHT, EIGHT);
    alone = produce_us(0);
    shmem_barrier_all();
    alone = shmem_double_g(&alone, 0);
    both = produce_us(2000 * alone);
    free_ends();
    return both / (2 * alone);
}

/* ---- a kernel's calls ---- */

static void stores(const shmemx_item_t *it, void *arg)
{
    uint64_t *at = arg;
    double start = bench_now_ns();

    (void)it;
    for (int i = 0; i < SMALL; i++)
        __atomic_store_n(&at[i], (uint64_t)i, __ATOMIC_RELEASE);
    kernel_ns = (bench_now_ns() - start) / SMALL;
}

static void readies(const shmemx_item_t *it, void *arg)
{
    double start = bench_now_ns();

    (void)it;
    (void)arg;
    for (int i = 0; i < SMALL; i++)
        shmemx_dev_pready_block(&out, i);
    kernel_ns = (bench_now_ns() - start) / SMALL;
}

static double run_ns(shmemx_kernel_t body, void *arg)
{
    static const shmemx_grid_t grid = { .groups = 1, .items = 1, .phases = 1 };

    must(shmemx_stream_launch(stream, &grid, body, arg), "a launch");
    must(shmemx_stream_sync(stream), "a kernel");
    return kernel_ns;
}

static double ready_ns(int mode, int most)
{
    const shmemx_prequest_config_t config = { .mode = mode };
    static double times[ROUNDS_MOST];

    make_parts(SMALL, 8, most);
    must(shmemx_prequest_create(ends[0], &config, SHMEMX_PREQUEST_MODE, &out),
         "a prequest");
    for (int r = -2; r < rounds; r++) {
        must(shmemx_req_start(ends[me]), "a start");
        shmem_barrier_all();
        if (me == 0)
            times[r < 0 ? 0 : r] = run_ns(readies, NULL);
        must(shmemx_req_wait(ends[me]), "to wait");
    }
    must(shmemx_prequest_free(&out), "to free a prequest");
    free_ends();
    return bench_median(times, rounds);
}

static double store_ns(void)
{
    static double times[ROUNDS_MOST];
    void *at = shmem_ptr(to, 1);

    for (int r = -2; me == 0 && r < rounds; r++)
        times[r < 0 ? 0 : r] = run_ns(stores, at ? at : to);
    shmem_barrier_all();
    return bench_median(times, rounds);
}

/* ---- rows ---- */

static void check(size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (to[i] != (char)(i * 7 + (size_t)!me)) {
            fprintf(stderr, "partitioned: byte %zu of %zu is wrong\n", i,
                    bytes);
            shmem_global_exit(1);
        }
    memset(to, 0, bytes);
    shmem_barrier_all();
}

static void row(size_t bytes)
{
    double one, eight, kernel, message = message_us(bytes), over;

    check(bytes);
    one = parts_us(1, bytes, false);
    check(bytes);
    eight = parts_us(EIGHT, bytes, false);
    check(bytes);
    kernel = parts_us(EIGHT, bytes, true);
    check(bytes);
    over = overlap(bytes);
    if (me == 0)
        printf(tsv ? "%zu\t%.2f\t%.2f\t%.2f\t%.2f\t%.3f\n"
                   : "%-10zu%13.2f%13.2f%13.2f%13.2f%10.3f\n",
               bytes, message, one, eight, kernel, over);
}

static void calls(void)
{
    bool mapped = shmem_ptr(to, !me) != NULL;
    double store = store_ns(), copy = 0, engine, count;

    if (mapped)
        copy = ready_ns(SHMEMX_PREQUEST_COPY, SMALL);
    engine = ready_ns(SHMEMX_PREQUEST_ENGINE, SMALL);
    count = ready_ns(SHMEMX_PREQUEST_ENGINE, 1);
    if (me == 0 && !tsv)
        printf("# %-8s%13s%13s%13s\n", "store(ns)", "copy(ns)", "engine(ns)",
               "count(ns)");
    if (me == 0)
        printf(tsv ? "calls\t%.2f\t%.2f\t%.2f\t%.2f\n"
                   : "%-10.2f%13.2f%13.2f%13.2f\n", store, copy, engine, count);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--tsv")) {
            tsv = true;
        } else if (!strcmp(argv[i], "-n") && i + 1 < argc &&
                   (rounds = atoi(argv[++i])) > 0 && rounds <= ROUNDS_MOST) {
            continue;
        } else {
            fprintf(stderr, "usage: partitioned [--tsv] [-n ROUNDS]\n");
            return 1;
        }
    }
    shmem_init();
    me = shmem_my_pe();
    if (shmem_n_pes() != 2) {
        fprintf(stderr, "partitioned: needs 2 PEs\n");
        shmem_global_exit(1);
    }
    must(shmemx_stream_create(&stream), "SHMEM_DEVICE=software: a stream");
    must(shmemx_queue_create(stream, NULL, 0, &queue), "a queue");
    from = shmem_malloc(MOST);
    to = shmem_calloc(1, MOST);
    ack = shmem_calloc(1, sizeof *ack);
    if (!from || !to || !ack)
        must(ENOMEM, "SHMEM_SYMMETRIC_SIZE");
    for (size_t i = 0; i < MOST; i++)
        from[i] = (char)(i * 7 + (size_t)me);
    if (me == 0 && !tsv)
        printf("# %-8s%13s%13s%13s%13s%10s\n", "bytes", "message(us)",
               "one(us)", "eight(us)", "kernel(us)", "overlap");
    for (size_t bytes = 1 << 10; bytes <= MOST; bytes *= 8)
        row(bytes);
    calls();
    must(shmemx_queue_destroy(queue), "to destroy a queue");
    must(shmemx_stream_destroy(stream), "to destroy a stream");
    shmem_finalize();
    return 0;
}
