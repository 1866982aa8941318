/* SPDX-License-Identifier: BSD-3-Clause */
/* The barrier of the world.
 *
 * With a core for each PE: dissemination.  In round r a PE tells the one
 * 2^r above it that it has come, and waits for the one 2^r below; after
 * log2(n) rounds everybody has heard of everybody.  Two PEs exchange one
 * cache line each way.
 *
 * With more PEs than cores each round costs a change of the running process,
 * so the PEs count themselves at PE 0, and whoever comes last tells all: one
 * change per PE.
 *
 * Words only grow, by one per barrier, so nothing is reset and a fast PE may
 * be one barrier ahead. */
#include "coll/coll.h"
#include "core/core.h"

static uint64_t epoch;
/* Those among them that were counted at PE 0. */
static uint64_t gatherings;

void coll_open(void)
{
    epoch = 0;
    gatherings = 0;
}

static void tell(int pe, int round)
{
    struct core_ctl *ctl = core_peer_ctl(pe);
    uint64_t *word = &ctl->arrived[round];

    /* release: our earlier stores come before; pairs with hear(). */
    __atomic_store_n(word, epoch, __ATOMIC_RELEASE);
    core_wake((struct core_spot){ (uintptr_t)word, ctl }, sizeof *word);
}

static void hear(int round)
{
    uint64_t *word = &core_ctl->arrived[round];
    struct core_waiter w = core_wait_begin(word, sizeof *word);

    while (__atomic_load_n(word, __ATOMIC_ACQUIRE) < epoch)
        core_wait_step(&w);
    core_wait_end(&w);
}

static void disseminate(int n, int me)
{
    for (int round = 0, step = 1; step < n; round++, step *= 2) {
        tell((me + step) % n, round);
        hear(round);
    }
}

static void gather_and_release(int n, int me)
{
    /* acq_rel: the last arrival has seen, and hands on, everybody's stores. */
    uint64_t count = __atomic_add_fetch(&core_peer_ctl(0)->gathered, 1,
                                        __ATOMIC_ACQ_REL);

    if (count < ++gatherings * (uint64_t)n) {
        hear(0);
        return;
    }
    for (int i = 1; i < n; i++)
        tell((me + i) % n, 0);
}

void coll_sync_world(void)
{
    int n = core_world.n_pes, me = core_world.my_pe;

    epoch++;
    if (core_status.crowded)
        gather_and_release(n, me);
    else
        disseminate(n, me);
}

void coll_barrier_world(void)
{
    core_quiet(&core_ctx_default);
    coll_sync_world();
}
