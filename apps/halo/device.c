/* SPDX-License-Identifier: BSD-3-Clause */
#include "device.h"

#include <errno.h>
#include <shmemx_dev.h>
#include <shmem_space.h>
#include <stdio.h>
#include <string.h>

#include "app.h"

enum { NAMES = DEV_GPU_KERNELS, GROUP = 256, GROUPS = 1024 };

static bool load(struct device *d, struct dev_gpu *g,
                 const char *const *names, int count, const char *ptx,
                 const char *text)
{
    *g = (struct dev_gpu){ .names = names, .count = count,
                           .otherwise = "SHMEM_DEVICE=software" };
    return dev_gpu_load(g, d->info.driver, d->info.ordinal, ptx, text) == 0;
}

static void load_kernels(struct device *d, int count, const char *text)
{
    static const char *names[NAMES];

    for (int i = 0; i < count; i++)
        names[i] = d->kernels[i].name;
    if (!load(d, &d->on_gpu, names, count, "", text))
        app_die("DEVICE", "kernels for %s: %s", d->info.name, d->on_gpu.said);
}

bool device_open(struct device *d, const struct kernel *kernels, int count,
                 const char *text)
{
    int rc;

    memset(d, 0, sizeof(*d));
    rc = shmemx_device_info(&d->info);
    if (rc != -ENODEV)          /* else the same is said as of no memory */
        app_need(rc, "shmemx_device_info");
    if (rc || !shmemx_space_usable(SHMEM_SPACE_DEVICE)) {
        if (app.me == 0)
            fprintf(stderr, "%s: there is no device memory: "
                    "SHMEM_DEVICE=software is a device in software "
                    "[H-E-DEVICE]\n", app.name);
        return false;
    }
    d->kernels = kernels;
    d->gpu = strcmp(d->info.driver, "host") != 0;
    d->cores = (unsigned)app.cores;
    if (d->gpu)
        load_kernels(d, count, text);
    app_need(shmemx_stream_create(&d->stream), "a stream");
    return true;
}

void device_close(struct device *d)
{
    app_need(shmemx_stream_destroy(d->stream), "the end of a stream");
    dev_gpu_unload(&d->on_gpu);
    dev_gpu_unload(&d->persistent_on_gpu);
}

struct device device_by_host(const struct device *d)
{
    struct device host = *d;

    host.by_host = !d->gpu;
    return host;
}

void device_launch(struct device *d, int kernel, size_t items, void *arg)
{
    size_t groups = (items + GROUP - 1) / GROUP;
    shmemx_grid_t grid = { .groups = d->cores, .items = 1, .phases = 1 };
    int rc;

    if (items == 0)
        return;
    if (d->by_host) {
        d->kernels[kernel].soft(&(shmemx_item_t){ .groups = 1, .items = 1 },
                                arg);
        return;
    }
    if (!d->gpu) {
        rc = shmemx_stream_launch(d->stream, &grid, d->kernels[kernel].soft,
                                  arg);
        app_need(rc, d->kernels[kernel].name);
        return;
    }
    rc = dev_gpu_launch(&d->on_gpu, kernel,
                        (unsigned)(groups < GROUPS ? groups : GROUPS), GROUP,
                        arg, d->stream);
    if (rc)
        app_die("DEVICE", "PE %d: %s: %s", app.me, d->kernels[kernel].name,
                d->on_gpu.said);
}

/* ---- kernels that call the library ---- */

const char *device_open_persistent(struct device *d,
                                   const struct persistent *kernels)
{
    static const char *names[CALLING_KERNELS];

    for (int i = 0; i < CALLING_KERNELS; i++)
        names[i] = kernels->kernel[i].name;
    d->persistent = kernels;
    if (!d->gpu || load(d, &d->persistent_on_gpu, names, CALLING_KERNELS,
                        kernels->ptx, kernels->text))
        return NULL;
    return d->persistent_on_gpu.said;
}

static unsigned resident_on_gpu(unsigned groups)
{
    shmemx_device_info_t now;   /* sharing is known by now */
    unsigned most;

    app_need(shmemx_device_info(&now), "shmemx_device_info");
    most = (unsigned)now.resident;
    if (now.sharing > 1)
        most /= (unsigned)now.sharing;
    most = most ? most : 1;
    return groups && groups < most ? groups : most;
}

unsigned device_resident(const struct device *d, unsigned groups)
{
    int rc;

    if (d->gpu)
        return resident_on_gpu(groups);
    if (!groups)
        groups = d->cores;
    rc = shmemx_launch_check(groups, 1, 0);
    if (rc == -ENOSPC)
        return 1;
    app_need(rc, "shmemx_launch_check");
    return groups;
}

void device_persist(struct device *d, int kernel, unsigned groups, void *arg)
{
    const struct kernel *k = &d->persistent->kernel[kernel];
    shmemx_grid_t grid = { .groups = groups, .items = 1, .phases = 1,
                           .resident = groups };
    struct dev_gpu *g = &d->persistent_on_gpu;
    int rc;

    if (!d->gpu) {
        rc = shmemx_stream_launch(d->stream, &grid, k->soft, arg);
        app_need(rc, k->name);
        return;
    }
    rc = dev_gpu_launch(g, kernel, groups, GROUP, arg, d->stream);
    if (rc)
        app_die("DEVICE", "PE %d: %s: %s", app.me, k->name, g->said);
}

void device_copy(struct device *d, void *to, const void *from, size_t bytes)
{
    app_need(shmemx_stream_copy(d->stream, to, from, bytes), "a copy");
    if (d->by_host)
        app_need(shmemx_stream_sync(d->stream), "a copy");
}

void device_sync(struct device *d)
{
    if (!d->by_host)
        app_need(shmemx_stream_sync(d->stream), "what was enqueued");
}
