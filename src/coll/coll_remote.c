/* SPDX-License-Identifier: BSD-3-Clause */
/* Members on other nodes.  Everything goes through the library's own context,
 * so that it mixes with no order or completion of the program's. */
#include "coll/coll_int.h"
#include "core/core_trace.h"

static const char name[] = "collective call";

/* The address here of what lies at that offset on every PE. */
static void *symmetric(const void *offset)
{
    return (void *)(heap_segs[HEAP_HOST].base + (uintptr_t)offset);
}

void coll_remote_put(int world_pe, void *dest, const void *source, size_t bytes)
{
    CORE_TRACE_PUT(name, &core_ctx_inner, dest, bytes, world_pe);
    core_remote_put(dest, source, bytes, world_pe, name, &core_ctx_inner);
}

void coll_remote_put_strided(int world_pe, void *dest, const void *source,
                             const struct core_strided *s)
{
    core_put_strided(name, &core_ctx_inner, dest, source, s, world_pe);
}

void coll_remote_notify(int world_pe, enum amo_op op, const void *offset,
                        uint64_t value)
{
    core_remote_notify(name, &core_ctx_inner, op, symmetric(offset), value,
                       world_pe);
}

void coll_remote_send(int world_pe, void *dest, const void *source,
                      size_t bytes, enum amo_op op, const void *offset,
                      uint64_t value)
{
    if (!bytes) {
        coll_remote_notify(world_pe, op, offset, value);
        return;
    }
    CORE_TRACE_PUT(name, &core_ctx_inner, dest, bytes, world_pe);
    core_remote_put_notify(name, &core_ctx_inner, dest, source, bytes, op,
                           symmetric(offset), value, world_pe);
}

void coll_remote_send_area(int world_pe, const void *area, const void *source,
                           size_t bytes, const void *offset, uint64_t value)
{
    coll_remote_send(world_pe, symmetric(area), source, bytes, AMO_SET, offset,
                     value);
}

void coll_remote_notify_count(const struct coll_call *c, int pe)
{
    int world_pe = core_team_world_pe(c->t, pe);
    uintptr_t word = (uintptr_t)&core_team_area_of(c->t, pe)->count[c->parity];

    atomics_full_fence();       /* puts to a mapped member are stores */
    coll_remote_notify(world_pe, AMO_ADD,
                       (void *)(word - xport_routes[world_pe].map[HEAP_HOST]),
                       1);
}

void coll_remote_put_area(int world_pe, const void *offset, const void *source,
                          size_t bytes)
{
    coll_remote_put(world_pe, symmetric(offset), source, bytes);
}

void coll_remote_get(int world_pe, const void *offset, void *dest, size_t bytes)
{
    CORE_TRACE_GET(name, &core_ctx_inner, symmetric(offset), bytes, world_pe);
    core_remote_get(dest, symmetric(offset), bytes, world_pe, name,
                    &core_ctx_inner);
}

void coll_remote_get_nbi(int world_pe, const void *offset, void *dest,
                         size_t bytes)
{
    core_get_any_nbi(dest, symmetric(offset), bytes, world_pe, name,
                     &core_ctx_inner);
}

void coll_remote_quiet(void)
{
    core_remote_quiet(NULL, &core_ctx_inner);
}
