/* SPDX-License-Identifier: BSD-3-Clause */
/* fake.h - a stand-in for libcuda.so.1, from what the vendor documents of it.
 *
 * Beyond FAKE_DEVICE and so on (dev.h): a launch of a function for the first
 * time waits for the whole device, as loading may; so does cuMemFree.
 * Some of the library's functions are built in; those of FAKE_DEVICE_KERNELS
 * stand for what the stand-in for nvrtc has made; of all others the text is
 * run, ptx.h.  With CUDA_MODULE_LOADING=EAGER the first launch waits for
 * nothing. */
#ifndef FAKE_CUDA_H
#define FAKE_CUDA_H

#include "dev_graph.h"
#include "gtl/cuda/cuda_abi.h"
#include "vmm.h"

#include <pthread.h>

struct cuda_launch {
    unsigned grid[3], block[3], shared;
    void *stream;
    const struct cuda_launch_attribute {
        int id;
        _Alignas(8) int value;  /* the first word of it */
        char rest[60];
    } *attributes;
    unsigned n_attributes;
};
#define X(name, args) API int name args;
CUDA_CALLS(X)
CUDA_OPTIONAL_CALLS(X)
/* What programs call, and the library does not. */
X(cuCtxCreate_v2, (void **out, unsigned flags, int dev))
X(cuCtxDestroy_v2, (void *ctx))
X(cuCtxSetCurrent, (void *ctx))
X(cuCtxSynchronize, (void))
X(cuStreamCreate, (void **out, unsigned flags))
X(cuMemAllocManaged, (uint64_t *out, size_t size, unsigned flags))
X(cuMemHostAlloc, (void **out, size_t size, unsigned flags))
X(cuMemFreeHost, (void *host))
X(cuMemcpyHtoD_v2, (uint64_t to, const void *from, size_t n))
X(cuMemsetD8_v2, (uint64_t to, unsigned char byte, size_t n))
X(cuModuleLoadData, (void **out, const void *image))
X(cuLaunchKernelEx, (const struct cuda_launch *how, void *function,
                     void **args, void **extra))
X(cuLaunchCooperativeKernel,
  (void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
   void *handle, void **args))
X(cuFuncSetAttribute, (void *function, int attribute, int value))
X(cuFuncGetAttribute, (int *out, int attribute, void *function))
X(cuOccupancyMaxActiveBlocksPerMultiprocessor,
  (int *out, void *function, int threads, size_t shared))
#undef X

/* Codes that src/gtl has no use for. */
enum {
    CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED = 115,
    CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1,
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK = 8,
    CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH = 95,
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97,
    CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0,
    CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1,
    CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES = 3,
    CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
    CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT = 9,
    CU_LAUNCH_ATTRIBUTE_COOPERATIVE = 2,
    CUDA_ERROR_ASSERT = 710,
    CUDA_ERROR_MISALIGNED_ADDRESS = 716,
    CUDA_ERROR_LAUNCH_FAILED = 719,
    CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE = 720,
    CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9,
    CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE = 10,
    CU_POINTER_ATTRIBUTE_MAPPED = 13,
    CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES = 14,
    CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE = 15,
    CU_POINTER_ATTRIBUTE_MAPPING_SIZE = 18,
    CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR = 19,
    CUDA_ERROR_STREAM_CAPTURE_UNMATCHED = 903,
    CUDA_ERROR_STREAM_CAPTURE_UNJOINED = 904,
    CUDA_ERROR_STREAM_CAPTURE_ISOLATION = 905,
    CUDA_ERROR_CAPTURED_EVENT = 907,
    CUDA_ERROR_STREAM_CAPTURE_INVALIDATED = 901,
    CUDA_ERROR_STREAM_CAPTURE_IMPLICIT = 906
};

/* Among the flags of a range. */
#define MANAGED (1u << 31)
#define SYNCED (1u << 28)

struct context {
    int dev, held;              /* held: the primary one's count; of a green
                                 * one, how often it is on a stack */
    bool live, primary;
    unsigned flags;             /* atomic; of a whole one */
    struct context *whole;      /* of a green one: the device's primary one */
    pthread_t thread;           /* of a green one that is held */
};
static inline struct context *fake_whole(struct context *c)
{
    return c && c->whole ? c->whole : c;
}
/* ---- green.c ---- */
bool fake_is_green(const void *p);
void fake_becomes_current(struct context *c);
void fake_was_current(struct context *c);

/* Notes the call; the code with which it ends at once, or CUDA_SUCCESS. */
int fake_call(const char *name);
#define CALL(name)                          \
    do {                                    \
        int rc_ = fake_call(name);          \
                                            \
        if (rc_)                            \
            return rc_;                     \
    } while (0)
/* The same, of a call that needs a context. */
int fake_call_in(const char *name, struct context **out);
#define CALL_IN(name, ctx)                  \
    do {                                    \
        int rc_ = fake_call_in(name, ctx);  \
                                            \
        if (rc_)                            \
            return rc_;                     \
    } while (0)

/* Leaves a call that is not safe while streams record. */
#define UNSAFE()                                            \
    do {                                                    \
        if (!dev_unsafe())                                  \
            return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;   \
    } while (0)

/* An event is no more than itself. */
#define REACHES_STREAM(e) ((void)0)

/* The driver's version. */
int fake_version(void);
struct context *fake_current(void);
/* A CUDA error for a -errno of dev.h. */
int fake_code(int rc);
/* The stream behind a handle, which belongs to the current context; work: to
 * be given some. */
int fake_stream(void *handle, struct context *ctx, bool work,
                struct dev_stream **out);
/* Is what the thread runs now a host function of a stream? */
extern __thread bool fake_in_host;

#endif
