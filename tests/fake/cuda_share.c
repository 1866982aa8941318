/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: pieces of memory that one process exports are another one's to
 * map, on the stand-in for libcuda.
 *
 * The program is the owner and runs itself once more as the importer: the words
 * on their socket are steps, which both go in turn.  fabric: by handles of
 * bytes in place of descriptors. */
#include "vmm_test.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>

static int sock;
static int type = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
static struct cuda_mem_prop prop;

/* ---- the socket ---- */

struct step {
    char bytes[64];             /* a fabric handle */
    char byte;
};

/* fd -1: none goes with it. */
static void send_step(const struct step *step, int fd)
{
    union { char space[CMSG_SPACE(sizeof(int))]; struct cmsghdr head; } c;
    struct iovec io = { (void *)(uintptr_t)step, sizeof *step };
    struct msghdr m = { .msg_iov = &io, .msg_iovlen = 1 };

    memset(&c, 0, sizeof c);
    if (fd >= 0) {
        m.msg_control = &c;
        m.msg_controllen = sizeof c.space;
        c.head.cmsg_level = SOL_SOCKET;
        c.head.cmsg_type = SCM_RIGHTS;
        c.head.cmsg_len = CMSG_LEN(sizeof fd);
        memcpy(CMSG_DATA(&c.head), &fd, sizeof fd);
    }
    if (sendmsg(sock, &m, 0) != sizeof *step)
        T_TRUE(false);
}

static int receive_step(struct step *step)
{
    union { char space[CMSG_SPACE(sizeof(int))]; struct cmsghdr head; } c;
    struct iovec io = { step, sizeof *step };
    struct msghdr m = { .msg_iov = &io, .msg_iovlen = 1, .msg_control = &c,
                        .msg_controllen = sizeof c.space };
    int fd = -1;

    if (recvmsg(sock, &m, MSG_CMSG_CLOEXEC) != sizeof *step) {
        fprintf(stderr, "the other process is gone\n");
        exit(1);
    }
    if (m.msg_controllen && CMSG_FIRSTHDR(&m))
        memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof fd);
    return fd;
}

/* The other side's turn, until it is this one's again. */
static void turn(void)
{
    struct step step = { "", 0 };

    send_step(&step, -1);
    receive_step(&step);
}

static void await_turn(void)
{
    struct step step;

    receive_step(&step);
}

static void give_turn(void)
{
    struct step step = { "", 0 };

    send_step(&step, -1);
}

/* Exports the piece to the other one, and nothing is left of that here. */
static void pass(unsigned long long h)
{
    struct step step = { "", 0 };
    int fd = -1;

    if (type == CU_MEM_HANDLE_TYPE_FABRIC) {
        T_EQ(cuMemExportToShareableHandle(step.bytes, h, type, 0), 0);
        send_step(&step, -1);
        return;
    }
    T_EQ(cuMemExportToShareableHandle(&fd, h, type, 0), 0);
    T_TRUE(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    send_step(&step, fd);
    close(fd);
}

static unsigned long long passed(void)
{
    unsigned long long h = 0;
    struct step step;
    int fd = receive_step(&step);
    void *os = type == CU_MEM_HANDLE_TYPE_FABRIC ? (void *)step.bytes
                                                 : (void *)(intptr_t)fd;

    T_EQ(cuMemImportFromShareableHandle(&h, os, type), 0);
    if (fd >= 0)
        close(fd);
    return h;
}

/* ---- the importer ---- */

static void map(uint64_t p, int i, unsigned long long h)
{
    uint64_t at = p + (uint64_t)i * UNIT;

    T_EQ(cuMemMap(at, UNIT, 0, h, 0), 0);
    allow(at, UNIT, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
}

static int importer(void)
{
    size_t before = room();
    unsigned long long h[3];
    uint64_t p;

    T_EQ(cuMemAddressReserve(&p, 8 * UNIT, 0, 0, 0), 0);
    h[0] = passed();
    map(p, 4, h[0]);            /* at any place */
    T_EQ(room(), before);
    T_EQ(get(p + 4 * UNIT), 1);
    T_EQ(put(p + 4 * UNIT + 8, 2), 0);
    give_turn();
    h[1] = passed();
    map(p, 5, h[1]);
    T_EQ(get(p + 5 * UNIT), 3);
    T_EQ(get(p + 5 * UNIT - 4), (uint64_t)3 << 32);
    T_EQ(cuMemsetD8Async(p + 5 * UNIT - 8, 9, 16, NULL), 0);
    T_EQ(cuStreamSynchronize(NULL), 0);
    give_turn();
    /* A piece that no process has mapped before. */
    h[2] = passed();
    map(p, 6, h[2]);
    T_EQ(put(p + 6 * UNIT, 4), 0);
    give_turn();
    /* The owner has none of them any more. */
    await_turn();
    T_EQ(get(p + 4 * UNIT), 1);
    T_EQ(get(p + 5 * UNIT), 0x0909090909090909);
    T_EQ(get(p + 6 * UNIT), 4);
    for (int i = 0; i < 3; i++)
        shrink(p, 4 + i, h[i]);
    T_EQ(cuMemRelease(h[0]), INVALID);
    T_EQ(cuMemAddressFree(p, 8 * UNIT), 0);
    T_EQ(room(), before);
    give_turn();
    return T_DONE();
}

/* Of the second device of the machine, or with less room for others' memory;
 * the piece is of the first one. */
static int distant(void)
{
    struct cuda_mem_access a = { CU_MEM_LOCATION_TYPE_DEVICE, 0, 3 };
    const struct dev_setup *s = dev_setup();
    unsigned long long h;
    uint64_t p;
    int fd, may;

    may = s->peers == DEV_NO_PEERS ? (int)CUDA_ERROR_INVALID_DEVICE
        : s->bar && s->bar < UNIT ? (int)CUDA_ERROR_OUT_OF_MEMORY
        : CUDA_SUCCESS;
    T_EQ(cuMemAddressReserve(&p, UNIT, 0, 0, 0), 0);
    h = passed();
    T_EQ(cuMemMap(p, UNIT, 0, h, 0),
         s->refuses ? (int)CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS);
    if (!s->refuses) {
        T_EQ(cuMemSetAccess(p, UNIT, &a, 1), may);
        if (!may)
            T_EQ(get(p), 1);
        T_EQ(cuMemGetHandleForAddressRange(&fd, p, UNIT, 1, 0), INVALID);
        T_EQ(cuMemUnmap(p, UNIT), 0);
    }
    T_EQ(cuMemRelease(h), 0);
    T_EQ(cuMemAddressFree(p, UNIT), 0);
    return T_DONE();
}

/* ---- the owner ---- */

static pid_t start(const char *how)
{
    char number[16];
    pid_t child;
    int s[2];

    T_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, s), 0);
    child = fork();
    if (!child) {
        close(s[0]);
        snprintf(number, sizeof number, "%d", s[1]);
        if (!strcmp(how, "distant"))
            setenv("FAKE_DEVICE_FIRST", "1", 1);
        execl("/proc/self/exe", "cuda_share", how, number, (char *)NULL);
        _exit(127);
    }
    close(s[1]);
    sock = s[0];
    return child;
}

static void finish(pid_t child)
{
    int status = -1;

    close(sock);
    T_EQ(waitpid(child, &status, 0), child);
    T_EQ(status, 0);
}

static void share(const char *how)
{
    size_t before = room();
    unsigned long long h[3];
    pid_t child = start(how);
    uint64_t p;

    T_EQ(cuMemAddressReserve(&p, 4 * UNIT, 0, 0, 0), 0);
    grow(p, 0, &h[0], &prop);
    T_EQ(put(p, 1), 0);
    pass(h[0]);
    await_turn();
    T_EQ(get(p + 8), 2);
    grow(p, 1, &h[1], &prop);
    T_EQ(put(p + UNIT, 3), 0);
    pass(h[1]);
    await_turn();
    T_EQ(get(p + UNIT - 4), 0x0909090909090909);
    T_EQ(cuMemCreate(&h[2], UNIT, &prop, 0), 0);
    pass(h[2]);
    await_turn();
    map(p, 2, h[2]);
    T_EQ(get(p + 2 * UNIT), 4);
    for (int i = 0; i < 3; i++)
        shrink(p, i, h[i]);
    T_EQ(room(), before);
    /* What the importer has stays its, whatever comes to that place. */
    grow(p, 0, &h[0], &prop);
    T_EQ(get(p), 0);
    T_EQ(put(p, 77), 0);
    shrink(p, 0, h[0]);
    T_EQ(cuMemAddressFree(p, 4 * UNIT), 0);
    turn();
    finish(child);
}

T(descriptors_are_passed_and_imported)
{
    type = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    prop = plain;
    share("fd");
}

T(fabric_handles_are_passed_and_imported)
{
    if (dev_setup()->fabric != DEV_FABRIC)
        T_SKIP("the device has none");
    type = CU_MEM_HANDLE_TYPE_FABRIC;
    prop = plain;
    prop.handles = 9;
    share("fabric");
}

T(memory_of_another_device_is_mapped_by_the_rules_of_peers)
{
    unsigned long long h;
    pid_t child;
    uint64_t p;

    type = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    prop = plain;
    prop.rdma = 1;
    child = start("distant");
    T_EQ(cuMemAddressReserve(&p, UNIT, 0, 0, 0), 0);
    grow(p, 0, &h, &prop);
    T_EQ(put(p, 1), 0);
    pass(h);
    finish(child);
    shrink(p, 0, h);
    T_EQ(cuMemAddressFree(p, UNIT), 0);
}

/* Files of other kinds, and of the stand-in's own, by any number. */
T(wrong_descriptors_are_refused)
{
    unsigned long long h, got = 5;
    int pipes[2], own, copy;
    uint64_t p;

    T_EQ(cuMemAddressReserve(&p, UNIT, 0, 0, 0), 0);
    grow(p, 0, &h, &plain);
    T_EQ(pipe(pipes), 0);
    T_EQ(cuMemImportFromShareableHandle(&got, (void *)-1, 1), INVALID);
    for (intptr_t fd = 0; fd < 64; fd++)
        T_EQ(cuMemImportFromShareableHandle(&got, (void *)fd, 1), INVALID);
    T_EQ(got, 5);
    T_EQ(cuMemExportToShareableHandle(&own, h, 1, 1), INVALID);
    T_EQ(cuMemExportToShareableHandle(&own, h, 2, 0), INVALID);
    T_EQ(cuMemExportToShareableHandle(&own, h, 8, 0), INVALID);
    T_EQ(cuMemExportToShareableHandle(&own, h + 1, 1, 0), INVALID);
    T_EQ(cuMemExportToShareableHandle(&own, h, 1, 0), 0);
    T_EQ(cuMemExportToShareableHandle(&copy, h, 1, 0), 0);
    T_NE(own, copy);
    close(copy);
    /* The stand-in's own descriptors of that memory are none, either. */
    for (intptr_t fd = 0; fd < 64; fd++)
        if (fd != own)
            T_EQ(cuMemImportFromShareableHandle(&got, (void *)fd, 1), INVALID);
    T_EQ(cuMemImportFromShareableHandle(&got, (void *)(intptr_t)copy, 1),
         INVALID);
    T_EQ(cuMemImportFromShareableHandle(&got, (void *)(intptr_t)own, 2),
         INVALID);
    T_EQ(cuMemImportFromShareableHandle(&got, (void *)(intptr_t)own, 1), 0);
    T_NE(got, h);
    T_EQ(cuMemRelease(got), 0);
    close(own);
    close(pipes[0]);
    close(pipes[1]);
    shrink(p, 0, h);
    T_EQ(cuMemAddressFree(p, UNIT), 0);
}

T(memory_without_a_kind_of_handle_is_not_exported)
{
    struct cuda_mem_prop none = plain;
    unsigned long long h;
    char bytes[64] = "";
    int fd;

    none.handles = 0;
    T_EQ(cuMemCreate(&h, UNIT, &none, 0), 0);
    T_EQ(cuMemExportToShareableHandle(&fd, h, 1, 0), INVALID);
    T_EQ(cuMemExportToShareableHandle(bytes, h, 8, 0), INVALID);
    T_EQ(cuMemRelease(h), 0);
    none.handles = CU_MEM_HANDLE_TYPE_FABRIC;
    T_EQ(cuMemCreate(&h, UNIT, &none, 0),
         dev_setup()->fabric == DEV_FABRIC ? CUDA_SUCCESS :
         dev_setup()->fabric == DEV_NO_FABRIC
         ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_NOT_PERMITTED);
    if (dev_setup()->fabric != DEV_FABRIC)
        return;
    T_EQ(cuMemImportFromShareableHandle(&h, bytes, 8), INVALID);
    T_EQ(cuMemExportToShareableHandle(&fd, h, 1, 0), INVALID);
    T_EQ(cuMemRelease(h), 0);
}

int main(int argc, char **argv)
{
    begin();
    if (argc > 2) {
        type = !strcmp(argv[1], "fabric")
            ? CU_MEM_HANDLE_TYPE_FABRIC
            : CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
        sock = atoi(argv[2]);
        return !strcmp(argv[1], "distant") ? distant() : importer();
    }
    T_RUN(wrong_descriptors_are_refused);
    T_RUN(descriptors_are_passed_and_imported);
    T_RUN(fabric_handles_are_passed_and_imported);
    T_RUN(memory_of_another_device_is_mapped_by_the_rules_of_peers);
    T_RUN(memory_without_a_kind_of_handle_is_not_exported);
    return T_DONE();
}
