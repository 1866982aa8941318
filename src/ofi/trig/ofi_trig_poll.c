/* SPDX-License-Identifier: BSD-3-Clause */
/* Entries of operations that the NIC has ended become free, and failures are
 * recorded: each is counted in the NIC's place, unless the NIC counts failures,
 * so that flags behind it are raised when all else has ended; but the trigger
 * takes no more.  Called by the poller of the network and by calls that post,
 * under ofi_trig.lock; it waits for nothing but in ofi_trig_await_errors(). */
#include "ofi/trig/ofi_trig.h"
#include "base/clock.h"
#include "base/env.h"
#include "base/log.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <time.h>

enum { PAUSES = 64, YIELDS = 512 };

static const char *name_of(const struct ofi_trig_entry *w)
{
    return w->work.op_type == FI_OP_WRITE ? "put"
           : w->work.op_type == FI_OP_READ ? "get" : "atomic";
}

static void give(struct ofi_trig_entry *w)
{
    if (w->chain >= 0)
        ofi_trig.chains[w->chain].busy = false;
    list_remove(&w->link);
    w->trig->entries--;
    ofi_trig_entry_free(w);
}

/* The software device looks at its streams' words at once if reported to. */
static void notify_device(void)
{
    atomics_full_fence();
    gtl->flags_stored();
}

/* release: what it brought is there. */
static void count(struct xport_trig *t)
{
    __atomic_fetch_add(&t->ended, 1, __ATOMIC_RELEASE);
}

static struct ofi_trig_entry *oldest(const struct xport_trig *t)
{
    return list_entry(t->works.next, struct ofi_trig_entry, link);
}

/* Before what is under way of a trigger, all has ended. */
static void publish_first(struct xport_trig *t)
{
    uint64_t n = list_empty(&t->works) ? t->armed : oldest(t)->number - 1;

    __atomic_store_n(&t->first, n, __ATOMIC_RELEASE);
}

/* The signal that waits for a put that failed: it never goes. */
static void cancel_signal(struct ofi_trig_entry *put)
{
    struct list_link *pos, *tmp;

    if (put->signal) {
        give(put->signal);
        put->signal = NULL;
        count(put->trig);
        return;
    }
    list_each(pos, tmp, &put->trig->works) {
        struct ofi_trig_entry *w = list_entry(pos, struct ofi_trig_entry, link);

        if (w != put && w->chain >= 0 && w->number == put->number)
            list_remove(pos);
    }
    count(put->trig);
}

/* What a flag stands for is over.  The NIC adds to the word, so after a failure
 * it would be behind for good: then the processor raises it to what flags that
 * are over stand for, in whatever order they are reported of. */
static void note_flag(const struct ofi_trig_entry *w)
{
    struct xport_trig *t = w->trig;
    /* A two-input trigger's also counts what its owner did in the NIC's place.
     */
    uint64_t n = t->two_input ? w->number - 1 : w->flag, seen;

    if (n > t->reported)
        t->reported = n;
    if (!t->is_failed || t->closed)     /* the word may be another one's */
        return;
    n = t->two_input ? t->reported - t->base : t->reported;
    seen = __atomic_load_n(t->word, __ATOMIC_RELAXED);
    /* release: what it stands for is there, and failures are noted. */
    while (seen < n && !__atomic_compare_exchange_n(t->word, &seen, n, false,
                                                    __ATOMIC_RELEASE,
                                                    __ATOMIC_RELAXED))
        ;
}

static void fail(struct ofi_trig_entry *w, const struct fi_cq_err_entry *err)
{
    struct xport_trig *t = w->trig;
    char text[96] = "", cause[192];

    if (!t)                     /* of a probe that waited for it in vain */
        return;
    if (err->prov_errno)
        fi_cq_strerror(ofi_trig.ep->cq, err->prov_errno, err->err_data, text,
                       sizeof text);
    snprintf(cause, sizeof cause, "%s%s%s", ofi_strerror(-err->err),
             text[0] ? ": " : "", text);
    if (!t->closed)
        t->failed(t->arg, w->call, name_of(w), w->pe, cause);
    t->is_failed = true;
    if (w->role == OFI_ENTRY_FLAG) {
        note_flag(w);
        return;
    }
    /* A put that its signal follows is counted by that. */
    if (!ofi_trig.errors_count || w->role == OFI_ENTRY_CHAINED_PUT)
        fi_cntr_add(t->done, 1);
    if (w->role == OFI_ENTRY_CHAINED_PUT)
        cancel_signal(w);
}

/* A counter has 7 bits for failures, and flags wait for all of them: when all
 * has ended, it goes past what any flag may wait for. */
static void drain(struct xport_trig *t)
{
    if (!ofi_trig.errors_count || !t->is_failed || t->drained ||
        __atomic_load_n(&t->ended, __ATOMIC_RELAXED) < t->armed)
        return;
    t->drained = true;
    fi_cntr_add(t->done, t->armed);
}

/* ---- signals that are posted here ---- */

static void queue_signal(struct ofi_trig_entry *w)
{
    struct ofi_trig_entry **at = &ofi_trig.to_post;

    while (*at)
        at = &(*at)->next;
    w->next = NULL;
    *at = w;
}

/* ---- what has ended ---- */

/* Counters say how many, and only all of a trigger's together who: sockets. */
static void poll_counted(struct xport_trig *t)
{
    uint64_t done = fi_cntr_read(t->done);

    if (done != t->ended)
        notify_device();
    __atomic_store_n(&t->ended, done, __ATOMIC_RELEASE);
    /* What was released before the counter was read, and no more. */
    if (done == __atomic_load_n(&t->increments, __ATOMIC_ACQUIRE))
        __atomic_store_n(&t->first, done, __ATOMIC_RELEASE);
    if (t->retired || t->is_failed || done != t->armed ||
        fi_cntr_read(t->flagged) != t->flags)
        return;
    while (!list_empty(&t->works))
        give(oldest(t));
}

static void ended(struct ofi_trig_entry *w)
{
    struct xport_trig *t = w->trig;

    if (!ofi_trig.kind->entries || !t)
        return;
    if (w->role == OFI_ENTRY_FLAG) {
        note_flag(w);
        notify_device();
    }
    if (w->role == OFI_ENTRY_FLAG && w->number - 1 > t->flagged_ops)
        t->flagged_ops = w->number - 1;
    if (w->role == OFI_ENTRY_OP)
        count(t);
    if (w->signal)
        queue_signal(w->signal);
    give(w);
    publish_first(t);
    drain(t);
}

/* The NIC never has it, so nothing of its counts it. */
static void refuse(struct ofi_trig_entry *w, int rc)
{
    const struct fi_cq_err_entry err = { .err = -rc };

    fail(w, &err);
    fi_cntr_add(w->trig->done, 1);
    ended(w);
}

/* Their puts have been released, and so are they. */
static void post_signals(void)
{
    struct ofi_trig_entry *w;
    int rc;

    while ((w = ofi_trig.to_post)) {
        rc = ofi_trig_post(w, w->trig->trigger, w->at, w->trig->done);
        if (rc == -EAGAIN)
            return;             /* at the next look */
        ofi_trig.to_post = w->next;
        if (rc)
            refuse(w, rc);
    }
}

static bool read_error(void)
{
    OFI_GROWS(fi_cq_err_entry) err = { 0 };

    if (fi_cq_readerr(ofi_trig.ep->cq, &err.a, 0) < 0)
        return false;
    if (err.a.op_context) {
        fail(err.a.op_context, &err.a);
        ended(err.a.op_context);
    }
    return true;
}

void ofi_trig_poll(void)
{
    struct fi_cq_msg_entry e[16];
    ssize_t n;

    if (ofi_trig_state() != 1)
        return;
    do {
        n = fi_cq_read(ofi_trig.ep->cq, e, 16);
        for (ssize_t i = 0; i < n; i++)
            if (e[i].op_context)
                ended(e[i].op_context);
    } while (n == 16 || (n == -FI_EAVAIL && read_error()));
    post_signals();
    if (ofi_trig.kind->entries)
        return;
    for (struct xport_trig *t = ofi_trig.triggers; t; t = t->next)
        if (!t->closed || t->entries)
            poll_counted(t);
}

struct ofi_trig_entry *ofi_trig_entry_alloc(void)
{
    struct ofi_trig_entry *w = ofi_trig_entry_take();

    if (w)
        return w;
    ofi_trig_poll();
    return ofi_trig_entry_take();
}

/* ---- what flags stand for ---- */

/* Has the queue reported of all before the flags that are raised?
 * Those of a two-input trigger are one for each operation, and its owner raises
 * some itself. */
static bool errors_known(struct xport_trig *t)
{
    uint64_t raised = __atomic_load_n(t->word, __ATOMIC_ACQUIRE);
    uint64_t flagged_ops = t->flagged_ops;
    struct list_link *pos, *tmp;

    if (t->two_input)
        return raised <= t->ended - t->base || t->ended == t->armed;
    list_each(pos, tmp, &t->works) {
        struct ofi_trig_entry *w = list_entry(pos, struct ofi_trig_entry, link);

        if (w->role == OFI_ENTRY_FLAG && w->flag <= raised &&
            w->number - 1 > flagged_ops)
            flagged_ops = w->number - 1;
    }
    return t->first >= flagged_ops;
}

static bool all_errors_known(void)
{
    bool all = true;

    lock_acquire(&ofi_trig.lock);
    ofi_trig_poll();
    /* A test that fails closes the engine. */
    for (struct xport_trig *t = ofi_trig_state() == 1 ? ofi_trig.triggers : NULL;
         t && all; t = t->next)
        all = t->closed || errors_known(t);
    lock_release(&ofi_trig.lock);
    return all;
}

/* A queue that has lost a report. */
static bool is_too_long(uint64_t since)
{
    static bool said;

    if (!env.TIMEOUT ||
        clock_ns() - since < (uint64_t)env.TIMEOUT * 1000000000)
        return false;
    if (!__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
        log_warn(ERR_NET, "%s does not report the end of deferred work for "
                 "%ld s (SHMEM_TIMEOUT): failures of operations on streams may "
                 "be missed; SHMEM_TRIGGER=soft does without such work",
                 ofi.name, (long)env.TIMEOUT);
    return true;
}

/* The NIC has ended it all, so its queue is about to report. */
void ofi_trig_await_errors(void)
{
    const struct timespec pause = { .tv_nsec = 20000 };
    uint64_t since = 0;

    if (likely(!ofi_trig.errors_count) || ofi_trig_state() != 1)
        return;
    for (int i = 0; !all_errors_known(); i++) {
        if (i < PAUSES) {
            atomics_pause();
        } else if (i < YIELDS) {
            sched_yield();
        } else {
            nanosleep(&pause, NULL);
            since = since ? since : clock_ns();
            if (is_too_long(since))
                return;
        }
    }
}
