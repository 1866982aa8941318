/* SPDX-License-Identifier: BSD-3-Clause */
/* Resolves a symmetric address for the network: checks the arguments of an
 * operation and finds the peer's segment and offset.  Called by the files that
 * hand operations to a transport, after the fast path has found no mapped
 * memory. */
#include "core/core_activity.h"
#include "core/core_rma.h"

bool core_remote_resolve(const char *call, const struct core_ctx *ctx,
                         const char *arg, const void *sym, size_t len, int pe,
                         struct xport_addr *out)
{
    int seg;

    core_refuse(call, ctx, arg, sym, len, pe);
    if (len == 0)
        return false;
    if (ctx != &core_ctx_inner) {
        xport_call = call;
        core_activity_call(call);
    }
    seg = heap_find(sym, len);
    out->pe = core_world_pe(ctx, pe);
    out->seg = seg;
    out->off = (uintptr_t)sym - heap_segs[seg].base;
    return true;
}
