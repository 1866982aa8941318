/* SPDX-License-Identifier: BSD-3-Clause */
/* xport_route.h - where the memory of mapped peers is, for loads and stores.
 * Inline, since every call with a symmetric address asks; any thread. */
#ifndef XPORT_XPORT_ROUTE_H
#define XPORT_XPORT_ROUTE_H

#include "heap/heap.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One line of the cache: an index is a shift. */
struct xport_route {
    /* Where the processor loads and stores them; 0: nowhere. */
    _Alignas(64) uintptr_t map[HEAP_SEGS];
    /* The same for atomics: all 0, even for this PE, where the network's are
     * not atomic with the processor's. */
    uintptr_t amo[HEAP_SEGS];
    uintptr_t device;           /* the device heap, for the device: 0: not */
};
_Static_assert(sizeof(struct xport_route) == 64, "a route is one line");
extern hidden struct xport_route *xport_routes;

/* Is its memory mapped here?  Else it is remote. */
static inline bool xport_is_mapped(int pe)
{
    return xport_routes[pe].map[HEAP_HOST] != 0;
}

/* Does [off, off + len) leave a segment of a page or more?  One comparison
 * where the length is that of a type. */
force_inline bool xport_outside(size_t size, uintptr_t off, size_t len)
{
    if (__builtin_constant_p(len) && len <= 64)
        return unlikely(off > size - len);
    return unlikely(off >= size || len > size - off);
}

/* All of [sym, sym + len) of the host's heap in a route's map, or 0 where it is
 * elsewhere or not mapped. */
force_inline uintptr_t xport_route_heap_ptr(const uintptr_t *maps,
                                         const void *sym, size_t len)
{
    uintptr_t off = (uintptr_t)sym - heap_segs[HEAP_HOST].base, map;

    if (xport_outside(heap_segs[HEAP_HOST].size, off, len))
        return 0;
    map = maps[HEAP_HOST];
    if (unlikely(!map))
        return 0;
    off += map;
    if (!off)                   /* spares the caller's second test */
        __builtin_unreachable();
    return off;
}

/* The same in any other segment; for functions that are not made for each
 * type. */
force_inline uintptr_t xport_route_other_ptr(const uintptr_t *maps,
                                         const void *sym, size_t len)
{
    uintptr_t off = (uintptr_t)sym - heap_segs[HEAP_DATA].base, map;
    int seg = HEAP_DATA;

    if (unlikely(off >= heap_segs[HEAP_DATA].size ||
                 len > heap_segs[HEAP_DATA].size - off)) {
        seg = HEAP_DEVICE;
        off = (uintptr_t)sym - heap_segs[HEAP_DEVICE].base;
        if (off >= heap_seg_size(HEAP_DEVICE) ||
            len > heap_seg_size(HEAP_DEVICE) - off)
            return 0;
    }
    map = maps[seg];
    if (unlikely(!map))
        return 0;
    off += map;
    if (!off)
        __builtin_unreachable();
    return off;
}

force_inline uintptr_t xport_route_ptr(const uintptr_t *maps, const void *sym,
                                    size_t len)
{
    uintptr_t off = (uintptr_t)sym - heap_segs[HEAP_HOST].base;

    return xport_outside(heap_segs[HEAP_HOST].size, off, len)
           ? xport_route_other_ptr(maps, sym, len)
           : xport_route_heap_ptr(maps, sym, len);
}

/* Of world PE pe, for puts and gets, and for atomics. */
force_inline uintptr_t xport_ptr(int pe, const void *sym, size_t len)
{
    return xport_route_ptr(xport_routes[pe].map, sym, len);
}

force_inline uintptr_t xport_amo_ptr(int pe, const void *sym, size_t len)
{
    return xport_route_ptr(xport_routes[pe].amo, sym, len);
}

#endif
