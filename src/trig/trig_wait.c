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

/* And, behind it, the store that says that the stream has read the word. */
static int enqueue_wait(struct trig *t, struct trig_stream *s, int tag,
                        uint64_t n)
{
    int rc = gtl->wait64(&t->done[tag], n, s->stream), waits = t->n_tags;

    return rc ? rc
              : gtl->write64(&s->counts[waits], ++s->total[waits], s->stream);
}

int trig_wait_on_stream(const char *call, struct shmemx_trig *trig, int tag,
                        uint64_t n, void *stream)
{
    struct trig *t = trig_find(call, trig);
    struct stream_where w = { .call = call, .ctx = t ? &t->ctx : NULL,
                              .stream = stream };
    struct trig_stream *s;
    int rc;

    if (!t || !trig_has_tag(call, t, tag))
        return -EINVAL;
    rc = stream_need_live(&w);
    if (!rc && !stream_waits_allowed())
        rc = stream_refuse_wait(&w);
    if (rc)
        return rc;
    trig_wake();                /* it may have gone to sleep for good */
    lock_acquire(&t->lock);
    s = trig_memory_stream(t, stream);
    rc = s ? enqueue_wait(t, s, tag, n) : -ENOMEM;
    if (!rc) {
        stream_watch_add(&w, &t->done[tag], &t->done[tag], n, -1);
        stream_watch_enqueued(stream, true);
    }
    lock_release(&t->lock);
    return s ? stream_device_rc(&w, rc) : stream_no_memory(call);
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

static int enqueue(struct trig *t, struct trig_stream *s, int tag, uint64_t n)
{
    int rc = gtl->release(s->stream);

    if (!rc)
        rc = gtl->write64(&s->counts[tag], s->total[tag] + n, s->stream);
    if (rc)
        return rc;
    s->total[tag] += n;
    if (gtl_device.host_streams)
        return gtl->doorbell(stored, handle_of_object(t), s->stream);
    trig_wake();                /* which polls the count from now on */
    return 0;
}

int trig_hit_on_stream(const char *call, struct shmemx_trig *trig, int tag,
                       uint64_t n, void *stream)
{
    struct trig *t = trig_find(call, trig);
    struct stream_where w = { .call = call, .ctx = t ? &t->ctx : NULL,
                              .stream = stream };
    struct trig_stream *s;
    int rc;

    if (!t || !trig_has_tag(call, t, tag))
        return -EINVAL;
    if (t->copies)
        return trig_copy_refuse(call);
    rc = stream_need_live(&w);
    if (rc)
        return rc;
    lock_acquire(&t->lock);
    s = trig_memory_stream(t, stream);
    rc = s ? enqueue(t, s, tag, n) : -ENOMEM;
    lock_release(&t->lock);
    return s ? stream_device_rc(&w, rc) : stream_no_memory(call);
}
