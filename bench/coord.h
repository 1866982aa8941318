/* SPDX-License-Identifier: BSD-3-Clause */
/* coord.h - what kernels of benchmarks need of a device: one text for CUDA,
 * for HIP and, as C, for the software device, whose groups have one item. */
#ifndef BENCH_COORD_H
#define BENCH_COORD_H

typedef unsigned int word32;
typedef unsigned long long word64;

struct coord {
    word32 group, item, groups, items;
};

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define DEVICE static __device__ __forceinline__
#define BARRIER() __syncthreads()
#define COORD { blockIdx.x, threadIdx.x, gridDim.x, blockDim.x }
#define KERNEL_ARG const __grid_constant__
#elif defined(__HIPCC__) || defined(__HIPCC_RTC__)
#define DEVICE static __attribute__((device)) inline
#define BARRIER() \
    do { \
        __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "workgroup"); \
        __builtin_amdgcn_s_barrier(); \
        __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "workgroup"); \
    } while (0)
#define COORD { \
    __builtin_amdgcn_workgroup_id_x(), __builtin_amdgcn_workitem_id_x(), \
    __builtin_amdgcn_grid_size_x() / __builtin_amdgcn_workgroup_size_x(), \
    __builtin_amdgcn_workgroup_size_x() }
#define KERNEL_ARG const
#else
#define DEVICE static inline __attribute__((always_inline))
#define BARRIER() ((void)0)
#endif

/* For a body `void name(const struct arg *, const struct coord *)`. */
#ifdef COORD
#define GPU_KERNEL(name, arg) \
    extern "C" __attribute__((global)) void bench_##name( \
        KERNEL_ARG struct arg a) \
    { \
        struct coord s = COORD; \
        name(&a, &s); \
    }
#else
#define GPU_KERNEL(name, arg)
#endif

#endif
