/* SPDX-License-Identifier: BSD-3-Clause */
/* vmm.h - the driver's calls for memory pools, which the library does not
 * make. */
#ifndef FAKE_CUDA_VMM_H
#define FAKE_CUDA_VMM_H

#include "gtl/cuda/cuda_abi.h"

#define API __attribute__((visibility("default")))

struct cuda_pool_prop {
    int type, handleTypes;
    int location_type, location_id;
    void *win32SecurityAttributes;
    size_t maxSize;
    unsigned short usage;
    unsigned char reserved[54];
};

/* What programs call, and the library does not. */
#define X(name, args) API int name args;
X(cuMemAllocAsync, (uint64_t *out, size_t size, void *s))
X(cuMemFreeAsync, (uint64_t p, void *s))
X(cuMemAllocFromPoolAsync, (uint64_t *out, size_t size, void *pool, void *s))
X(cuMemPoolCreate, (void **out, const struct cuda_pool_prop *prop))
X(cuMemPoolDestroy, (void *pool))
X(cuDeviceGetDefaultMemPool, (void **out, int dev))
#undef X

#endif
