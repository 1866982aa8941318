/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_abi.h - what is used of the CUDA driver API, in our own words, so that
 * no vendor header is needed.
 *
 * Opaque handles (contexts, streams, events, modules, functions) are void *,
 * device pointers uint64_t, enumerations int: the same in the binary
 * interface.  `make abi-check` compares every value, structure and prototype
 * with <cuda.h> where that is installed.
 *
 * Names are those that the library exports.  A suffix _v2 belongs to the call
 * as it has been since the release beside it; without a suffix the first
 * form of the call is meant, which libraries keep for ever. */
#ifndef GTL_CUDA_ABI_H
#define GTL_CUDA_ABI_H

#include "gtl/cuda/cuda_values.h"

#include <stddef.h>
#include <stdint.h>

/* A program that has <cuda.h> has these already. */
#ifndef CUDA_VERSION
enum cuda_value {
#define X(name, value) name = (value),
CUDA_VALUES(X)
#undef X
};
#endif

struct cuda_uuid {
    char bytes[16];
};

struct cuda_ipc {
    char bytes[64];
};

/* Memory to be made: of a device, that these kinds of handles pass on. */
struct cuda_mem_prop {
    int type, handles;
    int location, device;
    void *not_here;
    unsigned char compression, rdma;
    unsigned short usage;
    unsigned char reserved[4];
};
struct cuda_mem_access {
    int location, device;
    int flags;
};

/* A copy of rows: kind, then the address in the field for that kind. */
struct cuda_side {
    size_t x, y;
    int kind;
    void *host;
    uint64_t device;
    void *array;
    size_t pitch;
};
struct cuda_copy2d {
    struct cuda_side from, to;
    size_t width, height;
};

/* A wait for a word or a store, of several in one call. */
struct cuda_memop {
    int kind;
    uint64_t word, value;
    unsigned flags;
    uint64_t of_the_driver[2];
};

/* All that the driver of 11.0 has; every later one keeps them. */
#define CUDA_CALLS(X)                                                       \
    X(cuInit, (unsigned flags))                                             \
    X(cuDriverGetVersion, (int *out))                                       \
    X(cuGetErrorName, (int error, const char **out))                        \
    X(cuGetErrorString, (int error, const char **out))                      \
    X(cuDeviceGetCount, (int *out))                                         \
    X(cuDeviceGet, (int *out, int ordinal))                                 \
    X(cuDeviceGetName, (char *out, int len, int dev))                       \
    X(cuDeviceGetUuid, (struct cuda_uuid *out, int dev))                    \
    X(cuDeviceGetPCIBusId, (char *out, int len, int dev))                   \
    X(cuDeviceGetAttribute, (int *out, int attribute, int dev))             \
    X(cuDeviceTotalMem_v2, (size_t *out, int dev))                          \
    X(cuDeviceCanAccessPeer, (int *out, int dev, int peer))                 \
    X(cuDeviceGetP2PAttribute, (int *out, int attribute, int from, int to)) \
    X(cuDevicePrimaryCtxRetain, (void **out, int dev))                      \
    X(cuDevicePrimaryCtxRelease_v2, (int dev))                              \
    X(cuDevicePrimaryCtxGetState, (int dev, unsigned *flags, int *active))  \
    X(cuCtxGetCurrent, (void **out))                                        \
    X(cuCtxPushCurrent_v2, (void *ctx))                                     \
    X(cuCtxPopCurrent_v2, (void **out))                                     \
    X(cuCtxGetDevice, (int *out))                                           \
    X(cuCtxGetStreamPriorityRange, (int *least, int *greatest))             \
    X(cuMemAlloc_v2, (uint64_t *out, size_t size))                          \
    X(cuMemFree_v2, (uint64_t p))                                           \
    X(cuMemGetInfo_v2, (size_t *unused, size_t *total))                     \
    X(cuMemHostRegister_v2, (void *host, size_t size, unsigned flags))      \
    X(cuMemHostUnregister, (void *host))                                    \
    X(cuMemHostGetDevicePointer_v2,                                         \
      (uint64_t *out, void *host, unsigned flags))                          \
    X(cuPointerGetAttributes,                                               \
      (unsigned n, int *attributes, void **out, uint64_t p))                \
    X(cuPointerSetAttribute,                                                \
      (const void *value, int attribute, uint64_t p))                       \
    X(cuIpcGetMemHandle, (struct cuda_ipc *out, uint64_t p))                \
    X(cuIpcOpenMemHandle_v2,                                                \
      (uint64_t *out, struct cuda_ipc handle, unsigned flags))              \
    X(cuIpcCloseMemHandle, (uint64_t p))                                    \
    X(cuStreamCreateWithPriority,                                           \
      (void **out, unsigned flags, int priority))                           \
    X(cuStreamDestroy_v2, (void *s))                                        \
    X(cuStreamGetCtx, (void *s, void **out))                                \
    X(cuStreamIsCapturing, (void *s, int *out))                             \
    X(cuThreadExchangeStreamCaptureMode, (int *mode))                       \
    X(cuStreamQuery, (void *s))                                             \
    X(cuStreamSynchronize, (void *s))                                       \
    X(cuStreamWaitEvent, (void *s, void *event, unsigned flags))            \
    X(cuEventCreate, (void **out, unsigned flags))                          \
    X(cuEventDestroy_v2, (void *event))                                     \
    X(cuEventRecord, (void *event, void *s))                                \
    X(cuEventQuery, (void *event))                                          \
    X(cuMemcpyAsync, (uint64_t to, uint64_t from, size_t n, void *s))       \
    X(cuMemcpy2DAsync_v2, (const struct cuda_copy2d *copy, void *s))        \
    X(cuMemsetD8Async, (uint64_t to, unsigned char byte, size_t n, void *s)) \
    X(cuLaunchHostFunc, (void *s, void (*fn)(void *arg), void *arg))        \
    X(cuModuleLoadDataEx,                                                   \
      (void **out, const void *image, unsigned n, int *options,             \
       void **values))                                                      \
    X(cuModuleUnload, (void *module))                                       \
    X(cuModuleGetFunction, (void **out, void *module, const char *name))    \
    X(cuModuleGetGlobal_v2,                                                 \
      (uint64_t *out, size_t *size, void *module, const char *name))        \
    X(cuLaunchKernel,                                                       \
      (void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,   \
       unsigned block_x, unsigned block_y, unsigned block_z,                \
       unsigned shared, void *s, void **args, void **extra))

/* Since 11.3, 11.4, 11.7, 12.0, 12.1 and, the last one, 12.5; and what is older
 * but for graphs or heaps that grow only. */
#define CUDA_OPTIONAL_CALLS(X)                                              \
    X(cuCtxGetFlags, (unsigned *out))                                       \
    X(cuCtxSetFlags, (unsigned flags))                                      \
    X(cuMemGetAllocationGranularity,                                        \
      (size_t *out, const struct cuda_mem_prop *prop, int which))           \
    X(cuMemAddressReserve,                                                  \
      (uint64_t *out, size_t size, size_t align, uint64_t wanted,           \
       unsigned long long flags))                                           \
    X(cuMemAddressFree, (uint64_t p, size_t size))                          \
    X(cuMemCreate,                                                          \
      (unsigned long long *out, size_t size,                                \
       const struct cuda_mem_prop *prop, unsigned long long flags))         \
    X(cuMemRelease, (unsigned long long memory))                            \
    X(cuMemMap,                                                             \
      (uint64_t p, size_t size, size_t offset, unsigned long long memory,   \
       unsigned long long flags))                                           \
    X(cuMemUnmap, (uint64_t p, size_t size))                                \
    X(cuMemSetAccess,                                                       \
      (uint64_t p, size_t size, const struct cuda_mem_access *access,       \
       size_t n))                                                           \
    X(cuMemExportToShareableHandle,                                         \
      (void *out, unsigned long long memory, int kind,                      \
       unsigned long long flags))                                           \
    X(cuMemImportFromShareableHandle,                                       \
      (unsigned long long *out, void *handle, int kind))                    \
    X(cuStreamBeginCapture_v2, (void *s, int mode))                         \
    X(cuStreamEndCapture, (void *s, void **graph))                          \
    X(cuGraphDestroy, (void *graph))                                        \
    X(cuGraphLaunch, (void *exec, void *s))                                 \
    X(cuGraphExecDestroy, (void *exec))                                     \
    X(cuGraphInstantiateWithFlags,                                          \
      (void **out, void *graph, unsigned long long flags))                  \
    X(cuFlushGPUDirectRDMAWrites, (int target, int scope))                  \
    X(cuStreamGetCaptureInfo_v2,                                            \
      (void *s, int *status, unsigned long long *id, void **graph,          \
       const void **nodes, size_t *n))                                      \
    X(cuUserObjectCreate,                                                   \
      (void **out, void *arg, void (*destroy)(void *arg), unsigned refs,    \
       unsigned flags))                                                     \
    X(cuUserObjectRelease, (void *object, unsigned n))                      \
    X(cuGraphRetainUserObject,                                              \
      (void *graph, void *object, unsigned n, unsigned flags))              \
    X(cuStreamWriteValue64_v2,                                              \
      (void *s, uint64_t word, uint64_t value, unsigned flags))             \
    X(cuStreamWaitValue64_v2,                                               \
      (void *s, uint64_t word, uint64_t value, unsigned flags))             \
    X(cuStreamBatchMemOp_v2,                                                \
      (void *s, unsigned n, struct cuda_memop *ops, unsigned flags))        \
    X(cuMemGetHandleForAddressRange,                                        \
      (void *out, uint64_t p, size_t size, int kind,                        \
       unsigned long long flags))                                           \
    X(cuStreamGetId, (void *s, unsigned long long *out))                    \
    X(cuEventElapsedTime, (float *ms, void *from, void *to))                \
    X(cuDeviceGetUuid_v2, (struct cuda_uuid *out, int dev))                 \
    X(cuStreamGetCtx_v2, (void *s, void **ctx, void **green))

#endif
