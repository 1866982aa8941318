/* SPDX-License-Identifier: BSD-3-Clause */
/* core_rma.h - puts, gets and signals, inline for the API's typed forms.
 * On a mapped peer every operation here is complete, or ordered like a plain
 * store, when the function returns: there core_fence and core_quiet only order
 * stores.  Other peers are reached out of line, by core_remote.c.
 * Budget of a small put: no system call, no lock, no allocation; one check
 * of the PE, one of the address, one load of the route. */
#ifndef CORE_CORE_RMA_H
#define CORE_CORE_RMA_H

#include "base/copy.h"
#include "core/core_device.h"
#include "core/core_trace.h"

/* The peer's memory, if it is mapped.  addr is 0 also where the call is wrong
 * or has nothing to do: core_remote.c sorts these out. */
force_inline struct core_target core_mapped(const struct core_ctx *ctx,
                                            const void *sym, size_t len, int pe)
{
    uintptr_t addr;
    int world_pe;

    if (likely((unsigned)pe < (unsigned)core_team_of(ctx)->n_pes)) {
        world_pe = core_world_pe(ctx, pe);
        addr = xport_ptr(world_pe, sym, len);
        if (likely(addr))
            return (struct core_target){ addr, core_peer_ctl(world_pe) };
    }
    return (struct core_target){ 0, NULL };
}

/* The same in the host's heap only, where most memory is: no call, and nothing
 * to keep across one; and in all that is not there.  addr is 0 for all else,
 * and for all in a trace. */
#define CORE_MAPPED_IN(name, maps, mapped)                                  \
    force_inline struct core_target name(const struct core_ctx *ctx,        \
                                         const void *sym, size_t len, int pe) \
    {                                                                       \
        const struct xport_route *r;                                        \
        uintptr_t addr;                                                     \
                                                                            \
        if (likely((unsigned)pe < (unsigned)core_n_direct(ctx))) {          \
            r = &xport_routes[core_world_pe(ctx, pe)];                      \
            addr = mapped(r->maps, sym, len);                               \
            if (likely(addr))                                               \
                return (struct core_target){                                \
                    addr, (struct core_ctl *)r->map[HEAP_HOST]              \
                };                                                          \
        }                                                                   \
        return (struct core_target){ 0, NULL };                             \
    }
CORE_MAPPED_IN(core_mapped_heap, map, xport_route_heap_ptr)
CORE_MAPPED_IN(core_mapped_heap_amo, amo, xport_route_heap_ptr)
CORE_MAPPED_IN(core_mapped_rest, map, xport_route_other_ptr)
CORE_MAPPED_IN(core_mapped_rest_amo, amo, xport_route_other_ptr)
#undef CORE_MAPPED_IN

/* core_mapped for atomics. */
force_inline struct core_target core_mapped_amo(const struct core_ctx *ctx,
                                                const void *sym, size_t len,
                                                int pe)
{
    uintptr_t addr;
    int world_pe;

    if (likely((unsigned)pe < (unsigned)core_team_of(ctx)->n_pes)) {
        world_pe = core_world_pe(ctx, pe);
        addr = xport_amo_ptr(world_pe, sym, len);
        if (likely(addr))
            return (struct core_target){ addr, core_peer_ctl(world_pe) };
    }
    return (struct core_target){ 0, NULL };
}

static inline size_t core_bytes(const char *call, size_t n, size_t size)
{
    size_t bytes;

    if (CORE_CHECK(__builtin_mul_overflow(n, size, &bytes)))
        core_fatal(ERR_SIZE, call, "%zu elements of %zu bytes exceed the "
                   "address space", n, size);
    return bytes;
}

static inline void core_need_local(const char *call, const char *arg,
                                   const void *p, size_t len)
{
    if (CORE_CHECK(!p && len))
        core_fatal(ERR_NULL, call, "%s is a null pointer, with %zu bytes",
                   arg, len);
}

/* Any size, none, and null pointers; the others return before they are
 * complete if the peer is off-node. */
void core_put_any(void *dest, const void *source, size_t len, int pe,
                  const char *call, const struct core_ctx *ctx);
void core_get_any(void *dest, const void *source, size_t len, int pe,
                  const char *call, const struct core_ctx *ctx);
void core_put_any_nbi(void *dest, const void *source, size_t len, int pe,
                      const char *call, const struct core_ctx *ctx);
void core_get_any_nbi(void *dest, const void *source, size_t len, int pe,
                      const char *call, const struct core_ctx *ctx);

/* ---- core_remote.c: peers that are not mapped, and whatever is wrong ---- */
void core_remote_put(void *dest, const void *source, size_t len, int pe,
                     const char *call, const struct core_ctx *ctx)
    __attribute__((cold, noinline));
void core_remote_get(void *dest, const void *source, size_t len, int pe,
                     const char *call, const struct core_ctx *ctx)
    __attribute__((cold, noinline));
/* Where the place is to be looked up: false if there is nothing to do. */
bool core_remote_resolve(const char *call, const struct core_ctx *ctx,
                         const char *arg, const void *sym, size_t len, int pe,
                         struct xport_addr *out) __attribute__((cold,
                                                                noinline));
void core_remote_signal(const char *call, const struct core_ctx *ctx,
                        uint64_t *sig_addr, uint64_t value, int sig_op, int pe)
    __attribute__((cold, noinline));

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
/* From an off-node PE, into host-accessible memory: dest is filled at the
 * context's quiet. */
void core_remote_get_strided(const char *call, const struct core_ctx *ctx,
                             void *dest, const void *source,
                             const struct core_strided *s, int pe)
    __attribute__((cold));
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

static inline void core_need_signal(const char *call, int sig_op)
{
    if (CORE_CHECK(sig_op != SHMEM_SIGNAL_ADD && sig_op != SHMEM_SIGNAL_SET))
        core_fatal(ERR_ARG, call, "signal operator %d is neither "
                   "SHMEM_SIGNAL_SET nor SHMEM_SIGNAL_ADD", sig_op);
}

/* Updates the signal; earlier stores are visible to a PE that sees it.  The
 * second one is an event of its own in a trace. */
force_inline void core_signal_in_put(const char *call,
                                     const struct core_ctx *ctx,
                                     uint64_t *sig_addr, uint64_t value,
                                     int sig_op, int pe)
{
    struct core_target to;

    core_need_aligned(call, sig_addr, sizeof value);
    core_need_signal(call, sig_op);
    to = core_mapped_amo(ctx, sig_addr, sizeof value, pe);
    if (unlikely(!to.addr)) {
        core_remote_signal(call, ctx, sig_addr, value, sig_op, pe);
        return;
    }
    atomics_tsan_release();
    if (sig_op == SHMEM_SIGNAL_ADD)
        __atomic_fetch_add((uint64_t *)to.addr, value, __ATOMIC_RELEASE);
    else
        __atomic_store_n((uint64_t *)to.addr, value, __ATOMIC_RELEASE);
    core_wake(to, sizeof value);
}

force_inline void core_signal(const char *call, const struct core_ctx *ctx,
                              uint64_t *sig_addr, uint64_t value, int sig_op,
                              int pe)
{
    CORE_TRACE_PUT(call, ctx, sig_addr, sizeof value, pe);

    core_signal_in_put(call, ctx, sig_addr, value, sig_op, pe);
}

/* The same with data before it. */
void core_put_signal(const char *call, const struct core_ctx *ctx, void *dest,
                     const void *source, size_t len, uint64_t *sig_addr,
                     uint64_t signal, int sig_op, int pe, bool nbi);
/* The same to an off-node PE, of at least one byte, waiting for nothing: 0;
 * -EAGAIN, not now, or -ENOTSUP, never of this one, and nothing was done.  pe
 * is a world PE. */
int core_remote_try_put_signal(const char *call, const struct core_ctx *ctx,
                               void *dest, const void *source, size_t len,
                               uint64_t *sig_addr, uint64_t signal, int sig_op,
                               int pe, bool nbi) __attribute__((cold));
/* To an off-node PE, at once: source is free, and no quiet covers it.  Errors
 * as above. */
int core_remote_message(const char *call, const struct core_ctx *ctx,
                        void *dest, const void *source, size_t len,
                        uint64_t *sig_addr, uint64_t signal, int sig_op, int pe)
    __attribute__((cold));

#endif
