/* SPDX-License-Identifier: BSD-3-Clause */
/* exchange_ki.c - the exchange by one kernel, which sends the keys as it finds
 * them, or triggers puts that the host has posted; see ki.inc.  The host launches
 * it and waits for its end. */
#include "device.h"

#include <errno.h>
#include <shmem.h>
#include <shmem_space.h>
#include <shmemx_trig.h>
#include <stdlib.h>
#include <string.h>

#include "ki.inc"
#include "split.h"

/* Those of the software device are groups of one item: those beyond the cores
 * run as others end.  Those of a GPU are items, a warp of them in each group.
 * So many on each PE, for what they have is symmetric.  A put of a line of at
 * most so many bytes is over once it has been issued. */
struct units {
    word32 count, each;         /* each: in a group */
    word32 line_bytes;
};
static const struct units soft_units = { 16, 1, 4096 };
static const struct units gpu_units = { 4096, 32, 256 };

struct sender {
    struct job *job;
    struct dev *dev;
    shmemx_stream_t stream;
    const struct units *units;
    struct inside inside;
    void *cuts;                 /* symmetric device memory */
    word64 *sent;               /* [units] */
    shmemx_trig_t trig;         /* of GA_KT, or NULL */
    struct dev_gpu on_gpu;
};

/* ------------------------------------------------------- kernels of a GPU ---- */

KI_TEXT(inside, KI_TEXT_FILE, KI_PTX_FILE);

static int load(struct dev_gpu *g, const shmemx_device_info_t *info)
{
    static const char *const name = "sort_inside";

    *g = (struct dev_gpu){ .names = &name, .count = 1,
                           .otherwise = "another --variant" };
    return dev_gpu_load(g, info->driver, info->ordinal, inside_ptx,
                        inside_text);
}

static bool is_gpu(const shmemx_device_info_t *info)
{
    return strcmp(info->driver, "host") != 0;
}

bool device_sends(void)
{
    shmemx_device_info_t info;
    struct dev_gpu g;
    int rc;

    if (shmemx_device_info(&info))
        return false;
    if (!is_gpu(&info))
        return true;
    rc = load(&g, &info);
    dev_gpu_unload(&g);
    return rc == 0;
}

/* ----------------------------------------------------------- the exchange ---- */

static const struct units *units_here(void)
{
    shmemx_device_info_t info;

    return !shmemx_device_info(&info) && is_gpu(&info) ? &gpu_units
                                                       : &soft_units;
}

/* A chunk's mean share, for PEs of many jobs have no room for more. */
static size_t line_keys(const struct job *job)
{
    size_t pes = (size_t)job->pes;
    size_t most = units_here()->line_bytes / (size_t)job->width;
    size_t share = ((size_t)job->opts->chunk + pes - 1) / pes;

    return share < most ? share : most;
}

size_t exchange_ki_bytes(const struct job *job)
{
    return units_here()->count * (size_t)job->pes *
           (line_keys(job) * (size_t)job->width + sizeof(word32) +
            sizeof(word64)) +
           (size_t)job->pes * 4 * sizeof(word64);
}

static void send_inside(const shmemx_item_t *it, void *arg)
{
    const struct coord s = { it->group, it->item, it->groups, it->items };

    inside(arg, &s);
}

static void launch(struct sender *x)
{
    const struct units *u = x->units;
    shmemx_grid_t grid = { .groups = u->count / u->each, .items = u->each,
                           .phases = 1 };
    const char *why = x->on_gpu.said;
    int rc;

    if (!x->dev->gpu) {
        rc = shmemx_stream_launch(x->stream, &grid, send_inside, &x->inside);
        why = strerror(-rc);
    } else {
        rc = dev_gpu_launch(&x->on_gpu, 0, grid.groups, grid.items,
                            &x->inside, x->stream);
    }
    if (rc)
        job_error(x->job, E_DEVICE, "%s: the kernel of GA_KI and GA_KT: %s",
                  x->dev->info.name, why);
}

void exchange_ki_run(struct job *job)
{
    struct sender *x = job->exchange;
    struct inside *k = &x->inside;
    double begin = job_now();

    k->w.n = job->n;
    k->w.each = (job->n + k->w.units - 1) / k->w.units;
    k->w.classes = (word32)split_classes(job->split);
    split_work(job->split, &k->w);
    split_load(job->split, x->dev, x->stream, x->cuts);
    split_load_state(job->split, x->dev, x->stream, k->w.state);
    launch(x);
    dev_copy(x->dev, x->stream, x->sent, k->sent,
             k->w.units * sizeof(*x->sent));
    dev_sync(x->dev, x->stream);
    job->sent_bytes = 0;
    for (word32 i = 0; i < k->w.units; i++)
        job->sent_bytes += x->sent[i] * (uint64_t)job->width;
    job->timer[T_EXCHANGE] += job_now() - begin;
    job->timer[T_ATA_KEYS] = job->timer[T_EXCHANGE];
}

/* ----------------------------------------------------------------- set-up ---- */

static bool rooms(struct sender *x)
{
    struct job *job = x->job;
    struct inside *k = &x->inside;
    size_t pes = (size_t)job->pes, units = x->units->count;
    const struct {
        void *at;
        size_t bytes;
    } wanted[] = {
        { &k->lines, units * pes * k->line * (size_t)job->width },
        { &k->filled, units * pes * sizeof(*k->filled) },
        { &k->hits, units * pes * sizeof(*k->hits) },
        { &k->sent, units * sizeof(*x->sent) },
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
    k->w.units = x->units->count;
}

/* Of GA_KT: a put for each line, whose place and length the kernel gives. */
static int post_lines(struct sender *x)
{
    struct job *job = x->job;
    struct inside *k = &x->inside;
    int tags = (int)(x->units->count * k->w.pes);
    word64 *none = calloc((size_t)tags, sizeof(*none));
    int rc = none ? shmemx_trig_create(SHMEM_CTX_DEFAULT, tags, NULL, 0,
                                       &x->trig) : -ENOMEM;

    for (int tag = 0; tag < tags && !rc; tag++) {
        rc = shmemx_trig_put(x->trig, tag, 1, k->w.to, k->lines, 0,
                             tag % job->pes);
        if (!rc)
            rc = shmemx_trig_repeat(x->trig, tag);
    }
    if (!rc) {
        dev_copy(x->dev, x->stream, k->hits, none,
                 (size_t)tags * sizeof(*none));
        dev_sync(x->dev, x->stream);
        rc = shmemx_trig_dev(x->trig, &k->trig);
    }
    k->triggers = 1;
    free(none);
    return rc;
}

void exchange_kt_open(struct job *job)
{
    struct sender *x;
    int rc;

    exchange_ki_open(job);
    x = job->exchange;
    if (share_failed(job))
        return;
    rc = post_lines(x);
    if (rc)
        job_error(job, E_DEVICE, "%s: no triggers for GA_KT: %s",
                  x->dev->info.name, strerror(-rc));
}

void exchange_ki_open(struct job *job)
{
    struct sender *x = calloc(1, sizeof(*x));

    job->exchange = x;
    if (x) {
        x->job = job;
        x->dev = &job->device->dev;
        x->units = units_here();
        x->sent = calloc(x->units->count, sizeof(*x->sent));
        x->inside.line = (word32)line_keys(job);
    }
    if (!x || !x->sent)
        job_error(job, E_MEMORY, "exchange: no memory");
    else if (x->dev->gpu && load(&x->on_gpu, &x->dev->info))
        job_error(job, E_DEVICE, "the kernel of GA_KI for %s: %s",
                  x->dev->info.name, x->on_gpu.said);
    else
        dev_stream(x->dev, &x->stream);
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
    if (x->trig)
        shmemx_trig_free(&x->trig);
    shmem_free(x->cuts);
    shmem_free(x->inside.hits);
    shmem_free(x->inside.w.state);
    shmem_free(x->inside.sent);
    shmem_free(x->inside.filled);
    shmem_free(x->inside.lines);
    if (x->stream)
        shmemx_stream_destroy(x->stream);
    dev_gpu_unload(&x->on_gpu);
    free(x->sent);
    free(x);
    job->exchange = NULL;
}
