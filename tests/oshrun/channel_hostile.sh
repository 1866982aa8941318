#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: whatever a PE's processes send over its channel, oshrun goes on
# to look at the clock, and says once that it was no message.
set -u
. "$(dirname "$0")/oshrun.inc"

cat >"$dir/pe.c" <<'C'
#include "rt/rt_wire.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int channel;

/* More than oshrun reads meanwhile. */
static void flood(const char *bytes, size_t size)
{
    for (int i = 0; i < 3 && fork(); i++)
        ;
    for (;;)
        if (send(channel, bytes, size, MSG_NOSIGNAL) < 0)
            usleep(1000);
}

/* A message without its body, which is not read. */
static void hello(int fd)
{
    struct rt_wire_head h = { .magic = RT_WIRE_MAGIC, .type = RT_HELLO };
    struct iovec iov = { &h, sizeof h };
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = { .bytes = { 0 } };
    struct msghdr m = {
        .msg_iov = &iov, .msg_iovlen = 1,
        .msg_control = control.bytes, .msg_controllen = sizeof control.bytes
    };
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);

    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(c), &fd, sizeof fd);
    if (sendmsg(channel, &m, 0) < 0)
        exit(8);
}

/* Full: no answer finds room there. */
static void session(int full)
{
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends))
        exit(8);
    while (full && send(ends[1], "full", 4, MSG_DONTWAIT) > 0)
        ;
    hello(ends[1]);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int null = open("/dev/null", O_RDWR);

    channel = atoi(getenv("SLUICE_JOB_CHANNEL"));
    if (!strcmp(what, "garbage"))
        flood("garbage", 7);
    if (!strcmp(what, "empty"))
        flood("", 0);
    if (!strcmp(what, "file"))
        hello(null);
    if (!strcmp(what, "busy"))      /* a further one is refused */
        session(0);
    if (!strcmp(what, "full") || !strcmp(what, "busy"))
        session(1);
    for (;;)
        pause();
}
C
${CC:-cc} -D_GNU_SOURCE -I"$SRC/src" "$dir/pe.c" -o "$dir/pe" || exit 1

for what in garbage empty file full busy; do
    try --timeout 2 -n 2 "$dir/pe" $what
    expect 124 "$what"
    [ "$ms" -lt 30000 ] || fail "$what: it took $ms ms"
    # One line of each PE at most, and that on the time.
    [ "$(wc -l <"$err")" -le 3 ] ||
        fail "$what: $(wc -l <"$err") lines: $(head -n 5 "$err")"
    case $what in
        garbage)
            grep -qx 'oshrun: PE 1 sent what is no message \[S-E-CHANNEL\]' "$err" ||
                fail "$what: $(cat "$err")" ;;
    esac
done
finish 'hostile: garbage, nothing, no session, full sessions'
