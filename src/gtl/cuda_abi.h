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

#include <stddef.h>
#include <stdint.h>

#define CUDA_VALUES(X)                                                      \
    X(CUDA_SUCCESS, 0)                                                      \
    X(CUDA_ERROR_INVALID_VALUE, 1)                                          \
    X(CUDA_ERROR_OUT_OF_MEMORY, 2)                                          \
    X(CUDA_ERROR_NOT_INITIALIZED, 3)                                        \
    X(CUDA_ERROR_DEINITIALIZED, 4)                                          \
    X(CUDA_ERROR_STUB_LIBRARY, 34)                                          \
    X(CUDA_ERROR_DEVICE_UNAVAILABLE, 46)                                    \
    X(CUDA_ERROR_NO_DEVICE, 100)                                            \
    X(CUDA_ERROR_INVALID_DEVICE, 101)                                       \
    X(CUDA_ERROR_INVALID_CONTEXT, 201)                                      \
    X(CUDA_ERROR_MAP_FAILED, 205)                                           \
    X(CUDA_ERROR_NO_BINARY_FOR_GPU, 209)                                    \
    X(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, 217)                              \
    X(CUDA_ERROR_INVALID_PTX, 218)                                          \
    X(CUDA_ERROR_JIT_COMPILER_NOT_FOUND, 221)                               \
    X(CUDA_ERROR_UNSUPPORTED_PTX_VERSION, 222)                              \
    X(CUDA_ERROR_OPERATING_SYSTEM, 304)                                     \
    X(CUDA_ERROR_INVALID_HANDLE, 400)                                       \
    X(CUDA_ERROR_NOT_FOUND, 500)                                            \
    X(CUDA_ERROR_NOT_READY, 600)                                            \
    X(CUDA_ERROR_ILLEGAL_ADDRESS, 700)                                      \
    X(CUDA_ERROR_CONTEXT_IS_DESTROYED, 709)                                 \
    X(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, 712)                       \
    X(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, 713)                           \
    X(CUDA_ERROR_NOT_PERMITTED, 800)                                        \
    X(CUDA_ERROR_NOT_SUPPORTED, 801)                                        \
    X(CUDA_ERROR_SYSTEM_NOT_READY, 802)                                     \
    X(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, 803)                               \
    X(CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, 804)                       \
    X(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, 900)                           \
    X(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, 901)                           \
    X(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, 906)                              \
    X(CU_DEVICE_ATTRIBUTE_MAX_PITCH, 11)                                    \
    X(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 75)                     \
    X(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 76)                     \
    X(CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED, 86)                 \
    X(CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, 88)                       \
    X(CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES,     \
      100)                                                                  \
    X(CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES, 98)                      \
    X(CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED, 116)                   \
    X(CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS, 117)        \
    X(CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING, 118)             \
    X(CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS, 122)               \
    X(CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED, 124)                           \
    X(CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED, 3)                   \
    X(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, 2)                                  \
    X(CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, 6)                                  \
    X(CU_POINTER_ATTRIBUTE_IS_MANAGED, 8)                                   \
    X(CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, 11)                            \
    X(CU_POINTER_ATTRIBUTE_RANGE_SIZE, 12)                                  \
    X(CU_MEMORYTYPE_HOST, 1)                                                \
    X(CU_MEMORYTYPE_DEVICE, 2)                                              \
    X(CU_MEMORYTYPE_UNIFIED, 4)                                             \
    X(CU_MEMHOSTREGISTER_PORTABLE, 1)                                       \
    X(CU_MEMHOSTREGISTER_DEVICEMAP, 2)                                      \
    X(CU_MEMHOSTREGISTER_IOMEMORY, 4)                                       \
    X(CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS, 1)                                \
    X(CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 1)                               \
    X(CU_STREAM_NON_BLOCKING, 1)                                            \
    X(CU_STREAM_CAPTURE_STATUS_NONE, 0)                                     \
    X(CU_STREAM_CAPTURE_STATUS_ACTIVE, 1)                                   \
    X(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, 1)                               \
    X(CU_STREAM_CAPTURE_MODE_RELAXED, 2)                                    \
    X(CU_USER_OBJECT_NO_DESTRUCTOR_SYNC, 1)                                 \
    X(CU_GRAPH_USER_OBJECT_MOVE, 1)                                         \
    X(CU_STREAM_WAIT_VALUE_GEQ, 0)                                          \
    X(CU_STREAM_WAIT_VALUE_FLUSH, 1 << 30)                                  \
    X(CU_STREAM_WRITE_VALUE_DEFAULT, 0)                                     \
    X(CU_STREAM_MEM_OP_WAIT_VALUE_64, 4)                                    \
    X(CU_STREAM_MEM_OP_WRITE_VALUE_64, 5)                                   \
    X(CU_EVENT_DISABLE_TIMING, 2)                                           \
    X(CU_FLUSH_GPU_DIRECT_RDMA_WRITES_OPTION_HOST, 1)                       \
    X(CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX, 0)                \
    X(CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER, 100)                        \
    X(CU_GPU_DIRECT_RDMA_WRITES_ORDERING_OWNER, 100)                        \
    X(CU_JIT_ERROR_LOG_BUFFER, 5)                                           \
    X(CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, 6)

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
    X(cuLaunchKernel,                                                       \
      (void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,   \
       unsigned block_x, unsigned block_y, unsigned block_z,                \
       unsigned shared, void *s, void **args, void **extra))

/* Since 11.3, 11.4, 11.7, 12.0 and, the last one, 12.5; and what is older but
 * for graphs only. */
#define CUDA_LATER_CALLS(X)                                                 \
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
    X(cuDeviceGetUuid_v2, (struct cuda_uuid *out, int dev))                 \
    X(cuStreamGetCtx_v2, (void *s, void **ctx, void **green))

#endif
