/* SPDX-License-Identifier: BSD-3-Clause */
/* heap_alloc.c - blocks of symmetric memory: which space an address is in, and
 * what is in its blocks. api calls it for shmem_malloc() and the like.
 * heap_arena.c decides where blocks lie. */
#include "heap/heap_int.h"
#include "base/fault.h"
#include "base/lock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 64 };

struct heap_space heap_default = { .seg = HEAP_HOST };
struct heap_space heap_device = { .seg = HEAP_DEVICE };

static struct base_lock made_lock = LOCK_INIT;
/* Spaces cut out of the other two. */
static struct list_link made GUARDED_BY(made_lock) = LIST_INIT(made);

int heap_space_open(struct heap_space *s, size_t from, size_t to, size_t align)
{
    int rc = heap_arena_open(&s->arena, from, to);

    if (!rc) {
        heap_arena_is_symmetric(s->arena);
        s->from = from;
        s->to = to;
        s->align = align;
    }
    return rc;
}

void heap_space_close(struct heap_space *s)
{
    heap_arena_close(s->arena);
    s->arena = NULL;
    s->from = s->to = 0;
}

/* The offset in the space's segment. */
static size_t offset_in(const struct heap_space *s, const void *ptr)
{
    return (uintptr_t)ptr - heap_segs[s->seg].base;
}

static bool holds(const struct heap_space *s, const void *ptr)
{
    size_t off = offset_in(s, ptr);

    return s->arena && heap_segs[s->seg].size && off >= s->from && off < s->to;
}

struct heap_space *heap_space_of(const void *ptr)
{
    struct heap_space *s = NULL;
    struct list_link *l;

    lock_acquire(&made_lock);
    for (l = made.next; l != &made && !s; l = l->next)
        if (holds(list_entry(l, struct heap_space, link), ptr))
            s = list_entry(l, struct heap_space, link);
    lock_release(&made_lock);
    if (s)
        return s;
    return holds(&heap_default, ptr) ? &heap_default
         : holds(&heap_device, ptr) ? &heap_device : NULL;
}

int heap_space_create(struct heap_space *from, size_t size,
                   struct heap_space **out)
{
    struct heap_space *s;
    size_t off;
    int rc = -ENOMEM;

    if (size > from->to - from->from)
        return rc;
    s = calloc(1, sizeof *s);
    if (!s)
        heap_fail_tables();
    size = heap_round_up(size, LINE);   /* one block can have it all */
    s->seg = from->seg;
    s->parent = from;
    rc = heap_arena_alloc(from->arena, size, HEAP_ALIGN, 0, &off);
    if (rc)
        goto free_space;
    if (from == &heap_default)      /* before the place is the space's */
        heap_guard_fill((void *)(heap_segs[s->seg].base + off));
    if (heap_space_open(s, off, off + size, from->align))
        heap_hooks.abort(EXIT_FAILURE);     /* as heap_fail_tables() */
    lock_acquire(&made_lock);
    list_append(&made, &s->link);
    lock_release(&made_lock);
    *out = s;
    return 0;
free_space:
    free(s);
    return rc;
}

void heap_space_destroy(struct heap_space *s)
{
    size_t off = s->from;

    lock_acquire(&made_lock);
    list_remove(&s->link);
    lock_release(&made_lock);
    heap_space_close(s);
    if (s->parent->arena)
        heap_arena_free(s->parent->arena, off);
    free(s);
}

bool heap_space_is_created(const struct heap_space *s)
{
    struct list_link *l;
    bool found = false;

    lock_acquire(&made_lock);
    for (l = made.next; l != &made && !found; l = l->next)
        found = l == &s->link;
    lock_release(&made_lock);
    return found;
}

void heap_space_destroy_all(void)
{
    struct list_link *first;

    for (;;) {
        lock_acquire(&made_lock);
        first = list_empty(&made) ? NULL : made.next;
        lock_release(&made_lock);
        if (!first)
            return;
        heap_space_destroy(list_entry(first, struct heap_space, link));
    }
}

/* ---- blocks ---- */

int heap_alloc(struct heap_space *s, size_t size, size_t align, long hints,
               void **out)
{
    size_t off = 0;
    int rc;

    if (align > s->align)
        return -EDOM;
    rc = heap_arena_alloc(s->arena, size, align, hints, &off);
    if (rc)
        return rc;
    if (s->seg == HEAP_HOST)
        heap_dump_cover(off + size);
    *out = (void *)(heap_segs[s->seg].base + off);
    return 0;
}

bool heap_block(const void *ptr, size_t *size, long *hints)
{
    struct heap_space *s = heap_space_of(ptr);

    return s && heap_arena_find(s->arena, offset_in(s, ptr), size, hints);
}

bool heap_block_rest(const void *ptr, size_t *room)
{
    struct heap_space *s = heap_space_of(ptr);

    return s && heap_arena_rest(s->arena, offset_in(s, ptr), room);
}

static bool is_device_only(const void *p)
{
    return !heap_device_host_access && heap_find(p, 1) == HEAP_DEVICE;
}

static int move(void *to, const void *from, size_t size)
{
    if (is_device_only(to) || is_device_only(from))
        return fault_hit(FAULT_HEAP_COPY) ? -EIO
                                          : heap_hooks.copy(to, from, size);
    memcpy(to, from, size);
    return 0;
}

/* Resizes the block in place; if that or its memory cannot be had, the block
 * stays as it was. */
static int stretch(struct heap_space *s, void *ptr, size_t was, size_t size,
                   heap_prepare *ready, const char *call)
{
    if (!heap_arena_resize(s->arena, offset_in(s, ptr), size))
        return -ENOSPC;
    if (size <= was || ready(call, ptr, size)) {
        if (s->seg == HEAP_HOST)
            heap_dump_cover(offset_in(s, ptr) + size);
        return 0;
    }
    heap_arena_resize(s->arena, offset_in(s, ptr), was);
    return -ENOSPC;
}

int heap_resize(struct heap_space *to, void *ptr, size_t size,
                heap_prepare *ready, const char *call, void **out)
{
    struct heap_space *s = heap_space_of(ptr);
    size_t was = 0;
    void *moved = NULL;
    long hints = 0;
    int rc;

    if (!s || !heap_arena_find(s->arena, offset_in(s, ptr), &was, &hints))
        return -EINVAL;
    rc = to && to != s ? -ENOSPC : stretch(s, ptr, was, size, ready, call);
    if (!rc)
        *out = ptr;
    if (rc != -ENOSPC)
        return rc;
    rc = heap_alloc(to ? to : s, size, 0, hints, &moved);
    if (rc)
        return rc;
    if (!ready(call, moved, size)) {
        heap_free(moved);
        return -ENOBUFS;
    }
    if (move(moved, ptr, was < size ? was : size))
        return -EREMOTEIO;
    heap_free(ptr);
    *out = moved;
    return 0;
}

int heap_clear(void *ptr, size_t size)
{
    if (is_device_only(ptr))
        return heap_hooks.fill(ptr, 0, size);
    memset(ptr, 0, size);
    return 0;
}

void heap_free(void *ptr)
{
    struct heap_space *s = heap_space_of(ptr);

    if (s)
        heap_arena_free(s->arena, offset_in(s, ptr));
}

void heap_usage_get(const struct heap_space *s, struct heap_usage *out)
{
    if (s->arena)
        heap_arena_usage(s->arena, out);
    else
        memset(out, 0, sizeof *out);
}

void heap_used(const struct heap_space *s, size_t *used, size_t *total)
{
    *used = *total = 0;
    if (s->arena)
        heap_arena_used(s->arena, used, total);
}
