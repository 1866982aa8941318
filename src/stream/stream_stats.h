/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_stats.h - what was done on streams, counted for SHMEM_STATS. */
#ifndef STREAM_STREAM_STATS_H
#define STREAM_STREAM_STATS_H

#include "base/atomics.h"

#include <stdint.h>

struct stream_ring;

/* Counts of messages: the protocols of persistent channels, in the order of
 * enum msg_proto_id, which number STREAM_ONCE; one-shot; partitioned; of
 * collective requests. */
enum { STREAM_ONCE = 5, STREAM_PARTITIONED, STREAM_OF_COLL, STREAM_SENT };
enum stream_count {
    STREAM_BY_DEVICE,           /* operations that the device did itself */
    STREAM_STARTS,              /* of queues */
    STREAM_WAITS,               /* of streams, for words and for queues */
    STREAM_FAILED,
    /* In graphs, for the progress thread to repeat; so often it has. */
    STREAM_RECORDED, STREAM_REPEATS,
    STREAM_PROTOCOLS,           /* the first of: sends, by protocol */
    STREAM_COUNTS = STREAM_PROTOCOLS + STREAM_SENT
};
enum { STREAM_SLOTS = 64 };
struct stream_slot {
    _Alignas(64) uint64_t n[STREAM_COUNTS];
};
extern hidden __thread struct stream_slot *stream_slot;
struct stream_slot *stream_slot_take(void) __attribute__((cold));
static inline void stream_count(enum stream_count which, uint64_t more)
{
    struct stream_slot *s = stream_slot;

    if (unlikely(!s))
        s = stream_slot_take();
    /* More threads than slots may lose some. */
    __atomic_store_n(&s->n[which],
                     __atomic_load_n(&s->n[which], __ATOMIC_RELAXED) + more,
                     __ATOMIC_RELAXED);
}
/* With SHMEM_STATS; and begins anew. */
void stream_stats_report(void);

/* Counts how many operations are posted at a time; seq is posted now. */
void stream_stats_count_depth(struct stream_ring *q, uint64_t seq);
void stream_stats_ring_created(struct stream_ring *q);
/* Before its trigger is closed. */
void stream_stats_ring_destroyed(const struct stream_ring *q);

#endif
