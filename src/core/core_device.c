/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations on memory that the processor must not touch.  Called by
 * core_rma.c, core_remote.c, waits and coll, only where gtl_device_only is
 * set.  Every call is locally complete when it returns: of a put to another
 * node only the source may be reused.  An error of the device ends the job. */
#include "core/core_device.h"
#include "rt/rt.h"

#include <string.h>

/* The host buffer of strided puts and gets of off-node PEs, in bytes. */
enum { PIECE = 16384 };

static void need(int rc, const char *what, const void *p, size_t n)
{
    if (rc)
        core_fatal(ERR_DEVICE, xport_call ? xport_call : "device",
                   "%s of %zu bytes at %p: %s", what, n, p, gtl_error());
}

void core_device_need(int rc, const char *what, const void *p, size_t n)
{
    need(rc, what, p, n);
}

bool core_is_device_only(const void *p)
{
    if ((uintptr_t)p - heap_segs[HEAP_DEVICE].base < heap_seg_size(HEAP_DEVICE))
        return !heap_device_host_access;
    return heap_find(p, 1) < 0 && gtl_is_device_only(p);
}

bool core_unaware;

bool core_is_private(const void *p)
{
    return heap_find(p, 1) < 0 && gtl_is_device_only(p);
}

void core_refuse_private(const char *call, const char *arg, const void *p)
{
    if (core_is_private(p))
        core_fatal(ERR_DEVICE, call, "%s %p is memory of the device that is "
                   "not symmetric, and SHMEM_ENABLE_DEVICE_AWARENESS=0 "
                   "excludes such buffers: unset it", arg, p);
}

static uintptr_t address_of(int world_pe, int seg, uint64_t off)
{
    const struct xport_route *r = &xport_routes[world_pe];
    uintptr_t base = seg == HEAP_DEVICE ? r->device : r->map[seg];

    return base ? base + off : 0;
}

uintptr_t core_device_address(int world_pe, const void *sym)
{
    int seg = heap_find(sym, 1);

    return seg < 0 ? 0 : address_of(world_pe, seg,
                                 (uintptr_t)sym - heap_segs[seg].base);
}

void core_device_copy(void *to, const void *from, size_t n)
{
    if (!n)
        return;
    if (core_is_device_only(to) || core_is_device_only(from))
        need(gtl_copy_now(to, from, n), "copy", to, n);
    else
        copy_bytes(to, from, n);
}

/* Little endian: the value is in the low bytes. */
uint64_t core_device_load(const void *p, size_t size)
{
    uint64_t v = 0;

    xport_flush();
    need(gtl_copy_now(&v, p, size), "load", p, size);
    return v;
}

/* Copies between memory of an on-node PE, in segment seg, and local memory.
 * The driver is queried for the local address at most. */
static void copy_mapped(int seg, const void *local, void *to, const void *from,
                      size_t n)
{
    if ((seg == HEAP_DEVICE && !heap_device_host_access) ||
        core_is_device_only(local))
        need(gtl_copy_now(to, from, n), "copy", to, n);
    else
        copy_bytes(to, from, n);
}

/* Wakes a waiter for those bytes. */
static void wake(const struct xport_addr *at, uintptr_t addr, size_t len)
{
    core_wake((struct core_target){ addr, core_peer_ctl(at->pe) }, len);
}

bool core_device_put(const struct xport_addr *to, const void *source,
                     size_t len)
{
    uintptr_t addr = address_of(to->pe, to->seg, to->off);

    if (!addr)
        return false;
    copy_mapped(to->seg, source, (void *)addr, source, len);
    wake(to, addr, len);
    return true;
}

bool core_device_get(void *dest, const struct xport_addr *from, size_t len)
{
    uintptr_t addr = address_of(from->pe, from->seg, from->off);

    if (!addr)
        return false;
    copy_mapped(from->seg, dest, dest, (const void *)addr, len);
    return true;
}

uintptr_t core_device_address_of(const struct xport_addr *at)
{
    return address_of(at->pe, at->seg, at->off);
}

static void copy_blocks(void *to, ptrdiff_t to_stride, const void *from,
                        ptrdiff_t from_stride, const struct xport_blocks *b)
{
    const struct gtl_blocks g = { b->len, b->count, to_stride, from_stride };

    need(gtl_copy_blocks_now(to, from, &g), "strided copy", to,
         b->len * b->count);
}

void core_device_copy_blocks(void *to, ptrdiff_t to_stride, const void *from,
                             ptrdiff_t from_stride,
                             const struct xport_blocks *b)
{
    char *out = to;
    const char *in = from;

    if (core_is_device_only(to) || core_is_device_only(from)) {
        copy_blocks(to, to_stride, from, from_stride, b);
        return;
    }
    for (size_t i = 0; i < b->count; i++) {
        copy_bytes(out, in, b->len);
        out += to_stride;
        in += from_stride;
    }
}

/* The number of blocks from i on that fit a piece of host memory. */
static size_t in_piece(const struct xport_blocks *b, size_t i)
{
    size_t most = PIECE / b->len;

    return most < 1 ? 1 : most < b->count - i ? most : b->count - i;
}

bool core_device_put_blocks(const struct core_ctx *ctx,
                            const struct xport_addr *to, const void *source,
                            const struct xport_blocks *b)
{
    uintptr_t addr = address_of(to->pe, to->seg, to->off);
    struct xport_blocks part = { b->len, 0, b->remote_stride,
                                 (ptrdiff_t)b->len };
    struct xport_addr at = *to;
    char piece[PIECE];

    if (addr) {
        copy_blocks((void *)addr, b->remote_stride, source, b->local_stride, b);
        wake(to, addr, (b->count - 1) * (size_t)b->remote_stride + b->len);
        return true;
    }
    if (!core_is_device_only(source))
        return false;
    for (size_t i = 0; i < b->count; i += part.count) {
        const char *from = (const char *)source +
                           (ptrdiff_t)i * b->local_stride;

        at.off = to->off + i * (size_t)b->remote_stride;
        part.count = in_piece(b, i);
        if (part.count == 1) {
            xport_net->put(ctx->net, &at, from, b->len, false);
            continue;
        }
        copy_blocks(piece, part.local_stride, from, b->local_stride, &part);
        xport_net->put_blocks(ctx->net, &at, piece, &part);
    }
    return true;
}

bool core_device_get_blocks(const struct core_ctx *ctx, void *dest,
                            const struct xport_addr *from,
                            const struct xport_blocks *b)
{
    uintptr_t addr = address_of(from->pe, from->seg, from->off);
    struct xport_blocks part = { b->len, 0, b->remote_stride,
                                 (ptrdiff_t)b->len };
    struct xport_addr at = *from;
    char piece[PIECE];

    if (addr) {
        copy_blocks(dest, b->local_stride, (const void *)addr, b->remote_stride,
                    b);
        return true;
    }
    if (!core_is_device_only(dest))
        return false;
    for (size_t i = 0; i < b->count; i += part.count) {
        char *to = (char *)dest + (ptrdiff_t)i * b->local_stride;

        at.off = from->off + i * (size_t)b->remote_stride;
        part.count = in_piece(b, i);
        if (part.count == 1) {
            xport_net->get(ctx->net, to, &at, b->len, false);
            continue;
        }
        xport_net->get_blocks(ctx->net, piece, &at, &part, false);
        copy_blocks(to, b->local_stride, piece, part.local_stride, &part);
    }
    return true;
}

/* Runs under the owner's lock.  Little endian: the value is in the low bytes.
 */
static int amo_by_copies(void *word, const struct xport_amo *a, void *result)
{
    size_t size = (size_t)a->size;
    uint64_t now = 0, was;
    int rc = gtl_copy_now(&now, word, size);

    was = xport_amo_local(&now, a);
    if (!rc && a->op != AMO_FETCH)
        rc = gtl_copy_now(word, &now, size);
    if (!rc && result)
        memcpy(result, &was, size);
    return rc;
}

/* Runs the atomic as a kernel; or by copies under the owner's lock where
 * kernels of one device are not atomic on another's memory: on the PE's own
 * memory, too, since its kernel would wait for the end of one that fills the
 * device, and other PEs for the lock. */
static int amo_there(int pe, void *word, const struct xport_amo *a,
                     void *result)
{
    const struct gtl_amo g = {
        .op = a->op, .size = a->size, .word = word,
        .value = a->value, .cond = a->cond, .result = result
    };
    int rc;

    if (pe == rt_job.pe)
        xport_flush();
    xport_device_enter(pe);
    rc = xport_device_lock ? amo_by_copies(word, a, result) : gtl_amo_now(&g);
    xport_device_leave(pe);
    return rc;
}

bool core_device_amo(const struct xport_addr *at, const struct xport_amo *a,
                     void *result)
{
    /* Atomics on host-accessible memory are the processor's or the network's.
     */
    uintptr_t addr = at->seg == HEAP_DEVICE && !heap_device_host_access
                     ? address_of(at->pe, at->seg, at->off) : 0;

    if (!addr)
        return false;
    need(amo_there(at->pe, (void *)addr, a, result), "atomic", (void *)addr,
         (size_t)a->size);
    if (a->op != AMO_FETCH)
        wake(at, addr, (size_t)a->size);
    return true;
}
