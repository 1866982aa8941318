/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_values.h - the numbers among what cuda_abi.h says of CUDA's driver:
 * X(name, value). */
#ifndef GTL_CUDA_VALUES_H
#define GTL_CUDA_VALUES_H

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
    X(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, 908)                          \
    X(CU_DEVICE_ATTRIBUTE_WARP_SIZE, 10)                                    \
    X(CU_DEVICE_ATTRIBUTE_MAX_PITCH, 11)                                    \
    X(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 16)                         \
    X(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 39)               \
    X(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 75)                     \
    X(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 76)                     \
    X(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 81)         \
    X(CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED, 86)                 \
    X(CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, 88)                       \
    X(CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES,     \
      100)                                                                  \
    X(CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES, 98)                      \
    X(CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 102)         \
    X(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, 106)         \
    X(CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED,      \
      103)                                                                  \
    X(CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED, 110)     \
    X(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, 111)            \
    X(CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED, 116)                   \
    X(CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS, 117)        \
    X(CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING, 118)             \
    X(CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS, 122)               \
    X(CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED, 124)                           \
    X(CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED, 128)                \
    X(CU_CTX_SYNC_MEMOPS, 0x80)                                             \
    X(CU_MEM_LOCATION_TYPE_DEVICE, 1)                                       \
    X(CU_MEM_ALLOCATION_TYPE_PINNED, 1)                                     \
    X(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 1)                          \
    X(CU_MEM_HANDLE_TYPE_FABRIC, 8)                                         \
    X(CU_MEM_ALLOC_GRANULARITY_RECOMMENDED, 1)                              \
    X(CU_MEM_ACCESS_FLAGS_PROT_READWRITE, 3)                                \
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
    X(CU_STREAM_WAIT_VALUE_AND, 2)                                          \
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

#endif
