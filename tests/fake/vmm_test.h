/* SPDX-License-Identifier: BSD-3-Clause */
/* vmm_test.h - what the tests of virtual memory on the stand-in for libcuda
 * share: one mapping of a unit at a time, and words that are read and stored in
 * the order of the default stream. */
#ifndef FAKE_VMM_TEST_H
#define FAKE_VMM_TEST_H

#include "fake.h"
#include "t.h"

#include <sys/wait.h>

#define UNIT DEV_UNIT
enum { INVALID = CUDA_ERROR_INVALID_VALUE };

static const struct cuda_mem_prop plain = {
    .type = CU_MEM_ALLOCATION_TYPE_PINNED,
    .handles = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
    .location = CU_MEM_LOCATION_TYPE_DEVICE
};

/* The first device's context. */
static T_UNUSED void begin(void)
{
    void *ctx;

    T_EQ(cuInit(0), 0);
    T_EQ(cuDevicePrimaryCtxRetain(&ctx, 0), 0);
    T_EQ(cuCtxPushCurrent_v2(ctx), 0);
}

static T_UNUSED int attribute(int which)
{
    int out = -1;

    T_EQ(cuDeviceGetAttribute(&out, which, 0), 0);
    return out;
}

static T_UNUSED uint64_t pointer(uint64_t p, int which)
{
    uint64_t is = 0;
    void *out[] = { &is };

    T_EQ(cuPointerGetAttributes(1, &which, out, p), 0);
    return is;
}

static T_UNUSED size_t room(void)
{
    size_t unused = 0, total;

    T_EQ(cuMemGetInfo_v2(&unused, &total), 0);
    return unused;
}

static T_UNUSED int put(uint64_t p, uint64_t value)
{
    int rc = cuMemcpyAsync(p, (uintptr_t)&value, 8, NULL);

    return rc ? rc : cuStreamSynchronize(NULL);
}

static T_UNUSED uint64_t get(uint64_t p)
{
    uint64_t is = ~(uint64_t)0;

    T_EQ(cuMemcpyAsync((uintptr_t)&is, p, 8, NULL), 0);
    T_EQ(cuStreamSynchronize(NULL), 0);
    return is;
}

static T_UNUSED void allow(uint64_t p, size_t size, int flags)
{
    struct cuda_mem_access a = { CU_MEM_LOCATION_TYPE_DEVICE, 0, flags };

    T_EQ(cuMemSetAccess(p, size, &a, 1), 0);
}

/* A new piece as unit i of the reservation, with access. */
static T_UNUSED void grow(uint64_t p, int i, unsigned long long *h,
                          const struct cuda_mem_prop *prop)
{
    uint64_t at = p + (uint64_t)i * UNIT;

    T_EQ(cuMemCreate(h, UNIT, prop, 0), 0);
    T_EQ(cuMemMap(at, UNIT, 0, *h, 0), 0);
    allow(at, UNIT, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
}

static T_UNUSED void shrink(uint64_t p, int i, unsigned long long h)
{
    T_EQ(cuMemUnmap(p + (uint64_t)i * UNIT, UNIT), 0);
    T_EQ(cuMemRelease(h), 0);
}

static T_UNUSED int dmabuf(uint64_t p, size_t size, int *fd)
{
    return cuMemGetHandleForAddressRange(fd, p, size, 1, 0);
}

/* Another process of this program; its status. */
static T_UNUSED int in_child(const char *word)
{
    int status = -1;
    pid_t child = fork();

    if (!child) {
        execl("/proc/self/exe", "child", word, (char *)NULL);
        _exit(127);
    }
    T_EQ(waitpid(child, &status, 0), child);
    return status;
}

#endif
