/* SPDX-License-Identifier: BSD-3-Clause */
/* sm.h - the PEs of one node, joined by one mapping.
 * The lowest PE of the node makes a memfd with a slot for each and passes it
 * over a local socket; everybody maps all of it.  No name is left behind and
 * nothing is to clean up, however a PE ends.  Collective over the node, one
 * thread.  Errors: 0 or -errno, logged here. */
#ifndef SM_SM_H
#define SM_SM_H

#include <stddef.h>

/* Opens the heap in this PE's slot and fills the routes to the node's PEs. */
int sm_open(void);
void sm_close(void);
/* In a forked child: what it stores there no longer reaches any PE. */
void sm_fork_child(void);

/* ---- sm_device.c: device heaps, after heap_device_open ----
 * card: symmetric room for SM_DEVICE_ADDRESS bytes, mapped by all of the node.
 * All of the node make the same calls, with a meeting after each. */
enum { SM_DEVICE_ADDRESS = 320 };
/* Tells the others which device this PE has. */
void sm_device_publish_id(void *card);
/* Counts who has the same, as far as they have told, for gtl_device.pes; the
 * most that one device of the node has. */
int sm_device_count_users(void *card);
/* Tells the others of this PE's heap, too.  -errno, as gtl_error() says, and
 * not told to the user: there is another way. */
int sm_device_export(void *card);
/* Fills the routes to the others' heaps; the same.  1: but atomics of this
 * device do not exclude those of another one. */
int sm_device_open_peers(void *card);
/* The heaps have grown: after sm_device_export(), the piece that came last of each.
 * shorten() gives it back, where another PE could not have it. */
int sm_device_open_growth(void *card);
void sm_device_close_growth(void);
/* All of the job, where one of them had 1: under locks they do. */
void sm_device_use_lock(void *card);
/* The other way: host memory that all map and the device reaches.  The first
 * PE of the node offers, all take; size is each one's.  -errno, logged. */
int sm_device_pinned_listen(void *card);
int sm_device_pinned_map(void *card, size_t size);
/* Before the last meeting of all PEs: nothing of the others' is used any
 * more. */
void sm_device_close_peers(void);
/* After it, and after the heap is closed. */
void sm_device_close(void);

#endif
