/* SPDX-License-Identifier: BSD-3-Clause */
#include "exchange.h"

#include <errno.h>
#include <pthread.h>
#include <shmem.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "split.h"

#define KEY uint32_t
#define K(name) name##_32
#include "exchange.inc"
#undef KEY
#undef K

#define KEY uint64_t
#define K(name) name##_64
#include "exchange.inc"
#undef KEY
#undef K

/* Two chunk buffers: one is bucketed into while puts still read the other. */
enum { BUFFERS = 2 };

struct exchange {
    struct job *job;
    size_t chunk;               /* keys */
    int threads;
    int classes;                /* of this round */
    size_t mapped;              /* bytes of buffer[0], which holds both */
    char *buffer[BUFFERS];
    uint16_t *class;            /* of each key of the chunk */
    uint64_t *counts;           /* [threads][row]; then places in the buffer */
    size_t row;                 /* most classes there can be, whole lines */
    uint64_t *sums;             /* [classes] of all threads */
    uint64_t *ends;             /* [pes] of each target's keys in the buffer */
    pthread_barrier_t barrier;
    _Atomic uint64_t sent;      /* bytes to other PEs */
};

static void synchronize(struct exchange *x)
{
    if (x->threads > 1)
        pthread_barrier_wait(&x->barrier);
}

/* A thread's part of the n keys of a chunk. */
static size_t part(const struct exchange *x, size_t n, int thread, size_t *from)
{
    size_t each = (n + (size_t)x->threads - 1) / (size_t)x->threads;

    *from = each * (size_t)thread;
    if (*from >= n)
        return *from = 0;
    return n - *from < each ? n - *from : each;
}

/* From counts to places: by class, within a class by thread. */
static void place(struct exchange *x)
{
    uint64_t at = 0;

    for (int c = 0; c < x->classes; c++) {
        uint64_t first = at;

        for (int t = 0; t < x->threads; t++) {
            uint64_t *count = &x->counts[(size_t)t * x->row + (size_t)c];
            uint64_t n = *count;

            *count = at;
            at += n;
        }
        x->sums[c] = at - first;
    }
    split_cut(x->job->split, x->sums, x->ends);
}

/* Reserves room for n keys in the table of PE target and puts them there. */
static void append(struct exchange *x, shmem_ctx_t ctx, const char *keys,
                   size_t n, int target)
{
    struct job *job = x->job;
    size_t width = (size_t)job->width;
    long long at = shmem_ctx_longlong_atomic_fetch_add(ctx, job->cursor,
                                                       (long long)n, target);
    char *to = (char *)job->table + (size_t)at * width;

    if ((size_t)at + n > job->capacity)
        return;                 /* its PE sees that from the cursor */
    if (target == job->pe) {
        memcpy(to, keys, n * width);
        return;
    }
    shmem_ctx_putmem_nbi(ctx, to, keys, n * width, target);
    /* relaxed: likewise. */
    atomic_fetch_add_explicit(&x->sent, n * width, memory_order_relaxed);
}

/* Sends a thread's range of targets their buckets.  Every PE begins with
 * itself and the next one, so they do not all write to one PE at a time. */
static void append_range(struct exchange *x, shmem_ctx_t ctx, int thread,
                         const char *buffer)
{
    int pes = x->job->pes;
    int from = (int)((long)pes * thread / x->threads);
    int to = (int)((long)pes * (thread + 1) / x->threads);

    for (int i = from; i < to; i++) {
        int target = (x->job->pe + i) % pes;
        uint64_t first = target ? x->ends[target - 1] : 0;
        size_t n = (size_t)(x->ends[target] - first);

        if (n)
            append(x, ctx, buffer + first * (size_t)x->job->width, n, target);
    }
}

/* Adds the time since *since and moves it on.  Threads meet between steps, so
 * the times of thread 0 are those of the PE. */
static void lap(struct exchange *x, int thread, enum timer timer, double *since)
{
    double now;

    if (thread != 0)
        return;
    now = job_now();
    x->job->timer[timer] += now - *since;
    *since = now;
}

static void chunk_run(struct exchange *x, int thread, shmem_ctx_t ctx,
                      size_t base, size_t n, char *buffer)
{
    struct job *job = x->job;
    uint64_t *counts = x->counts + (size_t)thread * x->row;
    size_t width = (size_t)job->width, from, own = part(x, n, thread, &from);
    const char *keys = (char *)job->keys + (base + from) * width;
    double since = job_now();

    memset(counts, 0, (size_t)x->classes * sizeof(*counts));
    split_classify(job->split, keys, own, x->class + from, counts);
    synchronize(x);
    lap(x, thread, T_COUNT_BUCKET_SIZES, &since);
    if (thread == 0)
        place(x);
    synchronize(x);
    lap(x, thread, T_COMPUTE_OFFSETS, &since);
    if (width == 4)
        spread_32((const uint32_t *)keys, x->class + from, own, counts,
                  (uint32_t *)buffer);
    else
        spread_64((const uint64_t *)keys, x->class + from, own, counts,
                  (uint64_t *)buffer);
    lap(x, thread, T_BUCKETIZE, &since);
    /* The other buffer is free for the next chunk when all have met. */
    shmem_ctx_quiet(ctx);
    synchronize(x);
    append_range(x, ctx, thread, buffer);
    lap(x, thread, T_ATA_KEYS, &since);
}

static void exchange_thread(void *arg, int thread)
{
    struct exchange *x = arg;
    struct job *job = x->job;
    shmem_ctx_t ctx = SHMEM_CTX_DEFAULT;
    bool own = x->threads > 1 && shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx) == 0;
    size_t turn = 0;
    double since;

    if (!own)                   /* none left: the default one serves all */
        ctx = SHMEM_CTX_DEFAULT;
    for (size_t base = 0; base < job->n; base += x->chunk, turn++) {
        size_t n = job->n - base < x->chunk ? job->n - base : x->chunk;

        chunk_run(x, thread, ctx, base, n, x->buffer[turn % BUFFERS]);
        if (thread == 0)
            job_progress(job, "exchange", base + n, job->n);
    }
    since = job_now();
    shmem_ctx_quiet(ctx);
    if (own)
        shmem_ctx_destroy(ctx);
    lap(x, thread, T_ATA_KEYS, &since);
}

static bool buffers_make(struct exchange *x)
{
    struct job *job = x->job;
    size_t bytes = (x->chunk * (size_t)job->width + 63) / 64 * 64;

    x->mapped = BUFFERS * bytes;
    x->buffer[0] = job_map(job, x->mapped, "chunk buffers");
    if (!x->buffer[0])
        return false;
    memset(x->buffer[0], 0, x->mapped);
    x->buffer[1] = x->buffer[0] + bytes;
    x->class = calloc(x->chunk, sizeof(*x->class));
    x->counts = aligned_alloc(64, (size_t)x->threads * x->row *
                              sizeof(*x->counts));
    x->sums = calloc(x->row, sizeof(*x->sums));
    x->ends = calloc((size_t)job->pes, sizeof(*x->ends));
    if (x->class && x->counts && x->sums && x->ends)
        return true;
    job_error(job, E_MEMORY, "bucket counts of %d threads: no memory",
              x->threads);
    return false;
}

void exchange_host_open(struct job *job)
{
    struct exchange *x = calloc(1, sizeof(*x));
    size_t chunk = job->opts->chunk < job->n ? job->opts->chunk : job->n;

    if (!x) {
        job_error(job, E_MEMORY, "exchange: no memory");
        return;
    }
    x->job = job;
    x->chunk = chunk ? chunk : 1;
    x->threads = job->threads;
    x->row = ((size_t)job->pes * 2 + 7) / 8 * 8;
    job->exchange = x;
    if (buffers_make(x))
        pthread_barrier_init(&x->barrier, NULL, (unsigned)x->threads);
}

void exchange_host_close(struct job *job)
{
    struct exchange *x = job->exchange;

    if (!x)
        return;
    if (x->ends)
        pthread_barrier_destroy(&x->barrier);
    job_unmap(x->buffer[0], x->mapped);
    free(x->class);
    free(x->counts);
    free(x->sums);
    free(x->ends);
    free(x);
    job->exchange = NULL;
}

void exchange_host_run(struct job *job)
{
    struct exchange *x = job->exchange;
    double since = job_now();
    int rc;

    x->classes = split_classes(job->split);
    /* relaxed: no other thread is there. */
    atomic_store_explicit(&x->sent, 0, memory_order_relaxed);
    rc = team_run(job->threads, exchange_thread, x);
    if (rc)
        job_error(job, E_THREADS, "%d threads: %s: use fewer with --threads",
                  job->threads, strerror(-rc));
    job->timer[T_EXCHANGE] += job_now() - since;
    /* relaxed: they were joined. */
    job->sent_bytes = atomic_load_explicit(&x->sent, memory_order_relaxed);
}
