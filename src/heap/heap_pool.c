/* SPDX-License-Identifier: BSD-3-Clause */
/* heap_pool.c - the library's own blocks in the host segment: whole cache
 * lines of an arena of their own. Teams, queues and messages take flags from
 * it. */
#include "heap/heap_int.h"

#include <stdlib.h>
#include <string.h>

enum { LINE = 64 };

static struct heap_arena *pool;
static size_t pool_size;

int heap_pool_open(size_t from, size_t to)
{
    pool_size = to - from;
    return heap_arena_open(&pool, heap_round_up(from, LINE), to);
}

void heap_pool_close(void)
{
    heap_arena_close(pool);
    pool = NULL;
}

size_t heap_pool_size(void)
{
    return pool_size;
}

void *heap_pool_alloc(size_t size)
{
    size_t lines = size / LINE + (size % LINE || !size), at;
    void *p;

    if (lines > SIZE_MAX / LINE ||
        heap_arena_alloc(pool, lines * LINE, LINE, 0, &at))
        return NULL;
    p = (char *)heap_segs[HEAP_HOST].base + at;
    return memset(p, 0, size);
}

void heap_pool_free(void *ptr)
{
    heap_arena_free(pool, (uintptr_t)ptr - heap_segs[HEAP_HOST].base);
}
