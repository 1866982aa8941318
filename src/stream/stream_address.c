/* SPDX-License-Identifier: BSD-3-Clause */
/* Device addresses: where the device loads and stores the memory of a PE of
 * this node, or that it cannot.  The software device reaches all that is
 * mapped here; a GPU reaches its own memory, that of peers which they have
 * exported, and host memory that is registered with it.  Called with each
 * operation on a stream; only the first one for a PE makes a call of the
 * driver. */
#include "stream/stream_int.h"
#include "base/lock.h"

#include <stdlib.h>

/* A PE's heap and static data are registered when a stream needs them: every
 * PE's with every device would be the square of the node's PEs.  Registering
 * waits for no stream. */
enum { UNKNOWN, PINNED, REFUSED };
static struct {
    bool host;                  /* the heaps and static data of this node */
    struct base_lock lock;
    unsigned char *slots;       /* atomic, one for each PE; NULL: all reached */
} reach = { .lock = LOCK_INIT };

/* Whole pages, as the slot of a PE is laid out: data, then the heap. */
static void *slot_of(int pe)
{
    return (void *)xport_routes[pe].map[HEAP_HOST];
}

static unsigned char state_of(int pe)
{
    /* acquire: pairs with pin(). */
    return reach.slots ? __atomic_load_n(&reach.slots[pe], __ATOMIC_ACQUIRE)
                       : PINNED;
}

static bool pin(int pe) __attribute__((cold, noinline));
static bool pin(int pe)
{
    void *at, *seen;
    bool ok;

    lock_acquire(&reach.lock);
    if (reach.slots[pe] == UNKNOWN) {
        at = slot_of(pe);
        ok = at && !gtl->pin(at, heap_segs[HEAP_HOST].size, GTL_PIN_MEMORY,
                             &seen);
        if (ok && seen != at) {
            gtl->unpin(at);
            ok = false;
        }
        if (at && !ok)
            log_info(LOG_STREAM, "the device does not reach the host memory "
                     "of PE %d of this node (%s): a thread of this PE copies "
                     "it for streams", pe, gtl_error());
        __atomic_store_n(&reach.slots[pe], ok ? PINNED : REFUSED,
                         __ATOMIC_RELEASE);
    }
    lock_release(&reach.lock);
    return state_of(pe) == PINNED;
}

/* Does the device reach that PE's host memory?  may_register: register it for
 * that; else memory that is not registered yet counts as reached. */
static bool host_of(int pe, bool may_register)
{
    unsigned char s;

    if (!reach.host)
        return false;
    s = state_of(pe);
    return likely(s == PINNED) || (s == UNKNOWN && (!may_register || pin(pe)));
}

void stream_address_open(void)
{
    reach.host = true;
    if (gtl_device.host_streams)
        return;
    reach.slots = calloc((size_t)core_world.n_pes, 1);
    if (!reach.slots || !pin(core_world.my_pe))
        stream_address_close();
}

void stream_address_close(void)
{
    unsigned char *slots = reach.slots;

    reach.host = false;
    reach.slots = NULL;
    for (int pe = 0; slots && pe < core_world.n_pes; pe++)
        if (slots[pe] == PINNED)
            gtl->unpin(slot_of(pe));
    free(slots);
}

static uintptr_t at(uintptr_t base, int seg, const void *sym)
{
    return base ? base + ((uintptr_t)sym - heap_segs[seg].base) : 0;
}

/* may_register: register memory that is not registered yet. */
static uintptr_t find(int pe, const void *sym, size_t len, bool may_register)
{
    const struct xport_route *r = &xport_routes[pe];
    int seg = heap_find(sym, len);

    if (seg == HEAP_DEVICE)
        return at(r->device, seg, sym);
    return seg >= 0 && r->map[seg] &&
                   (seg == HEAP_HOST ? host_of(pe, may_register)
                                     : gtl_device.host_streams)
               ? at(r->map[seg], seg, sym)
               : 0;
}

uintptr_t stream_device_address(int pe, const void *sym, size_t len)
{
    return find(pe, sym, len, true);
}

static uintptr_t find_amo(int pe, const void *sym, size_t len,
                          bool may_register)
{
    int seg = heap_find(sym, len);

    /* On memory that the processor reaches, too, its own or the network's are
     * the only ones. */
    if (!gtl_device.kernels)
        return 0;
    /* Where the devices' own are not atomic with one another, a lock is held
     * meanwhile: not in a stream. */
    if (xport_device_lock && seg == HEAP_DEVICE)
        return 0;
    if (seg == HEAP_DEVICE && !heap_device_host_access)
        return find(pe, sym, len, may_register);
    return seg >= 0 && xport_routes[pe].amo[seg]
               ? find(pe, sym, len, may_register)
               : 0;
}

uintptr_t stream_device_address_amo(int pe, const void *sym, size_t len)
{
    return find_amo(pe, sym, len, true);
}

bool stream_kernel_atomics(int seg)
{
    return gtl_device.host_atomics ||
           (seg == HEAP_DEVICE && !heap_device_host_access);
}

bool stream_device_reaches(const void *p, size_t len)
{
    struct gtl_range r;
    int seg;

    if (gtl_device.host_streams)
        return true;
    seg = heap_find(p, len);
    if (seg >= 0)
        return seg == HEAP_DEVICE ||
               (seg == HEAP_HOST && host_of(core_world.my_pe, true));
    return !gtl->classify(p, &r) && r.kind != GTL_PRIVATE;
}

bool stream_on_node(enum heap_seg_id seg, bool *copies, bool *atomics)
{
    const void *first = (const void *)heap_segs[seg].base;
    bool c = true, a = true;

    if (!heap_segs[seg].size)
        return false;
    for (int pe = 0; pe < core_world.n_pes; pe++) {
        if (!xport_is_mapped(pe))
            continue;
        c = c && find(pe, first, 1, false);
        a = a && find_amo(pe, first, 8, false);
    }
    *copies = c;
    *atomics = a;
    return true;
}

bool stream_off_node(bool *copies, bool *atomics)
{
    struct xport_trig_op amo = {
        .kind = XPORT_TRIG_AMO, .at.seg = HEAP_HOST,
        .amo = { .op = AMO_ADD, .size = 8 }
    };
    int pe = 0;

    while (pe < core_world.n_pes && xport_is_mapped(pe))
        pe++;
    if (pe == core_world.n_pes)
        return false;
    *copies = !xport_trig->ready();
    *atomics = *copies && xport_trig->can(&amo);
    return true;
}
