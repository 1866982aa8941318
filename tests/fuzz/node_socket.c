/* SPDX-License-Identifier: BSD-3-Clause */
/* The messages of the node's local socket: the bytes are a hello, and a reply
 * that comes with them as control data too. */
#include "fuzz.h"

#include "sm/sm_int.h"

#include <fcntl.h>
#include <unistd.h>

static const struct sm_address address = { .token = "0123456789abcdef" };

static void hello(const uint8_t *data, size_t size)
{
    struct sm_hello h = { .local = -1 };

    memcpy(&h, data, size < sizeof h ? size : sizeof h);
    if (sm_socket_hello_ok(&h, size, &address, 4))
        FUZZ_CHECK(size == sizeof h && h.local > 0 && h.local < 4 &&
                   !memcmp(data, address.token, sizeof address.token));
}

/* Two bytes: which flags, and how much of the rest is the reply; then that,
 * then control data.  Descriptors as the kernel would make them: real, and
 * ours. */
static void reply(const uint8_t *data, size_t size)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = { .bytes = { 0 } };
    struct sm_reply r = { -1 };
    struct iovec iov = { &r, sizeof r };
    struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1,
                        .msg_control = control.bytes };
    size_t claimed, kept;
    int fd = -1, second = -1, got;

    if (size < 2)
        return;
    m.msg_flags = (data[0] & 1 ? MSG_TRUNC : 0) | (data[0] & 2 ? MSG_CTRUNC : 0);
    claimed = data[1] < size - 2 ? data[1] : size - 2;
    kept = claimed < sizeof r ? claimed : sizeof r;
    memcpy(&r, data + 2, kept);
    m.msg_controllen = size - 2 - claimed < sizeof control ? size - 2 - claimed
                                                        : sizeof control;
    memcpy(control.bytes, data + 2 + claimed, m.msg_controllen);
    if (m.msg_controllen >= CMSG_LEN(sizeof fd)) {
        fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
        memcpy(CMSG_DATA(&control.align), &fd, sizeof fd);
    }
    if (m.msg_controllen >= CMSG_LEN(2 * sizeof fd)) {
        second = open("/dev/null", O_RDONLY | O_CLOEXEC);
        memcpy(CMSG_DATA(&control.align) + sizeof fd, &second, sizeof fd);
    }
    got = sm_socket_reply_fd(&m, claimed);
    FUZZ_CHECK(got < 0 || (got == fd && claimed == sizeof r && !m.msg_flags));
    if (fd >= 0)
        close(fd);
    if (second >= 0)
        close(second);
}

void fuzz_one(const uint8_t *data, size_t size)
{
    hello(data, size);
    reply(data, size);
}
