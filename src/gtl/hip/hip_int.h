/* SPDX-License-Identifier: BSD-3-Clause */
/* hip_int.h - what the files of the driver for AMD's GPUs share.
 *
 * HIP keeps a current device in each thread, and most calls mean that one:
 * what enqueues or allocates stands between gtl_hip_enter() and
 * gtl_hip_leave(). */
#ifndef GTL_HIP_INT_H
#define GTL_HIP_INT_H

#include "gtl/gtl_int.h"
#include "gtl/hip/hip_abi.h"

/* The runtime's calls; a call that it may lack can be NULL. */
struct gtl_hip_calls {
#define SLOT(result, name, args) result (*name)args;
    HIP_CALLS(SLOT, SLOT)
#undef SLOT
    hip_hsa_export *export_dmabuf;
};
extern hidden struct gtl_hip_calls gtl_hip_rt;

extern hidden struct gtl_hip_state {
    void *library;
    int major;                  /* of the runtime */
    int device;
    uint64_t id;                /* of it, in every process */
    int low, urgent;            /* the lowest stream priority, the highest */
    bool writes, waits;         /* stream memory operations that work */
    bool cp_waits;              /* by the command processor, not a kernel */
    bool kernels;               /* ours are loaded */
    unsigned grain;             /* hipExtMallocWithFlags()'s; 0: hipMalloc() */
    volatile uint32_t *hdp;     /* flushes the host data path; NULL: none */
} gtl_hip_state;

/* 0 or -errno of a call's result, which a failure does not leave behind as
 * the thread's last error. */
int gtl_hip_result(unsigned error, const char *call);
#define HIP(name, ...) gtl_hip_result(gtl_hip_rt.name(__VA_ARGS__), "hip" #name)

/* ---- hip_driver.c ---- */
/* Binds the runtime, once; it stays. */
int gtl_hip_bind(void);
/* Fills id and pci. */
void gtl_hip_identify(int device, struct gtl_device *d);
/* Makes the PE's device current; gtl_hip_leave() takes the result and undoes
 * it. */
int gtl_hip_enter(void);
void gtl_hip_leave(int was);
/* The same for calls that the runtime refuses while a stream records a graph,
 * breaking the capture, unless the thread says that it knows. */
int gtl_hip_enter_relaxed(void);
void gtl_hip_leave_relaxed(int was);

/* ---- hip_coherence.c ---- */
/* Chooses what gtl_hip_alloc() gives: fills grain and stale. */
int gtl_hip_coherence_open(struct gtl_device *d);
int gtl_hip_set_coherence(int wanted);

/* ---- hip_kfd.c ---- */
/* Is an atomic of this device one for that device, which the process does not
 * see? */
bool gtl_hip_hidden_atomic(uint64_t theirs);

/* ---- hip_mem.c ---- */
int gtl_hip_alloc(size_t size, void **out);
void gtl_hip_free(void *p);
int gtl_hip_memory_info(size_t *unused, size_t *total);
int gtl_hip_pin(void *host, size_t size, enum gtl_pin why, void **out);
void gtl_hip_unpin(void *host);
int gtl_hip_classify(const void *p, struct gtl_range *out);
int gtl_hip_ipc_export(void *p, struct gtl_ipc_handle *out, int *fd);
int gtl_hip_ipc_open(const struct gtl_ipc_handle *h, int fd, void **at);
void gtl_hip_ipc_close(void *p);
bool gtl_hip_atomic(const struct gtl_ipc_handle *h);
int gtl_hip_dmabuf(void *p, size_t size, int *fd, uint64_t *offset);
/* Where kernels see host memory that we have pinned; else p. */
void *gtl_hip_device_address(const void *p);
/* May the processor load and store it? */
bool gtl_hip_host_accessible(const void *p);

/* ---- hip_stream.c ---- */
int gtl_hip_stream_create(enum gtl_priority priority, void **out);
void gtl_hip_stream_destroy(void *s);
int gtl_hip_stream_check(void *s, uint64_t *id);
bool gtl_hip_is_capturing(void *s);
int gtl_hip_stream_query(void *s);
int gtl_hip_stream_sync(void *s);
int gtl_hip_event_create(void **out);
int gtl_hip_timer_create(void **out);
int gtl_hip_timer_ns(void *from, void *to, int64_t *ns);
void gtl_hip_event_destroy(void *e);
int gtl_hip_event_record(void *e, void *s);
int gtl_hip_event_wait(void *e, void *s);
int gtl_hip_event_query(void *e);
int gtl_hip_host_call(void (*fn)(void *arg), void *arg, void *s);

/* ---- hip_ops.c ---- */
/* Tries which stream memory operations work.  -EIO: one hangs, and the device
 * with it. */
int gtl_hip_work_probe(void);
/* Waits for the stream, ms at most: -EAGAIN. */
int gtl_hip_wait_stream(void *s, int ms);
int gtl_hip_release_open(void);
void gtl_hip_release_close(void);
int gtl_hip_copy(void *to, const void *from, size_t n, void *s);
int gtl_hip_copy_blocks(void *to, const void *from,
                        const struct gtl_blocks *b, void *s);
int gtl_hip_fill(void *to, int byte, size_t n, void *s);
int gtl_hip_reduce(const struct gtl_reduce *r, void *s);
int gtl_hip_amo(const struct gtl_amo *a, void *s);
int gtl_hip_peer_copy(const struct gtl_peer_copy *p, void *s);
int gtl_hip_write64(uint64_t *word, uint64_t value, void *s);
int gtl_hip_wait64(uint64_t *word, uint64_t least, void *s);
/* The same for a wait that ends soon, also where PEs share the device. */
int gtl_hip_wait_shortly(uint64_t *word, uint64_t least, void *s);
int gtl_hip_release(void *s);

/* ---- hip_graph.c ---- */
int gtl_hip_graph_id(void *s, uint64_t *id);
int gtl_hip_graph_own(void *s, void (*end)(void *arg), void *arg);
int gtl_hip_capture_begin(void *s);
int gtl_hip_capture_end(void *s, void **graph);
int gtl_hip_graph_launch(void *graph, void *s);
void gtl_hip_graph_destroy(void *graph);
void gtl_hip_graphs_close(void);

/* ---- hip_kernels.c: the library's kernels; the device is current ---- */
/* Compiles, loads and runs each kernel once.  -ENOSYS: no compiler. */
int gtl_hip_kernels_open(void);
void gtl_hip_kernels_close(void);
int gtl_hip_kernel_amo(const struct gtl_amo *a, void *s);
int gtl_hip_kernel_blocks(void *to, const void *from,
                          const struct gtl_blocks *b, void *s);
int gtl_hip_kernel_reduce(const struct gtl_reduce *r, void *s);
int gtl_hip_kernel_write(uint64_t *word, uint64_t value, void *s);
int gtl_hip_kernel_wait(uint64_t *word, uint64_t least, void *s);
int gtl_hip_kernel_peer_copy(const struct gtl_peer_copy *p, void *s);
int gtl_hip_module_symbol(void *module, const char *name, void **out,
                          size_t *size);

#endif
