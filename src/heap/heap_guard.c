/* SPDX-License-Identifier: BSD-3-Clause */
/* heap_guard.c - red zones: bytes on either side of a block that belong to no
 * program.  They hold a pattern, and a byte that differs was stored past an
 * end of the block, by this PE or by a peer's put.  SHMEM_CHECK turns them
 * on.  Blocks of spaces that the program makes have none.
 *
 * Each place of each PE has a pattern of its own: a put that is too long
 * copies the zone behind its source, of another block or another PE, over the
 * zone behind its target. */
#include "heap/heap_int.h"

enum { ZONE = 64 };
static uint64_t seed;

void heap_guard_on(int pe)
{
    seed = ((uint64_t)pe + 1) << 32;
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

/* Never 0 nor a small number, which are stored most often. */
static unsigned char pattern(size_t off)
{
    uint64_t x = (seed + off / 8) * 0x9e3779b97f4a7c15u;

    x = (x ^ x >> 32) * 0x9e3779b97f4a7c15u;
    return (unsigned char)(x >> off % 8 * 8 | 0x80);
}

static void fill(size_t from, size_t to)
{
    for (; from < to; from++)
        *at(from) = pattern(from);
}

static bool whole(size_t off)
{
    return *at(off) == pattern(off);
}

void heap_guard_fill(void *ptr)
{
    struct heap_zones z;

    if (!zones_around(ptr, &z))
        return;
    fill(z.off - ZONE, z.off);
    fill(z.off + z.size, z.off + z.to);
}

static bool compare(const struct heap_zones *z, struct heap_damage *out)
{
    size_t n;

    for (n = z->to; n > z->size && whole(z->off + n - 1); n--)
        ;
    *out = (struct heap_damage){ at(z->off), z->size, n - z->size, false };
    if (out->bytes)
        return true;
    for (n = ZONE; n && whole(z->off - n); n--)
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
