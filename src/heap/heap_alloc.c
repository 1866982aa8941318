/* SPDX-License-Identifier: BSD-3-Clause */
/* The symmetric allocator: best fit, lowest offset first.
 *
 * All it knows lies in private memory, so a stray put cannot break it and any
 * pointer that is not a live block is told apart.  It decides by offsets and
 * the order of calls alone; PEs that make the same calls get the same
 * offsets.
 *
 * Blocks, free or live, tile the arena and are chained by offset.  Free ones
 * also form a treap by (size, offset), live ones a hash table by offset:
 * every operation is O(log n).  Blocks are numbered; number 0 is nobody. */
#include "heap/heap_int.h"
#include "base/lock.h"
#include "base/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { GRANULE = 16, LINE = 64, LINE_FROM = 2048, FIRST_BLOCKS = 64 };

struct block {
    size_t off, size;
    uint32_t before, after;     /* by offset */
    uint32_t left, right;       /* treap of the free; right: hash chain */
    uint32_t priority;
    uint16_t hints;
    bool live;
};

static struct base_lock arena_lock = LOCK_INIT;
static struct {
    struct block *b;
    uint32_t n_blocks, cap, spare; /* spare: chain of unused numbers by left */
    uint32_t root;
    uint32_t *hash, hash_size;  /* a power of two */
    uint32_t n_live;
    size_t from, to, used, peak;
} arena GUARDED_BY(arena_lock);

#define B(i) arena.b[i]

static uint32_t scramble(size_t off)
{
    return (uint32_t)((off / GRANULE * 0x9e3779b97f4a7c15u) >> 32);
}

/* ---- block numbers ---- */

static int grow_blocks(void) REQUIRES(arena_lock)
{
    uint32_t cap = arena.cap ? 2 * arena.cap : FIRST_BLOCKS;
    struct block *b = realloc(arena.b, cap * sizeof *b);

    if (!b)
        return -ENOMEM;
    arena.b = b;
    arena.cap = cap;
    return 0;
}

/* Numbers must be at hand before anything is changed. */
static int need_numbers(uint32_t n) REQUIRES(arena_lock)
{
    uint32_t have = arena.cap - arena.n_blocks;

    for (uint32_t i = arena.spare; i && have < n; i = B(i).left)
        have++;
    return have >= n ? 0 : grow_blocks();
}

static uint32_t take_number(void) REQUIRES(arena_lock)
{
    uint32_t i = arena.spare;

    if (i)
        arena.spare = B(i).left;
    else
        i = arena.n_blocks++;
    memset(&B(i), 0, sizeof B(i));
    return i;
}

static void drop_number(uint32_t i) REQUIRES(arena_lock)
{
    B(i).left = arena.spare;
    arena.spare = i;
}

/* ---- the treap of free blocks ---- */

static bool less(uint32_t a, size_t size, size_t off) REQUIRES(arena_lock)
{
    return B(a).size < size || (B(a).size == size && B(a).off < off);
}

/* Parts t into what is below (size, off) and the rest. */
static void split(uint32_t t, size_t size, size_t off, uint32_t *low,
                  uint32_t *high) REQUIRES(arena_lock)
{
    while (t) {
        if (less(t, size, off)) {
            *low = t;
            low = &B(t).right;
            t = *low;
        } else {
            *high = t;
            high = &B(t).left;
            t = *high;
        }
    }
    *low = *high = 0;
}

static uint32_t merge(uint32_t low, uint32_t high) REQUIRES(arena_lock)
{
    uint32_t root = 0, *at = &root;

    while (low && high) {
        if (B(low).priority > B(high).priority) {
            *at = low;
            at = &B(low).right;
            low = *at;
        } else {
            *at = high;
            at = &B(high).left;
            high = *at;
        }
    }
    *at = low ? low : high;
    return root;
}

static void free_insert(uint32_t i) REQUIRES(arena_lock)
{
    uint32_t *at = &arena.root;

    B(i).live = false;
    B(i).priority = scramble(B(i).off);
    while (*at && B(*at).priority >= B(i).priority)
        at = less(*at, B(i).size, B(i).off) ? &B(*at).right : &B(*at).left;
    split(*at, B(i).size, B(i).off, &B(i).left, &B(i).right);
    *at = i;
}

static void free_remove(uint32_t i) REQUIRES(arena_lock)
{
    uint32_t *at = &arena.root;

    while (*at != i)
        at = less(*at, B(i).size, B(i).off) ? &B(*at).right : &B(*at).left;
    *at = merge(B(i).left, B(i).right);
    B(i).left = B(i).right = 0;
}

/* The first free block not below (size, off), or 0. */
static uint32_t free_at_least(size_t size, size_t off) REQUIRES(arena_lock)
{
    uint32_t t = arena.root, best = 0;

    while (t) {
        if (less(t, size, off)) {
            t = B(t).right;
        } else {
            best = t;
            t = B(t).left;
        }
    }
    return best;
}

/* ---- the table of live blocks ---- */

static uint32_t *chain_of(size_t off) REQUIRES(arena_lock)
{
    return &arena.hash[scramble(off) & (arena.hash_size - 1)];
}

static int grow_hash(void) REQUIRES(arena_lock)
{
    uint32_t size = arena.hash_size ? 2 * arena.hash_size : FIRST_BLOCKS;
    uint32_t *was = arena.hash, was_size = arena.hash_size, next;
    uint32_t *hash = calloc(size, sizeof *hash);

    if (!hash)
        return -ENOMEM;
    arena.hash = hash;
    arena.hash_size = size;
    for (uint32_t c = 0; c < was_size; c++) {
        for (uint32_t i = was[c]; i; i = next) {
            next = B(i).right;
            B(i).right = *chain_of(B(i).off);
            *chain_of(B(i).off) = i;
        }
    }
    free(was);
    return 0;
}

static void live_insert(uint32_t i) REQUIRES(arena_lock)
{
    uint32_t *chain = chain_of(B(i).off);

    B(i).live = true;
    B(i).left = 0;
    B(i).right = *chain;
    *chain = i;
    arena.n_live++;
    arena.used += B(i).size;
    if (arena.used > arena.peak)
        arena.peak = arena.used;
}

static uint32_t live_find(size_t off) REQUIRES(arena_lock)
{
    uint32_t i = *chain_of(off);

    while (i && B(i).off != off)
        i = B(i).right;
    return i;
}

static void live_remove(uint32_t i) REQUIRES(arena_lock)
{
    uint32_t *at = chain_of(B(i).off);

    while (*at != i)
        at = &B(*at).right;
    *at = B(i).right;
    arena.n_live--;
    arena.used -= B(i).size;
}

/* ---- cutting and joining ---- */

/* Cuts `size` bytes off the head of i; the rest becomes a free block. */
static void cut(uint32_t i, size_t size) REQUIRES(arena_lock)
{
    uint32_t rest;

    if (B(i).size == size)
        return;
    rest = take_number();
    B(rest).off = B(i).off + size;
    B(rest).size = B(i).size - size;
    B(rest).before = i;
    B(rest).after = B(i).after;
    if (B(i).after)
        B(B(i).after).before = rest;
    B(i).after = rest;
    B(i).size = size;
    free_insert(rest);
}

/* i swallows the block behind it, which is in no tree and no table. */
static void swallow_next(uint32_t i) REQUIRES(arena_lock)
{
    uint32_t next = B(i).after;

    B(i).size += B(next).size;
    B(i).after = B(next).after;
    if (B(i).after)
        B(B(i).after).before = i;
    drop_number(next);
}

static bool is_free(uint32_t i) REQUIRES(arena_lock)
{
    return i && !B(i).live;
}

static void release(uint32_t i) REQUIRES(arena_lock)
{
    uint32_t next = B(i).after, prev = B(i).before;

    B(i).live = false;
    if (is_free(next)) {
        free_remove(next);
        swallow_next(i);
    }
    if (is_free(prev)) {
        free_remove(prev);
        swallow_next(prev);
        i = prev;
    }
    free_insert(i);
}

static size_t lead_in(uint32_t i, size_t align) REQUIRES(arena_lock)
{
    return heap_round_up(B(i).off, align) - B(i).off;
}

/* A free block that holds size bytes at that alignment, or 0.  One that is
 * larger by the alignment surely does; only when there is none are the
 * tighter ones tried in turn. */
static uint32_t find_room(size_t size, size_t align) REQUIRES(arena_lock)
{
    uint32_t i = free_at_least(size, 0);

    if (i && B(i).size >= size + lead_in(i, align))
        return i;
    if (i && align > GRANULE) {
        uint32_t sure = free_at_least(size + align, 0);

        if (sure)
            return sure;
    }
    while (i && B(i).size < size + lead_in(i, align))
        i = free_at_least(B(i).size, B(i).off + 1);
    return i;
}

static int allocate(size_t size, size_t align, long hints, size_t *out)
    REQUIRES(arena_lock)
{
    uint32_t i;
    size_t lead;

    if (need_numbers(2) ||
        (arena.n_live >= arena.hash_size && grow_hash()))
        return -ENOMEM;
    i = find_room(size, align);
    if (!i)
        return -ENOMEM;
    free_remove(i);
    lead = lead_in(i, align);
    if (lead) {
        cut(i, lead);           /* puts the rest into the tree ... */
        free_insert(i);
        i = B(i).after;
        free_remove(i);         /* ... from which we take it again */
    }
    cut(i, size);
    B(i).hints = (uint16_t)hints;
    live_insert(i);
    *out = B(i).off;
    return 0;
}

static char *address(size_t off)
{
    return (char *)heap_segs[HEAP_HOST].base + off;
}

/* The live block that starts at ptr, or 0. */
static uint32_t block_of(const void *ptr) REQUIRES(arena_lock)
{
    size_t off = (uintptr_t)ptr - heap_segs[HEAP_HOST].base;

    return off < arena.to && arena.hash_size ? live_find(off) : 0;
}

/* ---- the contract ---- */

int heap_arena_open(size_t from, size_t to)
{
    int rc;

    lock_acquire(&arena_lock);
    memset(&arena, 0, sizeof arena);
    arena.from = from;
    arena.to = to;
    arena.n_blocks = 1;
    rc = grow_blocks();
    if (!rc)
        rc = grow_hash();
    if (!rc) {
        uint32_t all = take_number();

        B(all).off = from;
        B(all).size = to - from;
        free_insert(all);
    } else {
        log_error(ERR_HEAP, "no memory for the allocator's tables");
        free(arena.b);
        arena.b = NULL;
    }
    lock_release(&arena_lock);
    return rc;
}

void heap_arena_close(void)
{
    lock_acquire(&arena_lock);
    if (arena.n_live)
        log_debug(LOG_HEAP, "%u symmetric blocks were never freed",
                  arena.n_live);
    free(arena.b);
    free(arena.hash);
    memset(&arena, 0, sizeof arena);
    lock_release(&arena_lock);
}

/* Larger blocks get cache lines of their own; below, that would waste more
 * than a few percent. */
static size_t usual_align(size_t size)
{
    return size >= LINE_FROM ? LINE : GRANULE;
}

int heap_alloc(size_t size, size_t align, long hints, void **out)
{
    size_t off = 0, rounded;
    int rc = -ENOMEM;

    if (align > HEAP_ALIGN)
        return -EINVAL;
    if (align < usual_align(size))
        align = usual_align(size);
    lock_acquire(&arena_lock);
    if (size <= arena.to - arena.from) {
        rounded = heap_round_up(size ? size : 1, GRANULE);
        rc = allocate(rounded, align, hints, &off);
    }
    lock_release(&arena_lock);
    if (!rc)
        *out = address(off);
    return rc;
}

bool heap_block(const void *ptr, size_t *size, long *hints)
{
    uint32_t i;

    lock_acquire(&arena_lock);
    i = block_of(ptr);
    if (i) {
        *size = B(i).size;
        *hints = B(i).hints;
    }
    lock_release(&arena_lock);
    return i != 0;
}

/* In place: give the tail back, or take from a free block behind. */
static bool resize_here(uint32_t i, size_t size) REQUIRES(arena_lock)
{
    uint32_t next = B(i).after;

    if (need_numbers(1))
        return false;
    if (size > B(i).size &&
        !(is_free(next) && B(i).size + B(next).size >= size))
        return false;
    live_remove(i);
    if (is_free(next)) {
        free_remove(next);
        swallow_next(i);
    }
    cut(i, size);
    live_insert(i);
    return true;
}

int heap_resize(void *ptr, size_t size, void **out)
{
    size_t rounded, was = 0;
    void *moved = NULL;
    bool here = false;
    long hints = 0;
    uint32_t i;
    int rc;

    lock_acquire(&arena_lock);
    i = block_of(ptr);
    if (i && size <= arena.to - arena.from) {
        rounded = heap_round_up(size ? size : 1, GRANULE);
        was = B(i).size;
        hints = B(i).hints;
        here = resize_here(i, rounded);
    }
    lock_release(&arena_lock);
    if (!i)
        return -EINVAL;
    if (here) {
        *out = ptr;
        return 0;
    }
    rc = heap_alloc(size, 0, hints, &moved);
    if (rc)
        return rc;
    memcpy(moved, ptr, was < size ? was : size);
    heap_free(ptr);
    *out = moved;
    return 0;
}

void heap_free(void *ptr)
{
    uint32_t i;

    lock_acquire(&arena_lock);
    i = block_of(ptr);
    if (i) {
        live_remove(i);
        release(i);
    }
    lock_release(&arena_lock);
}

void heap_usage_get(struct heap_usage *out)
{
    uint32_t t;

    lock_acquire(&arena_lock);
    out->total = arena.to - arena.from;
    out->used = arena.used;
    out->peak_used = arena.peak;
    out->blocks = arena.n_live;
    out->largest_free = 0;
    for (t = arena.root; t; t = B(t).right)
        out->largest_free = B(t).size;
    lock_release(&arena_lock);
}

__attribute__((no_sanitize("thread")))
void heap_used(size_t *used, size_t *total) LOCK_ATTR(no_thread_safety_analysis)
{
    *used = arena.used;
    *total = arena.to - arena.from;
}
