/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the TCP sockets of the provider among this process's descriptors and
 * keeps them in one epoll set.  ofi_ctx.c opens it, the progress thread updates
 * it before it sleeps; no operation comes by here.
 *
 * A socket is the provider's if it is bound to, or connected with, the address
 * of an endpoint that ofi_sockets_note() got.  What the program connects itself
 * is not watched.  A closed socket leaves the set by itself. */
#include "ofi/net/ofi_sockets.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/lock.h"
#include "base/log.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

/* All descriptors are examined that often though none was opened. */
#define AGAIN_NS ((uint64_t)500000000)

/* An address of an endpoint, IPv4's as IPv6 maps it. */
struct endpoint {
    uint8_t host[16];
    uint16_t port;
};

static int set = -1;            /* epoll; one thread writes it, before others */
static struct base_lock lock = LOCK_INIT;
static struct endpoint *known GUARDED_BY(lock);
static size_t n_known GUARDED_BY(lock), room GUARDED_BY(lock);
/* The progress thread's. */
static int lowest_free;
static uint64_t examined_ns;

/* False: not an address of the internet. */
static bool parse(const struct sockaddr_storage *a, struct endpoint *out)
{
    const struct sockaddr_in *v4 = (const struct sockaddr_in *)a;
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)a;

    memset(out, 0, sizeof *out);
    if (a->ss_family == AF_INET) {
        out->host[10] = out->host[11] = 0xff;
        memcpy(out->host + 12, &v4->sin_addr, 4);
        out->port = v4->sin_port;
    } else if (a->ss_family == AF_INET6) {
        memcpy(out->host, &v6->sin6_addr, sizeof out->host);
        out->port = v6->sin6_port;
    }
    return a->ss_family == AF_INET || a->ss_family == AF_INET6;
}

static bool is_known(const struct sockaddr_storage *a) REQUIRES(lock)
{
    struct endpoint e;

    if (!parse(a, &e))
        return false;
    for (size_t i = 0; i < n_known; i++)
        if (known[i].port == e.port &&
            !memcmp(known[i].host, e.host, sizeof e.host))
            return true;
    return false;
}

static bool is_providers(int fd) REQUIRES(lock)
{
    struct sockaddr_storage a = { 0 };
    socklen_t len = sizeof a;
    int protocol = 0;
    socklen_t size = sizeof protocol;

    if (getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &size) ||
        protocol != IPPROTO_TCP)
        return false;
    if (!getsockname(fd, (struct sockaddr *)&a, &len) && is_known(&a))
        return true;
    len = sizeof a;
    return !getpeername(fd, (struct sockaddr *)&a, &len) && is_known(&a);
}

/* How many sockets are watched now. */
static int examine(void)
{
    struct epoll_event e = { .events = EPOLLIN };
    DIR *d = opendir("/proc/self/fd");
    struct dirent *entry;
    int n = 0, fd;

    if (!d)
        return 0;
    lock_acquire(&lock);
    while ((entry = readdir(d))) {
        fd = atoi(entry->d_name);
        if (entry->d_name[0] == '.')
            continue;
        /* Those that are watched already are many, and so are the addresses to
         * compare the others with. */
        if (!epoll_ctl(set, EPOLL_CTL_MOD, fd, &e))
            n++;
        else if (is_providers(fd) && !epoll_ctl(set, EPOLL_CTL_ADD, fd, &e))
            n++;
    }
    lock_release(&lock);
    closedir(d);
    return n;
}

/* The number that the next descriptor gets, or -1. */
static int next_descriptor(void)
{
    int fd = fcntl(set, F_DUPFD_CLOEXEC, 0);

    if (fd >= 0)
        close(fd);
    return fd;
}

void ofi_sockets_update(void)
{
    uint64_t now = clock_ns();
    int next = next_descriptor();

    if (next >= 0 && next == lowest_free && now - examined_ns < AGAIN_NS)
        return;
    lowest_free = next;
    examined_ns = now;
    examine();
}

void ofi_sockets_note(const void *addr, size_t len)
{
    struct sockaddr_storage a = { 0 };
    struct endpoint e, *more;

    memcpy(&a, addr, len < sizeof a ? len : sizeof a);
    if (set < 0 || !parse(&a, &e))
        return;
    lock_acquire(&lock);
    if (n_known == room) {
        more = realloc(known, (room * 2 + 16) * sizeof *more);
        if (!more)              /* polled at intervals */
            goto out;
        known = more;
        room = room * 2 + 16;
    }
    known[n_known++] = e;
out:
    lock_release(&lock);
}

bool ofi_sockets_watched(void)
{
    return set >= 0;
}

int ofi_sockets_open(const void *addr, size_t len)
{
    set = fd_keep(epoll_create1(EPOLL_CLOEXEC));
    if (set < 0)
        return -1;
    ofi_sockets_note(addr, len);
    if (!examine())
        ofi_sockets_close();
    return set;
}

void ofi_sockets_close(void)
{
    if (set < 0)
        return;
    close(set);
    set = -1;
    lock_acquire(&lock);
    free(known);
    known = NULL;
    n_known = room = 0;
    lock_release(&lock);
    lowest_free = 0;
    examined_ns = 0;
}
