/* SPDX-License-Identifier: BSD-3-Clause */
/* What the watchdog says of kernels: requests that do not advance, and words for
 * which kernels of a GPU wait.  (Kernels of the software device wait as the host
 * does, in core.)  Runs on the diag thread. */
#include "base/clock.h"
#include "diag/diag.h"
#include "kernel/kernel_int.h"

#include <stdio.h>

static const shmemi_dev_record *all_records;
static struct {
    uint64_t word, since_ns, reported_ns;
} seen[SHMEMI_DEV_RECORDS];

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
    if (r->exec.ctx.flow)
        xport_progress->check_timeouts(r->exec.ctx.flow, now);
    if (now - r->watched_ns < diag_stall_ns || !diag_stall_is_reported() ||
        now - r->reported_ns < diag_stall_ns)
        return;
    r->reported_ns = now;
    report_ring(now - r->watched_ns, q, begun);
}

static void check_record(unsigned i, uint64_t now)
{
    static const char *const cmps[] = { "?", "==", "!=", ">", ">=", "<", "<=" };
    const shmemi_dev_record *n = &all_records[i];
    uint64_t word = __atomic_load_n(&n->word, __ATOMIC_ACQUIRE), is = 0;
    unsigned cmp = n->cmp & 15;
    char raiser[40] = "";

    if (word != seen[i].word) {
        seen[i].word = word;
        seen[i].since_ns = seen[i].reported_ns = now;
    }
    if (!word || now - seen[i].since_ns < diag_stall_ns ||
        now - seen[i].reported_ns < diag_stall_ns)
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

static void check(uint64_t now)
{
    kernel_progress_each(check_ring, &now);
    for (unsigned i = 0; all_records && diag_stall_is_reported() &&
                         i < SHMEMI_DEV_RECORDS; i++)
        check_record(i, now);
}

static const struct diag_source source = {
    .part = DIAG_STREAMS, .check = check
};

void kernel_watch_open(const shmemi_dev_record *records)
{
    all_records = records;
    diag_register(&source);
    diag_watchdog_start();
}

void kernel_watch_close(void)
{
    all_records = NULL;         /* a check is over when the watchdog stops */
    diag_watchdog_stop();
}
