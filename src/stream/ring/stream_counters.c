/* SPDX-License-Identifier: BSD-3-Clause */
/* The counters and flags that the device and the host share, in one piece of
 * pinned memory.  A ring allocates its counters there, an operation of a graph
 * a flag.  Nothing is unpinned while the layer is open, since unpinning waits
 * for all that the device does.  Called when a ring or a graph's operation is
 * made or freed, never per operation of a stream. */
#include "stream/ring/stream_ring.h"
#include "base/lock.h"
#include "base/mem.h"

#include <errno.h>

struct shared {
    struct stream_counters counters[STREAM_RINGS];
    uint64_t flags[STREAM_FLAGS];
};

static struct base_lock lock = LOCK_INIT;
static struct shared *shared;
static bool pinned GUARDED_BY(lock);    /* registered with the device */
static uint32_t spare[STREAM_RINGS] GUARDED_BY(lock);
static unsigned n_spare GUARDED_BY(lock);
/* 1 + the first free one of each use, and behind each one; 0: none.  Not in the
 * flags: a stream may still look at one. */
static uint32_t free_flag[STREAM_FLAG_USES] GUARDED_BY(lock);
static uint32_t next_flag[STREAM_FLAGS] GUARDED_BY(lock);
static unsigned flags_used GUARDED_BY(lock);    /* flags ever allocated */

static void map_shared(void) REQUIRES(lock)
{
    shared = mem_pages(sizeof *shared);
    for (n_spare = 0; shared && n_spare < STREAM_RINGS; n_spare++)
        spare[n_spare] = STREAM_RINGS - 1 - n_spare;
    for (int i = 0; i < STREAM_FLAG_USES; i++)
        free_flag[i] = 0;
    flags_used = 0;
}

/* Called when the layer opens and not with the first ring: later a stream may
 * be waiting, and the driver's call would wait for that stream.  The memory
 * stays mapped for good, since streams that the program has not waited for may
 * still read it. */
void stream_counters_open(void)
{
    void *seen;

    lock_acquire(&lock);
    if (!shared)
        map_shared();
    if (shared && !gtl->pin(shared, sizeof *shared, GTL_PIN_MEMORY, &seen)) {
        pinned = seen == shared;
        if (!pinned)
            gtl->unpin(shared);
    }
    if (!pinned)
        log_info(LOG_STREAM, "%zu bytes of host memory cannot be pinned: "
                 "streams do what the device reaches, and no more",
                 sizeof *shared);
    lock_release(&lock);
}

int stream_counters_alloc(struct stream_counters **out)
{
    int rc;

    lock_acquire(&lock);
    rc = !pinned ? -ENODEV : !n_spare ? -ENOSPC : 0;
    if (!rc)
        *out = &shared->counters[spare[--n_spare]];
    lock_release(&lock);
    return rc;
}

void stream_counters_free(struct stream_counters *w)
{
    lock_acquire(&lock);
    spare[n_spare++] = (uint32_t)(w - shared->counters);
    lock_release(&lock);
}

int stream_flag_alloc(enum stream_flag_use use, uint64_t **out)
{
    uint32_t at, toggle;
    int rc = 0;

    lock_acquire(&lock);
    at = free_flag[use];
    toggle = free_flag[STREAM_FLAG_TOGGLES];    /* may begin to count */
    if (!pinned)
        rc = -ENODEV;
    else if (at)
        free_flag[use] = next_flag[at - 1];
    else if (flags_used < STREAM_FLAGS)
        at = ++flags_used;
    else if ((at = toggle))
        free_flag[STREAM_FLAG_TOGGLES] = next_flag[at - 1];
    else
        rc = -ENOSPC;
    if (!rc)
        *out = &shared->flags[at - 1];
    lock_release(&lock);
    return rc;
}

void stream_flag_free(enum stream_flag_use use, uint64_t *flag)
{
    uint32_t at = (uint32_t)(flag - shared->flags);

    lock_acquire(&lock);
    next_flag[at] = free_flag[use];
    free_flag[use] = at + 1;
    lock_release(&lock);
}

void stream_counters_close(bool in_use)
{
    lock_acquire(&lock);
    if (in_use)
        shared = NULL;          /* the next opening has others */
    else if (pinned)
        gtl->unpin(shared);
    pinned = false;
    lock_release(&lock);
}
