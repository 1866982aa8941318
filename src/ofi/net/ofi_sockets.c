/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the TCP sockets of the provider among this process's descriptors and
 * keeps them in epoll sets.  ofi_ctx.c opens them, the progress thread updates
 * them before it sleeps; no operation comes by here.
 *
 * A socket is the provider's if it is bound to, or connected with, the address
 * of an endpoint that ofi_sockets_note() got.  Connections of the program
 * itself are not watched.
 *
 * One set is for input.  The other has an event once a socket that was full
 * takes bytes again: the provider may have the rest of an answer to send.  It
 * belongs to the first one.  An entry leaves a set when the last descriptor of
 * its socket is closed, and a child of this process may have one for long. */
#include "ofi/net/ofi_sockets.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/lock.h"

#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

/* All descriptors are examined that often though none was opened; and where
 * that takes long, at most for a tenth of the time. */
#define AGAIN_NS ((uint64_t)500000000)
#define LONG_NS ((uint64_t)1000000)
enum { PART = 10, EVENTS = 64 };

/* An address of an endpoint, IPv4's as IPv6 maps it. */
struct endpoint {
    uint8_t host[16];
    uint16_t port;
};

/* The sets, for input and for room; -1: none.  Written while there is no
 * progress thread. */
static int set = -1, room = -1;
static struct base_lock lock = LOCK_INIT;
static struct endpoint *known GUARDED_BY(lock);
static size_t n_known GUARDED_BY(lock), most_known GUARDED_BY(lock);
/* The progress thread's. */
static int lowest_free;         /* -1: something is to be examined again */
static uint64_t examined_ns, took_ns;

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

static bool is_known(const struct sockaddr_storage *a)
{
    struct endpoint e;
    bool found = false;

    if (!parse(a, &e))
        return false;
    lock_acquire(&lock);
    for (size_t i = 0; i < n_known && !found; i++)
        found = known[i].port == e.port &&
                !memcmp(known[i].host, e.host, sizeof e.host);
    lock_release(&lock);
    return found;
}

/* undecided: becomes true if it neither is connected yet nor listens. */
static bool is_providers(int fd, bool *undecided)
{
    struct sockaddr_storage a = { 0 };
    socklen_t len = sizeof a;
    int protocol = 0, listens = 0;
    socklen_t size = sizeof protocol;

    if (getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &size) ||
        protocol != IPPROTO_TCP)
        return false;
    if (!getsockname(fd, (struct sockaddr *)&a, &len) && is_known(&a))
        return true;
    len = sizeof a;
    if (!getpeername(fd, (struct sockaddr *)&a, &len))
        return is_known(&a);
    if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) || !listens)
        *undecided = true;
    return false;
}

/* Is it watched from now on? */
static bool watch(int fd, bool *undecided)
{
    struct epoll_event in = { .events = EPOLLIN | EPOLLRDHUP, .data.fd = fd };
    struct epoll_event out = { .events = EPOLLOUT | EPOLLET, .data.fd = fd };

    /* Many sockets are watched already, and there are many addresses to compare
     * the others with. */
    if (!epoll_ctl(set, EPOLL_CTL_MOD, fd, &in))
        return true;
    if (!is_providers(fd, undecided) || epoll_ctl(set, EPOLL_CTL_ADD, fd, &in))
        return false;
    epoll_ctl(room, EPOLL_CTL_ADD, fd, &out);
    return true;
}

/* The number that the next descriptor above 2 gets, or -1; a socket that gets a
 * lower one is found after AGAIN_NS. */
static int next_descriptor(void)
{
    /* The program may be about to open the first three. */
    int fd = fcntl(set, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

    if (fd >= 0)
        close(fd);
    return fd;
}

/* How many sockets are watched now. */
static int examine(void)
{
    DIR *d = opendir("/proc/self/fd");
    struct dirent *entry;
    bool undecided = false;
    int n = 0, fd;

    examined_ns = clock_ns();
    if (!d)
        return 0;
    while ((entry = readdir(d))) {
        fd = atoi(entry->d_name);
        if (entry->d_name[0] != '.' && fd != set && fd != room)
            n += watch(fd, &undecided);
    }
    closedir(d);
    lowest_free = undecided ? -1 : next_descriptor();
    took_ns = clock_ns() - examined_ns;
    return n;
}

/* ---- the sets ---- */

static bool open_sets(void)
{
    struct epoll_event e = { .events = EPOLLIN };

    set = fd_keep(epoll_create1(EPOLL_CLOEXEC));
    room = fd_keep(epoll_create1(EPOLL_CLOEXEC));
    e.data.fd = room;
    return set >= 0 && room >= 0 && !epoll_ctl(set, EPOLL_CTL_ADD, room, &e);
}

/* Empty sets in place of them, under the same numbers; not where there is no
 * descriptor left. */
static void empty_sets(void)
{
    struct epoll_event e = { .events = EPOLLIN, .data.fd = room };
    int input = epoll_create1(EPOLL_CLOEXEC);
    int output = epoll_create1(EPOLL_CLOEXEC);

    if (input >= 0 && output >= 0) {
        dup3(input, set, O_CLOEXEC);
        dup3(output, room, O_CLOEXEC);
        epoll_ctl(set, EPOLL_CTL_ADD, room, &e);
    }
    if (input >= 0)
        close(input);
    if (output >= 0)
        close(output);
}

/* The provider has seen the end of these connections.  True: one belongs to no
 * descriptor of this process any more, but to a child's. */
static bool remove_ended(void)
{
    struct epoll_event e[EVENTS];
    int n = epoll_wait(set, e, EVENTS, 0);
    bool stays = false;

    for (int i = 0; i < n; i++)
        if (e[i].events & (EPOLLRDHUP | EPOLLHUP)) {
            stays |= epoll_ctl(set, EPOLL_CTL_DEL, e[i].data.fd, NULL) != 0;
            epoll_ctl(room, EPOLL_CTL_DEL, e[i].data.fd, NULL);
        }
    return stays;
}

void ofi_sockets_drain(void)
{
    struct epoll_event e[EVENTS];

    if (set < 0)
        return;
    while (epoll_wait(room, e, EVENTS, 0) == EVENTS)
        ;
}

void ofi_sockets_update(void)
{
    uint64_t since;
    bool stays = remove_ended();

    if (stays)
        empty_sets();
    since = clock_ns() - examined_ns;
    if (stays || since > AGAIN_NS ||
        ((took_ns < LONG_NS || since > PART * took_ns) &&
         (lowest_free < 0 || next_descriptor() != lowest_free)))
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
    if (n_known == most_known) {
        more = realloc(known, (most_known * 2 + 16) * sizeof *more);
        if (!more)              /* polled at intervals */
            goto out;
        known = more;
        most_known = most_known * 2 + 16;
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
    bool opened = open_sets();

    ofi_sockets_note(addr, len);
    if (!opened || !examine())
        ofi_sockets_close();
    return set;
}

void ofi_sockets_close(void)
{
    if (set >= 0)
        close(set);
    if (room >= 0)
        close(room);
    set = room = -1;
    lock_acquire(&lock);
    free(known);
    known = NULL;
    n_known = most_known = 0;
    lock_release(&lock);
}
