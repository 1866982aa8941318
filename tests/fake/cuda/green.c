/* SPDX-License-Identifier: BSD-3-Clause */
/* Green contexts: parts of a device, which share the memory, code and events of
 * its primary context and have streams of their own.  Such a context is current
 * in one thread at a time: another one that makes it current dies. */
#include "fake.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { GREENS = 16, DEFAULT_STREAM = 1 };
static struct context greens[GREENS];
static int n;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* A descriptor of some of the device's processors: of any, here. */
API int cuDevResourceGenerateDesc(void **out, void *resources, unsigned count);
int cuDevResourceGenerateDesc(void **out, void *resources, unsigned count)
{
    int rc = fake_call("cuDevResourceGenerateDesc");

    if (rc)
        return rc;
    if (!resources || !count)
        return CUDA_ERROR_INVALID_VALUE;
    *out = &greens;
    return CUDA_SUCCESS;
}

API int cuGreenCtxCreate(void **out, void *desc, int dev, unsigned flags);
int cuGreenCtxCreate(void **out, void *desc, int dev, unsigned flags)
{
    struct context *c = NULL;
    void *primary;
    int rc = fake_call("cuGreenCtxCreate");

    if (rc)
        return rc;
    if (desc != &greens || flags != DEFAULT_STREAM)
        return CUDA_ERROR_INVALID_VALUE;
    rc = cuDevicePrimaryCtxRetain(&primary, dev);
    if (rc)
        return rc;
    pthread_mutex_lock(&lock);
    if (n < GREENS) {
        c = &greens[n++];
        *c = (struct context){ .dev = dev, .live = true, .whole = primary };
    }
    pthread_mutex_unlock(&lock);
    *out = c;
    return c ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

bool fake_is_green(const void *p)
{
    const struct context *c = p;

    return c >= greens && c < greens + n;
}

API int cuGreenCtxDestroy(void *green);
int cuGreenCtxDestroy(void *green)
{
    struct context *c = green;
    int rc = fake_call("cuGreenCtxDestroy");

    if (rc)
        return rc;
    if (!fake_is_green(c) || !c->live)
        return CUDA_ERROR_INVALID_CONTEXT;
    c->live = false;
    return cuDevicePrimaryCtxRelease_v2(c->dev);
}

API int cuCtxFromGreenCtx(void **out, void *green);
int cuCtxFromGreenCtx(void **out, void *green)
{
    int rc = fake_call("cuCtxFromGreenCtx");

    if (rc)
        return rc;
    if (!fake_is_green(green))
        return CUDA_ERROR_INVALID_CONTEXT;
    *out = green;
    return CUDA_SUCCESS;
}

API int cuGreenCtxStreamCreate(void **out, void *green, unsigned flags,
                               int priority);
int cuGreenCtxStreamCreate(void **out, void *green, unsigned flags,
                           int priority)
{
    struct context *c = green;
    struct dev_stream *s;
    int rc = fake_call("cuGreenCtxStreamCreate");

    if (rc)
        return rc;
    if (!fake_is_green(c) || !c->live)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (flags != CU_STREAM_NON_BLOCKING)
        return CUDA_ERROR_INVALID_VALUE;
    s = dev_stream_create(c->dev, false, priority);
    s->owner = c;
    *out = s;
    return CUDA_SUCCESS;
}

void fake_becomes_current(struct context *c)
{
    pthread_t self = pthread_self();

    if (!fake_is_green(c))
        return;
    pthread_mutex_lock(&lock);
    if (c->held && !pthread_equal(c->thread, self)) {
        fprintf(stderr, "fake CUDA: a green context is current in two "
                "threads\n");
        abort();
    }
    c->held++;
    c->thread = self;
    pthread_mutex_unlock(&lock);
}

void fake_was_current(struct context *c)
{
    if (!fake_is_green(c))
        return;
    pthread_mutex_lock(&lock);
    c->held--;
    pthread_mutex_unlock(&lock);
}

int cuStreamGetCtx_v2(void *handle, void **out, void **green)
{
    struct context *c;
    void *ctx = NULL;
    int rc = cuStreamGetCtx(handle, &ctx);

    if (rc)
        return rc;
    c = ctx;
    *out = c->whole ? c->whole : c;
    *green = c->whole ? c : NULL;
    return CUDA_SUCCESS;
}
