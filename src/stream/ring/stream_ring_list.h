/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_ring_list.h - the list of all stream op rings, for the files that
 * make, step and free them.  Threads: any; a ring is the caller's while it
 * holds the ring's lock. */
#ifndef STREAM_RING_STREAM_RING_LIST_H
#define STREAM_RING_STREAM_RING_LIST_H

#include "base/atomics.h"
#include "base/list.h"
#include "base/lock.h"

#include <stdint.h>

struct stream_ring;

extern hidden struct base_lock stream_rings_lock;
extern hidden struct list_link stream_rings GUARDED_BY(stream_rings_lock);
/* So many have been freed. */
extern hidden uint64_t stream_rings_freed GUARDED_BY(stream_rings_lock);
extern hidden bool stream_rings_exist;  /* atomic: a ring has been made */

/* ---- stream_ring_memory.c ---- */
/* A ring in no list: 0; -ENOSPC or -ENODEV: it gets no counters; -errno. */
int stream_ring_new(void *handle, uint64_t id, struct stream_ring **out);
/* Waits for its network operations, and reports their failures. */
void stream_ring_close_net(struct stream_ring *q);
/* The same, and frees its memory. */
void stream_ring_delete(struct stream_ring *q);

/* ---- stream_ring_list.c ---- */
/* Yields until the ring's lock is free, which is soon. */
void stream_ring_lock(struct stream_ring *q);
void stream_ring_enlist(struct stream_ring *q) REQUIRES(stream_rings_lock);
/* Of a ring in no table, for whose operations no stream waits. */
void stream_ring_free(struct stream_ring *q);
/* The first ring behind q, or of all, that no thread held, and that the caller
 * holds now; q is released.  *skips: some were held. */
struct stream_ring *stream_rings_next(struct stream_ring *q, bool *skips);

/* ---- stream_ring_table.c ---- */
/* All streams are gone; before their rings are. */
void stream_ring_table_clear(void);

#endif
