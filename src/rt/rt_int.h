/* SPDX-License-Identifier: BSD-3-Clause */
/* rt_int.h - parts of rt that its files and tests share. */
#ifndef RT_RT_INT_H
#define RT_RT_INT_H

#include "rt/rt_nic.h"

#include <hwloc.h>

/* rt_nic_choose() without SHMEM_NIC_MAP, on a given machine, for a process
 * that may run on cpus. */
int rt_nic_nearest(hwloc_topology_t topo, hwloc_const_cpuset_t cpus,
                   const struct rt_nic *nics, int n, int local, int n_local,
                   const char *gpu, char *why, size_t why_size);
/* Index of the NIC that the map names for a PE, n if it names none, or
 * -EINVAL, which is logged. */
int rt_nic_map(const char *map, const struct rt_nic *nics, int n, int local);
/* The first PE of an entry that names none of the n_local PEs of a node, or
 * -1. */
int rt_nic_map_stray(const char *map, const struct rt_nic *nics, int n,
                     int n_local);

/* "1,0,2" -> how many, and the numbers in rising order, malloc'ed.  -EINVAL:
 * the list is no list of different numbers below n_pes. */
int rt_peers_parse(const char *list, int n_pes, int *out_n, int **out);

#endif
