/* SPDX-License-Identifier: BSD-3-Clause */
/* rt_topo.h - the machine as hwloc sees it; slow, for shmem_info and for the
 * placement of devices, never on a path. */
#ifndef RT_RT_TOPO_H
#define RT_RT_TOPO_H

#include <stdint.h>

enum { RT_TOPO_DEVICES = 32, RT_TOPO_NAME = 64 };

struct rt_topo {
    char cpu[128];
    int packages, numa_nodes, cores, threads;
    int usable;                 /* logical processors this process may use */
    uint64_t memory;
    int n_nics, n_gpus;
    char nics[RT_TOPO_DEVICES][RT_TOPO_NAME];
    char gpus[RT_TOPO_DEVICES][RT_TOPO_NAME];
    /* The NUMA node each is at; -1 where it is at no particular one. */
    int nic_numa[RT_TOPO_DEVICES], gpu_numa[RT_TOPO_DEVICES];
};

/* 0 or -errno; a failure is logged as information only. */
int rt_topo_read(struct rt_topo *out);

#endif
