/* SPDX-License-Identifier: BSD-3-Clause */
/* exchange_st.c - the exchange as one stream does it.
 * What a stream starts has a fixed length and a fixed place, but how many keys
 * of a chunk go to a PE is known to the device only.  So each PE has a slot
 * for each chunk of each PE, a little larger than the mean share of a chunk,
 * and a chunk fills one slot for each PE, with the number of its keys in
 * front.  All of a chunk's slots go by one start of a queue; the stream then
 * waits for all that come in and gathers their keys into the table.  Keys
 * beyond a slot are appended by the host in the end. */
#include "device.h"

#include <errno.h>
#include <math.h>
#include <shmem.h>
#include <shmem_space.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "split.h"

enum {
    RUN_AHEAD = 24,             /* chunks enqueued and not done: dev_launch()
                                 * keeps so many arguments */
    GROUPS = 64, ITEMS = 256    /* of kernels that move keys, on a GPU */
};

struct fixed {
    struct job *job;
    struct dev *dev;
    size_t chunk, chunks, most; /* most: of the PE with most keys */
    size_t capacity, slot;      /* of a slot: keys, bytes */
    shmemx_stream_t stream;
    shmemx_queue_t queue;
    struct order order;
    /* Symmetric device memory: */
    char *sorted;               /* all keys, each chunk in order */
    char *slots, *landing;      /* [pes], [pes][most] */
    word64 *ends, *tallied, *state, *total;
    void *cuts;
    uint64_t *arrived;          /* symmetric host memory: slots, ever */
    uint64_t expected;
    word64 *host_ends;          /* [chunks][pes] */
};

/* Others wait for what this PE does not send. */
static void need(struct fixed *x, int rc, const char *what)
{
    if (rc && x->job->code == E_NONE)
        job_error(x->job, E_DEVICE, "%s: %s: %s", x->dev->info.name, what,
                  strerror(-rc));
    if (x->job->code == E_NONE)
        return;
    fprintf(stderr, "bucketsort: %s [B-E-%s]\n", x->job->error,
            job_code_name(x->job->code));
    shmem_global_exit(1);
}

static size_t keys_of_pe(const struct job *job, int pe)
{
    return (size_t)(job_share(job, pe + 1) - job_share(job, pe));
}

static size_t divided(size_t n, size_t by)
{
    return (n + by - 1) / by;
}

/* All that follows from the job's size; the same on all PEs. */
static void plan(const struct job *job, struct fixed *out)
{
    size_t pes = (size_t)job->pes;
    size_t n = (size_t)((job->total + pes - 1) / pes);
    double share;

    out->chunk = job->opts->chunk < n ? job->opts->chunk : n;
    out->chunk = out->chunk ? out->chunk : 1;
    out->most = divided(n ? n : 1, out->chunk);
    share = (double)out->chunk / (double)pes;
    out->capacity = (size_t)ceil(share + 6 * sqrt(share));
    if (out->capacity > out->chunk)
        out->capacity = out->chunk;
    out->slot = sizeof(word64) +
                (out->capacity * (size_t)job->width + 7) / 8 * 8;
}

size_t exchange_st_bytes(const struct job *job)
{
    struct fixed x;

    plan(job, &x);
    return x.most * x.chunk * (size_t)job->width +
           (size_t)job->pes * (x.most + 1) * (x.slot + 2 * sizeof(word64));
}

/* ------------------------------------------------------------- the stream ---- */

static void move(struct fixed *x, enum dev_kernel kernel, size_t slots,
                 const struct work *w)
{
    size_t most = x->dev->gpu ? GROUPS : x->dev->cores;

    dev_launch(x->dev, x->stream, kernel,
               (unsigned)(slots < most ? slots : most),
               x->dev->gpu ? ITEMS : 1, w);
}

static void send(struct fixed *x, size_t chunk)
{
    size_t pes = (size_t)x->job->pes, me = (size_t)x->job->pe;
    char *to = x->landing + (me * x->most + chunk) * x->slot;

    for (size_t i = 0; i < pes; i++) {
        size_t target = (me + i) % pes;

        need(x, shmemx_enqueue_putmem_signal(
                 x->queue, to, x->slots + target * x->slot, x->slot,
                 x->arrived, 1, SHMEM_SIGNAL_ADD, (int)target, NULL),
             "a put");
    }
    need(x, shmemx_enqueue_start(x->queue), "a start");
    need(x, shmemx_enqueue_wait(x->queue), "a wait for what was started");
}

static void enqueue(struct fixed *x, size_t chunk)
{
    const struct job *job = x->job;
    size_t width = (size_t)job->width, pes = (size_t)job->pes;
    size_t base = chunk * x->chunk, left = job->n - base;
    struct work w = {
        .from = (char *)job->device->keys + base * width,
        .to = x->sorted + base * width, .values = x->cuts,
        .n = left < x->chunk ? left : x->chunk, .width = (word32)width,
        .classes = (word32)split_classes(job->split),
        .ends = x->ends, .state = x->state, .slots = x->slots,
        .slot = x->slot, .capacity = x->capacity, .pes = (word32)pes
    };

    split_work(job->split, &w);
    order_run(&x->order, x->stream, &w, NULL, NULL);
    dev_launch(x->dev, x->stream, K_cut, 1, 1, &w);
    w.from = w.to;
    move(x, K_fill, pes, &w);
    dev_copy(x->dev, x->stream, x->host_ends + chunk * pes, x->ends,
             pes * sizeof(*x->ends));
    send(x, chunk);
}

/* What came in; how many keys to *total. */
static void receive(struct fixed *x, word64 *total)
{
    const struct job *job = x->job;
    size_t many = (size_t)job->pes * x->most;
    struct work w = {
        .to = job->device->table, .edges = x->total, .ends = x->tallied,
        .slots = x->landing, .slot = x->slot, .room = job->capacity,
        .width = (word32)job->width, .many = (word32)many
    };

    for (int pe = 0; pe < job->pes; pe++)
        x->expected += divided(keys_of_pe(job, pe), x->chunk);
    need(x, shmemx_signal_wait_until_on_stream(NULL, x->arrived, SHMEM_CMP_GE,
                                               x->expected, x->stream),
         "a wait for the other PEs");
    dev_launch(x->dev, x->stream, K_tally, 1, 1, &w);
    move(x, K_gather, many, &w);
    dev_copy(x->dev, x->stream, total, x->total, sizeof(*total));
}

/* --------------------------------------------------------------- the host ---- */

/* Keys that had no room in their slot. */
static void append(struct fixed *x, const char *keys, size_t n, int target)
{
    struct job *job = x->job;
    bool host = job->table_place == PLACE_HOST;
    size_t width = (size_t)job->width;
    long long at = shmem_longlong_atomic_fetch_add(job->cursor, (long long)n,
                                                   target);

    job->over_keys += target != job->pe ? n : 0;
    if ((size_t)at + n <= job->capacity)
        shmem_putmem((char *)(host ? job->table : job->device->table) +
                     (size_t)at * width, keys, n * width, target);
}

static void rest_of(struct fixed *x, size_t chunk)
{
    struct job *job = x->job;
    const word64 *ends = x->host_ends + chunk * (size_t)job->pes;
    const char *keys = x->sorted + chunk * x->chunk * (size_t)job->width;

    for (int i = 0; i < job->pes; i++) {
        int target = (job->pe + i) % job->pes;
        word64 from = target ? ends[target - 1] : 0;
        size_t n = (size_t)(ends[target] - from);

        if (target != job->pe) {
            job->sent_bytes += n * (size_t)job->width;
            job->slot_bytes += x->slot;
        }
        if (n > x->capacity)
            append(x, keys + (from + x->capacity) * (size_t)job->width,
                   n - x->capacity, target);
    }
}

void exchange_st_run(struct job *job)
{
    struct fixed *x = job->exchange;
    double begin = job_now();
    word64 total = 0;

    x->chunks = divided(job->n, x->chunk);
    split_load(job->split, x->dev, x->stream, x->cuts);
    split_load_state(job->split, x->dev, x->stream, x->state);
    for (size_t c = 0; c < x->chunks; c++) {
        if (c && c % RUN_AHEAD == 0)
            dev_sync(x->dev, x->stream);
        enqueue(x, c);
    }
    receive(x, &total);
    dev_sync(x->dev, x->stream);
    if (job->table_place == PLACE_HOST && total <= job->capacity) {
        dev_copy(x->dev, x->stream, job->table, job->device->table,
                 (size_t)total * (size_t)job->width);
        dev_sync(x->dev, x->stream);
    }
    need(x, 0, "");
    shmem_longlong_p(job->cursor, (long long)total, job->pe);
    shmem_barrier_all();        /* all cursors are behind the slots' keys */
    job->sent_bytes = job->slot_bytes = job->over_keys = 0;
    job->slot_keys = x->capacity;
    for (size_t c = 0; c < x->chunks; c++)
        rest_of(x, c);
    shmem_quiet();
    job->timer[T_EXCHANGE] += job_now() - begin;
    job->timer[T_ATA_KEYS] = job->timer[T_EXCHANGE];
}

/* ----------------------------------------------------------------- set-up ---- */

static void *room(struct job *job, bool host, size_t bytes)
{
    void *p = host ? shmem_space_calloc(SHMEM_SPACE_CPU, 1, bytes)
                   : shmem_space_calloc(SHMEM_SPACE_DEVICE, 1, bytes);

    if (!p)
        job_error(job, E_HEAP, "slots need %zu bytes of %s heap per PE more: "
                  "raise %s, or use another --chunk", bytes,
                  host ? "symmetric" : "device",
                  host ? "SHMEM_SYMMETRIC_SIZE"
                       : "SHMEM_DEVICE_SYMMETRIC_SIZE");
    return p;
}

static bool rooms(struct fixed *x)
{
    struct job *job = x->job;
    size_t pes = (size_t)job->pes, width = (size_t)job->width;
    const struct {
        void *at;
        size_t bytes;
    } wanted[] = {
        { &x->sorted, x->most * x->chunk * width },
        { &x->slots, pes * x->slot },
        { &x->landing, pes * x->most * x->slot },
        { &x->ends, pes * sizeof(word64) },
        { &x->tallied, pes * x->most * sizeof(word64) },
        { &x->state, split_state_bytes(job->split) },
        { &x->total, sizeof(word64) },
        { &x->cuts, split_cuts_bytes(job->split) },
    };

    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        void *p = room(job, false, wanted[i].bytes);

        if (!p)
            return false;
        memcpy(wanted[i].at, &p, sizeof(p));
    }
    x->arrived = room(job, true, sizeof(*x->arrived));
    return x->arrived &&
           order_open(x->dev, x->chunk, 2 * (unsigned)pes, &x->order);
}

/* A stream that cannot wait says so now. */
static void try_wait(struct fixed *x)
{
    int rc = shmemx_signal_wait_until_on_stream(NULL, x->arrived, SHMEM_CMP_GE,
                                                0, x->stream);

    if (rc)
        job_error(x->job, E_DEVICE, "%s: a wait on a stream: %s: use another "
                  "--variant", x->dev->info.name, strerror(-rc));
    else
        dev_sync(x->dev, x->stream);
}

void exchange_st_open(struct job *job)
{
    struct fixed *x = calloc(1, sizeof(*x));
    shmemx_queue_config_t config = { .depth = (size_t)job->pes };
    int rc = 0;

    job->exchange = x;
    if (x) {
        x->job = job;
        x->dev = &job->device->dev;
        plan(job, x);
        x->host_ends = calloc(x->most * (size_t)job->pes,
                              sizeof(*x->host_ends));
    }
    if (!x || !x->host_ends)
        job_error(job, E_MEMORY, "exchange: no memory");
    else if (dev_stream(x->dev, &x->stream))
        rc = shmemx_queue_create(x->stream, &config, SHMEMX_QUEUE_DEPTH,
                                 &x->queue);
    if (rc)
        job_error(job, E_DEVICE, "%s: a queue: %s", x->dev->info.name,
                  strerror(-rc));
    if (share_failed(job))      /* before memory that all PEs make at once */
        return;
    if (rooms(x))
        try_wait(x);
}

void exchange_st_close(struct job *job)
{
    struct fixed *x = job->exchange;

    if (!x)
        return;
    if (x->order.block)
        order_close(&x->order);
    shmem_free(x->sorted);
    shmem_free(x->slots);
    shmem_free(x->landing);
    shmem_free(x->ends);
    shmem_free(x->tallied);
    shmem_free(x->state);
    shmem_free(x->total);
    shmem_free(x->cuts);
    shmem_free(x->arrived);
    if (x->queue)
        shmemx_queue_destroy(x->queue);
    if (x->stream)
        shmemx_stream_destroy(x->stream);
    free(x->host_ends);
    free(x);
    job->exchange = NULL;
}
