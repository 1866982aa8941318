/* SPDX-License-Identifier: BSD-3-Clause */
/* Endpoints and the contexts that share them; completions and waiting. */
#include "ofi/net/ofi_rail.h"
#include "ofi/stage/ofi_stage_pool.h"
#include "ofi/net/ofi_local.h"
#include "base/clock.h"
#include "ofi/am/ofi_am_target.h"
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
#include <time.h>

enum { ENTRIES = 16,            /* read from a queue at a time */
       OFTEN = 4, SELDOM = 16 };

/* Contexts by index, in blocks: a completion finds its context without a lock,
 * and blocks are never moved. */
enum { BLOCK = 256, BLOCKS = 4096 };
static struct xport_ep **blocks[BLOCKS];
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
    rc = !e->connected ? -ENOMEM : fault_hit(FAULT_OFI_EP) ? -FI_ENOSPC
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

static int ep_open(struct ofi_ep **out, bool receives)
{
    struct ofi_ep *e = aligned_alloc(64, sizeof *e);
    int rc;

    if (!e)
        return -ENOMEM;
    memset(e, 0, sizeof *e);
    e->fd = -1;
    rc = open_parts(e, receives ? ofi.info : ofi.sender,
                    receives && env.OFI_EVENTS);
    if (rc)
        ofi_ep_close(e);
    else
        *out = e;
    return rc;
}

int ofi_ep_open(struct ofi_ep **out, bool receives)
{
    int held = fd_hold(), rc = ep_open(out, receives);

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
            ofi.eps[ofi.n_eps] = e;
            /* release: the agent goes through the list without the lock. */
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

struct xport_ep *ofi_ctx_at(uint32_t index)
{
    return blocks[index / BLOCK][index % BLOCK];
}

static int take_index(struct xport_ep *f) REQUIRES(ofi_lock)
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

int ofi_ctx_open(struct xport_ep **out, bool own)
{
    struct xport_ep *f = aligned_alloc(64, sizeof *f);
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

void ofi_ctx_set_polled(struct xport_ep *f)
{
    f->polled = true;
}

void ofi_ctx_continue_on_error(struct xport_ep *f, xport_failed *fn,
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

void ofi_ctx_close(struct xport_ep *f)
{
    /* Another thread may have posted a part whose end was seen already, and be
     * about to count it (ofi_stage_initiator.c).  acquire: that was its last
     * use. */
    while (__atomic_load_n(&f->sent, __ATOMIC_ACQUIRE) !=
           __atomic_load_n(&f->staged, __ATOMIC_RELAXED))
        sched_yield();
    lock_acquire(&ofi_lock);
    f->ep->users--;
    give_index(f->index);
    lock_release(&ofi_lock);
    free(f);
}

/* ---- completions ---- */

/* Was it an operation of ours, rather than a message that came? */
static bool complete(void *context, size_t len)
{
    uint64_t tag = (uint64_t)(uintptr_t)context;
    struct xport_ep *f;
    struct ofi_op *op = context;

    if (tag & 1) {
        f = ofi_ctx_at((uint32_t)(tag >> 32));
        ofi_ctx_completed(f);
        return true;
    }
    switch (op->kind) {
    case OFI_OP_WAITED:
        /* release: what came is there; pairs with ofi_wait_op. */
        __atomic_store_n(&op->state, OFI_OP_DONE, __ATOMIC_RELEASE);
        break;
    case OFI_OP_BOUNCE:
        ofi_bounce_done(op);
        break;
    case OFI_OP_AMO:
        ofi_amo_done(op);
        break;
    case OFI_OP_SEND:
        ofi_am_sent(op);
        break;
    case OFI_OP_REPLY:
        ofi_am_target_replied(op);
        break;
    case OFI_OP_FRAG:
        ofi_frag_done(op);
        break;
    case OFI_OP_PUT_THEN_AMO:
        ofi_amo_put_done(op);
        break;
    case OFI_OP_STRIPE:
        ofi_stripe_done(op);
        break;
    case OFI_OP_RAIL_PROBE:
        ofi_rail_probe_done(op);
        break;
    case OFI_OP_COUNTED:
        ofi_counted_done(op);
        break;
    case OFI_OP_FETCH:
        ofi_fetched_done(op, true);
        break;
    case OFI_OP_TEMP_MR:
        ofi_temp_mr_done(op);
        break;
    case OFI_OP_RECV:
        ofi_am_target_received(op, len);
        return false;
    }
    return true;
}

/* The same of one that failed, of a context that forgives. */
static void complete_bad(void *context)
{
    struct ofi_op *op = context;

    if ((uint64_t)(uintptr_t)context & 1) {
        complete(context, 0);
        return;
    }
    switch (op->kind) {
    case OFI_OP_WAITED:
        __atomic_store_n(&op->state, OFI_OP_FAILED, __ATOMIC_RELEASE);
        break;
    case OFI_OP_AMO:
        ofi_amo_failed(op);
        break;
    case OFI_OP_SEND:
        ofi_am_failed(op);
        break;
    case OFI_OP_FRAG:
        ofi_frag_failed(op);
        break;
    case OFI_OP_PUT_THEN_AMO:
        ofi_amo_put_failed(op);
        break;
    case OFI_OP_STRIPE:
        ofi_stripe_failed(op);
        break;
    case OFI_OP_RAIL_PROBE:
        ofi_rail_probe_failed(op);
        break;
    case OFI_OP_FETCH:
        ofi_fetched_done(op, false);
        break;
    default:
        complete(context, 0);
        break;
    }
}

void ofi_post_failed(struct xport_ep *f, void *context)
{
    __atomic_fetch_sub(&f->ep->in_flight, 1, __ATOMIC_RELAXED);
    complete_bad(context);
}

/* Is nothing, or nothing more, to be said of it? */
static bool error_is_reported(void *context, int err, char *text, size_t size)
{
    struct ofi_op *op = context;

    if (!op || (uint64_t)(uintptr_t)context & 1)
        return false;
    if (op->kind == OFI_OP_RAIL_PROBE)
        ofi_rail_probe_warn(op, err);
    return op->kind == OFI_OP_RAIL_PROBE ||
           (op->kind == OFI_OP_STRIPE &&
            ofi_stripe_error_reported(op, text, size));
}

static void take_error(struct fid_cq *cq, uint64_t *ended)
{
    OFI_GROWS(fi_cq_err_entry) room = { 0 };
    struct fi_cq_err_entry *err = &room.a;
    struct xport_ep *f = NULL;
    uint64_t tag;
    char text[128] = "";
    int pe = -1;
    ssize_t rc = fi_cq_readerr(cq, err, 0);

    if (rc == -FI_EAGAIN)       /* another thread has taken it */
        return;
    if (rc < 0)
        ofi_fatal("completion queue", -1, -FI_EIO, "no error entry");
    tag = (uint64_t)(uintptr_t)err->op_context;
    if (tag & 1) {
        pe = (int)(uint32_t)(tag >> 1 & 0x7fffffff);
        f = ofi_ctx_at((uint32_t)(tag >> 32));
    } else if (tag) {
        pe = ((struct ofi_op *)err->op_context)->pe;
        f = ((struct ofi_op *)err->op_context)->ctx;
    }
    if (err->prov_errno)
        fi_cq_strerror(cq, err->prov_errno, err->err_data, text, sizeof text);
    if (!strcmp(text, ofi_strerror(err->err)))
        text[0] = '\0';         /* it says no more */
    if (!error_is_reported(err->op_context, err->err, text, sizeof text))
        ofi_op_error(f, err->flags & FI_READ ? "get"
                   : err->flags & FI_ATOMIC ? "atomic"
                   : err->flags & FI_WRITE ? "put" : "communication", pe,
                   -err->err, text[0] ? text : NULL);
    complete_bad(err->op_context);
    ++*ended;
}

/* How many entries there were, and how many were operations of ours. */
static int read_queue(struct fid_cq *cq, uint64_t *ended)
{
    struct fi_cq_msg_entry entries[ENTRIES];
    ssize_t n = fi_cq_read(cq, entries, ENTRIES);

    if (n == -FI_EAGAIN || n == 0)
        return 0;
    if (n == -FI_EAVAIL) {
        take_error(cq, ended);
        return 1;
    }
    if (n < 0 || fault_hit(FAULT_OFI_CQ))
        ofi_fatal("completion queue", -1, n < 0 ? n : -FI_EIO, NULL);
    for (ssize_t i = 0; i < n; i++)
        *ended += complete(entries[i].op_context, entries[i].len);
    return (int)n;
}

/* What this endpoint started and has ended. */
static int read_ended(struct ofi_ep *e)
{
    uint64_t ended = 0;
    int n = read_queue(e->cq, &ended);

    if (ended)
        __atomic_fetch_sub(&e->in_flight, ended, __ATOMIC_RELAXED);
    return n;
}

int ofi_ep_poll(struct ofi_ep *e)
{
    return read_ended(e);
}

static bool starts(const struct ofi_ep *e)
{
    return __atomic_load_n(&e->in_flight, __ATOMIC_RELAXED);
}

/* What has come.  Reading a queue that is empty also asks the system for news
 * of its endpoint.  One thread at a time acts on messages, so that those of a
 * peer are acted on in their order: a signal after the word that it is for. */
static int read_come(void)
{
    static struct base_lock lock = LOCK_INIT;
    uint64_t none = 0;
    int n;

    if (!lock_try(&lock))
        return 0;
    n = read_queue(ofi.eps[0]->rx, &none);
    lock_release(&lock);
    return n;
}

uint64_t ofi_in_flight(void)
{
    int n_eps = __atomic_load_n(&ofi.n_eps, __ATOMIC_ACQUIRE);
    uint64_t n = 0;

    for (int i = 0; i < n_eps; i++)
        n += __atomic_load_n(&ofi.eps[i]->in_flight, __ATOMIC_RELAXED);
    return n + ofi_rails_in_flight();
}

/* An endpoint with nothing in flight may still hold a message back: it is
 * looked at now and then. */
bool ofi_progress(void)
{
    static unsigned turns;      /* not exact when threads race */
    unsigned turn = __atomic_load_n(&turns, __ATOMIC_RELAXED) + 1;
    int n_eps = __atomic_load_n(&ofi.n_eps, __ATOMIC_ACQUIRE);
    int n = read_come();

    __atomic_store_n(&turns, turn, __ATOMIC_RELAXED);
    ofi_progress_note_poll();
    for (int i = 0; i < n_eps; i++)
        if (starts(ofi.eps[i]) || (i && turn % SELDOM == 0))
            n += read_ended(ofi.eps[i]);
    n += ofi_stage_progress() + ofi_rails_progress();
    ofi_am_target_retry();
    ofi_amo_retry();
    return n > 0;
}

/* ---- waiting ---- */

enum { POLLS_PER_CLOCK = 64, SLEEP_NS = 50000 };
#define YIELD_AFTER_NS 20000u
#define SLEEP_AFTER_NS 2000000u
#define GAP_NS 500000000u

static void check_clock(struct ofi_wait *w)
{
    const struct timespec pause = { .tv_nsec = SLEEP_NS };
    uint64_t now = clock_ns(), gap, waited, most;

    if (!w->wait.since_ns)
        w->wait.since_ns = w->wait.reported_ns = w->last_ns = now;
    /* While this PE was stopped nobody kept it waiting. */
    gap = now - w->last_ns > GAP_NS ? now - w->last_ns : 0;
    w->gaps_ns += gap;
    w->wait.reported_ns += gap;
    w->last_ns = now;
    waited = now - w->wait.since_ns - w->gaps_ns;
    if (waited > SLEEP_AFTER_NS) {
        xport_wait_stalled(&w->wait);
        nanosleep(&pause, NULL);
    } else if (waited > YIELD_AFTER_NS) {
        sched_yield();
    }
    most = (uint64_t)env.TIMEOUT * 1000000000u;
    /* Who of several it is, core finds out, and has the time to. */
    if (w->wait.pe < 0)
        most = 2 * most + (env.STALL ? (uint64_t)env.STALL : 10) * 1000000000u;
    if (env.TIMEOUT && waited > most)
        ofi_fatal_timeout(w, waited);
}

/* Others of this PE's endpoints may hold what a peer waits for before it serves
 * us: requests, and answers whose buffers are received into again.  Nobody else
 * looks at them as long as this thread does. */
void ofi_wait_step(struct ofi_wait *w, struct ofi_ep *e)
{
    bool waits = starts(e), seldom = ++w->polls % OFTEN == 0;
    int n = 0;

    /* For the end of an operation, or for the answer to a message; asking for
     * one shows what there is of the other, too. */
    if (waits || (seldom && e != ofi.eps[0]))
        n = read_ended(e);
    if (!waits || seldom)
        n += read_come();
    n += ofi_stage_progress() + ofi_rails_progress();
    ofi_progress_note_poll();
    if (n)
        return;
    ofi_am_target_retry();
    ofi_amo_retry();
    if (++w->steps % (w->wait.since_ns ? OFTEN : POLLS_PER_CLOCK) == 0)
        ofi_progress();
    /* Where cores are short the peer may need this one. */
    if (w->wait.since_ns || w->steps % POLLS_PER_CLOCK == 0)
        check_clock(w);
}

/* Operations to any PE may be what is under way. */
void ofi_wait_window(struct xport_ep *f)
{
    struct ofi_wait w = { .wait = { .pe = -1, .likely_pe = -1 }, .room = true };

    while (__atomic_load_n(&f->ep->in_flight, __ATOMIC_RELAXED) >= ofi.window)
        ofi_wait_step(&w, f->ep);
    ofi_wait_end(&w);
}

bool ofi_post_retry(long rc, struct ofi_wait *w, struct xport_ep *f)
{
    if (likely(!rc)) {
        ofi_wait_end(w);
        return false;
    }
    if (rc != -FI_EAGAIN) {
        ofi_op_error(f, w->what, w->wait.pe, rc, NULL);
        ofi_wait_end(w);
        w->failed = true;
        return false;
    }
    /* What left no entry may still fill a queue of the NIC's. */
    if (!starts(f->ep))
        read_ended(f->ep);
    ofi_wait_step(w, f->ep);
    return true;
}
