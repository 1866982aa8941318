/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that the library shares with kernels: pages of the host that are
 * registered with the device, and blocks of the device's own.  Called when
 * rings, triggers, requests and the layer open and close; never on the path of
 * a request.
 *
 * A driver unregisters and frees memory when all streams of the device have
 * come to their ends, and one of these may wait for what this thread is about
 * to do.  So what is given back is kept for the next one of that size, and the
 * driver has it back at the end. */
#include "kernel/kernel_memory.h"
#include "base/list.h"
#include "base/lock.h"
#include "base/mem.h"
#include "gtl/gtl.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct kept {
    struct list_link link;
    void *p;
    size_t size;
    bool pinned;                /* of the host; or the device's */
};

static struct base_lock lock = LOCK_INIT;
static struct list_link unused GUARDED_BY(lock) = LIST_INIT(unused);

/* Few different sizes, so that many blocks are used again: a power of two of
 * pages. */
static size_t whole(size_t size)
{
    size_t room = (size_t)sysconf(_SC_PAGESIZE);

    while (room < size)
        room *= 2;
    return room;
}

static void *take(size_t size, bool pinned)
{
    struct list_link *pos, *tmp;
    struct kept *found = NULL;
    void *p = NULL;

    lock_acquire(&lock);
    list_each(pos, tmp, &unused) {
        found = list_entry(pos, struct kept, link);
        if (found->size == size && found->pinned == pinned) {
            list_remove(&found->link);
            break;
        }
        found = NULL;
    }
    lock_release(&lock);
    if (found)
        p = found->p;
    free(found);
    return p;
}

static void give_to_driver(void *p, size_t size, bool pinned)
{
    if (!pinned) {
        gtl->free(p);
        return;
    }
    gtl->unpin(p);
    munmap(p, size);
}

static void keep(void *p, size_t size, bool pinned)
{
    struct kept *k = malloc(sizeof *k);

    if (!k) {
        give_to_driver(p, size, pinned);
        return;
    }
    *k = (struct kept){ .p = p, .size = size, .pinned = pinned };
    lock_acquire(&lock);
    list_append(&unused, &k->link);
    lock_release(&lock);
}

void kernel_memory_close(void)
{
    struct list_link *pos, *tmp;

    lock_acquire(&lock);
    list_each(pos, tmp, &unused) {
        struct kept *k = list_entry(pos, struct kept, link);

        list_remove(&k->link);
        give_to_driver(k->p, k->size, k->pinned);
        free(k);
    }
    lock_release(&lock);
}

/* ---- of the host ---- */

static void *pin_new(size_t size)
{
    void *seen, *p = mem_pages(size);

    if (!p)
        return NULL;
    if (!gtl->pin(p, size, GTL_PIN_MEMORY, &seen)) {
        if (seen == p)
            return p;
        gtl->unpin(p);
    }
    munmap(p, size);
    return NULL;
}

void *kernel_pinned_alloc(size_t size)
{
    void *p = take(whole(size), true);

    if (p)
        memset(p, 0, whole(size));
    return p ? p : pin_new(whole(size));
}

void kernel_pinned_free(void *p, size_t size)
{
    if (p)
        keep(p, whole(size), true);
}

void kernel_pinned_unpin(void *p, size_t size)
{
    if (p)
        give_to_driver(p, whole(size), true);
}

void kernel_pinned_retire(void *p, size_t size, void **old)
{
    if (*old)
        munmap(*old, whole(size));
    *old = p;
    if (p)
        gtl->unpin(p);
}

/* ---- of the device ---- */

int kernel_device_alloc(size_t size, void **out)
{
    *out = take(whole(size), false);
    return *out ? 0 : gtl->alloc(whole(size), out);
}

void kernel_device_free(void *p, size_t size)
{
    if (p)
        keep(p, whole(size), false);
}
