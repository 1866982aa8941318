/* SPDX-License-Identifier: BSD-3-Clause */
/* Triggers: their counters, flag and doorbell, and their owners one after
 * another.  xport_trig_ops and the test of deferred work call it; operations
 * are armed with a trigger in ofi_trig_entry.c. */
#include "ofi/trig/ofi_trig.h"
#include "base/log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void ofi_trig_destroy(struct xport_trig *t)
{
    if (t->region)
        fi_close(&t->region->fid);
    if (t->mmio)
        gtl->unpin(t->mmio);
    ofi_trig_counter_close(&t->trigger);
    ofi_trig_counter_close(&t->done);
    ofi_trig_counter_close(&t->flagged);
    free(t);
}

static int open_doorbell(struct xport_trig *t)
{
    void *page, *seen;
    int rc = ofi_trig.kind->doorbell(t->trigger, &page);

    if (rc || !page)
        return rc;
    rc = gtl->pin(page, (size_t)sysconf(_SC_PAGESIZE), GTL_PIN_MMIO, &seen);
    if (rc) {
        log_info(LOG_OFI, "the device does not reach the NIC's registers: %s",
                 gtl_error());
        snprintf(ofi_trig.cause, sizeof ofi_trig.cause, "no doorbell for the "
                 "device: %s", gtl_error());
        return rc;
    }
    t->mmio = page;
    t->doorbell = seen;
    return 0;
}

/* Where a queue reports each end, no counter counts flags. */
static int open_counters(struct xport_trig *t)
{
    int rc = ofi_trig.n_spare ? ofi_trig_counter(&t->trigger) : -ENOSPC;

    if (!rc)
        rc = ofi_trig_counter(&t->done);
    if (!rc && !ofi_trig.kind->entries)
        rc = ofi_trig_counter(&t->flagged);
    return rc ? -ENOSPC : 0;
}

static int make_trigger(struct xport_trig **out) REQUIRES(ofi_trig.lock)
{
    struct xport_trig *t = calloc(1, sizeof *t);
    int rc;

    if (!t)
        return -ENOMEM;
    rc = open_counters(t);
    if (!rc)
        rc = open_doorbell(t);
    if (rc) {
        ofi_trig_destroy(t);
        return rc;
    }
    t->closed = true;
    t->works = (struct list_link)LIST_INIT(t->works);
    t->word = ofi_trig.spare[--ofi_trig.n_spare];
    t->next = ofi_trig.triggers;
    ofi_trig.triggers = t;
    *out = t;
    return 0;
}

/* A trigger without an owner, of which the NIC has no entries. */
static struct xport_trig *find_idle(void) REQUIRES(ofi_trig.lock)
{
    struct xport_trig *t = ofi_trig.triggers;

    while (t && (t->two_input || !t->closed || t->entries || t->retired ||
                 t->is_failed || t->due > ofi_trig.kind->most / 2))
        t = t->next;
    return t;
}

/* A driver that is reported of a register while a stream waits may wait for
 * that stream: one of a GPU is reported of none but those made in advance. */
static int make_late(struct xport_trig **out) REQUIRES(ofi_trig.lock)
{
    return ofi_trig.triggers && ofi_trig.triggers->mmio &&
           !gtl_device.host_streams ? -ENOSPC : make_trigger(out);
}

void ofi_trig_assign(struct xport_trig *t, xport_trig_failed *failed, void *arg)
{
    t->closed = false;
    t->failed = failed;
    t->arg = arg;
    t->base = t->armed;
    t->due_before = t->due;
}

int ofi_trig_open(struct xport_trig **out, bool free,
                  xport_trig_failed *failed, void *arg)
{
    struct xport_trig *t;
    int rc = 0;

    lock_acquire(&ofi_trig.lock);
    ofi_trig_poll();
    t = find_idle();
    if (!t)
        rc = make_late(&t);
    if (!rc) {
        ofi_trig_assign(t, failed, arg);
        t->free = free;
        *out = t;
    }
    lock_release(&ofi_trig.lock);
    return rc;
}

/* While no stream waits. */
void ofi_trig_make_some(void)
{
    struct xport_trig *t;

    lock_acquire(&ofi_trig.lock);
    for (int i = 1; i < ofi_trig.plan.made && !make_trigger(&t); i++)
        ;
    lock_release(&ofi_trig.lock);
}

/* The NIC may still have entries of it.  Where the counter is not known to stand
 * where the next owner's operations begin, there is none. */
bool ofi_trig_return(struct xport_trig *t)
{
    bool kept;

    lock_acquire(&ofi_trig.lock);
    t->closed = true;
    if (t->free && (t->entries || fi_cntr_read(t->trigger) != t->due))
        t->retired = true;
    kept = t->retired;
    lock_release(&ofi_trig.lock);
    return !kept;
}

uint64_t ofi_trig_count(struct xport_trig *t)
{
    return fi_cntr_read(t->trigger) - t->due_before;
}

/* Past a full ring sockets goes on only when the counter is touched again. */
void ofi_trig_increment(struct xport_trig *t, uint64_t n)
{
    /* release: a thread that sees the operations ended sees this, too. */
    __atomic_fetch_add(&t->increments, n, __ATOMIC_RELEASE);
    fi_cntr_add(t->trigger, n);
}
