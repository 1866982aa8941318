/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: what src/gtl/hip/hip_abi.h says of AMD's runtime is what its
 * headers say.  Compiled, never run: scripts/abi-check. */
#define __HIP_PLATFORM_AMD__
#include <hip/hip_runtime_api.h>

#include "gtl/hip/hip_abi.h"

#define IS(ours, theirs) \
    _Static_assert((int)(ours) == (int)(theirs), #ours " is not " #theirs)
#define HAS(ours, theirs, our_member, their_member) \
    _Static_assert(offsetof(ours, our_member) == \
                   offsetof(theirs, their_member) && \
                   sizeof(((ours *)0)->our_member) == \
                   sizeof(((theirs *)0)->their_member), \
                   #ours "." #our_member " is not " #theirs "." #their_member)
#define SIZE(ours, theirs) \
    _Static_assert(sizeof(ours) == sizeof(theirs), \
                   #ours " has not the size of " #theirs)

IS(HIP_OK, hipSuccess);
IS(HIP_INVALID_VALUE, hipErrorInvalidValue);
IS(HIP_OUT_OF_MEMORY, hipErrorOutOfMemory);
IS(HIP_NOT_INITIALIZED, hipErrorNotInitialized);
IS(HIP_INSUFFICIENT_DRIVER, hipErrorInsufficientDriver);
IS(HIP_NO_DEVICE, hipErrorNoDevice);
IS(HIP_INVALID_DEVICE, hipErrorInvalidDevice);
IS(HIP_MAP_FAILED, hipErrorMapFailed);
IS(HIP_NO_BINARY, hipErrorNoBinaryForGpu);
IS(HIP_PEER_ACCESS_UNSUPPORTED, hipErrorPeerAccessUnsupported);
IS(HIP_PEER_ACCESS_ENABLED, hipErrorPeerAccessAlreadyEnabled);
IS(HIP_P2P_ATOMICS, hipDevP2PAttrNativeAtomicSupported);
IS(HIP_OPERATING_SYSTEM, hipErrorOperatingSystem);
IS(HIP_INVALID_HANDLE, hipErrorInvalidHandle);
IS(HIP_NOT_READY, hipErrorNotReady);
IS(HIP_OUT_OF_RESOURCES, hipErrorLaunchOutOfResources);
IS(HIP_CONTEXT_IS_DESTROYED, hipErrorContextIsDestroyed);
IS(HIP_ALREADY_REGISTERED, hipErrorHostMemoryAlreadyRegistered);
IS(HIP_NOT_REGISTERED, hipErrorHostMemoryNotRegistered);
IS(HIP_NOT_SUPPORTED, hipErrorNotSupported);
IS(HIP_CAPTURE_UNSUPPORTED, hipErrorStreamCaptureUnsupported);
IS(HIP_CAPTURE_LAST, hipErrorStreamCaptureWrongThread);

IS(HIP_ATTR_INTEGRATED, hipDeviceAttributeIntegrated);
IS(HIP_ATTR_HDP_MEM_FLUSH, hipDeviceAttributeHdpMemFlushCntl);
IS(HIP_ATTR_WAIT_VALUE, hipDeviceAttributeCanUseStreamWaitValue);

#if HIP_VERSION_MAJOR < 6
IS(HIP_HOST_5, hipMemoryTypeHost);
IS(HIP_DEVICE_5, hipMemoryTypeDevice);
IS(HIP_ARRAY_5, hipMemoryTypeArray);
IS(HIP_UNIFIED_5, hipMemoryTypeUnified);
HAS(struct hip_pointer, hipPointerAttribute_t, type, memoryType);
#else
IS(HIP_UNREGISTERED_6, hipMemoryTypeUnregistered);
IS(HIP_HOST_6, hipMemoryTypeHost);
IS(HIP_DEVICE_6, hipMemoryTypeDevice);
IS(HIP_MANAGED_6, hipMemoryTypeManaged);
IS(HIP_ARRAY_6, hipMemoryTypeArray);
IS(HIP_UNIFIED_6, hipMemoryTypeUnified);
HAS(struct hip_pointer, hipPointerAttribute_t, type, type);
#endif
SIZE(struct hip_pointer, hipPointerAttribute_t);
HAS(struct hip_pointer, hipPointerAttribute_t, device, device);
HAS(struct hip_pointer, hipPointerAttribute_t, device_pointer, devicePointer);
HAS(struct hip_pointer, hipPointerAttribute_t, host_pointer, hostPointer);
HAS(struct hip_pointer, hipPointerAttribute_t, managed, isManaged);
HAS(struct hip_pointer, hipPointerAttribute_t, flags, allocationFlags);
SIZE(struct hip_ipc_mem, hipIpcMemHandle_t);
SIZE(struct hip_uuid, hipUUID);

IS(HIP_STREAM_NON_BLOCKING, hipStreamNonBlocking);
IS(HIP_EVENT_DISABLE_TIMING, hipEventDisableTiming);
IS(HIP_EVENT_RELEASE_TO_SYSTEM, hipEventReleaseToSystem);
IS(HIP_REGISTER_PORTABLE, hipHostRegisterPortable);
IS(HIP_REGISTER_MAPPED, hipHostRegisterMapped);
IS(HIP_REGISTER_IO_MEMORY, hipHostRegisterIoMemory);
_Static_assert(hipIpcMemLazyEnablePeerAccess == HIP_IPC_LAZY_PEER_5 ||
               hipIpcMemLazyEnablePeerAccess == HIP_IPC_LAZY_PEER_6,
               "hipIpcMemLazyEnablePeerAccess is neither 0 nor 1");
IS(HIP_COPY_DEFAULT, hipMemcpyDefault);
IS(HIP_WAIT_GTE, hipStreamWaitValueGte);
IS(HIP_MALLOC_FINE, hipDeviceMallocFinegrained);
IS(HIP_MALLOC_SIGNAL, hipMallocSignalMemory);
#if HIP_VERSION >= 50700000
IS(HIP_MALLOC_UNCACHED, hipDeviceMallocUncached);
#endif
IS(HIP_CAPTURE_NONE, hipStreamCaptureStatusNone);
IS(HIP_CAPTURE_ACTIVE, hipStreamCaptureStatusActive);
IS(HIP_CAPTURE_THREAD, hipStreamCaptureModeThreadLocal);
IS(HIP_CAPTURE_RELAXED, hipStreamCaptureModeRelaxed);
#if HIP_VERSION >= 50300000
IS(HIP_OBJECT_NO_SYNC, hipUserObjectNoDestructorSync);
IS(HIP_OBJECT_MOVE, hipGraphUserObjectMove);
#endif
#if HIP_VERSION >= 70100000
IS(HIP_RANGE_DMABUF, hipMemRangeHandleTypeDmaBufFd);
#endif

/* From here on our tags stand for their types. */
#define hip_stream ihipStream_t
#define hip_event ihipEvent_t
#define hip_module ihipModule_t
#define hip_kernel ihipModuleSymbol_t
#define hip_pointer hipPointerAttribute_t
#define hip_ipc_mem hipIpcMemHandle_st
#define hip_uuid hipUUID_t
#define hip_graph ihipGraph
#define hip_graph_exec hipGraphExec
#define hip_graph_node hipGraphNode
#define hip_user_object hipUserObject

#define SAME(name, result, args) \
    _Static_assert(__builtin_types_compatible_p(result (*)args, \
                                                __typeof__(&name)), \
                   #name " is declared otherwise");
#define CALL(result, name, args) SAME(hip##name, result, args)
/* An older header lacks some; the newer ones are looked up below. */
#define MAYBE(result, name, args)

HIP_CALLS(CALL, MAYBE)

#define OPTIONAL(result, name, args) MAY_##name(SAME(hip##name, result, args))
#define NONE(result, name, args)
#define MAY_DeviceGetUuid(check) check
#define MAY_DeviceGetP2PAttribute(check) check
#define MAY_ExtMallocWithFlags(check) check
#define MAY_StreamIsCapturing(check) check
#define MAY_ThreadExchangeStreamCaptureMode(check) check
#define MAY_StreamWriteValue64(check) check
#define MAY_StreamWaitValue64(check) check
#define MAY_LaunchHostFunc(check) check
#define MAY_StreamBeginCapture(check) check
#define MAY_StreamEndCapture(check) check
#define MAY_StreamGetCaptureInfo_v2(check) check
#define MAY_GraphInstantiateWithFlags(check) check
#define MAY_GraphLaunch(check) check
#define MAY_GraphDestroy(check) check
#define MAY_GraphExecDestroy(check) check
#if HIP_VERSION >= 50300000
#define MAY_UserObjectCreate(check) check
#define MAY_UserObjectRelease(check) check
#define MAY_GraphRetainUserObject(check) check
#else
#define MAY_UserObjectCreate(check)
#define MAY_UserObjectRelease(check)
#define MAY_GraphRetainUserObject(check)
#endif
#if HIP_VERSION >= 50600000
#define MAY_StreamGetDevice(check) check
#else
#define MAY_StreamGetDevice(check)
#endif
#if HIP_VERSION >= 70100000
#define MAY_StreamGetId(check) check
#define MAY_MemGetHandleForAddressRange(check) check
#else
#define MAY_StreamGetId(check)
#define MAY_MemGetHandleForAddressRange(check)
#endif
HIP_CALLS(NONE, OPTIONAL)
