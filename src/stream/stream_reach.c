/* SPDX-License-Identifier: BSD-3-Clause */
/* What a stream can do by itself: where both ends are memory that the device
 * loads and stores.  The software device reaches all that is mapped here; a
 * GPU its own memory, that of peers which was lent to it, and host memory that
 * it was told of. */
#include "stream/stream_int.h"
#include "base/lock.h"

static struct {
    bool host;                  /* the heaps and static data of this node */
    int pinned;                 /* PEs of which they were told */
} reach;

/* Whole pages, as the slot of a PE is laid out: data, then the heap. */
static void *slot_of(int pe, size_t *size)
{
    const struct xport_route *r = &xport_routes[pe];
    uintptr_t from = r->map[HEAP_HOST];

    if (!from)
        return NULL;
    *size = heap_segs[HEAP_HOST].size;
    return (void *)from;
}

static void unpin(int pes)
{
    size_t size;
    void *at;

    for (int pe = 0; pe < pes; pe++) {
        at = slot_of(pe, &size);
        if (at)
            gtl->unpin(at);
    }
}

int stream_reach_open(void)
{
    void *at, *seen;
    size_t size;
    int pe;

    reach.host = true;
    reach.pinned = 0;
    if (gtl_is_software())
        return 0;
    for (pe = 0; pe < core_world.n_pes; pe++) {
        at = slot_of(pe, &size);
        if (at && (gtl->pin(at, size, GTL_PIN_MEMORY, &seen) || seen != at))
            break;
    }
    reach.pinned = pe;
    if (pe == core_world.n_pes)
        return 0;
    log_info(LOG_STREAM, "the device does not reach the host memory of the "
             "PEs of this node (%s): a thread of each PE copies it for "
             "streams", gtl_error());
    stream_reach_close();
    return 0;
}

void stream_reach_close(void)
{
    unpin(reach.pinned);
    reach.pinned = 0;
    reach.host = false;
}

static uintptr_t at(uintptr_t base, int seg, const void *sym)
{
    return base ? base + ((uintptr_t)sym - heap_segs[seg].base) : 0;
}

uintptr_t stream_reach(int pe, const void *sym, size_t len)
{
    const struct xport_route *r = &xport_routes[pe];
    int seg = heap_find(sym, len);

    if (seg == HEAP_DEVICE)
        return at(r->device, seg, sym);
    return seg >= 0 && (seg == HEAP_HOST ? reach.host : gtl_is_software())
           ? at(r->map[seg], seg, sym) : 0;
}

uintptr_t stream_reach_amo(int pe, const void *sym, size_t len)
{
    int seg = heap_find(sym, len);

    /* On memory that the processor reaches, too, its own or the network's are
     * the only ones. */
    if (!gtl_device.kernels && !gtl_is_software())
        return 0;
    /* Where the devices' own are not atomic with one another, a lock is held
     * meanwhile: not in a stream. */
    if (xport_device_lock && seg == HEAP_DEVICE)
        return 0;
    if (seg == HEAP_DEVICE && !heap_device_direct)
        return stream_reach(pe, sym, len);
    return seg >= 0 && xport_routes[pe].amo[seg] ? stream_reach(pe, sym, len)
                                                 : 0;
}

bool stream_reaches_local(const void *p, size_t len)
{
    struct gtl_range r;
    int seg;

    if (gtl_is_software())
        return true;
    seg = heap_find(p, len);
    if (seg >= 0)
        return seg == HEAP_DEVICE || (seg == HEAP_HOST && reach.host);
    return !gtl->classify(p, &r) && r.kind != GTL_PRIVATE;
}

bool stream_near(enum heap_seg_id seg, bool *copies, bool *atomics)
{
    const void *first = (const void *)heap_segs[seg].base;
    bool c = true, a = true;

    if (!heap_segs[seg].size)
        return false;
    for (int pe = 0; pe < core_world.n_pes; pe++) {
        if (!xport_is_near(pe))
            continue;
        c = c && stream_reach(pe, first, 1);
        a = a && stream_reach_amo(pe, first, 8);
    }
    *copies = c;
    *atomics = a;
    return true;
}

bool stream_far(bool *copies, bool *atomics)
{
    struct xport_trig_op amo = {
        .kind = XPORT_TRIG_AMO, .at.seg = HEAP_HOST,
        .amo = { .op = XPORT_ADD, .size = 8 }
    };
    int pe = 0;

    while (pe < core_world.n_pes && xport_is_near(pe))
        pe++;
    if (pe == core_world.n_pes)
        return false;
    *copies = !xport_trig->ready();
    *atomics = *copies && xport_trig->can(&amo);
    return true;
}
