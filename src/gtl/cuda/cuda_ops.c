/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_ops.c - copies, fills, atomics, writes and waits in the order of a
 * stream of an NVIDIA device: chooses between the driver's call, a kernel of
 * ours (cuda_kernels.c) and a thread of the driver (cuda_hostfn.c).  The slots
 * of gtl_cuda (cuda.c) lead here; they enqueue and wait for nothing. */
#include "gtl/cuda/cuda_int.h"

#include <errno.h>

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

static bool kernels_reach(const void *p)
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
    if (gtl_cu_device.kernels && kernels_reach(to) && kernels_reach(from))
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
 * a program gives, a bound in the upper half is left to the kernel, and 1 is a
 * wait for any bit. */
int gtl_cu_wait64(uint64_t *word, uint64_t least, void *s)
{
    if (!least)
        return 0;
    if (!gtl_cu_device.memops || least > INT64_MAX)
        return gtl_cu_kernel_wait64(word, least, s);
    if (least == 1)
        return CU(cuStreamWaitValue64_v2, s, gtl_cu_ptr(word), UINT64_MAX,
                  gtl_cu_device.wait_flags | CU_STREAM_WAIT_VALUE_AND);
    return CU(cuStreamWaitValue64_v2, s, gtl_cu_ptr(word), least,
              gtl_cu_device.wait_flags);
}

_Static_assert(sizeof(struct cuda_memop) == 48, "as the driver has them");
enum { BATCH = 128 };           /* the driver takes up to 255 */
struct batch {
    unsigned n;
    struct cuda_memop ops[BATCH];
};

static int flush_batch(struct batch *b, void *s)
{
    int rc = b->n ? CU(cuStreamBatchMemOp_v2, s, b->n, b->ops, 0) : 0;

    b->n = 0;
    return rc;
}

static int add(struct batch *b, int kind, const struct gtl_flag *w,
               unsigned flags, void *s)
{
    int rc = b->n == BATCH ? flush_batch(b, s) : 0;

    b->ops[b->n++] = (struct cuda_memop){
        .kind = kind, .word = gtl_cu_ptr(w->word), .value = w->value,
        .flags = flags
    };
    return rc;
}

/* Can the driver's own waits compare all of these values? */
static bool batch_fits(const struct gtl_batch *t)
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

    if (t->n_waits + t->n_puts < 2 || !batch_fits(t))
        return gtl_batch_one_by_one(t, s);
    for (size_t i = 0; i < t->n_waits && !rc; i++)
        rc = add(&b, CU_STREAM_MEM_OP_WAIT_VALUE_64, &t->waits[i],
                 gtl_cu_device.wait_flags, s);
    for (size_t i = 0; i < t->n_puts && !rc; i++) {
        const struct gtl_put *p = &t->puts[i];

        if (p->n && (waits || copied >= LONG)) {
            rc = flush_batch(&b, s);
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
    return rc ? rc : flush_batch(&b, s);
}
