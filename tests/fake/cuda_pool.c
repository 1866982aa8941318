/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: the stand-in for libcuda keeps the vendor's rules of memory in
 * the order of a stream, and of pools.
 *
 * vmm.sh runs it.  With a word it is another process, whose device meets
 * an illegal address. */
#include "vmm_test.h"

T(memory_of_pools_comes_and_goes_in_the_order_of_a_stream)
{
    uint64_t p, word, other;
    size_t before = room();
    struct cuda_ipc ipc;
    unsigned yes = 1;
    void *s;
    int fd;

    T_EQ(cuMemAlloc_v2(&word, 4096), 0);
    T_EQ(put(word, 0), 0);
    T_EQ(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING), 0);
    T_EQ(cuStreamWaitValue64_v2(s, word, 1, 0), 0);
    T_EQ(cuMemAllocAsync(&p, 8192, s), 0);
    T_EQ(cuMemAllocAsync(&other, 0, s), INVALID);
    T_EQ(cuMemsetD8Async(p, 3, 8192, s), 0);
    T_EQ(cuMemcpyAsync(word + 8, p, 8, s), 0);
    T_EQ(pointer(p, CU_POINTER_ATTRIBUTE_MEMORY_TYPE), CU_MEMORYTYPE_DEVICE);
    T_EQ(pointer(p, CU_POINTER_ATTRIBUTE_RANGE_SIZE), 8192);
    T_EQ(pointer(p, 10), 0);
    T_EQ(cuIpcGetMemHandle(&ipc, p), INVALID);
    T_EQ(dmabuf(p, 8192, &fd), INVALID);
    T_EQ(cuPointerSetAttribute(&yes, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, p),
         CUDA_ERROR_NOT_SUPPORTED);
    T_EQ(cuMemFreeAsync(p, s), 0);
    T_EQ(cuMemFreeAsync(p, s), INVALID);
    T_EQ(cuMemFree_v2(p), INVALID);
    T_EQ(pointer(p, CU_POINTER_ATTRIBUTE_MEMORY_TYPE), 0);
    T_EQ(room(), before - 4096 - 8192);
    T_EQ(put(word, 1), 0);
    T_EQ(cuStreamSynchronize(s), 0);
    T_EQ(get(word + 8), 0x0303030303030303);
    T_EQ(cuStreamDestroy_v2(s), 0);
    T_EQ(cuMemFreeAsync(word, NULL), 0);
    T_EQ(cuCtxSynchronize(), 0);
    T_EQ(room(), before);
    T_EQ(cuMemAllocAsync(&p, 4096, NULL), 0);
    T_EQ(cuMemFree_v2(p), 0);
    T_EQ(room(), before);
    T_EQ(in_child("early"), 0);
}

T(a_stream_that_records_has_none)
{
    void *s, *graph = NULL;
    uint64_t p;

    T_EQ(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING), 0);
    T_EQ(cuStreamBeginCapture_v2(s, 0), 0);
    T_EQ(cuMemAllocAsync(&p, 4096, s), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    T_NE(cuStreamEndCapture(s, &graph), 0);
    T_EQ(cuStreamDestroy_v2(s), 0);
}

T(pools_are_created_and_destroyed)
{
    struct cuda_pool_prop prop = {
        .type = CU_MEM_ALLOCATION_TYPE_PINNED,
        .location_type = CU_MEM_LOCATION_TYPE_DEVICE
    };
    void *pool, *first;
    uint64_t p;

    T_EQ(cuDeviceGetDefaultMemPool(&first, 0), 0);
    T_EQ(cuDeviceGetDefaultMemPool(&pool, 99), CUDA_ERROR_INVALID_DEVICE);
    T_EQ(cuMemPoolDestroy(first), INVALID);
    T_EQ(cuMemPoolCreate(&pool, &prop), 0);
    T_NE(pool, first);
    T_EQ(cuMemAllocFromPoolAsync(&p, 4096, pool, NULL), 0);
    T_EQ(cuMemPoolDestroy(pool), 0);
    T_EQ(cuMemPoolDestroy(pool), INVALID);
    T_EQ(put(p, 4), 0);
    T_EQ(get(p), 4);
    T_EQ(cuMemFreeAsync(p, NULL), 0);
    T_EQ(cuMemAllocFromPoolAsync(&p, 4096, pool, NULL), INVALID);
    prop.type = 0;
    T_EQ(cuMemPoolCreate(&pool, &prop), INVALID);
}

T(an_older_driver_has_no_pools)
{
    void *pool;
    uint64_t p;

    T_EQ(cuMemAllocAsync(&p, 4096, NULL), CUDA_ERROR_NOT_SUPPORTED);
    T_EQ(cuMemFreeAsync(4096, NULL), CUDA_ERROR_NOT_SUPPORTED);
    T_EQ(cuDeviceGetDefaultMemPool(&pool, 0), CUDA_ERROR_NOT_SUPPORTED);
}

/* Memory of a pool, before its stream has come to the call. */
static void early(void)
{
    uint64_t word, p;
    void *s, *t;

    T_EQ(cuMemAlloc_v2(&word, 4096), 0);
    T_EQ(put(word, 0), 0);
    T_EQ(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING), 0);
    T_EQ(cuStreamCreate(&t, CU_STREAM_NON_BLOCKING), 0);
    T_EQ(cuStreamWaitValue64_v2(s, word, 1, 0), 0);
    T_EQ(cuMemAllocAsync(&p, 4096, s), 0);
    T_EQ(cuMemsetD8Async(p, 1, 8, t), 0);
    T_EQ(cuStreamSynchronize(t), CUDA_ERROR_ILLEGAL_ADDRESS);
}

int main(int argc, char **argv)
{
    (void)argv;
    begin();
    if (argc > 1) {
        early();
        return T_DONE();
    }
    if (attribute(115)) {
        T_RUN(memory_of_pools_comes_and_goes_in_the_order_of_a_stream);
        T_RUN(a_stream_that_records_has_none);
        T_RUN(pools_are_created_and_destroyed);
    } else {
        T_RUN(an_older_driver_has_no_pools);
    }
    return T_DONE();
}
