/* SPDX-License-Identifier: BSD-3-Clause */
/* exchange_ki.c - the exchange by one kernel, which sends the keys as it finds
 * them; see ki.inc.  The host launches it and waits for its end. */
#include "device.h"

#include <errno.h>
#include <shmem.h>
#include <shmem_space.h>
#include <shmemx_dev.h>
#include <stdlib.h>
#include <string.h>

#include "ki.inc"
#include "split.h"

/* The units are groups of one item: those beyond the cores run as others end.
 * So many on each PE, for what they have is symmetric.  A put of a line of at
 * most LINE_BYTES is over once it has been issued. */
enum { UNITS = 16, LINE_BYTES = 4096 };

struct sender {
    struct job *job;
    struct dev *dev;
    shmemx_stream_t stream;
    struct inside inside;
    void *cuts;                 /* symmetric device memory */
    word64 sent[UNITS];
};

/* A chunk's mean share, for PEs of many jobs have no room for more. */
static size_t line_keys(const struct job *job)
{
    size_t pes = (size_t)job->pes, most = LINE_BYTES / (size_t)job->width;
    size_t share = ((size_t)job->opts->chunk + pes - 1) / pes;

    return share < most ? share : most;
}

size_t exchange_ki_bytes(const struct job *job)
{
    return UNITS * (size_t)job->pes *
           (line_keys(job) * (size_t)job->width + sizeof(word32)) +
           (size_t)job->pes * 4 * sizeof(word64);
}

static void send_inside(const shmemx_item_t *it, void *arg)
{
    const struct coord s = { it->group, it->item, it->groups, it->items };

    inside(arg, &s);
}

void exchange_ki_run(struct job *job)
{
    struct sender *x = job->exchange;
    struct inside *k = &x->inside;
    shmemx_grid_t grid = { .groups = UNITS, .items = 1, .phases = 1 };
    double begin = job_now();
    int rc;

    k->w.n = job->n;
    k->w.each = (job->n + UNITS - 1) / UNITS;
    k->w.classes = (word32)split_classes(job->split);
    split_work(job->split, &k->w);
    split_load(job->split, x->dev, x->stream, x->cuts);
    split_load_state(job->split, x->dev, x->stream, k->w.state);
    rc = shmemx_stream_launch(x->stream, &grid, send_inside, k);
    if (rc)
        job_error(job, E_DEVICE, "%s: the kernel of GA_KI: %s",
                  x->dev->info.name, strerror(-rc));
    dev_copy(x->dev, x->stream, x->sent, k->sent, sizeof(x->sent));
    dev_sync(x->dev, x->stream);
    job->sent_bytes = 0;
    for (int i = 0; i < UNITS; i++)
        job->sent_bytes += x->sent[i] * (uint64_t)job->width;
    job->timer[T_EXCHANGE] += job_now() - begin;
    job->timer[T_ATA_KEYS] = job->timer[T_EXCHANGE];
}

/* ----------------------------------------------------------------- set-up ---- */

static bool rooms(struct sender *x)
{
    struct job *job = x->job;
    struct inside *k = &x->inside;
    size_t pes = (size_t)job->pes;
    const struct {
        void *at;
        size_t bytes;
    } wanted[] = {
        { &k->lines, UNITS * pes * k->line * (size_t)job->width },
        { &k->filled, UNITS * pes * sizeof(*k->filled) },
        { &k->sent, sizeof(x->sent) },
        { &k->w.state, split_state_bytes(job->split) },
        { &x->cuts, split_cuts_bytes(job->split) },
    };

    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        void *p = shmem_space_align(SHMEM_SPACE_DEVICE, 64, wanted[i].bytes);

        memcpy(wanted[i].at, &p, sizeof(p));
        if (p)
            continue;
        job_error(job, E_HEAP, "lines of keys need %zu bytes of device heap "
                  "per PE more: raise SHMEM_DEVICE_SYMMETRIC_SIZE, or use a "
                  "smaller --chunk", wanted[i].bytes);
        return false;
    }
    return true;
}

static void inside_open(struct sender *x)
{
    struct job *job = x->job;
    struct inside *k = &x->inside;
    int rc = shmemx_dev_get(SHMEM_DEVICE_CTX_DEFAULT, &k->dev);

    if (rc)
        job_error(job, E_DEVICE, "%s: no state for kernels: %s",
                  x->dev->info.name, strerror(-rc));
    k->cursor = job->cursor;
    k->w.from = job->device->keys;
    k->w.to = job->table_place == PLACE_HOST ? job->table
                                             : job->device->table;
    k->w.values = x->cuts;
    k->w.room = job->capacity;
    k->w.width = (word32)job->width;
    k->w.pes = (word32)job->pes;
    k->w.units = UNITS;
}

void exchange_ki_open(struct job *job)
{
    struct sender *x = calloc(1, sizeof(*x));

    job->exchange = x;
    if (!x) {
        job_error(job, E_MEMORY, "exchange: no memory");
    } else {
        x->job = job;
        x->dev = &job->device->dev;
        x->inside.line = (word32)line_keys(job);
        if (x->dev->gpu)
            job_error(job, E_DEVICE, "%s: GA_KI needs SHMEM_DEVICE=software: "
                      "its kernel is a C function: use another --variant",
                      x->dev->info.name);
        else
            dev_stream(x->dev, &x->stream);
    }
    if (share_failed(job))      /* before memory that all PEs make at once */
        return;
    if (rooms(x))
        inside_open(x);
}

void exchange_ki_close(struct job *job)
{
    struct sender *x = job->exchange;

    if (!x)
        return;
    shmem_free(x->cuts);
    shmem_free(x->inside.w.state);
    shmem_free(x->inside.sent);
    shmem_free(x->inside.filled);
    shmem_free(x->inside.lines);
    if (x->stream)
        shmemx_stream_destroy(x->stream);
    free(x);
    job->exchange = NULL;
}
