/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_int.h - what the parts of the cuda driver share: the calls of
 * libcuda, and the device.  All of it is written by open and close alone. */
#ifndef GTL_CUDA_INT_H
#define GTL_CUDA_INT_H

#include "gtl/cuda/cuda_abi.h"
#include "gtl/gtl_int.h"

struct gtl_cu_calls {
#define X(name, args) int (*name) args;
    CUDA_CALLS(X)
    CUDA_OPTIONAL_CALLS(X)         /* NULL where the driver lacks it */
#undef X
};
extern hidden struct gtl_cu_calls gtl_cu;

struct gtl_cu_device {
    int dev;
    void *ctx;
    bool retained;              /* ctx is the primary one and held by us */
    int urgent;                 /* priority of streams; 0: none differs */
    size_t max_pitch;
    bool host_atomics;          /* kernels' atomics hold for the processor */
    bool pageable;              /* kernels reach all host memory */
    bool memops, kernels, host_flush;
    unsigned wait_flags;
};
extern hidden struct gtl_cu_device gtl_cu_device;

/* 0 or -errno, with the driver's words kept for gtl_error(). */
int gtl_cu_fail(const char *call, int code) __attribute__((cold));
static inline int gtl_cu_result(const char *call, int code)
{
    return __builtin_expect(code != 0, 0) ? gtl_cu_fail(call, code) : 0;
}

extern hidden __thread bool gtl_cu_pushed;
static inline void gtl_cu_enter(void)
{
    void *now = NULL;

    gtl_cu.cuCtxGetCurrent(&now);
    gtl_cu_pushed = gtl_cu_device.ctx && now != gtl_cu_device.ctx &&
                    !gtl_cu.cuCtxPushCurrent_v2(gtl_cu_device.ctx);
}
static inline int gtl_cu_leave(const char *call, int code)
{
    void *was;

    if (gtl_cu_pushed)
        gtl_cu.cuCtxPopCurrent_v2(&was);
    return gtl_cu_result(call, code);
}
/* A call with our context current, and the thread's own again afterwards.
 * It is one that ends before another one begins in the thread. */
#define CU(name, ...) \
    (gtl_cu_enter(), gtl_cu_leave(#name, gtl_cu.name(__VA_ARGS__)))

/* The same for a call that the driver refuses while a stream records a graph,
 * breaking the capture, unless the thread says that it knows. */
extern hidden __thread int gtl_cu_mode;
static inline void gtl_cu_relax(void)
{
    gtl_cu_mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    if (gtl_cu.cuThreadExchangeStreamCaptureMode(&gtl_cu_mode))
        gtl_cu_mode = -1;
}
static inline int gtl_cu_relaxed(int rc)
{
    if (gtl_cu_mode >= 0)
        gtl_cu.cuThreadExchangeStreamCaptureMode(&gtl_cu_mode);
    return rc;
}
#define CU_RELAXED(name, ...) \
    (gtl_cu_enter(), gtl_cu_relax(), \
     gtl_cu_leave(#name, gtl_cu_relaxed(gtl_cu.name(__VA_ARGS__))))

static inline uint64_t gtl_cu_ptr(const void *p)
{
    return (uintptr_t)p;
}

/* ---- cuda_driver.c ---- */
/* Binds libcuda.so.1, once; it stays. */
int gtl_cu_bind(void);
/* The identity of a device, the same in every process. */
int gtl_cu_uuid(int dev, struct cuda_uuid *out);

/* ---- cuda_kernels.c ---- */
/* Loads the kernels and runs each once: a first launch later could wait for a
 * stream that waits for this PE.  *out: are there kernels? */
int gtl_cu_kernels_load(bool *out);
void gtl_cu_kernels_unload(void);
int gtl_cu_kernel_write64(uint64_t *word, uint64_t value, void *s);
int gtl_cu_kernel_wait64(uint64_t *word, uint64_t least, void *s);
int gtl_cu_kernel_blocks(void *to, const void *from,
                         const struct gtl_blocks *b, void *s);
int gtl_cu_kernel_reduce(const struct gtl_reduce *r, void *s);
int gtl_cu_kernel_amo(const struct gtl_amo *a, void *s);
int gtl_cu_peer_copy(const struct gtl_peer_copy *p, void *s);
int gtl_cu_module_symbol(void *module, const char *name, void **out,
                         size_t *size);

/* ---- cuda_hostfn.c: by a thread of the driver, in stream order ---- */
int gtl_cu_host_open(void);
void gtl_cu_host_close(void);
int gtl_cu_host_fill(void *to, int byte, size_t n, void *s);
/* An atomic on a word in host memory; -EAGAIN: too many with results are under
 * way. */
int gtl_cu_host_amo(const struct gtl_amo *a, void *s);

/* ---- cuda_mem.c ---- */
int gtl_cu_alloc(size_t size, void **out);
void gtl_cu_free(void *p);
int gtl_cu_memory_info(size_t *unused, size_t *total);
int gtl_cu_pin(void *host, size_t size, enum gtl_pin why, void **out);
void gtl_cu_unpin(void *host);
int gtl_cu_classify(const void *p, struct gtl_range *out);
int gtl_cu_ipc_export(void *p, struct gtl_ipc_handle *out, int *fd);
int gtl_cu_ipc_open(const struct gtl_ipc_handle *h, int fd, void **at);
void gtl_cu_ipc_close(void *p);
bool gtl_cu_atomic(const struct gtl_ipc_handle *h);
int gtl_cu_dmabuf(void *p, size_t size, int *fd, uint64_t *offset);

/* ---- cuda_vmm.c: memory that grows ---- */
/* The content of a gtl_ipc_handle. */
enum gtl_cu_export_kind { GTL_CU_IPC, GTL_CU_CHUNK };
struct gtl_cu_exported {
    uint64_t device;            /* the first bytes of its identity */
    uint64_t offset;            /* of the memory in what is opened, or of the
                                 * chunk in its range */
    uint64_t size, most;        /* of the chunk; of the range */
    uint32_t kind, has_fabric;
    union {
        struct cuda_ipc ipc;
        char fabric[64];
    };
};
struct gtl_cu_features {
    bool vmm, fds, fabric, rdma;
    bool nics;                  /* reach memory of cuMemAlloc() */
    int driver;
};
/* Why memory cannot grow; NULL: it can. */
const char *gtl_cu_why_fixed(const struct gtl_cu_features *can);
void gtl_cu_vmm_close(void);
/* How it is exported, for people. */
const char *gtl_cu_vmm_export_kind(void);
int gtl_cu_reserve(size_t most, void **out);
int gtl_cu_grow(void *p, size_t size);
void gtl_cu_shrink(void *p);
/* Is p such a range, of this process or imported? */
bool gtl_cu_vmm_owns(const void *p);
void gtl_cu_vmm_free(void *p);
int gtl_cu_vmm_export(void *p, struct gtl_cu_exported *out, int *fd);
int gtl_cu_vmm_import(const struct gtl_cu_exported *l, int fd, void **at);

/* ---- cuda_stream.c ---- */
int gtl_cu_stream_create(enum gtl_priority priority, void **out);
void gtl_cu_stream_destroy(void *s);
int gtl_cu_stream_check(void *s, uint64_t *id);
bool gtl_cu_is_capturing(void *s);
int gtl_cu_stream_query(void *s);
int gtl_cu_stream_sync(void *s);
int gtl_cu_copy(void *to, const void *from, size_t n, void *s);
int gtl_cu_copy_blocks(void *to, const void *from, const struct gtl_blocks *b,
                       void *s);
int gtl_cu_fill(void *to, int byte, size_t n, void *s);
int gtl_cu_amo(const struct gtl_amo *a, void *s);
int gtl_cu_write64(uint64_t *word, uint64_t value, void *s);
int gtl_cu_wait64(uint64_t *word, uint64_t least, void *s);
int gtl_cu_batch(const struct gtl_batch *t, void *s);
int gtl_cu_host_call(void (*fn)(void *arg), void *arg, void *s);
int gtl_cu_launch(const struct shmemx_grid *grid, gtl_kernel *body, void *arg,
                  void *s);
int gtl_cu_release(void *s);
int gtl_cu_event_create(void **out);
int gtl_cu_timer_create(void **out);
int gtl_cu_timer_ns(void *from, void *to, int64_t *ns);
void gtl_cu_event_destroy(void *e);
int gtl_cu_event_record(void *e, void *s);
int gtl_cu_event_wait(void *e, void *s);
int gtl_cu_event_query(void *e);
int gtl_cu_flush(void);
/* Are atomics of two devices, given by the first bytes of their ids, atomic
 * with each other?  The process may see neither. */
bool gtl_cu_hidden_atomic(uint64_t ours, uint64_t theirs);

/* ---- cuda_graph.c ---- */
int gtl_cu_graph_id(void *s, uint64_t *id);
int gtl_cu_graph_own(void *s, void (*end)(void *arg), void *arg);
int gtl_cu_capture_begin(void *s);
int gtl_cu_capture_end(void *s, void **graph);
int gtl_cu_graph_launch(void *graph, void *s);
void gtl_cu_graph_destroy(void *graph);

#endif
