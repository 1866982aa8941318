/* SPDX-License-Identifier: BSD-3-Clause */
/* handle.h - tables of objects that a program, or a peer, names by handles.
 *
 * A handle is the index of an object in its table and a number that no other
 * object ever has, so the handle of a freed object finds nothing.  The memory
 * of objects is kept for later ones: a look-up reads no freed memory, takes no
 * lock and makes no locked instruction.  Users: queues, requests and epochs of
 * stream, channel ends of msg, graphs of api; docs/decisions/071 says why
 * contexts and teams are not among them.
 *
 * Threads: any; an object is used by one thread at a time. */
#ifndef BASE_HANDLE_H
#define BASE_HANDLE_H

#include "base/lock.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The first member of an object. */
struct handle {
    uintptr_t is;               /* the handle, atomic; 0: free */
    uint32_t place;             /* the index */
    struct handle *next; /* in the list of free objects */
};

/* Indices begin with HANDLE_FIRST; each slab holds twice as many objects as the
 * one before, so the index gives the slab. */
enum {
    HANDLE_BITS = 24, HANDLE_FIRST_BITS = 6, HANDLE_FIRST = 64,
    HANDLE_SLABS = HANDLE_BITS - HANDLE_FIRST_BITS
};
struct handle_table {
    size_t size;                /* of an object */
    char *slabs[HANDLE_SLABS];  /* atomic */
    struct base_lock lock;
    uint32_t n MEMBER_GUARDED_BY(lock); /* indices used so far */
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

/* The handle of an object. */
static inline void *handle_of_object(const void *thing)
{
    return (void *)((const struct handle *)thing)->is;
}

/* Allocates an object, zero behind its first member; NULL: no memory. */
void *handle_new(struct handle_table *h);
/* In two steps, for an object that another thread may be about to look up: no
 * look-up finds it any more; and its memory is for a later one. */
void handle_hide(struct handle *thing);
void handle_reuse(struct handle_table *h, struct handle *thing);
/* Frees an object.  False: no object has that handle. */
bool handle_release(struct handle_table *h, const void *handle);
/* Frees all objects, each after a call of each() unless that is NULL.  No other
 * thread uses the table. */
void handle_release_all(struct handle_table *h, void (*each)(void *));

#endif
