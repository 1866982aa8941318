/* SPDX-License-Identifier: BSD-3-Clause */
/* Ends what gets no answer within SHMEM_TIMEOUT in a context that no thread
 * waits on.  The progress thread calls it for each such context, by
 * xport_progress_ops; it never waits. */
#include "ofi/ofi_dispatch.h"
#include "ofi/am/ofi_am.h"
#include "base/env.h"

#include <stdio.h>

/* After the time limit, for what came while this process was stopped. */
#define MORE_NS ((uint64_t)1000000000)

/* Replies that do not come are cancelled, for a late one finds nothing; buffers
 * of operations that the provider has not ended are still its own. */
void ofi_ctx_check_timeout(struct xport_ctx *f, uint64_t now_ns)
{
    uint64_t done = __atomic_load_n(&f->done, __ATOMIC_RELAXED);
    int unconnected_pe = __atomic_load_n(&f->unconnected_pe, __ATOMIC_RELAXED);
    struct ofi_wait w = {
        .wait.pe = unconnected_pe ? unconnected_pe - 1 : ofi_ctx_peer(f)
    };
    char text[64];

    if (done != f->checked_done || !f->checked_ns) {
        f->checked_done = done;
        f->checked_ns = now_ns;
        f->late_ns = 0;
    }
    if (ofi_all_answered(f) && !unconnected_pe) /* it is what the NIC does that lasts */
        f->checked_ns = 0;
    if (!env.TIMEOUT || !f->checked_ns ||
        now_ns - f->checked_ns <= (uint64_t)env.TIMEOUT * 1000000000u)
        return;
    /* This process, or all, may have been stopped: the answer may come now. */
    if (!f->late_ns)
        f->late_ns = now_ns;
    if (now_ns - f->late_ns < MORE_NS)
        return;
    snprintf(text, sizeof text, "no answer in %ld s (SHMEM_TIMEOUT)",
             (long)env.TIMEOUT);
    ofi_am_cancel(f, -1, text);
    if (!ofi_all_answered(f) || unconnected_pe)
        ofi_fatal_timeout(&w, now_ns - f->checked_ns);
}
