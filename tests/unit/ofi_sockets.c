/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: the descriptor on which the progress thread sleeps has input
 * when a socket of the provider has, also of connections made later, and never
 * for those of the program.
 * Timeout: 30 */
#include "unit.h"

#include "ofi/net/ofi_sockets.h"

#include <linux/sockios.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* A socket that listens on the loop-back, and its address. */
struct listener {
    int fd;
    struct sockaddr_storage addr;
    socklen_t len;
};

static struct listener listen_on(int family)
{
    struct listener l = { .fd = socket(family, SOCK_STREAM, 0),
                          .len = sizeof l.addr };
    struct sockaddr_in v4 = { .sin_family = AF_INET,
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    struct sockaddr_in6 v6 = { .sin6_family = AF_INET6,
                               .sin6_addr = IN6ADDR_LOOPBACK_INIT };

    if (family == AF_INET)
        T_EQ(bind(l.fd, (struct sockaddr *)&v4, sizeof v4), 0);
    else
        T_EQ(bind(l.fd, (struct sockaddr *)&v6, sizeof v6), 0);
    T_EQ(listen(l.fd, 8), 0);
    T_EQ(getsockname(l.fd, (struct sockaddr *)&l.addr, &l.len), 0);
    return l;
}

static int connect_to(const struct listener *l)
{
    int fd = socket(l->addr.ss_family, SOCK_STREAM, 0);

    T_EQ(connect(fd, (const struct sockaddr *)&l->addr, l->len), 0);
    return fd;
}

/* As the progress thread does: sockets that were added have room, which is an
 * event. */
static void update(void)
{
    ofi_sockets_update();
    ofi_sockets_drain();
}

/* Where input is expected, the thread would update every 20 ms meanwhile: on a
 * slow machine it does not examine descriptors each time. */
static bool has_input(int fd, bool expected)
{
    struct pollfd p = { .fd = fd, .events = POLLIN };
    int tries = expected ? 150 : 1;

    while (tries-- && poll(&p, 1, 20) == 0)
        if (expected)
            update();
    return p.revents & POLLIN;
}

static void send_byte(int fd)
{
    T_EQ(write(fd, "x", 1), 1);
}

static bool is_full(int fd)
{
    struct pollfd p = { .fd = fd, .events = POLLOUT };

    return poll(&p, 1, 20) == 0;
}

static void take_byte(int fd)
{
    char c;

    T_EQ(read(fd, &c, 1), 1);
}

/* What comes through the one is seen until the other end reads it. */
static void check_watched(int set, int from, int to)
{
    T_TRUE(!has_input(set, false));
    send_byte(from);
    T_TRUE(has_input(set, true));
    T_TRUE(has_input(set, true));
    take_byte(to);
    T_TRUE(!has_input(set, false));
}

static void check_family(int family)
{
    struct listener own = listen_on(family), peer = listen_on(family);
    struct listener others = listen_on(family);
    int set, in[2], out[2], strangers[2];

    set = ofi_sockets_open(&own.addr, own.len);
    T_LE(0, set);
    T_TRUE(ofi_sockets_watched());
    update();

    /* A peer connects: the listening socket has input until the accept. */
    in[0] = connect_to(&own);
    T_TRUE(has_input(set, true));
    in[1] = accept(own.fd, NULL, NULL);
    T_TRUE(!has_input(set, false));
    update();
    check_watched(set, in[0], in[1]);
    check_watched(set, in[1], in[0]);   /* both ends are here */

    /* This PE connects with a peer, whose address is known by then. */
    ofi_sockets_note(&peer.addr, peer.len);
    out[0] = connect_to(&peer);
    out[1] = accept(peer.fd, NULL, NULL);
    update();
    check_watched(set, out[1], out[0]);

    /* The program's own. */
    strangers[0] = connect_to(&others);
    strangers[1] = accept(others.fd, NULL, NULL);
    update();
    send_byte(strangers[1]);
    send_byte(strangers[0]);
    T_TRUE(!has_input(set, false));

    /* The end of a connection is input; a closed socket is not. */
    close(in[0]);
    T_TRUE(has_input(set, true));
    close(in[1]);
    update();
    T_TRUE(!has_input(set, false));
    check_watched(set, out[1], out[0]);

    ofi_sockets_close();
    T_TRUE(!ofi_sockets_watched());
    for (int i = 0; i < 2; i++) {
        close(out[i]);
        close(strangers[i]);
    }
    close(own.fd);
    close(peer.fd);
    close(others.fd);
}

T(sockets_of_the_provider_are_watched)
{
    check_family(AF_INET);
}

T(also_with_long_addresses)
{
    struct sockaddr_in6 v6 = { .sin6_family = AF_INET6,
                               .sin6_addr = IN6ADDR_LOOPBACK_INIT };
    int fd = socket(AF_INET6, SOCK_STREAM, 0);

    if (fd < 0 || bind(fd, (struct sockaddr *)&v6, sizeof v6))
        T_SKIP("no IPv6 here");
    close(fd);
    check_family(AF_INET6);
}

T(many_connections_are_watched)
{
    enum { MANY = 100 };
    struct listener own = listen_on(AF_INET);
    int set = ofi_sockets_open(&own.addr, own.len), fds[MANY][2];

    for (int i = 0; i < MANY; i++) {
        fds[i][0] = connect_to(&own);
        fds[i][1] = accept(own.fd, NULL, NULL);
    }
    update();
    for (int i = 0; i < MANY; i += 9)
        check_watched(set, fds[i][0], fds[i][1]);
    ofi_sockets_close();
    for (int i = 0; i < MANY; i++) {
        close(fds[i][0]);
        close(fds[i][1]);
    }
    close(own.fd);
}

/* The provider has the rest of an answer to send. */
T(a_full_socket_that_takes_bytes_again_is_an_event)
{
    struct listener own = listen_on(AF_INET);
    int set = ofi_sockets_open(&own.addr, own.len), from, to;
    static char bytes[1 << 16];
    int left = 0;
    ssize_t n;

    from = connect_to(&own);
    to = accept(own.fd, NULL, NULL);
    update();
    T_TRUE(!has_input(set, false));
    do {
        while ((n = send(from, bytes, sizeof bytes, MSG_DONTWAIT)) > 0)
            ;
        update();
        ofi_sockets_drain();
    } while (!is_full(from));
    while (is_full(from))
        recv(to, bytes, sizeof bytes, MSG_DONTWAIT);
    T_TRUE(has_input(set, true));
    ofi_sockets_drain();
    do {                        /* until the sender has news of all of it */
        while (has_input(to, false))
            recv(to, bytes, sizeof bytes, MSG_DONTWAIT);
        T_EQ(ioctl(from, SIOCOUTQ, &left), 0);
    } while (left);
    ofi_sockets_drain();
    T_TRUE(!has_input(set, false));
    ofi_sockets_close();
    close(from);
    close(to);
    close(own.fd);
}

/* A child has the sockets of a connection that ends. */
T(a_child_keeps_no_entry)
{
    struct listener own = listen_on(AF_INET);
    int set = ofi_sockets_open(&own.addr, own.len), fds[2][2];
    pid_t child;

    for (int i = 0; i < 2; i++) {
        fds[i][0] = connect_to(&own);
        fds[i][1] = accept(own.fd, NULL, NULL);
    }
    update();
    child = fork();
    if (!child) {
        close(fds[0][0]);
        pause();
        _exit(0);
    }
    usleep(100000);             /* the child has closed it */
    close(fds[0][0]);
    T_TRUE(has_input(set, true));
    close(fds[0][1]);
    T_TRUE(has_input(set, true));       /* still */
    for (int i = 0; i < 3 && has_input(set, false); i++)
        update();
    T_TRUE(!has_input(set, false));
    check_watched(set, fds[1][0], fds[1][1]);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    ofi_sockets_close();
    close(fds[1][0]);
    close(fds[1][1]);
    close(own.fd);
}

/* Then the provider's own descriptor is used. */
T(without_a_listening_socket_nothing_is_watched)
{
    struct listener own = listen_on(AF_INET);
    struct sockaddr_un other = { AF_UNIX, "elsewhere" };

    close(own.fd);
    T_EQ(ofi_sockets_open(&own.addr, own.len), -1);
    T_TRUE(!ofi_sockets_watched());
    T_EQ(ofi_sockets_open(&other, sizeof other), -1);
    ofi_sockets_note(&own.addr, own.len);
    ofi_sockets_close();
}

int main(void)
{
    T_RUN(sockets_of_the_provider_are_watched);
    T_RUN(also_with_long_addresses);
    T_RUN(many_connections_are_watched);
    T_RUN(a_full_socket_that_takes_bytes_again_is_an_event);
    T_RUN(a_child_keeps_no_entry);
    T_RUN(without_a_listening_socket_nothing_is_watched);
    return T_DONE();
}
