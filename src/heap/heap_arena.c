/* SPDX-License-Identifier: BSD-3-Clause */
/* heap_arena.c - the symmetric allocator: best fit, lowest offset first. It
 * works on offsets of a segment; heap_alloc.c knows of which.
 *
 * Its data lie in private memory, so a stray put cannot break them, and a
 * pointer that is not a live block is recognised. It decides by offsets and
 * the order of calls alone: PEs that make the same calls get the same offsets.
 *
 * Blocks, free or live, tile the arena and are chained by offset. Free ones
 * also form a treap by (size, offset), live ones a hash table by offset: every
 * operation is O(log n). Blocks are numbered; number 0 stands for none. */
#include "heap/heap_int.h"
#include "base/fault.h"
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
    uint8_t slack;              /* of size, beyond what was asked for */
    bool live, zone;            /* zone: a red one, beside a live block */
};

struct heap_arena {
    struct base_lock lock;
    struct block *b;            /* all of it under the lock */
    uint32_t n_blocks, cap, spare; /* spare: chain of unused numbers by left */
    uint32_t root;
    uint32_t *hash, hash_size;  /* a power of two */
    uint32_t n_live;
    size_t from, to, used, peak;
    size_t zone;                /* bytes on either side of a block, or 0 */
    uint32_t looked;            /* the last one that was checked */
    bool symmetric;             /* see heap_arena_is_symmetric() */
};

#define B(i) a->b[i]

static uint32_t scramble(size_t off)
{
    return (uint32_t)((off / GRANULE * 0x9e3779b97f4a7c15u) >> 32);
}

void heap_fail_tables(void)
{
    log_error(ERR_HEAP, "no memory for the allocator's tables, without which "
              "this PE's blocks would be in other places than those of the "
              "other PEs");
    heap_hooks.abort(EXIT_FAILURE);
}

/* ---- block numbers ---- */

static int grow_blocks(struct heap_arena *a) REQUIRES(a->lock)
{
    uint32_t cap = a->cap ? 2 * a->cap : FIRST_BLOCKS;
    struct block *b = a->cap && fault_hit(FAULT_HEAP_TABLES)
        ? NULL : realloc(a->b, cap * sizeof *b);

    if (!b)
        return -ENOMEM;
    a->b = b;
    a->cap = cap;
    return 0;
}

/* No memory for them: where blocks may differ between PEs, an error. */
static int no_tables(const struct heap_arena *a)
{
    if (a->symmetric)
        heap_fail_tables();
    return -ENOMEM;
}

/* Numbers must be at hand before anything is changed. */
static int need_numbers(struct heap_arena *a, uint32_t n) REQUIRES(a->lock)
{
    uint32_t have = a->cap - a->n_blocks;

    for (uint32_t i = a->spare; i && have < n; i = B(i).left)
        have++;
    return have < n && grow_blocks(a) ? no_tables(a) : 0;
}

static uint32_t alloc_number(struct heap_arena *a) REQUIRES(a->lock)
{
    uint32_t i = a->spare;

    if (i)
        a->spare = B(i).left;
    else
        i = a->n_blocks++;
    memset(&B(i), 0, sizeof B(i));
    return i;
}

static void free_number(struct heap_arena *a, uint32_t i) REQUIRES(a->lock)
{
    B(i).left = a->spare;
    a->spare = i;
}

/* ---- the treap of free blocks ---- */

static bool less(struct heap_arena *a, uint32_t i, size_t size, size_t off)
    REQUIRES(a->lock)
{
    return B(i).size < size || (B(i).size == size && B(i).off < off);
}

/* Parts t into what is below (size, off) and the rest. */
static void split(struct heap_arena *a, uint32_t t, size_t size, size_t off,
                  uint32_t *low, uint32_t *high) REQUIRES(a->lock)
{
    while (t) {
        if (less(a, t, size, off)) {
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

static uint32_t merge(struct heap_arena *a, uint32_t low, uint32_t high)
    REQUIRES(a->lock)
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

static void free_insert(struct heap_arena *a, uint32_t i) REQUIRES(a->lock)
{
    uint32_t *at = &a->root;

    B(i).live = false;
    B(i).priority = scramble(B(i).off);
    while (*at && B(*at).priority >= B(i).priority)
        at = less(a, *at, B(i).size, B(i).off) ? &B(*at).right : &B(*at).left;
    split(a, *at, B(i).size, B(i).off, &B(i).left, &B(i).right);
    *at = i;
}

static void free_remove(struct heap_arena *a, uint32_t i) REQUIRES(a->lock)
{
    uint32_t *at = &a->root;

    while (*at != i)
        at = less(a, *at, B(i).size, B(i).off) ? &B(*at).right : &B(*at).left;
    *at = merge(a, B(i).left, B(i).right);
    B(i).left = B(i).right = 0;
}

/* The first free block not below (size, off), or 0. */
static uint32_t free_at_least(struct heap_arena *a, size_t size, size_t off)
    REQUIRES(a->lock)
{
    uint32_t t = a->root, best = 0;

    while (t) {
        if (less(a, t, size, off)) {
            t = B(t).right;
        } else {
            best = t;
            t = B(t).left;
        }
    }
    return best;
}

/* ---- the table of live blocks ---- */

static uint32_t *chain_of(struct heap_arena *a, size_t off) REQUIRES(a->lock)
{
    return &a->hash[scramble(off) & (a->hash_size - 1)];
}

static int grow_hash(struct heap_arena *a) REQUIRES(a->lock)
{
    uint32_t size = a->hash_size ? 2 * a->hash_size : FIRST_BLOCKS;
    uint32_t *was = a->hash, was_size = a->hash_size, next;
    uint32_t *hash = calloc(size, sizeof *hash);

    if (!hash)
        return -ENOMEM;
    a->hash = hash;
    a->hash_size = size;
    for (uint32_t c = 0; c < was_size; c++) {
        for (uint32_t i = was[c]; i; i = next) {
            next = B(i).right;
            B(i).right = *chain_of(a, B(i).off);
            *chain_of(a, B(i).off) = i;
        }
    }
    free(was);
    return 0;
}

static void live_insert(struct heap_arena *a, uint32_t i) REQUIRES(a->lock)
{
    uint32_t *chain = chain_of(a, B(i).off);

    B(i).live = true;
    B(i).left = 0;
    B(i).right = *chain;
    *chain = i;
    a->n_live++;
    a->used += B(i).size;
    if (a->used > a->peak)
        a->peak = a->used;
}

static uint32_t live_find(struct heap_arena *a, size_t off) REQUIRES(a->lock)
{
    uint32_t i = *chain_of(a, off);

    while (i && B(i).off != off)
        i = B(i).right;
    return i;
}

static void live_remove(struct heap_arena *a, uint32_t i) REQUIRES(a->lock)
{
    uint32_t *at = chain_of(a, B(i).off);

    while (*at != i)
        at = &B(*at).right;
    *at = B(i).right;
    a->n_live--;
    a->used -= B(i).size;
}

/* ---- cutting and joining ---- */

/* Cuts `size` bytes off the head of i; the rest becomes a free block. */
static void take_front(struct heap_arena *a, uint32_t i,
                       size_t size) REQUIRES(a->lock)
{
    uint32_t rest;

    if (B(i).size == size)
        return;
    rest = alloc_number(a);
    B(rest).off = B(i).off + size;
    B(rest).size = B(i).size - size;
    B(rest).before = i;
    B(rest).after = B(i).after;
    if (B(i).after)
        B(B(i).after).before = rest;
    B(i).after = rest;
    B(i).size = size;
    free_insert(a, rest);
}

/* i swallows the block behind it, which is in no tree and no table. */
static void swallow_next(struct heap_arena *a, uint32_t i) REQUIRES(a->lock)
{
    uint32_t next = B(i).after;

    B(i).size += B(next).size;
    B(i).after = B(next).after;
    if (B(i).after)
        B(B(i).after).before = i;
    free_number(a, next);
}

static bool is_free(struct heap_arena *a, uint32_t i) REQUIRES(a->lock)
{
    return i && !B(i).live;
}

static void release(struct heap_arena *a, uint32_t i) REQUIRES(a->lock)
{
    uint32_t next = B(i).after, prev = B(i).before;

    B(i).live = false;
    if (is_free(a, next)) {
        free_remove(a, next);
        swallow_next(a, i);
    }
    if (is_free(a, prev)) {
        free_remove(a, prev);
        swallow_next(a, prev);
        i = prev;
    }
    free_insert(a, i);
}

static size_t lead_in(struct heap_arena *a, uint32_t i, size_t align)
    REQUIRES(a->lock)
{
    return heap_round_up(B(i).off + a->zone, align) - B(i).off;
}

/* A free block that holds size bytes at that alignment, or 0.  One that is
 * larger by the alignment surely does; only when there is none are the
 * tighter ones tried in turn. */
static uint32_t find_room(struct heap_arena *a, size_t size, size_t align)
    REQUIRES(a->lock)
{
    uint32_t i = free_at_least(a, size, 0);

    if (i && B(i).size >= size + lead_in(a, i, align))
        return i;
    if (i && align > GRANULE) {
        uint32_t sure = free_at_least(a, size + align + a->zone, 0);

        if (sure)
            return sure;
    }
    while (i && B(i).size < size + lead_in(a, i, align))
        i = free_at_least(a, B(i).size, B(i).off + 1);
    return i;
}

/* Cuts a red zone off the head of i, which is in no tree; the rest of the
 * block, if any, is in no tree either. */
static uint32_t zone_below(struct heap_arena *a, uint32_t i) REQUIRES(a->lock)
{
    bool all = B(i).size == a->zone;

    take_front(a, i, a->zone);
    B(i).live = B(i).zone = true;
    return all ? 0 : B(i).after;
}

static int allocate(struct heap_arena *a, size_t size, size_t align,
                    long hints, size_t *out) REQUIRES(a->lock)
{
    uint32_t i;
    size_t lead;

    if (need_numbers(a, 4))
        return -ENOMEM;
    if (a->n_live >= a->hash_size && grow_hash(a))
        return no_tables(a);
    i = find_room(a, size + a->zone, align);
    if (!i)
        return -ENOMEM;
    free_remove(a, i);
    lead = lead_in(a, i, align) - a->zone;
    if (lead) {
        take_front(a, i, lead);           /* puts the rest into the tree ... */
        free_insert(a, i);
        i = B(i).after;
        free_remove(a, i);         /* ... from which we take it again */
    }
    if (a->zone) {
        i = zone_below(a, i);
        free_remove(a, i);
    }
    take_front(a, i, size);
    B(i).hints = (uint16_t)hints;
    live_insert(a, i);
    *out = B(i).off;
    if (a->zone) {
        i = B(i).after;
        free_remove(a, i);
        zone_below(a, i);
    }
    return 0;
}

/* ---- the contract ---- */

void heap_arena_is_symmetric(struct heap_arena *a)
{
    a->symmetric = true;
}

int heap_arena_open(struct heap_arena **out, size_t from, size_t to)
{
    struct heap_arena *a = calloc(1, sizeof *a);
    uint32_t all;
    int rc = -ENOMEM;

    if (a) {
        a->lock = (struct base_lock)LOCK_INIT;
        lock_acquire(&a->lock);
        a->from = from;
        a->to = to;
        a->n_blocks = 1;
        rc = grow_blocks(a);
        if (!rc)
            rc = grow_hash(a);
        if (!rc) {
            all = alloc_number(a);
            B(all).off = from;
            B(all).size = to - from;
            free_insert(a, all);
        }
        lock_release(&a->lock);
    }
    if (!rc) {
        *out = a;
        return 0;
    }
    log_error(ERR_HEAP, "no memory for the allocator's tables");
    if (a)
        free(a->b);
    free(a);
    return rc;
}

void heap_arena_close(struct heap_arena *a)
{
    if (!a)
        return;
    if (a->n_live)
        log_debug(LOG_HEAP, "%u symmetric blocks were never freed", a->n_live);
    free(a->b);
    free(a->hash);
    free(a);
}

/* Larger blocks get cache lines of their own; below, that would waste more
 * than a few percent. */
static size_t usual_align(size_t size)
{
    return size >= LINE_FROM ? LINE : GRANULE;
}

static size_t rounded(size_t size)
{
    return heap_round_up(size ? size : 1, GRANULE);
}

int heap_arena_alloc(struct heap_arena *a, size_t size, size_t align,
                    long hints, size_t *off)
{
    int rc = -ENOMEM;

    if (align < usual_align(size))
        align = usual_align(size);
    lock_acquire(&a->lock);
    if (size <= a->to - a->from)
        rc = allocate(a, rounded(size), align, hints, off);
    if (!rc)
        B(live_find(a, *off)).slack = (uint8_t)(rounded(size) - size);
    lock_release(&a->lock);
    return rc;
}

bool heap_arena_find(struct heap_arena *a, size_t off, size_t *size,
                     long *hints)
{
    uint32_t i;

    lock_acquire(&a->lock);
    i = live_find(a, off);
    if (i) {
        *size = B(i).size;
        *hints = B(i).hints;
    }
    lock_release(&a->lock);
    return i != 0;
}

/* Gives the tail back, or takes from a free block behind. */
static bool resize_here(struct heap_arena *a, uint32_t i, size_t size)
    REQUIRES(a->lock)
{
    uint32_t next = B(i).after;

    if (need_numbers(a, 1))
        return false;
    if (size > B(i).size &&
        !(is_free(a, next) && B(i).size + B(next).size >= size))
        return false;
    live_remove(a, i);
    if (is_free(a, next)) {
        free_remove(a, next);
        swallow_next(a, i);
    }
    take_front(a, i, size);
    live_insert(a, i);
    return true;
}

/* Gives the tail back, and moves the zone behind the block. */
static bool shrink_guarded(struct heap_arena *a, uint32_t i, size_t size)
    REQUIRES(a->lock)
{
    uint32_t zone = B(i).after;

    if (size >= B(i).size)
        return size == B(i).size;
    if (need_numbers(a, 2))
        return false;
    live_remove(a, i);
    take_front(a, i, size);
    live_insert(a, i);
    B(zone).zone = false;
    release(a, zone);           /* joins with the tail before it */
    zone = B(i).after;
    free_remove(a, zone);
    zone_below(a, zone);
    return true;
}

bool heap_arena_rest(struct heap_arena *a, size_t off, size_t *room)
{
    uint32_t i;
    bool found;

    lock_acquire(&a->lock);
    /* Number 1 is the block at the start of the arena. */
    for (i = 1; i && off >= B(i).off + B(i).size; i = B(i).after)
        ;
    found = i && B(i).live;
    if (found)
        *room = B(i).off + B(i).size - off;
    lock_release(&a->lock);
    return found;
}

bool heap_arena_resize(struct heap_arena *a, size_t off, size_t size)
{
    bool done = false;
    uint32_t i;

    lock_acquire(&a->lock);
    i = live_find(a, off);
    if (i && size <= a->to - a->from)
        done = a->zone ? shrink_guarded(a, i, rounded(size))
                       : resize_here(a, i, rounded(size));
    if (done)
        B(i).slack = (uint8_t)(rounded(size) - size);
    lock_release(&a->lock);
    return done;
}

void heap_arena_free(struct heap_arena *a, size_t off)
{
    uint32_t i;

    lock_acquire(&a->lock);
    i = live_find(a, off);
    if (i) {
        uint32_t before = B(i).before, after = B(i).after;

        live_remove(a, i);
        if (a->zone) {
            B(before).zone = B(after).zone = false;
            release(a, after);
        }
        release(a, i);
        if (a->zone)
            release(a, before);
    }
    lock_release(&a->lock);
}

void heap_arena_guard(struct heap_arena *a, size_t zone)
{
    a->zone = zone;
}

/* i is a live block with a zone on either side. */
static struct heap_zones zones_of(struct heap_arena *a, uint32_t i)
    REQUIRES(a->lock)
{
    return (struct heap_zones){ B(i).off, B(i).size - B(i).slack,
                                B(i).size + a->zone };
}

bool heap_arena_zones(struct heap_arena *a, size_t off, struct heap_zones *out)
{
    uint32_t i;

    lock_acquire(&a->lock);
    i = a->zone ? live_find(a, off) : 0;
    if (i)
        *out = zones_of(a, i);
    lock_release(&a->lock);
    return i;
}

bool heap_arena_next(struct heap_arena *a, struct heap_zones *out)
{
    bool found = false;

    lock_acquire(&a->lock);
    for (uint32_t n = a->n_blocks; a->zone && n && !found; n--) {
        a->looked = a->looked + 1 < a->n_blocks ? a->looked + 1 : 1;
        /* A number out of use is in no chain. */
        found = a->looked < a->n_blocks && B(a->looked).live &&
                !B(a->looked).zone &&
                live_find(a, B(a->looked).off) == a->looked;
    }
    if (found)
        *out = zones_of(a, a->looked);
    lock_release(&a->lock);
    return found;
}

size_t heap_arena_blocks(const struct heap_arena *a)
{
    return a->zone ? a->n_live : 0;
}

void heap_arena_usage(struct heap_arena *a, struct heap_usage *out)
{
    uint32_t t;

    lock_acquire(&a->lock);
    out->total = a->to - a->from;
    out->used = a->used;
    out->peak_used = a->peak;
    out->blocks = a->n_live;
    out->largest_free = 0;
    for (t = a->root; t; t = B(t).right)
        out->largest_free = B(t).size;
    lock_release(&a->lock);
}

__attribute__((no_sanitize("thread")))
void heap_arena_used(const struct heap_arena *a, size_t *used, size_t *total)
    LOCK_ATTR(no_thread_safety_analysis)
{
    *used = a->used;
    *total = a->to - a->from;
}
