/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_handle.h - tables of objects that the program names by handles.
 *
 * A handle is the index of an object in its table and a number that no other
 * object ever has, so the handle of an object that was freed finds nothing.
 * The memory of objects is kept for the next ones: a look-up reads nothing that
 * was freed.  Threads: any; an object is used by one at a time. */
#ifndef STREAM_STREAM_HANDLE_H
#define STREAM_STREAM_HANDLE_H

#include "base/lock.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The first member of an object. */
struct stream_handle {
    uintptr_t is;               /* atomic; 0: free */
    uint32_t place;
    struct stream_handle *next; /* of the free ones */
};

/* Indices begin with HANDLE_FIRST; each slab has twice as many as the one
 * before, so the index gives the slab. */
enum {
    HANDLE_BITS = 24, HANDLE_FIRST_BITS = 6, HANDLE_FIRST = 64,
    HANDLE_SLABS = HANDLE_BITS - HANDLE_FIRST_BITS
};
struct stream_handles {
    size_t size;                /* of an object */
    char *slabs[HANDLE_SLABS];  /* atomic */
    struct base_lock lock;
    uint32_t n MEMBER_GUARDED_BY(lock);        /* indices that have been used */
    struct stream_handle *unused MEMBER_GUARDED_BY(lock);
};
#define STREAM_HANDLES(type) { .size = sizeof(type), .lock = LOCK_INIT }

/* The object with that index, if its slab is there. */
static inline struct stream_handle *
stream_handle_at(const struct stream_handles *h, uint32_t place)
{
    unsigned bit = 31 - (unsigned)__builtin_clz(place | HANDLE_FIRST);
    char *slab = __atomic_load_n(&h->slabs[bit - HANDLE_FIRST_BITS],
                                 __ATOMIC_ACQUIRE);

    return slab && place >= HANDLE_FIRST
           ? (void *)(slab + (place - (1u << bit)) * h->size) : NULL;
}

/* The object with that handle, or NULL. */
static inline void *stream_handle_find(const struct stream_handles *h,
                                       const void *handle)
{
    uintptr_t is = (uintptr_t)handle;
    struct stream_handle *t;

    t = stream_handle_at(h, is & ((1u << HANDLE_BITS) - 1));
    /* acquire: pairs with stream_handle_new(). */
    return t && __atomic_load_n(&t->is, __ATOMIC_ACQUIRE) == is ? t : NULL;
}

static inline void *stream_handle_of(const void *thing)
{
    return (void *)((const struct stream_handle *)thing)->is;
}

/* A new object, zero behind its first member; NULL: no memory. */
void *stream_handle_new(struct stream_handles *h);
/* Frees the object.  False: there is none with that handle. */
bool stream_handle_release(struct stream_handles *h, const void *handle);
/* Frees all objects, each behind a call of each().  No thread uses them. */
void stream_handle_release_all(struct stream_handles *h, void (*each)(void *));

#endif
