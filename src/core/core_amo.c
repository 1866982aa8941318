/* SPDX-License-Identifier: BSD-3-Clause */
/* Atomics that the inline code of core_amo.h leaves: other segments than the
 * host heap, device memory, off-node PEs.  Called by the typed calls of api.
 * In a trace they come here, too, for variables in the host heap of a mapped
 * PE. */
#include "core/core_amo.h"
#include "core/core_trace.h"

/* What fetches may say that a NIC has brought data. */
force_inline uint64_t do_here(struct core_target at, const struct xport_amo *a,
                              bool fetches)
{
    uint64_t was;

    atomics_tsan_release();
    was = xport_amo_local((void *)at.addr, a);
    atomics_tsan_acquire();
    if (a->op != AMO_FETCH)
        core_wake(at, (size_t)a->size);
    if (fetches)
        xport_flush();
    return was;
}

static uint64_t net_amo(const char *call, const struct core_ctx *ctx,
                        const struct xport_amo *a, const void *sym, int pe,
                        bool fetches)
{
    uint64_t was = 0;

    core_remote_amo(call, ctx, a->op, (size_t)a->size, sym, pe, &a->value,
                    &a->cond, fetches ? &was : NULL, false);
    return was;
}

#define ROLE(op) ((op) == AMO_FETCH ? TRACE_ALONE : TRACE_STORES)

/* Off this node, or in a trace, for which all routes are switched: at about the
 * time of the change a thread may find these still switched and no trace. */
static uint64_t other_amo(const char *call, const struct core_ctx *ctx,
                          const struct xport_amo *a, const void *sym, int pe,
                          bool fetches)
{
    CORE_TRACE_ACCESS(call, ctx, sym, (size_t)a->size, pe, ROLE(a->op), 0);
    struct core_target at = core_mapped_amo(ctx, sym, (size_t)a->size, pe);

    return at.addr ? do_here(at, a, fetches)
                   : net_amo(call, ctx, a, sym, pe, fetches);
}

/* Of static data, or memory of the device that the processor reaches: the
 * caller has looked in the host's heap. */
#define AMO_OF(KIND, OP, fetches, size)                                     \
    uint64_t core_amo_##KIND##_##size(const char *call,                     \
                                      const struct core_ctx *ctx,           \
                                      const void *sym, uint64_t value,      \
                                      uint64_t cond, int pe)                \
    {                                                                       \
        const struct xport_amo a = { AMO_##OP, size, value, cond };       \
        struct core_target at = core_mapped_rest_amo(ctx, sym, size, pe);   \
                                                                            \
        if (likely(at.addr))                                                \
            return do_here(at, &a, fetches);                                \
        return other_amo(call, ctx, &a, sym, pe, fetches);                  \
    }
#define AMO(KIND, OP, fetches)                                              \
    AMO_OF(KIND, OP, fetches, 4) AMO_OF(KIND, OP, fetches, 8)
CORE_AMO_KINDS(AMO)

void core_amo_more_nbi(const char *call, const struct core_ctx *ctx,
                       const struct xport_amo *a, const void *sym, int pe,
                       void *fetch)
{
    CORE_TRACE_ACCESS(call, ctx, sym, (size_t)a->size, pe, ROLE(a->op), 0);
    struct core_target at = core_mapped_amo(ctx, sym, (size_t)a->size, pe);
    uint64_t was = at.addr ? do_here(at, a, true) : 0;

    if (!at.addr)
        core_remote_amo(call, ctx, a->op, (size_t)a->size, sym, pe, &a->value,
                        &a->cond, fetch, true);
    else if (core_device_only(fetch))
        core_device_copy(fetch, &was, (size_t)a->size);
    else
        memcpy(fetch, &was, (size_t)a->size);
}

uint64_t core_amo_wake(struct core_ctl *peer, uint64_t value)
{
    core_wake_sleepers(peer);
    return value;
}
