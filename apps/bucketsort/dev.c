/* SPDX-License-Identifier: BSD-3-Clause */
#include "dev.h"

#include <errno.h>
#include <shmem.h>
#include <stdio.h>
#include <string.h>

/* The kernels once more, as texts that end in 0: for a compiler, and what one
 * has made of them for CUDA's driver, which may be nothing. */
__asm__(".pushsection .rodata\n"
        "kernels_text:\n"
        ".incbin \"apps/bucketsort/kernels.inc\"\n"
        ".byte 0\n"
        "kernels_ptx:\n"
        ".incbin \"" SORT_PTX "\"\n"
        ".byte 0\n"
        ".popsection\n");
extern const char kernels_text[] __attribute__((visibility("hidden")));
extern const char kernels_ptx[] __attribute__((visibility("hidden")));

/* What launches leave to the software device lives until it has run.  No more
 * are under way than those of all streams. */
enum { RECORDS = 256 };

static struct record {
    struct work work;
} records[RECORDS];
static unsigned turn;

#define SOFT(name, phases) \
static void soft_##name(const shmemx_item_t *it, void *arg) \
{ \
    const struct coord s = { it->group, it->item, it->groups, it->items }; \
    name(arg, &s, it->phase); \
}
KERNELS(SOFT)
#undef SOFT

#define BODY(name, phases) { soft_##name, phases },
static const struct {
    shmemx_kernel_t body;
    unsigned phases;
} soft[] = { KERNELS(BODY) };
#undef BODY

#define NAME(name, phases) "sort_" #name,
static const char *const names[] = { KERNELS(NAME) };
#undef NAME
_Static_assert((int)DEV_KERNELS <= (int)DEV_GPU_KERNELS, "room for all kernels");

bool dev_open(struct job *job, struct dev *out)
{
    struct dev d = { .job = job, .kernels = {
        .names = names, .count = DEV_KERNELS,
        .otherwise = "--variant HA_HI --local host"
    } };
    int rc = shmemx_device_info(&d.info);

    if (rc) {
        job_error(job, E_DEVICE, "no device: %s: see SHMEM_DEVICE, or use "
                  "--variant HA_HI,HA_HI_OMP", strerror(-rc));
        return false;
    }
    d.gpu = strcmp(d.info.driver, "host") != 0;
    d.cores = (unsigned)(job->cores > 64 ? 64 : job->cores);
    if (d.gpu)
        rc = dev_gpu_load(&d.kernels, d.info.driver, d.info.ordinal,
                          kernels_ptx, kernels_text);
    *out = d;
    if (!rc)
        return true;
    job_one_line(d.kernels.said);
    job_error(job, E_DEVICE, "kernels for %s: %s", d.info.name,
              d.kernels.said);
    return false;
}

void dev_close(struct dev *d)
{
    dev_gpu_unload(&d->kernels);
}

static void check(struct dev *d, const char *what, int rc)
{
    if (rc)
        job_error(d->job, E_DEVICE, "%s: %s fails: %s", d->info.name, what,
                  strerror(-rc));
}

void dev_launch(struct dev *d, shmemx_stream_t s, enum dev_kernel kernel,
                unsigned groups, unsigned items, const struct work *w)
{
    shmemx_grid_t grid = {
        .groups = groups, .items = items, .phases = soft[kernel].phases
    };
    struct dev_gpu *g = &d->kernels;
    struct work *own, copy = *w;

    if (!d->gpu) {
        own = &records[turn++ % RECORDS].work;
        *own = *w;
        check(d, names[kernel],
              shmemx_stream_launch(s, &grid, soft[kernel].body, own));
        return;
    }
    if (dev_gpu_launch(g, (int)kernel, groups, items, &copy, s))
        job_error(d->job, E_DEVICE, "%s: %s: %s", d->info.name, names[kernel],
                  g->said);
}

void dev_copy(struct dev *d, shmemx_stream_t s, void *to, const void *from,
              size_t n)
{
    check(d, "a copy", shmemx_stream_copy(s, to, from, n));
}

void dev_fill(struct dev *d, shmemx_stream_t s, void *to, int byte, size_t n)
{
    check(d, "a fill", shmemx_stream_fill(s, to, byte, n));
}

void dev_sync(struct dev *d, shmemx_stream_t s)
{
    check(d, "what was enqueued", shmemx_stream_sync(s));
}

bool dev_stream(struct dev *d, shmemx_stream_t *out)
{
    int rc = shmemx_stream_create(out);

    check(d, "a stream", rc);
    return rc == 0;
}
