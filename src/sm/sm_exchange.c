/* SPDX-License-Identifier: BSD-3-Clause */
/* sm_exchange.c - each PE of a node passes a descriptor to all others, by
 * datagrams that carry a secret token of their receiver.  sm_device.c calls it,
 * on all PEs of the node at once, for device memory whose handles need one.
 *
 * A PE that fails still sends to all, without the descriptor, and receives from
 * all, so that no PE waits for it.  Its socket stays open until the next
 * exchange: by then all PEs have sent. */
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

enum { POLL_MS = 1 };
#define SLOW_NS 10000000000u

struct fd_message {
    uint8_t token[16];          /* of the receiver's address */
    int32_t local;              /* the sender */
};

/* One exchange. */
static struct {
    sm_exchange_address_of *address_of;
    void *addresses;
    int socket;
    int *fds;                   /* what came, by PE of the node */
    bool *received;
    int sent, missing;
} exchange = { .socket = -1 };

int sm_exchange_open(struct sm_exchange_address *mine)
{
    size_t n = (size_t)rt_job.n_local;

    sm_exchange_close();
    exchange.fds = malloc(n * sizeof *exchange.fds);
    exchange.received = malloc(n * sizeof *exchange.received);
    if (!exchange.fds || !exchange.received) {
        sm_exchange_close();
        return -ENOMEM;
    }
    for (size_t i = 0; i < n; i++)
        exchange.fds[i] = -1;
    return sm_socket_bind(SOCK_DGRAM, mine->name, mine->token,
                          &exchange.socket);
}

void sm_exchange_close_fds(void)
{
    for (int i = 0; i < rt_job.n_local && exchange.fds; i++) {
        if (exchange.fds[i] >= 0)
            close(exchange.fds[i]);
        exchange.fds[i] = -1;
    }
}

void sm_exchange_close(void)
{
    if (exchange.socket >= 0)
        close(exchange.socket);
    exchange.socket = -1;
    sm_exchange_close_fds();
    free(exchange.fds);
    free(exchange.received);
    exchange.fds = NULL;
    exchange.received = NULL;
}

static const struct sm_exchange_address *address_of(int local)
{
    return exchange.address_of(local, exchange.addresses);
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
    int to = (rt_job.local + 1 + exchange.sent) % rt_job.n_local;
    const struct sm_exchange_address *c = address_of(to);
    struct fd_message message = { .local = rt_job.local };
    struct sockaddr_un addr;
    struct iovec iov = { &message, sizeof message };
    struct msghdr m = { .msg_name = &addr, .msg_iov = &iov, .msg_iovlen = 1 };
    union sm_control control;

    memcpy(message.token, c->token, sizeof message.token);
    m.msg_namelen = sm_socket_sockaddr(c->name, &addr);
    if (fd >= 0 && !fault_hit(FAULT_SM_PASS))
        sm_socket_attach_fd(&m, &control, fd);
    if (sendmsg(exchange.socket, &m, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
        if (is_full(errno))
            return false;
        log_error(ERR_NODE, "passing device memory to PE %d: %m",
                  rt_job.local_pes[to]);
    }
    exchange.sent++;
    return true;
}

/* Is it a message that this PE waits for?  Others are discarded. */
static bool expected(const struct fd_message *p)
{
    return !memcmp(p->token, address_of(rt_job.local)->token,
                   sizeof p->token) &&
           p->local >= 0 && p->local < rt_job.n_local &&
           p->local != rt_job.local && !exchange.received[p->local];
}

/* False: no message is there. */
static bool receive_one(void)
{
    struct fd_message message;
    union sm_control control;
    struct iovec iov = { &message, sizeof message };
    struct msghdr m = {
        .msg_iov = &iov, .msg_iovlen = 1,
        .msg_control = control.bytes, .msg_controllen = sizeof control.bytes
    };
    ssize_t n = recvmsg(exchange.socket, &m, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    int fd;

    if (n < 0)
        return false;
    if (fd_left_out(&m))
        log_error(ERR_LIMIT, "no descriptor is left for device memory of "
                  "another PE; raise the limit (ulimit -n)");
    fd = sm_socket_received_fd(&m);
    if (n != sizeof message || !expected(&message)) {
        if (fd >= 0)
            close(fd);
        return true;
    }
    exchange.received[message.local] = true;
    exchange.fds[message.local] = fd >= 0 ? fd_keep(fd) : -1;
    exchange.missing--;
    return true;
}

static void warn_if_slow(uint64_t start, bool *warned)
{
    if (*warned || clock_ns() - start < SLOW_NS)
        return;
    *warned = true;
    log_warn(ERR_NODE, "device memory of %d of %d PEs of this node has not "
             "come after 10 s; still waiting", exchange.missing,
             rt_job.n_local);
}

const int *sm_exchange_all(sm_exchange_address_of *of, void *addresses, int fd)
{
    struct pollfd p = { .fd = exchange.socket, .events = POLLIN };
    uint64_t start = clock_ns();
    bool warned = false;

    exchange.address_of = of;
    exchange.addresses = addresses;
    exchange.sent = 0;
    exchange.missing = rt_job.n_local - 1;
    memset(exchange.received, 0,
           (size_t)rt_job.n_local * sizeof *exchange.received);
    while (exchange.missing || exchange.sent < rt_job.n_local - 1) {
        if (exchange.sent < rt_job.n_local - 1 && send_one(fd))
            continue;
        if (!receive_one())
            poll(&p, 1, POLL_MS);
        warn_if_slow(start, &warned);
    }
    return exchange.fds;
}
