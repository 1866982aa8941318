/* SPDX-License-Identifier: BSD-3-Clause */
/* gtl_ops.h - the table of calls that each driver of devices has: cuda/cuda.c,
 * hip/hip.c, soft/soft.c, and gtl_none.c where there is no device.  gtl.h says
 * which one is in use, from which thread it may be called, and what errors
 * mean.  A slot that a device has no use for points at its gtl_no_...() stub
 * (gtl_no.c). */
#ifndef GTL_GTL_OPS_H
#define GTL_GTL_OPS_H

#include "gtl/gtl_batch.h"
#include "gtl/gtl_device.h"
#include "gtl/gtl_reduction.h"
#include "shmemx_kernel.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Memory of this process as the device sees it. */
enum gtl_memory_kind {
    GTL_PRIVATE,                /* host memory that it does not know */
    GTL_PINNED,                 /* host memory that it reaches */
    GTL_MANAGED,                /* moves; the processor may use it */
    GTL_DEVICE                  /* of this device or of another one */
};

/* The allocation around an address. */
struct gtl_range {
    enum gtl_memory_kind kind;
    uintptr_t base;             /* of PRIVATE memory: not known, as is size */
    size_t size;
};

/* Where the device can.  Streams of one may share the queues of the hardware,
 * and those of the program none with those of the library. */
enum gtl_priority {
    GTL_LOW = -1,               /* the library's, behind the program's */
    GTL_NORMAL,
    GTL_URGENT                  /* the library's, before the program's */
};

/* Opens memory of another process of this node: bytes to be passed on. */
struct gtl_ipc_handle {
    unsigned char bytes[104];
};

/* Why host memory is pinned. */
enum gtl_pin {
    GTL_PIN_MEMORY,             /* the device loads and stores it */
    GTL_PIN_MMIO                /* registers of another device: stores only */
};

/* Words for amo(), as XPORT_FETCH and so on count them. */
enum gtl_amo_op {
    GTL_FETCH, GTL_SET, GTL_SWAP, GTL_CSWAP, GTL_ADD, GTL_AND, GTL_OR, GTL_XOR
};
struct gtl_amo {
    enum gtl_amo_op op;
    int size;                   /* 4 or 8 */
    void *word;
    uint64_t value, cond;       /* in the low bytes */
    void *result;               /* NULL: not wanted; else memory the device
                                 * reaches, where the old value goes */
};

/* count blocks of len bytes, apart by these strides. */
struct gtl_blocks {
    size_t len, count;
    ptrdiff_t to_stride, from_stride;
};

/* Of the software device. */
typedef void gtl_kernel(const struct shmemx_item *item, void *arg);

struct gtl_ops {
    const char *name;
    /* The device that is current in this thread, or by `local`, the PE's
     * number on its node.  -ENODEV: there is none, or no driver. */
    int (*open)(int local, struct gtl_device *out);
    /* gtl_pci_address(); -ENODEV: no device, or it is on no bus. */
    int (*pci_address)(int local, char pci[16]);
    /* The device is this thread's current one until leave(), which takes what
     * enter() gave: for calls of other libraries. */
    int (*enter)(void);
    void (*leave)(int was);
    /* Streams and memory of ours are gone.  The driver's library stays. */
    void (*close)(void);

    /* ---- memory ---- */
    /* Of this device, aligned to 2 MiB, content undefined; ipc_export() takes
     * it. */
    int (*alloc)(size_t size, void **out);
    /* Addresses as alloc()'s, and no memory yet: grow() puts more of it behind
     * them, in order and multiples of 2 MiB, and shrink() takes back what
     * the last one put there.  -ENOSYS: gtl_device.why_fixed says why. */
    int (*reserve)(size_t most, void **out);
    int (*grow)(void *p, size_t size);
    void (*shrink)(void *p);
    void (*free)(void *p);              /* of both */
    /* By ENV_GRAIN_..., a hint: what alloc() gives from now on. */
    int (*set_coherence)(int wanted);
    int (*memory_info)(size_t *unused, size_t *total);
    /* *out: where the device sees it; also the processor, with unified
     * addresses and PIN_MEMORY.  Whole pages. */
    int (*pin)(void *host, size_t size, enum gtl_pin why, void **out);
    void (*unpin)(void *host);
    int (*classify)(const void *p, struct gtl_range *out);
    /* p is what alloc() gave, or what reserve() gave, for the memory that came
     * last.  *fd: -1, or a descriptor that has to come along, for the caller to
     * close.  Borrowed memory is given back before the owner frees it. */
    int (*ipc_export)(void *p, struct gtl_ipc_handle *out, int *fd);
    /* *at: NULL, or where what was there before was borrowed, which it
     * continues; shrink() gives that piece back, ipc_close() all. */
    int (*ipc_open)(const struct gtl_ipc_handle *h, int fd, void **at);
    void (*ipc_close)(void *p);
    /* Are amo() there and the owner's atomic with each other? */
    bool (*peer_atomic)(const struct gtl_ipc_handle *h);
    /* A descriptor for other drivers; the caller closes it. */
    int (*dmabuf)(void *p, size_t size, int *fd, uint64_t *offset);

    /* ---- streams ---- */
    /* Independent of the default stream. */
    int (*stream_create)(enum gtl_priority priority, void **out);
    /* What is enqueued still runs; does not wait for it. */
    void (*stream_destroy)(void *s);
    /* Is it a live stream of this device?  *id is another one for each stream
     * ever made, even where handles are used again.  -EINVAL: it is none;
     * -EBUSY, with *id: it records a graph. */
    int (*stream_check)(void *s, uint64_t *id);
    /* Does it record a graph?  What is enqueued is done by each launch. */
    bool (*is_capturing)(void *s);
    int (*stream_query)(void *s);       /* 0, -EAGAIN: work is left */
    /* The thread waits; others may enqueue meanwhile. */
    int (*stream_sync)(void *s);

    /* ---- in stream order ---- */
    /* Between any two places. */
    int (*copy)(void *to, const void *from, size_t n, void *s);
    int (*copy_blocks)(void *to, const void *from, const struct gtl_blocks *b,
                       void *s);
    int (*fill)(void *to, int byte, size_t n, void *s);
    /* Atomic with the device's and, on memory both reach, the processor's. */
    int (*amo)(const struct gtl_amo *a, void *s);
    /* Operands are aligned, in device or pinned memory.  -EINVAL: the type
     * has no such operation; -ENOSYS: there are no kernels. */
    int (*reduce)(const struct gtl_reduce *r, void *s);
    /* Words in device or pinned memory, aligned.  What the stream did before
     * the write is visible, to the processor and the network too, to who sees
     * the value.  The wait ends at *word >= least, as unsigned numbers; on some
     * devices a word 2^63 or more above `least` counts as below it.  -ENOSYS:
     * without memops, where several PEs share the device. */
    int (*write64)(uint64_t *word, uint64_t value, void *s);
    int (*wait64)(uint64_t *word, uint64_t least, void *s);
    /* On error some of them may have been enqueued. */
    int (*batch)(const struct gtl_batch *t, void *s);
    /* Nothing waits: who comes first goes on.  The round is told when what
     * both streams did before and the copy are visible, to the processor and
     * the network, too.  -ENOSYS: there are no kernels. */
    int (*peer_copy)(const struct gtl_peer_copy *p, void *s);
    /* On a thread of the driver; fn calls nothing of the driver. */
    int (*host_call)(void (*fn)(void *arg), void *arg, void *s);
    int (*launch)(const struct shmemx_grid *grid, gtl_kernel *body, void *arg,
                  void *s);     /* -ENOTSUP: kernels are no C functions */
    /* Device stores before it reach system scope, for a trigger that no
     * kernel boundary orders. */
    int (*release)(void *s);

    /* ---- events ---- */
    int (*event_create)(void **out);
    void (*event_destroy)(void *e);
    int (*event_record)(void *e, void *s);
    int (*event_wait)(void *e, void *s);        /* the stream waits */
    int (*event_query)(void *e);                /* 0 or -EAGAIN */

    /* ---- graphs ---- */
    /* The capture's own number.  -EINVAL: s records nothing; -EBUSY: the
     * capture is broken; -ENOSYS: the driver does not tell. */
    int (*graph_id)(void *s, uint64_t *id);
    /* The graph that s records owns arg: end(arg) is called once, on any
     * thread, when all that was made of the graph is gone and no launch is
     * under way; it calls nothing of the driver.  On error it is not called.
     * -EINVAL: s records nothing; -EBUSY: the graph can own nothing. */
    int (*graph_own)(void *s, void (*end)(void *arg), void *arg);
    /* The thread that begins a capture ends it.  -EINVAL: the default stream,
     * or one that records already; or, at the end, one that does not. */
    int (*capture_begin)(void *s);
    int (*capture_end)(void *s, void **graph);  /* ready to be launched */
    /* Behind earlier launches of it on any stream.  -EBUSY: s records. */
    int (*graph_launch)(void *graph, void *s);
    /* Launches that are under way still end. */
    void (*graph_destroy)(void *graph);

    /* What a NIC has stored in device memory is visible to kernels that start
     * after it.  -ENOSYS: not by a call; a read by that NIC does it. */
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
    /* Have all stopped?  *ops: so many of count_ops() are never done. */
    bool (*streams_stopped)(uint64_t *ops);

    /* "; ...", what to try where so many streams wait for long: settings with
     * which streams of this device are known to lock up.  Or NULL.  With 0:
     * before any stream does. */
    const char *(*lockup_hint)(unsigned streams);
};

#endif
