/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The NIC: takes the operations of all endpoints of a domain to the base
 * provider and writes events.  A thread does it while the program makes no
 * calls; calls into the domain do it too, which only makes it sooner.
 *
 * Rule 9.  An update without delivery completion first asks the target, by
 * an empty write behind its last byte, whether key and range are good.  With
 * the answer it is complete: its source is copied, its event written.  The
 * data follows a random time later.  Reads may start late too.  An operation
 * waits for an earlier one to the same peer only where the endpoint's
 * msg_order says so, so a read passes a write and a write a read.
 *
 * Rule 10.  What the base provider refuses ends in an error event; a key that
 * its owner has not enabled yet is a broken rule and not just an error.
 */
#include "work.h"

#include <dirent.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define NEVER UINT64_MAX
#define SECOND 1000000000u
/* The base provider has 128 places for operations of a domain, to all PEs, and
 * so many to one that does not answer would leave none to the others, which a
 * NIC serves all the same. */
#define MOST_TO_PEER 24
/* More than one buffer of the kernel may hold, twice. */
#define ROOM (1 << 20)

/* Whom an operation waits for, and as what others wait for it. */
enum { W_RMA = 1, W_AMO = 2, R_RMA = 4, R_AMO = 8, MSG = 16 };

static uint64_t draw(struct cxi_domain *dom, uint64_t below)
{
    uint64_t z = dom->random += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return below ? (z ^ z >> 31) % below : 0;
}

static bool held_back(const struct cxi_op *op)
{
    return (op->kind == CXI_WRITE || op->kind == CXI_ATOMIC) && !op->dc;
}

static unsigned own_class(const struct cxi_op *op)
{
    switch (op->kind) {
    case CXI_WRITE:  return W_RMA;
    case CXI_READ:   return R_RMA;
    case CXI_ATOMIC: return W_AMO;
    case CXI_SEND:   return MSG;
    default:         return op->aop == FI_ATOMIC_READ ? R_AMO : W_AMO | R_AMO;
    }
}

static unsigned waits_for(const struct cxi_op *op)
{
    uint64_t order = op->ep->order;
    unsigned own = own_class(op), mask = 0;

    if (own & W_RMA)
        mask |= (order & (FI_ORDER_WAW | FI_ORDER_RMA_WAW) ? W_RMA : 0) |
                (order & FI_ORDER_WAW ? W_AMO : 0);
    if (own & W_AMO)
        mask |= (order & (FI_ORDER_WAW | FI_ORDER_ATOMIC_WAW) ? W_AMO : 0) |
                (order & FI_ORDER_WAW ? W_RMA : 0);
    if (own & R_RMA)
        mask |= order & FI_ORDER_RMA_RAR ? R_RMA : 0;
    if (own & R_AMO)
        mask |= order & FI_ORDER_ATOMIC_RAR ? R_AMO : 0;
    if (own & MSG)
        mask |= order & FI_ORDER_SAS ? MSG : 0;
    return mask;
}

/* ---- to the base provider ---- */

static ssize_t write_small(struct cxi_op *op, uint64_t addr, uint64_t key,
                           size_t len)
{
    static char zero;
    struct iovec iov = { &zero, len };
    struct fi_rma_iov rma = { addr, len, key };
    struct fi_msg_rma msg = { .msg_iov = &iov, .iov_count = 1,
        .addr = op->peer, .rma_iov = &rma, .rma_iov_count = 1,
        .context = op };

    return fi_writemsg(op->ep->real, &msg,
                       FI_COMPLETION | FI_DELIVERY_COMPLETE);
}

/* The base provider takes any length. */
static ssize_t give_rma(struct cxi_op *op)
{
    struct iovec iov = { op->copy ? op->copy : op->buf, op->len };
    struct fi_rma_iov rma = { op->addr, op->len, op->rkey };
    struct fi_msg_rma msg = { .msg_iov = &iov, .iov_count = 1,
        .addr = op->peer, .rma_iov = &rma, .rma_iov_count = 1,
        .context = op };

    if (op->kind == CXI_READ)
        return fi_readmsg(op->ep->real, &msg, FI_COMPLETION);
    return fi_writemsg(op->ep->real, &msg,
                       FI_COMPLETION | FI_DELIVERY_COMPLETE);
}

static ssize_t give_atomic(struct cxi_op *op)
{
    struct fi_ioc ioc = { op->copy ? op->copy : op->buf, 1 };
    struct fi_ioc result = { op->result, 1 }, cmp = { op->comparand, 1 };
    struct fi_rma_ioc rma = { op->addr, 1, op->rkey };
    struct fi_msg_atomic msg = { .msg_iov = &ioc, .iov_count = 1,
        .addr = op->peer, .rma_iov = &rma, .rma_iov_count = 1,
        .datatype = op->type, .op = op->aop, .context = op };

    if (op->kind == CXI_ATOMIC)
        return fi_atomicmsg(op->ep->real, &msg,
                            FI_COMPLETION | FI_DELIVERY_COMPLETE);
    if (op->kind == CXI_FETCH)
        return fi_fetch_atomicmsg(op->ep->real, &msg, &result, NULL, 1,
                                  FI_COMPLETION);
    return fi_compare_atomicmsg(op->ep->real, &msg, &cmp, NULL, 1, &result,
                                NULL, 1, FI_COMPLETION);
}

static ssize_t give(struct cxi_op *op)
{
    switch (op->kind) {
    case CXI_WRITE: case CXI_READ:
        return give_rma(op);
    case CXI_SEND:
        return fi_send(op->ep->real, op->copy ? op->copy : op->buf, op->len,
                       NULL, op->peer, op);
    default:
        cxi_stale_before(op);
        return give_atomic(op);
    }
}

static int *held_of(const struct cxi_op *op, struct cxi_domain *dom)
{
    return &dom->to_peer[op->peer % CXI_PEERS];
}

/* The base provider has it, until it comes back. */
static void given(const struct cxi_op *op)
{
    op->ep->dom->inflight++;
    ++*held_of(op, op->ep->dom);
}

static bool peer_full(const struct cxi_op *op)
{
    return *held_of(op, op->ep->dom) >= MOST_TO_PEER;
}

/* ---- back from it ---- */

static void done(struct cxi_op *op)
{
    struct cxi_op **at;

    for (at = &op->ep->first; *at != op; at = &(*at)->next)
        ;
    *at = op->next;
    if (!*at)
        op->ep->last = at;
    op->step = CXI_DONE;
    cxi_op_put(op);
}

static void fail(struct cxi_op *op, int err, int prov_err)
{
    if (op->complete) {
        fprintf(stderr, "fake cxi: a completed update of key 0x%lx was lost: "
                "its region went away\n", (unsigned long)op->key);
    } else {
        op->err = err;
        op->prov_err = prov_err;
        cxi_cq_event(op);
    }
    done(op);
}

/* Failed at the target.  Was it that the owner has not enabled its region? */
static void refused(struct cxi_op *op, int prov_err)
{
    op->prov_err = prov_err;
    if (!op->complete && op->kind != CXI_SEND && cxi_key_next(op)) {
        op->step = CXI_NEW;
        return;
    }
    if (op->complete || op->kind == CXI_SEND || op->ep->dom->prov_keys ||
        write_small(op, 0, CXI_KEY_SHADOW | (op->key & CXI_KEY_LOW), 1)) {
        fail(op, FI_EIO, prov_err);
        return;
    }
    op->step = CXI_TOUCH;
    given(op);
}

/* The initiator gets its completion; the target sees the data later. */
static void hold(struct cxi_op *op)
{
    struct cxi_domain *dom = op->ep->dom;

    if (!op->copy)
        cxi_op_copy(op);
    op->step = CXI_HELD;
    op->due = dom->delay ? cxi_now() + draw(dom, dom->delay) : 0;
    cxi_cq_event(op);
}

static void received(struct cxi_op *op, const struct fi_cq_data_entry *e,
                     fi_addr_t source, int err)
{
    struct cxi_op **at;

    for (at = &op->ep->recvs; *at != op; at = &(*at)->next)
        ;
    *at = op->next;
    op->step = CXI_DONE;
    op->err = op->prov_err = err;
    if (e) {
        op->len = e->len;
        op->data = e->data;
        op->flags |= e->flags & FI_REMOTE_CQ_DATA;
        op->source = source;
    }
    cxi_cq_event(op);
}

static void returned(struct cxi_op *op, int err)
{
    if (op->step == CXI_TOUCH) {
        if (!err)
            cxi_rule(0, "2", "remote access to key 0x%lx before its owner has "
                     "enabled it", (unsigned long)op->key);
        fail(op, FI_EIO, op->prov_err);
    } else if (err) {
        refused(op, err);
    } else if (op->step == CXI_PROBE) {
        cxi_key_was_right(op);
        hold(op);
    } else {
        cxi_key_was_right(op);
        cxi_stale_after(op);
        cxi_mr_was_read(op);
        if (!op->complete)
            cxi_cq_event(op);
        done(op);
    }
}

static void back(struct cxi_domain *dom, struct cxi_op *op,
                 const struct fi_cq_data_entry *e, fi_addr_t source, int err)
{
    if (op->kind != CXI_RECV) {
        dom->inflight--;
        --*held_of(op, dom);
    }
    if (!op->ep)                /* its endpoint has closed */
        return;
    if (op->kind == CXI_RECV)
        received(op, e, source, err);
    else
        returned(op, err);
}

static void drain_base(struct cxi_domain *dom)
{
    struct fi_cq_data_entry e[16];
    struct fi_cq_err_entry err = { 0 };
    fi_addr_t from[16];
    ssize_t n;

    for (;;) {
        n = fi_cq_readfrom(dom->real_cq, e, 16, from);
        if (n == -FI_EAVAIL &&
            fi_cq_readerr(dom->real_cq, &err, 0) == 1 && err.op_context) {
            back(dom, err.op_context, NULL, 0, err.err);
            continue;
        }
        if (n <= 0)
            return;
        for (ssize_t i = 0; i < n; i++)
            back(dom, e[i].op_context, &e[i], from[i], 0);
    }
}

/* ---- turns ---- */

/* Takes one operation a step on; false when the base provider is full. */
static bool advance(struct cxi_op *op)
{
    bool probes = op->step == CXI_NEW && held_back(op);
    ssize_t rc = probes ? write_small(op, op->addr + op->len,
                                   op->rkey | CXI_KEY_PROBE, 0)
                     : give(op);

    if (!rc) {
        op->step = probes ? CXI_PROBE : CXI_ISSUED;
        given(op);
    } else if (rc != -FI_EAGAIN) {
        fail(op, FI_EIO, (int)-rc);
    }
    return rc != -FI_EAGAIN;
}

static void pass_ep(struct cxi_ep *ep, uint64_t now)
{
    uint8_t waiting[CXI_PEERS] = { 0 };
    bool all_complete = true;
    struct cxi_op *op, *next;

    for (op = ep->first; op; op = next) {
        uint8_t *w = &waiting[op->peer % CXI_PEERS];
        bool may_start = !(*w & waits_for(op)) && now >= op->due;

        next = op->next;
        if (op->fence && op->step == CXI_NEW && !all_complete)
            may_start = false;
        /* Asking the target needs no turn. */
        if (op->step == CXI_NEW && held_back(op) &&
            (!op->fence || all_complete))
            may_start = true;
        all_complete = all_complete && op->complete;
        if (op->step == CXI_ISSUED || op->step == CXI_TOUCH)
            continue;
        if (op->step == CXI_PROBE || !may_start || peer_full(op)) {
            *w |= (uint8_t)own_class(op);
            continue;
        }
        if (op->step == CXI_NEW && held_back(op))
            *w |= (uint8_t)own_class(op);
        if (!advance(op))
            return;
    }
}

void cxi_nic_pass(struct cxi_domain *dom)
{
    uint64_t now = cxi_now();

    do {
        cxi_doorbell_take(dom);
        cxi_mr_count(dom);
        cxi_mr_count_late(dom);
        drain_base(dom);
        cxi_cq_late(dom);
        cxi_work_fire(dom);
        for (struct cxi_ep *ep = dom->eps; ep; ep = ep->next)
            if (ep->first)
                pass_ep(ep, now);
    } while (dom->due);
}

static uint64_t next_due(struct cxi_domain *dom, uint64_t now)
{
    uint64_t due = dom->inflight ? now + 1000000 : NEVER;

    if (dom->uncounted && dom->uncounted->due < due)
        due = dom->uncounted->due > now ? dom->uncounted->due : now;

    for (struct cxi_ep *ep = dom->eps; ep; ep = ep->next)
        for (struct cxi_op *op = ep->first; op; op = op->next)
            if ((op->step == CXI_NEW || op->step == CXI_HELD) &&
                !peer_full(op)) {
                uint64_t at = op->due > now ? op->due : now + 50000;

                due = at < due ? at : due;
            }
    return due;
}

/* It looks for itself what there is to do. */
void cxi_nic_wake(struct cxi_domain *dom)
{
    uint64_t one = 1;

    if (dom->asleep_until > cxi_now() + 50000 &&
        write(dom->wake, &one, sizeof one) < 0)
        abort();
}

void cxi_nic_append(struct cxi_op *op)
{
    struct cxi_domain *dom = op->ep->dom;

    if (op->kind == CXI_READ && dom->delay && draw(dom, 4) == 0)
        op->due = cxi_now() + draw(dom, dom->delay / 4);
    op->next = NULL;
    *op->ep->last = op;
    op->ep->last = &op->next;
}

void cxi_nic_submit(struct cxi_op *op)
{
    struct cxi_domain *dom = op->ep->dom;

    cxi_nic_append(op);
    cxi_nic_pass(dom);          /* and the operation may be gone */
    cxi_nic_wake(dom);
}

/* Waits until the endpoint's operations are delivered, for 5 s at most. */
void cxi_nic_drain(struct cxi_ep *ep)
{
    uint64_t end = cxi_now() + 5000000000u;

    while (ep->first && cxi_now() < end) {
        cxi_nic_pass(ep->dom);
        pthread_mutex_unlock(&ep->dom->lock);
        nanosleep(&(struct timespec){ 0, 20000 }, NULL);
        pthread_mutex_lock(&ep->dom->lock);
    }
    for (struct cxi_op *op; (op = ep->first); ) {
        ep->first = op->next;
        op->next = ep->recvs;   /* buried with what was never received */
        ep->recvs = op;
    }
}

/* ---- the base provider's sockets ---- */

static void widen(int fd)
{
    int kind, room, one = 1, much = ROOM;
    struct sockaddr_storage at;
    socklen_t size = sizeof kind, room_size = sizeof room, at_size = sizeof at;

    if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &kind, &size) ||
        kind != SOCK_STREAM ||
        getpeername(fd, (struct sockaddr *)&at, &at_size) ||
        (at.ss_family != AF_INET && at.ss_family != AF_INET6) ||
        getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, &room_size) ||
        room >= 2 * ROOM)
        return;
    setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &much, sizeof much);
    setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &one, sizeof one);
}

/* The base provider looks at the header of a message without taking it until
 * it is whole.  Where it has taken all else of a full socket, a part of a
 * header may be left that keeps a kernel's buffer of 300 kB: then there is no
 * room for the rest, and neither side ever goes on.  A socket that once was to
 * wait for much has more room than one such buffer takes.  This is for sockets
 * that are connected: one that is accepted waits for as much as its listener
 * did at that moment, and for ever. */
static void widen_all(uint64_t *last)
{
    uint64_t now = cxi_now();
    struct dirent *d;
    DIR *dir;

    if (now - *last < SECOND || !(dir = opendir("/proc/self/fd")))
        return;
    *last = now;
    while ((d = readdir(dir)))
        widen(atoi(d->d_name));
    closedir(dir);
}

static void *nic(void *arg)
{
    struct cxi_domain *dom = arg;
    struct fid *fids[] = { &dom->real_cq->fid };
    uint64_t widened = 0;

    pthread_mutex_lock(&dom->lock);
    while (!dom->stop) {
        struct pollfd fds[] = { { dom->wake, POLLIN, 0 },
                                { dom->real_fd, POLLIN, 0 },
                                { dom->doorbell_pipe[0], POLLIN, 0 },
                                { dom->arrivals, POLLIN, 0 } };
        uint64_t now, until, n;
        struct timespec left;

        cxi_nic_pass(dom);
        now = cxi_now();
        until = next_due(dom, now);
        dom->asleep_until = until;
        pthread_mutex_unlock(&dom->lock);
        left.tv_sec = until == NEVER ? 1 : (time_t)((until - now) / 1000000000);
        left.tv_nsec = until == NEVER ? 0 : (long)((until - now) % 1000000000);
        widen_all(&widened);
        if (!fi_trywait(dom->fabric->real, fids, 1))
            ppoll(fds, 4, &left, NULL);
        if (fds[0].revents && read(dom->wake, &n, sizeof n) < 0)
            abort();
        pthread_mutex_lock(&dom->lock);
        dom->asleep_until = 0;
    }
    pthread_mutex_unlock(&dom->lock);
    return NULL;
}

int cxi_nic_start(struct cxi_domain *dom)
{
    int rc = fi_control(&dom->real_cq->fid, FI_GETWAIT, &dom->real_fd);

    if (rc)
        return rc;
    dom->random = (uint64_t)cxi_env("FAKE_CXI_SEED", getpid());
    dom->delay = (uint64_t)cxi_env("FAKE_CXI_DELAY_US", 1000) * 1000;
    dom->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    dom->arrivals = epoll_create1(EPOLL_CLOEXEC);
    if (dom->wake < 0 || dom->arrivals < 0)
        rc = -FI_EMFILE;
    else if (pthread_create(&dom->nic, NULL, nic, dom))
        rc = -FI_ENOMEM;
    if (rc) {
        close(dom->wake);
        close(dom->arrivals);
    }
    return rc;
}

void cxi_nic_stop(struct cxi_domain *dom)
{
    uint64_t one = 1;
    struct cxi_op *op;

    pthread_mutex_lock(&dom->lock);
    dom->stop = true;
    pthread_mutex_unlock(&dom->lock);
    if (write(dom->wake, &one, sizeof one) < 0)
        abort();
    pthread_join(dom->nic, NULL);
    close(dom->wake);
    close(dom->arrivals);
    while ((op = dom->graves)) {
        dom->graves = op->next;
        free(op->copy);
        free(op);
    }
}
