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

typedef uint8_t __attribute__((may_alias, aligned(1))) copy_u8;
typedef uint16_t __attribute__((may_alias, aligned(1))) copy_u16;
typedef uint32_t __attribute__((may_alias, aligned(1))) copy_u32;
typedef uint64_t __attribute__((may_alias, aligned(1))) copy_u64;

/* volatile: one store of that width, never split, merged or repeated.  The
 * thread sanitizer wants C's name for that, which aligned pieces only have. */
#ifdef __SANITIZE_THREAD__
#define COPY_ALIGNED(p, T) ((uintptr_t)(p) % sizeof(T) == 0)
#define COPY_ONE(T)                                                         \
    do {                                                                    \
        typedef T __attribute__((aligned(sizeof(T)))) whole_;               \
        T v_ = COPY_ALIGNED(src, T) ?                                       \
               __atomic_load_n((const whole_ *)src, __ATOMIC_RELAXED) :     \
               *(const T *)src;                                             \
        if (COPY_ALIGNED(dst, T))                                           \
            __atomic_store_n((whole_ *)dst, v_, __ATOMIC_RELAXED);          \
        else                                                                \
            *(volatile T *)dst = v_;                                        \
    } while (0)
#else
#define COPY_ONE(T) *(volatile T *)dst = *(const T *)src
#endif

force_inline void copy_bytes(void *dst, const void *src, size_t n)
{
    if (__builtin_expect(n == 8, 1)) {
        COPY_ONE(copy_u64);
        return;
    }
    switch (n) {
    case 1:
        COPY_ONE(copy_u8);
        break;
    case 2:
        COPY_ONE(copy_u16);
        break;
    case 4:
        COPY_ONE(copy_u32);
        break;
    default:
        memcpy(dst, src, n);
    }
}

#endif
