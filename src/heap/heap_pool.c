/* SPDX-License-Identifier: BSD-3-Clause */
/* The library's own blocks: sizes are powers of two, each with a list of the
 * free ones, which is linked through their first words. */
#include "heap/heap_int.h"
#include "base/lock.h"

#include <string.h>

enum { LEAST_SHIFT = 6, SHIFTS = 40 };

static struct base_lock pool_lock = LOCK_INIT;
static struct {
    size_t next, to;            /* never taken so far */
    void *spare[SHIFTS];        /* by log2 of the size */
} pool GUARDED_BY(pool_lock);

void heap_pool_open(size_t from, size_t to)
{
    lock_acquire(&pool_lock);
    memset(&pool, 0, sizeof pool);
    pool.next = heap_round_up(from, (size_t)1 << LEAST_SHIFT);
    pool.to = to;
    lock_release(&pool_lock);
}

static int shift_of(size_t size)
{
    int shift = LEAST_SHIFT;

    while (shift < SHIFTS && (size_t)1 << shift < size)
        shift++;
    return shift;
}

void *heap_pool_take(size_t size)
{
    int shift = shift_of(size);
    void *p = NULL;

    if (shift == SHIFTS)
        return NULL;
    lock_acquire(&pool_lock);
    if (pool.spare[shift]) {
        p = pool.spare[shift];
        memcpy(&pool.spare[shift], p, sizeof p);
    } else if ((size_t)1 << shift <= pool.to - pool.next) {
        p = (char *)heap_segs[HEAP_HOST].base + pool.next;
        pool.next += (size_t)1 << shift;
    }
    lock_release(&pool_lock);
    return p ? memset(p, 0, size) : NULL;
}

void heap_pool_give(void *ptr, size_t size)
{
    int shift = shift_of(size);

    lock_acquire(&pool_lock);
    memcpy(ptr, &pool.spare[shift], sizeof ptr);
    pool.spare[shift] = ptr;
    lock_release(&pool_lock);
}
