/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts of a trace for addresses and waits.  The layers that record call it
 * where SHMEM_TRACE is set; it decides nothing but names. */
#include "core/core_trace.h"
#include "base/profile.h"
#include "core/core_wait.h"

/* A PE whose memory holds p as this process maps it. */
static void find_peer(uintptr_t p, uint64_t *at, int *pe)
{
    for (int i = 0; i < core_world.n_pes; i++)
        for (int seg = 0; seg < HEAP_SEGS; seg++) {
            uintptr_t base = xport_routes[i].map[seg];

            if (base && p - base < heap_segs[seg].size) {
                *at = (uint64_t)seg << 56 | (p - base);
                *pe = i + 1;
                return;
            }
        }
}

static void find_place(const void *p, uint64_t *at, int *pe)
{
    *pe = 0;
    *at = core_position(p);
    if (*at == TRACE_NOWHERE)
        find_peer((uintptr_t)p, at, pe);
}

static enum profile_peers peers_of(int pe)
{
    return pe == core_world.my_pe ? PROFILE_SELF
           : xport_is_mapped(pe) ? PROFILE_NODE : PROFILE_NETWORK;
}

static void switched(bool on)
{
    core_ctx_switch_direct(!on);
}

void core_trace_open(void)
{
    trace_place = find_place;
    profile_peers_of = peers_of;
    trace_switched = switched;
}

void core_trace_close(void)
{
    trace_switched = NULL;
}

static const char *wait_name(enum core_wait_for what)
{
    switch (what) {
    case CORE_FOR_VALUE:
        return "waits for a value";
    case CORE_FOR_SET:
        return "waits for values";
    case CORE_FOR_LOCK:
        return "waits for a lock";
    case CORE_FOR_REMOTE:
        return "waits for a PE";
    case CORE_FOR_STREAM:
        return "waits for a stream";
    case CORE_FOR_QUEUE:
        return "waits for requests";
    case CORE_FOR_OUTSTANDING:
        return "waits for operations";
    default:
        return "waits for all members";
    }
}

/* The call that waits for a value sees it, and this wait is a part of it. */
void core_trace_waited(const struct core_waiter *w)
{
    const struct core_wait_info *i = &w->info;
    bool sees = i->what == CORE_FOR_QUEUE || i->what == CORE_FOR_OUTSTANDING;
    const struct trace_what what = {
        .name = wait_name(i->what), .kind = TRACE_WAIT,
        .role = sees ? TRACE_SEES : TRACE_ALONE,
        .pe = i->what == CORE_FOR_LOCK ? (int)i->value + 1 : (int)i->raiser,
        .at = sees ? core_position(w->addr) : TRACE_NOWHERE,
        .bytes = sees ? w->bytes : 0
    };

    trace_span_since(&what, w->wait_began_ns);
}
