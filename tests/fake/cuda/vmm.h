/* SPDX-License-Identifier: BSD-3-Clause */
/* vmm.h - the driver's calls for virtual memory and memory pools, and the flags
 * of contexts, in the words of src/gtl/cuda_abi.h. */
#ifndef FAKE_CUDA_VMM_H
#define FAKE_CUDA_VMM_H

#include "gtl/cuda_abi.h"

#define API __attribute__((visibility("default")))

/* until src/gtl/cuda_abi.h has them */
enum {
    CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED = 102,
    CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED = 103,
    CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED = 110,
    CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED = 128,
    CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR = 1,
    CU_MEM_HANDLE_TYPE_FABRIC = 8,
    CU_MEM_ACCESS_FLAGS_PROT_READWRITE = 3,
    CU_MEM_LOCATION_TYPE_DEVICE = 1,
    CU_MEM_ALLOCATION_TYPE_PINNED = 1,
    CU_MEM_ALLOC_GRANULARITY_RECOMMENDED = 1,
    CU_CTX_SYNC_MEMOPS = 0x80
};

struct cuda_mem_prop {
    int type, requestedHandleTypes;
    int location_type, location_id;
    void *win32HandleMetaData;
    unsigned char compressionType, gpuDirectRDMACapable;
    unsigned short usage;
    unsigned char reserved[4];
};
struct cuda_mem_access {
    int location_type, location_id;
    int flags;
};

#define X(name, args) API int name args;
X(cuMemAddressReserve,
  (uint64_t *out, size_t size, size_t align, uint64_t at,
   unsigned long long flags))
X(cuMemAddressFree, (uint64_t p, size_t size))
X(cuMemCreate,
  (unsigned long long *out, size_t size, const struct cuda_mem_prop *prop,
   unsigned long long flags))
X(cuMemRelease, (unsigned long long handle))
X(cuMemMap,
  (uint64_t p, size_t size, size_t offset, unsigned long long handle,
   unsigned long long flags))
X(cuMemUnmap, (uint64_t p, size_t size))
X(cuMemSetAccess,
  (uint64_t p, size_t size, const struct cuda_mem_access *access, size_t n))
X(cuMemExportToShareableHandle,
  (void *out, unsigned long long handle, int type, unsigned long long flags))
X(cuMemImportFromShareableHandle,
  (unsigned long long *out, void *os_handle, int type))
X(cuMemGetAllocationGranularity,
  (size_t *out, const struct cuda_mem_prop *prop, int option))
X(cuCtxGetFlags, (unsigned *out))
X(cuCtxSetFlags, (unsigned flags))
#undef X
/* until src/gtl/cuda_abi.h has them: up to here */

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
