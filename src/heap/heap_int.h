/* SPDX-License-Identifier: BSD-3-Clause */
/* heap_int.h - what the files of heap share. */
#ifndef HEAP_HEAP_INT_H
#define HEAP_HEAP_INT_H

#include "heap/heap.h"

/* Bytes at the head of each host segment for heap_reserve(). */
#define HEAP_RESERVED ((size_t)256 << 10)

static inline size_t heap_round_up(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

/* ---- heap_static.c: static data of the main program ---- */
struct heap_static {
    char *start;
    size_t size;                /* whole pages; 0: nothing can be shared */
    uint64_t hash;              /* of the layout */
};
void heap_static_find(struct heap_static *out);
/* view is the same part of fd, mapped elsewhere. */
int heap_static_share(const struct heap_static *d, int fd, off_t off,
                      char *view);
void heap_static_unshare(void);

/* ---- heap_pool.c: [from, to) of the host segment ---- */
int heap_pool_open(size_t from, size_t to);
void heap_pool_close(void);

/* ---- heap_arena.c: blocks in [from, to), offsets of a segment ---- */
/* Ends the job: the private memory of one PE is short, which no other PE knows,
 * and offsets would no longer agree. */
void heap_fail_tables(void);
int heap_arena_open(struct heap_arena **out, size_t from, size_t to);
/* Its blocks are in the same places on all PEs, see heap_fail_tables(). */
void heap_arena_is_symmetric(struct heap_arena *a);
void heap_arena_close(struct heap_arena *a);
int heap_arena_alloc(struct heap_arena *a, size_t size, size_t align,
                    long hints, size_t *off);
/* Is it the start of a live block? */
bool heap_arena_find(struct heap_arena *a, size_t off, size_t *size,
                     long *hints);
/* From off to the end of the live block around it.  Walks all blocks. */
bool heap_arena_rest(struct heap_arena *a, size_t off, size_t *room);
/* In place, of a live block, or not at all. */
bool heap_arena_resize(struct heap_arena *a, size_t off, size_t size);
void heap_arena_free(struct heap_arena *a, size_t off);
/* Red zones of so many bytes around all blocks from now on; there are none yet.
 * size is what was asked for, to where the zone behind the block ends. */
struct heap_zones {
    size_t off, size, to;
};
void heap_arena_guard(struct heap_arena *a, size_t zone);
bool heap_arena_zones(struct heap_arena *a, size_t off, struct heap_zones *out);
/* The next live block, in some order, again and again. */
bool heap_arena_next(struct heap_arena *a, struct heap_zones *out);
size_t heap_arena_blocks(const struct heap_arena *a);
void heap_arena_usage(struct heap_arena *a, struct heap_usage *out);
void heap_arena_used(const struct heap_arena *a, size_t *used, size_t *total);

/* ---- heap_dump.c ---- */
/* After heap_segs is filled.  reserved: of huge pages, which are taken
 * already. */
void heap_dump_open(bool reserved);
/* Core files have the host heap up to that offset from now on. */
void heap_dump_cover(size_t end);

#endif
