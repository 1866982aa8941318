/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams, and what is done in their order.  Queries of them, events and graphs
 * are rows of gpu_calls.inc. */
#include "fake.h"
#include "gpu_calls.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEGACY ((void *)1)
#define PER_THREAD ((void *)2)

static int make(void **out, unsigned flags, int priority, struct context *c)
{
    struct dev_stream *s;

    if (flags > CU_STREAM_NON_BLOCKING)
        return CUDA_ERROR_INVALID_VALUE;
    s = dev_stream_create(c->dev, !flags, priority);
    s->owner = c;
    *out = s;
    return CUDA_SUCCESS;
}

int cuStreamCreateWithPriority(void **out, unsigned flags, int priority)
{
    struct context *c;

    CALL_IN("cuStreamCreateWithPriority", &c);
    return make(out, flags, priority, c);
}

int cuStreamCreate(void **out, unsigned flags)
{
    struct context *c;

    CALL_IN("cuStreamCreate", &c);
    return make(out, flags, 0, c);
}

/* The driver follows the pointer, whatever is there now. */
static struct dev_stream *find(const void *handle)
{
    struct dev_stream *s = dev_stream_find(handle);

    if (!s && dev_setup()->dead && dev_stream_dead(handle)) {
        fprintf(stderr, "fake device: a call with the handle of a stream that "
                "is destroyed, %p\n", handle);
        abort();
    }
    return s;
}

int fake_stream(void *handle, struct context *ctx, bool work,
                struct dev_stream **out)
{
    struct dev_stream *s;

    if (!handle || handle == LEGACY) {
        if (work && dev_captures_fenced(ctx->dev))
            return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
        *out = dev_default(ctx->dev);
        return CUDA_SUCCESS;
    }
    if (handle == PER_THREAD && ctx->whole)
        return CUDA_ERROR_INVALID_HANDLE;
    s = handle == PER_THREAD ? dev_per_thread(ctx->dev, ctx) : find(handle);
    if (!s || fake_whole(s->owner) != fake_whole(ctx))
        return CUDA_ERROR_INVALID_HANDLE;
    if (!((struct context *)s->owner)->live)
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    if (work && dev_capture_status(s) == DEV_CAPTURE_BROKEN)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    *out = s;
    return CUDA_SUCCESS;
}

#define STREAM(name, handle, work, s)                           \
    do {                                                        \
        struct context *ctx_;                                   \
        int code_ = fake_call_in(name, &ctx_);                  \
                                                                \
        if (!code_)                                             \
            code_ = fake_stream(handle, ctx_, work, s);         \
        if (code_)                                              \
            return code_;                                       \
    } while (0)

int cuStreamDestroy_v2(void *handle)
{
    struct dev_stream *s;

    STREAM("cuStreamDestroy_v2", handle, false, &s);
    if (s != handle)
        return CUDA_ERROR_INVALID_HANDLE;
    dev_stream_destroy(s);
    return CUDA_SUCCESS;
}

int cuStreamGetCtx(void *handle, void **out)
{
    struct dev_stream *s;
    struct context *c;

    CALL_IN("cuStreamGetCtx", &c);
    if (!handle || handle == LEGACY || handle == PER_THREAD) {
        *out = c;
        return CUDA_SUCCESS;
    }
    s = find(handle);
    if (!s)
        return CUDA_ERROR_INVALID_HANDLE;
    *out = s->owner;
    return ((struct context *)s->owner)->live
        ? CUDA_SUCCESS : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

int cuStreamGetId(void *handle, unsigned long long *out)
{
    struct dev_stream *s;

    STREAM("cuStreamGetId", handle, false, &s);
    *out = s->id;
    return CUDA_SUCCESS;
}

int cuStreamWaitEvent(void *handle, void *event, unsigned flags)
{
    struct gpu_event *e = event;
    struct dev_stream *s;

    STREAM("cuStreamWaitEvent", handle, true, &s);
    if (!e || e->magic != GPU_EVENT || flags)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!e->mark.graph && dev_capture_graph(s)) {
        dev_capture_break(s);
        return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
    }
    dev_await(s, e->mark);
    return CUDA_SUCCESS;
}

/* ---- in order ---- */

static void *at(uint64_t p)
{
    return (void *)(uintptr_t)p;
}

static void note_pageable(const char *call, uint64_t to, uint64_t from)
{
    if (dev_pageable(at(to)) || dev_pageable(at(from)))
        dev_note(call, "waits: pageable");
}

int cuMemcpyAsync(uint64_t to, uint64_t from, size_t n, void *handle)
{
    struct dev_stream *s;

    STREAM("cuMemcpyAsync", handle, true, &s);
    if (!n)
        return CUDA_SUCCESS;
    if (!dev_touch(at(to), n) || !dev_touch(at(from), n))
        return CUDA_ERROR_INVALID_VALUE;
    note_pageable("cuMemcpyAsync", to, from);
    dev_copy(s, at(to), at(from), n);
    return CUDA_SUCCESS;
}

static uint64_t start(const struct cuda_side *side)
{
    uint64_t p = side->kind == CU_MEMORYTYPE_HOST ? (uintptr_t)side->host
                                                  : side->device;

    return p + side->y * side->pitch + side->x;
}

int cuMemcpy2DAsync_v2(const struct cuda_copy2d *copy, void *handle)
{
    struct dev_stream *s;
    struct dev_blocks b;
    size_t most = 0x7fffffff;

    STREAM("cuMemcpy2DAsync_v2", handle, true, &s);
    if (copy->from.pitch < copy->width + copy->from.x ||
        copy->to.pitch < copy->width + copy->to.x ||
        copy->from.pitch > most || copy->to.pitch > most)
        return CUDA_ERROR_INVALID_VALUE;
    b = (struct dev_blocks){
        .to = at(start(&copy->to)), .from = at(start(&copy->from)),
        .len = copy->width, .count = copy->height,
        .to_stride = (ptrdiff_t)copy->to.pitch,
        .from_stride = (ptrdiff_t)copy->from.pitch
    };
    note_pageable("cuMemcpy2DAsync_v2", (uintptr_t)b.to, (uintptr_t)b.from);
    dev_copy_blocks(s, &b);
    return CUDA_SUCCESS;
}

int cuMemsetD8Async(uint64_t to, unsigned char byte, size_t n, void *handle)
{
    struct dev_stream *s;

    STREAM("cuMemsetD8Async", handle, true, &s);
    if (n && !dev_reach(at(to), n))
        return CUDA_ERROR_INVALID_VALUE;
    if (n)
        dev_fill(s, at(to), byte, 1, n);
    return CUDA_SUCCESS;
}

static int word(uint64_t p)
{
    if (dev_setup()->is == DEV_BARE)
        return CUDA_ERROR_NOT_SUPPORTED;
    return p % 8 || !dev_reach(at(p), 8) ? CUDA_ERROR_INVALID_VALUE
                                         : CUDA_SUCCESS;
}

static int write_value(struct dev_stream *s, uint64_t p, uint64_t value,
                       unsigned flags)
{
    int rc = flags > 1 ? CUDA_ERROR_INVALID_VALUE : word(p);

    if (!rc)
        dev_write(s, at(p), value, 8);
    return rc;
}

static int wait_value(struct dev_stream *s, uint64_t p, uint64_t value,
                      unsigned flags)
{
    unsigned how = flags & ~(unsigned)CU_STREAM_WAIT_VALUE_FLUSH;
    int rc;

    if (how != flags && dev_setup()->is != DEV_DISCRETE)
        return CUDA_ERROR_NOT_SUPPORTED;
    rc = how > DEV_NOR ? CUDA_ERROR_INVALID_VALUE : word(p);
    if (!rc && how != flags && !dev_setup()->by_read)
        dev_wait_flush(s, at(p), value, (enum dev_compare)how);
    else if (!rc)
        dev_wait(s, at(p), value, ~0ULL, 8, (enum dev_compare)how);
    return rc;
}

int cuStreamWriteValue64_v2(void *handle, uint64_t p, uint64_t value,
                            unsigned flags)
{
    struct dev_stream *s;

    STREAM("cuStreamWriteValue64_v2", handle, true, &s);
    return write_value(s, p, value, flags);
}

int cuStreamWaitValue64_v2(void *handle, uint64_t p, uint64_t value,
                           unsigned flags)
{
    struct dev_stream *s;

    STREAM("cuStreamWaitValue64_v2", handle, true, &s);
    return wait_value(s, p, value, flags);
}

/* In their order; a bad one is refused where it is come to. */
int cuStreamBatchMemOp_v2(void *handle, unsigned n, struct cuda_memop *ops,
                          unsigned flags)
{
    struct dev_stream *s;
    int rc = CUDA_SUCCESS;

    STREAM("cuStreamBatchMemOp_v2", handle, true, &s);
    if (!n || n >= 256 || flags)
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < n && !rc; i++)
        if (ops[i].kind == CU_STREAM_MEM_OP_WAIT_VALUE_64)
            rc = wait_value(s, ops[i].word, ops[i].value, ops[i].flags);
        else if (ops[i].kind == CU_STREAM_MEM_OP_WRITE_VALUE_64)
            rc = write_value(s, ops[i].word, ops[i].value, ops[i].flags);
        else
            rc = CUDA_ERROR_INVALID_VALUE;
    return rc;
}

struct host {
    void (*fn)(void *arg);
    void *arg;
};

/* Each launch of a graph runs it again. */
static int run_host(void *arg)
{
    const struct host *h = arg;

    fake_in_host = true;
    h->fn(h->arg);
    fake_in_host = false;
    return 0;
}

int cuLaunchHostFunc(void *handle, void (*fn)(void *arg), void *arg)
{
    struct host h = { fn, arg };
    struct dev_stream *s;

    STREAM("cuLaunchHostFunc", handle, true, &s);
    dev_submit(s, run_host, &h, sizeof h);
    return CUDA_SUCCESS;
}

int cuFlushGPUDirectRDMAWrites(int target, int scope)
{
    struct context *c;

    CALL_IN("cuFlushGPUDirectRDMAWrites", &c);
    if (target || (scope != 100 && scope != 200))
        return CUDA_ERROR_INVALID_VALUE;
    if (dev_setup()->is == DEV_BARE || dev_setup()->by_read)
        return CUDA_ERROR_NOT_SUPPORTED;
    dev_flush();
    return CUDA_SUCCESS;
}
