/* SPDX-License-Identifier: BSD-3-Clause */
/* core_rma.h - puts, gets and signals, inline for the API's typed forms.
 * Every operation here is complete, or ordered like a plain store, when the
 * function returns: core_fence and core_quiet only order stores.
 * Budget of a small put: no system call, no lock, no allocation; one check
 * of the PE, one of the address, one load of the route. */
#ifndef CORE_CORE_RMA_H
#define CORE_CORE_RMA_H

#include "base/copy.h"
#include "core/core.h"

/* The peer's memory; near is 0 when there is nothing to do.  Misuse does not
 * return. */
force_inline struct core_spot core_target(const char *call,
                                          const struct core_ctx *ctx,
                                          const void *sym, size_t len, int pe)
{
    uintptr_t near;
    int world_pe;

    if (likely((unsigned)pe < (unsigned)core_team_of(ctx)->n_pes)) {
        world_pe = core_world_pe(ctx, pe);
        near = xport_near(world_pe, sym, len);
        if (likely(near))
            return (struct core_spot){ near, core_peer_ctl(world_pe) };
    }
    core_refuse(call, ctx, sym, len, pe);
    return (struct core_spot){ 0, NULL };
}

/* The same for one element: there always is something to do. */
force_inline struct core_spot core_word(const char *call,
                                        const struct core_ctx *ctx,
                                        const void *sym, size_t size, int pe)
{
    struct core_spot s = core_target(call, ctx, sym, size, pe);

    if (!s.near)
        __builtin_unreachable();
    return s;
}

static inline size_t core_bytes(const char *call, size_t n, size_t size)
{
    size_t bytes;

    if (CORE_CHECK(__builtin_mul_overflow(n, size, &bytes)))
        core_fatal(ERR_SIZE, call, "%zu elements of %zu bytes exceed the "
                   "address space", n, size);
    return bytes;
}

static inline void core_need_local(const char *call, const void *p, size_t len)
{
    if (CORE_CHECK(!p && len))
        core_fatal(ERR_NULL, call, "a null pointer with %zu bytes", len);
}

/* Any size, none, and null pointers. */
void core_put_any(void *dest, const void *source, size_t len, int pe,
                  const char *call, const struct core_ctx *ctx);
void core_get_any(void *dest, const void *source, size_t len, int pe,
                  const char *call, const struct core_ctx *ctx);

/* One element: p and g, and what most transfers are. */
force_inline void core_put_word(const char *call, const struct core_ctx *ctx,
                                 void *dest, const void *value, size_t size,
                                 int pe)
{
    struct core_spot to = core_word(call, ctx, dest, size, pe);

    copy_bytes((void *)to.near, value, size);
    core_wake(to, size);
}

force_inline void core_get_word(const char *call, const struct core_ctx *ctx,
                                 void *value, const void *source, size_t size,
                                 int pe)
{
    uintptr_t from = core_word(call, ctx, source, size, pe).near;

    copy_bytes(value, (const void *)from, size);
}

/* The rest comes as a jump with the arguments where they are: eight bytes pay
 * for no other size, and others not for these. */
force_inline void core_put(const char *call, const struct core_ctx *ctx,
                            void *dest, const void *source, size_t len, int pe)
{
    if (likely(len == 8 && source))
        core_put_word(call, ctx, dest, source, 8, pe);
    else
        core_put_any(dest, source, len, pe, call, ctx);
}

force_inline void core_get(const char *call, const struct core_ctx *ctx,
                            void *dest, const void *source, size_t len, int pe)
{
    if (likely(len == 8 && dest))
        core_get_word(call, ctx, dest, source, 8, pe);
    else
        core_get_any(dest, source, len, pe, call, ctx);
}

/* count blocks of len bytes, dst and sst bytes apart. */
struct core_strided {
    ptrdiff_t dst, sst;
    size_t len, count;
};

void core_put_strided(const char *call, const struct core_ctx *ctx, void *dest,
                      const void *source, const struct core_strided *s,
                      int pe);
void core_get_strided(const char *call, const struct core_ctx *ctx, void *dest,
                      const void *source, const struct core_strided *s,
                      int pe);
/* Checks and scales the arguments of the strided and blocked calls. */
void core_strided_make(const char *call, ptrdiff_t dst, ptrdiff_t sst,
                       size_t bsize, size_t nblocks, size_t elem,
                       struct core_strided *out);

static inline void core_need_aligned(const char *call, const void *p,
                                     size_t size)
{
    if (CORE_CHECK((uintptr_t)p & (size - 1)))
        core_fatal(ERR_ALIGN, call, "%p is not aligned to the %zu bytes of its "
                   "type", p, size);
}

/* Stores before it are visible to whoever sees it. */
force_inline void core_signal(const char *call, const struct core_ctx *ctx,
                               uint64_t *sig_addr, uint64_t value, int sig_op,
                               int pe)
{
    struct core_spot to = core_word(call, ctx, sig_addr, sizeof value, pe);

    core_need_aligned(call, sig_addr, sizeof value);
    if (sig_op == SHMEM_SIGNAL_ADD)
        __atomic_fetch_add((uint64_t *)to.near, value, __ATOMIC_RELEASE);
    else if (likely(sig_op == SHMEM_SIGNAL_SET))
        __atomic_store_n((uint64_t *)to.near, value, __ATOMIC_RELEASE);
    else
        core_fatal(ERR_ARG, call, "signal operator %d is neither "
                   "SHMEM_SIGNAL_SET nor SHMEM_SIGNAL_ADD", sig_op);
    core_wake(to, sizeof value);
}

#endif
