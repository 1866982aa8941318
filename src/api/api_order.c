/* SPDX-License-Identifier: BSD-3-Clause */
/* Fence, quiet and pe_quiet, of contexts too.  Checks its arguments and calls
 * core; orders nothing itself. */
#include "api/api.h"

/* The macros below make these public names.
 *   shmem_ctx_fence shmem_ctx_quiet shmem_fence shmem_quiet */

static const struct core_ctx *host_ctx(shmem_ctx_t ctx, const char *call)
{
    const struct core_ctx *c = core_ctx_of(ctx, call);

    if (CORE_CHECK(c->options & SHMEM_DEVICE_CTX))
        core_ctx_refuse(c, call);
    return c;
}

typedef void order_fn(const char *call, const struct core_ctx *ctx);

static void order_slowly(order_fn *order, const char *call,
                         const struct core_ctx *ctx)
    __attribute__((cold, noinline));
static void order_slowly(order_fn *order, const char *call,
                         const struct core_ctx *ctx)
{
    CORE_TRACE_CALL(call);

    core_need_up(call);
    order(call, ctx);
}

#define ORDER(NAME, ctx)                                                    \
    (likely(core_n_direct(&core_ctx_default))                              \
         ? core_##NAME(__func__, ctx)                                       \
         : order_slowly(core_##NAME, __func__, ctx))

/* An invalid context has nothing to order: fence and quiet do nothing. */
#define API_ORDER(NAME)                                                     \
    void pshmem_##NAME(void)                                                \
    {                                                                       \
        ORDER(NAME, API_DEFAULT);                                           \
    }                                                                       \
    void pshmem_ctx_##NAME(shmem_ctx_t ctx)                                 \
    {                                                                       \
        core_need_up(__func__);                                             \
        if (ctx != SHMEM_CTX_INVALID)                                       \
            ORDER(NAME, host_ctx(ctx, __func__));                           \
    }                                                                       \
    API_ALIAS(shmem_##NAME) API_ALIAS(shmem_ctx_##NAME)
API_ORDER(fence)
API_ORDER(quiet)

static void pe_quiet(const char *call, const struct core_ctx *ctx,
                     const int *target_pes, size_t npes)
{
    core_need_up(call);
    if (npes == 0)
        return;
    if (CORE_CHECK(!target_pes))
        core_fatal(ERR_NULL, call, "no list of PEs, but %zu PE%s",
                   npes, npes == 1 ? "" : "s");
    for (size_t i = 0; i < npes; i++)
        if (CORE_CHECK((unsigned)target_pes[i] >= (unsigned)ctx->team->n_pes))
            core_fatal(ERR_PE, call, "PE %d is outside 0..%d", target_pes[i],
                       ctx->team->n_pes - 1);
    core_quiet(call, ctx);
}

void pshmem_pe_quiet(const int *target_pes, size_t npes)
{
    CORE_TRACE_CALL(__func__);

    pe_quiet(__func__, API_DEFAULT, target_pes, npes);
}
API_ALIAS(shmem_pe_quiet)

void pshmem_ctx_pe_quiet(shmem_ctx_t ctx, const int *target_pes, size_t npes)
{
    CORE_TRACE_CALL(__func__);

    pe_quiet(__func__, host_ctx(ctx, __func__), target_pes, npes);
}
API_ALIAS(shmem_ctx_pe_quiet)

void pshmem_barrier_all(void)
{
    CORE_TRACE_CALL(__func__);

    core_need_up(__func__);
    API_COLL_ENTER(&core_world, ERR_COLL, __func__);
    coll_barrier_world();
    api_heap_check_guards(__func__);
}
API_ALIAS(shmem_barrier_all)

void pshmem_sync_all(void)
{
    CORE_TRACE_CALL(__func__);

    core_need_up(__func__);
    API_COLL_ENTER(&core_world, ERR_COLL, __func__);
    coll_sync(&core_world);
}
API_ALIAS(shmem_sync_all)

void pshmem_set_lock(long *lock)
{
    CORE_TRACE_CALL(__func__);

    core_lock_set(__func__, lock);
}
API_ALIAS(shmem_set_lock)

void pshmem_clear_lock(long *lock)
{
    CORE_TRACE_CALL(__func__);

    core_lock_clear(__func__, lock);
}
API_ALIAS(shmem_clear_lock)

int pshmem_test_lock(long *lock)
{
    return core_lock_test(__func__, lock);
}
API_ALIAS(shmem_test_lock)

void pshmem_pcontrol(int level, ...)
{
    (void)level;
}
API_ALIAS(shmem_pcontrol)
