/* SPDX-License-Identifier: BSD-3-Clause */
/* core_trace.h - how core and the layers above it record accesses to symmetric
 * memory, and calls, for SHMEM_TRACE.  Threads: any. */
#ifndef CORE_CORE_TRACE_H
#define CORE_CORE_TRACE_H

#include "base/trace.h"
#include "core/core.h"
#include "heap/heap.h"

/* The position of a symmetric address, the same number on all PEs;
 * TRACE_NOWHERE for other memory. */
static inline uint64_t core_position(const void *sym)
{
    int seg = heap_find(sym, 1);

    return seg < 0 ? UINT64_MAX
                   : (uint64_t)seg << 56 |
                         ((uintptr_t)sym - heap_segs[seg].base);
}

/* For struct trace_what. */
static inline int core_trace_pe(const struct core_ctx *ctx, int pe)
{
    return (unsigned)pe < (unsigned)core_team_of(ctx)->n_pes
           ? core_world_pe(ctx, pe) + 1 : 0;
}

/* To the end of the block: len bytes at sym of that PE are read or stored.
 * data: of a put before its signal, at sym, or 0. */
#define CORE_TRACE_ACCESS(call_, ctx, sym, len, pe_, role_, data)           \
    TRACE_SCOPE(.name = call_, .kind = TRACE_TRANSFER, .role = role_,       \
                .pe = core_trace_pe(ctx, pe_), .at = core_position(sym),    \
                .bytes = len, .arg = { (int64_t)(data) })
#define CORE_TRACE_PUT(call, ctx, sym, len, pe)                             \
    CORE_TRACE_ACCESS(call, ctx, sym, len, pe, TRACE_STORES, 0)
#define CORE_TRACE_GET(call, ctx, sym, len, pe)                             \
    CORE_TRACE_ACCESS(call, ctx, sym, len, pe, TRACE_ALONE, 0)

/* To the end of the block: the program's call waits for len bytes at sym of
 * this PE's. */
#define CORE_TRACE_WAIT(call_, sym, len)                                    \
    TRACE_SCOPE(.name = call_, .kind = TRACE_CALL, .role = TRACE_SEES,      \
                .at = core_position(sym), .bytes = len)
/* A test has found what it looks for. */
#define CORE_TRACE_SEEN(call_, sym, len)                                    \
    TRACE_MARK(.name = call_, .kind = TRACE_CALL, .role = TRACE_SEES,       \
               .at = core_position(sym), .bytes = len)
/* Any other call. */
#define CORE_TRACE_CALL(call_)                                              \
    TRACE_SCOPE(.name = call_, .kind = TRACE_CALL, .at = TRACE_NOWHERE)

/* ---- core_trace.c ---- */
void core_trace_open(void);
void core_trace_close(void);

/* ---- core_clock.c ---- */
/* Collective, in traced jobs: the file of this PE's trace gets the first or the
 * second pair of its clock and PE 0's (which: 0 or 1). */
void core_trace_compare_clocks(int which);

#endif
