/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks what no document says of a NIC, and what a job on it lacks: each
 * property is tried once, with this PE itself, and printed in a line.  For
 * shmem_info --check alone; no program calls it. */
#include "ofi/trig/ofi_trig.h"
#include "ofi/ofi.h"
#include "base/env.h"
#include "ofi/net/ofi_cxi.h"
#include "rt/rt.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ofi_check_line *print;

__attribute__((format(printf, 3, 4)))
static void say(enum ofi_verdict v, const char *what, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    print(v, what, fmt, ap);
    va_end(ap);
}

bool ofi_check_present(const char *provider, char *why, size_t size)
{
    const char *missing = NULL;
    struct fi_info *info;
    char text[128];

    if (ofi_lib_open(&missing)) {
        snprintf(why, size, "%s", missing);
        return false;
    }
    if (ofi_info_choose(0, false, &info, text, sizeof text) >= 0) {
        ofi_lib.fi_freeinfo(info);
        return true;
    }
    snprintf(why, size, "libfabric %u.%u (%s) finds no interface of provider "
             "%s; FI_LOG_LEVEL=info says why", FI_MAJOR(ofi_lib.fi_version()),
             FI_MINOR(ofi_lib.fi_version()), ofi_lib_path(), provider);
    return false;
}

/* ---- the network ---- */

static void check_network(void)
{
    const char *vnis = env_foreign("SLINGSHOT_VNIS");
    const char *services = env_foreign("SLINGSHOT_SVC_IDS");
    const char *classes = env_foreign("SLINGSHOT_TCS");
    const struct fid_nic *nic = ofi.info->nic;
    int link = nic && nic->link_attr ? (int)nic->link_attr->state
                                     : FI_LINK_UNKNOWN;

    say(vnis ? OFI_PASS : OFI_WARN, "VNI", "%s %s, service %s, traffic classes "
        "%s%s", ofi.name, vnis ? vnis : "opens, by a default service",
        services ? services : "not given", classes ? classes : "not given",
        vnis ? "" : "; a job on several nodes may need srun "
        "--network=single_node_vni,job_vni");
    if (link == FI_LINK_DOWN)
        say(OFI_FAIL, "link", "%s is down: see cxi_stat", ofi.name);
    else
        say(OFI_PASS, "link", "%s is %s", ofi.name,
            link == FI_LINK_UP ? "up" : "open; the provider reports no state");
}

/* ---- entries and counters ---- */

static void check_entries(void)
{
    const struct ofi_trig_plan *p = &ofi_trig.plan;
    size_t depth = ofi_trig_depth();
    int wanted = ofi_trig_wanted_entries(p->pes);

    if (depth == OFI_DEPTH_UNKNOWN)
        say(OFI_WARN, "entries", "this libfabric does not say how many "
            "entries of deferred work are reserved; SHMEM_TRIGGER_DEPTH says "
            "how many a PE may take");
    else
        say(depth + 8 < (size_t)wanted ? OFI_WARN : OFI_PASS, "entries",
            "%zu entries of deferred work for %d PE%s of this NIC, %zu for "
            "this one%s%d", depth, p->pes, p->pes > 1 ? "s" : "", p->entries,
            depth + 8 < (size_t)wanted ? "; halos want more: srun "
            "--network=single_node_vni,job_vni,res_tles=" : "; wanted, with "
            "the provider's: ", wanted);
}

/* The counters that the plan needs on this NIC. */
static int counters_wanted(void)
{
    const struct ofi_trig_plan *p = &ofi_trig.plan;

    return 2 + (ofi_trig.errors_count ? 0 : p->chains) +
           (ofi_trig_has_two_input() ? 2 * p->two_inputs : 0) + 2 * p->made;
}

/* Counters in use already count. */
static void check_counters(void)
{
    int wanted = counters_wanted(), n = 0;
    struct fid_cntr **c = calloc((size_t)wanted, sizeof *c);

    if (!c)
        return;
    while (ofi_trig.n_counters < wanted && n < wanted &&
           !ofi_trig_counter(&c[n]))
        n++;
    say(ofi_trig.n_counters < wanted ? OFI_WARN : OFI_PASS, "counters",
        "%d of %d that a PE of %d on this NIC wants%s", ofi_trig.n_counters,
        wanted, ofi_trig.plan.pes, ofi_trig.n_counters < wanted ? "; srun "
        "--network=single_node_vni,job_vni,res_cts=N reserves them" : "");
    while (n)
        ofi_trig_counter_close(&c[--n]);
    free(c);
}

/* ---- deferred work ---- */

static void check_doorbell(void)
{
    if (ofi_trig_state() == 1)
        say(OFI_PASS, "doorbell", "a stream of %s (%s) triggers the NIC's work "
            "by a store", gtl_device.name, gtl->name);
    else
        say(OFI_WARN, "doorbell", "a thread does the work of streams: %s",
            ofi_trig.cause[0] ? ofi_trig.cause : "see the line above");
}

static void check_failures(void)
{
    bool counts, first;
    int rc;

    say(OFI_PASS, "failures", "%s towards thresholds (fi_cntr_adderr)%s",
        ofi_trig.errors_count ? "count" : "do not count",
        ofi_trig.errors_count ? ": a thread sends the signals of puts"
                              : ": the NIC sends the signals of puts");
    rc = ofi_trig_try_failure(&counts, &first);
    if (rc && rc != -ETIMEDOUT)
        say(OFI_WARN, "a failed put", "not tried: %s", ofi_strerror(rc));
    else if (rc)
        say(OFI_FAIL, "a failed put",
            "neither its counter nor the queue reports "
            "it: set SHMEM_TRIGGER=soft");
    else if (counts != ofi_trig.errors_count)
        say(OFI_FAIL, "a failed put", "%s towards thresholds, other than what "
            "fi_cntr_adderr adds: set SHMEM_TRIGGER=soft, and report it",
            counts ? "counts" : "does not count");
    else
        say(OFI_PASS, "a failed put", "%s, too; the queue reports it %s the "
            "counter", counts ? "counts" : "does not count",
            first ? "no later than" : "later than");
}

static void check_two_inputs(void)
{
    const int n = OFI_TRIG_TEST_ADDS;

    if (ofi_trig_has_two_input())
        say(OFI_PASS, "two inputs",
            "%d atomics to a region count %d with delivery "
            "completion: the NIC waits for both ends of a message", n, n);
    else if (!ofi_trig.region_counts)
        say(OFI_WARN, "two inputs",
            "atomics to a region are not counted: a thread "
            "waits for both ends of messages");
    else if (ofi_trig.region_counts != OFI_TRIG_TEST_ADDS)
        say(OFI_WARN, "two inputs",
            "%d atomics to a region count %" PRIu64 " with "
            "delivery completion, not %d: a thread waits for both ends of "
            "messages; report it", n, ofi_trig.region_counts, n);
    else
        say(OFI_WARN, "two inputs",
            "the NIC does not see what the processor stores "
            "to the same word: a thread waits for both ends of messages; "
            "report it");
}

/* ---- one variable, by both ---- */

enum { TURNS = 1000 };

static void *add_by_processor(void *arg)
{
    uint64_t *word = arg;

    for (int i = 0; i < TURNS; i++)
        __atomic_fetch_add(word, 1, __ATOMIC_SEQ_CST);
    return NULL;
}

static uint64_t add_by_nic(struct xport_ctx *f, const uint64_t *word)
{
    const struct xport_amo add = { .op = AMO_ADD, .size = 8, .value = 1 };
    struct xport_addr at = {
        .pe = rt_job.pe, .seg = HEAP_HOST,
        .off = (uintptr_t)word - heap_segs[HEAP_HOST].base
    };
    uint64_t was = 0;

    xport_net->amo(f, &at, &add, &was, false);
    return was;
}

static void check_word(void)
{
    uint64_t *word = ofi_trig.flag_mem + OFI_TRIG_FLAGS * OFI_TRIG_FLAG_SIZE /
                     sizeof *word + 4;
    struct xport_ctx *f;
    uint64_t stale = 0, lost;
    pthread_t other;

    if (!ofi.nic_amo || xport_net->ctx_open(&f, false)) {
        say(OFI_WARN, "one variable", "not tried: atomics go by messages");
        return;
    }
    __atomic_store_n(word, 0, __ATOMIC_SEQ_CST);
    for (uint64_t i = 0; i < TURNS; i++) {
        stale += add_by_nic(f, word) != 2 * i;
        stale += __atomic_fetch_add(word, 1, __ATOMIC_SEQ_CST) != 2 * i + 1;
    }
    __atomic_store_n(word, 0, __ATOMIC_SEQ_CST);
    if (!pthread_create(&other, NULL, add_by_processor, word)) {
        for (int i = 0; i < TURNS; i++)
            add_by_nic(f, word);
        pthread_join(other, NULL);
    }
    xport_net->quiet(f);
    lost = 2 * TURNS - __atomic_load_n(word, __ATOMIC_SEQ_CST);
    say(stale ? OFI_WARN : OFI_PASS, "one variable",
        "atomics of the processor and "
        "the NIC in turn: %s; at once: %s (Sluice's own take turns, and only "
        "where two inputs pass)",
        stale ? "they see old values" : "each sees the other's",
        lost ? "some are lost" : "none is lost");
    xport_net->ctx_close(f);
}

void ofi_check(ofi_check_line *line)
{
    print = line;
    check_network();
    if (!ofi_trig.kind) {
        say(OFI_WARN, "doorbell", "%s has no deferred work that is to be used "
            "(SHMEM_TRIGGER): a thread does the work of streams", ofi.name);
        check_word();
        return;
    }
    xport_trig->ready();
    check_entries();
    check_doorbell();
    if (ofi_trig_state() == 1) {
        check_counters();
        check_failures();
        check_two_inputs();
    }
    check_word();
}
