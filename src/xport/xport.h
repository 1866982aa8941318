/* SPDX-License-Identifier: BSD-3-Clause */
/* xport.h - how each PE is reached.
 * A route says where a PE's segments are mapped in this process; memory of
 * such a peer is loaded and stored like our own.  The table is made by the
 * transport that maps (sm) before any operation and constant afterwards, so
 * reading it needs no lock.  Indexed by world PE. */
#ifndef XPORT_XPORT_H
#define XPORT_XPORT_H

#include "base/atomics.h"
#include "heap/heap.h"

#include <stdbool.h>
#include <stdint.h>

struct xport_route {
    uintptr_t map[HEAP_SEGS];   /* 0: not mapped here */
};
extern hidden struct xport_route *xport_routes;

/* Room for n_pes routes, none mapped.  0 or -ENOMEM, logged. */
int xport_open(int n_pes);
void xport_close(void);

/* Does [off, off + len) leave a segment of a page or more?  One comparison
 * where the length is that of a type. */
force_inline bool xport_outside(size_t size, uintptr_t off, size_t len)
{
    if (__builtin_constant_p(len) && len <= 64)
        return unlikely(off > size - len);
    return unlikely(off >= size || len > size - off);
}

/* All of [sym, sym + len) of world PE pe, or 0 where it is not symmetric here
 * or pe is not mapped. */
force_inline uintptr_t xport_near(int pe, const void *sym, size_t len)
{
    uintptr_t off = (uintptr_t)sym - heap_segs[HEAP_HOST].base, map;
    int seg = HEAP_HOST;

    if (xport_outside(heap_segs[HEAP_HOST].size, off, len)) {
        seg = HEAP_DATA;
        off = (uintptr_t)sym - heap_segs[HEAP_DATA].base;
        if (off >= heap_segs[HEAP_DATA].size ||
            len > heap_segs[HEAP_DATA].size - off)
            return 0;
    }
    map = xport_routes[pe].map[seg];
    if (unlikely(!map))
        return 0;
    off += map;
    if (!off)                   /* spares the caller's second test */
        __builtin_unreachable();
    return off;
}

#endif
