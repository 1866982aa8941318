/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory in the order of a stream, and pools.  The driver records such calls as
 * nodes of a graph that owns the memory; here a stream that records refuses
 * them, and its capture is broken. */
#include "fake.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

enum { DEVICES = 16, POOLS = 64 };
struct pool {
    int device;
    bool live;
};
static struct pool pools[POOLS];        /* the devices' own ones first */
static int n = DEVICES;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool offered(void)
{
    return dev_setup()->is != DEV_BARE && fake_version() >= 11020;
}

static struct pool *default_pool(int dev)
{
    pthread_mutex_lock(&lock);
    pools[dev].device = dev;
    pools[dev].live = true;
    pthread_mutex_unlock(&lock);
    return &pools[dev];
}

static struct pool *find(void *handle)
{
    struct pool *p = NULL;

    pthread_mutex_lock(&lock);
    for (int i = 0; i < n && !p; i++)
        if (&pools[i] == handle && pools[i].live)
            p = &pools[i];
    pthread_mutex_unlock(&lock);
    return p;
}

/* The stream, if it does not record. */
static int stream(const char *call, void *handle, struct dev_stream **out)
{
    struct context *c;
    int rc;

    CALL_IN(call, &c);
    if (!offered())
        return CUDA_ERROR_NOT_SUPPORTED;
    rc = fake_stream(handle, c, true, out);
    if (!rc && dev_capture_status(*out) != DEV_NO_CAPTURE) {
        dev_capture_break(*out);
        rc = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    return rc;
}

static int allocate(uint64_t *out, size_t size, const struct pool *pool,
                    struct dev_stream *s)
{
    void *p;
    int rc;

    if (!size || !pool)
        return CUDA_ERROR_INVALID_VALUE;
    rc = dev_pool_alloc(s, pool->device, size, 0, &p);
    if (!rc)
        *out = (uintptr_t)p;
    return fake_code(rc);
}

int cuMemAllocAsync(uint64_t *out, size_t size, void *handle)
{
    struct dev_stream *s;
    int rc = stream("cuMemAllocAsync", handle, &s);

    return rc ? rc : allocate(out, size, default_pool(s->device), s);
}

int cuMemAllocFromPoolAsync(uint64_t *out, size_t size, void *pool,
                            void *handle)
{
    struct dev_stream *s;
    int rc = stream("cuMemAllocFromPoolAsync", handle, &s);

    return rc ? rc : allocate(out, size, find(pool), s);
}

/* Of cuMemAlloc()'s, too. */
int cuMemFreeAsync(uint64_t p, void *handle)
{
    struct dev_stream *s;
    int rc = stream("cuMemFreeAsync", handle, &s);

    return rc ? rc : fake_code(dev_pool_free(s, (void *)(uintptr_t)p));
}

/* None has a limit of its own here. */
int cuMemPoolCreate(void **out, const struct cuda_pool_prop *prop)
{
    static const struct cuda_pool_prop none;
    struct pool *p = NULL;

    CALL("cuMemPoolCreate");
    if (!offered())
        return CUDA_ERROR_NOT_SUPPORTED;
    if (!prop || prop->type != CU_MEM_ALLOCATION_TYPE_PINNED ||
        prop->location_type != CU_MEM_LOCATION_TYPE_DEVICE ||
        prop->location_id < 0 || prop->location_id >= dev_setup()->count ||
        prop->win32SecurityAttributes || prop->usage || prop->maxSize ||
        prop->handleTypes & ~CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR ||
        memcmp(prop->reserved, none.reserved, sizeof none.reserved))
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    if (n < POOLS) {
        p = &pools[n++];
        *p = (struct pool){ prop->location_id, true };
    }
    pthread_mutex_unlock(&lock);
    if (!p)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *out = p;
    return CUDA_SUCCESS;
}

/* What it has given stays until it is freed. */
int cuMemPoolDestroy(void *handle)
{
    struct pool *p;

    CALL("cuMemPoolDestroy");
    if (!offered())
        return CUDA_ERROR_NOT_SUPPORTED;
    p = find(handle);
    if (!p || p < pools + DEVICES)
        return CUDA_ERROR_INVALID_VALUE;
    p->live = false;
    return CUDA_SUCCESS;
}

int cuDeviceGetDefaultMemPool(void **out, int dev)
{
    CALL("cuDeviceGetDefaultMemPool");
    if (dev < 0 || dev >= dev_setup()->count || dev >= DEVICES)
        return CUDA_ERROR_INVALID_DEVICE;
    if (!offered())
        return CUDA_ERROR_NOT_SUPPORTED;
    *out = default_pool(dev);
    return CUDA_SUCCESS;
}
