/* SPDX-License-Identifier: BSD-3-Clause */
/* Puts and gets that the inline code of core_elems.h leaves: other sizes and
 * segments, strided forms, device memory, off-node PEs.  Called by the public
 * calls of api, and by coll for off-node members. */
#include "core/core_elems.h"
#include "core/core_deferred.h"
#include "core/core_trace.h"

static void put_unmapped(void *dest, const void *source, size_t len, int pe,
                    const char *call, const struct core_ctx *ctx, bool nbi)
{
    struct xport_addr to;

    if (!core_remote_resolve(call, ctx, "dest", dest, len, pe, &to))
        return;
    core_need_local(call, "source", source, len);
    core_need_aware(call, "source", source, len);
    if (nbi && gtl_device_only && core_deferred_put(ctx, &to, source, len))
        return;
    if (!gtl_device_only || !core_device_put(&to, source, len))
        xport_net->put(ctx->net, &to, source, len, nbi);
}

static void get_unmapped(void *dest, const void *source, size_t len, int pe,
                    const char *call, const struct core_ctx *ctx, bool nbi)
{
    struct xport_addr from;

    if (!core_remote_resolve(call, ctx, "source", source, len, pe, &from))
        return;
    core_need_local(call, "dest", dest, len);
    core_need_aware(call, "dest", dest, len);
    if (nbi && gtl_device_only && core_deferred_get(ctx, dest, &from, len))
        return;
    if (!gtl_device_only || !core_device_get(dest, &from, len))
        xport_net->get(ctx->net, dest, &from, len, nbi);
}

void core_remote_put(void *dest, const void *source, size_t len, int pe,
                     const char *call, const struct core_ctx *ctx)
{
    put_unmapped(dest, source, len, pe, call, ctx, false);
}

void core_remote_get(void *dest, const void *source, size_t len, int pe,
                     const char *call, const struct core_ctx *ctx)
{
    get_unmapped(dest, source, len, pe, call, ctx, false);
}

force_inline void put_any(void *dest, const void *source, size_t len, int pe,
                          const char *call, const struct core_ctx *ctx,
                          bool nbi)
{
    struct core_target to = core_mapped(ctx, dest, len, pe);

    if (unlikely(!to.addr) || core_device_only(source)) {
        put_unmapped(dest, source, len, pe, call, ctx, nbi);
        return;
    }
    if (unlikely(!len))
        return;
    core_need_local(call, "source", source, len);
    copy_bytes((void *)to.addr, source, len);
    core_wake(to, len);
}

force_inline void get_any(void *dest, const void *source, size_t len, int pe,
                          const char *call, const struct core_ctx *ctx,
                          bool nbi)
{
    uintptr_t from = core_mapped(ctx, source, len, pe).addr;

    if (unlikely(!from) || core_device_only(dest)) {
        get_unmapped(dest, source, len, pe, call, ctx, nbi);
        return;
    }
    if (unlikely(!len))
        return;
    core_need_local(call, "dest", dest, len);
    copy_bytes(dest, (const void *)from, len);
    atomics_load_fence();       /* a get is done when it returns */
}

void core_put_any(void *dest, const void *source, size_t len, int pe,
                  const char *call, const struct core_ctx *ctx)
{
    CORE_TRACE_PUT(call, ctx, dest, len, pe);

    put_any(dest, source, len, pe, call, ctx, false);
}

void core_put_any_nbi(void *dest, const void *source, size_t len, int pe,
                      const char *call, const struct core_ctx *ctx)
{
    CORE_TRACE_PUT(call, ctx, dest, len, pe);

    put_any(dest, source, len, pe, call, ctx, true);
}

void core_get_any(void *dest, const void *source, size_t len, int pe,
                  const char *call, const struct core_ctx *ctx)
{
    CORE_TRACE_GET(call, ctx, source, len, pe);

    get_any(dest, source, len, pe, call, ctx, false);
}

void core_get_any_nbi(void *dest, const void *source, size_t len, int pe,
                      const char *call, const struct core_ctx *ctx)
{
    CORE_TRACE_GET(call, ctx, source, len, pe);

    get_any(dest, source, len, pe, call, ctx, true);
}

#define ELEMS(ANY, size)                                                    \
    void ANY##_##size(void *dest, const void *source, size_t n, int pe,     \
                      const char *call, const struct core_ctx *ctx)         \
    {                                                                       \
        ANY(dest, source, core_bytes(call, n, size), pe, call, ctx);        \
    }
#define ELEMS_OF(ANY) ELEMS(ANY, 2) ELEMS(ANY, 4) ELEMS(ANY, 8) ELEMS(ANY, 16)
CORE_ELEMS(ELEMS_OF)

/* The caller has looked in the host's heap.  Off-node values,
 * and all in a trace, have functions of their own: their address is needed, and
 * so is a frame. */
#define VALUE_OF(size, T)                                                   \
    __attribute__((noinline, cold))                                         \
    static void put_value_any_##size(void *dest, T value, int pe,           \
                                     const char *call,                      \
                                     const struct core_ctx *ctx)            \
    {                                                                       \
        core_put_any(dest, &value, size, pe, call, ctx);                    \
    }                                                                       \
                                                                            \
    void core_put_value_##size(void *dest, T value, int pe,                 \
                               const char *call,                            \
                               const struct core_ctx *ctx)                  \
    {                                                                       \
        struct core_target to = core_mapped_rest(ctx, dest, size, pe);      \
                                                                            \
        if (unlikely(!to.addr)) {                                           \
            put_value_any_##size(dest, value, pe, call, ctx);               \
            return;                                                         \
        }                                                                   \
        copy_bytes((void *)to.addr, &value, size);                          \
        core_wake(to, size);                                                \
    }                                                                       \
                                                                            \
    __attribute__((noinline, cold))                                         \
    static T get_value_any_##size(const void *source, int pe,               \
                                  const char *call,                         \
                                  const struct core_ctx *ctx)               \
    {                                                                       \
        T value = 0;                                                        \
                                                                            \
        core_get_any(&value, source, size, pe, call, ctx);                  \
        return value;                                                       \
    }                                                                       \
                                                                            \
    T core_get_value_##size(const void *source, int pe, const char *call,   \
                            const struct core_ctx *ctx)                     \
    {                                                                       \
        uintptr_t from = core_mapped_rest(ctx, source, size, pe).addr;      \
        T value;                                                            \
                                                                            \
        if (unlikely(!from))                                                \
            return get_value_any_##size(source, pe, call, ctx);             \
        copy_bytes(&value, (const void *)from, size);                       \
        atomics_load_fence();                                               \
        return value;                                                       \
    }
CORE_VALUES(VALUE_OF)

/* Bytes from the first to past the last block, or a fatal error. */
static size_t extent(const char *call, ptrdiff_t stride,
                     const struct core_strided *s)
{
    size_t span, all;

    if (s->count == 0 || s->len == 0)
        return 0;
    if (__builtin_mul_overflow(s->count - 1, (size_t)stride, &span) ||
        __builtin_add_overflow(span, s->len, &all))
        core_fatal(ERR_SIZE, call, "%zu blocks, %td bytes apart, exceed the "
                   "address space", s->count, stride);
    return all;
}

void core_strided_make(const char *call, ptrdiff_t dst, ptrdiff_t sst,
                       size_t bsize, size_t nblocks, size_t elem,
                       struct core_strided *out)
{
    if (CORE_CHECK(nblocks && bsize && (dst < 1 || sst < 1 ||
                                        (size_t)dst < bsize ||
                                        (size_t)sst < bsize)))
        core_fatal(ERR_ARG, call, "strides %td and %td are below the block of "
                   "%zu elements", dst, sst, bsize);
    if (CORE_CHECK(__builtin_mul_overflow(dst, elem, &out->dst) ||
                   __builtin_mul_overflow(sst, elem, &out->sst)))
        core_fatal(ERR_SIZE, call, "strides %td and %td of %zu-byte elements "
                   "exceed the address space", dst, sst, elem);
    out->len = core_bytes(call, bsize, elem);
    out->count = nblocks;
}

static void copy_blocks(char *to, const char *from,
                        const struct core_strided *s)
{
    if (s->dst == (ptrdiff_t)s->len && s->sst == (ptrdiff_t)s->len) {
        copy_bytes(to, from, s->len * s->count);
        return;
    }
    for (size_t i = 0; i < s->count; i++) {
        copy_bytes(to, from, s->len);
        to += s->dst;
        from += s->sst;
    }
}

void core_put_strided(const char *call, const struct core_ctx *ctx, void *dest,
                      const void *source, const struct core_strided *s, int pe)
{
    CORE_TRACE_PUT(call, ctx, dest, s->len * s->count, pe);
    const struct xport_blocks b = { s->len, s->count, s->dst, s->sst };
    size_t all = extent(call, s->dst, s);
    struct core_target to = core_mapped(ctx, dest, all, pe);
    struct xport_addr at;

    if (core_device_only(source))
        to.addr = 0;
    if (!to.addr && !core_remote_resolve(call, ctx, "dest", dest, all, pe, &at))
        return;
    if (!all)
        return;
    core_need_local(call, "source", source, extent(call, s->sst, s));
    core_need_aware(call, "source", source, all);
    if (to.addr) {
        copy_blocks((char *)to.addr, source, s);
        core_wake(to, all);
    } else if (!gtl_device_only || !core_device_put_blocks(ctx, &at, source,
                                                           &b)) {
        xport_net->put_blocks(ctx->net, &at, source, &b);
    }
}

void core_get_strided(const char *call, const struct core_ctx *ctx, void *dest,
                      const void *source, const struct core_strided *s, int pe)
{
    CORE_TRACE_GET(call, ctx, source, s->len * s->count, pe);
    const struct xport_blocks b = { s->len, s->count, s->sst, s->dst };
    size_t all = extent(call, s->sst, s);
    uintptr_t from = core_mapped(ctx, source, all, pe).addr;
    struct xport_addr at;

    if (core_device_only(dest))
        from = 0;
    if (!from &&
        !core_remote_resolve(call, ctx, "source", source, all, pe, &at))
        return;
    if (!all)
        return;
    core_need_local(call, "dest", dest, extent(call, s->dst, s));
    core_need_aware(call, "dest", dest, all);
    if (from) {
        copy_blocks(dest, (const char *)from, s);
        atomics_load_fence();
    } else if (!gtl_device_only ||
               !core_device_get_blocks(ctx, dest, &at, &b)) {
        xport_net->get_blocks(ctx->net, dest, &at, &b, false);
    }
}

void core_remote_get_strided(const char *call, const struct core_ctx *ctx,
                             void *dest, const void *source,
                             const struct core_strided *s, int pe)
{
    CORE_TRACE_GET(call, ctx, source, s->len * s->count, pe);
    const struct xport_blocks b = { s->len, s->count, s->sst, s->dst };
    struct xport_addr at;

    if (core_remote_resolve(call, ctx, "source", source,
                            extent(call, s->sst, s), pe, &at))
        xport_net->get_blocks(ctx->net, dest, &at, &b, true);
}
