/* SPDX-License-Identifier: BSD-3-Clause */
/* This PE's share of the NIC: entries of deferred work, in memory that the NIC
 * reads, and counters.  The other files of trig/ call it, under ofi_trig.lock
 * or while the engine opens or closes. */
#include "ofi/trig/ofi_trig.h"
#include "base/fault.h"
#include "base/log.h"
#include "base/mem.h"
#include "ofi/net/ofi_local.h"

#include <errno.h>
#include <sys/mman.h>

/* ---- entries ---- */

struct ofi_trig_entry *ofi_trig_entry_take(void)
{
    struct xport_trig_counts *n = &ofi_trig.counts;
    struct ofi_trig_entry *w = ofi_trig.unused;

    if (!w)
        return NULL;
    ofi_trig.unused = w->next;
    if (++n->used_entries > n->most_entries)
        n->most_entries = n->used_entries;
    return w;
}

void ofi_trig_entry_free(struct ofi_trig_entry *w)
{
    w->next = ofi_trig.unused;
    ofi_trig.unused = w;
    ofi_trig.counts.used_entries--;
}

/* Entries, whose operands the NIC reads and whose results it writes, and the
 * words of two-input triggers: in pages of their own, as a forked child may
 * lack those that a NIC maps. */
static int open_memory(void)
{
    size_t n = ofi_trig.plan.entries;
    size_t n_counted = (size_t)ofi_trig.plan.two_inputs + 1;
    size_t size = n * sizeof *ofi_trig.all +
                  n_counted * sizeof *ofi_trig.counted;
    void *at = mem_pages(size);
    int rc = 0;

    if (!at)
        return -errno;
    ofi_trig.all = at;
    ofi_trig.size = size;
    ofi_trig.counted = (uint64_t *)(void *)(ofi_trig.all + n);
    if (ofi.descs)
        rc = ofi_local_register(at, size, FI_READ | FI_WRITE, &ofi_trig.mr);
    ofi_trig.desc = ofi_trig.mr ? fi_mr_desc(ofi_trig.mr) : NULL;
    return rc;
}

void ofi_trig_close_entries(void)
{
    if (ofi_trig.mr)
        fi_close(&ofi_trig.mr->fid);
    if (ofi_trig.all)
        munmap(ofi_trig.all, ofi_trig.size);
    ofi_trig.all = ofi_trig.unused = ofi_trig.to_post = NULL;
    ofi_trig.mr = NULL;
    ofi_trig.desc = NULL;
}

int ofi_trig_open_entries(void)
{
    size_t n = ofi_trig.plan.entries;
    int rc;

    if (n < OFI_TRIG_LEAST)
        return ofi_trig_no_depth();
    rc = open_memory();
    if (rc)
        return rc;
    for (size_t i = 0; i < n; i++) {
        ofi_trig.all[i].next = ofi_trig.unused;
        ofi_trig.unused = &ofi_trig.all[i];
    }
    ofi_trig.n_works = n;
    return 0;
}

/* ---- counters ---- */

int ofi_trig_counter(struct fid_cntr **out)
{
    OFI_GROWS(fi_cntr_attr) grows = { .a = {
        .events = FI_CNTR_EVENTS_COMP, .wait_obj = FI_WAIT_NONE
    } };
    int rc = fault_hit(FAULT_OFI_EP) ||
             ofi_trig.n_counters >= ofi_trig.plan.counters ? -FI_EDOMAIN
             : fi_cntr_open(ofi.domain, &grows.a, out, NULL);

    ofi_trig.n_counters += !rc;
    return rc;
}

void ofi_trig_counter_close(struct fid_cntr **c)
{
    int rc = *c ? fi_close(&(*c)->fid) : 0;

    if (rc)
        log_info(LOG_OFI, "closing a counter: %s", ofi_strerror(rc));
    ofi_trig.n_counters -= *c && !rc;
    *c = NULL;
}
