/* SPDX-License-Identifier: BSD-3-Clause */
/* shmemx_kernel.h - kernels of the software device, for shmemx_stream_launch.
 *
 * Such a kernel is a C function that runs once for every item of every group.
 * Groups start in the order of their numbers and run side by side, as many of
 * them as the process has cores, or as the grid asks for; the items of one
 * group run one after the other on one thread, all of them in phase 0, then
 * all in phase 1, and so on.  So the end of a phase is what a barrier of the
 * group is on a GPU.  Nothing that an item keeps in its variables outlives a
 * phase.
 *
 * A kernel whose groups wait for each other needs these groups resident
 * together, and may hang without: a group that has no thread yet cannot store
 * what another one waits for. */
#ifndef SHMEMX_KERNEL_H
#define SHMEMX_KERNEL_H

#include <stddef.h>

typedef struct shmemx_grid {
    unsigned groups, items;     /* of each group */
    unsigned phases;
    /* Bytes that the items of a group share, zero before the first phase; at
     * most 1 MiB.  It begins where it was 8 bytes long, so that programs
     * compiled then have 0 behind it. */
    unsigned scratch __attribute__((__aligned__(8)));
    /* So many groups run side by side at least, whatever the number of cores,
     * or the launch gives -ENOSPC; more than groups: all.  0: any number. */
    unsigned resident;
} shmemx_grid_t;

typedef struct shmemx_item {
    unsigned group, item, phase;
    unsigned groups, items;     /* how many there are */
    void *scratch;
} shmemx_item_t;

typedef void (*shmemx_kernel_t)(const shmemx_item_t *item, void *arg);

#endif
