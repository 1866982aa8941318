/* SPDX-License-Identifier: BSD-3-Clause */
/* Offsets of other nodes' clocks from that of PE 0, by which the traces of a
 * job are merged.  api calls it at the start and at the end of a job, on all
 * PEs; it does nothing in a job that is not traced.
 *
 * PE 0 queries the PEs that it does not map one after another, some rounds each,
 * and believes the shortest one: half of it has passed when the PE read its
 * clock. */
#include "base/clock.h"
#include "base/env.h"
#include "core/core_amo.h"
#include "core/core_trace.h"
#include "rt/rt.h"

enum { ROUNDS = 8 };

static const char call[] = "shmem_init";

static void store(uint64_t *at, uint64_t value, int pe)
{
    core_remote_notify(call, &core_ctx_inner, AMO_SET, at, value, pe);
}

/* Waits until the word of this PE is no 0, and makes it 0. */
static uint64_t take(uint64_t *at)
{
    struct core_waiter w = CORE_WAIT_VALUE(call, at, uint64_t, SHMEM_CMP_NE, 0);
    uint64_t value;

    while (!(value = __atomic_load_n(at, __ATOMIC_ACQUIRE)))
        core_wait_step(&w);
    core_wait_over(&w);
    __atomic_store_n(at, 0, __ATOMIC_RELAXED);
    return value;
}

/* PE 0's part for that PE. */
static void query(int pe)
{
    uint64_t best = UINT64_MAX, ahead = 0, start, there, lasted;

    for (int i = 0; i < ROUNDS; i++) {
        start = clock_ns();
        store(&core_ctl->clock_query, 1, pe);
        there = take(&core_ctl->clock_answer);
        lasted = clock_ns() - start;
        if (lasted < best) {
            best = lasted;
            ahead = start + lasted / 2 - there;
        }
    }
    /* Never 0, which would be no answer: a nanosecond does not count. */
    store(&core_ctl->clock_query, ahead ? ahead : 1, pe);
}

static void answer(struct trace_file *f, int which)
{
    uint64_t ahead;

    for (int i = 0; i < ROUNDS; i++) {
        take(&core_ctl->clock_query);
        store(&core_ctl->clock_answer, clock_ns(), 0);
    }
    ahead = take(&core_ctl->clock_query);
    if (!f)
        return;
    f->clock_at[which] = clock_ns();
    f->clock_ahead[which] = (int64_t)ahead;
}

void core_trace_compare_clocks(int which)
{
    if (!env.TRACE[0] || rt_job.one_machine)
        return;
    if (core_world.my_pe == 0) {
        for (int pe = 1; pe < core_world.n_pes; pe++)
            if (!xport_routes[pe].map[HEAP_HOST])
                query(pe);
    } else if (!xport_routes[0].map[HEAP_HOST]) {
        answer(trace_file(), which);
    }
    core_quiet(NULL, &core_ctx_inner);
}
