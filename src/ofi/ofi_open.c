/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens and closes the network: the provider (ofi_provider.c), this PE's
 * address for the others, the progress thread's poller, xport_net.  Called at
 * start and at the end, on one thread, and by no operation. */
#include "ofi/ofi.h"
#include "ofi/am/ofi_ack.h"
#include "ofi/am/ofi_am_target.h"
#include "ofi/net/ofi_rail.h"
#include "ofi/ofi_dispatch.h"
#include "ofi/ofi_provider.h"
#include "ofi/stage/ofi_device.h"
#include "ofi/trig/ofi_trig.h"
#include "base/env.h"
#include "base/log.h"
#include "rt/rt.h"
#include "xport/xport_stats.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

static char text[384] = "all PEs share this node: none is opened";

const char *ofi_text(void)
{
    return text;
}

/* Not only this PE, another one can be reached, too. */
static int test_peer(void)
{
    uint64_t mark = 0x8877665544332211, seen = 0, was = UINT64_MAX;
    struct xport_addr at = { .pe = rt_job.pe, .seg = HEAP_HOST };
    struct xport_amo add = { .op = AMO_ADD, .size = 8, .value = 1 };
    struct xport_ctx *f;
    int rc;

    while (xport_routes[at.pe].map[HEAP_HOST])
        at.pe = (at.pe + 1) % rt_job.n_pes;
    rc = ofi_ctx_open(&f, false);
    if (rc)
        return rc;
    at.off = (uintptr_t)&ofi_trial->put - heap_segs[HEAP_HOST].base;
    ofi_put(f, &at, &mark, sizeof mark, false);
    ofi_quiet(f);
    ofi_get(f, &seen, &at, sizeof seen, false);
    at.off += offsetof(struct ofi_trial, add);
    ofi_amo_dispatch(f, &at, &add, &was, false);
    ofi_ctx_close(f);
    if (seen == mark && was < (uint64_t)rt_job.n_pes + 16)
        return 0;
    log_error(ERR_NET, "provider %s: the test with PE %d gave wrong data",
              ofi.name, at.pe);
    return -EIO;
}

/* The address is published when this PE can receive. */
static int join(void)
{
    int rc;

    if (getrandom(&ofi.my_token, sizeof ofi.my_token, 0) < 0)
        return -errno;
    ofi.my_token &= OFI_AM_TOKEN_MASK;
    ofi.my_token |= ofi.my_token == 0;      /* which would be none */
    memset(ofi_trial, 0, sizeof *ofi_trial);
    ofi_device_register_handlers();
    rc = ofi_am_open();
    if (!rc)
        rc = ofi_am_target_open();
    if (!rc)
        rc = ofi_peers_open();
    if (!rc)
        rc = ofi_addr_publish();
    if (!rc)
        rc = ofi_rail_publish();
    if (!rc)
        rc = rt_fence();
    if (!rc)
        rc = ofi_progress_open();
    if (!rc && rt_job.n_local < rt_job.n_pes)
        rc = test_peer();
    return rc;
}

int ofi_open(void)
{
    return rt_job.n_local == rt_job.n_pes ? 0 : ofi_open_always();
}

int ofi_open_always(void)
{
    char why[192] = "", traffic[32] = "", rails[128];
    const char *missing = NULL;
    int rc;

    ofi_trial = heap_reserve(sizeof *ofi_trial, 64);
    if (!ofi_trial || ofi_trig_reserve() || ofi_ack_reserve())
        return -ENOMEM;
    rc = ofi_lib_open(&missing);
    if (rc) {
        log_error(ERR_NET, "%d of the %d PEs %s on this node, and the others "
                  "need libfabric: %s", rt_job.n_local, rt_job.n_pes,
                  rt_job.n_local == 1 ? "is" : "are", missing);
        return rc;
    }
    rc = ofi_provider_choose(why, sizeof why);
    if (rc)
        return rc;
    ofi_rails_open(&ofi_trial->put);
    if (*ofi_traffic_class() && !ofi_has_traffic_classes(ofi.info))
        ofi_warn_traffic_class();
    else if (*ofi_traffic_class())
        snprintf(traffic, sizeof traffic, "%s traffic; ", ofi_traffic_class());
    snprintf(text, sizeof text, "%s (%s); %satomics by %s; progress by %s%s",
             ofi.name, why, traffic, ofi.nic_amo ? "the provider" : "messages",
             !ofi.wait_fd ? "polling at intervals" :
             ofi_wakes_sleepers() ? "events"
                                  : "events of messages, polling for puts",
             ofi_rails_text(rails, sizeof rails));
    log_info(LOG_OFI, "provider %s", text);
    ofi_trig_publish();
    rc = join();
    if (rc) {
        ofi_progress_close();
        ofi_provider_close();
        return rc;
    }
    xport_progress = &ofi_progress_ops;
    xport_net = env.STATS.on ? xport_stats_wrap(&ofi_ops, rt_job.n_pes)
                          : &ofi_ops;
    xport_trig = ofi_trig_table();
    return 0;
}

void ofi_close(void)
{
    if (!xport_net)
        return;
    /* Of no context's: a peer that has closed its NIC would seem out of reach.
     */
    if (ofi_n_rails)
        ofi_rail_probe_drain();
    /* A peer may still wait for an answer that only this PE can give: the
     * progress thread goes on until no PE waits. */
    rt_fence();
    xport_net = NULL;
    xport_progress = &xport_progress_none;
    xport_stats_unwrap();
    xport_trig = &xport_trig_none;
    ofi_trig_close();
    ofi_progress_close();
    ofi_device_close();
    ofi_provider_close();
}
