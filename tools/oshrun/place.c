/* SPDX-License-Identifier: BSD-3-Clause */
/* place.c - see place.h. */
#include "place.h"

#include "oshrun.h"

#include <hwloc.h>
#include <stdlib.h>

static cpu_set_t *set_at(const struct place *p, int core)
{
    return (cpu_set_t *)(void *)((char *)p->set + (size_t)core * p->size);
}

static int discover(hwloc_topology_t *out)
{
    hwloc_topology_t topo;

    if (hwloc_topology_init(&topo) < 0)
        return -1;
#if HWLOC_API_VERSION >= 0x20500
    hwloc_topology_set_flags(topo, HWLOC_TOPOLOGY_FLAG_IS_THISSYSTEM |
                                   HWLOC_TOPOLOGY_FLAG_RESTRICT_TO_CPUBINDING);
#endif
    /* Processors are all that matters: devices take longer to find. */
    hwloc_topology_set_all_types_filter(topo, HWLOC_TYPE_FILTER_KEEP_NONE);
    hwloc_topology_set_type_filter(topo, HWLOC_OBJ_CORE,
                                   HWLOC_TYPE_FILTER_KEEP_ALL);
    if (hwloc_topology_load(topo) < 0) {
        hwloc_topology_destroy(topo);
        return -1;
    }
    *out = topo;
    return 0;
}

int place_open(struct place *out)
{
    hwloc_topology_t topo;
    hwloc_obj_type_t type;
    struct place p;
    unsigned cpu;
    int i, last, rc = -1;

    if (discover(&topo) < 0) {
        say("S-E-BIND", "--bind-to core: hwloc cannot read the topology: %m");
        return -1;
    }
    type = hwloc_get_nbobjs_by_type(topo, HWLOC_OBJ_CORE) > 0 ? HWLOC_OBJ_CORE
                                                              : HWLOC_OBJ_PU;
    p.cores = hwloc_get_nbobjs_by_type(topo, type);
    last = hwloc_bitmap_last(hwloc_topology_get_topology_cpuset(topo));
    if (p.cores < 1 || last < 0) {
        say("S-E-BIND", "--bind-to core: hwloc finds no core");
        goto destroy;
    }
    p.size = CPU_ALLOC_SIZE(last + 1);
    p.set = must(calloc((size_t)p.cores, p.size));
    for (i = 0; i < p.cores; i++) {
        hwloc_obj_t core = hwloc_get_obj_by_type(topo, type, (unsigned)i);

        hwloc_bitmap_foreach_begin(cpu, core->cpuset)
            CPU_SET_S(cpu, p.size, set_at(&p, i));
        hwloc_bitmap_foreach_end();
    }
    *out = p;
    rc = 0;
destroy:
    hwloc_topology_destroy(topo);
    return rc;
}

const cpu_set_t *place_of(const struct place *p, int pe)
{
    return set_at(p, pe % p->cores);
}
