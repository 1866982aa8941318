/* SPDX-License-Identifier: BSD-3-Clause */
/* shmemx_kernel.h - kernels of the software device, for shmemx_stream_launch.
 *
 * Such a kernel is a C function that runs once for every item of every group.
 * Groups run in any order and side by side; the items of one group run one
 * after the other on one thread, all of them in phase 0, then all in phase 1,
 * and so on.  So the end of a phase is what a barrier of the group is on a
 * GPU.  Nothing that an item keeps in its variables outlives a phase. */
#ifndef SHMEMX_KERNEL_H
#define SHMEMX_KERNEL_H

#include <stddef.h>

typedef struct shmemx_grid {
    unsigned groups, items;     /* of each group */
    unsigned phases;
    size_t scratch;             /* bytes that the items of a group share, zero
                                 * before the first phase; at most 1 MiB */
} shmemx_grid_t;

typedef struct shmemx_item {
    unsigned group, item, phase;
    unsigned groups, items;     /* how many there are */
    void *scratch;
} shmemx_item_t;

typedef void (*shmemx_kernel_t)(const shmemx_item_t *item, void *arg);

#endif
