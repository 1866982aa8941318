/* SPDX-License-Identifier: BSD-3-Clause */
/* cores.h - how many processors a PE has for itself, for the applications and
 * benchmarks that start threads or groups of a software device. */
#ifndef APPS_CORES_H
#define APPS_CORES_H

#include <sched.h>
#include <shmem.h>
#include <stdint.h>

enum { CORES_MOST = 8192 };     /* processors of a node */

/* All PEs of the node call it.  A launcher that binds PEs has divided the node
 * already; those with the same processors share them evenly.  Where processors
 * overlap without being the same, each PE counts all of its own. */
static inline int cores_of_pe(void)
{
    static uint64_t mine;       /* symmetric: a hash of the processors */
    uint64_t mask[CORES_MOST / 64] = { 0 }, hash = 14695981039346656037u;
    int n = 0, same = 0, pes = shmem_team_n_pes(SHMEM_TEAM_SHARED);

    if (sched_getaffinity(0, sizeof mask, (cpu_set_t *)mask) == 0)
        n = CPU_COUNT_S(sizeof mask, (cpu_set_t *)mask);
    for (int i = 0; i < CORES_MOST / 64; i++)
        hash = (hash ^ mask[i]) * 1099511628211u;
    mine = hash;
    shmem_team_sync(SHMEM_TEAM_SHARED);
    for (int i = 0; i < pes; i++)
        same += shmem_uint64_g(&mine, shmem_team_translate_pe(
                    SHMEM_TEAM_SHARED, i, SHMEM_TEAM_WORLD)) == hash;
    shmem_team_sync(SHMEM_TEAM_SHARED);
    n /= same > 0 ? same : 1;
    return n < 1 ? 1 : n;
}

#endif
