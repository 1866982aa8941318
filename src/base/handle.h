/* SPDX-License-Identifier: BSD-3-Clause */
/* handle.h - tables of objects that the program names by handles.
 *
 * A handle is the index of an object in its table and a number that no other
 * object ever has, so the handle of an object that was freed finds nothing.
 * The memory of objects is kept for the next ones: a look-up reads nothing that
 * was freed.  Threads: any; an object is used by one at a time. */
#ifndef BASE_HANDLE_H
#define BASE_HANDLE_H

#include "base/lock.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The first member of an object. */
struct handle {
    uintptr_t is;               /* atomic; 0: free */
    uint32_t place;
    struct handle *next; /* of the free ones */
};

/* Indices begin with HANDLE_FIRST; each slab has twice as many as the one
 * before, so the index gives the slab. */
enum {
    HANDLE_BITS = 24, HANDLE_FIRST_BITS = 6, HANDLE_FIRST = 64,
    HANDLE_SLABS = HANDLE_BITS - HANDLE_FIRST_BITS
};
struct handle_table {
    size_t size;                /* of an object */
    char *slabs[HANDLE_SLABS];  /* atomic */
    struct base_lock lock;
    uint32_t n MEMBER_GUARDED_BY(lock);        /* indices that have been used */
    struct handle *unused MEMBER_GUARDED_BY(lock);
};
#define HANDLE_TABLE(type) { .size = sizeof(type), .lock = LOCK_INIT }

/* The object with that index, if its slab is there. */
static inline struct handle *
handle_at(const struct handle_table *h, uint32_t place)
{
    unsigned bit = 31 - (unsigned)__builtin_clz(place | HANDLE_FIRST);
    char *slab = __atomic_load_n(&h->slabs[bit - HANDLE_FIRST_BITS],
                                 __ATOMIC_ACQUIRE);

    return slab && place >= HANDLE_FIRST
           ? (void *)(slab + (place - (1u << bit)) * h->size) : NULL;
}

/* The object with that handle, or NULL. */
static inline void *handle_find(const struct handle_table *h,
                                       const void *handle)
{
    uintptr_t is = (uintptr_t)handle;
    struct handle *t;

    t = handle_at(h, is & ((1u << HANDLE_BITS) - 1));
    /* acquire: pairs with handle_new(). */
    return t && __atomic_load_n(&t->is, __ATOMIC_ACQUIRE) == is ? t : NULL;
}

static inline void *handle_of_object(const void *thing)
{
    return (void *)((const struct handle *)thing)->is;
}

/* A new object, zero behind its first member; NULL: no memory. */
void *handle_new(struct handle_table *h);
/* Frees the object.  False: there is none with that handle. */
bool handle_release(struct handle_table *h, const void *handle);
/* Frees all objects, each behind a call of each().  No thread uses them. */
void handle_release_all(struct handle_table *h, void (*each)(void *));

#endif
