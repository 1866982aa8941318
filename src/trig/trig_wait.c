/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether operations have completed, for the host and for streams; and hits of
 * streams.  Called by api; a thread that waits steps its trigger itself. */
#include "trig/trig_int.h"
#include "core/core_misuse.h"
#include "gtl/gtl.h"
#include "stream/stream_wait.h"
#include "stream/stream_wait_log.h"

#include <errno.h>

static uint64_t done_of(const struct trig *t, int tag)
{
    return __atomic_load_n(&t->done[tag], __ATOMIC_ACQUIRE);
}

/* Did anything advance? */
static bool step(struct trig *t, bool *busy)
{
    bool any;

    if (!lock_try(&t->lock))
        return false;
    trig_scan(t);
    any = trig_step(t, busy);
    lock_release(&t->lock);
    return any;
}

int trig_test(const char *call, struct shmemx_trig *trig, int tag,
              uint64_t *done)
{
    struct trig *t = trig_find(call, trig);
    bool busy = false;

    if (!t || !trig_has_tag(call, t, tag))
        return -EINVAL;
    step(t, &busy);
    if (busy && xport_net)
        xport_progress->poll();
    *done = done_of(t, tag);
    return stream_errors_take_ring(call, &t->exec.failed);
}

/* ---- waits ---- */

struct waits_for {
    const struct trig *t;
    int tag;
};

/* For a line about the wait. */
static bool describe(const void *named, char *text, size_t size)
{
    const struct waits_for *f = named;

    trig_describe(f->t, f->tag, text, size);
    return true;
}

int trig_wait(const char *call, struct shmemx_trig *trig, int tag, uint64_t n)
{
    struct trig *t = trig_find(call, trig);
    struct waits_for f = { t, tag };
    struct core_waiter w;
    bool busy;

    if (!t || !trig_has_tag(call, t, tag))
        return -EINVAL;
    w = CORE_WAIT_VALUE(call, &t->done[tag], uint64_t, SHMEM_CMP_GE, n);
    w.info.named = &f;
    w.info.name = describe;
    while (done_of(t, tag) < n) {
        busy = false;
        if (!step(t, &busy))
            core_wait_step(&w);
    }
    core_wait_over(&w);
    return stream_errors_take_ring(call, &t->exec.failed);
}

/* The stream's, with n added to what it is to have stored at `at`, so that its
 * memory stays; or NULL.  Without the lock the caller then enqueues: a driver
 * may block where the stream has much to do, perhaps until the trigger goes on. */
static struct trig_stream *count_more(struct trig *t, void *stream, int at,
                                      uint64_t n, uint64_t *total)
{
    struct trig_stream *s;
    uint64_t id = 0;

    gtl->stream_check(stream, &id);
    lock_acquire(&t->lock);
    s = trig_memory_stream(t, stream, id);
    if (s)
        *total = s->total[at] += n;
    lock_release(&t->lock);
    return s;
}

/* Nothing was enqueued. */
static void count_less(struct trig *t, struct trig_stream *s, int at, uint64_t n)
{
    lock_acquire(&t->lock);
    s->total[at] -= n;
    lock_release(&t->lock);
}

/* And, behind it, the store that says that the stream has read the flag. */
static int enqueue_wait(struct trig *t, int tag, uint64_t n,
                        const struct stream_where *w)
{
    int waits = t->n_tags, rc;
    uint64_t total;
    struct trig_stream *s = count_more(t, w->stream, waits, 1, &total);

    if (!s)
        return stream_no_memory(w->call);
    rc = gtl->wait64(&t->done[tag], n, w->stream);
    if (rc)
        count_less(t, s, waits, 1);
    else
        rc = gtl->write64(&s->counts[waits], total, w->stream);
    return stream_device_rc(w, rc);
}

int trig_wait_on_stream(const char *call, struct shmemx_trig *trig, int tag,
                        uint64_t n, void *stream)
{
    struct trig *t = trig_find(call, trig);
    struct stream_where w = { .call = call, .ctx = t ? &t->ctx : NULL,
                              .stream = stream };
    int rc;

    if (!t || !trig_has_tag(call, t, tag))
        return -EINVAL;
    rc = stream_need_live(&w);
    if (!rc && !stream_waits_allowed())
        rc = stream_refuse_wait(&w);
    if (rc)
        return rc;
    trig_wake();                /* it may have gone to sleep for good */
    rc = enqueue_wait(t, tag, n, &w);
    if (!rc) {
        stream_watch_add(&w, &t->done[tag], &t->done[tag], n, -1);
        stream_watch_enqueued(stream, true);
    }
    return rc;
}

/* ---- hits of streams ---- */

/* The stream has stored its count: on its own thread. */
static void stored(void *trig)
{
    unsigned begun;
    struct trig *t = trig_late_begin(trig, &begun);
    bool busy = false;

    if (t) {
        step(t, &busy);
        trig_wake();
    }
    trig_late_end(begun);
}

static int enqueue_hits(struct trig *t, int tag, uint64_t n,
                        const struct stream_where *w)
{
    uint64_t total;
    struct trig_stream *s = count_more(t, w->stream, tag, n, &total);
    int rc;

    if (!s)
        return stream_no_memory(w->call);
    rc = gtl->release(w->stream);
    if (!rc)
        rc = gtl->write64(&s->counts[tag], total, w->stream);
    if (rc) {
        count_less(t, s, tag, n);
        return stream_device_rc(w, rc);
    }
    if (gtl_device.host_streams)
        return stream_device_rc(w, gtl->doorbell(stored, handle_of_object(t),
                                                 w->stream));
    trig_wake();                /* which polls the count from now on */
    return 0;
}

int trig_hit_on_stream(const char *call, struct shmemx_trig *trig, int tag,
                       uint64_t n, void *stream)
{
    struct trig *t = trig_find(call, trig);
    struct stream_where w = { .call = call, .ctx = t ? &t->ctx : NULL,
                              .stream = stream };
    int rc;

    if (!t || !trig_has_tag(call, t, tag))
        return -EINVAL;
    if (t->copies)
        return trig_copy_refuse(call);
    rc = stream_need_live(&w);
    return rc || !n ? rc : enqueue_hits(t, tag, n, &w);
}
