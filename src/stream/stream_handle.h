/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_handle.h - handles that are known for what they are, as long as it is.
 *
 * A handle is the place of a thing in a table and a number that no other thing
 * ever has: a copy of one whose thing is gone finds nothing.  The memory of
 * things is kept for the next ones, so to look one up reads nothing that was
 * freed.  Threads: any; a thing is used by one at a time. */
#ifndef STREAM_STREAM_HANDLE_H
#define STREAM_STREAM_HANDLE_H

#include "base/lock.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a thing begins with. */
struct stream_handle {
    uintptr_t is;               /* atomic; 0: no thing */
    uint32_t place;
    struct stream_handle *next; /* of those that are none */
};

/* Places begin with HANDLE_FIRST; each slab has twice as many as the one
 * before, so a place tells its slab. */
enum {
    HANDLE_BITS = 24, HANDLE_FIRST_BITS = 6, HANDLE_FIRST = 64,
    HANDLE_SLABS = HANDLE_BITS - HANDLE_FIRST_BITS
};
struct stream_handles {
    size_t size;                /* of a thing */
    char *slabs[HANDLE_SLABS];  /* atomic */
    struct base_lock lock;
    uint32_t n MEMBER_GUARDED_BY(lock);        /* places that have been used */
    struct stream_handle *unused MEMBER_GUARDED_BY(lock);
};
#define STREAM_HANDLES(type) { .size = sizeof(type), .lock = LOCK_INIT }

/* The thing at that place, if its slab is there. */
static inline struct stream_handle *
stream_handle_at(const struct stream_handles *h, uint32_t place)
{
    unsigned bit = 31 - (unsigned)__builtin_clz(place | HANDLE_FIRST);
    char *slab = __atomic_load_n(&h->slabs[bit - HANDLE_FIRST_BITS],
                                 __ATOMIC_ACQUIRE);

    return slab && place >= HANDLE_FIRST
           ? (void *)(slab + (place - (1u << bit)) * h->size) : NULL;
}

/* NULL: it has none. */
static inline void *stream_handle_find(const struct stream_handles *h,
                                       const void *handle)
{
    uintptr_t is = (uintptr_t)handle;
    struct stream_handle *t;

    t = stream_handle_at(h, is & ((1u << HANDLE_BITS) - 1));
    /* acquire: with the handle comes what is behind it. */
    return t && __atomic_load_n(&t->is, __ATOMIC_ACQUIRE) == is ? t : NULL;
}

static inline void *stream_handle_of(const void *thing)
{
    return (void *)((const struct stream_handle *)thing)->is;
}

/* All zero behind its beginning, or NULL: no memory. */
void *stream_handle_new(struct stream_handles *h);
/* Its thing is none any more.  False: it was none. */
bool stream_handle_release(struct stream_handles *h, const void *handle);
/* All of them; each is asked to let go what it holds.  Nobody uses them. */
void stream_handle_release_all(struct stream_handles *h, void (*each)(void *));

#endif
