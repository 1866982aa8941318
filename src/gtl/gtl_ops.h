/* SPDX-License-Identifier: BSD-3-Clause */
/* gtl_ops.h - the table of calls that each driver of devices has: cuda/cuda.c,
 * hip/hip.c, soft/soft.c, and gtl_none.c where there is no device.  gtl.h says
 * which one is in use, from which thread it may be called, and what errors
 * mean.  A slot that a device has no use for points at its gtl_no_...() stub
 * (gtl_no.c). */
#ifndef GTL_GTL_OPS_H
#define GTL_GTL_OPS_H

#include "gtl/gtl_amo.h"
#include "gtl/gtl_batch.h"
#include "gtl/gtl_device.h"
#include "gtl/gtl_reduction.h"
#include "shmemx_kernel.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Memory of this process, as the device sees it. */
enum gtl_memory_kind {
    GTL_PRIVATE,                /* host memory, unknown to the device */
    GTL_PINNED,                 /* host memory that the device reaches */
    GTL_MANAGED,                /* migrates; the processor may use it */
    GTL_DEVICE                  /* of this device or of another one */
};

/* The allocation around an address. */
struct gtl_range {
    enum gtl_memory_kind kind;
    uintptr_t base;             /* not known of PRIVATE memory, as is size */
    size_t size;
};

/* Of a stream, on devices that have priorities.  Streams of one priority may
 * share hardware queues, so the library's streams have another one than the
 * program's. */
enum gtl_priority {
    GTL_LOW = -1,               /* the library's, after the program's */
    GTL_NORMAL,
    GTL_URGENT                  /* the library's, before the program's */
};

/* By this another process of the node opens memory of this one. */
struct gtl_ipc_handle {
    unsigned char bytes[104];
};

/* Why host memory is pinned. */
enum gtl_pin {
    GTL_PIN_MEMORY,             /* the device loads and stores it */
    GTL_PIN_MMIO                /* registers of another device: stores only */
};

/* count blocks of len bytes; the strides are from start to start. */
struct gtl_blocks {
    size_t len, count;
    ptrdiff_t to_stride, from_stride;
};

/* A kernel of the software device. */
typedef void gtl_kernel(const struct shmemx_item *item, void *arg);

struct gtl_ops {
    const char *name;
    /* Opens the device that is current in this thread, or else the one that
     * `local`, the PE's number on its node, selects.  -ENODEV: there is no
     * device, or no driver. */
    int (*open)(int local, struct gtl_device *out);
    /* See gtl_pci_address().  -ENODEV: no device, or none on a bus. */
    int (*pci_address)(int local, char pci[16]);
    /* Makes the device this thread's current one, for calls of other libraries,
     * which break no capture of a stream then; leave() takes what enter()
     * returned and undoes it. */
    int (*enter)(void);
    void (*leave)(int was);
    /* After the library's streams and memory are gone.  The vendor's library
     * stays loaded. */
    void (*close)(void);

    /* ---- memory ---- */
    /* Memory of this device, aligned to 2 MiB, content undefined;
     * ipc_export() takes it. */
    int (*alloc)(size_t size, void **out);
    /* Addresses like alloc()'s, without memory: grow() maps memory behind them,
     * in order and in multiples of 2 MiB, and shrink() undoes the last
     * grow().  -ENOSYS: gtl_device.why_fixed says why. */
    int (*reserve)(size_t most, void **out);
    int (*grow)(void *p, size_t size);
    void (*shrink)(void *p);
    void (*free)(void *p);      /* of alloc() and reserve() */
    /* A hint, ENV_GRAIN_...: the kind of memory that alloc() gives from now
     * on. */
    int (*set_coherence)(int wanted);
    int (*memory_info)(size_t *unused, size_t *total);
    /* Whole pages.  *out is their address for the device; with PIN_MEMORY and
     * unified addresses it is the processor's, too. */
    int (*pin)(void *host, size_t size, enum gtl_pin why, void **out);
    void (*unpin)(void *host);
    int (*classify)(const void *p, struct gtl_range *out);
    /* p is what alloc() returned; or what reserve() did, for the memory of the
     * last grow().  *fd: -1, or a descriptor that has to be passed with the
     * handle; the caller closes it.  Peers close the memory before its owner
     * frees it. */
    int (*ipc_export)(void *p, struct gtl_ipc_handle *out, int *fd);
    /* *at: NULL; or the address at which memory was opened that this chunk
     * continues.  shrink() closes the last chunk, ipc_close() all. */
    int (*ipc_open)(const struct gtl_ipc_handle *h, int fd, void **at);
    void (*ipc_close)(void *p);
    /* Are amo() on that memory and the owner's atomic with each other? */
    bool (*peer_atomic)(const struct gtl_ipc_handle *h);
    /* A descriptor for drivers of NICs; the caller closes it. */
    int (*dmabuf)(void *p, size_t size, int *fd, uint64_t *offset);

    /* ---- streams ---- */
    /* Independent of the default stream. */
    int (*stream_create)(enum gtl_priority priority, void **out);
    /* Returns at once; enqueued work still runs. */
    void (*stream_destroy)(void *s);
    /* Is it a live stream of this device?  *id differs for all streams ever
     * made, even where handles are used again.  -EINVAL: it is none; -EBUSY,
     * with *id: it captures a graph. */
    int (*stream_check)(void *s, uint64_t *id);
    /* Does it capture a graph?  Then each launch does what is enqueued. */
    bool (*is_capturing)(void *s);
    int (*stream_query)(void *s);       /* 0; -EAGAIN: work is left */
    /* Blocks this thread alone: others may enqueue meanwhile. */
    int (*stream_sync)(void *s);

    /* ---- in stream order ---- */
    /* Between any two addresses of host or device memory. */
    int (*copy)(void *to, const void *from, size_t n, void *s);
    int (*copy_blocks)(void *to, const void *from, const struct gtl_blocks *b,
                       void *s);
    int (*fill)(void *to, int byte, size_t n, void *s);
    /* Atomic with the device's and, on memory both reach, the processor's. */
    int (*amo)(const struct gtl_amo *a, void *s);
    /* Operands are aligned, in device or pinned memory.  -EINVAL: the type
     * has no such operation; -ENOSYS: there are no kernels. */
    int (*reduce)(const struct gtl_reduce *r, void *s);
    /* Flags in device or pinned memory, aligned.  An observer of the written
     * value, the processor and the network included, sees what the stream did
     * before.  The wait ends at *word >= least, as unsigned numbers; on some
     * devices a flag 2^63 or more above `least` counts as below it.  -ENOSYS:
     * without memops, where several PEs share the device. */
    int (*write64)(uint64_t *word, uint64_t value, void *s);
    int (*wait64)(uint64_t *word, uint64_t least, void *s);
    /* On error a part of the batch may have been enqueued. */
    int (*batch)(const struct gtl_batch *t, void *s);
    /* Neither stream waits: the first one to arrive goes on, the second one
     * copies.  The flags get the iteration when the copy, and what both streams
     * did before, are visible, to the processor and the network, too.
     * -ENOSYS: there are no kernels. */
    int (*peer_copy)(const struct gtl_peer_copy *p, void *s);
    /* On a thread of the driver; fn must not call the driver. */
    int (*host_call)(void (*fn)(void *arg), void *arg, void *s);
    int (*launch)(const struct shmemx_grid *grid, gtl_kernel *body, void *arg,
                  void *s);     /* -ENOTSUP: kernels are no C functions */
    /* Where a module that the program has loaded has the variable of that
     * name, and its size.  -ENOENT: it has none; -EINVAL: no module; -ENOSYS:
     * the device has no modules. */
    int (*module_symbol)(void *module, const char *name, void **out,
                         size_t *size);
    /* A system-scope release of the device's earlier stores, for a trigger
     * that no kernel boundary orders. */
    int (*release)(void *s);

    /* ---- events ---- */
    int (*event_create)(void **out);
    void (*event_destroy)(void *e);
    int (*event_record)(void *e, void *s);
    int (*event_wait)(void *e, void *s);        /* s waits for e */
    int (*event_query)(void *e);                /* 0 or -EAGAIN */
    /* An event that has a time, and the time between two that are over, below 0
     * if the second one came first.  -ENOSYS: the device has no such times. */
    int (*timer_create)(void **out);
    int (*timer_ns)(void *from, void *to, int64_t *ns);

    /* ---- graphs ---- */
    /* The number of the capture of s.  -EINVAL: s captures no graph; -EBUSY:
     * the capture is invalidated; -ENOSYS: the driver has no numbers. */
    int (*graph_id)(void *s, uint64_t *id);
    /* The graph that s captures owns arg: end(arg) is called once, on any
     * thread, when all that was made of the graph is gone and no launch is
     * under way; it must not call the driver.  On error it is not called.
     * -EINVAL: s captures no graph; -EBUSY: the graph can own nothing. */
    int (*graph_own)(void *s, void (*end)(void *arg), void *arg);
    /* The thread that begins a capture ends it.  -EINVAL: the default stream,
     * or one that captures already; or, at the end, one that does not. */
    int (*capture_begin)(void *s);
    int (*capture_end)(void *s, void **graph);  /* ready to be launched */
    /* After earlier launches of it on any stream.  -EBUSY: s captures. */
    int (*graph_launch)(void *graph, void *s);
    /* Launches that are under way complete. */
    void (*graph_destroy)(void *graph);

    /* Makes stores of NICs to device memory visible to kernels that start after
     * it.  -ENOSYS: no call does so, but a read by that NIC. */
    int (*flush)(void);

    /* ---- streams that are threads of this process ----
     * See gtl_device.host_streams; other drivers point these at gtl_no_...
     * (gtl_no.c), whose answers are named here. */
    /* host_call() for what a GPU does by one store to a doorbell.  -ENOSYS. */
    int (*doorbell)(void (*fn)(void *arg), void *arg, void *s);
    /* This process has stored flags that streams may wait for, and a full
     * fence has passed: the streams look at once.  Nothing. */
    void (*flags_stored)(void);
    /* In a function that a stream calls: is one of host_call(fn) what the
     * stream has next?  False. */
    bool (*calls_next)(void (*fn)(void *arg));
    /* In such a function: the stream does nothing of what is behind it. */
    void (*cancel_rest)(void);
    /* -EINVAL: no stream, or a destroyed one.  0: a GPU's driver, which may
     * crash on such a handle, is not asked. */
    int (*stream_known)(void *s);
    /* n operations of the caller's end with what was enqueued last on s. */
    void (*count_ops)(void *s, uint64_t n);
    /* Has the stream still to reach the end of one of these?  False. */
    bool (*owes_ops)(void *s);
    /* The position behind all that is enqueued on s now.  False: not known, or
     * a store has to announce it since stores are to cost something
     * (SHMEM_DEVICE_COSTS). */
    bool (*position)(void *s, uint64_t *out);
    /* Is s past that position?  True of a stream that is gone. */
    bool (*is_past)(void *s, uint64_t position);
    /* The flag that s waits for.  False: none, or not known. */
    bool (*waits_for)(void *s, uint64_t **flag, uint64_t *least);
    /* The thread sleeps until the event is over, ns at most.  False: it did
     * not sleep. */
    bool (*event_sleep)(void *e, uint64_t ns);
    /* The streams, but for the library's own, end what they do now and begin
     * nothing more; no thread enqueues any more. */
    void (*stop_streams)(void);
    /* Have all stopped?  *ops: so many of count_ops() and of launch() are never
     * done. */
    bool (*streams_stopped)(uint64_t *ops);

    /* "; ...", what to try where so many streams wait for long: settings with
     * which streams of this device are known to lock up.  Or NULL.  With 0:
     * before any stream does. */
    const char *(*lockup_hint)(unsigned streams);
};

#endif
