/* SPDX-License-Identifier: BSD-3-Clause */
/* The messages of the node's local socket: the bytes are a hello, and a reply
 * that comes with them as control data too. */
#include "fuzz.h"

#include "sm/sm_int.h"

#include <fcntl.h>
#include <unistd.h>

static const struct sm_address card = { .token = "0123456789abcdef" };

static void hello(const uint8_t *data, size_t size)
{
    struct sm_hello h = { .local = -1 };

    memcpy(&h, data, size < sizeof h ? size : sizeof h);
    if (sm_socket_hello_ok(&h, size, &card, 4))
        FUZZ_CHECK(size == sizeof h && h.local > 0 && h.local < 4 &&
                   !memcmp(data, card.token, sizeof card.token));
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
    size_t told, kept;
    int fd = -1, second = -1, got;

    if (size < 2)
        return;
    m.msg_flags = (data[0] & 1 ? MSG_TRUNC : 0) | (data[0] & 2 ? MSG_CTRUNC : 0);
    told = data[1] < size - 2 ? data[1] : size - 2;
    kept = told < sizeof r ? told : sizeof r;
    memcpy(&r, data + 2, kept);
    m.msg_controllen = size - 2 - told < sizeof control ? size - 2 - told
                                                        : sizeof control;
    memcpy(control.bytes, data + 2 + told, m.msg_controllen);
    if (m.msg_controllen >= CMSG_LEN(sizeof fd)) {
        fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
        memcpy(CMSG_DATA(&control.align), &fd, sizeof fd);
    }
    if (m.msg_controllen >= CMSG_LEN(2 * sizeof fd)) {
        second = open("/dev/null", O_RDONLY | O_CLOEXEC);
        memcpy(CMSG_DATA(&control.align) + sizeof fd, &second, sizeof fd);
    }
    got = sm_socket_reply_fd(&m, told);
    FUZZ_CHECK(got < 0 || (got == fd && told == sizeof r && !m.msg_flags));
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
