/* SPDX-License-Identifier: BSD-3-Clause */
/* rt_nic.h - which of a node's NICs serves this PE.
 * Asked once, at start-up, on one thread; milliseconds where there are
 * several, since the topology of the machine is read for it. */
#ifndef RT_RT_NIC_H
#define RT_RT_NIC_H

#include <stdbool.h>
#include <stddef.h>

struct rt_nic {
    char name[64];              /* as the network library says: mlx5_0, eth0 */
    bool has_pci;               /* the four below are known */
    unsigned domain, bus, dev, func;
};

enum { RT_NICS = 64 };

/* Index of the NIC for the PE number local of the n_local of this node, n
 * being 1 or more: as SHMEM_NIC_MAP says, else the nearest to the GPU at the
 * PCI address that gpu() gives ("dddd:bb:dd.f", or NULL), then to the
 * processors of this process; equally near ones are shared evenly.  gpu, or
 * NULL, is asked only if the answer matters.  why gets a phrase for people.
 * -EINVAL: SHMEM_NIC_MAP is wrong, which is logged. */
int rt_nic_choose(const struct rt_nic *nics, int n, int local, int n_local,
                  const char *(*gpu)(void), char *why, size_t why_size);
/* All n NICs, RT_NICS at most, into order, which the one that was chosen
 * begins: then the others, the nearest first.  Gives how many are at least as
 * near as the first, with that one. */
int rt_nic_order(const struct rt_nic *nics, int n, const char *gpu,
                 int *order);
/* Of n network interfaces, RT_NICS at most, those that may lead to other nodes:
 * no bridge of this machine, tunnel or USB device, and no interface slower than
 * half of the fastest.  NICs that are no interfaces may.  Gives how many: 0
 * where none is better than the others. */
int rt_nic_leads(const struct rt_nic *nics, int n, bool *leads);
/* Is SHMEM_NIC_MAP a map at all, whatever NICs there are?  -EINVAL, logged. */
int rt_nic_map_check(void);

#endif
