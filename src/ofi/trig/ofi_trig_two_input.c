/* SPDX-License-Identifier: BSD-3-Clause */
/* Two-input triggers: their k-th operation is released by 2k increments, one
 * for each of two sides in each turn.  The increments are atomics to a word of
 * this PE that is a region of its own: the NIC counts what comes there, and no
 * thread reads the word.  Only NICs count what comes to a region, so such
 * atomics are the NIC's own also where a thread asks for them. */
#include "ofi/trig/ofi_trig.h"
#include "base/log.h"
#include "rt/rt.h"

#include <errno.h>
#include <stdlib.h>

/* What a PE's messages do not leave of the NIC's counters, the triggers of no
 * queue and no other PE can have. */
static int two_inputs_made(void) REQUIRES(ofi_trig.lock)
{
    int n = 0;

    for (struct xport_trig *t = ofi_trig.triggers; t; t = t->next)
        n += t->two_input;
    return n;
}

static int make_two_input(struct xport_trig **out) REQUIRES(ofi_trig.lock)
{
    int n = two_inputs_made(), rc;
    struct xport_trig *t;

    if (n >= ofi_trig.plan.two_inputs)
        return -ENOSPC;
    t = calloc(1, sizeof *t);
    if (!t)
        return -ENOMEM;
    rc = ofi_trig_counter(&t->trigger);
    if (!rc)
        rc = ofi_trig_counter(&t->done);
    if (!rc)
        rc = ofi_region_open_counted(&ofi_trig.counted[n],
                                     sizeof *ofi_trig.counted, t->trigger,
                                     &t->region);
    if (rc) {
        log_info(LOG_OFI, "no more two-input triggers: %s", ofi_strerror(rc));
        ofi_trig_destroy(t);
        return -ENOSPC;
    }
    t->two_input = t->closed = true;
    t->works = (struct list_link)LIST_INIT(t->works);
    t->next = ofi_trig.triggers;
    ofi_trig.triggers = t;
    *out = t;
    return 0;
}

/* Its counter stands where its operations end.  Reading one is a round trip to
 * the NIC: a counter that is past that is of no use any more. */
static bool fits(struct xport_trig *t) REQUIRES(ofi_trig.lock)
{
    uint64_t n = fi_cntr_read(t->trigger);

    t->retired = n > 2 * t->armed;
    return n == 2 * t->armed;
}

static struct xport_trig *find_idle(void) REQUIRES(ofi_trig.lock)
{
    struct xport_trig *t = ofi_trig.triggers;

    while (t && (!t->two_input || !t->closed || t->entries || t->retired ||
                 t->is_failed || !fits(t)))
        t = t->next;
    return t;
}

int ofi_trig_open_two_input(struct xport_trig **out, uint64_t *off,
                            uint64_t *word, xport_trig_failed *failed,
                            void *arg)
{
    struct xport_trig *t;
    int rc = 0;

    if (ofi_trig_state() != 1 || !ofi_trig_has_two_input())
        return -ENOSYS;
    lock_acquire(&ofi_trig.lock);
    ofi_trig_poll();
    t = find_idle();
    if (!t)
        rc = make_two_input(&t);
    if (!rc) {
        ofi_trig_assign(t, failed, arg);
        t->word = word;
        *off = fi_mr_key(t->region);
        *out = t;
    }
    lock_release(&ofi_trig.lock);
    return rc;
}

bool ofi_trig_is_due(struct xport_trig *t, uint64_t n)
{
    return fi_cntr_read(t->trigger) >= 2 * (t->base + n);
}

void ofi_trig_skip(struct xport_trig *t)
{
    lock_acquire(&ofi_trig.lock);
    t->armed++;
    t->due += 2;
    lock_release(&ofi_trig.lock);
}

/* What comes after it counts on it. */
void ofi_trig_skip_done(struct xport_trig *t)
{
    lock_acquire(&ofi_trig.lock);
    __atomic_fetch_add(&t->ended, 1, __ATOMIC_RELEASE);
    fi_cntr_add(t->done, 1);
    lock_release(&ofi_trig.lock);
}
