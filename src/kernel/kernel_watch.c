/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels as the watchdog reports them: requests that do not advance, and flags
 * for which kernels of a GPU wait (kernels of the software device wait as the
 * host does, in core); and their waits in the hang report.  It runs on the diag
 * thread, describe() in a signal handler, too. */
#include "base/clock.h"
#include "base/lock.h"
#include "core/core_describe.h"
#include "core/core_report.h"
#include "diag/diag.h"
#include "kernel/kernel_int.h"

#include <stdio.h>

static const shmemi_dev_record *all_records;      /* atomic */
static struct {
    uint64_t word, since_ns, reported_ns;
} seen[SHMEMI_DEV_RECORDS];

static const shmemi_dev_record *records(void)
{
    return __atomic_load_n(&all_records, __ATOMIC_ACQUIRE);
}

/* The first request that is not complete, if there is one.  *begun: how many
 * the host has taken of these. */
static const shmemi_dev_request *first_of(const struct kernel_ring *r,
                                          uint64_t done, uint64_t *begun)
{
    const shmemi_dev_request *q = &r->requests[done & r->mask];

    *begun = __atomic_load_n(&r->progress->taken, __ATOMIC_RELAXED) - done;
    return __atomic_load_n(&q->turn, __ATOMIC_RELAXED) == done + 1 ? q : NULL;
}

static void report_ring(uint64_t ns, const shmemi_dev_request *q,
                        uint64_t begun)
{
    char first[64] = "", pe[24] = "";

    /* Once it has been taken, a kernel may have written another one there. */
    if (q && q->pe >= 0)
        snprintf(pe, sizeof pe, " for PE %d", q->pe);
    if (q)
        snprintf(first, sizeof first, "; the first is %s%s",
                 kernel_call_name(q->call), pe);
    log_warn(ERR_STALL, "requests of kernels wait for %llu s: %lu are under "
             "way%s", line_seconds(ns), (unsigned long)begun, first);
}

static void check_ring(struct kernel_ring *r, void *arg)
{
    uint64_t now = *(uint64_t *)arg, begun;
    uint64_t done = __atomic_load_n(&r->done, __ATOMIC_RELAXED);
    const shmemi_dev_request *q = first_of(r, done, &begun);

    if (!begun && !q) {
        r->watched_ns = 0;
        return;
    }
    if (!r->watched_ns || r->watched != done) {
        r->watched = done;
        r->watched_ns = r->reported_ns = now;
    }
    if (r->exec.ctx.net)
        xport_progress->check_timeouts(r->exec.ctx.net, now);
    if (!diag_stall_is_reported() ||
        !diag_line_is_due(r->watched_ns, r->reported_ns, now))
        return;
    r->reported_ns = now;
    report_ring(now - r->watched_ns, q, begun);
}

static void check_record(const shmemi_dev_record *n, unsigned i, uint64_t now)
{
    static const char *const cmps[] = { "?", "==", "!=", ">", ">=", "<", "<=" };
    uint64_t word = __atomic_load_n(&n->word, __ATOMIC_ACQUIRE), is = 0;
    unsigned cmp = n->cmp & 15;
    char raiser[40] = "";

    if (word != seen[i].word) {
        seen[i].word = word;
        seen[i].since_ns = seen[i].reported_ns = now;
    }
    if (!word || !diag_line_is_due(seen[i].since_ns, seen[i].reported_ns, now))
        return;
    seen[i].reported_ns = now;
    if (heap_find((const void *)word, n->size) >= 0)
        core_copy(&is, (const void *)word, n->size);
    if (n->raiser)
        snprintf(raiser, sizeof raiser, ", which PE %u raises", n->raiser - 1);
    log_warn(ERR_STALL, "a kernel waits for %llu s in %s: the %u bytes at %p "
             "are %lu, and are to be %s %lu%s",
             line_seconds(now - seen[i].since_ns), kernel_call_name(n->call),
             n->size, (void *)word, (unsigned long)is, cmps[cmp < 7 ? cmp : 0],
             (unsigned long)n->value, raiser);
}

/* ---- the hang report ---- */

/* Of the kernels of the software device, the one that fell asleep last. */
static struct base_lock asleep_lock = LOCK_INIT;
static struct {
    const struct core_waiter *of;       /* atomic; NULL: none sleeps */
    struct core_waiter w;               /* a copy: the waiter's is reused */
} asleep;

void kernel_watch_sleeps(const struct core_waiter *w)
{
    lock_acquire(&asleep_lock);
    __atomic_store_n(&asleep.of, NULL, __ATOMIC_RELAXED);
    asleep.w = *w;
    /* release: a handler that finds `of` finds the rest. */
    __atomic_store_n(&asleep.of, w, __ATOMIC_RELEASE);
    lock_release(&asleep_lock);
}

void kernel_watch_awake(const struct core_waiter *w)
{
    lock_acquire(&asleep_lock);
    if (asleep.of == w)
        __atomic_store_n(&asleep.of, NULL, __ATOMIC_RELAXED);
    lock_release(&asleep_lock);
}

/* Without an address: none sleeps, or the report describes its wait already. */
CORE_RACY static struct core_waiter copy_asleep(void)
{
    const struct core_waiter *of = __atomic_load_n(&asleep.of, __ATOMIC_ACQUIRE);
    struct core_waiter w = { .addr = NULL };

    if (of && !core_report_shows(of))
        w = asleep.w;
    return w;
}

/* As the watchdog sees it of a GPU. */
static void describe_record(struct line *out, const shmemi_dev_record *n)
{
    const void *word = (const void *)__atomic_load_n(&n->word, __ATOMIC_ACQUIRE);
    struct core_waiter w = {
        .addr = word, .bytes = n->size,
        .info = { .what = CORE_FOR_VALUE, .cmp = n->cmp & 15,
                  .is_signed = n->cmp & 16, .value = n->value,
                  .raiser = n->raiser }
    };

    /* A handler asks no driver: other than symmetric memory is not read. */
    w.info.device_only = heap_find(word, 1) >= 0 && core_device_only(word);
    line_addf(out, "; a kernel is in %s, waiting for ",
              kernel_call_name(n->call));
    core_describe_wait(out, &w, true);
}

static void describe(struct line *out)
{
    struct core_waiter w = copy_asleep();
    const shmemi_dev_record *r = records();

    if (w.addr) {
        line_addf(out, "; a kernel is in %s for %llu s, waiting for ",
                  w.info.call,
                  line_seconds(core_age_ns(CLOCK_MONOTONIC, w.wait_began_ns)));
        core_describe_wait(out, &w, true);
    }
    for (unsigned i = 0; r && i < SHMEMI_DEV_RECORDS; i++)
        if (__atomic_load_n(&r[i].word, __ATOMIC_RELAXED)) {
            describe_record(out, &r[i]);
            break;
        }
}

/* ---- the watchdog ---- */

static void check(uint64_t now)
{
    const shmemi_dev_record *r = records();

    kernel_progress_each(check_ring, &now);
    for (unsigned i = 0; r && diag_stall_is_reported() &&
                         i < SHMEMI_DEV_RECORDS; i++)
        check_record(&r[i], i, now);
}

static const struct diag_source source = {
    .part = DIAG_STREAMS, .describe = describe, .check = check
};

void kernel_watch_open(const shmemi_dev_record *of)
{
    /* release: they are zeros before. */
    __atomic_store_n(&all_records, of, __ATOMIC_RELEASE);
    diag_register(&source);
    diag_watchdog_start();
}

void kernel_watch_close(void)
{
    /* A check that has read it is over when the watchdog has stopped. */
    __atomic_store_n(&all_records, NULL, __ATOMIC_RELAXED);
    diag_watchdog_stop();
}
