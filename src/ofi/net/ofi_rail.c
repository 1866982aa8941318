/* SPDX-License-Identifier: BSD-3-Clause */
/* The further NICs of this PE: their objects, their queues, their part in the
 * growth of the heap.  ofi_open.c opens them, ofi_grow.c registers memory with
 * them, ofi_work.c polls them; ofi_stripe.c puts and gets over them. */
#include "ofi/net/ofi_rail.h"
#include "ofi/net/ofi_cxi.h"
#include "ofi/net/ofi_sockets.h"
#include "base/env.h"
#include "base/fault.h"
#include "base/log.h"
#include "rt/rt.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* As in ofi_grow.c: regions that were smaller stay. */
enum { MOST_GROWN = 96 };
static struct fid_mr *older[OFI_RAILS - 1][MOST_GROWN];
static struct fid_mr *next[OFI_RAILS - 1];
static int n_older;

/* ---- objects ---- */

static void close_fid(struct fid *f)
{
    if (f)
        fi_close(f);
}

static void rail_close(struct ofi_rail *r)
{
    for (int s = 0; s < OFI_RAIL_SEGS; s++)
        if (r->mr[s])
            fi_close(&r->mr[s]->fid);
    if (r->scratch_mr)
        fi_close(&r->scratch_mr->fid);
    if (r->ep) {
        close_fid(r->ep->ep ? &r->ep->ep->fid : NULL);
        close_fid(r->ep->cq ? &r->ep->cq->fid : NULL);
        free(r->ep);
    }
    close_fid(r->av ? &r->av->fid : NULL);
    close_fid(r->domain ? &r->domain->fid : NULL);
    close_fid(r->fabric ? &r->fabric->fid : NULL);
    if (r->info)
        ofi_lib.fi_freeinfo(r->info);
    memset(r, 0, sizeof *r);
}

/* One queue is for all: peers' operations leave no entry, but polling the queue
 * advances them, and the queue's descriptor wakes the progress thread. */
static int open_queue(struct ofi_rail *r)
{
    bool with_fd = env.OFI_EVENTS && !ofi_sockets_watched();
    OFI_GROWS(fi_cq_attr) grows = { .a = {
        .format = FI_CQ_FORMAT_MSG,
        .size = ofi_entries(r->info->tx_attr->size),
        .wait_obj = with_fd ? FI_WAIT_FD : FI_WAIT_NONE
    } };
    int rc = fi_cq_open(r->domain, &grows.a, &r->ep->cq, NULL);

    if (rc && with_fd) {
        grows.a.wait_obj = FI_WAIT_NONE;
        rc = fi_cq_open(r->domain, &grows.a, &r->ep->cq, NULL);
    }
    r->ep->fd = -1;
    if (!rc && grows.a.wait_obj == FI_WAIT_FD &&
        fi_control(&r->ep->cq->fid, FI_GETWAIT, &r->ep->fd))
        r->ep->fd = -1;
    return rc;
}

static int open_endpoint(struct ofi_rail *r)
{
    uint64_t both = FI_TRANSMIT | (r->info->caps & FI_RECV);
    int rc;

    r->ep = aligned_alloc(64, sizeof *r->ep);
    if (!r->ep)
        return -ENOMEM;
    memset(r->ep, 0, sizeof *r->ep);
    rc = fi_endpoint(r->domain, r->info, &r->ep->ep, NULL);
    if (!rc)
        rc = open_queue(r);
    if (!rc)
        rc = fi_ep_bind(r->ep->ep, &r->av->fid, 0);
    if (!rc)
        rc = fi_ep_bind(r->ep->ep, &r->ep->cq->fid, both);
    return rc ? rc : fi_enable(r->ep->ep);
}

/* ---- memory ---- */

static int region_open(struct ofi_rail *r, void *base, size_t size, int slot,
                       struct fid_mr **out)
{
    uint64_t mode = r->info->domain_attr->mr_mode;
    uint64_t access = FI_REMOTE_READ | FI_REMOTE_WRITE | FI_READ | FI_WRITE;
    uint64_t key = mode & FI_MR_PROV_KEY ? 0 : ofi_new_key(slot);
    struct fid_mr *mr;
    int rc;

    rc = fault_hit(FAULT_OFI_MR) ? -FI_ENOMEM
         : fi_mr_reg(r->domain, base, size, access, 0, key, 0, &mr, NULL);
    if (rc)
        return rc;
    if (mode & FI_MR_ENDPOINT) {
        rc = fi_mr_bind(mr, &r->ep->ep->fid, 0);
        if (!rc)
            rc = fi_mr_enable(mr);
    }
    if (rc)
        fi_close(&mr->fid);
    else
        *out = mr;
    return rc;
}

static int register_all(struct ofi_rail *r)
{
    int rc = 0;

    for (int s = 0; s < OFI_RAIL_SEGS && !rc; s++) {
        void *base = (void *)xport_routes[rt_job.pe].map[s];
        size_t size = s == HEAP_HOST ? ofi.registered_size : heap_segs[s].size;

        if (!base || !size)
            continue;
        rc = region_open(r, base, size, s, &r->mr[s]);
        if (!rc)
            r->desc[s] = fi_mr_desc(r->mr[s]);
    }
    if (!rc && ofi.local_keys)
        rc = region_open(r, &r->scratch, sizeof r->scratch, OFI_STAGE_KEY,
                         &r->scratch_mr);
    return rc;
}

int ofi_rails_register(size_t size, const char **nic)
{
    void *base = (void *)xport_routes[rt_job.pe].map[HEAP_HOST];
    int rc = 0;

    for (int i = 0; i < ofi_n_rails && !rc; i++) {
        rc = -FI_ENOKEY;
        /* Two random keys may be the same one. */
        for (int tries = 0; tries < 4 && rc == -FI_ENOKEY; tries++)
            rc = region_open(&ofi_rails[i], base, size, HEAP_HOST, &next[i]);
        *nic = ofi_rails[i].info->domain_attr->name;
    }
    if (rc)
        ofi_rails_register_cancel();
    return rc;
}

void ofi_rails_register_cancel(void)
{
    for (int i = 0; i < ofi_n_rails; i++) {
        if (next[i])
            fi_close(&next[i]->fid);
        next[i] = NULL;
    }
}

int ofi_rails_register_commit(int growth)
{
    if (!ofi_n_rails)
        return 0;
    lock_acquire(&ofi_lock);
    for (int i = 0; i < ofi_n_rails; i++) {
        struct ofi_rail *r = &ofi_rails[i];

        older[i][n_older] = r->mr[HEAP_HOST];
        /* release: pairs with ofi_stripe.c, which takes the old one else, and
         * that stays valid. */
        __atomic_store_n(&r->mr[HEAP_HOST], next[i], __ATOMIC_RELEASE);
        __atomic_store_n(&r->desc[HEAP_HOST], fi_mr_desc(next[i]),
                         __ATOMIC_RELEASE);
        next[i] = NULL;
    }
    n_older++;
    lock_release(&ofi_lock);
    return ofi_rail_publish_keys(growth);
}

int ofi_rails_fetch_keys(int growth)
{
    return ofi_n_rails ? ofi_rail_fetch_keys(growth) : 0;
}

/* ---- the test of a rail: with this PE itself ---- */

static int await_entry(struct fid_cq *cq)
{
    const struct timespec pause = { .tv_nsec = 100000 };
    OFI_GROWS(fi_cq_err_entry) err = { 0 };
    struct fi_cq_msg_entry entry;
    ssize_t n;

    for (int i = 0; i < 50000; i++) {
        n = fi_cq_read(cq, &entry, 1);
        if (n == 1)
            return 0;
        if (n == -FI_EAVAIL && fi_cq_readerr(cq, &err.a, 0) >= 0)
            return -err.a.err;
        if (n != -FI_EAGAIN)
            return (int)n;
        if (i > 1000)
            nanosleep(&pause, NULL);
    }
    return -FI_ETIMEDOUT;
}

static int transfer(struct ofi_rail *r, bool put, fi_addr_t self, uint64_t off)
{
    const struct timespec pause = { .tv_nsec = 100000 };
    bool virtual = r->info->domain_attr->mr_mode & FI_MR_VIRT_ADDR;
    uint64_t base = virtual ? xport_routes[rt_job.pe].map[HEAP_HOST] : 0;
    void *desc = r->scratch_mr ? fi_mr_desc(r->scratch_mr) : NULL;
    static struct fi_context2 room;     /* the provider's, until the end */
    struct iovec iov = { &r->scratch, sizeof r->scratch };
    struct fi_rma_iov remote = { base + off, sizeof r->scratch,
                              fi_mr_key(r->mr[HEAP_HOST]) };
    struct fi_msg_rma m = {
        .msg_iov = &iov, .desc = &desc, .iov_count = 1, .addr = self,
        .rma_iov = &remote, .rma_iov_count = 1, .context = &room
    };
    long rc = -FI_EAGAIN;

    for (int tries = 0; rc == -FI_EAGAIN && tries < 50000; tries++) {
        rc = put ? fi_writemsg(r->ep->ep, &m,
                               FI_COMPLETION | FI_DELIVERY_COMPLETE)
                 : fi_readmsg(r->ep->ep, &m, FI_COMPLETION);
        if (rc == -FI_EAGAIN)
            fi_cq_read(r->ep->cq, NULL, 0);
        if (rc == -FI_EAGAIN && tries > 1000)
            nanosleep(&pause, NULL);
    }
    return rc ? (int)rc : await_entry(r->ep->cq);
}

static int test_self(struct ofi_rail *r, uint64_t *word)
{
    const uint64_t mark = 0x1122334455667788;
    uint64_t off = (uintptr_t)word - heap_segs[HEAP_HOST].base;
    uint8_t name[512];
    size_t len = sizeof name;
    fi_addr_t self;
    int rc;

    rc = fi_getname(&r->ep->ep->fid, name, &len);
    if (rc)
        return rc;
    ofi_sockets_note(name, len);
    if (fi_av_insert(r->av, name, 1, &self, 0, NULL) != 1)
        return -FI_EADDRNOTAVAIL;
    *word = 0;
    r->scratch = mark;
    rc = transfer(r, true, self, off);
    r->scratch = 0;
    if (!rc)
        rc = transfer(r, false, self, off);
    return rc ? rc : *word == mark && r->scratch == mark ? 0 : -FI_EIO;
}

/* ---- opening ---- */

static int rail_open(struct ofi_rail *r, struct fi_info *info, uint64_t *word,
                     const char **step)
{
    struct fi_av_attr av = { .type = FI_AV_UNSPEC, .count = ofi_av_count() };
    int rc;

    *step = "its description";
    ofi_set_traffic_class(info);
    rc = ofi_cxi_sender(info, &r->info);        /* it gets no message */
    if (rc)
        return rc;
    *step = "fi_fabric";
    rc = fault_hit(FAULT_OFI_RAIL) ? -FI_ENODEV
         : ofi_lib.fi_fabric(info->fabric_attr, &r->fabric, NULL);
    if (rc)
        return rc;
    *step = "fi_domain";
    rc = fi_domain(r->fabric, info, &r->domain, NULL);
    if (rc)
        return rc;
    if (ofi_cxi_is(info))
        ofi_cxi_descs(r->domain);
    *step = "fi_av_open";
    rc = fi_av_open(r->domain, &av, &r->av, NULL);
    if (rc)
        return rc;
    *step = "an endpoint";
    rc = open_endpoint(r);
    if (rc)
        return rc;
    *step = "registration of the heap";
    rc = register_all(r);
    if (rc)
        return rc;
    *step = "a put and a get to itself";
    return test_self(r, word);
}

static void open_all(uint64_t *word)
{
    struct ofi_rail *r = ofi_rails;
    const char *step = "";
    int rc;

    for (struct fi_info *i = ofi.info->next; i; i = i->next) {
        rc = rail_open(r, i, word, &step);
        if (!rc) {
            /* The progress thread sleeps on all descriptors, or on none. */
            if (!ofi_sockets_watched())
                ofi.wait_fd = ofi.wait_fd && r->ep->fd >= 0;
            r++;
            continue;
        }
        log_warn(ERR_NET, "SHMEM_OFI_RAILS: provider %s does not work on %s: "
                 "%s: %s; this PE goes on without that NIC", ofi.name,
                 i->domain_attr->name, step, ofi_strerror(rc));
        rail_close(r);
    }
    ofi_n_rails = (int)(r - ofi_rails);
}

/* Every PE of a node would say the same. */
static void warn_few(int found)
{
    if (found >= env.OFI_RAILS || rt_job.local)
        return;
    log_warn(ERR_NET, "SHMEM_OFI_RAILS is %ld, but provider %s has %d NIC%s "
             "here%s", (long)env.OFI_RAILS, ofi.name, found,
             found == 1 ? "" : "s", rt_job.one_machine && !*env.OFI_DOMAIN
             ? " between the nodes that --ppn makes of one machine "
               "(SHMEM_OFI_DOMAIN names others)" : "");
}

void ofi_rails_open(uint64_t *word)
{
    int found = 1;

    for (struct fi_info *i = ofi.info->next; i; i = i->next)
        found++;
    warn_few(found);
    if (found == 1)
        return;
    open_all(word);
    if (ofi_n_rails && !ofi_stripe_open() && !ofi_rail_peers_open())
        ofi_stripe_from = env.OFI_RAIL_THRESHOLD;
    else
        ofi_rails_close();
}

void ofi_rails_close(void)
{
    ofi_stripe_from = SIZE_MAX;
    for (int i = 0; i < ofi_n_rails; i++) {
        for (int k = 0; k < n_older; k++)
            close_fid(older[i][k] ? &older[i][k]->fid : NULL);
        close_fid(next[i] ? &next[i]->fid : NULL);
        next[i] = NULL;
        rail_close(&ofi_rails[i]);
    }
    n_older = 0;
    ofi_n_rails = 0;
    ofi_stripe_close();
    ofi_rail_peers_close();
}

/* ---- queues ---- */

/* A peer's stripe may need this PE's processor, but a look asks the system. */
int ofi_rails_poll(void)
{
    enum { OFTEN = 4 };
    static unsigned turns;      /* not exact when threads race */
    unsigned turn = __atomic_load_n(&turns, __ATOMIC_RELAXED) + 1;
    int n = 0;

    __atomic_store_n(&turns, turn, __ATOMIC_RELAXED);
    for (int i = 0; i < ofi_n_rails; i++)
        if (turn % OFTEN == 0 || ofi_ep_is_busy(ofi_rails[i].ep))
            n += ofi_ep_poll(ofi_rails[i].ep);
    ofi_stripe_retry();
    return n;
}
