/* SPDX-License-Identifier: BSD-3-Clause */
/* How much of the host segment is registered with the network.
 *
 * Where a provider pins what it registers (FI_MR_ALLOCATED), a heap that is
 * registered at start is memory that is gone, used or not.  So what is in use
 * from the start is registered then, and the rest as far as blocks reach: the
 * allocation that goes past the end, which all PEs make together, registers a
 * region from the segment's start to the new end.  Only the key changes by
 * that, and no operation ever spans two regions.  Regions that were smaller
 * stay until the end, since an operation of another thread may be on its way
 * with their keys.  The pages that they have in common are pinned once, but
 * Linux counts them for each region against the limit of locked memory: a line
 * about that names the sum.  Increments grow with the memory in use, so that
 * there are few regions.
 *
 * Keys are published through the launcher, as at start. */
#include "ofi/net/ofi_rail.h"
#include "base/log.h"
#include "rt/rt.h"

#include <errno.h>
#include <stdio.h>

/* Half of what is used, at least 16 MiB or a sixteenth of the heap: at 2^47
 * bytes these are 60. */
enum { MOST_GROWN = 96, LEAST_SHARE = 16, LEAST_STEP = 16 << 20 };

/* Under ofi_lock where threads may look peers up. */
static struct fid_mr *older[MOST_GROWN];
static int n_older;
/* Registered by this PE, but not yet by all. */
static struct fid_mr *next;
static size_t pending_size;
static size_t locked_total;          /* the sizes of all regions, together */

static bool pins(void)
{
    return ofi.info->domain_attr->mr_mode & FI_MR_ALLOCATED;
}

static size_t whole_units(size_t size)
{
    size_t all = heap_segs[HEAP_HOST].size;

    size = (size + HEAP_ALIGN - 1) / HEAP_ALIGN * HEAP_ALIGN;
    return size < all ? size : all;
}

static size_t first_size(void)
{
    ofi.registered_size = pins() ? whole_units(heap_fixed_size())
                         : heap_segs[HEAP_HOST].size;
    locked_total = ofi.registered_size;
    return ofi.registered_size;
}

int ofi_segment_open(int seg)
{
    void *base = (void *)xport_routes[rt_job.pe].map[seg];
    size_t size = heap_segs[seg].size;
    int rc;

    if (!base || !size)
        return 0;
    if (seg == HEAP_HOST)
        size = first_size();
    rc = ofi_region_open(base, size, seg, &ofi.mr[seg]);
    if (!rc)
        ofi.desc[seg] = fi_mr_desc(ofi.mr[seg]);
    return rc;
}

void ofi_grow_close(void)
{
    while (n_older)
        fi_close(&older[--n_older]->fid);
    if (next)
        fi_close(&next->fid);
    next = NULL;
}

bool ofi_heap_registered(size_t end)
{
    return end <= ofi.registered_size;
}

/* So much that there are few regions; or what is asked for, unless no further
 * region could follow. */
static size_t next_end(size_t end, bool exact)
{
    size_t step = heap_segs[HEAP_HOST].size / LEAST_SHARE;
    size_t half = (ofi.registered_size - heap_fixed_size()) / 2;

    if (n_older == MOST_GROWN - 1)
        return heap_segs[HEAP_HOST].size;
    step = step < LEAST_STEP ? step : LEAST_STEP;
    step = ofi.registered_size + (step > half ? step : half);
    return whole_units(end > step || exact ? end : step);
}

static void close_pending(void)
{
    if (next)
        fi_close(&next->fid);
    next = NULL;
}

int ofi_heap_register(size_t end, bool exact)
{
    void *base = (void *)xport_routes[rt_job.pe].map[HEAP_HOST];
    const char *nic = "";
    static bool reported;
    char size[24], sum[24];
    int rc = -FI_ENOKEY;

    pending_size = next_end(end, exact);
    /* Two random keys may be the same one. */
    for (int tries = 0; tries < 4 && rc == -FI_ENOKEY; tries++)
        rc = ofi_region_open(base, pending_size, HEAP_HOST, &next);
    if (!rc) {
        rc = ofi_rails_register(pending_size, &nic);
        if (rc)
            close_pending();
    }
    if (rc && exact && !reported)
        log_warn(ERR_HEAP, "provider %s%s%s does not register %s of the "
                 "symmetric heap: %s; is the limit of locked memory too low "
                 "(ulimit -l)? With the smaller regions before it, %s count "
                 "against that",
                 ofi.name, *nic ? ", SHMEM_OFI_RAILS, on " : "", nic,
                 log_size(size, (double)pending_size), ofi_strerror(rc),
                 log_size(sum, (double)(locked_total + pending_size)));
    reported |= rc && exact;
    return rc;
}

static void commit_pending(void)
{
    lock_acquire(&ofi_lock);
    older[n_older++] = ofi.mr[HEAP_HOST];
    locked_total += pending_size;
    __atomic_store_n(&ofi.mr[HEAP_HOST], next, __ATOMIC_RELEASE);
    __atomic_store_n(&ofi.desc[HEAP_HOST], fi_mr_desc(next), __ATOMIC_RELEASE);
    __atomic_store_n(&ofi.registered_size, pending_size, __ATOMIC_RELEASE);
    next = NULL;
    lock_release(&ofi_lock);
}

int ofi_heap_register_agree(bool all)
{
    uint64_t key;
    int rc;

    if (!all) {
        close_pending();
        ofi_rails_register_cancel();
        return -ENOMEM;
    }
    key = fi_mr_key(next);
    commit_pending();
    rc = ofi_peer_publish_key(n_older, key);
    if (!rc)
        rc = ofi_rails_register_commit(n_older);
    if (!rc)
        rc = rt_fence();
    if (!rc)
        ofi_peer_fetch_keys(n_older);
    return rc ? rc : ofi_rails_fetch_keys(n_older);
}
