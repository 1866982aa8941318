/* SPDX-License-Identifier: BSD-3-Clause */
/* sm_exchange.c - each PE of a node passes a descriptor to all others: by
 * datagrams, which carry a secret of the PE that they are for.
 *
 * A PE that fails still sends to all, without the descriptor, and hears all, so
 * that nobody waits for it.  Its socket stays open until the next exchange: by
 * then all have sent. */
#include "sm/sm_int.h"
#include "base/clock.h"
#include "base/fault.h"
#include "base/fd.h"
#include "base/log.h"
#include "rt/rt.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TURN_MS = 1 };
#define SLOW_NS 10000000000u

struct parcel {
    uint8_t token[16];          /* of the card of its receiver */
    int32_t local;              /* the sender */
};

/* One exchange. */
static struct {
    sm_exchange_address_of *card_of;
    void *cards;
    int socket;
    int *fds;                   /* what came, by PE of the node */
    bool *heard;
    int sent, missing;
} pass = { .socket = -1 };

int sm_exchange_open(struct sm_exchange_address *mine)
{
    size_t n = (size_t)rt_job.n_local;

    sm_exchange_close();
    pass.fds = malloc(n * sizeof *pass.fds);
    pass.heard = malloc(n * sizeof *pass.heard);
    if (!pass.fds || !pass.heard) {
        sm_exchange_close();
        return -ENOMEM;
    }
    for (size_t i = 0; i < n; i++)
        pass.fds[i] = -1;
    return sm_socket_bind(SOCK_DGRAM, mine->name, mine->token, &pass.socket);
}

void sm_exchange_close(void)
{
    if (pass.socket >= 0)
        close(pass.socket);
    pass.socket = -1;
    for (int i = 0; i < rt_job.n_local && pass.fds; i++)
        if (pass.fds[i] >= 0)
            close(pass.fds[i]);
    free(pass.fds);
    free(pass.heard);
    pass.fds = NULL;
    pass.heard = NULL;
}

static const struct sm_exchange_address *card_of(int local)
{
    return pass.card_of(local, pass.cards);
}

static bool is_full(int error)
{
    /* Too many references: descriptors that others have not received yet. */
    return error == EAGAIN || error == EINTR || error == ENOBUFS ||
           error == ETOOMANYREFS;
}

/* To the next PE; false while that has no room. */
static bool send_one(int fd)
{
    int to = (rt_job.local + 1 + pass.sent) % rt_job.n_local;
    const struct sm_exchange_address *c = card_of(to);
    struct parcel parcel = { .local = rt_job.local };
    struct sockaddr_un addr;
    struct iovec iov = { &parcel, sizeof parcel };
    struct msghdr m = { .msg_name = &addr, .msg_iov = &iov, .msg_iovlen = 1 };
    union sm_control control;

    memcpy(parcel.token, c->token, sizeof parcel.token);
    m.msg_namelen = sm_socket_sockaddr(c->name, &addr);
    if (fd >= 0 && !fault_hit(FAULT_SM_PASS))
        sm_socket_attach_fd(&m, &control, fd);
    if (sendmsg(pass.socket, &m, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
        if (is_full(errno))
            return false;
        log_error(ERR_NODE, "passing device memory to PE %d: %m",
                  rt_job.local_pes[to]);
    }
    pass.sent++;
    return true;
}

/* Is it one that this PE waits for?  Strangers' are dropped. */
static bool expected(const struct parcel *p)
{
    return !memcmp(p->token, card_of(rt_job.local)->token,
                   sizeof p->token) &&
           p->local >= 0 && p->local < rt_job.n_local &&
           p->local != rt_job.local && !pass.heard[p->local];
}

/* False: nothing has come. */
static bool receive_one(void)
{
    struct parcel parcel;
    union sm_control control;
    struct iovec iov = { &parcel, sizeof parcel };
    struct msghdr m = {
        .msg_iov = &iov, .msg_iovlen = 1,
        .msg_control = control.bytes, .msg_controllen = sizeof control.bytes
    };
    ssize_t n = recvmsg(pass.socket, &m, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    int fd;

    if (n < 0)
        return false;
    if (fd_left_out(&m))
        log_error(ERR_LIMIT, "no descriptor is left for device memory of "
                  "another PE; raise the limit (ulimit -n)");
    fd = sm_socket_received_fd(&m);
    if (n != sizeof parcel || !expected(&parcel)) {
        if (fd >= 0)
            close(fd);
        return true;
    }
    pass.heard[parcel.local] = true;
    pass.fds[parcel.local] = fd >= 0 ? fd_keep(fd) : -1;
    pass.missing--;
    return true;
}

static void tell_slow(uint64_t start, bool *told)
{
    if (*told || clock_ns() - start < SLOW_NS)
        return;
    *told = true;
    log_warn(ERR_NODE, "device memory of %d of %d PEs of this node has not "
             "come after 10 s; still waiting", pass.missing, rt_job.n_local);
}

const int *sm_exchange_all(sm_exchange_address_of *of, void *cards, int fd)
{
    struct pollfd p = { .fd = pass.socket, .events = POLLIN };
    uint64_t start = clock_ns();
    bool told = false;

    pass.card_of = of;
    pass.cards = cards;
    pass.sent = 0;
    pass.missing = rt_job.n_local - 1;
    memset(pass.heard, 0, (size_t)rt_job.n_local * sizeof *pass.heard);
    while (pass.missing || pass.sent < rt_job.n_local - 1) {
        if (pass.sent < rt_job.n_local - 1 && send_one(fd))
            continue;
        if (!receive_one())
            poll(&p, 1, TURN_MS);
        tell_slow(start, &told);
    }
    return pass.fds;
}
