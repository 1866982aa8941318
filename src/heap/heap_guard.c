/* SPDX-License-Identifier: BSD-3-Clause */
/* heap_guard.c - red zones: bytes on either side of a block that belong to no
 * program. They hold a pattern, and a byte that differs was stored past an
 * end of the block, by this PE or by a peer's put. SHMEM_CHECK turns them
 * on. Blocks of spaces that the program makes have none. */
#include "heap/heap_int.h"

#include <string.h>

enum { ZONE = 64, PATTERN = 0xa5 };

void heap_guard_on(void)
{
    heap_arena_guard(heap_default.arena, ZONE);
}

static unsigned char *at(size_t off)
{
    return (unsigned char *)heap_segs[HEAP_HOST].base + off;
}

static bool zones_around(const void *ptr, struct heap_zones *out)
{
    return heap_space_of(ptr) == &heap_default &&
           heap_arena_zones(heap_default.arena, (uintptr_t)ptr -
                            heap_segs[HEAP_HOST].base, out);
}

void heap_guard_fill(void *ptr)
{
    struct heap_zones z;

    if (!zones_around(ptr, &z))
        return;
    memset(at(z.off - ZONE), PATTERN, ZONE);
    memset(at(z.off + z.size), PATTERN, z.to - z.size);
}

static bool compare(const struct heap_zones *z, struct heap_damage *out)
{
    size_t n;

    for (n = z->to; n > z->size && *at(z->off + n - 1) == PATTERN; n--)
        ;
    *out = (struct heap_damage){ at(z->off), z->size, n - z->size, false };
    if (out->bytes)
        return true;
    for (n = ZONE; n && *at(z->off - n) == PATTERN; n--)
        ;
    out->bytes = n;
    out->before = true;
    return n;
}

bool heap_guard_damaged(const void *ptr, struct heap_damage *out)
{
    struct heap_zones z;

    return zones_around(ptr, &z) && compare(&z, out);
}

bool heap_guard_scan(size_t most, struct heap_damage *out)
{
    size_t n = heap_arena_blocks(heap_default.arena);
    struct heap_zones z;

    for (n = n < most ? n : most; n; n--)
        if (heap_arena_next(heap_default.arena, &z) && compare(&z, out))
            return true;
    return false;
}
