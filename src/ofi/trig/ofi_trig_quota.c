/* SPDX-License-Identifier: BSD-3-Clause */
/* A PE's share of its NIC's entries and counters: all PEs that use the NIC have
 * them together, the PEs of a node learn from each other which NIC each uses, and
 * what a NIC does past its last entry is not defined.  Called when the engine
 * opens and by shmem_info --check; it takes nothing itself. */
#include "ofi/trig/ofi_trig.h"
#include "base/env.h"
#include "ofi/net/ofi_cxi.h"
#include "rt/rt.h"

#include <errno.h>
#include <stdio.h>

/* Of a NIC's counters, by all its PEs: together with one trigger and two that
 * CXI wants on an endpoint they fit for 128 PEs. */
enum { CHAINS = 768, TWO_INPUTS = 192, MADE = 256, MADE_MOST = 16 };
/* As many entries for each PE keep a halo of 26 neighbours going. */
enum { WANTED = 64, KEPT_BACK = 8 };

/* At least one. */
static int share_of(int all, int pes, int most)
{
    int n = all / pes;

    return n < 1 ? 1 : n < most ? n : most;
}

void ofi_trig_divide(size_t depth, int counters, int pes, size_t requested,
                     struct ofi_trig_plan *out)
{
    size_t each = depth / (size_t)pes, share = each - each / 10;

    if (depth == OFI_DEPTH_UNKNOWN)
        share = requested;
    *out = (struct ofi_trig_plan){
        .pes = pes,
        .entries = requested && requested < share ? requested : share,
        .counters = counters / pes,
        .chains = share_of(CHAINS, pes, OFI_CHAINS),
        .two_inputs = share_of(TWO_INPUTS, pes, TWO_INPUTS),
        .made = share_of(MADE, pes, MADE_MOST)
    };
}

/* Never 0, which is no NIC yet. */
static uint64_t id_of(const char *name)
{
    uint64_t h = 0xcbf29ce484222325;

    for (; *name; name++)
        h = (h ^ (unsigned char)*name) * 0x100000001b3;
    return h | 1;
}

void ofi_trig_publish(void)
{
    /* release: pairs with the acquire in count_pes. */
    __atomic_store_n(ofi_trig.my_nic, id_of(ofi.info->domain_attr->name),
                     __ATOMIC_RELEASE);
}

/* Nodes that SHMEM_PPN makes share the NICs of their machine, and one node's
 * PEs do not see which NIC another's use: as many for each node. */
static int count_pes(void)
{
    uint64_t mine = id_of(ofi.info->domain_attr->name), *theirs;
    size_t off = (uintptr_t)ofi_trig.my_nic - heap_segs[HEAP_HOST].base;
    int n = 0;

    for (int i = 0; i < rt_job.n_local; i++) {
        theirs = (uint64_t *)(xport_routes[rt_job.local_pes[i]]
                              .map[HEAP_HOST] + off);
        n += __atomic_load_n(theirs, __ATOMIC_ACQUIRE) == mine;
    }
    if (rt_job.one_machine)
        n *= (rt_job.n_pes + rt_job.n_local - 1) / rt_job.n_local;
    return n;
}

size_t ofi_trig_depth(void)
{
    const struct ofi_trig_kind *k = ofi_trig.kind;

    return k->depth ? k->depth : k->query_depth(ofi.domain);
}

void ofi_trig_plan_share(void)
{
    const struct ofi_trig_kind *k = ofi_trig.kind;
    size_t most = ofi.info->tx_attr->size - ofi.info->tx_attr->size / 10;

    /* Entries that the provider keeps in this process are no NIC's. */
    ofi_trig_divide(ofi_trig_depth(), k->counters, k->entries ? count_pes() : 1,
                    (size_t)env.TRIGGER_DEPTH, &ofi_trig.plan);
    /* Each takes a place of the endpoint's, too, where its end is reported. */
    if (k->entries && ofi_trig.plan.entries > most)
        ofi_trig.plan.entries = most;
}

int ofi_trig_wanted_entries(int pes)
{
    int n = KEPT_BACK + pes * WANTED;

    return n < OFI_CXI_ENTRIES ? n : OFI_CXI_ENTRIES;
}

int ofi_trig_no_depth(void)
{
    int pes = ofi_trig.plan.pes;

    if (env.TRIGGER_DEPTH && ofi_trig.plan.entries == (size_t)env.TRIGGER_DEPTH)
        snprintf(ofi_trig.cause, sizeof ofi_trig.cause, "SHMEM_TRIGGER_DEPTH="
                 "%ld is too few: a put, its signal and a flag want at least "
                 "%d entries", (long)env.TRIGGER_DEPTH, (int)OFI_TRIG_LEAST);
    else if (ofi_trig_depth() == OFI_DEPTH_UNKNOWN)
        snprintf(ofi_trig.cause, sizeof ofi_trig.cause, "how many entries "
                 "there are is not known; SHMEM_TRIGGER_DEPTH says how many "
                 "this PE may take");
    else
        snprintf(ofi_trig.cause, sizeof ofi_trig.cause, "too few trigger list "
                 "entries are reserved on this NIC for its %d PE%s; with Slurm "
                 "rerun with srun --network=single_node_vni,job_vni,"
                 "res_tles=%d", pes, pes > 1 ? "s" : "",
                 ofi_trig_wanted_entries(pes));
    return -ENOSPC;
}
