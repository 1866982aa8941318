/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/core_amo.h"
#include "xport/xport_amo.h"

/* Static data, or memory of the device that the processor reaches. */
force_inline bool is_here(const struct core_ctx *ctx,
                          const struct xport_amo *a, const void *sym, int pe,
                          uint64_t *was)
{
    struct core_spot at = core_near_amo(ctx, sym, (size_t)a->size, pe);

    if (!at.near)
        return false;
    atomics_told();
    *was = xport_amo_here((void *)at.near, a);
    atomics_heard();
    if (a->op != XPORT_FETCH)
        core_wake(at, (size_t)a->size);
    return true;
}

static uint64_t far_amo(const char *call, const struct core_ctx *ctx,
                        const struct xport_amo *a, const void *sym, int pe,
                        bool fetches)
{
    uint64_t was = 0;

    core_far_amo(call, ctx, a->op, (size_t)a->size, sym, pe, &a->value,
                 &a->cond, fetches ? &was : NULL, false);
    return was;
}

#define AMO_OF(KIND, OP, fetches, size)                                     \
    uint64_t core_amo_##KIND##_##size(const char *call,                     \
                                      const struct core_ctx *ctx,           \
                                      const void *sym, uint64_t value,      \
                                      uint64_t cond, int pe)                \
    {                                                                       \
        const struct xport_amo a = { XPORT_##OP, size, value, cond };       \
        uint64_t was;                                                       \
                                                                            \
        if (is_here(ctx, &a, sym, pe, &was))                                \
            return was;                                                     \
        return far_amo(call, ctx, &a, sym, pe, fetches);                    \
    }
#define AMO(KIND, OP, fetches)                                              \
    AMO_OF(KIND, OP, fetches, 4) AMO_OF(KIND, OP, fetches, 8)
CORE_AMO_KINDS(AMO)

void core_amo_more_nbi(const char *call, const struct core_ctx *ctx,
                       const struct xport_amo *a, const void *sym, int pe,
                       void *fetch)
{
    uint64_t was;

    if (!is_here(ctx, a, sym, pe, &was))
        core_far_amo(call, ctx, a->op, (size_t)a->size, sym, pe, &a->value,
                     &a->cond, fetch, true);
    else if (core_foreign(fetch))
        core_device_copy(fetch, &was, (size_t)a->size);
    else
        memcpy(fetch, &was, (size_t)a->size);
}

uint64_t core_amo_wake(struct core_ctl *peer, uint64_t value)
{
    core_wake_sleepers(peer);
    return value;
}
