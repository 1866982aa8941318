/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses the NICs of a PE: the nearest to its GPU, else to its processors.
 * Called by ofi at start.
 *
 * Locality is the level of the deepest object of the machine that holds both:
 * the root is level 0, a package or a NUMA domain lies deeper, a PCI switch
 * that a NIC shares with a GPU deeper still. */
#include "rt/rt_nic.h"
#include "rt/rt_int.h"
#include "base/env.h"
#include "base/log.h"
#include "rt/rt.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CPU_SET_LEN = 16, ELSEWHERE = -1 };

struct locality {
    int to_gpu, to_cpus;        /* levels; ELSEWHERE: no such place is known */
};

static int level(hwloc_obj_t obj)
{
    int n = 0;

    for (obj = obj->parent; obj; obj = obj->parent)
        n++;
    return n;
}

static int common_level(hwloc_obj_t a, hwloc_obj_t b)
{
    int la = level(a), lb = level(b);

    for (; la > lb; la--)
        a = a->parent;
    for (; lb > la; lb--)
        b = b->parent;
    for (; a != b; la--) {
        a = a->parent;
        b = b->parent;
    }
    return la;
}

/* Level of the smallest part of the machine with the device and one of cpus. */
static int level_of_cpus(hwloc_topology_t topo, hwloc_obj_t dev,
                         hwloc_const_cpuset_t cpus)
{
    hwloc_obj_t obj = hwloc_get_non_io_ancestor_obj(topo, dev);

    while (obj->parent && !hwloc_bitmap_intersects(obj->cpuset, cpus))
        obj = obj->parent;
    return level(obj);
}

static hwloc_obj_t find_os_device(hwloc_topology_t topo, const char *name,
                                  size_t len)
{
    hwloc_obj_t obj = NULL;

    while ((obj = hwloc_get_next_osdev(topo, obj)))
        if (obj->name && strlen(obj->name) == len &&
            !memcmp(obj->name, name, len))
            return obj;
    return NULL;
}

/* A network library may have put "-rdm" behind the name of the device. */
static hwloc_obj_t find_nic(hwloc_topology_t topo, const struct rt_nic *nic)
{
    hwloc_obj_t obj = NULL;
    const char *dash;

    if (nic->has_pci)
        obj = hwloc_get_pcidev_by_busid(topo, nic->domain, nic->bus, nic->dev,
                                        nic->func);
    if (!obj)
        obj = find_os_device(topo, nic->name, strlen(nic->name));
    dash = strrchr(nic->name, '-');
    if (!obj && dash)
        obj = find_os_device(topo, nic->name, (size_t)(dash - nic->name));
    return obj;
}

/* "dddd:bb:dd.f", or NULL where the machine has no such device. */
static hwloc_obj_t find_gpu(hwloc_topology_t topo, const char *gpu)
{
    return gpu ? hwloc_get_pcidev_by_busidstring(topo, gpu) : NULL;
}

static bool nearer(struct locality a, struct locality b)
{
    return a.to_gpu != b.to_gpu ? a.to_gpu > b.to_gpu : a.to_cpus > b.to_cpus;
}

static bool equal(struct locality a, struct locality b)
{
    return a.to_gpu == b.to_gpu && a.to_cpus == b.to_cpus;
}

static int common_divisor(int a, int b)
{
    return b ? common_divisor(b, a % b) : a;
}

/* One of k equally near NICs of n.  If every part of the node has k, the PEs
 * of a part are consecutive (0 1 2 3) or, dealt out in turn, each one of
 * `parts` (0 2 4 6).  Where the latter would miss some NICs, moving on by one
 * after each multiple of both numbers serves them evenly either way. */
static int spread(int local, int k, int n)
{
    int parts = n / k, common = common_divisor(parts, k);

    if (common > 1)
        local += local / (parts / common * k);
    return local % k;
}

/* Where nothing is known of the machine, all NICs are alike. */
static int any_nic(int n, int local, int n_local, const char *reason, char *why,
                   size_t why_size)
{
    if (n_local)
        snprintf(why, why_size, "%s, so by number: PE %d of %d on this node",
                 reason, local, n_local);
    else                        /* shmem_info, in no job */
        snprintf(why, why_size, "%s, so the first for the first PE", reason);
    return local % n;
}

static void explain(struct locality best, bool bound, int k, int n, int local,
                    int n_local, char *why, size_t why_size)
{
    const char *to = best.to_gpu >= 0 ? "the GPU of this PE"
                     : "the processors of this PE";

    if (!bound && best.to_gpu < 0)
        any_nic(n, local, n_local, "this PE is not bound", why, why_size);
    else if (best.to_gpu < 0 && best.to_cpus < 0)
        any_nic(n, local, n_local, "where the NICs are is not known", why,
                why_size);
    else if (k == 1)
        snprintf(why, why_size, "nearest to %s", to);
    else
        snprintf(why, why_size, "one of %d equally near to %s, by number: PE "
                 "%d of %d on this node", k, to, local, n_local);
}

/* Measures the locality of each NIC; returns whether the processors make a
 * difference, which takes a PE that is bound. */
static bool measure(hwloc_topology_t topo, hwloc_const_cpuset_t cpus,
                    const struct rt_nic *nics, int n, const char *gpu,
                    struct locality *locality)
{
    hwloc_obj_t gpu_obj = find_gpu(topo, gpu), obj;
    bool bound = !hwloc_bitmap_isincluded(hwloc_topology_get_topology_cpuset(
                                              topo), cpus);

    if (gpu && !gpu_obj)
        log_info(LOG_RT, "no device of this machine has the address %s", gpu);
    for (int i = 0; i < n; i++) {
        locality[i] = (struct locality){ ELSEWHERE, ELSEWHERE };
        obj = find_nic(topo, &nics[i]);
        if (obj && gpu_obj)
            locality[i].to_gpu = common_level(obj, gpu_obj);
        if (obj && bound)
            locality[i].to_cpus = level_of_cpus(topo, obj, cpus);
    }
    return bound;
}

int rt_nic_nearest(hwloc_topology_t topo, hwloc_const_cpuset_t cpus,
                   const struct rt_nic *nics, int n, int local, int n_local,
                   const char *gpu, char *why, size_t why_size)
{
    struct locality best = { ELSEWHERE, ELSEWHERE }, *locality;
    int i, k = 0, skip;
    bool bound;

    locality = malloc((size_t)n * sizeof *locality);
    if (!locality)
        return any_nic(n, local, n_local, "no memory to read the machine", why,
                       why_size);
    bound = measure(topo, cpus, nics, n, gpu, locality);
    for (i = 0; i < n; i++)
        if (nearer(locality[i], best))
            best = locality[i];
    for (i = 0; i < n; i++)
        k += equal(locality[i], best);
    skip = spread(local, k, n);
    for (i = 0; !equal(locality[i], best) || skip-- > 0; i++)
        ;
    free(locality);
    explain(best, bound, k, n, local, n_local, why, why_size);
    return i;
}

/* Which of the NICs that are not in the order yet comes next: the nearest, of
 * those the next one by number. */
static int next_of(const struct locality *locality, int n, int first,
                   const bool *used)
{
    int best = -1;

    for (int k = 1; k < n; k++) {
        int i = (first + k) % n;

        if (!used[i] && (best < 0 || nearer(locality[i], locality[best])))
            best = i;
    }
    return best;
}

static int order_by(const struct locality *locality, int n, int *order)
{
    bool used[RT_NICS] = { false };
    int first = order[0], alike = 1;

    used[first] = true;
    for (int at = 1; at < n; at++) {
        order[at] = next_of(locality, n, first, used);
        used[order[at]] = true;
        alike += !nearer(locality[first], locality[order[at]]);
    }
    return alike;
}

int rt_nic_order_on(hwloc_topology_t topo, hwloc_const_cpuset_t cpus,
                    const struct rt_nic *nics, int n, const char *gpu,
                    int *order)
{
    struct locality locality[RT_NICS];

    measure(topo, cpus, nics, n, gpu, locality);
    return order_by(locality, n, order);
}

static hwloc_bitmap_t usable_cpus(void)
{
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    uint64_t cpu_set[CPU_SET_LEN];

    if (!set)
        return NULL;
    rt_cpus(cpu_set, CPU_SET_LEN);
    for (unsigned i = 0; i < CPU_SET_LEN * 64; i++)
        if (cpu_set[i / 64] >> i % 64 & 1)
            hwloc_bitmap_set(set, i);
    return set;
}

/* With the processors that a batch system withholds: a job in one half of the
 * machine is near to the NICs of that half. */
static int load(hwloc_topology_t *out)
{
    hwloc_topology_t topo;

    if (hwloc_topology_init(&topo))
        return -ENOMEM;
    hwloc_topology_set_io_types_filter(topo, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
    hwloc_topology_set_flags(topo, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
    if (hwloc_topology_load(topo)) {
        log_info(LOG_RT, "hwloc_topology_load: %m");
        hwloc_topology_destroy(topo);
        return -EIO;
    }
    *out = topo;
    return 0;
}

/* Warns of a map that names more PEs than this job has on this node: that is
 * valid, but wrong where a user counts the PEs through the nodes.  Once, since
 * each provider asks for a NIC. */
static void warn_stray(const struct rt_nic *nics, int n, int n_local)
{
    static bool reported;
    int pe = rt_nic_map_stray(env.NIC_MAP, nics, n, n_local);

    if (pe < 0 || reported || rt_job.pe || !rt_job.launched)
        return;
    reported = true;
    log_warn(ERR_ENV, "SHMEM_NIC_MAP names PE %d, but the PEs of this node are "
             "0 to %d there: they are counted from 0 on each node", pe,
             n_local - 1);
}

int rt_nic_choose(const struct rt_nic *nics, int n, int local, int n_local,
                  const char *(*gpu)(void), char *why, size_t why_size)
{
    hwloc_topology_t topo = NULL;
    hwloc_bitmap_t cpus;
    int found = n;

    if (*env.NIC_MAP) {
        found = rt_nic_map(env.NIC_MAP, nics, n, local);
        if (found >= 0)
            warn_stray(nics, n, n_local);
        if (found < n) {
            snprintf(why, why_size, "named by SHMEM_NIC_MAP");
            return found;
        }
    }
    if (n == 1) {
        snprintf(why, why_size, "the only one");
        return 0;
    }
    cpus = usable_cpus();
    if (!cpus || load(&topo))
        found = any_nic(n, local, n_local, "the machine cannot be read", why,
                        why_size);
    else
        found = rt_nic_nearest(topo, cpus, nics, n, local, n_local,
                               gpu ? gpu() : NULL, why, why_size);
    if (topo)
        hwloc_topology_destroy(topo);
    hwloc_bitmap_free(cpus);
    return found;
}

int rt_nic_order(const struct rt_nic *nics, int n, const char *gpu, int *order)
{
    struct locality locality[RT_NICS] = { { 0, 0 } };
    hwloc_topology_t topo = NULL;
    hwloc_bitmap_t cpus = NULL;
    int alike;

    if (n > 1)
        cpus = usable_cpus();
    if (cpus && !load(&topo)) {
        alike = rt_nic_order_on(topo, cpus, nics, n, gpu, order);
    } else {
        for (int i = 0; i < n; i++)
            locality[i] = (struct locality){ ELSEWHERE, ELSEWHERE };
        alike = order_by(locality, n, order);
    }
    if (topo)
        hwloc_topology_destroy(topo);
    hwloc_bitmap_free(cpus);
    return alike;
}
