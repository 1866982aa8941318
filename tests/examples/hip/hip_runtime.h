/* SPDX-License-Identifier: BSD-3-Clause */
/* hip_runtime.h - of AMD's header, what the examples need to be compiled where
 * that is not installed.  Nothing is behind it. */
#ifndef HIP_RUNTIME_H
#define HIP_RUNTIME_H

#include <stddef.h>

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned a) : x(a), y(1), z(1) {}
};

struct hip_index {
    unsigned x;
};
#define blockIdx (hip_index{ __builtin_amdgcn_workgroup_id_x() })
#define threadIdx (hip_index{ __builtin_amdgcn_workitem_id_x() })
#define blockDim (hip_index{ __builtin_amdgcn_workgroup_size_x() })

typedef enum { hipSuccess } hipError_t;
typedef struct ihipStream_t *hipStream_t;
enum { hipStreamNonBlocking = 1 };

extern "C" {
hipError_t hipSetDevice(int);
hipError_t hipStreamCreateWithFlags(hipStream_t *, unsigned);
hipError_t hipStreamSynchronize(hipStream_t);
hipError_t hipStreamDestroy(hipStream_t);
hipError_t hipLaunchKernel(const void *, dim3, dim3, void **, size_t,
                           hipStream_t);
hipError_t hipGetSymbolAddress(void **, const void *);
/* What a compiler puts in place of a kernel on the host. */
unsigned hipConfigureCall(dim3, dim3, size_t = 0, hipStream_t = 0);
}
template <class T>
hipError_t hipGetSymbolAddress(void **address, const T &symbol)
{
    return hipGetSymbolAddress(address, (const void *)&symbol);
}

#endif
