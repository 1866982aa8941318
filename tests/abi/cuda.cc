// SPDX-License-Identifier: BSD-3-Clause
// Our declarations of the CUDA driver API against the vendor's: compiling
// this file is the test.  With this macro the header declares older forms of
// calls, too, each by the name that the library exports.
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>

#include "gtl/cuda/cuda_abi.h"
#include "abi/same.h"

#define X(name, value) static_assert((long long)(name) == (value), #name);
CUDA_VALUES(X)
#undef X

namespace ours {
#define X(name, args) int name args;
CUDA_CALLS(X)
CUDA_OPTIONAL_CALLS(X)
#undef X
}

#define X(name, args) \
    static_assert(abi::same<decltype(&ours::name), decltype(&::name)>(), #name);
CUDA_CALLS(X)
CUDA_OPTIONAL_CALLS(X)
#undef X

#define FIELD(side, field, their) \
    static_assert(offsetof(struct cuda_copy2d, side.field) == \
                  offsetof(CUDA_MEMCPY2D, their), #their)
FIELD(from, x, srcXInBytes);
FIELD(from, y, srcY);
FIELD(from, kind, srcMemoryType);
FIELD(from, host, srcHost);
FIELD(from, device, srcDevice);
FIELD(from, array, srcArray);
FIELD(from, pitch, srcPitch);
FIELD(to, x, dstXInBytes);
FIELD(to, y, dstY);
FIELD(to, kind, dstMemoryType);
FIELD(to, host, dstHost);
FIELD(to, device, dstDevice);
FIELD(to, array, dstArray);
FIELD(to, pitch, dstPitch);
static_assert(offsetof(struct cuda_copy2d, width) ==
              offsetof(CUDA_MEMCPY2D, WidthInBytes), "width");
static_assert(offsetof(struct cuda_copy2d, height) ==
              offsetof(CUDA_MEMCPY2D, Height), "height");
static_assert(sizeof(struct cuda_copy2d) == sizeof(CUDA_MEMCPY2D), "size");
static_assert(sizeof(struct cuda_uuid) == sizeof(CUuuid), "uuid");
static_assert(sizeof(struct cuda_ipc) == sizeof(CUipcMemHandle), "ipc");

static_assert(sizeof(struct cuda_mem_prop) == sizeof(CUmemAllocationProp),
              "prop");
#define PROP(ours, theirs) \
    static_assert(offsetof(struct cuda_mem_prop, ours) == \
                  offsetof(CUmemAllocationProp, theirs), #theirs)
PROP(type, type);
PROP(handles, requestedHandleTypes);
PROP(location, location.type);
PROP(device, location.id);
PROP(not_here, win32HandleMetaData);
PROP(compression, allocFlags.compressionType);
PROP(rdma, allocFlags.gpuDirectRDMACapable);
PROP(usage, allocFlags.usage);
static_assert(sizeof(struct cuda_mem_access) == sizeof(CUmemAccessDesc),
              "access");
static_assert(offsetof(struct cuda_mem_access, flags) ==
              offsetof(CUmemAccessDesc, flags), "flags");

// A vendor's union of structures; these are the two that we fill.
static_assert(sizeof(struct cuda_memop) == sizeof(CUstreamBatchMemOpParams),
              "memop");
#define MEMOP(ours, theirs) \
    static_assert(offsetof(struct cuda_memop, ours) == \
                  offsetof(CUstreamBatchMemOpParams, theirs), #theirs)
MEMOP(kind, operation);
MEMOP(kind, waitValue.operation);
MEMOP(word, waitValue.address);
MEMOP(value, waitValue.value64);
MEMOP(flags, waitValue.flags);
MEMOP(kind, writeValue.operation);
MEMOP(word, writeValue.address);
MEMOP(value, writeValue.value64);
MEMOP(flags, writeValue.flags);
