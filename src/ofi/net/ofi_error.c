/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports what fails: the job ends with a line, or the owner of a context in
 * error mode "continue" gets a report.  All files of ofi call it, on any
 * thread; it starts no operation. */
#include "ofi/net/ofi_rail.h"
#include "base/env.h"
#include "base/lock.h"
#include "base/log.h"
#include "rt/rt.h"

#include <stdio.h>
#include <stdlib.h>

/* The program's call, and the PE that it is about. */
struct subject {
    const char *call, *colon;
    char pe[96];                /* "PE 3 (host b)" */
};

static struct subject subject_of(int pe)
{
    struct subject p = { "", "", "PEs of other nodes" };
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

enum { OTHERS_WAIT = 3 };       /* seconds */
/* The launcher reports a peer that died.  Of the threads of this PE that meet
 * the same cause the first one has the word, unless something keeps it. */
static void await_end(void)
{
    static bool reports;        /* atomic */
    bool first = !__atomic_exchange_n(&reports, true, __ATOMIC_RELAXED);

    rt_await_end();
    for (int i = 0; !first && i < OTHERS_WAIT; i++)
        rt_await_end();
}

void ofi_fatal(const char *what, int pe, long rc, const char *detail)
{
    struct subject p = subject_of(pe);

    await_end();
    log_error(ERR_NET, "%s%s%s%s%s: %s%s%s; provider %s", p.call, p.colon,
              what, pe < 0 ? "" : ", ", pe < 0 ? "" : p.pe,
              ofi_strerror((int)rc), detail ? ": " : "", detail ? detail : "",
              ofi.name);
    rt_fail();
}

/* Is that the end of the connection, and not of the operation alone? */
static bool is_lost(long rc)
{
    return rc == -FI_ECANCELED || rc == -FI_ENOTCONN || rc == -FI_ECONNRESET ||
           rc == -FI_ESHUTDOWN || rc == -FI_ECONNABORTED ||
           rc == -FI_ENOENT || rc == -FI_EHOSTUNREACH;
}

/* Held while an owner gets a report, which may not end before that. */
static struct base_lock report_lock = LOCK_INIT;

static void ignore(void *arg, const char *what, int pe, const char *cause)
{
    (void)arg, (void)what, (void)pe, (void)cause;
}

void ofi_op_errors_end(struct xport_ctx *f)
{
    lock_acquire(&report_lock);
    __atomic_store_n(&f->failed, ignore, __ATOMIC_RELAXED);
    lock_release(&report_lock);
}

void ofi_op_error(struct xport_ctx *f, const char *what, int pe, long rc,
                const char *detail)
{
    char cause[256];

    if (!f || !__atomic_load_n(&f->failed, __ATOMIC_RELAXED))
        ofi_fatal(what, pe, rc, detail);
    __atomic_fetch_add(&f->failures, 1, __ATOMIC_RELAXED);
    snprintf(cause, sizeof cause, "%s%s%s; provider %s", ofi_strerror((int)rc),
             detail ? ": " : "", detail ? detail : "", ofi.name);
    lock_acquire(&report_lock);
    f->failed(f->failed_arg, what, pe, cause);
    lock_release(&report_lock);
    if (pe >= 0 && is_lost(rc) && ofi.cancel_requests)
        ofi.cancel_requests(f, pe, NULL);
}

void ofi_fatal_timeout(const struct ofi_wait *w, uint64_t waited_ns)
{
    struct subject p = subject_of(w->wait.pe);
    char rails[128];

    await_end();
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
    rt_fail();
}
