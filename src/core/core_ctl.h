/* SPDX-License-Identifier: BSD-3-Clause */
/* core_ctl.h - what each PE keeps for its peers: the head of its heap. */
#ifndef CORE_CORE_CTL_H
#define CORE_CORE_CTL_H

#include "xport/xport.h"

#include <stdint.h>

/* What a PE did last, for who waits for it: see core_stall.c. */
struct core_activity {
    char call[40];              /* padded with zeros */
    uint32_t calls;             /* of those that are recorded */
    uint32_t at_calls;          /* at_ns is of that one, or of its wait */
    uint64_t at_ns;             /* CLOCK_REALTIME: hosts compare it */
    uint64_t waits;             /* threads do, in the library: CORE_WAITS_ */
    /* The world's, once this PE finalizes; 0 until then. */
    uint64_t last_sync, last_call;
    uint64_t pid;               /* never 0, and read last */
};

/* The words a PE keeps for its peers, at the same offset in every heap. */
enum { CORE_CPU_SET_LEN = 16 };
struct core_ctl {
    /* Written by this PE when it sleeps, read by every writer: the bytes it
     * waits for, from an empty range while nobody sleeps.  See core_wait.c. */
    _Alignas(64) int64_t wait_from;
    int64_t wait_to;
    uint32_t wake_seq;          /* futex word */
    uint32_t checks;            /* this PE's wish, before all agree */
    uint64_t choices;           /* see coll_tune.c */
    uint64_t sets; /* chain of active sets, see coll_active_set.c */
    _Alignas(64) struct core_activity activity;
    /* Those this PE may run on, as bits. */
    _Alignas(64) uint64_t cpus[CORE_CPU_SET_LEN];
};
extern hidden struct core_ctl *core_ctl;       /* this PE's */

/* The block is the first thing reserved: it opens the host segment.  Only of
 * mapped peers. */
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
