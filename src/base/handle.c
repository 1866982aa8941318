/* SPDX-License-Identifier: BSD-3-Clause */
/* Allocates and frees the objects of a handle table; the look-up is inline, in
 * handle.h.  Called when queues, requests, epochs, channel ends and graphs are
 * created and freed, on any thread. */
#include "base/handle.h"

#include <stdlib.h>
#include <string.h>

static uintptr_t numbers;       /* atomic: handles of all tables so far */

static struct handle *fresh(struct handle_table *h)
    REQUIRES(h->lock)
{
    uint32_t place = HANDLE_FIRST + h->n;
    unsigned bit = 31 - (unsigned)__builtin_clz(place);
    struct handle *t;
    char *slab;

    if (bit == HANDLE_BITS)
        return NULL;
    if (place == 1u << bit) {   /* the first of a slab */
        slab = calloc(place, h->size);
        if (!slab)
            return NULL;
        __atomic_store_n(&h->slabs[bit - HANDLE_FIRST_BITS], slab,
                         __ATOMIC_RELEASE);
    }
    h->n++;
    t = handle_at(h, place);
    t->place = place;
    return t;
}

void *handle_new(struct handle_table *h)
{
    struct handle *t;
    uintptr_t number;

    lock_acquire(&h->lock);
    t = h->unused;
    if (t)
        h->unused = t->next;
    else
        t = fresh(h);
    lock_release(&h->lock);
    if (!t)
        return NULL;
    memset(t + 1, 0, h->size - sizeof *t);
    /* relaxed: the numbers only have to differ. */
    number = __atomic_add_fetch(&numbers, 1, __ATOMIC_RELAXED);
    /* release: a look-up of an old handle finds nothing or this object. */
    __atomic_store_n(&t->is, number << HANDLE_BITS | t->place,
                     __ATOMIC_RELEASE);
    return t;
}

void handle_hide(struct handle *thing)
{
    __atomic_store_n(&thing->is, 0, __ATOMIC_RELEASE);
}

static void make_unused(struct handle_table *h, struct handle *t)
    REQUIRES(h->lock)
{
    t->next = h->unused;
    h->unused = t;
}

void handle_reuse(struct handle_table *h, struct handle *thing)
{
    lock_acquire(&h->lock);
    make_unused(h, thing);
    lock_release(&h->lock);
}

bool handle_release(struct handle_table *h, const void *handle)
{
    struct handle *t;

    lock_acquire(&h->lock);
    t = handle_find(h, handle);
    if (t) {
        handle_hide(t);
        make_unused(h, t);
    }
    lock_release(&h->lock);
    return t != NULL;
}

void handle_release_all(struct handle_table *h, void (*each)(void *))
{
    uint32_t n;

    lock_acquire(&h->lock);
    n = h->n;
    lock_release(&h->lock);
    for (uint32_t i = 0; i < n; i++) {
        struct handle *t = handle_at(h, HANDLE_FIRST + i);

        if (!t->is)
            continue;
        if (each)
            each(t);
        handle_release(h, handle_of_object(t));
    }
}
