/* SPDX-License-Identifier: BSD-3-Clause */
/* launch.h - kernels of a benchmark that call the library: one text for CUDA,
 * HIP and the software device, whose groups have one item here. */
#ifndef BENCH_LAUNCH_H
#define BENCH_LAUNCH_H

#include "../apps/bucketsort/dev_gpu.h"

#include <errno.h>
#include <shmemx_st.h>
#include <stdbool.h>
#include <string.h>

enum { LAUNCH_ITEMS = 256 };    /* of a group, on a GPU */

struct launcher {
    const shmemx_kernel_t *soft;
    struct dev_gpu gpu;
    bool on_gpu;
};

/* Of a list of bodies name(const struct arg *, const struct coord *). */
#define LAUNCH_SOFT(name)                                                   \
    static void soft_##name(const shmemx_item_t *it, void *arg)             \
    {                                                                       \
        const struct coord s = { it->group, it->item, it->groups,           \
                                it->items };                                \
                                                                            \
        name(arg, &s);                                                      \
    }

/* False: they do not run on this device, and why is in gpu.said. */
static bool launch_open(struct launcher *l, const shmemx_device_info_t *d,
                        const char *const *names, int count,
                        const shmemx_kernel_t *soft, const char *ptx,
                        const char *text)
{
    *l = (struct launcher){
        .soft = soft, .on_gpu = strcmp(d->driver, "host") != 0,
        .gpu = { .names = names, .count = count,
                 .otherwise = "SHMEM_DEVICE=software" }
    };
    return !l->on_gpu ||
           !dev_gpu_load(&l->gpu, d->driver, d->ordinal, ptx, text);
}

/* resident: groups that wait for each other, or 0.  arg stays as it is until the
 * kernel has run.  0 or -errno. */
static int launch(struct launcher *l, int kernel, unsigned groups,
                  unsigned resident, void *arg, shmemx_stream_t stream)
{
    shmemx_grid_t grid = { .groups = groups, .items = 1, .phases = 1,
                           .resident = resident };

    if (!l->on_gpu)
        return shmemx_stream_launch(stream, &grid, l->soft[kernel], arg);
    return dev_gpu_launch(&l->gpu, kernel, groups, LAUNCH_ITEMS, arg, stream)
         ? -EIO : 0;
}

#endif
