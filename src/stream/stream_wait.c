/* SPDX-License-Identifier: BSD-3-Clause */
/* Waits that a stream makes for words of this PE.
 *
 * That a 64-bit word reaches a value is a wait of the device's own.  Every
 * other condition is polled by a thread: by the stream's own on the software
 * device (stream_wait_thread.c), by the progress thread where the device is a
 * GPU.  Called by src/api and by the layer's own synchronizations; enqueues and
 * returns. */
#include "stream/stream_int.h"
#include "stream/stream_stats.h"
#include "stream/stream_wait_log.h"

#include <errno.h>
#include <stdlib.h>

static int wait_by_host(const struct stream_where *w,
                        const struct stream_wait *c)
{
    struct stream_op op = {
        .kind = STREAM_WAIT, .call = w->call, .waits = true
    };
    struct stream_ring *ring;
    int rc = stream_ring_of(w, &ring);

    if (rc)
        return rc == -EBUSY ? stream_device_rc(w, rc) : rc;
    op.wait = malloc(sizeof *op.wait);
    if (!op.wait)
        return stream_no_memory(w->call);
    *op.wait = *c;
    return stream_ring_post(w, ring, &op);
}

/* Is it the wait that devices have?  The number to wait for. */
static bool is_plain(const struct stream_wait *c, uint64_t *least)
{
    if (c->how != STREAM_ALL || c->size != 8 || c->is_signed || c->n != 1 ||
        c->status || c->values)
        return false;
    *least = c->cmp == SHMEM_CMP_GT ? c->value + 1 : c->value;
    return c->cmp == SHMEM_CMP_GE ||
           (c->cmp == SHMEM_CMP_GT && c->value != UINT64_MAX);
}

/* In memory in which a kernel may miss what others store, the thread looks.
 * The device heap can lie in host memory, too. */
static bool is_stale(const void *ivar)
{
    return gtl_device.stale_waits &&
    heap_device_host_access == gtl_device.host_access &&
           heap_find(ivar, 1) == HEAP_DEVICE;
}

static int wait_plain(const struct stream_where *w,
                      const struct stream_wait *c, uintptr_t word,
                      uint64_t least)
{
    const struct gtl_flag what = { (uint64_t *)word, least };
    int rc = stream_wait_poll_first(w, &what, 1);

    if (rc)
        return rc;
    rc = gtl->wait64((uint64_t *)word, least, w->stream);
    if (!rc) {
        stream_watch_add(w, c->ivars, (uint64_t *)word, least, c->whose - 1);
        stream_watch_enqueued(w->stream, false);
    }
    if (!rc && c->seen)
        rc = gtl->copy(c->seen, (void *)word, sizeof *c->seen, w->stream);
    return stream_device_rc(w, rc);
}

uintptr_t stream_wait_device_address(const struct stream_wait *c,
                                     uint64_t *least)
{
    uintptr_t word =
        c->n ? stream_device_address(core_world.my_pe, c->ivars, c->size) : 0;

    return word && is_plain(c, least) && stream_device_waits() &&
                   !is_stale(c->ivars) &&
                   (!c->seen || stream_device_reaches(c->seen, sizeof *c->seen))
               ? word
               : 0;
}

int stream_wait_check(const struct stream_where *w,
                      const struct stream_wait *c)
{
    size_t len;
    int at, rc;

    if (c->cmp < SHMEM_CMP_EQ || c->cmp > SHMEM_CMP_LE)
        return stream_refuse(ERR_ARG, w->call, "comparison %d is none of "
                             "SHMEM_CMP_EQ, NE, GT, GE, LT, LE", c->cmp);
    if (__builtin_mul_overflow(c->n, c->size, &len))
        return stream_refuse(ERR_SIZE, w->call, "%zu elements of %zu bytes "
                             "exceed the address space", c->n, c->size);
    rc = stream_need_aligned(w, c->ivars, c->size);
    if (!rc)
        rc = stream_need_symmetric(w, c->arg, c->ivars, len, core_world.my_pe,
                                   &at);
    if (!rc && c->how == STREAM_SOME)
        rc = stream_need_local(w, "indices", c->indices,
                               c->n * sizeof *c->indices);
    return rc;
}

static int refuse_in_graph(const struct stream_where *w)
{
    stream_refuse(ERR_STREAM, w->call, "the stream records a graph, in whose "
                  "second launch this wait would be over at once: "
                  "shmemx_signal_wait_reset_on_stream and "
                  "shmemx_epoch_wait_on_stream wait anew in each");
    return -ENOTSUP;
}

int stream_wait(const struct stream_where *w, const struct stream_wait *c)
{
    uintptr_t word;
    uint64_t least;
    int rc;

    rc = stream_wait_check(w, c);
    if (rc)
        return rc;
    if (unlikely(!stream_waits_allowed()))
        return stream_refuse_wait(w);
    if (unlikely(gtl->is_capturing(w->stream)))
        return refuse_in_graph(w);
    stream_count(STREAM_WAITS, 1);
    word = stream_wait_device_address(c, &least);
    if (word)
        return wait_plain(w, c, word, least);
    return gtl_device.host_streams ? stream_wait_on_thread(w, c)
                                   : wait_by_host(w, c);
}
