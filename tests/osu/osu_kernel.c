/* SPDX-License-Identifier: BSD-3-Clause */
/* osu_kernel.c - kernels of the programs in kernels; without shmemx_dev.h there
 * are none. */
#include "osu.h"
#include "osu_int.h"

#ifdef OSU_HAVE_KERNELS
#include "osu_kernel.h"

#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WARP_ITEMS = 32, BLOCK_ITEMS = 128 };

#include "osu_loops.inc"

#define FUNCTION(LOOP) LOOP,
static void (*const functions[])(const struct osu_job *) = {
    OSU_LOOPS(FUNCTION)
};
#undef FUNCTION

static const struct osu_work *the_work;

static void refused(const struct osu *o, const char *call, const char *why)
{
    if (!why)
        return;
    fprintf(stderr, "%s: PE %d: %s: %s\n", o->prog->name, o->pe, call, why);
    shmem_global_exit(EXIT_FAILURE);
}

static const char *reason(int rc)
{
    return rc ? strerror(-rc) : NULL;
}

struct run {
    const struct osu_job *job;
    void (*function)(const struct osu_job *job);
};

/* The first item makes the calls of a warp and of a block; the kernel reads the
 * clock, so that the launch is not measured. */
static void body(const shmemx_item_t *it, void *arg)
{
    const struct run *r = arg;
    double start = osu_now();

    r->function(r->job);
    if (it->item == 0)
        *r->job->ns = (unsigned long long)((osu_now() - start) * 1e3);
}

static unsigned items_of(enum osu_exec by)
{
    return by == OSU_BY_BLOCK ? BLOCK_ITEMS
         : by == OSU_BY_WARP ? WARP_ITEMS : 1;
}

static bool on_gpu(const struct osu_kernel *k)
{
    return strcmp(k->driver, "host") != 0;
}

static void launch(struct osu *o, enum osu_loop loop, unsigned items)
{
    shmemx_grid_t grid = { .groups = 1, .items = items, .phases = 1 };
    struct osu_kernel *k = o->kernel;
    struct run r = { &k->job, functions[loop] };

    if (on_gpu(k))
        refused(o, "launch",
                osu_kernel_gpu_launch(loop, items, &k->job, k->at));
    else
        refused(o, "shmemx_stream_launch",
                reason(shmemx_stream_launch(k->at, &grid, body, &r)));
    refused(o, "shmemx_stream_sync", reason(shmemx_stream_sync(k->at)));
}

/* The greatest offset of a message. */
static size_t last_of(const struct osu *o, size_t n)
{
    return o->prog->kind == OSU_RATE      ? osu_rate_span(o) - n
         : o->prog->kind == OSU_BANDWIDTH ? OSU_BW_BYTES - OSU_GUARD - n
                                          : 0;
}

double osu_kernel_run(struct osu *o, const struct osu_work *work, size_t n,
                      int iters)
{
    enum osu_exec by = o->places[o->place].exec;
    struct osu_job *job = &o->kernel->job;
    double start;

    if (by == OSU_BY_HOST) {
        start = osu_now();
        work->host(o, n, iters);
        return o->kernel_us = osu_now() - start;
    }
    job->dst = o->dst;
    job->src = o->src;
    job->n = n;
    job->last = last_of(o, n);
    job->iters = iters;
    if (o->prog->kind != OSU_ATOMIC)
        job->peer = o->peer;
    launch(o, (enum osu_loop)((int)work->thread + (int)by - OSU_BY_THREAD),
           items_of(by));
    return o->kernel_us = (double)*job->ns / 1e3;
}

void osu_kernel_quiet(struct osu *o)
{
    launch(o, OSU_LOOP_quiet, 1);
}

/* What the device lacks, or NULL. */
static const char *lacks(const struct osu *o, const shmemx_device_info_t *device)
{
    if (strcmp(device->driver, "host") == 0)
        return NULL;
    if (strcmp(device->driver, "cuda") != 0)
        return "wants SHMEM_DEVICE=software or cuda: its kernels are C "
               "functions and PTX";
    if (!o->heap && osu_uses(o, OSU_HOST))
        return "wants heap: kernels of a GPU do not reach a program's static "
               "data";
    return osu_kernel_gpu_open(device->ordinal);
}

int osu_kernel_open(struct osu *o)
{
    static struct osu_kernel k;
    shmemx_device_info_t device;
    const char *why;

    memset(&k, 0, sizeof k);
    if (osu_anybody(shmemx_stream_create(&k.at) != 0))
        return osu_complain(o, "wants kernels of a device, and this job has "
                            "none: SHMEM_DEVICE=software is one in software");
    refused(o, "shmemx_device_info", reason(shmemx_device_info(&device)));
    why = lacks(o, &device);
    if (osu_anybody(why != NULL))
        return osu_complain(o, why ? why : "has no kernels on another PE");
    refused(o, "shmemx_dev_get",
            reason(shmemx_dev_get(SHMEM_DEVICE_CTX_DEFAULT, &k.job.dev)));
    k.job.ns = osu_words(o, sizeof *k.job.ns, OSU_HOST);
    if (!k.job.ns)
        return osu_complain(o, "has no room in the host heap");
    snprintf(k.driver, sizeof k.driver, "%s", device.driver);
    k.work = the_work;
    o->kernel = &k;
    return 0;
}

void osu_kernel_close(struct osu *o)
{
    if (!o->kernel)
        return;
    if (on_gpu(o->kernel))
        osu_kernel_gpu_close();
    shmemx_stream_destroy(o->kernel->at);
    o->kernel = NULL;
}

const char *osu_kernel_driver(const struct osu *o)
{
    return o->kernel->driver;
}

/* Rates have their warm-up before the first row. */
static double measure(struct osu *o, size_t n)
{
    const struct osu_work *work = o->kernel->work;
    double us;

    if (o->prog->kind != OSU_RATE && o->skip)
        osu_kernel_run(o, work, n, o->skip);
    us = osu_kernel_run(o, work, n, o->iters);
    if (o->prog->kind == OSU_RATE)
        return us > 0 ? o->iters * 1e6 / us : 0;
    return o->prog->kind == OSU_BANDWIDTH ? us : us / o->iters;
}

static void once(struct osu *o, size_t n)
{
    osu_kernel_run(o, o->kernel->work, n,
                   o->prog->kind == OSU_RATE ? o->iters : 1);
}

int osu_kernel_copies(const struct osu_prog *prog, const struct osu_work *work,
                      int argc, char **argv)
{
    the_work = work;
    return osu_copies(prog, measure, once, argc, argv);
}

#else                               /* programs in kernels do not compile */

int osu_kernel_open(struct osu *o)
{
    return osu_complain(o, "wants kernels, which this library does not know");
}

void osu_kernel_close(struct osu *o)
{
    (void)o;
}

const char *osu_kernel_driver(const struct osu *o)
{
    (void)o;
    return "";
}
#endif
