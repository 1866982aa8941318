/* SPDX-License-Identifier: BSD-3-Clause */
/* What fails: the job ends with a line, or the context's owner is told. */
#include "ofi/am/ofi_am.h"
#include "ofi/net/ofi_rail.h"
#include "base/env.h"
#include "base/log.h"
#include "rt/rt.h"

#include <stdio.h>
#include <stdlib.h>

/* What the program's call is, and whom it is about. */
struct place {
    const char *call, *colon;
    char pe[96];                /* "PE 3 (host b)" */
};

static struct place place_of(int pe)
{
    struct place p = { "", "", "far PEs" };
    char host[64] = "";

    if (xport_call) {
        p.call = xport_call[0] == 'p' ? xport_call + 1 : xport_call;
        p.colon = ": ";
    }
    if (pe >= 0 && rt_host(pe, host, sizeof host))
        snprintf(p.pe, sizeof p.pe, "PE %d (host %s)", pe, host);
    else if (pe >= 0)
        snprintf(p.pe, sizeof p.pe, "PE %d", pe);
    return p;
}

void ofi_fatal(const char *what, int pe, long rc, const char *detail)
{
    struct place p = place_of(pe);

    /* A peer that died is the launcher's to tell about. */
    rt_await_end();
    log_error(ERR_NET, "%s%s%s%s%s: %s%s%s; provider %s", p.call, p.colon,
              what, pe < 0 ? "" : ", ", pe < 0 ? "" : p.pe,
              ofi_strerror((int)rc), detail ? ": " : "", detail ? detail : "",
              ofi.name);
    rt_abort(EXIT_FAILURE);
}

/* Is that the end of the connection, and not of the operation alone? */
static bool is_lost(long rc)
{
    return rc == -FI_ECANCELED || rc == -FI_ENOTCONN || rc == -FI_ECONNRESET ||
           rc == -FI_ESHUTDOWN || rc == -FI_ECONNABORTED ||
           rc == -FI_ENOENT || rc == -FI_EHOSTUNREACH;
}

void ofi_op_error(struct xport_ep *f, const char *what, int pe, long rc,
                const char *detail)
{
    char cause[256];

    if (!f || !f->failed)
        ofi_fatal(what, pe, rc, detail);
    __atomic_fetch_add(&f->failures, 1, __ATOMIC_RELAXED);
    snprintf(cause, sizeof cause, "%s%s%s; provider %s", ofi_strerror((int)rc),
             detail ? ": " : "", detail ? detail : "", ofi.name);
    f->failed(f->failed_arg, what, pe, cause);
    if (pe >= 0 && is_lost(rc))
        ofi_am_cancel(f, pe, NULL);
}

/* After the time limit, for what came while this process was stopped. */
#define MORE_NS ((uint64_t)1000000000)

/* Replies that do not come are given up, for a late one finds nothing; what the
 * provider has not ended is still its own. */
void ofi_ctx_check_timeout(struct xport_ep *f, uint64_t now_ns)
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
    if (ofi_idle(f) && !unconnected_pe) /* it is what the NIC does that lasts */
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
    if (!ofi_idle(f) || unconnected_pe)
        ofi_fatal_timeout(&w, now_ns - f->checked_ns);
}

void ofi_fatal_timeout(const struct ofi_wait *w, uint64_t waited_ns)
{
    struct place p = place_of(w->wait.pe);
    char rails[128];

    rt_await_end();
    log_error(ERR_NET, "%s%sno %s %s in %llu s (SHMEM_TIMEOUT): %s is stopped, "
              "or the network between the nodes is down or slower than that; "
              "provider %s%s%s%s", p.call,
              p.colon, w->room ? "room for a further operation on"
                               : "answer from", p.pe,
              (unsigned long long)(waited_ns / 1000000000u),
              w->wait.pe >= 0 ? "it" : "a PE", ofi.name,
              ofi_rails_busy(rails, sizeof rails),
              *ofi_nic_names ? "; SHMEM_OFI_DOMAIN chooses one of "
                             : "", ofi_nic_names);
    rt_abort(EXIT_FAILURE);
}
