/* SPDX-License-Identifier: BSD-3-Clause */
/* gtl_copy_stream.c - the library's streams for deferred copies. Each counts
 * how often it was acquired and up to which of these times a wait has covered
 * it, so that a wait asks the driver nothing where no copy is left. core and
 * coll defer copies to them. */
#include "gtl/gtl_int.h"
#include "gtl/gtl_copy_stream.h"
#include "base/lock.h"

static struct stream {
    struct base_lock lock;
    void *stream;
    uint64_t given, done;
} streams[GTL_COPY_STREAMS] = {
    { .lock = LOCK_INIT }, { .lock = LOCK_INIT }, { .lock = LOCK_INIT },
    { .lock = LOCK_INIT }
};

int gtl_copy_streams_open(const struct gtl_ops *ops)
{
    int rc;

    for (int i = 0; i < GTL_COPY_STREAMS; i++) {
        rc = ops->stream_create(GTL_URGENT, &streams[i].stream);
        if (rc) {
            while (i-- > 0)
                ops->stream_destroy(streams[i].stream);
            return rc;
        }
        streams[i].given = streams[i].done = 0;
    }
    return 0;
}

void gtl_copy_streams_close(void)
{
    for (int i = 0; i < GTL_COPY_STREAMS; i++)
        gtl->stream_destroy(streams[i].stream);
}

void *gtl_copy_stream_acquire(unsigned stream)
    LOCK_ATTR(no_thread_safety_analysis)
{
    lock_acquire(&streams[stream].lock);
    return streams[stream].stream;
}

void gtl_copy_stream_release(unsigned stream)
    LOCK_ATTR(no_thread_safety_analysis)
{
    __atomic_store_n(&streams[stream].given, streams[stream].given + 1,
                     __ATOMIC_RELEASE);
    lock_release(&streams[stream].lock);
}

int gtl_copy_stream_wait(unsigned stream)
{
    struct stream *l = &streams[stream];
    uint64_t given = __atomic_load_n(&l->given, __ATOMIC_ACQUIRE);
    uint64_t done = __atomic_load_n(&l->done, __ATOMIC_ACQUIRE);
    int rc;

    if (done >= given)
        return 0;
    rc = gtl->stream_sync(l->stream);
    while (!rc && done < given &&
           !__atomic_compare_exchange_n(&l->done, &done, given, false,
                                        __ATOMIC_RELEASE, __ATOMIC_ACQUIRE))
        ;
    return rc;
}
