/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens and closes endpoints, and the contexts that share them.  Callers are
 * xport_ops and the start of the network; no operation comes by here, but a
 * completion finds its context by ofi_ctx_at(). */
#include "ofi/net/ofi_int.h"
#include "ofi/net/ofi_sockets.h"
#include "base/env.h"
#include "base/fault.h"
#include "base/fd.h"
#include "base/log.h"
#include "rt/rt.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Contexts by index, in blocks: a completion finds its context without a lock,
 * and blocks are never moved. */
enum { BLOCK = 256, BLOCKS = 4096, CLOSE_POLLS = 1000 };
static struct xport_ctx **blocks[BLOCKS];
static uint32_t n_ctxs GUARDED_BY(ofi_lock);
static uint32_t *free_indices GUARDED_BY(ofi_lock);
static uint32_t n_free GUARDED_BY(ofi_lock), room_free GUARDED_BY(ofi_lock);

/* ---- endpoints ---- */

/* For what comes, which many an endpoint need not have. */
static int open_rx(struct ofi_ep *e, bool with_fd)
{
    OFI_GROWS(fi_cq_attr) grows = { .a = {
        .format = FI_CQ_FORMAT_MSG,
        .size = ofi_entries(ofi.info->rx_attr->size),
        .wait_obj = with_fd ? FI_WAIT_FD : FI_WAIT_NONE
    } };
    int rc = fi_cq_open(ofi.domain, &grows.a, &e->rx, NULL);

    if (rc && with_fd) {        /* a bounded sleep does it, too */
        grows.a.wait_obj = FI_WAIT_NONE;
        rc = fi_cq_open(ofi.domain, &grows.a, &e->rx, NULL);
    }
    if (!rc && grows.a.wait_obj == FI_WAIT_FD &&
        fi_control(&e->rx->fid, FI_GETWAIT, &e->fd))
        e->fd = -1;
    return rc ? rc : fi_ep_bind(e->ep, &e->rx->fid, FI_RECV);
}

static int open_parts(struct ofi_ep *e, struct fi_info *info,
                      bool with_fd)
{
    OFI_GROWS(fi_cq_attr) grows = { .a = {
        .format = FI_CQ_FORMAT_MSG, .size = ofi_entries(info->tx_attr->size),
        .wait_obj = FI_WAIT_NONE
    } };
    int rc;

    e->connected = calloc((size_t)rt_job.n_pes / 64 + 1, sizeof *e->connected);
    if (ofi.numbered)
        e->numbers = calloc((size_t)rt_job.n_pes, sizeof *e->numbers);
    rc = !e->connected || (ofi.numbered && !e->numbers) ? -ENOMEM
         : fault_hit(FAULT_OFI_EP) ? -FI_ENOSPC
         : fi_endpoint(ofi.domain, info, &e->ep, NULL);
    if (!rc)
        rc = fi_cq_open(ofi.domain, &grows.a, &e->cq, NULL);
    if (!rc)
        rc = fi_ep_bind(e->ep, &ofi.av->fid, 0);
    if (!rc)
        rc = fi_ep_bind(e->ep, &e->cq->fid, FI_TRANSMIT);
    if (!rc && info->caps & FI_RECV)
        rc = open_rx(e, with_fd);
    return rc ? rc : fi_enable(e->ep);
}

static int ep_open(struct ofi_ep **out, struct fi_info *info, bool with_fd)
{
    struct ofi_ep *e = aligned_alloc(64, sizeof *e);
    int rc;

    if (!e)
        return -ENOMEM;
    memset(e, 0, sizeof *e);
    e->fd = -1;
    e->numbers_lock = (struct base_lock)LOCK_INIT;
    rc = open_parts(e, info, with_fd);
    if (rc)
        ofi_ep_close(e);
    else
        *out = e;
    return rc;
}

/* The one that receives.  Its descriptor is a set of the provider's sockets, or
 * of the provider's making where they are not found. */
static int receiver_open(struct ofi_ep **out)
{
    uint8_t name[512];
    size_t len = sizeof name;
    int rc;

    if (env.OFI_EVENTS && ofi.by_sockets) {
        rc = ep_open(out, ofi.info, false);
        if (rc)
            return rc;
        if (!fi_getname(&(*out)->ep->fid, name, &len))
            (*out)->fd = ofi_sockets_open(name, len);
        if ((*out)->fd >= 0)
            return 0;
        ofi_ep_close(*out);
    }
    return ep_open(out, ofi.info, env.OFI_EVENTS);
}

int ofi_ep_open(struct ofi_ep **out, bool receives)
{
    int held = fd_hold(), rc;

    rc = receives ? receiver_open(out) : ep_open(out, ofi.sender, false);
    fd_release(held);
    return rc;
}

void ofi_ep_close(struct ofi_ep *e)
{
    if (e->ep)
        fi_close(&e->ep->fid);
    if (e->rx)
        fi_close(&e->rx->fid);
    if (e->cq)
        fi_close(&e->cq->fid);
    free(e->numbers);
    free(e->connected);
    free(e);
}

/* The first, on which nothing of the library's own overtakes another; or, if
 * it is to be a context's own, a new one, or the one with the fewest contexts
 * if there may be no more. */
static struct ofi_ep *take_ep(bool own) REQUIRES(ofi_lock)
{
    struct ofi_ep *e = ofi.eps[0];
    int rc;

    for (int i = 1; own && i < ofi.n_eps; i++)
        if (ofi.eps[i]->users < e->users)
            e = ofi.eps[i];
    if (own && e->users && ofi.n_eps < ofi.most_eps) {
        rc = ofi_ep_open(&e, false);
        if (!rc) {
            e->index = (uint32_t)ofi.n_eps;
            ofi.eps[ofi.n_eps] = e;
            /* release: the progress thread reads the list without a lock. */
            __atomic_store_n(&ofi.n_eps, ofi.n_eps + 1, __ATOMIC_RELEASE);
        } else {
            log_warn(ERR_CTX, "provider %s opens no more than %d endpoints "
                     "(%s): contexts share them from here on", ofi.name,
                     ofi.n_eps, ofi_strerror(rc));
            ofi.most_eps = ofi.n_eps;
            e = ofi.eps[ofi.n_eps - 1];
        }
    } else if (own && e->users == 1) {
        log_info(LOG_OFI, "more contexts than %d endpoints: they share them",
                 ofi.n_eps);
    }
    e->users++;
    return e;
}

/* ---- contexts ---- */

struct xport_ctx *ofi_ctx_at(uint32_t index)
{
    return blocks[index / BLOCK][index % BLOCK];
}

static int take_index(struct xport_ctx *f) REQUIRES(ofi_lock)
{
    uint32_t i = n_free ? free_indices[--n_free] : n_ctxs;

    if (i / BLOCK >= BLOCKS)
        return -ENOSPC;
    if (!blocks[i / BLOCK])
        blocks[i / BLOCK] = calloc(BLOCK, sizeof *blocks[0]);
    if (!blocks[i / BLOCK])
        return -ENOMEM;
    if (i == n_ctxs)
        n_ctxs++;
    f->index = i;
    blocks[i / BLOCK][i % BLOCK] = f;
    return 0;
}

int ofi_ctx_open(struct xport_ctx **out, bool own)
{
    struct xport_ctx *f = aligned_alloc(64, sizeof *f);
    int rc;

    if (!f)
        return -ENOMEM;
    memset(f, 0, sizeof *f);
    f->ack_lock = (struct base_lock)LOCK_INIT;
    lock_acquire(&ofi_lock);
    rc = take_index(f);
    if (!rc)
        f->ep = take_ep(own);
    lock_release(&ofi_lock);
    if (rc) {
        free(f);
        return rc;
    }
    *out = f;
    return 0;
}

void ofi_ctx_set_polled(struct xport_ctx *f)
{
    f->polled = true;
}

void ofi_ctx_continue_on_error(struct xport_ctx *f, xport_failed *fn,
                               void *arg)
{
    f->failed_arg = arg;
    f->failed = fn;
}

static void give_index(uint32_t i) REQUIRES(ofi_lock)
{
    uint32_t *more;

    if (n_free == room_free) {
        more = realloc(free_indices, (room_free * 2 + 64) * sizeof *more);
        if (!more)
            return;             /* the index stays unused */
        free_indices = more;
        room_free = room_free * 2 + 64;
    }
    free_indices[n_free++] = i;
}

/* Messages of requests that were answered, or given up, may be on their way
 * still.  False: to a PE that takes none, and their ends come later. */
static bool sends_ended(struct xport_ctx *f)
{
    for (int i = 0; i < CLOSE_POLLS; i++) {
        /* acquire: that was its last use. */
        if (!__atomic_load_n(&f->unsent, __ATOMIC_ACQUIRE))
            return true;
        ofi_ep_poll(f->ep);
        sched_yield();
    }
    return false;
}

void ofi_ctx_close(struct xport_ctx *f)
{
    /* Another thread may have posted a part whose end was seen already, and be
     * about to count it (ofi_stage_initiator.c).  acquire: that was its last
     * use. */
    while (__atomic_load_n(&f->sent, __ATOMIC_ACQUIRE) !=
           __atomic_load_n(&f->staged, __ATOMIC_RELAXED))
        sched_yield();
    if (unlikely(!sends_ended(f))) {       /* it stays for them */
        ofi_op_errors_end(f);
        return;
    }
    lock_acquire(&ofi_lock);
    f->ep->users--;
    give_index(f->index);
    lock_release(&ofi_lock);
    free(f);
}
