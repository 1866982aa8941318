/* SPDX-License-Identifier: BSD-3-Clause */
/* Watches the waits of start-up and end for all PEs, the fences of rt: no peer
 * can be read or queried then, so the diag thread asks the launcher which PEs
 * are missing.  api_setup.c and core.c call it, and rt at each fence; nothing
 * here may need the heap. */
#include "core/core_report.h"
#include "base/clock.h"
#include "base/log.h"
#include "core/core_describe.h"
#include "diag/diag.h"
#include "rt/rt.h"

#include <errno.h>

/* The wait in a fence; since_ns is atomic and 0 outside of one. */
static struct {
    uint64_t since_ns;
    uint64_t reported_ns;       /* the diag thread's */
} fence;
/* The call, while no activity record shows it. */
static const char *phase = "shmem_init";

static const char *call_of_fence(void)
{
    const struct core_ctl *ctl = __atomic_load_n(&core_ctl, __ATOMIC_RELAXED);

    return ctl && ctl->activity.call[0] ? ctl->activity.call : phase;
}

static void watch(bool begins)
{
    if (begins) {
        __atomic_store_n(&fence.since_ns, clock_ns(), __ATOMIC_RELAXED);
        diag_answer_requests();
        diag_watchdog_start();
    } else {
        diag_watchdog_stop();
        __atomic_store_n(&fence.since_ns, 0, __ATOMIC_RELAXED);
        if (!core_ctl)          /* heap opens or closes next */
            diag_stop_thread();
    }
}

CORE_RACY bool core_fence_describe(struct line *out)
{
    uint64_t since = __atomic_load_n(&fence.since_ns, __ATOMIC_RELAXED);

    if (!since)
        return false;
    line_addf(out, "in %.39s for %llu s, waiting for all %d PEs to arrive",
              call_of_fence(), line_seconds(clock_ns() - since), rt_job.n_pes);
    return true;
}

/* Every PE waits, and one line is enough: the launcher picks the PE that
 * prints it.  Where the launcher cannot be asked, the first PEs of each node
 * print what they know. */
CORE_RACY static void check(uint64_t now)
{
    uint64_t since = __atomic_load_n(&fence.since_ns, __ATOMIC_RELAXED);
    char who[512] = "not all PEs have arrived, and this launcher does not say "
                    "which are missing";
    int rc;

    if (!since || !diag_stall_is_reported() ||
        !diag_line_is_due(since, fence.reported_ns, now))
        return;
    fence.reported_ns = now;
    rc = rt_fence_missing(who, sizeof who);
    if (!rc || (rc == -ENOTSUP && rt_job.local < 2))
        log_warn(ERR_STALL, "%.39s waits for %llu s: %s", call_of_fence(),
                 line_seconds(now - since), who);
}

/* The process did not run: its own pause is not the other PEs' delay. */
static void forgive(uint64_t ns, uint64_t now)
{
    uint64_t since = __atomic_load_n(&fence.since_ns, __ATOMIC_RELAXED);

    if (since && since + ns < now)
        __atomic_compare_exchange_n(&fence.since_ns, &since, since + ns, false,
                                    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

void core_fence_open(const char *call)
{
    static const struct diag_source source = {
        .part = DIAG_WAITS, .check = check, .paused = forgive
    };

    phase = call;
    rt_fence_watch = watch;
    diag_register(&source);
}

void core_fence_close(void)
{
    rt_fence_watch = NULL;
}
