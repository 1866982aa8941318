/* SPDX-License-Identifier: BSD-3-Clause */
/* What is done in the order of a stream of an NVIDIA device. */
#include "gtl/cuda/cuda_int.h"
#include "gtl/gtl_default_stream.h"

#include <errno.h>

int gtl_cu_stream_create(enum gtl_priority priority, void **out)
{
    void *s;
    int rc = CU_RELAXED(cuStreamCreateWithPriority, &s, CU_STREAM_NON_BLOCKING,
                priority == GTL_NORMAL ? 0 : gtl_cu_device.urgent);

    if (!rc)
        *out = s;
    return rc;
}

void gtl_cu_stream_destroy(void *s)
{
    CU_RELAXED(cuStreamDestroy_v2, s);
}

/* A stream of a green context is ours if that is a part of the primary one,
 * which is the PE's: memory, code and events of that serve it, so nothing else
 * is made current for it. */
static int check_context(void *s)
{
    void *ctx = NULL, *green = NULL;
    int rc;

    rc = gtl_cu.cuStreamGetCtx_v2 ? CU(cuStreamGetCtx_v2, s, &ctx, &green)
                                  : CU(cuStreamGetCtx, s, &ctx);
    if (rc || ctx == gtl_cu_device.ctx)
        return rc;
    if (green)
        return gtl_fail(-EINVAL, "cuStreamGetCtx", "the stream's green context "
                        "is a part of a device's primary context, which is not "
                        "the PE's context", 0);
    return gtl_fail(-EINVAL, "cuStreamGetCtx", gtl_cu.cuStreamGetCtx_v2
                    ? "the stream belongs to another context than the PE's"
                    : "the stream belongs to another context than the PE's, or "
                      "to a green one of it, for which the driver has to be of "
                      "CUDA 12.5", 0);
}

int gtl_cu_stream_check(void *s, uint64_t *id)
{
    int capturing = CU_STREAM_CAPTURE_STATUS_NONE, rc;
    unsigned long long n = gtl_is_per_thread(s) ? GTL_THREADS | gtl_thread_id()
                                            : (uintptr_t)s;

    rc = check_context(s);
    if (rc)
        return rc;
    rc = CU(cuStreamIsCapturing, s, &capturing);
    /* Drivers before 12.0 have no name for a stream but its handle. */
    if (!rc && gtl_cu.cuStreamGetId)
        rc = CU(cuStreamGetId, s, &n);
    if (rc && rc != -EBUSY)
        return rc;
    *id = n;
    if (rc)                     /* one that others record in order with */
        return rc;
    return capturing == CU_STREAM_CAPTURE_STATUS_NONE ? 0
           : gtl_fail(-EBUSY, "cuStreamIsCapturing",
                      "the stream records a graph", capturing);
}

/* An error of the driver is the next call's to tell of. */
bool gtl_cu_is_capturing(void *s)
{
    int is = CU_STREAM_CAPTURE_STATUS_NONE;

    return !CU(cuStreamIsCapturing, s, &is) &&
           is != CU_STREAM_CAPTURE_STATUS_NONE;
}

int gtl_cu_stream_query(void *s)
{
    return CU_RELAXED(cuStreamQuery, s);
}

int gtl_cu_stream_sync(void *s)
{
    return CU_RELAXED(cuStreamSynchronize, s);
}

int gtl_cu_copy(void *to, const void *from, size_t n, void *s)
{
    if (!n)
        return 0;
    return CU(cuMemcpyAsync, gtl_cu_ptr(to), gtl_cu_ptr(from), n, s);
}

static bool fits(size_t len, ptrdiff_t stride)
{
    return stride > 0 && len <= (size_t)stride &&
           (size_t)stride <= gtl_cu_device.max_pitch;
}

/* Rows that lie apart as the copy engine can have it. */
static int copy_rows(void *to, const void *from, const struct gtl_blocks *b,
                     void *s)
{
    struct cuda_copy2d c = {
        .from = { .kind = CU_MEMORYTYPE_UNIFIED, .device = gtl_cu_ptr(from),
                  .pitch = (size_t)b->from_stride },
        .to = { .kind = CU_MEMORYTYPE_UNIFIED, .device = gtl_cu_ptr(to),
                .pitch = (size_t)b->to_stride },
        .width = b->len, .height = b->count
    };

    return CU(cuMemcpy2DAsync_v2, &c, s);
}

static bool for_kernels(const void *p)
{
    struct gtl_range r;

    return gtl_cu_device.pageable ||
           (!gtl_cu_classify(p, &r) && r.kind != GTL_PRIVATE);
}

int gtl_cu_copy_blocks(void *to, const void *from, const struct gtl_blocks *b,
                       void *s)
{
    const char *f = from;
    char *t = to;
    int rc = 0;

    if (!b->len || !b->count)
        return 0;
    if (b->count == 1 || (b->to_stride == (ptrdiff_t)b->len &&
                          b->from_stride == (ptrdiff_t)b->len))
        return gtl_cu_copy(to, from, b->len * b->count, s);
    if (fits(b->len, b->to_stride) && fits(b->len, b->from_stride))
        return copy_rows(to, from, b, s);
    if (gtl_cu_device.kernels && for_kernels(to) && for_kernels(from))
        return gtl_cu_kernel_blocks(to, from, b, s);
    for (size_t i = 0; i < b->count && !rc; i++) {
        rc = gtl_cu_copy(t, f, b->len, s);
        t += b->to_stride;
        f += b->from_stride;
    }
    return rc;
}

int gtl_cu_fill(void *to, int byte, size_t n, void *s)
{
    struct gtl_range r;
    int rc;

    if (!n)
        return 0;
    rc = CU(cuMemsetD8Async, gtl_cu_ptr(to), (unsigned char)byte, n, s);
    if (rc != -EINVAL || gtl_cu_classify(to, &r) || r.kind != GTL_PRIVATE)
        return rc;
    return gtl_cu_host_fill(to, byte, n, s);
}

/* Over PCIe a device's atomic on host memory is none for the processor. */
int gtl_cu_amo(const struct gtl_amo *a, void *s)
{
    struct gtl_range r;
    int rc;

    if (gtl_cu_device.host_atomics)
        return gtl_cu_kernel_amo(a, s);
    rc = gtl_cu_classify(a->word, &r);
    if (rc)
        return rc;
    return r.kind == GTL_DEVICE ? gtl_cu_kernel_amo(a, s)
                                : gtl_cu_host_amo(a, s);
}

/* The write brings what was before it on the stream to system scope. */
int gtl_cu_write64(uint64_t *word, uint64_t value, void *s)
{
    if (!gtl_cu_device.memops)
        return gtl_cu_kernel_write64(word, value, s);
    return CU(cuStreamWriteValue64_v2, s, gtl_cu_ptr(word), value,
              CU_STREAM_WRITE_VALUE_DEFAULT);
}

/* The device compares by the sign of the difference, which is the same thing
 * as long as word and least are less than 2^63 apart.  Counters are; of what
 * a program gives, a bound in the upper half is left to the kernel. */
int gtl_cu_wait64(uint64_t *word, uint64_t least, void *s)
{
    if (!least)
        return 0;
    if (!gtl_cu_device.memops || least > INT64_MAX)
        return gtl_cu_kernel_wait64(word, least, s);
    return CU(cuStreamWaitValue64_v2, s, gtl_cu_ptr(word), least,
              gtl_cu_device.wait_flags);
}

_Static_assert(sizeof(struct cuda_memop) == 48, "as the driver has them");
enum { BATCH = 128 };           /* the driver takes up to 255 */
struct batch {
    unsigned n;
    struct cuda_memop ops[BATCH];
};

static int hand_over(struct batch *b, void *s)
{
    int rc = b->n ? CU(cuStreamBatchMemOp_v2, s, b->n, b->ops, 0) : 0;

    b->n = 0;
    return rc;
}

static int add(struct batch *b, int kind, const struct gtl_flag *w,
               unsigned flags, void *s)
{
    int rc = b->n == BATCH ? hand_over(b, s) : 0;

    b->ops[b->n++] = (struct cuda_memop){
        .kind = kind, .word = gtl_cu_ptr(w->word), .value = w->value,
        .flags = flags
    };
    return rc;
}

/* Are they all what the driver's own waits can tell? */
static bool fit(const struct gtl_batch *t)
{
    bool all = gtl_cu_device.memops && gtl_cu.cuStreamBatchMemOp_v2;

    for (size_t i = 0; i < t->n_waits; i++)
        all = all && t->waits[i].value <= INT64_MAX;
    return all;
}

/* Waits and stores without a copy between them are one step of the device, and
 * so are the stores behind copies, unless these take long. */
int gtl_cu_batch(const struct gtl_batch *t, void *s)
{
    enum { LONG = 256 << 10 };
    struct batch b = { .n = 0 };
    bool waits = t->n_waits;
    size_t copied = 0;
    int rc = 0;

    if (t->n_waits + t->n_puts < 2 || !fit(t))
        return gtl_batch_one_by_one(t, s);
    for (size_t i = 0; i < t->n_waits && !rc; i++)
        rc = add(&b, CU_STREAM_MEM_OP_WAIT_VALUE_64, &t->waits[i],
                 gtl_cu_device.wait_flags, s);
    for (size_t i = 0; i < t->n_puts && !rc; i++) {
        const struct gtl_put *p = &t->puts[i];

        if (p->n && (waits || copied >= LONG)) {
            rc = hand_over(&b, s);
            waits = false;
            copied = 0;
        }
        if (!rc)
            rc = gtl_cu_copy(p->to, p->from, p->n, s);
        copied += p->n;
        if (!rc && p->flag.word)
            rc = add(&b, CU_STREAM_MEM_OP_WRITE_VALUE_64, &p->flag,
                     CU_STREAM_WRITE_VALUE_DEFAULT, s);
    }
    return rc ? rc : hand_over(&b, s);
}

int gtl_cu_host_call(void (*fn)(void *arg), void *arg, void *s)
{
    return CU(cuLaunchHostFunc, s, fn, arg);
}

int gtl_cu_launch(const struct shmemx_grid *grid, gtl_kernel *body, void *arg,
                  void *s)
{
    (void)grid;
    (void)body;
    (void)arg;
    (void)s;
    return gtl_fail(-ENOTSUP, "launch", "functions of the host run on the "
                    "software device only", 0);
}

/* The write of a word does it. */
int gtl_cu_release(void *s)
{
    (void)s;
    return 0;
}

int gtl_cu_event_create(void **out)
{
    void *e;
    int rc = CU_RELAXED(cuEventCreate, &e, CU_EVENT_DISABLE_TIMING);

    if (!rc)
        *out = e;
    return rc;
}

void gtl_cu_event_destroy(void *e)
{
    CU_RELAXED(cuEventDestroy_v2, e);
}

int gtl_cu_event_record(void *e, void *s)
{
    return CU(cuEventRecord, e, s);
}

int gtl_cu_event_wait(void *e, void *s)
{
    return CU(cuStreamWaitEvent, s, e, 0);
}

int gtl_cu_event_query(void *e)
{
    return CU_RELAXED(cuEventQuery, e);
}

int gtl_cu_flush(void)
{
    if (gtl_device.ordered)
        return 0;
    if (!gtl_cu_device.host_flush)
        return gtl_fail(-ENOSYS, "cuFlushGPUDirectRDMAWrites", "this device "
                        "or driver cannot flush what a NIC has written", 0);
    return CU_RELAXED(cuFlushGPUDirectRDMAWrites,
              CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX,
              CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER);
}
