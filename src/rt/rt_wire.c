/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads and writes the messages between oshrun and its PEs.  Called by the
 * launcher's driver in a PE and by oshrun.  A received message may come from
 * any process, so every field is checked. */
#include "rt/rt_wire.h"
#include "base/fd.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <time.h>

/* The fields that each type carries. */
enum { KEY = 1, VALUE = 2, PE = 4, STATUS = 8 };
static const unsigned char carries[RT_WIRE_TYPES] = {
    [RT_PUT] = KEY | VALUE,
    [RT_GET] = KEY | PE,
    [RT_SHARE] = STATUS,
    [RT_TAKE] = PE,
    [RT_ABORT] = STATUS,
    [RT_ANSWER] = VALUE | PE | STATUS,
    [RT_FENCED] = STATUS,
};

static int head_ok(const struct rt_wire_head *h, size_t size)
{
    unsigned with;

    if (h->magic != RT_WIRE_MAGIC)
        return (h->magic ^ RT_WIRE_MAGIC) >> 8 ? -EPROTO : -EPROTONOSUPPORT;
    if (!h->type || h->type >= RT_WIRE_TYPES)
        return -EPROTO;
    with = carries[h->type];
    if (h->key_size > RT_WIRE_KEY || h->value_size > RT_WIRE_VALUE ||
        size != sizeof *h + h->key_size + h->value_size)
        return -EPROTO;
    if (!(with & KEY) != !h->key_size || (!(with & VALUE) && h->value_size) ||
        (!(with & STATUS) && h->status) ||
        (with & PE ? h->pe < 0 : h->pe != 0))
        return -EPROTO;
    return 0;
}

int rt_wire_parse(const void *packet, size_t size, struct rt_wire *out)
{
    const char *body = (const char *)packet + sizeof(struct rt_wire_head);
    struct rt_wire_head h;
    int rc;

    if (size < sizeof h)
        return -EPROTO;
    memcpy(&h, packet, sizeof h);
    rc = head_ok(&h, size);
    if (rc || memchr(body, '\0', h.key_size))
        return rc ? rc : -EPROTO;
    out->type = (enum rt_wire_type)h.type;
    out->pe = h.pe;
    out->status = h.status;
    memcpy(out->key, body, h.key_size);
    out->key[h.key_size] = '\0';
    out->value = body + h.key_size;
    out->value_size = h.value_size;
    return 0;
}

int rt_wire_format(const struct rt_wire *m, struct rt_wire_packet *out)
{
    size_t key_size = strnlen(m->key, sizeof m->key);
    struct rt_wire_head h = {
        .magic = RT_WIRE_MAGIC, .type = (uint32_t)m->type, .pe = m->pe,
        .status = m->status, .key_size = (uint32_t)key_size,
        .value_size = (uint32_t)m->value_size
    };

    if (key_size > RT_WIRE_KEY || m->value_size > RT_WIRE_VALUE)
        return -EMSGSIZE;
    out->head = h;
    memcpy(out->body, m->key, key_size);
    if (m->value_size)
        memcpy(out->body + key_size, m->value, m->value_size);
    return (int)(sizeof h + key_size + m->value_size);
}

union control {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(sizeof(int))];
};

int rt_wire_send(int sock, int flags, const struct rt_wire *m, int fd)
{
    union control control = { .bytes = { 0 } };
    struct rt_wire_packet packet;
    int size = rt_wire_format(m, &packet);
    struct iovec iov = { &packet, (size_t)size };
    struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
    struct cmsghdr *c;

    if (size < 0)
        return size;
    if (fd >= 0) {
        msg.msg_control = control.bytes;
        msg.msg_controllen = sizeof control.bytes;
        c = CMSG_FIRSTHDR(&msg);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof fd);
        memcpy(CMSG_DATA(c), &fd, sizeof fd);
    }
    while (sendmsg(sock, &msg, flags | MSG_NOSIGNAL) < 0)
        if (errno != EINTR)
            return -errno;
    return 0;
}

int rt_wire_fd(struct msghdr *m)
{
    struct cmsghdr *c = CMSG_FIRSTHDR(m);
    int fd;

    if (!c || m->msg_controllen < CMSG_LEN(sizeof fd) ||
        c->cmsg_len != CMSG_LEN(sizeof fd) || c->cmsg_level != SOL_SOCKET ||
        c->cmsg_type != SCM_RIGHTS)
        return -1;
    memcpy(&fd, CMSG_DATA(c), sizeof fd);
    return fd;
}

int rt_wire_receive(int sock, int flags, struct rt_wire_packet *packet,
                    struct rt_wire *out, int *fd)
{
    union control control;
    struct iovec iov = { packet, sizeof *packet };
    /* Room for one descriptor: the system drops further ones. */
    struct msghdr msg = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.bytes,
        .msg_controllen = CMSG_LEN(sizeof *fd)
    };
    ssize_t n;

    *fd = -1;
    /* The system says once, and before what the other end has sent, that it has
     * closed without reading all that we sent. */
    do {
        n = recvmsg(sock, &msg, flags | MSG_CMSG_CLOEXEC);
    } while (n < 0 && (errno == EINTR || errno == ECONNRESET));
    if (n < 0)
        return -errno;
    *fd = rt_wire_fd(&msg);
    if (n == 0)
        return -ECONNRESET;
    if (msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC))
        return fd_left_out(&msg) ? -EMFILE : -EPROTO;
    return rt_wire_parse(packet, (size_t)n, out);
}

static const struct timespec pause = { .tv_nsec = 20000 };

/* The type of the next message.  All threads that wait sleep in poll(), since
 * the system wakes one of those alone that sleep in recv(), which may be one
 * that the message is not for. */
static int peek_type(int sock)
{
    struct pollfd p = { .fd = sock, .events = POLLIN };
    struct rt_wire_head h = { .type = 0 };
    ssize_t n;

    do {
        n = poll(&p, 1, -1);
        if (n < 0 && errno == EINVAL)   /* a limit of no descriptors at all */
            n = nanosleep(&pause, NULL) + 1;
        if (n > 0)
            n = recv(sock, &h, sizeof h, MSG_PEEK | MSG_DONTWAIT);
    } while (n < 0 && (errno == EINTR || errno == ECONNRESET ||
                       errno == EAGAIN));
    if (n <= 0)
        return n ? -errno : -ECONNRESET;
    return h.type && h.type < RT_WIRE_TYPES ? (int)h.type : -EPROTO;
}

int rt_wire_await(int sock, enum rt_wire_type type)
{
    int next;

    while ((next = peek_type(sock)) != (int)type) {
        if (next < 0 || (next != RT_ANSWER && next != RT_FENCED))
            return next < 0 ? next : -EPROTO;
        nanosleep(&pause, NULL);
    }
    return 0;
}

/* ---- variables ---- */

/* A decimal number from 0 to most, up to the character end; what follows that,
 * or NULL. */
static const char *number(const char *p, uint64_t most, char end, uint64_t *out)
{
    uint64_t v = 0, digit;

    if (!p || !isdigit((unsigned char)*p))
        return NULL;
    for (; isdigit((unsigned char)*p); p++) {
        digit = (uint64_t)(*p - '0');
        if (digit > most || v > (most - digit) / 10)
            return NULL;
        v = 10 * v + digit;
    }
    if (*p != end)
        return NULL;
    *out = v;
    return end ? p + 1 : p;
}

const char *rt_invitation_parse(const char *pe, const char *pes,
                                const char *local, const char *channel,
                                struct rt_invitation *out)
{
    uint64_t n, me, first, last, fd, inode;

    if (!number(pes, INT_MAX, '\0', &n) || !n)
        return RT_JOB_PES;
    if (!number(pe, n - 1, '\0', &me))
        return RT_JOB_PE;
    local = number(local, me, '-', &first);
    if (!number(local, n - 1, '\0', &last) || last < me)
        return RT_JOB_LOCAL;
    channel = number(channel, INT_MAX, ':', &fd);
    if (!number(channel, UINT64_MAX, '\0', &inode) || fd < 3)
        return RT_JOB_CHANNEL;
    *out = (struct rt_invitation){
        .pe = (int)me, .n_pes = (int)n, .first = (int)first,
        .last = (int)last, .fd = (int)fd, .inode = inode
    };
    return NULL;
}
