/* SPDX-License-Identifier: BSD-3-Clause */
/* example.h - makes one text a program for CUDA, for HIP and for the software
 * device, by what the compiler is; not an example itself.
 *
 *   KERNEL(name, type) { ... }   what the device does for each i of 0..n-1;
 *                                arg is a `const type *`
 *   LAUNCH(stream, name, n, arg) a step of the stream: for n items, with a copy
 *                                of *arg; on the software device without, so
 *                                that it lives until the step has run
 *   TRY(call)                    ends the job where a call gives not 0
 *
 * With nvcc and hipcc the text is C++, so what malloc() gives is cast. */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <shmem.h>
#include <shmemx_st.h>
#include <stdio.h>
#include <stdlib.h>

#define TRY(call)                                                           \
    do {                                                                    \
        int error_ = (int)(call);                                           \
        if (error_) {                                                       \
            fprintf(stderr, "%s:%d: %d from %s\n", __FILE__, __LINE__,      \
                    error_, #call);                                         \
            shmem_global_exit(1);                                           \
        }                                                                   \
    } while (0)

#ifdef EXAMPLE_DEVICE_H          /* a further device: its header defines these */
#include EXAMPLE_DEVICE_H
#elif defined(__CUDACC__)
#include <cuda_runtime.h>
#define GPU(word) cuda##word
#define GPU_LAUNCH(...) cudaLaunchKernel(__VA_ARGS__)
#elif defined(__HIPCC__) || defined(__HIP__)
#include <hip/hip_runtime.h>
#define GPU(word) hip##word
#define GPU_LAUNCH(...) hipLaunchKernel(__VA_ARGS__)
#endif

#ifdef KERNEL
#elif defined(GPU)
#define KERNEL(name, type)                                                  \
    static __device__ void name##_item(const type *arg, unsigned i);        \
    static __global__ void name(type arg, unsigned n)                       \
    {                                                                       \
        unsigned i = blockIdx.x * blockDim.x + threadIdx.x;                 \
        if (i < n)                                                          \
            name##_item(&arg, i);                                           \
    }                                                                       \
    static __device__ void name##_item(const type *arg, unsigned i)
#define LAUNCH(stream, name, n, arg)                                        \
    do {                                                                    \
        unsigned n_ = (unsigned)(n);                                        \
        void *args_[] = { (void *)(arg), &n_ };                             \
        TRY(GPU_LAUNCH((const void *)name, dim3((n_ + 127) / 128),          \
                       dim3(128), args_, 0, (GPU(Stream_t))(stream)));      \
    } while (0)
#else
#define KERNEL(name, type)                                                  \
    static void name##_item(const type *arg, unsigned i);                   \
    static void name(const shmemx_item_t *item, void *arg)                  \
    {                                                                       \
        name##_item((const type *)arg, item->group);                        \
    }                                                                       \
    static void name##_item(const type *arg, unsigned i)
#define LAUNCH(stream, name, n, arg)                                        \
    do {                                                                    \
        shmemx_grid_t grid_ = { (unsigned)(n), 1, 1, 0, 0 };                \
        TRY(shmemx_stream_launch(stream, &grid_, name, arg));               \
    } while (0)
#endif

/* The first call of each example.  The vendor's calls are for the device that
 * this PE has here. */
static inline void begin(void)
{
    shmem_init();
#ifdef GPU
    shmemx_device_info_t device;

    TRY(shmemx_device_info(&device));
    TRY(GPU(SetDevice)(device.ordinal));
#endif
}

/* Zeros in device memory that every PE has and reaches. */
static inline void *device_calloc(size_t count, size_t size)
{
    void *p = shmem_space_calloc(SHMEM_SPACE_DEVICE, count, size);

    if (!p)
        shmem_global_exit(1);
    return p;
}

/* The last call of each example: PE 0 says whether all PEs were right. */
static inline int finish(const char *what, int wrong)
{
    static int mine, any;
    shmemx_device_info_t device;
    int me = shmem_my_pe(), n = shmem_n_pes();

    TRY(shmemx_device_info(&device));
    mine = wrong;
    shmem_int_max_reduce(SHMEM_TEAM_WORLD, &any, &mine, 1);
    if (me == 0)
        printf("%s on %d PE%s, device %s: %s\n", what, n, n == 1 ? "" : "s",
               device.driver, any ? "WRONG" : "right");
    wrong = any;
    shmem_finalize();
    return wrong != 0;
}

#endif
