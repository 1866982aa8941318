/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: the stand-in for libcuda keeps the vendor's rules of virtual
 * memory.
 *
 * vmm.sh runs it in each environment.  With a word it is another process,
 * whose device meets an illegal address. */
#include "vmm_test.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

T(attributes_say_what_there_is)
{
    const struct dev_setup *s = dev_setup();
    bool bare = s->is == DEV_BARE;

    T_EQ(attribute(102), s->vmm);
    T_EQ(attribute(103), s->vmm);
    T_EQ(attribute(110), s->vmm_nic);
    T_EQ(attribute(115), !bare && fake_version() >= 11020);
    T_EQ(attribute(128), s->fabric != DEV_NO_FABRIC);
}

T(without_it_no_call_is_supported)
{
    struct cuda_mem_access a = { CU_MEM_LOCATION_TYPE_DEVICE, 0, 3 };
    unsigned long long h = 1;
    uint64_t p = UNIT;
    size_t size;
    int fd;

    if (dev_setup()->vmm)
        T_SKIP("it is there");
    T_EQ(cuMemAddressReserve(&p, UNIT, 0, 0, 0), CUDA_ERROR_NOT_SUPPORTED);
    T_EQ(cuMemAddressFree(p, UNIT), CUDA_ERROR_NOT_SUPPORTED);
    T_EQ(cuMemCreate(&h, UNIT, &plain, 0), CUDA_ERROR_NOT_SUPPORTED);
    T_EQ(cuMemRelease(h), CUDA_ERROR_NOT_SUPPORTED);
    T_EQ(cuMemMap(p, UNIT, 0, h, 0), CUDA_ERROR_NOT_SUPPORTED);
    T_EQ(cuMemUnmap(p, UNIT), CUDA_ERROR_NOT_SUPPORTED);
    T_EQ(cuMemSetAccess(p, UNIT, &a, 1), CUDA_ERROR_NOT_SUPPORTED);
    T_EQ(cuMemExportToShareableHandle(&fd, h, 1, 0), CUDA_ERROR_NOT_SUPPORTED);
    T_EQ(cuMemImportFromShareableHandle(&h, NULL, 1),
         CUDA_ERROR_NOT_SUPPORTED);
    T_EQ(cuMemGetAllocationGranularity(&size, &plain, 0),
         CUDA_ERROR_NOT_SUPPORTED);
}

/* ---- addresses and memory ---- */

T(reservations_are_of_whole_units_and_freed_whole)
{
    uint64_t p = 0, q = 0;

    T_EQ(cuMemAddressReserve(&p, UNIT + 4096, 0, 0, 0), INVALID);
    T_EQ(cuMemAddressReserve(&p, 0, 0, 0, 0), INVALID);
    T_EQ(cuMemAddressReserve(&p, UNIT, 3 * UNIT, 0, 0), INVALID);
    T_EQ(cuMemAddressReserve(&p, UNIT, 0, 4096, 0), INVALID);
    T_EQ(cuMemAddressReserve(&p, UNIT, 0, 0, 1), INVALID);
    T_EQ(p, 0);
    T_EQ(cuMemAddressReserve(&p, 2 * UNIT, 0, 0, 0), 0);
    T_EQ(p % UNIT, 0);
    T_EQ(cuMemAddressReserve(&q, UNIT, 16 * UNIT, 0, 0), 0);
    T_EQ(q % (16 * UNIT), 0);
    T_EQ(cuMemAddressFree(p, UNIT), INVALID);
    T_EQ(cuMemAddressFree(p + UNIT, UNIT), INVALID);
    T_EQ(cuMemAddressFree(p, 2 * UNIT), 0);
    T_EQ(cuMemAddressFree(p, 2 * UNIT), INVALID);
    T_EQ(cuMemAddressFree(q, UNIT), 0);
}

T(memory_takes_room_until_handle_and_mappings_are_gone)
{
    size_t before = room(), size = 0;
    unsigned long long h, big;
    uint64_t p;

    T_EQ(cuMemGetAllocationGranularity(&size, &plain, 0), 0);
    T_EQ(size, UNIT);
    T_EQ(cuMemGetAllocationGranularity(&size, &plain, 1), 0);
    T_EQ(size, UNIT);
    T_EQ(cuMemGetAllocationGranularity(&size, &plain, 2), INVALID);
    T_EQ(cuMemAddressReserve(&p, 4 * UNIT, 0, 0, 0), 0);
    T_EQ(room(), before);
    T_EQ(cuMemCreate(&h, UNIT, &plain, 0), 0);
    T_EQ(room(), before - UNIT);
    T_EQ(cuMemCreate(&big, dev_setup()->memory, &plain, 0),
         CUDA_ERROR_OUT_OF_MEMORY);
    T_EQ(cuMemMap(p, UNIT, 0, h, 0), 0);
    T_EQ(cuMemRelease(h), 0);
    T_EQ(cuMemRelease(h), INVALID);
    T_EQ(room(), before - UNIT);
    T_EQ(cuMemMap(p + UNIT, UNIT, 0, h, 0), INVALID);
    T_EQ(cuMemUnmap(p, UNIT), 0);
    T_EQ(room(), before);
    T_EQ(cuMemCreate(&h, UNIT, &plain, 0), 0);
    T_EQ(cuMemRelease(h), 0);
    T_EQ(room(), before);
    T_EQ(cuMemAddressFree(p, 4 * UNIT), 0);
}

T(properties_of_memory_are_checked)
{
    struct cuda_mem_prop bad = plain;
    unsigned long long h;

    T_EQ(cuMemCreate(&h, UNIT / 2, &plain, 0), INVALID);
    T_EQ(cuMemCreate(&h, 0, &plain, 0), INVALID);
    T_EQ(cuMemCreate(&h, UNIT, &plain, 1), INVALID);
    T_EQ(cuMemCreate(&h, UNIT, NULL, 0), INVALID);
    bad.type = 0;
    T_EQ(cuMemCreate(&h, UNIT, &bad, 0), INVALID);
    bad = plain;
    bad.device = dev_setup()->count;
    T_EQ(cuMemCreate(&h, UNIT, &bad, 0), CUDA_ERROR_INVALID_DEVICE);
    bad = plain;
    bad.location = 2;
    T_EQ(cuMemCreate(&h, UNIT, &bad, 0), INVALID);
    bad = plain;
    bad.reserved[3] = 1;
    T_EQ(cuMemCreate(&h, UNIT, &bad, 0), INVALID);
    bad = plain;
    bad.not_here = &bad;
    T_EQ(cuMemCreate(&h, UNIT, &bad, 0), INVALID);
    bad = plain;
    bad.handles = 2;
    T_EQ(cuMemCreate(&h, UNIT, &bad, 0), INVALID);
    bad = plain;
    bad.rdma = 1;
    T_EQ(cuMemCreate(&h, UNIT, &bad, 0), attribute(110) ? 0 : INVALID);
    if (attribute(110))
        T_EQ(cuMemRelease(h), 0);
}

/* ---- mappings ---- */

T(mappings_do_not_overlap_and_go_whole)
{
    struct cuda_mem_access a = { CU_MEM_LOCATION_TYPE_DEVICE, 0, 3 };
    unsigned long long h[2];
    uint64_t p;

    T_EQ(cuMemAddressReserve(&p, 4 * UNIT, 0, 0, 0), 0);
    T_EQ(cuMemCreate(&h[0], 2 * UNIT, &plain, 0), 0);
    T_EQ(cuMemCreate(&h[1], UNIT, &plain, 0), 0);
    T_EQ(cuMemMap(p, 2 * UNIT, UNIT, h[0], 0), INVALID);
    T_EQ(cuMemMap(p, 2 * UNIT, 0, h[0], 1), INVALID);
    T_EQ(cuMemMap(p, 3 * UNIT, 0, h[0], 0), INVALID);
    T_EQ(cuMemMap(p + 4096, UNIT, 0, h[1], 0), INVALID);
    T_EQ(cuMemMap(p, 4096, 0, h[1], 0), INVALID);
    T_EQ(cuMemMap(p, UNIT, 0, h[1] + 1000, 0), INVALID);
    T_EQ(cuMemMap(p + 3 * UNIT, 2 * UNIT, 0, h[0], 0), INVALID);
    T_EQ(cuMemMap(p, 2 * UNIT, 0, h[0], 0), 0);
    T_EQ(cuMemMap(p + UNIT, UNIT, 0, h[1], 0), INVALID);
    T_EQ(cuMemMap(p + 2 * UNIT, UNIT, 0, h[1], 0), 0);
    T_EQ(cuMemAddressFree(p, 4 * UNIT), INVALID);
    T_EQ(cuMemSetAccess(p, UNIT, &a, 1), INVALID);
    T_EQ(cuMemSetAccess(p, 4 * UNIT, &a, 1), INVALID);
    T_EQ(cuMemSetAccess(p, 3 * UNIT, &a, 0), INVALID);
    a.flags = 2;
    T_EQ(cuMemSetAccess(p, 3 * UNIT, &a, 1), INVALID);
    a.flags = 3;
    a.device = dev_setup()->count;
    T_EQ(cuMemSetAccess(p, 3 * UNIT, &a, 1), CUDA_ERROR_INVALID_DEVICE);
    a.location = 3;
    T_EQ(cuMemSetAccess(p, 3 * UNIT, &a, 1), INVALID);
    T_EQ(cuMemUnmap(p, UNIT), INVALID);
    T_EQ(cuMemUnmap(p, 4 * UNIT), INVALID);
    T_EQ(cuMemUnmap(p, 3 * UNIT), 0);
    T_EQ(cuMemUnmap(p, 3 * UNIT), INVALID);
    T_EQ(cuMemRelease(h[0]), 0);
    T_EQ(cuMemRelease(h[1]), 0);
    T_EQ(cuMemAddressFree(p, 4 * UNIT), 0);
}

static void *there(uint64_t p)
{
    return (void *)(uintptr_t)p;
}

T(work_goes_across_mappings_with_access_only)
{
    unsigned long long h[2];
    uint64_t p, plain_one;

    T_EQ(cuMemAddressReserve(&p, 4 * UNIT, 0, 0, 0), 0);
    T_EQ(cuMemAlloc_v2(&plain_one, 4096), 0);
    grow(p, 0, &h[0], &plain);
    T_EQ(put(p, 1), 0);
    T_EQ(put(p + UNIT - 4, 2), INVALID);        /* half behind it */
    T_EQ(put(p + UNIT, 2), INVALID);
    T_EQ(cuMemCreate(&h[1], UNIT, &plain, 0), 0);
    T_EQ(cuMemMap(p + UNIT, UNIT, 0, h[1], 0), 0);
    T_EQ(put(p + UNIT, 2), INVALID);            /* no device may */
    allow(p + UNIT, UNIT, 3);
    T_EQ(get(p + UNIT), 0);
    T_EQ(put(p + UNIT - 4, 0x1122334455667788), 0);
    T_EQ(get(p + UNIT - 4), 0x1122334455667788);
    T_EQ(cuMemsetD8Async(p, 7, 2 * UNIT, NULL), 0);
    T_EQ(get(p + 2 * UNIT - 8), 0x0707070707070707);
    T_EQ(cuMemcpyAsync(plain_one, p + UNIT - 8, 16, NULL), 0);
    T_EQ(get(plain_one + 8), 0x0707070707070707);
    T_EQ(cuMemFree_v2(plain_one), 0);
    allow(p, 2 * UNIT, 0);
    T_EQ(put(p, 1), INVALID);
    allow(p, 2 * UNIT, 3);
    T_EQ(get(p), 0x0707070707070707);
    T_EQ(cuMemUnmap(p, 2 * UNIT), 0);
    /* A handle that lives keeps its bytes, at any address. */
    T_EQ(cuMemMap(p + 3 * UNIT, UNIT, 0, h[1], 0), 0);
    allow(p + 3 * UNIT, UNIT, 3);
    T_EQ(get(p + 4 * UNIT - 8), 0x0707070707070707);
    T_EQ(cuMemRelease(h[0]), 0);
    grow(p, 1, &h[0], &plain);          /* where another one's bytes are */
    T_EQ(put(p + UNIT, 5), 0);
    T_EQ(get(p + 4 * UNIT - 8), 0x0707070707070707);
    T_EQ(cuMemUnmap(p + UNIT, UNIT), 0);
    T_EQ(cuMemUnmap(p + 3 * UNIT, UNIT), 0);
    T_EQ(cuMemRelease(h[0]), 0);
    T_EQ(cuMemRelease(h[1]), 0);
    T_EQ(cuMemAddressFree(p, 4 * UNIT), 0);
}

T(the_processor_touches_what_a_coherent_device_maps)
{
    unsigned long long h;
    int status;
    uint64_t p;
    pid_t child;

    T_EQ(cuMemAddressReserve(&p, UNIT, 0, 0, 0), 0);
    grow(p, 0, &h, &plain);
    child = fork();
    if (!child) {
        signal(SIGSEGV, SIG_DFL);
        *(volatile char *)there(p) = 1;
        _exit(0);
    }
    T_EQ(waitpid(child, &status, 0), child);
    T_EQ(status, dev_setup()->is == DEV_COHERENT ? 0 : SIGSEGV);
    shrink(p, 0, h);
    T_EQ(cuMemAddressFree(p, UNIT), 0);
}

T(what_is_not_there_is_an_illegal_address)
{
    T_EQ(in_child("unmapped"), 0);
    if (dev_setup()->count > 1 && dev_setup()->peers != DEV_NO_PEERS)
        T_EQ(in_child("others"), 0);
}

/* ---- what is known of such memory ---- */

T(attributes_of_an_address_are_of_its_mapping)
{
    bool wide = dev_setup()->reserved;
    unsigned long long h[2];
    size_t size;
    uint64_t p, base;

    T_EQ(cuMemAddressReserve(&p, 4 * UNIT, 0, 0, 0), 0);
    grow(p, 0, &h[0], &plain);
    grow(p, 1, &h[1], &plain);
    T_EQ(pointer(p + UNIT + 5, CU_POINTER_ATTRIBUTE_MEMORY_TYPE),
         CU_MEMORYTYPE_DEVICE);
    base = pointer(p + UNIT + 5, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR);
    size = pointer(p + UNIT + 5, CU_POINTER_ATTRIBUTE_RANGE_SIZE);
    T_EQ(base, wide ? p : p + UNIT);
    T_EQ(size, wide ? 4 * UNIT : UNIT);
    T_EQ(pointer(p + UNIT + 5, 19), p + UNIT);
    T_EQ(pointer(p + UNIT + 5, 18), UNIT);
    T_EQ(pointer(p + UNIT + 5, 13), 1);
    T_EQ(pointer(p + UNIT + 5, 14), 1);
    T_EQ(pointer(p, 10), 0);
    T_EQ(pointer(p, 15), 0);
    T_EQ(pointer(p + 2 * UNIT, CU_POINTER_ATTRIBUTE_MEMORY_TYPE), 0);
    T_EQ(pointer(p + 2 * UNIT, 13), 0);
    shrink(p, 0, h[0]);
    shrink(p, 1, h[1]);
    T_EQ(cuMemAddressFree(p, 4 * UNIT), 0);
}

T(other_calls_for_memory_refuse_it)
{
    unsigned long long h;
    struct cuda_ipc ipc;
    unsigned yes = 1;
    uint64_t p;

    T_EQ(cuMemAddressReserve(&p, UNIT, 0, 0, 0), 0);
    T_EQ(cuMemHostRegister_v2(there(p), UNIT, 0) != 0, 1);
    grow(p, 0, &h, &plain);
    T_EQ(cuMemFree_v2(p), INVALID);
    T_EQ(cuMemFreeAsync(p, NULL), attribute(115)
         ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_NOT_SUPPORTED);
    T_EQ(cuIpcGetMemHandle(&ipc, p), INVALID);
    T_EQ(cuIpcCloseMemHandle(p), INVALID);
    T_EQ(cuPointerSetAttribute(&yes, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, p),
         CUDA_ERROR_NOT_SUPPORTED);
    shrink(p, 0, h);
    T_EQ(cuMemAddressFree(p, UNIT), 0);
}

T(contexts_have_flags_that_end_late_copies)
{
    bool old = fake_version() < 12010, late = !dev_setup()->done;
    unsigned long long h;
    uint64_t p, word = 9;
    unsigned flags = 99;

    T_EQ(cuMemAddressReserve(&p, UNIT, 0, 0, 0), 0);
    grow(p, 0, &h, &plain);
    T_EQ(cuCtxGetFlags(&flags), 0);
    T_EQ(flags, 0);
    T_EQ(cuMemcpyHtoD_v2(p, &word, 8), 0);
    T_EQ(*(uint64_t *)dev_reach(there(p), 8), late ? 0 : 9);
    T_EQ(cuCtxSynchronize(), 0);
    T_EQ(cuCtxSetFlags(0x80 | 3), old ? CUDA_ERROR_NOT_SUPPORTED : INVALID);
    T_EQ(cuCtxSetFlags(0x180), old ? CUDA_ERROR_NOT_SUPPORTED : INVALID);
    T_EQ(cuCtxSetFlags(0x84), old ? CUDA_ERROR_NOT_SUPPORTED : 0);
    if (!old) {
        T_EQ(cuCtxGetFlags(&flags), 0);
        T_EQ(flags, 0x84);
        word = 10;
        T_EQ(cuMemcpyHtoD_v2(p, &word, 8), 0);
        T_EQ(*(uint64_t *)dev_reach(there(p), 8), 10);
        T_EQ(cuCtxSetFlags(0), 0);
        T_EQ(cuCtxGetFlags(&flags), 0);
        T_EQ(flags, 0);
    }
    shrink(p, 0, h);
    T_EQ(cuMemAddressFree(p, UNIT), 0);
}

#define BREAKS(call) do {                                       \
    T_EQ(cuStreamBeginCapture_v2(s, 0), 0);                     \
    T_EQ(call, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);          \
    T_NE(cuStreamEndCapture(s, &graph), 0);                     \
} while (0)

T(a_stream_that_records_is_broken_by_them)
{
    struct cuda_mem_access a = { CU_MEM_LOCATION_TYPE_DEVICE, 0, 3 };
    void *s, *graph = NULL;
    unsigned long long h = 1;
    uint64_t p = UNIT;
    int fd;

    T_EQ(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING), 0);
    BREAKS(cuMemAddressReserve(&p, UNIT, 0, 0, 0));
    BREAKS(cuMemAddressFree(p, UNIT));
    BREAKS(cuMemCreate(&h, UNIT, &plain, 0));
    BREAKS(cuMemRelease(h));
    BREAKS(cuMemMap(p, UNIT, 0, h, 0));
    BREAKS(cuMemUnmap(p, UNIT));
    BREAKS(cuMemSetAccess(p, UNIT, &a, 1));
    BREAKS(cuMemExportToShareableHandle(&fd, h, 1, 0));
    BREAKS(cuMemImportFromShareableHandle(&h, NULL, 1));
    T_EQ(cuStreamDestroy_v2(s), 0);
}

/* ---- NICs ---- */

/* What starts where the descriptor says. */
static uint64_t *nics(int fd, size_t size)
{
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
                   lseek(fd, 0, SEEK_CUR));

    T_TRUE(p != MAP_FAILED);
    close(fd);
    return p;
}

T(a_nic_has_a_range_that_is_mapped_for_it)
{
    struct cuda_mem_prop prop = plain;
    unsigned long long h[3];
    uint64_t p, *n;
    int fd;

    if (!attribute(110))
        T_SKIP("NICs get none");
    prop.rdma = 1;
    T_EQ(cuMemAddressReserve(&p, 4 * UNIT, 0, 0, 0), 0);
    grow(p, 0, &h[0], &prop);
    grow(p, 1, &h[1], &prop);
    T_EQ(dmabuf(p, 3 * UNIT, &fd), INVALID);
    T_EQ(put(p + UNIT, 5), 0);
    T_EQ(dmabuf(p + UNIT - 4096, 8192, &fd), 0);
    n = nics(fd, 8192);
    T_EQ(n[512], 5);
    T_EQ(put(p + UNIT, 6), 0);
    T_EQ(n[512], 6);
    n[511] = 7;
    n[513] = 8;
    if (dev_setup()->flush)
        T_EQ(get(p + UNIT - 8), 0);
    dev_flush();
    T_EQ(get(p + UNIT - 8), 7);
    T_EQ(get(p + UNIT + 8), 8);
    munmap(n, 8192);
    /* It grows, and the new piece is zero where an old one was. */
    shrink(p, 1, h[1]);
    grow(p, 1, &h[1], &prop);
    T_EQ(get(p + UNIT), 0);
    T_EQ(dmabuf(p + UNIT, UNIT, &fd), 0);
    n = nics(fd, UNIT);
    T_EQ(n[0], 0);
    T_EQ(n[1], 0);
    munmap(n, UNIT);
    T_EQ(pointer(p, 15), 1);
    grow(p, 2, &h[2], &plain);
    T_EQ(dmabuf(p + 2 * UNIT, UNIT, &fd), INVALID);
    T_EQ(dmabuf(p, 3 * UNIT, &fd), INVALID);
    for (int i = 0; i < 3; i++)
        shrink(p, i, h[i]);
    T_EQ(dmabuf(p, UNIT, &fd), INVALID);
    T_EQ(cuMemAddressFree(p, 4 * UNIT), 0);
}

/* ---- other devices ---- */

T(access_keeps_the_rules_of_peers)
{
    struct cuda_mem_access a = { CU_MEM_LOCATION_TYPE_DEVICE, 1, 3 };
    const struct dev_setup *s = dev_setup();
    unsigned long long h[2];
    uint64_t p;

    if (s->count < 2)
        T_SKIP("one device");
    T_EQ(cuMemAddressReserve(&p, 2 * UNIT, 0, 0, 0), 0);
    grow(p, 0, &h[0], &plain);
    grow(p, 1, &h[1], &plain);
    T_EQ(cuMemSetAccess(p, UNIT, &a, 1), s->peers == DEV_NO_PEERS
         ? (int)CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS);
    T_EQ(cuMemSetAccess(p + UNIT, UNIT, &a, 1), s->peers == DEV_NO_PEERS
         ? (int)CUDA_ERROR_INVALID_DEVICE : s->bar && s->bar < 2 * UNIT
         ? (int)CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS);
    shrink(p, 0, h[0]);
    shrink(p, 1, h[1]);
    T_EQ(cuMemAddressFree(p, 2 * UNIT), 0);
}

static void run_vmm(void)
{
    T_RUN(reservations_are_of_whole_units_and_freed_whole);
    T_RUN(memory_takes_room_until_handle_and_mappings_are_gone);
    T_RUN(properties_of_memory_are_checked);
    T_RUN(mappings_do_not_overlap_and_go_whole);
    T_RUN(work_goes_across_mappings_with_access_only);
    T_RUN(the_processor_touches_what_a_coherent_device_maps);
    T_RUN(what_is_not_there_is_an_illegal_address);
    T_RUN(attributes_of_an_address_are_of_its_mapping);
    T_RUN(other_calls_for_memory_refuse_it);
    T_RUN(contexts_have_flags_that_end_late_copies);
    T_RUN(a_stream_that_records_is_broken_by_them);
    T_RUN(a_nic_has_a_range_that_is_mapped_for_it);
    T_RUN(access_keeps_the_rules_of_peers);
}

/* ---- processes whose device meets an illegal address ---- */

/* A piece as unit 0 of a reservation, and a stream that waits for a word. */
static uint64_t waits(void **s, uint64_t *word, unsigned long long *h)
{
    uint64_t p;

    T_EQ(cuMemAlloc_v2(word, 4096), 0);
    T_EQ(put(*word, 0), 0);
    T_EQ(cuStreamCreate(s, CU_STREAM_NON_BLOCKING), 0);
    T_EQ(cuStreamWaitValue64_v2(*s, *word, 1, 0), 0);
    T_EQ(cuMemAddressReserve(&p, UNIT, 0, 0, 0), 0);
    grow(p, 0, h, &plain);
    return p;
}

static void unmapped(void)
{
    unsigned long long h;
    uint64_t word, p;
    void *s;

    p = waits(&s, &word, &h);
    T_EQ(cuMemsetD8Async(p, 1, 8, s), 0);
    shrink(p, 0, h);
    (void)put(word, 1);         /* the fault may come before it ends */
    T_EQ(cuStreamSynchronize(s), CUDA_ERROR_ILLEGAL_ADDRESS);
}

/* The second device, which has no access. */
static void others(void)
{
    unsigned long long h;
    uint64_t word, p;
    void *s, *ctx;

    p = waits(&s, &word, &h);
    T_EQ(cuDevicePrimaryCtxRetain(&ctx, 1), 0);
    T_EQ(cuCtxPushCurrent_v2(ctx), 0);
    T_EQ(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING), 0);
    T_EQ(cuMemsetD8Async(p, 1, 8, s), 0);
    T_EQ(cuStreamSynchronize(s), CUDA_ERROR_ILLEGAL_ADDRESS);
}

int main(int argc, char **argv)
{
    begin();
    if (argc > 1) {
        (!strcmp(argv[1], "others") ? others : unmapped)();
        return T_DONE();
    }
    T_RUN(attributes_say_what_there_is);
    T_RUN(without_it_no_call_is_supported);
    if (attribute(102))
        run_vmm();
    return T_DONE();
}
