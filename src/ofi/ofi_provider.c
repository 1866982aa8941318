/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses a provider: opens the objects of each that ofi_info.c offers, tries
 * it with operations on this PE itself, registers the segments, and keeps the
 * first that works.  ofi_open.c calls it, on one thread, before any operation;
 * later calls are inquiries alone. */
#include "ofi/ofi_provider.h"
#include "ofi/ofi_available.h"
#include "ofi/am/ofi_am_target.h"
#include "ofi/net/ofi_cxi.h"
#include "ofi/net/ofi_local.h"
#include "ofi/net/ofi_rail.h"
#include "ofi/net/ofi_sockets.h"
#include "base/env.h"
#include "base/fault.h"
#include "base/log.h"
#include "rt/rt.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

struct ofi_state ofi;
struct base_lock ofi_lock = LOCK_INIT;
struct ofi_trial *ofi_trial;

/* ---- what is known of providers beyond what they say of themselves ---- */

static bool provider_is(const char *name)
{
    return !strncmp(ofi.info->fabric_attr->prov_name, name, strlen(name));
}

static bool provider_among(const char *const *names)
{
    for (; *names; names++)
        if (strstr(ofi.info->fabric_attr->prov_name, *names))
            return true;
    return false;
}

/* Executed by the target's processor, atomically with its own. */
static bool software_atomics(void)
{
    static const char *const names[] = {
        "ofi_rxm", "ofi_rxd", "sockets", "shm", "efa", NULL
    };

    return provider_among(names);
}

/* A processor does all that comes: atomics by plain stores under a lock of the
 * process, reads when the endpoint is polled. */
static bool is_onload(void)
{
    static const char *const names[] = { "opx", "psm3", NULL };

    return provider_among(names);
}

/* One stream of bytes joins two endpoints, and what comes first on it is done
 * first, though libfabric's attributes do not promise that. */
bool ofi_provider_is_stream(void)
{
    return provider_is("tcp");
}

/* Where a connection breaks, tcp drops a message without a completion and only
 * logs that, and rxm reads the context that such a put has not (1.17 to 2.1).
 */
static bool loses_injected(void)
{
    return provider_is("tcp") ||
           strstr(ofi.info->fabric_attr->prov_name, "ofi_rxm");
}

static void take_stock(void)
{
    const struct fi_info *i = ofi.info;

    /* Earlier ones of opx, where they are short of room, take the flag from a
     * put and read its source later. */
    ofi.inject_put = provider_is("opx") ? 0 : i->tx_attr->inject_size;
    ofi.inject_msg = i->tx_attr->inject_size;
    ofi.loses_injected = loses_injected();
    ofi.numbered = ofi_provider_is_stream();
    ofi.window = i->tx_attr->size < OFI_WINDOW ? i->tx_attr->size : OFI_WINDOW;
    ofi.window = ofi.window > 8 ? ofi.window - 4 : 4;
    ofi.local_keys = ofi.descs = i->domain_attr->mr_mode & FI_MR_LOCAL;
    ofi.contexts = (i->mode | i->tx_attr->mode | i->rx_attr->mode) &
                   (FI_CONTEXT | FI_CONTEXT2);
    ofi.waw_order = ofi_provider_is_stream() ||
                         (i->tx_attr->msg_order & FI_ORDER_WAW &&
                          i->ep_attr->max_order_waw_size >=
                              i->ep_attr->max_msg_size);
    ofi.put_amo_order = ofi.waw_order;
    /* A variable that arrives over a stream may be seen half at any byte. */
    ofi.nonatomic_delivery = provider_is("tcp") || provider_is("sockets");
    ofi.one_outstanding = provider_is("sockets");
    ofi.by_sockets = provider_is("tcp");
    ofi.onload = is_onload();
    snprintf(ofi.name, sizeof ofi.name, "%s on %s", i->fabric_attr->prov_name,
             i->domain_attr->name);
}

/* Layered over messages, its atomics are messages, too: ours wake a sleeper
 * where they arrive, and are a little faster. */
static bool better_by_message(void)
{
    return ofi.onload || (software_atomics() && !provider_is("sockets"));
}

static void choose_atomics(void)
{
    enum { AUTO, NIC, MESSAGE };
    const uint64_t ordered = FI_ORDER_SAW | FI_ORDER_SAS;
    uint64_t order = ofi.info->tx_attr->msg_order;
    bool possible = ofi_amo_all_valid(ofi.eps[0]->ep);

    ofi.nic_amo = possible && env.OFI_AMO != MESSAGE &&
                  (env.OFI_AMO == NIC || !better_by_message());
    ofi.offloads = ofi.nic_amo && provider_is("cxi");
    /* Both ends give the buffer of one that does not fetch back, where its
     * delivery is awaited (1.17 to 2.1): then two have the same one. */
    ofi.fetching = provider_is("shm");
    if (!possible && env.OFI_AMO == NIC)
        log_warn(ERR_NET, "SHMEM_OFI_AMO=nic: provider %s lacks some of the "
                 "atomics; they go by messages", ofi.name);
    /* Then it is a message that must not overtake. */
    ofi.put_msg_order = ofi_provider_is_stream() ||
                        (order & ordered) == ordered;
    if (!ofi.nic_amo)
        ofi.put_amo_order = ofi.put_msg_order;
    ofi.batched_acks = !ofi.nic_amo && ofi_provider_is_stream();
    /* A NIC's are atomic with each other only: then all use them.  Else as the
     * routes were, whatever a provider that did not work has made of them. */
    for (int pe = 0; pe < rt_job.n_pes; pe++)
        if (ofi.nic_amo && !software_atomics())
            memset(xport_routes[pe].amo, 0, sizeof xport_routes[pe].amo);
        else
            memcpy(xport_routes[pe].amo, xport_routes[pe].map,
                   sizeof xport_routes[pe].amo);
}

/* Why the first provider that this machine has does not serve. */
static char reason[640];

__attribute__((format(printf, 1, 2)))
static void note(const char *fmt, ...)
{
    va_list ap;

    if (reason[0])
        return;
    va_start(ap, fmt);
    vsnprintf(reason, sizeof reason, fmt, ap);
    va_end(ap);
}

/* Advice for the user about a step that failed. */
static const char *advice_on(int rc)
{
    static char wish[160];

    if ((rc == -FI_EADDRINUSE || rc == -FI_EADDRNOTAVAIL) &&
        (provider_is("tcp") || provider_is("sockets")))
        return "; are all ports in use that net.ipv4.ip_local_port_range, or "
               "FI_TCP_PORT_LOW_RANGE and FI_TCP_PORT_HIGH_RANGE, allow?";
    if (rc == -FI_EMFILE)
        return "; raise the limit of open files (ulimit -n)";
    if (!*ofi_traffic_class())
        return "";
    snprintf(wish, sizeof wish, "; SHMEM_OFI_TCLASS is %s: ask the "
             "administrator whether this job may use that traffic class",
             ofi_traffic_class());
    return wish;
}

static int register_all(void)
{
    char size[24];
    int rc = 0;

    for (int seg = 0; seg < HEAP_SEGS && !rc; seg++) {
        rc = ofi_segment_open(seg);
        if (rc)
            note("provider %s does not register a segment of %s: %s; is the "
                 "limit of locked memory too low (ulimit -l), or "
                 "SHMEM_SYMMETRIC_SIZE too large?", ofi.name,
                 log_size(size, (double)heap_segs[seg].size),
                 ofi_strerror(rc));
    }
    return rc;
}

/* ---- a provider's objects ---- */

static void close_fid(struct fid *f, const char *what)
{
    int rc = f ? fi_close(f) : 0;

    if (rc)
        log_info(LOG_OFI, "closing %s: %s", what, ofi_strerror(rc));
}

void ofi_provider_close(void)
{
    ofi_rails_close();
    for (int s = 0; s < HEAP_SEGS; s++)
        if (ofi.mr[s])
            close_fid(&ofi.mr[s]->fid, "a segment");
    ofi_grow_close();
    /* Before the buffers that they receive into. */
    for (int i = 0; i < ofi.n_eps; i++)
        ofi_ep_close(ofi.eps[i]);
    ofi_sockets_close();
    ofi_am_target_close();
    ofi_am_close();
    ofi_amo_close();
    ofi_local_close();
    if (ofi.av)
        close_fid(&ofi.av->fid, "the address vector");
    if (ofi.domain)
        close_fid(&ofi.domain->fid, "the domain");
    if (ofi.fabric)
        close_fid(&ofi.fabric->fid, "the fabric");
    if (ofi.sender)
        ofi_lib.fi_freeinfo(ofi.sender);
    if (ofi.info)
        ofi_lib.fi_freeinfo(ofi.info);
    ofi_peers_close();
    memset(&ofi, 0, sizeof ofi);
}

/* CXI refuses where the job has no virtual network of its own. */
static void note_step(const char *step, int rc)
{
    const char *vnis = env_foreign("SLINGSHOT_VNIS");
    const char *services = env_foreign("SLINGSHOT_SVC_IDS");

    log_info(LOG_OFI, "provider %s: %s: %s", ofi.name, step, ofi_strerror(rc));
    if (!provider_is("cxi") || (rc != -FI_ENOSYS && rc != -FI_EACCES &&
                                rc != -FI_ENODATA))
        note("provider %s: %s: %s%s", ofi.name, step, ofi_strerror(rc),
             advice_on(rc));
    else if (!vnis)
        note("provider %s: %s: %s: the launcher gave this job no Slingshot "
             "network (SLINGSHOT_VNIS is not set); with Slurm rerun with srun "
             "--network=single_node_vni,job_vni, or ask the administrator for "
             "a default CXI service", ofi.name, step, ofi_strerror(rc));
    else
        note("provider %s: %s: %s: the Slingshot network of this job does not "
             "open (SLINGSHOT_VNIS is %s, SLINGSHOT_SVC_IDS is %s); ask the "
             "administrator whether the CXI service allows this user",
             ofi.name, step, ofi_strerror(rc), vnis,
             services ? services : "not set");
}

static int open_objects(void)
{
    struct fi_av_attr av = { .type = FI_AV_UNSPEC, .count = ofi_av_count() };
    const char *step = "fi_fabric";
    int rc;

    rc = ofi_lib.fi_fabric(ofi.info->fabric_attr, &ofi.fabric, NULL);
    if (rc)
        goto failed;
    step = "fi_domain";
    rc = fi_domain(ofi.fabric, ofi.info, &ofi.domain, NULL);
    if (rc)
        goto failed;
    if (ofi_cxi_is(ofi.info))
        ofi.descs |= ofi_cxi_descs(ofi.domain);
    step = "fi_av_open";
    rc = fi_av_open(ofi.domain, &av, &ofi.av, NULL);
    if (rc)
        goto failed;
    step = "an endpoint";
    rc = ofi_ep_open(&ofi.eps[0], true);
    if (rc)
        goto failed;
    ofi.n_eps = 1;
    ofi.wait_fd = ofi.eps[0]->fd >= 0;
    return 0;
failed:
    note_step(step, rc);
    return rc;
}

/* ---- the test of a provider: with this PE itself ---- */

/* Nothing else is under way yet. */
static int await_entry(void)
{
    const struct timespec pause = { .tv_nsec = 100000 };
    OFI_GROWS(fi_cq_err_entry) err = { 0 };
    struct fi_cq_msg_entry entry;
    ssize_t n;

    for (int i = 0; i < 50000; i++) {
        n = fi_cq_read(ofi.eps[0]->cq, &entry, 1);
        if (n == 1)
            return 0;
        if (n == -FI_EAVAIL && fi_cq_readerr(ofi.eps[0]->cq, &err.a, 0) >= 0)
            return -err.a.err;
        if (n != -FI_EAGAIN)
            return (int)n;
        if (i > 1000)
            nanosleep(&pause, NULL);
    }
    return -FI_ETIMEDOUT;
}

/* One operation on the test's variables of this PE, by its own address. */
static int test_one(int k, fi_addr_t self, uint64_t *local, uint64_t off)
{
    bool virtual = ofi.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR;
    uint64_t addr = virtual ? xport_routes[rt_job.pe].map[HEAP_HOST] : 0;
    uint64_t key = fi_mr_key(ofi.mr[HEAP_HOST]);
    void *desc = ofi.desc[HEAP_HOST];
    struct fid_ep *ep = ofi.eps[0]->ep;
    const struct timespec pause = { .tv_nsec = 100000 };
    struct iovec iov = { local, 8 };
    struct fi_rma_iov remote = { addr + off, 8, key };
    static struct fi_context2 room;     /* the provider's, until the end */
    struct fi_msg_rma m = { .msg_iov = &iov, .desc = &desc, .iov_count = 1,
        .addr = self, .rma_iov = &remote, .rma_iov_count = 1,
        .context = &room };
    long rc = -FI_EAGAIN;

    addr += off;
    /* The connection with itself is first to be made. */
    for (int tries = 0; rc == -FI_EAGAIN && tries < 50000; tries++) {
        rc = k == 0 ? fi_writemsg(ep, &m, FI_COMPLETION | FI_DELIVERY_COMPLETE)
           : k == 1 ? fi_read(ep, local, 8, desc, self, addr, key, &room)
                    : fi_fetch_atomic(ep, local, 1, desc, local + 1, desc,
                                      self, addr, key, FI_UINT64, FI_SUM,
                                      &room);
        if (rc == -FI_EAGAIN)
            fi_cq_read(ofi.eps[0]->cq, NULL, 0);
        if (rc == -FI_EAGAIN && tries > 1000)
            nanosleep(&pause, NULL);
    }
    return rc ? (int)rc : await_entry();
}

static int test_self(void)
{
    uint64_t off = (uintptr_t)&ofi_trial->put - heap_segs[HEAP_HOST].base;
    uint64_t add = off + offsetof(struct ofi_trial, add);
    uint8_t name[512];
    size_t len = sizeof name;
    fi_addr_t self;
    int rc;

    rc = fi_getname(&ofi.eps[0]->ep->fid, name, &len);
    if (rc)
        return rc;
    if (fi_av_insert(ofi.av, name, 1, &self, 0, NULL) != 1)
        return -FI_EADDRNOTAVAIL;
    ofi_trial->put = 0;
    ofi_trial->add = 5;
    ofi_trial->back[0] = 0x1122334455667788;
    rc = test_one(0, self, ofi_trial->back, off);
    ofi_trial->back[0] = 0;
    if (!rc)
        rc = test_one(1, self, ofi_trial->back, off);
    if (!rc && (ofi_trial->put != 0x1122334455667788 ||
                ofi_trial->back[0] != ofi_trial->put))
        return -FI_EIO;
    if (rc || !ofi.nic_amo)
        return rc;
    ofi_trial->back[0] = 7;
    rc = test_one(2, self, ofi_trial->back, add);
    if (!rc && (ofi_trial->add != 12 || ofi_trial->back[1] != 5))
        return -FI_EIO;
    return rc;
}

/* When a PE contacts this one, shm of libfabric since 1.18 (seen: 2.1) writes into
 * every endpoint that has an address vector.  One that is not enabled yet has no
 * memory there, and the polling thread crashes; so contexts share the first. */
static int most_endpoints(void)
{
    if (provider_is("shm") && ofi_lib.fi_version() >= FI_VERSION(1, 18))
        return 1;
    return 1 + (int)env.OFI_ENDPOINTS;
}

static int try_provider(void)
{
    int rc;

    take_stock();
    ofi.most_eps = most_endpoints();
    ofi_set_traffic_class(ofi.info);
    rc = ofi_cxi_sender(ofi.info, &ofi.sender);
    if (!rc)
        rc = open_objects();
    if (!rc)
        rc = ofi_local_open();
    if (!rc)
        rc = ofi_amo_open();
    if (!rc)
        rc = register_all();
    if (rc)
        return rc;
    choose_atomics();
    rc = fault_hit(FAULT_OFI_TEST) ? -FI_EIO : test_self();
    if (rc)
        note_step("a put, a get or an atomic to itself", rc);
    return rc;
}

/* ---- the choice ---- */

/* ": SHMEM_OFI_PROVIDER is x, SHMEM_OFI_DOMAIN is y": settings that narrow the
 * choice. */
static const char *wishes(char *out, size_t size)
{
    const char *const set[][2] = {
        { "PROVIDER", env.OFI_PROVIDER }, { "DOMAIN", env.OFI_DOMAIN },
        { "FABRIC", env.OFI_FABRIC }
    };
    size_t n = 0;

    out[0] = '\0';
    for (int i = 0; i < 3 && n < size; i++)
        if (set[i][1][0])
            n += (size_t)snprintf(out + n, size - n, "%s SHMEM_OFI_%s is %s",
                                  n ? "," : ":", set[i][0], set[i][1]);
    return out;
}

int ofi_provider_choose(char *why, size_t size)
{
    bool hmem = ofi_wants_hmem();
    struct fi_info *info;
    char wish[256], has[384];
    const char *limit;
    int k;

    reason[0] = '\0';
    for (k = 0; (k = ofi_info_choose(k, hmem, &info, why, size)) >= 0; k++) {
        ofi.info = info;
        if (!try_provider()) {
            /* A faster network is there and does not work. */
            if (reason[0] && rt_job.pe == 0)
                log_warn(ERR_NET, "%s; %s is used in its place", reason,
                         ofi.name);
            ofi_available_warn(ofi.info);
            return 0;
        }
        /* The same once more, asked for less. */
        if (info->caps & FI_HMEM) {
            hmem = false;
            k--;
        } else {
            hmem = ofi_wants_hmem();
        }
        ofi_provider_close();
    }
    if (k == -EINVAL)
        return k;
    limit = env_foreign("FI_PROVIDER");
    wishes(wish, sizeof wish);
    log_error(ERR_NET, "%s libfabric provider "
              "joins them%s%s%s%s%s%s%s; SHMEM_LOG=info:ofi says what each "
              "lacks, %s",
              rt_job.n_local < rt_job.n_pes
              ? "PEs are on several nodes and no" : "no",
              wish, reason[0] ? ": " : "", reason,
              reason[0] ? "" : ofi_available_explain(has, sizeof has),
              limit ? "; FI_PROVIDER is " : "", limit ? limit : "",
              limit ? ", which hides all others" : "",
              wish[0] ? "correct or unset the SHMEM_OFI_ variables"
                      : "SHMEM_OFI_PROVIDER names one");
    return -EHOSTUNREACH;
}
