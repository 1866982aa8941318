/* SPDX-License-Identifier: BSD-3-Clause */
/* copy.h - copies between mappings that other processes read meanwhile.
 * An aligned piece of 1, 2, 4 or 8 bytes is one store, so a reader never sees
 * half of it.  On return every store is ordinary: one made by a non-temporal
 * instruction has been fenced, so a full fence or a locked instruction orders
 * them all. */
#ifndef BASE_COPY_H
#define BASE_COPY_H

#include "base/atomics.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint16_t __attribute__((may_alias, aligned(1))) copy_u16;
typedef uint32_t __attribute__((may_alias, aligned(1))) copy_u32;
typedef uint64_t __attribute__((may_alias, aligned(1))) copy_u64;

force_inline void copy_bytes(void *dst, const void *src, size_t n)
{
    /* volatile: one store of that width, never split, merged or repeated. */
    if (__builtin_expect(n == 8, 1)) {
        *(volatile copy_u64 *)dst = *(const copy_u64 *)src;
        return;
    }
    switch (n) {
    case 1:
        *(volatile uint8_t *)dst = *(const uint8_t *)src;
        break;
    case 2:
        *(volatile copy_u16 *)dst = *(const copy_u16 *)src;
        break;
    case 4:
        *(volatile copy_u32 *)dst = *(const copy_u32 *)src;
        break;
    default:
        memcpy(dst, src, n);
    }
}

#endif
