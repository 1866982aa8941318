/* SPDX-License-Identifier: BSD-3-Clause */
/* exchange_device.c - the exchange of keys that the device buckets.
 * Chunks take turns on one or more streams, each with a pair of buffers and,
 * for each thread that sends, a context: while puts read one buffer, the next
 * chunk of that stream is bucketed into the other.  Buckets are put from where
 * they are or, where the variant keeps them on the host, from a copy there. */
#include "device.h"

#include <pthread.h>
#include <shmem.h>
#include <shmem_space.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "split.h"

enum { BUFFERS = 2, MARKS = 5 };

struct pipe {
    shmemx_stream_t stream;
    struct order order;
    char *buffer[BUFFERS];      /* symmetric device memory */
    char *staged[BUFFERS];      /* host memory, or NULL */
    word64 *edges;              /* of its last chunk, on the host */
    double mark[MARKS];         /* when steps of it ended, if wanted */
    int marks;
};

struct exchange {
    struct job *job;
    struct dev *dev;
    size_t chunk, chunks;
    int threads, streams;
    int classes;
    bool marked;
    struct pipe pipe[STREAMS_MAX];
    void *cuts;                 /* symmetric device memory */
    uint64_t *sums, *ends;
    pthread_barrier_t barrier;
    bool ready;                 /* the barrier is */
    bool failed;                /* thread 0 says so before a meeting */
    _Atomic uint64_t sent;
};

static void synchronize(struct exchange *x)
{
    if (x->threads > 1)
        pthread_barrier_wait(&x->barrier);
}

static size_t keys_of(const struct exchange *x, size_t chunk)
{
    size_t base = chunk * x->chunk, left = x->job->n - base;

    return left < x->chunk ? left : x->chunk;
}

static void mark(void *arg)
{
    struct pipe *l = arg;

    if (l->marks < MARKS)
        l->mark[l->marks++] = job_now();
}

static void mark_if(struct exchange *x, struct pipe *l)
{
    if (x->marked && shmemx_stream_call(l->stream, mark, l))
        job_error(x->job, E_DEVICE, "%s: a host call fails",
                  x->dev->info.name);
}

/* Everything that is to happen to a chunk on the device. */
static void enqueue(struct exchange *x, size_t chunk)
{
    struct pipe *l = &x->pipe[chunk % (size_t)x->streams];
    size_t turn = chunk / (size_t)x->streams % BUFFERS;
    size_t width = (size_t)x->job->width, n = keys_of(x, chunk);
    struct work w = {
        .from = (char *)x->job->device->keys + chunk * x->chunk * width,
        .to = l->buffer[turn], .values = x->cuts, .n = n,
        .width = (word32)width, .classes = (word32)x->classes
    };

    split_work(x->job->split, &w);
    l->marks = 0;
    mark_if(x, l);
    order_run(&l->order, l->stream, &w, x->marked ? mark : NULL, l);
    if (l->staged[turn]) {
        dev_copy(x->dev, l->stream, l->staged[turn], l->buffer[turn],
                 n * width);
        mark_if(x, l);
    }
    dev_copy(x->dev, l->stream, l->edges, l->order.edges,
             (size_t)x->classes * sizeof(*l->edges));
}

/* The steps' times, from marks, or all of the time waited as one. */
static void times(struct exchange *x, const struct pipe *l, double waited)
{
    static const enum timer timer[] = {
        T_COUNT_BUCKET_SIZES, T_COMPUTE_OFFSETS, T_BUCKETIZE, T_STAGE
    };

    if (!x->marked)
        x->job->timer[T_BUCKETIZE] += waited;
    for (int i = 1; x->marked && i < l->marks; i++)
        x->job->timer[timer[i - 1]] += l->mark[i] - l->mark[i - 1];
}

/* Waits for a chunk's buckets; where they end is then in x->ends. */
static void await(struct exchange *x, size_t chunk)
{
    struct pipe *l = &x->pipe[chunk % (size_t)x->streams];
    double begin = job_now();
    size_t n = keys_of(x, chunk);

    dev_sync(x->dev, l->stream);
    times(x, l, job_now() - begin);
    x->failed = x->job->code != E_NONE;
    if (x->failed)
        return;
    for (int c = 0; c < x->classes; c++)
        x->sums[c] = (c + 1 < x->classes ? l->edges[c + 1] : n) - l->edges[c];
    split_cut(x->job->split, x->sums, x->ends);
}

/* Reserves room for n keys in the table of PE target and moves them there. */
static void append(struct exchange *x, shmem_ctx_t ctx, struct pipe *l,
                   const char *keys, size_t n, int target)
{
    struct job *job = x->job;
    size_t width = (size_t)job->width;
    long long at = shmem_ctx_longlong_atomic_fetch_add(ctx, job->cursor,
                                                       (long long)n, target);
    bool host = job->table_place == PLACE_HOST;
    char *to = (char *)(host ? job->table : job->device->table) +
               (size_t)at * width;

    if ((size_t)at + n > job->capacity)
        return;                 /* its PE sees that from the cursor */
    if (target != job->pe) {
        shmem_ctx_putmem_nbi(ctx, to, keys, n * width, target);
        /* relaxed: who reads it has joined this thread. */
        atomic_fetch_add_explicit(&x->sent, n * width, memory_order_relaxed);
    } else if (l->staged[0]) {
        memcpy(to, keys, n * width);
    } else {
        dev_copy(x->dev, l->stream, to, keys, n * width);
    }
}

/* Targets [from, to) in this PE's order of them, itself first. */
static void append_range(struct exchange *x, shmem_ctx_t ctx, size_t chunk,
                         int from, int to)
{
    struct pipe *l = &x->pipe[chunk % (size_t)x->streams];
    size_t turn = chunk / (size_t)x->streams % BUFFERS;
    const char *buffer = l->staged[turn] ? l->staged[turn] : l->buffer[turn];

    for (int i = from; i < to; i++) {
        int target = (x->job->pe + i) % x->job->pes;
        uint64_t first = target ? x->ends[target - 1] : 0;
        size_t n = (size_t)(x->ends[target] - first);

        if (n)
            append(x, ctx, l, buffer + first * (size_t)x->job->width, n,
                   target);
    }
}

/* Where a thread's targets begin.  This PE itself is the first thread's, which
 * alone uses streams, however few PEs there are. */
static int first_of(const struct exchange *x, int thread)
{
    return (int)(((long)x->job->pes * thread + x->threads - 1) / x->threads);
}

/* One chunk as a thread sees it.  Its own bucket, which goes by the stream, is
 * sent before the stream gets the next chunk. */
static void chunk_run(struct exchange *x, int thread, shmem_ctx_t ctx,
                      size_t chunk)
{
    int from = first_of(x, thread), to = first_of(x, thread + 1);
    size_t next = chunk + (size_t)x->streams;
    double begin;

    synchronize(x);             /* no thread reads the last chunk's ends */
    if (thread == 0)
        await(x, chunk);
    begin = job_now();
    /* The other buffer of this stream is free when all have met. */
    shmem_ctx_quiet(ctx);
    synchronize(x);
    if (x->failed)
        return;
    if (thread == 0) {
        append_range(x, ctx, chunk, 0, 1);
        from = 1;
        if (next < x->chunks)
            enqueue(x, next);
    }
    append_range(x, ctx, chunk, from, to);
    if (thread == 0)
        x->job->timer[T_ATA_KEYS] += job_now() - begin;
}

static void exchange_thread(void *arg, int thread)
{
    struct exchange *x = arg;
    shmem_ctx_t ctx[STREAMS_MAX];
    bool own[STREAMS_MAX];
    double begin;

    for (int i = 0; i < x->streams; i++) {
        own[i] = x->threads + x->streams > 2 &&
                 shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx[i]) == 0;
        if (!own[i])            /* none left: the default one serves all */
            ctx[i] = SHMEM_CTX_DEFAULT;
    }
    for (size_t c = 0; c < x->chunks && !x->failed; c++) {
        chunk_run(x, thread, ctx[c % (size_t)x->streams], c);
        if (thread == 0)
            job_progress(x->job, "exchange", c + 1, x->chunks);
    }
    begin = job_now();
    for (int i = 0; i < x->streams; i++) {
        shmem_ctx_quiet(ctx[i]);
        if (own[i])
            shmem_ctx_destroy(ctx[i]);
    }
    if (thread == 0)
        x->job->timer[T_ATA_KEYS] += job_now() - begin;
}

void exchange_device_run(struct job *job)
{
    struct exchange *x = job->exchange;
    double begin = job_now();
    int rc;

    x->classes = split_classes(job->split);
    x->chunks = (job->n + x->chunk - 1) / x->chunk;
    x->failed = false;
    /* relaxed: no other thread is there. */
    atomic_store_explicit(&x->sent, 0, memory_order_relaxed);
    split_load(job->split, x->dev, x->pipe[0].stream, x->cuts);
    for (size_t c = 0; c < x->chunks && c < (size_t)x->streams; c++)
        enqueue(x, c);
    rc = team_run(x->threads, exchange_thread, x);
    if (rc)
        job_error(job, E_THREADS, "%d threads: %s: use fewer with --threads",
                  x->threads, strerror(-rc));
    for (int i = 0; i < x->streams; i++)
        dev_sync(x->dev, x->pipe[i].stream);
    job->timer[T_EXCHANGE] += job_now() - begin;
    /* relaxed: they were joined. */
    job->sent_bytes = atomic_load_explicit(&x->sent, memory_order_relaxed);
}

/* -------------------------------------------------------------- set-up ---- */

/* Symmetric: all PEs get it, or none does. */
static void *room(struct job *job, bool host, size_t bytes)
{
    void *p = shmem_space_align(host ? SHMEM_SPACE_CPU : SHMEM_SPACE_DEVICE,
                                64, bytes);

    if (!p)
        job_error(job, E_HEAP, "chunk buffers need %zu bytes of %s heap per "
                  "PE more: raise %s, or use a smaller --chunk", bytes,
                  host ? "symmetric" : "device",
                  host ? "SHMEM_SYMMETRIC_SIZE"
                       : "SHMEM_DEVICE_SYMMETRIC_SIZE");
    return p;
}

static bool pipe_open(struct exchange *x, struct pipe *l, unsigned classes)
{
    struct job *job = x->job;
    size_t bytes = (x->chunk * (size_t)job->width + 63) / 64 * 64;

    if (!order_open(x->dev, x->chunk, classes, &l->order))
        return false;
    for (int i = 0; i < BUFFERS; i++) {
        l->buffer[i] = room(job, false, bytes);
        if (!l->buffer[i])
            return false;
        if (job->table_place == PLACE_HOST && !job->bucket_device) {
            l->staged[i] = room(job, true, bytes);
            if (!l->staged[i])
                return false;
        }
    }
    return true;
}

static bool private_open(struct exchange *x, unsigned classes)
{
    struct job *job = x->job;
    bool ok = true;

    x->sums = calloc(classes, sizeof(*x->sums));
    x->ends = calloc((size_t)job->pes, sizeof(*x->ends));
    for (int i = 0; i < x->streams; i++) {
        x->pipe[i].edges = calloc(classes, sizeof(word64));
        ok = ok && x->pipe[i].edges;
    }
    if (!ok || !x->sums || !x->ends)
        job_error(job, E_MEMORY, "bucket sizes of %d PEs: no memory",
                  job->pes);
    for (int i = 0; i < x->streams; i++)
        dev_stream(x->dev, &x->pipe[i].stream);
    x->ready = !pthread_barrier_init(&x->barrier, NULL, (unsigned)x->threads);
    if (!x->ready)
        job_error(job, E_THREADS, "a barrier of %d threads cannot be made",
                  x->threads);
    return job->code == E_NONE;
}

void exchange_device_open(struct job *job)
{
    struct exchange *x = calloc(1, sizeof(*x));
    size_t n = (size_t)((job->total + (unsigned)job->pes - 1) /
                        (unsigned)job->pes);
    unsigned classes = 2 * (unsigned)job->pes;
    bool ok = true;

    job->exchange = x;
    if (x) {
        x->job = job;
        x->dev = &job->device->dev;
        x->chunk = job->opts->chunk < n ? job->opts->chunk : n;
        x->chunk = x->chunk ? x->chunk : 1;
        x->threads = job->threads;
        x->streams = job->streams;
        x->marked = job->opts->verbose || job->opts->json;
        private_open(x, classes);
    } else {
        job_error(job, E_MEMORY, "exchange: no memory");
    }
    if (share_failed(job))      /* before memory that all PEs make at once */
        return;
    x->cuts = room(job, false, split_cuts_bytes(job->split));
    ok = x->cuts != NULL;
    for (int i = 0; ok && i < x->streams; i++)
        ok = pipe_open(x, &x->pipe[i], classes);
}

static void pipe_close(struct pipe *l)
{
    if (l->order.block)
        order_close(&l->order);
    for (int i = 0; i < BUFFERS; i++) {
        shmem_free(l->buffer[i]);
        shmem_free(l->staged[i]);
    }
    if (l->stream)
        shmemx_stream_destroy(l->stream);
    free(l->edges);
}

void exchange_device_close(struct job *job)
{
    struct exchange *x = job->exchange;

    if (!x)
        return;
    for (int i = 0; i < x->streams; i++)
        pipe_close(&x->pipe[i]);
    shmem_free(x->cuts);
    if (x->ready)
        pthread_barrier_destroy(&x->barrier);
    free(x->sums);
    free(x->ends);
    free(x);
    job->exchange = NULL;
}
