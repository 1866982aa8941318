/* SPDX-License-Identifier: BSD-3-Clause */
/* What the watchdog and the hang report say of kernels: requests that do not
 * advance, and words for which kernels of a GPU wait.  (Kernels of the software
 * device wait as the host does, in core.)  Runs on the diag thread, and
 * describe() in a signal handler, too. */
#include "base/clock.h"
#include "diag/diag.h"
#include "kernel/kernel_int.h"

static const shmemi_dev_record *all_records;
static struct {
    uint64_t word, since_ns, reported_ns;
} seen[SHMEMI_DEV_RECORDS];

static uint64_t queued(const struct kernel_ring *r, uint64_t *at)
{
    *at = __atomic_load_n(&r->progress->taken, __ATOMIC_RELAXED);
    return *at - __atomic_load_n(&r->done, __ATOMIC_RELAXED);
}

/* The request at the head, if one waits there. */
static const shmemi_dev_request *head_of(const struct kernel_ring *r,
                                         uint64_t at)
{
    const shmemi_dev_request *q = &r->requests[at & r->mask];

    return __atomic_load_n(&q->turn, __ATOMIC_RELAXED) == at + 1 ? q : NULL;
}

static void check_ring(struct kernel_ring *r, void *arg)
{
    uint64_t now = *(uint64_t *)arg, at, n = queued(r, &at);
    uint64_t since = __atomic_load_n(&r->moved_ns, __ATOMIC_RELAXED);
    const shmemi_dev_request *q = head_of(r, at);

    if (!n && !q)
        return;
    if (r->exec.ctx.flow)
        xport_progress->check_timeouts(r->exec.ctx.flow, now);
    if (!since || now - since < diag_stall_ns || !diag_stall_is_reported() ||
        now - r->reported_ns < diag_stall_ns)
        return;
    r->reported_ns = now;
    if (q)
        log_warn(ERR_STALL, "requests of kernels wait for %llu s: %lu are not "
                 "complete, the next is %s for PE %d", line_seconds(now - since),
                 (unsigned long)n, kernel_request_call(q), q->pe);
    else
        log_warn(ERR_STALL, "requests of kernels wait for %llu s: %lu are not "
                 "complete", line_seconds(now - since), (unsigned long)n);
}

static void check_record(unsigned i, uint64_t now)
{
    static const char *const cmps[] = { "?", "==", "!=", ">", ">=", "<", "<=" };
    const shmemi_dev_record *n = &all_records[i];
    uint64_t word = __atomic_load_n(&n->word, __ATOMIC_ACQUIRE), is = 0;
    unsigned cmp = n->cmp & 15;

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
    log_warn(ERR_STALL, "a kernel waits for %llu s in shmemx_dev_wait_until: "
             "the %u bytes at %p are %lu, and are to be %s %lu",
             line_seconds(now - seen[i].since_ns), n->size, (void *)word,
             (unsigned long)is, cmps[cmp < 7 ? cmp : 0],
             (unsigned long)n->value);
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
    diag_watchdog_stop();
    all_records = NULL;
}
