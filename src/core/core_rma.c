/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/core_rma.h"

void core_put_any(void *dest, const void *source, size_t len, int pe,
                  const char *call, const struct core_ctx *ctx)
{
    struct core_spot to = core_target(call, ctx, dest, len, pe);

    if (unlikely(!to.near || !len))
        return;
    core_need_local(call, source, len);
    copy_bytes((void *)to.near, source, len);
    core_wake(to, len);
}

void core_get_any(void *dest, const void *source, size_t len, int pe,
                  const char *call, const struct core_ctx *ctx)
{
    uintptr_t from = core_target(call, ctx, source, len, pe).near;

    if (unlikely(!from || !len))
        return;
    core_need_local(call, dest, len);
    copy_bytes(dest, (const void *)from, len);
}

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
    size_t all = extent(call, s->dst, s);
    struct core_spot to = core_target(call, ctx, dest, all, pe);

    if (!to.near || !all)
        return;
    core_need_local(call, source, extent(call, s->sst, s));
    copy_blocks((char *)to.near, source, s);
    core_wake(to, all);
}

void core_get_strided(const char *call, const struct core_ctx *ctx, void *dest,
                      const void *source, const struct core_strided *s, int pe)
{
    size_t all = extent(call, s->sst, s);
    uintptr_t from = core_target(call, ctx, source, all, pe).near;

    if (!from || !all)
        return;
    core_need_local(call, dest, extent(call, s->dst, s));
    copy_blocks(dest, (const char *)from, s);
}
