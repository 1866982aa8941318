/* SPDX-License-Identifier: BSD-3-Clause */
/* gtl_blocking.c - copies, fills and atomics that are done when the call
 * returns, on streams of the library's own: a copy on the default stream would
 * wait for the program's kernels, and such a kernel may be waiting for the
 * copy. A thread has a stream to itself for the length of a call, with a
 * pinned page for results. All layers call it; it must not wait for a stream
 * of the program. */
#include "gtl/gtl_int.h"
#include "gtl/gtl_copy_stream.h"
#include "base/lock.h"
#include "base/mem.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { N_STREAMS = 4 };

static struct streams {
    struct base_lock lock;
    void *stream;
    /* A word of the pinned page, for the device and for the processor. */
    uint64_t *device_result, *host_result;
} streams[N_STREAMS] = {
    { .lock = LOCK_INIT }, { .lock = LOCK_INIT }, { .lock = LOCK_INIT },
    { .lock = LOCK_INIT }
};
static void *page;

int gtl_blocking_open(const struct gtl_ops *ops)
{
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    void *seen = NULL;
    int rc, i;

    page = mem_pages(size);
    if (!page)
        return gtl_fail(-ENOMEM, "mmap", strerror(errno), errno);
    rc = ops->pin(page, size, GTL_PIN_MEMORY, &seen);
    if (rc)
        goto unmap;
    for (i = 0; i < N_STREAMS; i++) {
        rc = ops->stream_create(GTL_URGENT, &streams[i].stream);
        if (rc)
            goto destroy;
        streams[i].device_result = (uint64_t *)seen + 16 * i;
        streams[i].host_result = (uint64_t *)page + 16 * i;
    }
    rc = gtl_copy_streams_open(ops);
    if (!rc)
        return 0;
destroy:
    while (i-- > 0)
        ops->stream_destroy(streams[i].stream);
    ops->unpin(page);
unmap:
    munmap(page, size);
    page = NULL;
    return rc;
}

void gtl_blocking_close(void)
{
    gtl_copy_streams_close();
    for (int i = 0; i < N_STREAMS; i++)
        gtl->stream_destroy(streams[i].stream);
    gtl->unpin(page);
    munmap(page, (size_t)sysconf(_SC_PAGESIZE));
    page = NULL;
}

/* An unlocked stream; if none, this thread's default one, once released. */
static struct streams *acquire(void) LOCK_ATTR(no_thread_safety_analysis)
{
    static unsigned threads;
    static __thread unsigned mine;      /* + 1 */
    unsigned i;

    if (!mine)
        mine = __atomic_fetch_add(&threads, 1,
                                  __ATOMIC_RELAXED) % N_STREAMS + 1;
    for (i = 0; i < N_STREAMS; i++) {
        struct streams *o = &streams[(mine - 1 + i) % N_STREAMS];

        if (lock_try(&o->lock))
            return o;
    }
    lock_acquire(&streams[mine - 1].lock);
    return &streams[mine - 1];
}

/* With the result of what was enqueued on it. */
static int wait_and_release(struct streams *o,
                            int rc) LOCK_ATTR(no_thread_safety_analysis)
{
    if (!rc)
        rc = gtl->stream_sync(o->stream);
    lock_release(&o->lock);
    return rc;
}

int gtl_copy_now(void *to, const void *from, size_t n)
{
    struct streams *o = acquire();

    return wait_and_release(o, gtl->copy(to, from, n, o->stream));
}

int gtl_copy_blocks_now(void *to, const void *from, const struct gtl_blocks *b)
{
    struct streams *o = acquire();

    return wait_and_release(o, gtl->copy_blocks(to, from, b, o->stream));
}

int gtl_fill_now(void *to, int byte, size_t n)
{
    struct streams *o = acquire();

    return wait_and_release(o, gtl->fill(to, byte, n, o->stream));
}

int gtl_amo_now(const struct gtl_amo *a) LOCK_ATTR(no_thread_safety_analysis)
{
    struct streams *o = acquire();
    struct gtl_amo b = *a;
    uint64_t was = 0;
    int rc;

    b.result = a->result ? o->device_result : NULL;
    rc = gtl->amo(&b, o->stream);
    if (!rc)
        rc = gtl->stream_sync(o->stream);
    if (!rc && a->result)
        memcpy(&was, o->host_result, (size_t)a->size);
    lock_release(&o->lock);
    if (!rc && a->result)
        memcpy(a->result, &was, (size_t)a->size);
    return rc;
}
