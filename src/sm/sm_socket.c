/* SPDX-License-Identifier: BSD-3-Clause */
/* sm_socket.c - the leader of a node passes its memory to the other PEs over a
 * local socket, which has a random name and asks for a token that only the job
 * knows.  sm.c and sm_device.c call it, on all PEs of the node, where the
 * launcher passes no descriptors; sm_exchange.c shares its lower half. */
#include "sm/sm_int.h"
#include "base/fault.h"
#include "base/fd.h"
#include "base/log.h"
#include "rt/rt.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

enum { HELLO_TIMEOUT_S = 5, SLOW_START_MS = 10000 };

socklen_t sm_socket_sockaddr(const char *name, struct sockaddr_un *out)
{
    size_t len = strlen(name);

    memset(out, 0, sizeof *out);
    out->sun_family = AF_UNIX;
    memcpy(out->sun_path + 1, name, len);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + len);
}

static int random_bytes(void *out, size_t size)
{
    if (getrandom(out, size, 0) == (ssize_t)size)
        return 0;
    log_error(ERR_NODE, "getrandom: %m");
    return -EIO;
}

/* The leader holds one connection per PE until all have come. */
static int raise_fd_limit(int n_local)
{
    rlim_t need = (rlim_t)n_local + 64;
    struct rlimit lim;

    if (getrlimit(RLIMIT_NOFILE, &lim) || lim.rlim_cur >= need)
        return 0;
    if (lim.rlim_max < need) {
        log_error(ERR_LIMIT, "%d PEs on this node need %llu open files, the "
                  "limit is %llu: raise it (ulimit -Hn)", n_local,
                  (unsigned long long)need, (unsigned long long)lim.rlim_max);
        return -EMFILE;
    }
    lim.rlim_cur = need;
    if (setrlimit(RLIMIT_NOFILE, &lim)) {
        log_error(ERR_LIMIT, "setrlimit of open files to %llu: %m",
                  (unsigned long long)need);
        return -EMFILE;
    }
    return 0;
}

int sm_socket_bind(int type, char name[SM_NAME], uint8_t token[SM_TOKEN],
                 int *out)
{
    struct sockaddr_un addr;
    uint64_t id;
    int fd, rc;

    rc = raise_fd_limit(rt_job.n_local);
    if (rc)
        return rc;
    if (random_bytes(token, SM_TOKEN) || random_bytes(&id, sizeof id))
        return -EIO;
    snprintf(name, SM_NAME, "sluice-%016llx", (unsigned long long)id);
    fd = fd_keep(socket(AF_UNIX, type | SOCK_CLOEXEC, 0));
    if (fd < 0 || bind(fd, (struct sockaddr *)&addr,
                       sm_socket_sockaddr(name, &addr)) ||
        (type == SOCK_SEQPACKET && listen(fd, rt_job.n_local))) {
        rc = -errno;
        log_error(ERR_NODE, "local socket for the node's PEs: %m");
        if (fd >= 0)
            close(fd);
        return rc;
    }
    *out = fd;
    return 0;
}

int sm_socket_listen(struct sm_address *address, int *out_fd)
{
    return sm_socket_bind(SOCK_SEQPACKET, address->name, address->token,
                          out_fd);
}

bool sm_socket_hello_ok(const struct sm_hello *h, size_t size,
                      const struct sm_address *address, int n_local)
{
    return size == sizeof *h &&
           !memcmp(h->token, address->token, sizeof h->token) &&
           h->local >= 1 && h->local < n_local &&
           (h->data_fits == 0 || h->data_fits == 1);
}

/* Refuses another user's process, and one without the token. */
static bool accept_hello(int conn, const struct sm_address *address,
                         struct sm_hello *h)
{
    struct timeval patience = { .tv_sec = HELLO_TIMEOUT_S };
    struct ucred who = { .uid = (uid_t)-1 };
    socklen_t len = sizeof who;
    ssize_t n;

    setsockopt(conn, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (getsockopt(conn, SOL_SOCKET, SO_PEERCRED, &who, &len) ||
        who.uid != geteuid()) {
        log_warn(ERR_NODE, "refused a connection of user %u, pid %d, to the "
                 "node's socket", (unsigned)who.uid, (int)who.pid);
        return false;
    }
    do {                        /* SA_RESTART is without effect here */
        n = recv(conn, h, sizeof *h, MSG_TRUNC);
    } while (n < 0 && errno == EINTR);
    if (n < 0 || !sm_socket_hello_ok(h, (size_t)n, address, rt_job.n_local)) {
        log_warn(ERR_NODE, "refused a connection of pid %d to the node's "
                 "socket: it does not know the job's token", (int)who.pid);
        return false;
    }
    return true;
}

static int next_connection(int listen_fd, int missing)
{
    struct pollfd p = { .fd = listen_fd, .events = POLLIN };
    bool warned = false;
    int n, conn;

    while ((n = poll(&p, 1, warned ? -1 : SLOW_START_MS)) <= 0) {
        if (n < 0 && errno != EINTR)
            return -1;
        if (n == 0) {
            log_warn(ERR_NODE, "%d of %d PEs of this node have not connected "
                     "after %d s; still waiting", missing, rt_job.n_local,
                     SLOW_START_MS / 1000);
            warned = true;
        }
    }
    do {
        conn = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC);
    } while (conn < 0 && errno == EINTR);
    return conn;
}

void sm_socket_attach_fd(struct msghdr *m, union sm_control *control, int fd)
{
    struct cmsghdr *c;

    memset(control, 0, sizeof *control);
    m->msg_control = control->bytes;
    m->msg_controllen = sizeof control->bytes;
    c = CMSG_FIRSTHDR(m);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(c), &fd, sizeof fd);
}

static int send_memfd(int conn, const struct sm_reply *r, int memfd)
{
    union sm_control control;
    struct iovec iov = { (void *)r, sizeof *r };
    struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };

    sm_socket_attach_fd(&m, &control, memfd);
    return sendmsg(conn, &m, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static int accept_members(int listen_fd, const struct sm_address *address,
                          int *conns,
                  bool *all_fit)
{
    struct sm_hello h;
    int conn;

    for (int missing = rt_job.n_local - 1; missing > 0; ) {
        conn = next_connection(listen_fd, missing);
        if (conn < 0) {
            log_error(ERR_NODE, "accept on the node's socket: %m");
            return -EIO;
        }
        if (!accept_hello(conn, address, &h) || conns[h.local] >= 0) {
            close(conn);
            continue;
        }
        conns[h.local] = conn;
        *all_fit = *all_fit && h.data_fits;
        missing--;
    }
    return 0;
}

int sm_socket_distribute(int listen_fd, struct sm_address *address, int memfd)
{
    int n = rt_job.n_local, rc = -ENOMEM;
    struct sm_reply reply;
    bool fit = true;
    int *conns;

    conns = malloc((size_t)n * sizeof *conns);
    if (!conns)
        goto close_listen;
    for (int i = 0; i < n; i++)
        conns[i] = -1;
    rc = accept_members(listen_fd, address, conns, &fit);
    if (rc)
        goto close_conns;
    if (!fit) {
        log_warn(ERR_DATA, "the PEs run programs whose static data differ: "
                 "only heap memory is symmetric");
        heap_plan_without_data(&address->plan);
    }
    reply.share_data = fit;
    for (int i = 1; i < n && !rc; i++) {
        rc = send_memfd(conns[i], &reply, memfd);
        if (rc)
            log_error(ERR_NODE, "passing memory to PE %d: %s",
                      rt_job.local_pes[i], strerror(-rc));
    }
close_conns:
    for (int i = 1; i < n; i++)
        if (conns[i] >= 0)
            close(conns[i]);
    free(conns);
close_listen:
    close(listen_fd);
    return rc;
}

int sm_socket_received_fd(struct msghdr *m)
{
    struct cmsghdr *c = CMSG_FIRSTHDR(m);
    size_t n;
    int fd;

    if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
        c->cmsg_len > CMSG_LEN(sizeof fd) &&
        c->cmsg_len <= m->msg_controllen) {
        /* Of another sender: the buffer for one has padding for a second. */
        n = (c->cmsg_len - CMSG_LEN(0)) / sizeof fd;
        for (size_t i = 0; i < n; i++) {
            memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
            close(fd);
        }
        return -EPROTO;
    }
    if (!c || m->msg_controllen < CMSG_LEN(sizeof fd) ||
        c->cmsg_len != CMSG_LEN(sizeof fd) || c->cmsg_level != SOL_SOCKET ||
        c->cmsg_type != SCM_RIGHTS)
        return -EPROTO;
    memcpy(&fd, CMSG_DATA(c), sizeof fd);
    return fd;
}

/* A descriptor that came with a message that is not as it must be is ours to
 * close. */
int sm_socket_reply_fd(struct msghdr *m, size_t size)
{
    const struct sm_reply *r = m->msg_iov->iov_base;
    int fd = sm_socket_received_fd(m);

    if (fd < 0)
        return fd;
    if (size == sizeof *r && !(m->msg_flags & (MSG_TRUNC | MSG_CTRUNC)) &&
        (r->share_data == 0 || r->share_data == 1))
        return fd;
    close(fd);
    return -EPROTO;
}

static int receive_memfd(int conn, struct sm_reply *r, int *out)
{
    union sm_control control;
    struct iovec iov = { r, sizeof *r };
    struct msghdr m = {
        .msg_iov = &iov, .msg_iovlen = 1,
        .msg_control = control.bytes, .msg_controllen = sizeof control.bytes
    };
    ssize_t n;
    int fd;

    do {
        n = recvmsg(conn, &m, MSG_CMSG_CLOEXEC);
    } while (n < 0 && errno == EINTR);
    if (n <= 0)
        return n < 0 ? -errno : -ECONNRESET;
    if (fd_left_out(&m))
        return -EMFILE;
    fd = sm_socket_reply_fd(&m, (size_t)n);
    if (fd < 0)
        return fd;
    *out = fd;
    return 0;
}

/* The leader's queue may be full: a signal may end a wait for it. */
static int say_hello(int conn, const char *name, const struct sm_hello *h)
{
    struct sockaddr_un addr;
    socklen_t len = sm_socket_sockaddr(name, &addr);
    ssize_t n;

    while (connect(conn, (struct sockaddr *)&addr, len))
        if (errno != EINTR)
            return -errno;
    do {
        n = send(conn, h, sizeof *h, MSG_NOSIGNAL);
    } while (n < 0 && errno == EINTR);
    return n < 0 ? -errno : 0;
}

int sm_socket_join(struct sm_address *address, int *out_memfd)
{
    struct sm_hello h = { .local = rt_job.local };
    struct sm_reply reply;
    int conn, rc;

    address->name[sizeof address->name - 1] = '\0';
    h.data_fits = heap_plan_matches(&address->plan);
    memcpy(h.token, address->token, sizeof h.token);
    if (fault_hit(FAULT_SM_HELLO))
        h.token[0] ^= 1;
    conn = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    rc = conn < 0 ? -errno : say_hello(conn, address->name, &h);
    if (!rc)
        rc = receive_memfd(conn, &reply, out_memfd);
    if (conn >= 0)
        close(conn);
    if (rc == -ECONNREFUSED || rc == -ECONNRESET || rc == -EPIPE)
        rt_await_end();
    if (rc)
        log_error(ERR_NODE, "joining PE %d, the leader of this node: %s%s",
                  rt_job.local_pes[0], strerror(-rc),
                  rc == -EMFILE ? "; raise the limit (ulimit -n)" : "");
    else if (!reply.share_data)
        heap_plan_without_data(&address->plan);
    return rc;
}
