/* SPDX-License-Identifier: BSD-3-Clause */
/* core_ctl.h - the control block that each PE keeps for its peers, at the head
 * of its heap. */
#ifndef CORE_CORE_CTL_H
#define CORE_CORE_CTL_H

#include "xport/xport.h"

#include <stdint.h>

/* The last activity of a PE, which the PEs that wait for it read: see
 * core_stall.c. */
struct core_activity {
    char call[40];              /* padded with zeros */
    uint32_t calls;             /* of those that are recorded */
    uint32_t at_calls;          /* at_ns belongs to that call, or its wait */
    uint64_t at_ns;             /* CLOCK_REALTIME: hosts compare it */
    uint64_t waits;             /* the library's waits: CORE_WAITS_ bits */
    /* The world's, once this PE finalizes; 0 until then. */
    uint64_t last_sync, last_call;
    uint64_t pid;               /* never 0, and read last */
};

/* The block lies at the same offset in every heap. */
enum { CORE_CPU_SET_LEN = 16 };
struct core_ctl {
    /* Written by this PE when it sleeps, read by every writer: the bytes it
     * waits for; an empty range while no thread sleeps.  See core_wait.c. */
    _Alignas(64) int64_t wait_from;
    int64_t wait_to;
    uint32_t wake_seq;          /* futex word */
    uint32_t checks;            /* SHMEM_CHECK here, before all agree */
    uint64_t choices;           /* see coll_tune.c */
    uint64_t sets; /* chain of active sets, see coll_active_set.c */
    _Alignas(64) struct core_activity activity;
    /* The processors that this PE may run on, as bits. */
    _Alignas(64) uint64_t cpus[CORE_CPU_SET_LEN];
    uint64_t clock_query, clock_answer;   /* atomic: see core_clock.c */
};
extern hidden struct core_ctl *core_ctl;       /* this PE's */

/* The control block of a mapped peer.  The block is reserved first: it opens
 * the host segment. */
static inline struct core_ctl *core_peer_ctl(int world_pe)
{
    return (struct core_ctl *)xport_routes[world_pe].map[HEAP_HOST];
}

/* Memory of a mapped peer and the peer's control block.  Both are looked up
 * before the operation: a locked instruction holds later loads back. */
struct core_target {
    uintptr_t addr;
    struct core_ctl *ctl;
};

#endif
