/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of pools: as all other, but that it comes and goes in the order of a
 * stream. */
#include "dev_mem.h"

#include <errno.h>

/* Under the lock: the device memory that starts there, or NULL. */
static struct mem *at(const void *p)
{
    struct mem *m = dev_mem_find((uintptr_t)p);

    return m && m->r.base == (uintptr_t)p && m->r.where == DEV_MEMORY &&
           !m->span ? m : NULL;
}

static int comes(void *arg)
{
    struct mem *m;

    pthread_mutex_lock(&dev_mem_lock);
    m = at(*(void **)arg);
    if (m)
        m->coming = false;
    pthread_mutex_unlock(&dev_mem_lock);
    return 0;
}

/* A program that gave it back by another call has it twice. */
static int goes(void *arg)
{
    return dev_free(*(void **)arg) ? -EFAULT : 0;
}

int dev_pool_alloc(struct dev_stream *s, int device, size_t size,
                   unsigned flags, void **out)
{
    struct mem *m;
    void *p;
    int rc = dev_alloc(device, size, 4096, flags | DEV_POOLED, &p);

    if (rc)
        return rc;
    pthread_mutex_lock(&dev_mem_lock);
    m = at(p);
    m->coming = true;
    pthread_mutex_unlock(&dev_mem_lock);
    dev_submit(s, comes, &p, sizeof p);
    *out = p;
    return 0;
}

int dev_pool_free(struct dev_stream *s, void *p)
{
    struct mem *m;
    bool fits;

    pthread_mutex_lock(&dev_mem_lock);
    m = at(p);
    fits = m && !m->going;
    if (fits)
        m->going = true;
    pthread_mutex_unlock(&dev_mem_lock);
    if (!fits)
        return -EINVAL;
    dev_submit(s, goes, &p, sizeof p);
    return 0;
}

bool dev_pool_going(const void *p)
{
    struct mem *m;
    bool yes;

    pthread_mutex_lock(&dev_mem_lock);
    m = dev_mem_find((uintptr_t)p);
    yes = m && m->going;
    pthread_mutex_unlock(&dev_mem_lock);
    return yes;
}
