/* SPDX-License-Identifier: BSD-3-Clause */
#include "device.h"

#include <shmem.h>
#include <shmem_space.h>
#include <stdlib.h>
#include <string.h>

bool device_wanted(const struct opts *o)
{
    for (int i = 0; i < variants_count; i++)
        if (o->variants >> i & 1 && variants[i].device)
            return true;
    return o->local == PLACE_DEVICE;
}

bool device_stages(const struct job *job)
{
    return job->opts->local != PLACE_HOST && device_wanted(job->opts);
}

bool device_there(void)
{
    shmemx_device_info_t info;

    return shmemx_device_info(&info) == 0 &&
           shmem_space_is_available(SHMEM_SPACE_DEVICE) == 0;
}

bool device_waits(int pes)
{
    shmemx_device_info_t info;

    return shmemx_device_info(&info) == 0 && (info.memops || pes == 1);
}

enum { HEAP_SPARE = 8 };        /* MiB */

static size_t most_keys(const struct job *job)
{
    uint64_t n = (job->total + (unsigned)job->pes - 1) / (unsigned)job->pes;

    return n > job->capacity ? (size_t)n : job->capacity;
}

/* The device heap that is enough for all variants: keys, table, counters of
 * half their size at most, and the same for the chunks of each stream. */
static size_t heap_mib(const struct job *job)
{
    size_t streams = (size_t)job->opts->streams, n = most_keys(job);
    size_t chunk = job->opts->chunk < n ? job->opts->chunk : n;
    size_t keys = 2 * n + n / 2 + streams * (2 * chunk + chunk / 2);
    size_t more = 0;

    /* They run one after the other. */
    for (int i = 0; i < variants_count; i++) {
        size_t bytes = !(job->opts->variants >> i & 1) ? 0
                     : variants[i].waits ? exchange_st_bytes(job)
                     : variants[i].inside ? exchange_ki_bytes(job) : 0;

        more = bytes > more ? bytes : more;
    }
    return ((keys * (size_t)job->width + more) >> 20) + streams + HEAP_SPARE;
}

/* Of symmetric device memory; sizes are the same on all PEs. */
static void *room(struct job *job, size_t bytes, const char *what)
{
    void *p = shmem_space_align(SHMEM_SPACE_DEVICE, 64, bytes);

    if (!p)
        job_error(job, E_HEAP, "%s: no room for %zu bytes of device heap per "
                  "PE: set SHMEM_DEVICE_SYMMETRIC_SIZE=%zuM, or use more PEs",
                  what, bytes, heap_mib(job));
    return p;
}

void device_open(struct job *job)
{
    struct device *d = calloc(1, sizeof(*d));
    size_t n = most_keys(job), bytes = n * (size_t)job->width;

    if (!d)
        job_error(job, E_MEMORY, "device: no memory");
    else if (dev_open(job, &d->dev))
        dev_stream(&d->dev, &d->stream);
    job->device = d;
    if (share_failed(job))
        return;
    d->keys = room(job, bytes, "keys");
    d->table = d->keys ? room(job, bytes, "table") : NULL;
    if (d->table && job->opts->counters == PLACE_DEVICE)
        d->cursor = room(job, sizeof(*d->cursor), "counter");
    if (d->table)
        order_open(&d->dev, n, 0, &d->order);
    share_failed(job);
}

void device_close(struct job *job)
{
    struct device *d = job->device;

    if (!d)
        return;
    if (d->order.block)
        order_close(&d->order);
    shmem_free(d->cursor);
    shmem_free(d->table);
    shmem_free(d->keys);
    if (d->stream)
        shmemx_stream_destroy(d->stream);
    dev_close(&d->dev);
    free(d);
    job->device = NULL;
}

void device_load(struct job *job)
{
    struct device *d = job->device;

    dev_copy(&d->dev, d->stream, d->keys, job->keys,
             job->n * (size_t)job->width);
    dev_sync(&d->dev, d->stream);
}

void device_sort(struct job *job)
{
    struct device *d = job->device;
    size_t bytes = job->received * (size_t)job->width;
    double begin = job_now();

    if (job->table_place == PLACE_HOST)
        dev_copy(&d->dev, d->stream, d->table, job->table, bytes);
    d->sorted = order_sort(&d->order, d->stream, job->width, d->table, d->keys,
                           job->received);
    job->timer[T_LOCAL_SORT] = job_now() - begin;
}

void device_fetch(struct job *job)
{
    struct device *d = job->device;

    dev_copy(&d->dev, d->stream, job->table, d->sorted,
             job->received * (size_t)job->width);
    dev_sync(&d->dev, d->stream);
}
