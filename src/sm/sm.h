/* SPDX-License-Identifier: BSD-3-Clause */
/* sm.h - the shared memory of the PEs of one node. The lowest PE of the node
 * makes a memfd with a slot for each PE and passes it to the others, by the
 * launcher or over a local socket; each PE maps all of it. No name is left
 * behind, so there is nothing to clean up however a PE ends. Collective over
 * the node, one thread.  Errors: 0 or -errno, logged here. */
#ifndef SM_SM_H
#define SM_SM_H

#include <stddef.h>

/* Opens the heap in this PE's slot and fills the routes to the node's PEs. */
int sm_open(void);
void sm_close(void);
/* In a forked child: its stores to the segments reach no PE any more. */
void sm_fork_child(void);

/* ---- sm_device.c: device heaps on a node, after sm_device_heap_open() ----
 * The PEs exchange addresses: symmetric memory of SM_DEVICE_ADDRESS bytes that
 * the node maps.  All PEs of the node make the same calls, and a barrier of the
 * node follows each of them. */
enum { SM_DEVICE_ADDRESS = 320 };
/* Publishes which device this PE has. */
void sm_device_publish_id(void *address);
/* Counts the PEs that published the same device, for gtl_device.pes.  Returns
 * the most PEs that any device of the node has. */
int sm_device_count_users(void *address);
/* Publishes a handle of this PE's heap, too.  -errno, not logged, since there
 * is another way: gtl_error() has the reason. */
int sm_device_export(void *address);
/* Opens the peers' heaps and fills the routes to them; errors are the same.
 * 1: atomics of this device do not exclude those of another one. */
int sm_device_open_peers(void *address);
/* After the heaps have grown and sm_device_export(): opens the chunk of each
 * peer that was exported last; close_growth() closes these again, where
 * another PE could not open one. */
int sm_device_open_growth(void *address);
void sm_device_close_growth(void);
/* Where sm_device_open_peers() was 1 on any PE of the job: atomics on device
 * heaps are made under locks from now on. */
void sm_device_use_lock(void *address);
/* The other way: pinned host memory that all PEs map and the device reaches.
 * The first PE of the node listens, then all map; size is that of each PE's
 * heap.  -errno, logged. */
int sm_device_pinned_listen(void *address, size_t size);
int sm_device_pinned_map(void *address, size_t size);
/* Before the last barrier of all PEs: no peer's heap is used any more. */
void sm_device_close_peers(void);
/* After that barrier, and after the heap is closed. */
void sm_device_close(void);

#endif
