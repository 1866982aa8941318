/* SPDX-License-Identifier: BSD-3-Clause */
/* This PE's processors and the machine's devices as hwloc sees them.  Called
 * at start-up and by shmem_info.  Start-up reads the affinity mask only: a
 * full topology takes milliseconds. */
#include "rt/rt_topo.h"
#include "rt/rt.h"
#include "base/log.h"

#include <errno.h>
#include <hwloc.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The affinity mask is one system call; a full topology takes milliseconds,
 * so start-up asks hwloc nothing. */
enum { MASK_LEN = 128 };        /* of an affinity mask: 8192 processors */

/* Its length, or 0.  Unlike the C library's function the call gives the size of
 * the system's mask, and refuses less room than that. */
static int read_mask(uint64_t mask[MASK_LEN])
{
    const size_t size = MASK_LEN * sizeof *mask;
    long bytes;

    memset(mask, 0, size);
    bytes = syscall(SYS_sched_getaffinity, 0, size, mask);
    if (bytes <= 0)
        log_info(LOG_RT, "sched_getaffinity: %m");
    return bytes <= 0 ? 0 : (int)((bytes + 7) / 8);
}

int rt_cpus(uint64_t *out, int len)
{
    uint64_t mask[MASK_LEN], any = 0;
    int n = read_mask(mask);

    n = n < len ? n : len;
    memset(out, 0, (size_t)len * sizeof *out);
    for (int i = 0; i < n; i++)
        any |= out[i] = mask[i];
    if (any)
        return n;
    memset(out, 0xff, (size_t)len * sizeof *out);   /* any, as if not bound */
    return len;
}

int rt_count_cpus(void)
{
    uint64_t mask[MASK_LEN];
    int len = read_mask(mask), n = 0;

    for (int i = 0; i < len; i++)
        n += __builtin_popcountll(mask[i]);
    return n;
}

static void copy_name(char *out, size_t size, const char *name)
{
    snprintf(out, size, "%s", name ? name : "?");
}

static int numa_of(hwloc_topology_t topo, hwloc_obj_t dev)
{
    hwloc_obj_t at = hwloc_get_non_io_ancestor_obj(topo, dev);

    if (!at->parent || hwloc_bitmap_weight(at->nodeset) != 1)
        return -1;
    return hwloc_bitmap_first(at->nodeset);
}

static void add_device(struct rt_topo *t, hwloc_topology_t topo,
                       hwloc_obj_t obj, bool is_gpu)
{
    int *n = is_gpu ? &t->n_gpus : &t->n_nics;
    char (*names)[RT_TOPO_NAME] = is_gpu ? t->gpus : t->nics;
    int *numa = is_gpu ? t->gpu_numa : t->nic_numa;

    if (*n == RT_TOPO_DEVICES)
        return;
    copy_name(names[*n], RT_TOPO_NAME, obj->name);
    numa[(*n)++] = numa_of(topo, obj);
}

static void read_devices(hwloc_topology_t topo, struct rt_topo *t)
{
    hwloc_obj_t obj = NULL;

    while ((obj = hwloc_get_next_osdev(topo, obj))) {
        switch (obj->attr->osdev.type) {
        case HWLOC_OBJ_OSDEV_GPU:
        case HWLOC_OBJ_OSDEV_COPROC:
            add_device(t, topo, obj, true);
            break;
        case HWLOC_OBJ_OSDEV_NETWORK:
        case HWLOC_OBJ_OSDEV_OPENFABRICS:
            add_device(t, topo, obj, false);
            break;
        default:
            break;
        }
    }
}

int rt_topo_read(struct rt_topo *out)
{
    hwloc_topology_t topo;
    hwloc_obj_t obj;
    int rc = -EIO;

    memset(out, 0, sizeof *out);
    if (hwloc_topology_init(&topo))
        return -ENOMEM;
    hwloc_topology_set_io_types_filter(topo, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
    if (hwloc_topology_load(topo)) {
        log_info(LOG_RT, "hwloc_topology_load: %m");
        goto destroy;
    }
    out->packages = hwloc_get_nbobjs_by_type(topo, HWLOC_OBJ_PACKAGE);
    out->numa_nodes = hwloc_get_nbobjs_by_type(topo, HWLOC_OBJ_NUMANODE);
    out->cores = hwloc_get_nbobjs_by_type(topo, HWLOC_OBJ_CORE);
    out->threads = hwloc_get_nbobjs_by_type(topo, HWLOC_OBJ_PU);
    out->usable = rt_count_cpus();
    obj = hwloc_get_root_obj(topo);
    out->memory = obj->total_memory;
    obj = hwloc_get_obj_by_type(topo, HWLOC_OBJ_PACKAGE, 0);
    copy_name(out->cpu, sizeof out->cpu,
              obj ? hwloc_obj_get_info_by_name(obj, "CPUModel") : NULL);
    read_devices(topo, out);
    rc = 0;
destroy:
    hwloc_topology_destroy(topo);
    return rc;
}
