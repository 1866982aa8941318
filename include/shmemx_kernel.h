/* SPDX-License-Identifier: BSD-3-Clause */
/* shmemx_kernel.h - kernels of the software device, for shmemx_stream_launch.
 *
 * Such a kernel is a C function that runs once for every item of every group.
 * Groups start in the order of their numbers and run concurrently, as many as
 * the process has cores, or as the grid requests.  The items of one group run
 * one after the other on one thread, all of them in phase 0, then all in phase
 * 1, and so on: the end of a phase corresponds to a group barrier on a
 * GPU.  The variables of an item do not outlive a phase.
 *
 * A kernel whose groups wait for each other needs these groups resident
 * together; otherwise it may hang, because a group that has no thread yet
 * cannot make the store for which another group waits. */
#ifndef SHMEMX_KERNEL_H
#define SHMEMX_KERNEL_H

#include <stddef.h>

typedef struct shmemx_grid {
    unsigned groups, items;     /* of each group */
    unsigned phases;
    /* Bytes that the items of a group share, zero before the first phase; at
     * most 1 MiB.  The member was 8 bytes long and keeps its offset, so that
     * programs compiled at that time have 0 in the next member. */
    unsigned scratch __attribute__((__aligned__(8)));
    /* At least this many groups run concurrently, whatever the number of
     * cores, or the launch returns -ENOSPC; more than groups: all.  0: any
     * number. */
    unsigned resident;
} shmemx_grid_t;

typedef struct shmemx_item {
    unsigned group, item, phase;
    unsigned groups, items;     /* how many there are */
    void *scratch;
} shmemx_item_t;

typedef void (*shmemx_kernel_t)(const shmemx_item_t *item, void *arg);

#endif
