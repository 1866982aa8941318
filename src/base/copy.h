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

/* volatile: one store of that width, never split, merged or repeated.  Where
 * the compiler may not access words at any address (riscv64), it stores such a
 * type by bytes, so the address decides there.  The thread sanitizer wants C's
 * name for one store, which aligned pieces only have. */
#ifdef __SANITIZE_THREAD__
#define COPY_LOAD(T) __atomic_load_n((const T *)src, __ATOMIC_RELAXED)
#define COPY_STORE(T, v) __atomic_store_n((T *)dst, (v), __ATOMIC_RELAXED)
#define COPY_PIECES(T, v) *(volatile T *)dst = (v)
#else
#define COPY_LOAD(T) *(const volatile T *)src
#define COPY_STORE(T, v) *(volatile T *)dst = (v)
#define COPY_PIECES(T, v) memcpy(dst, &(v), sizeof(T))
#endif
#define COPY_ALIGNED(p, T) ((uintptr_t)(p) % sizeof(T) == 0)
#define COPY_BY_ADDRESS(T)                                                  \
    do {                                                                    \
        typedef T __attribute__((aligned(sizeof(T)))) whole_;               \
        T v_ = COPY_ALIGNED(src, T) ? COPY_LOAD(whole_) : *(const T *)src;  \
        if (COPY_ALIGNED(dst, T))                                           \
            COPY_STORE(whole_, v_);                                         \
        else                                                                \
            COPY_PIECES(T, v_);                                             \
    } while (0)

#if defined(__SANITIZE_THREAD__) ||                                         \
    !(defined(__x86_64__) || defined(__ARM_FEATURE_UNALIGNED))
#define COPY_ONE(T) COPY_BY_ADDRESS(T)
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
    case 0:                     /* also of NULL */
        break;
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
