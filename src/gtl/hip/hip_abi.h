/* SPDX-License-Identifier: BSD-3-Clause */
/* hip_abi.h - the part of AMD's HIP runtime that we use, in our own words, so
 * that no vendor header is needed to build; `make abi-check` compares it with
 * <hip/hip_runtime_api.h> where that is installed.
 *
 * Holds for the majors 5, 6 and 7 of libamdhip64.  Differences:
 * - enum hipMemoryType got other values in 6 (hip_type_5, hip_type_6); the
 *   struct around it kept its layout, though its first member was renamed.
 * - the struct of hipGetDeviceProperties grew in 6: it is not used here.
 * - the flag that hipIpcOpenMemHandle insists on: 0 once, later 1.
 * - the last error: up to 6 every call overwrites it, success included; from
 *   7 on it stays until it is read, and "not ready" is no error.
 * - libhiprtc: a part of libamdhip64 in 5 and 6, too; in 7 on its own.
 * Errors and other enums are unsigned here, which is how C holds them. */
#ifndef GTL_HIP_ABI_H
#define GTL_HIP_ABI_H

#include <stddef.h>
#include <stdint.h>

/* hipRuntimeGetVersion() counts major * 10^7 + minor * 10^5 + patch. */
enum { HIP_PER_MAJOR = 10000000 };

enum hip_error {
    HIP_OK = 0,
    HIP_INVALID_VALUE = 1,
    HIP_OUT_OF_MEMORY = 2,
    HIP_NOT_INITIALIZED = 3,
    HIP_INSUFFICIENT_DRIVER = 35,
    HIP_NO_DEVICE = 100,
    HIP_INVALID_DEVICE = 101,
    HIP_MAP_FAILED = 205,
    HIP_NO_BINARY = 209,
    HIP_PEER_ACCESS_UNSUPPORTED = 217,
    HIP_OPERATING_SYSTEM = 304,
    HIP_INVALID_HANDLE = 400, HIP_NOT_FOUND = 500,
    HIP_NOT_READY = 600,
    HIP_OUT_OF_RESOURCES = 701,
    HIP_PEER_ACCESS_ENABLED = 704,      /* it was before */
    HIP_CONTEXT_IS_DESTROYED = 709,
    HIP_ALREADY_REGISTERED = 712,
    HIP_NOT_REGISTERED = 713,
    HIP_NOT_SUPPORTED = 801,
    HIP_CAPTURE_UNSUPPORTED = 900,
    HIP_CAPTURE_LAST = 908      /* hipErrorStreamCaptureWrongThread */
};

/* hipDeviceAttribute_t: the numbers are the same in all majors. */
enum hip_attr {
    HIP_ATTR_INTEGRATED = 16,
    HIP_ATTR_ITEMS_EACH = 57,   /* MaxThreadsPerMultiProcessor */
    HIP_ATTR_PROCESSORS = 63,   /* MultiprocessorCount */
    HIP_ATTR_SHARED_EACH = 10002,       /* MaxSharedMemoryPerMultiprocessor */
    HIP_ATTR_HDP_MEM_FLUSH = 10005,     /* an address, where an int is said */
    HIP_ATTR_WAIT_VALUE = 10013         /* CanUseStreamWaitValue */
};

enum { HIP_P2P_ATOMICS = 2 };  /* hipDevP2PAttrNativeAtomicSupported */

enum hip_type_5 {
    HIP_HOST_5 = 0, HIP_DEVICE_5 = 1, HIP_ARRAY_5 = 2, HIP_UNIFIED_5 = 3,
    HIP_MANAGED_5 = 4
};
enum hip_type_6 {
    HIP_UNREGISTERED_6 = 0, HIP_HOST_6 = 1, HIP_DEVICE_6 = 2,
    HIP_MANAGED_6 = 3, HIP_ARRAY_6 = 10, HIP_UNIFIED_6 = 11
};

struct hip_stream;
struct hip_event;
struct hip_module;
struct hip_kernel;              /* hipFunction_t */
struct hip_program;             /* hiprtcProgram */
struct hip_graph;
struct hip_graph_node;
struct hip_graph_exec;
struct hip_user_object;

struct hip_pointer {            /* hipPointerAttribute_t */
    unsigned type;
    int device;
    void *device_pointer, *host_pointer;
    int managed;
    unsigned flags;
};

struct hip_ipc_mem {            /* hipIpcMemHandle_t */
    char bytes[64];
};

struct hip_uuid {               /* hipUUID */
    char bytes[16];
};

enum {
    HIP_STREAM_NON_BLOCKING = 1,
    HIP_EVENT_DISABLE_TIMING = 2,
    HIP_REGISTER_PORTABLE = 1, HIP_REGISTER_MAPPED = 2,
    HIP_REGISTER_IO_MEMORY = 4,
    HIP_IPC_LAZY_PEER_5 = 0, HIP_IPC_LAZY_PEER_6 = 1,
    HIP_COPY_DEFAULT = 4,       /* hipMemcpyDefault */
    HIP_WAIT_GTE = 0,
    HIP_CAPTURE_NONE = 0, HIP_CAPTURE_ACTIVE = 1, /* hipStreamCaptureStatus */
    HIP_CAPTURE_THREAD = 1,     /* hipStreamCaptureModeThreadLocal */
    HIP_CAPTURE_RELAXED = 2,    /* hipStreamCaptureMode */
    HIP_OBJECT_NO_SYNC = 1,     /* hipUserObjectNoDestructorSync */
    HIP_OBJECT_MOVE = 1,        /* hipGraphUserObjectMove */
    HIP_MALLOC_FINE = 1,        /* hipDeviceMallocFinegrained */
    HIP_MALLOC_SIGNAL = 2,      /* hipMallocSignalMemory */
    HIP_MALLOC_UNCACHED = 3,    /* hipDeviceMallocUncached */
    HIP_RANGE_DMABUF = 1        /* hipMemRangeHandleType, from 7 on */
};
#define HIP_EVENT_RELEASE_TO_SYSTEM 0x80000000u

/* HIP(result, name, arguments): names with hip before them; HIP_MAY: those
 * that some versions lack. */
#define HIP_CALLS(HIP, HIP_MAY) \
    HIP(const char *, GetErrorName, (unsigned error)) \
    HIP(const char *, GetErrorString, (unsigned error)) \
    HIP(unsigned, GetLastError, (void)) \
    HIP(unsigned, Init, (unsigned flags)) \
    HIP(unsigned, RuntimeGetVersion, (int *out)) \
    HIP(unsigned, GetDeviceCount, (int *out)) \
    HIP(unsigned, GetDevice, (int *out)) \
    HIP(unsigned, SetDevice, (int device)) \
    HIP(unsigned, DevicePrimaryCtxGetState, \
        (int device, unsigned *flags, int *active)) \
    HIP(unsigned, DeviceGetAttribute, (int *out, unsigned attr, int device)) \
    HIP(unsigned, DeviceGetName, (char *out, int size, int device)) \
    HIP(unsigned, DeviceGetPCIBusId, (char *out, int size, int device)) \
    HIP_MAY(unsigned, DeviceGetUuid, (struct hip_uuid *out, int device)) \
    HIP(unsigned, DeviceTotalMem, (size_t *out, int device)) \
    HIP(unsigned, DeviceCanAccessPeer, (int *out, int device, int peer)) \
    HIP(unsigned, DeviceEnablePeerAccess, (int peer, unsigned flags)) \
    HIP_MAY(unsigned, DeviceGetP2PAttribute, \
            (int *out, unsigned attr, int from, int to)) \
    HIP(unsigned, DeviceGetStreamPriorityRange, (int *least, int *greatest)) \
    HIP(unsigned, Malloc, (void **out, size_t size)) \
    HIP_MAY(unsigned, ExtMallocWithFlags, \
            (void **out, size_t size, unsigned flags)) \
    HIP(unsigned, Free, (void *p)) \
    HIP(unsigned, MemGetInfo, (size_t *unused, size_t *total)) \
    HIP(unsigned, HostRegister, (void *p, size_t size, unsigned flags)) \
    HIP(unsigned, HostUnregister, (void *p)) \
    HIP(unsigned, HostGetDevicePointer, (void **out, void *p, unsigned flags)) \
    HIP(unsigned, PointerGetAttributes, \
        (struct hip_pointer *out, const void *p)) \
    HIP(unsigned, MemGetAddressRange, (void **base, size_t *size, void *p)) \
    HIP(unsigned, IpcGetMemHandle, (struct hip_ipc_mem *out, void *p)) \
    HIP(unsigned, IpcOpenMemHandle, \
        (void **out, struct hip_ipc_mem h, unsigned flags)) \
    HIP(unsigned, IpcCloseMemHandle, (void *p)) \
    HIP_MAY(unsigned, MemGetHandleForAddressRange, \
            (void *out, void *p, size_t size, unsigned type, \
             unsigned long long flags)) \
    HIP(unsigned, StreamCreateWithPriority, \
        (struct hip_stream **out, unsigned flags, int priority)) \
    HIP(unsigned, StreamDestroy, (struct hip_stream *s)) \
    HIP(unsigned, StreamQuery, (struct hip_stream *s)) \
    HIP(unsigned, StreamSynchronize, (struct hip_stream *s)) \
    HIP(unsigned, StreamGetFlags, (struct hip_stream *s, unsigned *out)) \
    HIP(unsigned, StreamWaitEvent, \
        (struct hip_stream *s, struct hip_event *e, unsigned flags)) \
    HIP_MAY(unsigned, StreamIsCapturing, \
            (struct hip_stream *s, unsigned *out)) \
    HIP_MAY(unsigned, ThreadExchangeStreamCaptureMode, (unsigned *mode)) \
    HIP_MAY(unsigned, StreamBeginCapture, \
            (struct hip_stream *s, unsigned mode)) \
    HIP_MAY(unsigned, StreamEndCapture, \
            (struct hip_stream *s, struct hip_graph **out)) \
    HIP_MAY(unsigned, StreamGetCaptureInfo_v2, \
            (struct hip_stream *s, unsigned *status, unsigned long long *id, \
             struct hip_graph **graph, struct hip_graph_node *const **nodes, \
             size_t *n)) \
    HIP_MAY(unsigned, UserObjectCreate, \
            (struct hip_user_object **out, void *arg, \
             void (*destroy)(void *arg), unsigned refs, unsigned flags)) \
    HIP_MAY(unsigned, UserObjectRelease, \
            (struct hip_user_object *object, unsigned n)) \
    HIP_MAY(unsigned, GraphRetainUserObject, \
            (struct hip_graph *graph, struct hip_user_object *object, \
             unsigned n, unsigned flags)) \
    HIP_MAY(unsigned, GraphInstantiateWithFlags, \
            (struct hip_graph_exec **out, struct hip_graph *graph, \
             unsigned long long flags)) \
    HIP_MAY(unsigned, GraphLaunch, \
            (struct hip_graph_exec *exec, struct hip_stream *s)) \
    HIP_MAY(unsigned, GraphDestroy, (struct hip_graph *graph)) \
    HIP_MAY(unsigned, GraphExecDestroy, (struct hip_graph_exec *exec)) \
    HIP_MAY(unsigned, StreamGetDevice, (struct hip_stream *s, int *out)) \
    HIP_MAY(unsigned, StreamGetId, \
            (struct hip_stream *s, unsigned long long *out)) \
    HIP_MAY(unsigned, StreamWriteValue64, \
            (struct hip_stream *s, void *word, uint64_t value, \
             unsigned flags)) \
    HIP_MAY(unsigned, StreamWaitValue64, \
            (struct hip_stream *s, void *word, uint64_t value, \
             unsigned flags, uint64_t mask)) \
    HIP(unsigned, StreamAddCallback, \
        (struct hip_stream *s, void (*fn)(struct hip_stream *s, \
         unsigned error, void *arg), void *arg, unsigned flags)) \
    HIP_MAY(unsigned, LaunchHostFunc, \
            (struct hip_stream *s, void (*fn)(void *arg), void *arg)) \
    HIP(unsigned, MemcpyAsync, \
        (void *to, const void *from, size_t n, unsigned kind, \
         struct hip_stream *s)) \
    HIP(unsigned, Memcpy2DAsync, \
        (void *to, size_t to_pitch, const void *from, size_t from_pitch, \
         size_t width, size_t height, unsigned kind, struct hip_stream *s)) \
    HIP(unsigned, MemsetAsync, \
        (void *to, int byte, size_t n, struct hip_stream *s)) \
    HIP(unsigned, EventCreateWithFlags, \
        (struct hip_event **out, unsigned flags)) \
    HIP(unsigned, EventDestroy, (struct hip_event *e)) \
    HIP(unsigned, EventRecord, (struct hip_event *e, struct hip_stream *s)) \
    HIP(unsigned, EventQuery, (struct hip_event *e)) \
    HIP_MAY(unsigned, EventElapsedTime, \
            (float *ms, struct hip_event *from, struct hip_event *to)) \
    HIP(unsigned, ModuleLoadData, \
        (struct hip_module **out, const void *image)) \
    HIP(unsigned, ModuleUnload, (struct hip_module *m)) \
    HIP(unsigned, ModuleGetFunction, \
        (struct hip_kernel **out, struct hip_module *m, const char *name)) \
    HIP(unsigned, ModuleGetGlobal, \
        (void **out, size_t *size, struct hip_module *m, const char *name)) \
    HIP(unsigned, ModuleLaunchKernel, \
        (struct hip_kernel *f, unsigned gx, unsigned gy, unsigned gz, \
         unsigned bx, unsigned by, unsigned bz, unsigned shared, \
         struct hip_stream *s, void **args, void **extra))

/* Names with hiprtc before them. */
#define HIPRTC_CALLS(RTC) \
    RTC(const char *, GetErrorString, (unsigned error)) \
    RTC(unsigned, CreateProgram, \
        (struct hip_program **out, const char *text, const char *name, \
         int n_headers, const char **headers, const char **header_names)) \
    RTC(unsigned, CompileProgram, \
        (struct hip_program *p, int n_options, const char **options)) \
    RTC(unsigned, GetProgramLogSize, (struct hip_program *p, size_t *out)) \
    RTC(unsigned, GetProgramLog, (struct hip_program *p, char *out)) \
    RTC(unsigned, GetCodeSize, (struct hip_program *p, size_t *out)) \
    RTC(unsigned, GetCode, (struct hip_program *p, char *out)) \
    RTC(unsigned, DestroyProgram, (struct hip_program **p))

/* Of libhsa-runtime64, which libamdhip64 brings along: 0 is success. */
typedef int hip_hsa_export(const void *p, size_t size, int *fd,
                           uint64_t *offset);

#endif
