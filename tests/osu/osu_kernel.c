/* SPDX-License-Identifier: BSD-3-Clause */
/* osu_kernel.c - kernels of the programs in kernels; without shmemx_dev.h there
 * are none. */
#include "osu.h"
#include "osu_int.h"

#ifdef __has_include
#if __has_include(<shmemx_dev.h>)
#define HAVE_KERNELS 1
#endif
#endif

#ifdef HAVE_KERNELS
#include "osu_kernel.h"

#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WARP_ITEMS = 32, BLOCK_ITEMS = 128 };

static osu_loop *const *the_loops;

struct run {
    struct osu *o;
    osu_loop *loop;
    size_t n;
    int iters;
    double us;
};

static void refused(const struct osu *o, const char *call, int rc)
{
    if (!rc)
        return;
    fprintf(stderr, "%s: PE %d: %s gave %d: %s\n", o->prog->name, o->pe, call,
            rc, strerror(-rc));
    shmem_global_exit(EXIT_FAILURE);
}

/* The first item makes the calls of a warp and of a block; the kernel reads the
 * clock, so that the launch is not measured. */
static void body(const shmemx_item_t *it, void *arg)
{
    struct run *r = arg;
    double start = osu_now();

    r->loop(r->o, r->n, r->iters);
    if (it->item == 0)
        r->us = osu_now() - start;
}

static unsigned items_of(enum osu_exec by)
{
    return by == OSU_BY_BLOCK ? BLOCK_ITEMS
         : by == OSU_BY_WARP ? WARP_ITEMS : 1;
}

double osu_kernel_run(struct osu *o, osu_loop *loop, size_t n, int iters)
{
    struct run r = { .o = o, .loop = loop, .n = n, .iters = iters };
    enum osu_exec by = o->places[o->place].exec;
    shmemx_grid_t grid = { .groups = 1, .items = items_of(by), .phases = 1 };

    if (by == OSU_BY_HOST) {
        body(&(shmemx_item_t){ .items = 1, .groups = 1 }, &r);
    } else {
        refused(o, "shmemx_stream_launch",
                shmemx_stream_launch(o->kernel->at, &grid, body, &r));
        refused(o, "shmemx_stream_sync", shmemx_stream_sync(o->kernel->at));
    }
    return o->kernel_us = r.us;
}

int osu_kernel_open(struct osu *o)
{
    static struct osu_kernel k;
    shmemx_device_info_t device;

    memset(&k, 0, sizeof k);
    if (osu_anybody(shmemx_stream_create(&k.at) != 0))
        return osu_complain(o, "wants kernels of a device, and this job has "
                            "none: SHMEM_DEVICE=software is one in software");
    refused(o, "shmemx_device_info", shmemx_device_info(&device));
    if (osu_anybody(strcmp(device.driver, "host") != 0))
        return osu_complain(o, "wants SHMEM_DEVICE=software: its kernels are C "
                            "functions");
    refused(o, "shmemx_dev_get",
            shmemx_dev_get(SHMEM_DEVICE_CTX_DEFAULT, &k.dev));
    snprintf(k.driver, sizeof k.driver, "%s", device.driver);
    k.loops = the_loops;
    o->kernel = &k;
    return 0;
}

void osu_kernel_close(struct osu *o)
{
    if (o->kernel)
        shmemx_stream_destroy(o->kernel->at);
    o->kernel = NULL;
}

const char *osu_kernel_driver(const struct osu *o)
{
    return o->kernel->driver;
}

static osu_loop *loop_now(const struct osu *o)
{
    return o->kernel->loops[o->places[o->place].exec];
}

/* Rates have their warm-up before the first row. */
static double measure(struct osu *o, size_t n)
{
    double us;

    if (o->prog->kind != OSU_RATE && o->skip)
        osu_kernel_run(o, loop_now(o), n, o->skip);
    us = osu_kernel_run(o, loop_now(o), n, o->iters);
    if (o->prog->kind == OSU_RATE)
        return us > 0 ? o->iters * 1e6 / us : 0;
    return o->prog->kind == OSU_BANDWIDTH ? us : us / o->iters;
}

static void once(struct osu *o, size_t n)
{
    osu_kernel_run(o, loop_now(o), n, o->prog->kind == OSU_RATE ? o->iters : 1);
}

int osu_kernel_copies(const struct osu_prog *prog, osu_loop *const *loops,
                      int argc, char **argv)
{
    the_loops = loops;
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
