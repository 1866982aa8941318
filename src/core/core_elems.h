/* SPDX-License-Identifier: BSD-3-Clause */
/* core_elems.h - puts and gets of elements of a type, for the public calls.
 * One element in the host's heap of a mapped PE is moved right in the public
 * function, which saves no register for that; all else is a jump to a function
 * of core_rma.c that is made once for each size. */
#ifndef CORE_CORE_ELEMS_H
#define CORE_CORE_ELEMS_H

#include "core/core_rma.h"

/* n elements of size bytes: the cases that the typed calls do not have inline.
 * Arguments stay where they are, so that such a call is a jump. */
#define CORE_ELEMS(X)                                                       \
    X(core_put_any) X(core_get_any) X(core_put_any_nbi) X(core_get_any_nbi)
#define CORE_ELEMS_OF(ANY)                                                  \
    void ANY##_2(void *dest, const void *source, size_t n, int pe,          \
                 const char *call, const struct core_ctx *ctx);             \
    void ANY##_4(void *dest, const void *source, size_t n, int pe,          \
                 const char *call, const struct core_ctx *ctx);             \
    void ANY##_8(void *dest, const void *source, size_t n, int pe,          \
                 const char *call, const struct core_ctx *ctx);             \
    void ANY##_16(void *dest, const void *source, size_t n, int pe,         \
                  const char *call, const struct core_ctx *ctx);            \
    force_inline void ANY##_of(void *dest, const void *source, size_t n,    \
                               size_t size, int pe, const char *call,       \
                               const struct core_ctx *ctx)                  \
    {                                                                       \
        switch (size) {                                                     \
        case 1:  ANY(dest, source, n, pe, call, ctx); break;                \
        case 2:  ANY##_2(dest, source, n, pe, call, ctx); break;            \
        case 4:  ANY##_4(dest, source, n, pe, call, ctx); break;            \
        case 8:  ANY##_8(dest, source, n, pe, call, ctx); break;            \
        case 16: ANY##_16(dest, source, n, pe, call, ctx); break;           \
        default:                                                            \
            ANY(dest, source, core_bytes(call, n, size), pe, call, ctx);    \
        }                                                                   \
    }
CORE_ELEMS(CORE_ELEMS_OF)

/* n elements of size bytes, both constants in most calls: `one` of them in the
 * host's heap is a load and a store right here.  The nbi forms are the same,
 * since a mapped peer's memory is written at once. */
#define CORE_PUT_ELEMS(NAME, ANY)                                           \
    force_inline void NAME(const char *call, const struct core_ctx *ctx,    \
                           void *dest, const void *source, size_t n,        \
                           size_t size, size_t one, int pe)                 \
    {                                                                       \
        struct core_target to;                                              \
                                                                            \
        if (likely(n == one && source && !gtl_device_only)) {               \
            to = core_mapped_heap(ctx, dest, one * size, pe);               \
            if (likely(to.addr)) {                                          \
                copy_bytes((void *)to.addr, source, one * size);            \
                core_wake(to, one * size);                                  \
                return;                                                     \
            }                                                               \
        }                                                                   \
        ANY##_of(dest, source, n, size, pe, call, ctx);                     \
    }
CORE_PUT_ELEMS(core_put_elems, core_put_any)
CORE_PUT_ELEMS(core_put_elems_nbi, core_put_any_nbi)

#define CORE_GET_ELEMS(NAME, ANY)                                           \
    force_inline void NAME(const char *call, const struct core_ctx *ctx,    \
                           void *dest, const void *source, size_t n,        \
                           size_t size, size_t one, int pe)                 \
    {                                                                       \
        uintptr_t from;                                                     \
                                                                            \
        if (likely(n == one && dest && !gtl_device_only)) {                 \
            from = core_mapped_heap(ctx, source, one * size, pe).addr;      \
            if (likely(from)) {                                             \
                copy_bytes(dest, (const void *)from, one * size);           \
                atomics_load_fence();                                       \
                return;                                                     \
            }                                                               \
        }                                                                   \
        ANY##_of(dest, source, n, size, pe, call, ctx);                     \
    }
CORE_GET_ELEMS(core_get_elems, core_get_any)
CORE_GET_ELEMS(core_get_elems_nbi, core_get_any_nbi)

/* A value of 1, 2, 4 or 8 bytes, in a register. */
#define CORE_VALUES(X)                                                      \
    X(1, uint8_t) X(2, uint16_t) X(4, uint32_t) X(8, uint64_t)
#define CORE_VALUE_OF(size, T)                                              \
    void core_put_value_##size(void *dest, T value, int pe,                 \
                               const char *call,                            \
                               const struct core_ctx *ctx);                 \
    T core_get_value_##size(const void *source, int pe, const char *call,   \
                            const struct core_ctx *ctx);
CORE_VALUES(CORE_VALUE_OF)

/* p and g: the value lies in a register, which a call by its address would
 * send to memory first. */
force_inline void core_put_word(const char *call, const struct core_ctx *ctx,
                                void *dest, const void *value, size_t size,
                                int pe)
{
    struct core_target to = core_mapped_heap(ctx, dest, size, pe);

    if (likely(to.addr)) {
        copy_bytes((void *)to.addr, value, size);
        core_wake(to, size);
        return;
    }
    switch (size) {
    case 1:
        core_put_value_1(dest, *(const copy_u8 *)value, pe, call, ctx);
        break;
    case 2:
        core_put_value_2(dest, *(const copy_u16 *)value, pe, call, ctx);
        break;
    case 4:
        core_put_value_4(dest, *(const copy_u32 *)value, pe, call, ctx);
        break;
    case 8:
        core_put_value_8(dest, *(const copy_u64 *)value, pe, call, ctx);
        break;
    default:
        core_put_any(dest, value, size, pe, call, ctx);
    }
}

force_inline void core_get_word(const char *call, const struct core_ctx *ctx,
                                void *value, const void *source, size_t size,
                                int pe)
{
    uintptr_t from = core_mapped_heap(ctx, source, size, pe).addr;

    if (likely(from)) {
        copy_bytes(value, (const void *)from, size);
        atomics_load_fence();
        return;
    }
    switch (size) {
    case 1:
        *(copy_u8 *)value = core_get_value_1(source, pe, call, ctx);
        break;
    case 2:
        *(copy_u16 *)value = core_get_value_2(source, pe, call, ctx);
        break;
    case 4:
        *(copy_u32 *)value = core_get_value_4(source, pe, call, ctx);
        break;
    case 8:
        *(copy_u64 *)value = core_get_value_8(source, pe, call, ctx);
        break;
    default:
        core_get_any(value, source, size, pe, call, ctx);
    }
}

#endif
