/* SPDX-License-Identifier: BSD-3-Clause */
/* xport_stats.h - operations on PEs of other nodes, counted.  A table in front
 * of a transport's, which only SHMEM_STATS puts there, so that no operation
 * pays for it otherwise. */
#ifndef XPORT_XPORT_STATS_H
#define XPORT_XPORT_STATS_H

#include "xport/xport.h"

/* Of this PE, since it began.  A put with a signal is two operations. */
struct xport_stats {
    uint64_t ops, bytes;        /* started here; atomics bring 8 bytes */
    uint64_t gets, got;         /* those among them that fetch */
    uint64_t peers;             /* PEs that any of it went to */
};

/* The table that counts and hands on, for n_pes PEs; or ops without memory. */
const struct xport_ops *xport_stats_wrap(const struct xport_ops *ops,
                                         int n_pes);
/* Zeros where nothing is counted. */
struct xport_stats xport_stats_get(void);
/* Counts nothing until it is called with false. */
void xport_stats_pause(bool pause);
/* Back to the other table: no operation is under way. */
void xport_stats_unwrap(void);

#endif
