/* SPDX-License-Identifier: BSD-3-Clause */
/* The NIC's deferred work: which NICs have it, their counters and entries. */
#include "ofi/trig/ofi_trig.h"
#include "base/env.h"
#include "base/fault.h"
#include "base/log.h"
#include "ofi/net/ofi_cxi.h"
#include "ofi/net/ofi_local.h"
#include "rt/rt.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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
 * entries that are let go at once. */
static const struct ofi_trig_kind kinds[] = {
    { .name = "cxi", .entries = true, .most = (uint64_t)1 << 47,
      .counters = OFI_CXI_COUNTERS, .doorbell = ofi_cxi_doorbell,
      .query_depth = ofi_cxi_depth },
    { .name = "sockets", .depth = 1000, .most = 0x7fff0000,
      .counters = INT_MAX, .doorbell = no_doorbell }
};

/* ---- entries ---- */

struct ofi_trig_entry *ofi_trig_entry_alloc(void)
{
    struct xport_trig_counts *n = &ofi_trig.counts;
    struct ofi_trig_entry *w;

    if (!ofi_trig.unused)
        ofi_trig_poll();
    w = ofi_trig.unused;
    if (!w)
        return NULL;
    ofi_trig.unused = w->next;
    if (++n->used_entries > n->most_entries)
        n->most_entries = n->used_entries;
    return w;
}

void ofi_trig_entry_free(struct ofi_trig_entry *w)
{
    w->next = ofi_trig.unused;
    ofi_trig.unused = w;
    ofi_trig.counts.used_entries--;
}

/* Entries, whose operands the NIC reads and whose results it writes, and the
 * words of two_inputs: in pages of their own, as a forked child may lack those
 * that a NIC maps. */
static int open_memory(void)
{
    size_t n = ofi_trig.plan.entries;
    size_t n_counted = (size_t)ofi_trig.plan.two_inputs + 1;
    size_t size = n * sizeof *ofi_trig.all +
                  n_counted * sizeof *ofi_trig.counted;
    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int rc = 0;

    if (at == MAP_FAILED)
        return -errno;
    ofi_trig.all = at;
    ofi_trig.size = size;
    ofi_trig.counted = (uint64_t *)(void *)(ofi_trig.all + n);
    if (ofi.descs)
        rc = ofi_local_register(at, size, FI_READ | FI_WRITE, &ofi_trig.mr);
    ofi_trig.desc = ofi_trig.mr ? fi_mr_desc(ofi_trig.mr) : NULL;
    return rc;
}

static void close_memory(void)
{
    if (ofi_trig.mr)
        fi_close(&ofi_trig.mr->fid);
    if (ofi_trig.all)
        munmap(ofi_trig.all, ofi_trig.size);
    ofi_trig.all = ofi_trig.unused = ofi_trig.to_post = NULL;
    ofi_trig.mr = NULL;
    ofi_trig.desc = NULL;
}

static int open_works(void)
{
    size_t n = ofi_trig.plan.entries;
    int rc;

    if (n < OFI_TRIG_LEAST)
        return ofi_trig_no_depth();
    rc = open_memory();
    if (rc)
        return rc;
    for (size_t i = 0; i < n; i++) {
        ofi_trig.all[i].next = ofi_trig.unused;
        ofi_trig.unused = &ofi_trig.all[i];
    }
    ofi_trig.n_works = n;
    return 0;
}

/* ---- counters ---- */

int ofi_trig_counter(struct fid_cntr **out)
{
    OFI_GROWS(fi_cntr_attr) grows = { .a = {
        .events = FI_CNTR_EVENTS_COMP, .wait_obj = FI_WAIT_NONE
    } };
    int rc = fault_hit(FAULT_OFI_EP) ||
             ofi_trig.n_counters >= ofi_trig.plan.counters ? -FI_EDOMAIN
             : fi_cntr_open(ofi.domain, &grows.a, out, NULL);

    ofi_trig.n_counters += !rc;
    return rc;
}

void ofi_trig_counter_close(struct fid_cntr **c)
{
    int rc = *c ? fi_close(&(*c)->fid) : 0;

    if (rc)
        log_info(LOG_OFI, "closing a counter: %s", ofi_strerror(rc));
    ofi_trig.n_counters -= *c && !rc;
    *c = NULL;
}

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

/* ---- triggers ---- */

void ofi_trig_destroy(struct xport_trig *t)
{
    if (t->region)
        fi_close(&t->region->fid);
    if (t->mmio)
        gtl->unpin(t->mmio);
    ofi_trig_counter_close(&t->trigger);
    ofi_trig_counter_close(&t->done);
    ofi_trig_counter_close(&t->flagged);
    free(t);
}

static int open_doorbell(struct xport_trig *t)
{
    void *page, *seen;
    int rc = ofi_trig.kind->doorbell(t->trigger, &page);

    if (rc || !page)
        return rc;
    rc = gtl->pin(page, (size_t)sysconf(_SC_PAGESIZE), GTL_PIN_MMIO, &seen);
    if (rc) {
        log_info(LOG_OFI, "the device does not reach the NIC's registers: %s",
                 gtl_error());
        snprintf(ofi_trig.cause, sizeof ofi_trig.cause, "no doorbell for the "
                 "device: %s", gtl_error());
        return rc;
    }
    t->mmio = page;
    t->doorbell = seen;
    return 0;
}

/* Where a queue tells of each end, flags are counted by nothing. */
static int open_counters(struct xport_trig *t)
{
    int rc = ofi_trig.n_spare ? ofi_trig_counter(&t->trigger) : -ENOSPC;

    if (!rc)
        rc = ofi_trig_counter(&t->done);
    if (!rc && !ofi_trig.kind->entries)
        rc = ofi_trig_counter(&t->flagged);
    return rc ? -ENOSPC : 0;
}

static int make_trigger(struct xport_trig **out) REQUIRES(ofi_trig.lock)
{
    struct xport_trig *t = calloc(1, sizeof *t);
    int rc;

    if (!t)
        return -ENOMEM;
    rc = open_counters(t);
    if (!rc)
        rc = open_doorbell(t);
    if (rc) {
        ofi_trig_destroy(t);
        return rc;
    }
    t->closed = true;
    t->works = (struct list_link)LIST_INIT(t->works);
    t->word = ofi_trig.spare[--ofi_trig.n_spare];
    t->next = ofi_trig.triggers;
    ofi_trig.triggers = t;
    *out = t;
    return 0;
}

/* One that nobody has, and of which the NIC has no entries. */
static struct xport_trig *find_idle(void) REQUIRES(ofi_trig.lock)
{
    struct xport_trig *t = ofi_trig.triggers;

    while (t && (t->two_input || !t->closed || t->entries || t->retired ||
                 t->is_failed || t->armed > ofi_trig.kind->most / 2))
        t = t->next;
    return t;
}

/* A driver that is reported of a register while a stream waits may wait for
 * that stream: one of a GPU is reported of none but those made in advance. */
static int make_late(struct xport_trig **out) REQUIRES(ofi_trig.lock)
{
    return ofi_trig.triggers && ofi_trig.triggers->mmio &&
           !gtl_device.host_streams ? -ENOSPC : make_trigger(out);
}

void ofi_trig_assign(struct xport_trig *t, xport_trig_failed *failed, void *arg)
{
    t->closed = false;
    t->failed = failed;
    t->arg = arg;
    t->base = t->armed;
}

int ofi_trig_open(struct xport_trig **out, xport_trig_failed *failed,
                  void *arg)
{
    struct xport_trig *t;
    int rc = 0;

    lock_acquire(&ofi_trig.lock);
    ofi_trig_poll();
    t = find_idle();
    if (!t)
        rc = make_late(&t);
    if (!rc) {
        ofi_trig_assign(t, failed, arg);
        *out = t;
    }
    lock_release(&ofi_trig.lock);
    return rc;
}

/* While no stream waits. */
static void make_some(void)
{
    struct xport_trig *t;

    lock_acquire(&ofi_trig.lock);
    for (int i = 1; i < ofi_trig.plan.made && !make_trigger(&t); i++)
        ;
    lock_release(&ofi_trig.lock);
}

/* The NIC may still have entries of it. */
void ofi_trig_return(struct xport_trig *t)
{
    lock_acquire(&ofi_trig.lock);
    t->closed = true;
    lock_release(&ofi_trig.lock);
}

/* Past a full ring sockets goes on only when the counter is touched again. */
void ofi_trig_increment(struct xport_trig *t, uint64_t n)
{
    /* release: whoever sees the operations ended sees that they were let go. */
    __atomic_fetch_add(&t->increments, n, __ATOMIC_RELEASE);
    fi_cntr_add(t->trigger, n);
}

/* ---- all together ---- */

/* A stream that gets there later still stores to the register: of what it has
 * not let go, the counter stays open, and with it the domain. */
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

    ofi_trig_poll();            /* what has ended is known */
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
    close_memory();
    ofi_trig.ep = NULL;
    memset(ofi_trig.chains, 0, sizeof ofi_trig.chains);
    memset(&ofi_trig.counts, 0, sizeof ofi_trig.counts);
}

static void set_state(int state)
{
    /* release: who sees it sees the rest. */
    __atomic_store_n(&ofi_trig.state, state, __ATOMIC_RELEASE);
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
        rc = open_works();
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
        make_some();
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
    close_all();
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

static int trig_open(struct xport_trig **out, xport_trig_failed *failed,
                     void *arg)
{
    int rc = trig_ready();

    return rc ? rc : ofi_trig_open(out, failed, arg);
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
        .increment = ofi_trig_increment,
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
        close_all();
    set_state(0);
}
