/* SPDX-License-Identifier: BSD-3-Clause */
/* The NIC's deferred work for xport_trig.h: which NICs have it, and its opening
 * and closing.  A stream's first use opens it; later calls go through the table
 * to the files beside this one. */
#include "ofi/trig/ofi_trig.h"
#include "base/env.h"
#include "base/log.h"
#include "ofi/net/ofi_cxi.h"
#include "rt/rt.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct ofi_trig_engine ofi_trig = { .lock = LOCK_INIT };

enum { FLAG_SIZE = OFI_TRIG_FLAG_SIZE, N_FLAGS = OFI_TRIG_FLAGS };
_Static_assert(N_FLAGS == sizeof ofi_trig.spare / sizeof *ofi_trig.spare,
               "one each");

/* ---- the kinds of NICs ---- */

static int no_doorbell(struct fid_cntr *trigger, void **page)
{
    (void)trigger;
    *page = NULL;
    return 0;
}

/* sockets compares thresholds as numbers of 32 bits, and goes wrong past 2000
 * entries that are released at once. */
static const struct ofi_trig_kind kinds[] = {
    { .name = "cxi", .entries = true, .most = (uint64_t)1 << 47,
      .counters = OFI_CXI_COUNTERS, .doorbell = ofi_cxi_doorbell,
      .query_depth = ofi_cxi_depth },
    { .name = "sockets", .depth = 1000, .most = 0x7fff0000,
      .counters = INT_MAX, .doorbell = no_doorbell }
};

/* ---- counters of signals ---- */

/* As many as there are, for signals take turns. */
enum { FIRST_CHAINS = 16 };

static void open_chains(int from, int to)
{
    if (ofi_trig.errors_count)
        return;
    for (int i = from; i < to && i < ofi_trig.plan.chains; i++)
        if (ofi_trig_counter(&ofi_trig.chains[i].counter))
            return;
}

/* ---- the endpoint ---- */

/* CXI looks at both counters whether they are bound or not. */
static int open_ep(void)
{
    const uint64_t how = FI_TRANSMIT | FI_SELECTIVE_COMPLETION |
                         (ofi.sender->caps & FI_RECV);
    OFI_GROWS(fi_cq_attr) cq = { .a = {
        .format = FI_CQ_FORMAT_MSG, .size = 2 * ofi.info->tx_attr->size,
        .wait_obj = FI_WAIT_NONE
    } };
    struct ofi_ep *e = aligned_alloc(64, sizeof *e);
    int rc;

    if (!e)
        return -ENOMEM;
    memset(e, 0, sizeof *e);
    ofi_trig.ep = e;
    rc = ofi_trig_counter(&ofi_trig.writes);
    if (!rc)
        rc = ofi_trig_counter(&ofi_trig.reads);
    if (!rc)
        rc = fi_cq_open(ofi.domain, &cq.a, &e->cq, NULL);
    if (!rc)
        rc = fi_endpoint(ofi.domain, ofi.sender, &e->ep, NULL);
    if (!rc)
        rc = fi_ep_bind(e->ep, &ofi.av->fid, 0);
    if (!rc)
        rc = fi_ep_bind(e->ep, &e->cq->fid, how);
    if (!rc)
        rc = fi_ep_bind(e->ep, &ofi_trig.writes->fid, FI_WRITE);
    if (!rc)
        rc = fi_ep_bind(e->ep, &ofi_trig.reads->fid, FI_READ);
    return rc ? rc : fi_enable(e->ep);
}

/* ---- all together ---- */

/* A stream that gets there later still stores to the register: of what it has
 * not released, the counter stays open, and with it the domain. */
static void close_trigger(struct xport_trig *t)
{
    if (t->mmio && t->entries) {
        log_info(LOG_OFI, "a stream may still trigger %" PRIu64 " operations: "
                 "its counter is left", t->entries);
        t->trigger = NULL;
        t->mmio = NULL;
    }
    ofi_trig_destroy(t);
}

static void close_all(void)
{
    struct ofi_ep *e = ofi_trig.ep;
    struct xport_trig *t;

    if (ofi_trig.counts.used_entries)
        fi_control(&ofi.domain->fid, FI_FLUSH_WORK, NULL);
    if (e && e->ep)
        fi_close(&e->ep->fid);
    while ((t = ofi_trig.triggers)) {
        ofi_trig.triggers = t->next;
        close_trigger(t);
    }
    if (e && e->cq)
        fi_close(&e->cq->fid);
    free(e);
    for (int i = 0; i < OFI_CHAINS; i++)
        ofi_trig_counter_close(&ofi_trig.chains[i].counter);
    for (int i = 0; i < 3; i++)
        ofi_trig_counter_close(&ofi_trig.probe[i]);
    ofi_trig_counter_close(&ofi_trig.writes);
    ofi_trig_counter_close(&ofi_trig.reads);
    ofi_trig_close_entries();
    ofi_trig.ep = NULL;
    memset(ofi_trig.chains, 0, sizeof ofi_trig.chains);
    memset(&ofi_trig.counts, 0, sizeof ofi_trig.counts);
}

static void set_state(int state)
{
    /* release: a thread that reads 1 sees the engine open. */
    __atomic_store_n(&ofi_trig.state, state, __ATOMIC_RELEASE);
}

/* From here on a thread that has the lock finds the engine closed. */
static void close_engine(int state)
{
    lock_acquire(&ofi_trig.lock);
    ofi_trig_poll();            /* what has ended is known */
    set_state(state);
    lock_release(&ofi_trig.lock);
    close_all();
}

/* When a stream first needs it. */
static int open_engine(void)
{
    const char *step = "an endpoint", *cause;
    int rc;

    ofi_trig.cause[0] = '\0';
    ofi_trig_plan_share();
    rc = open_ep();

    if (!rc) {
        step = "its entries";
        rc = ofi_trig_open_entries();
    }
    if (!rc) {
        step = "the test";
        rc = ofi_trig_probe();
    }
    if (!rc) {
        open_chains(0, FIRST_CHAINS);
        set_state(1);
        rc = ofi_trig_test();
    }
    if (!rc) {
        ofi_trig_make_some();
        open_chains(FIRST_CHAINS, OFI_CHAINS);
        log_info(LOG_OFI, "deferred work: %zu entries of %s; failures %s",
                 ofi_trig.n_works, ofi.name, ofi_trig.errors_count
                 ? "count: a thread sends the signals of puts"
                 : "do not count");
        return 0;
    }
    cause = ofi_trig.cause[0] ? ofi_trig.cause : ofi_strerror(rc);
    log_warn(ERR_NET, "deferred work of %s: %s: %s; streams go by way of a "
             "thread (SHMEM_TRIGGER=soft does not try)", ofi.name, step,
             cause);
    close_engine(-ENOSYS);
    return -ENOSYS;
}

static int trig_ready(void)
{
    static struct base_lock opening = LOCK_INIT;
    int rc;

    lock_acquire(&opening);
    if (!ofi_trig_state())
        set_state(open_engine() ? -ENOSYS : 1);
    rc = ofi_trig_state() < 0 ? -ENOSYS : 0;
    lock_release(&opening);
    return rc;
}

static int trig_open(struct xport_trig **out, bool free,
                     xport_trig_failed *failed, void *arg)
{
    int rc = trig_ready();

    return rc ? rc : ofi_trig_open(out, free, failed, arg);
}

static uint64_t *trig_word(struct xport_trig *t)
{
    return t->word;
}

static uint64_t *trig_doorbell(struct xport_trig *t)
{
    return t->doorbell;
}

static uint64_t trig_ended(struct xport_trig *t)
{
    return __atomic_load_n(&t->ended, __ATOMIC_ACQUIRE) - t->base;
}

static uint64_t trig_first(struct xport_trig *t)
{
    return __atomic_load_n(&t->first, __ATOMIC_ACQUIRE) - t->base;
}

static void trig_progress(void)
{
    if (!lock_try(&ofi_trig.lock))
        return;
    ofi_trig_poll();
    lock_release(&ofi_trig.lock);
}

static void trig_counts(struct xport_trig_counts *out)
{
    lock_acquire(&ofi_trig.lock);
    *out = ofi_trig.counts;
    lock_release(&ofi_trig.lock);
}

int ofi_trig_reserve(void)
{
    ofi_trig.flag_mem = heap_reserve((N_FLAGS + 1) * FLAG_SIZE, FLAG_SIZE);
    ofi_trig.my_nic = heap_reserve(FLAG_SIZE, FLAG_SIZE);
    if (!ofi_trig.flag_mem || !ofi_trig.my_nic)
        return -ENOMEM;
    for (ofi_trig.n_spare = 0; ofi_trig.n_spare < N_FLAGS; ofi_trig.n_spare++)
        ofi_trig.spare[ofi_trig.n_spare] =
            ofi_trig.flag_mem + ofi_trig.n_spare * FLAG_SIZE / sizeof(uint64_t);
    return 0;
}

static const struct ofi_trig_kind *kind_of(const char *provider)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strncmp(provider, kinds[i].name, strlen(kinds[i].name)) &&
            (env.TRIGGER == OFI_TRIGGER_NIC ||
             (env.TRIGGER == OFI_TRIGGER_AUTO && kinds[i].entries)))
            return &kinds[i];
    return NULL;
}

bool ofi_trig_wanted(const char *provider)
{
    return kind_of(provider) != NULL;
}

const struct xport_trig_ops *ofi_trig_table(void)
{
    static struct xport_trig_ops ops = {
        .ready = trig_ready, .open = trig_open, .close = ofi_trig_return,
        .can = ofi_trig_can, .arm = ofi_trig_arm, .flag = ofi_trig_flag,
        .word = trig_word, .doorbell = trig_doorbell,
        .increment = ofi_trig_increment, .count = ofi_trig_count,
        .completed = trig_ended, .completed_in_order = trig_first,
        .progress = trig_progress,
        .report_failures = ofi_trig_await_errors, .counts = trig_counts,
        .open_two_input = ofi_trig_open_two_input,
        .is_released = ofi_trig_is_due, .skip_post = ofi_trig_skip,
        .skip_done = ofi_trig_skip_done
    };

    ofi_trig.kind = ofi.info->caps & FI_TRIGGER
                    ? kind_of(ofi.info->fabric_attr->prov_name) : NULL;
    set_state(0);
    if (ofi_trig.kind) {
        ops.name = ofi_trig.kind->name;
        return &ops;
    }
    if (env.TRIGGER == OFI_TRIGGER_NIC && rt_job.pe == 0)
        log_warn(ERR_NET, "SHMEM_TRIGGER=nic: provider %s has no deferred "
                 "work: operations of streams go by way of a thread",
                 ofi.name);
    return &xport_trig_none;
}

void ofi_trig_close(void)
{
    if (ofi_trig_state() == 1)
        close_engine(0);
    set_state(0);
}
