/* SPDX-License-Identifier: BSD-3-Clause */
/* rt_int.h - parts of rt that its files and tests share. */
#ifndef RT_RT_INT_H
#define RT_RT_INT_H

#include "rt/rt_nic.h"

#include <hwloc.h>
#include <stdbool.h>

/* A way to the other PEs: PMIx, PMI-2, or oshrun's own channel.  open() fills
 * rt_job and sets rt_job.launched, or leaves a job of one PE; the other calls
 * are made only of a driver that is open.  See rt.h for what they do. */
struct rt_driver {
    int (*open)(void);
    void (*close)(void);
    /* on_node: only PEs of this node look the value up. */
    int (*put)(const char *key, const void *value, size_t size, bool on_node);
    int (*fence)(void);
    int (*missing)(char *out, size_t size);     /* NULL: it cannot be asked */
    /* got: how much of size bytes there was; NULL: no other number will do. */
    int (*get)(int pe, const char *key, void *out, size_t size, size_t *got);
    bool (*host)(int pe, char *out, size_t size);
    void (*abort)(int status);      /* from any thread */
    int (*share)(int fd, int takers);       /* NULL: it passes no descriptors */
    int (*take)(int pe, int *out);
};
extern const struct rt_driver rt_pmix, rt_launcher, rt_pmi2;

/* Has a launcher with PMI-2 started this process? */
bool rt_pmi2_invites(void);
/* Before rt_pmi2.open(): 0, or -ENOENT and why its library does not serve. */
int rt_pmi2_begin(const char **why);
/* The result of that, for a line: NULL, it was not tried. */
extern const char *rt_pmi2_why;

/* Does this process belong to a PE of oshrun, and not to a launcher that such a
 * PE has started? */
bool rt_launcher_invites(void);
/* Was the variable with this value there when the process became its program?
 * Variables that MPI_Init sets were not. */
bool rt_inherited(const char *name, const char *value);
/* A job of one PE, which has no driver. */
void rt_open_singleton(void);
/* The PEs of this node, in rising order, into rt_job, or those of them that
 * SHMEM_PPN leaves; the array is rt's from then on.  -ESRCH: this PE is not
 * among them. */
int rt_keep_group(int *pes, int n);

/* rt_nic_choose() without SHMEM_NIC_MAP, on a given machine, for a process
 * that may run on cpus. */
int rt_nic_nearest(hwloc_topology_t topo, hwloc_const_cpuset_t cpus,
                   const struct rt_nic *nics, int n, int local, int n_local,
                   const char *gpu, char *why, size_t why_size);
/* rt_nic_order() on a given machine. */
int rt_nic_order_on(hwloc_topology_t topo, hwloc_const_cpuset_t cpus,
                    const struct rt_nic *nics, int n, const char *gpu,
                    int *order);
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

/* The PEs of pe's node by PMI's map "(vector,(first,nodes,each),...)", in
 * rising order, malloc'ed.  -EINVAL: it is no map. */
int rt_mapping_parse(const char *map, int n_pes, int pe, int *out_n, int **out);

#endif
