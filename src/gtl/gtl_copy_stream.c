/* SPDX-License-Identifier: BSD-3-Clause */
/* gtl_copy_stream.c - the library's streams for deferred copies. Each counts
 * how often it was acquired and up to which of these times a wait has covered
 * it, so that a wait asks the driver nothing where no copy is left. core and
 * coll defer copies to them. */
#include "gtl/gtl_int.h"
#include "gtl/gtl_copy_stream.h"
#include "base/lock.h"

static struct lane {
    struct base_lock lock;
    void *stream;
    uint64_t given, done;
} lanes[GTL_COPY_STREAMS] = {
    { .lock = LOCK_INIT }, { .lock = LOCK_INIT }, { .lock = LOCK_INIT },
    { .lock = LOCK_INIT }
};

int gtl_copy_streams_open(const struct gtl_ops *ops)
{
    int rc;

    for (int i = 0; i < GTL_COPY_STREAMS; i++) {
        rc = ops->stream_create(GTL_URGENT, &lanes[i].stream);
        if (rc) {
            while (i-- > 0)
                ops->stream_destroy(lanes[i].stream);
            return rc;
        }
        lanes[i].given = lanes[i].done = 0;
    }
    return 0;
}

void gtl_copy_streams_close(void)
{
    for (int i = 0; i < GTL_COPY_STREAMS; i++)
        gtl->stream_destroy(lanes[i].stream);
}

void *gtl_copy_stream_acquire(unsigned lane)
    LOCK_ATTR(no_thread_safety_analysis)
{
    lock_acquire(&lanes[lane].lock);
    return lanes[lane].stream;
}

void gtl_copy_stream_release(unsigned lane) LOCK_ATTR(no_thread_safety_analysis)
{
    __atomic_store_n(&lanes[lane].given, lanes[lane].given + 1,
                     __ATOMIC_RELEASE);
    lock_release(&lanes[lane].lock);
}

int gtl_copy_stream_wait(unsigned lane)
{
    struct lane *l = &lanes[lane];
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
