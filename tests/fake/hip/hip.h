/* SPDX-License-Identifier: BSD-3-Clause */
/* hip.h - a stand-in for AMD's HIP runtime, on the device of dev.h: what its
 * documentation says of the calls that src/gtl uses, in the words of
 * src/gtl/hip/hip_abi.h.  Beside dev.h's its environment is:
 *   FAKE_HIP_MAJOR=5|6|7   the version: 6 unless set.  5 has other memory
 *                          types and another flag for handles, takes the
 *                          current device for the active one, and aligns to
 *                          pages only; before 7 success is a last error, too
 *   FAKE_HIP_WAIT=deaf     a stream's wait sees stream writes only
 *                 dead     it never ends
 *   GPU_STREAMOPS_CP_WAIT=1   as the runtime has it: the command processor
 *                          waits, for words in signal memory only
 *   FAKE_HIP_INTEGRATED=1  the device is said to be, whatever its memory
 *   FAKE_HIP_GRAIN=none    there is coarse-grained device memory only
 *                  silent  the flag for fine-grained memory is taken, and the
 *                          memory is coarse-grained; uncached is refused
 *                  kept    uncached memory has no handle for other processes
 *   FAKE_HIP_PINNED=moved  the device sees pinned memory elsewhere
 *   FAKE_HIP_IO=taken      hipHostRegister knows the flag for I/O memory, as
 *                          from 7.1 on; unset, it refuses that flag, and maps
 *                          such memory without it
 *               upstream   under the amdgpu driver of the kernel itself, in
 *                          place of ROCm's: it maps no other device's memory
 *               lost       it does, and what the device stores there is lost
 *   FAKE_HIP_PEERS=lazy    the flag of hipIpcOpenMemHandle gives access to the
 *                          other device; unset, only
 *                          hipDeviceEnablePeerAccess does
 *   FAKE_HIP_USED=1        the program has used device 0 before
 *   FAKE_HIP_SOURCE=FILE   gets the text that hiprtc is given
 *   FAKE_HIPRTC=fails      it does not compile */
#ifndef FAKE_HIP_H
#define FAKE_HIP_H

#include "dev_graph.h"
#include "gtl/hip/hip_abi.h"

/* Errors that src/gtl has no use for, or names otherwise. */
enum {
    HIP_INVALID_CONTEXT = 201, HIP_ILLEGAL_ADDRESS = 700,
    HIP_STREAM_CAPTURE_UNSUPPORTED = HIP_CAPTURE_UNSUPPORTED,
    HIP_STREAM_CAPTURE_INVALIDATED = 901, HIP_STREAM_CAPTURE_UNMATCHED = 903,
    HIP_STREAM_CAPTURE_UNJOINED = 904, HIP_STREAM_CAPTURE_IMPLICIT = 906,
    HIP_CAPTURED_EVENT = 907,
    HIP_STREAM_CAPTURE_WRONG_THREAD = HIP_CAPTURE_LAST
};

#define EXPORT __attribute__((visibility("default")))
#define DECLARE(result, name, args) EXPORT result hip##name args;
HIP_CALLS(DECLARE, DECLARE)
/* What programs call, and the library does not. */
DECLARE(unsigned, MallocAsync, (void **out, size_t size, struct hip_stream *s))
DECLARE(unsigned, FreeAsync, (void *p, struct hip_stream *s))
#undef DECLARE

enum { SIGNAL_MEMORY = 1 << 29 };       /* among the flags of a range */

int hip_major(void);
int hip_current(void);
/* Keeps it as the thread's last error; returns it. */
unsigned hip_result(unsigned error);
/* 0 or -errno of dev.h. */
unsigned hip_error(int rc);
/* Begins a call; leaves it where it is to fail. */
#define CALL(name) do { \
    int code_ = dev_call("hip" #name); \
    if (code_) \
        return hip_result((unsigned)code_); \
} while (0)
/* The same for what a fault of the device makes fail. */
#define WORK(name) do { \
    CALL(name); \
    if (dev_fault()) \
        return hip_result(HIP_ILLEGAL_ADDRESS); \
} while (0)

/* Leaves a call that is not safe while streams record. */
#define UNSAFE() do { \
    if (!dev_unsafe()) \
        return hip_result(HIP_CAPTURE_UNSUPPORTED); \
} while (0)

/* The runtime follows an event to the stream that recorded it last, whatever is
 * there now; and where that one records a graph, the graph is lost, whatever the
 * thread's mode is. */
#define REACHES_STREAM(e) do { \
    struct dev_stream *at = __atomic_load_n(&(e)->last, __ATOMIC_ACQUIRE); \
    if (at && dev_stream_dead(at)) { \
        fprintf(stderr, "fake device: a query of an event whose stream is " \
                "destroyed\n"); \
        abort(); \
    } \
    if (at && dev_capture_status(at) != DEV_NO_CAPTURE) { \
        dev_capture_break(at); \
        return CODE(CAPTURED_EVENT); \
    } \
} while (0)

/* The stream behind a handle, or NULL.  0 is the default stream, and so is 1
 * from version 7 on; 2 is the thread's own. */
struct dev_stream *hip_stream_of(const void *s);
/* The processor's address of what the device may see elsewhere. */
void *hip_here(const void *p);
void hip_use(void);
/* Does the device reach it, if it is another one's?  A line if not. */
bool hip_mapped(int device, const void *p);

#endif
