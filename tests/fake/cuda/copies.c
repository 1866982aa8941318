/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of the program that copy and fill at once, or say so: from pageable
 * memory the bytes have left when the call returns, and need not be there. */
#include "fake.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int cuPointerSetAttribute(const void *value, int attribute, uint64_t p)
{
    struct dev_range r;
    struct context *c;

    CALL_IN("cuPointerSetAttribute", &c);
    if (attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS ||
        !*(const unsigned *)value || !dev_find((void *)(uintptr_t)p, &r) ||
        r.where == DEV_PINNED)
        return CUDA_ERROR_INVALID_VALUE;
    /* The driver has it for memory of cuMemAlloc() only. */
    if (r.flags & (DEV_SPANNED | DEV_POOLED))
        return CUDA_ERROR_NOT_SUPPORTED;
    return fake_code(dev_flag((void *)(uintptr_t)p, SYNCED));
}

struct late {
    void *to, *bytes;
    size_t n;
};

static int arrive(void *arg)
{
    struct late *l = arg;
    void *to = dev_reach(l->to, l->n);

    if (to)
        memcpy(to, l->bytes, l->n);
    free(l->bytes);
    return to ? 0 : -EFAULT;
}

static bool synced(struct context *c, const struct dev_range *r)
{
    return r->flags & SYNCED ||
           __atomic_load_n(&fake_whole(c)->flags, __ATOMIC_ACQUIRE) &
           CU_CTX_SYNC_MEMOPS;
}

/* Takes the bytes. */
static int store(struct context *c, uint64_t to, void *bytes, size_t n,
                 bool may_be_late)
{
    struct late l = { (void *)(uintptr_t)to, bytes, n };
    struct dev_stream *s = dev_default(c->dev);
    struct dev_range r;

    if (!bytes)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (!dev_find(l.to, &r) || !dev_reach(l.to, n)) {
        free(bytes);
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (may_be_late && !dev_setup()->done && !synced(c, &r)) {
        dev_late(s, arrive, &l, sizeof l);
        return CUDA_SUCCESS;
    }
    dev_submit(s, arrive, &l, sizeof l);
    dev_sync(s);
    return CUDA_SUCCESS;
}

int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t n)
{
    struct context *c;
    void *bytes;

    CALL_IN("cuMemcpyHtoD_v2", &c);
    bytes = malloc(n);
    if (bytes)
        memcpy(bytes, from, n);
    return store(c, to, bytes, n, dev_pageable(from));
}

int cuMemsetD8_v2(uint64_t to, unsigned char byte, size_t n)
{
    struct context *c;
    void *bytes;

    CALL_IN("cuMemsetD8_v2", &c);
    bytes = malloc(n);
    if (bytes)
        memset(bytes, byte, n);
    return store(c, to, bytes, n, true);
}
