/* SPDX-License-Identifier: BSD-3-Clause */
/* hip_stream.c - streams, events and host functions on AMD's GPUs, and the
 * numbers by which the library distinguishes streams, for which the runtime has
 * none.  The slots of gtl_hip (hip.c) lead here, and the driver's own files
 * call it. */
#include "gtl/hip/hip_int.h"
#include "gtl/gtl_default_stream.h"
#include "base/lock.h"

#include <errno.h>
#include <stdlib.h>

enum { DEFAULT = 1 };           /* the default stream's number */

/* For runtimes without hipStreamGetId: a number for each handle seen.  The
 * program's own hipStreamDestroy() is not seen, so a handle that comes again
 * keeps its number there. */
static struct base_lock lock = LOCK_INIT;
static struct seen {
    struct seen *next;
    void *stream;
    uint64_t id;
} *all GUARDED_BY(lock);

static void forget(void *s) LOCK_ATTR(no_thread_safety_analysis)
{
    struct seen **at, *found;

    lock_acquire(&lock);
    for (at = &all; *at && (*at)->stream != s; at = &(*at)->next) {}
    found = *at;
    if (found)
        *at = found->next;
    lock_release(&lock);
    free(found);
}

/* HIP may wait for a stream's operations before it destroys the stream, or drop
 * them: busy streams are destroyed later. */
static struct dying {
    struct dying *next;
    struct hip_stream *stream;
} *dying GUARDED_BY(lock);

static void reap(void) LOCK_ATTR(no_thread_safety_analysis)
{
    struct dying **at = &dying, *d;

    lock_acquire(&lock);
    while ((d = *at)) {
        if (HIP(StreamQuery, d->stream) == -EAGAIN) {
            at = &d->next;
            continue;
        }
        *at = d->next;
        HIP(StreamDestroy, d->stream);
        free(d);
    }
    lock_release(&lock);
}

void gtl_hip_stream_destroy(void *s) LOCK_ATTR(no_thread_safety_analysis)
{
    struct dying *d = NULL;
    int was = gtl_hip_enter_relaxed();

    forget(s);
    if (HIP(StreamQuery, s) == -EAGAIN)
        d = malloc(sizeof *d);
    if (d) {
        d->stream = s;
        lock_acquire(&lock);
        d->next = dying;
        dying = d;
        lock_release(&lock);
    } else {
        HIP(StreamDestroy, s);
    }
    reap();
    gtl_hip_leave_relaxed(was);
}

int gtl_hip_stream_create(enum gtl_priority priority, void **out)
{
    struct hip_stream *s = NULL;
    int was = gtl_hip_enter_relaxed(), rc;

    reap();
    rc = HIP(StreamCreateWithPriority, &s, HIP_STREAM_NON_BLOCKING,
             priority == GTL_URGENT ? gtl_hip_state.urgent
             : priority == GTL_LOW ? gtl_hip_state.low : 0);

    gtl_hip_leave_relaxed(was);
    if (!rc)
        *out = s;
    return rc;
}

static uint64_t next_id(void)
{
    static uint64_t last = DEFAULT;

    return __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
}

static int number(void *s, uint64_t *id) LOCK_ATTR(no_thread_safety_analysis)
{
    struct seen *i;
    int rc = 0;

    lock_acquire(&lock);
    for (i = all; i && i->stream != s; i = i->next) {}
    if (!i) {
        i = malloc(sizeof *i);
        if (i) {
            *i = (struct seen){ .next = all, .stream = s, .id = next_id() };
            all = i;
        }
    }
    if (i)
        *id = i->id;
    else
        rc = gtl_fail(-ENOMEM, "malloc", "no memory", ENOMEM);
    lock_release(&lock);
    return rc;
}

static int identify(void *s, uint64_t *id)
{
    unsigned long long theirs = 0;
    int rc;

    if (!s || gtl_is_per_thread(s)) {
        *id = s ? GTL_THREADS | gtl_thread_id() : DEFAULT;
        return 0;
    }
    if (!gtl_hip_rt.StreamGetId)
        return number(s, id);
    rc = HIP(StreamGetId, s, &theirs);
    if (!rc)
        *id = theirs + DEFAULT + 1;
    return rc;
}

static bool is_dying(void *s) LOCK_ATTR(no_thread_safety_analysis)
{
    struct dying *d;

    lock_acquire(&lock);
    for (d = dying; d && d->stream != s; d = d->next) {}
    lock_release(&lock);
    return d;
}

static int check(void *s)
{
    int device = gtl_hip_state.device;
    unsigned flags = 0, recording = HIP_CAPTURE_NONE;
    int rc = 0;

    if (is_dying(s))
        return gtl_fail(-EINVAL, "stream_check", "destroyed", 0);
    if (s && !gtl_is_per_thread(s))
        rc = HIP(StreamGetFlags, s, &flags);
    if (!rc && gtl_hip_rt.StreamIsCapturing)
        rc = HIP(StreamIsCapturing, s, &recording);
    if (!rc && recording != HIP_CAPTURE_NONE)
        rc = gtl_fail(-EBUSY, "hipStreamIsCapturing",
                      "the stream records a graph", recording);
    if (!rc && s && gtl_hip_rt.StreamGetDevice)
        rc = HIP(StreamGetDevice, s, &device);
    if (!rc && device != gtl_hip_state.device)
        rc = gtl_fail(-EINVAL, "hipStreamGetDevice",
                      "a stream of another device", device);
    return rc;
}

int gtl_hip_stream_check(void *s, uint64_t *id)
{
    int was = gtl_hip_enter();
    uint64_t found = 0;
    int rc = check(s), named = 0;

    if (!rc || rc == -EBUSY)
        named = identify(s, &found);
    gtl_hip_leave(was);
    if (named)
        return named;
    if (!rc || rc == -EBUSY)
        *id = found;
    return rc;
}

bool gtl_hip_is_capturing(void *s)
{
    unsigned is = HIP_CAPTURE_NONE;
    int was = gtl_hip_enter();

    if (gtl_hip_rt.StreamIsCapturing && HIP(StreamIsCapturing, s, &is))
        is = HIP_CAPTURE_NONE;
    gtl_hip_leave(was);
    return is != HIP_CAPTURE_NONE;
}

int gtl_hip_stream_query(void *s)
{
    int was = gtl_hip_enter_relaxed(), rc = HIP(StreamQuery, s);

    gtl_hip_leave_relaxed(was);
    return rc;
}

int gtl_hip_stream_sync(void *s)
{
    int was = gtl_hip_enter_relaxed(), rc = HIP(StreamSynchronize, s);

    gtl_hip_leave_relaxed(was);
    return rc;
}

/* The runtime follows an event to the stream that recorded it last.  In its older
 * releases a query ends the capture of that stream, whatever the thread's mode
 * is; and of a stream that was destroyed it reads what is there now. */
struct event {
    struct hip_event *hip;
    void *last;                 /* atomic; the stream */
};

static int create_event(unsigned flags, void **out)
{
    struct event *e = calloc(1, sizeof *e);
    int was, rc;

    if (!e)
        return gtl_fail(-ENOMEM, "calloc", "no memory", ENOMEM);
    was = gtl_hip_enter_relaxed();
    rc = HIP(EventCreateWithFlags, &e->hip, flags);
    gtl_hip_leave_relaxed(was);
    if (rc)
        free(e);
    else
        *out = e;
    return rc;
}

int gtl_hip_event_create(void **out)
{
    return create_event(HIP_EVENT_DISABLE_TIMING, out);
}

int gtl_hip_timer_create(void **out)
{
    return gtl_hip_rt.EventElapsedTime ? create_event(0, out)
                                       : gtl_no_timer_create(out);
}

int gtl_hip_timer_ns(void *from, void *to, int64_t *ns)
{
    const struct event *a = from, *b = to;
    float ms = 0;
    int was = gtl_hip_enter_relaxed();
    int rc = HIP(EventElapsedTime, &ms, a->hip, b->hip);

    gtl_hip_leave_relaxed(was);
    *ns = (int64_t)((double)ms * 1e6);
    return rc;
}

void gtl_hip_event_destroy(void *event)
{
    struct event *e = event;
    int was = gtl_hip_enter_relaxed();

    HIP(EventDestroy, e->hip);
    gtl_hip_leave_relaxed(was);
    free(e);
}

int gtl_hip_event_record(void *event, void *s)
{
    struct event *e = event;
    int was = gtl_hip_enter(), rc = HIP(EventRecord, e->hip, s);

    gtl_hip_leave(was);
    if (!rc)
        __atomic_store_n(&e->last, s, __ATOMIC_RELEASE);
    return rc;
}

int gtl_hip_event_wait(void *event, void *s)
{
    const struct event *e = event;
    int was = gtl_hip_enter(), rc = HIP(StreamWaitEvent, s, e->hip, 0);

    gtl_hip_leave(was);
    return rc;
}

/* The runtime checks handles of streams; those up to 2 are the default ones. */
static bool is_destroyed(void *s)
{
    unsigned flags;

    return (uintptr_t)s > 2 && HIP(StreamGetFlags, s, &flags) != 0;
}

/* The work of a stream that is destroyed counts as done, as to the runtime where
 * another stream waits for it. */
int gtl_hip_event_query(void *event)
{
    struct event *e = event;
    void *last = __atomic_load_n(&e->last, __ATOMIC_ACQUIRE);
    int was = gtl_hip_enter_relaxed(), rc;

    if (is_destroyed(last))
        rc = 0;
    else if (gtl_hip_is_capturing(last))
        rc = -EAGAIN;
    else
        rc = HIP(EventQuery, e->hip);
    gtl_hip_leave_relaxed(was);
    return rc;
}

/* For runtimes that know callbacks with a status only. */
struct callback {
    void (*fn)(void *arg);
    void *arg;
};

static void run_callback(struct hip_stream *s, unsigned error, void *arg)
{
    struct callback t = *(struct callback *)arg;

    (void)s;
    (void)error;
    free(arg);
    t.fn(t.arg);
}

static int add_callback(void (*fn)(void *arg), void *arg, void *s)
{
    struct callback *t;
    int rc;

    if (gtl_hip_is_capturing(s))
        return gtl_fail(-EBUSY, "hipStreamAddCallback", "is not recorded", 0);
    t = malloc(sizeof *t);
    if (!t)
        return gtl_fail(-ENOMEM, "malloc", "no memory", ENOMEM);
    *t = (struct callback){ fn, arg };
    rc = HIP(StreamAddCallback, s, run_callback, t, 0);
    if (rc)
        free(t);
    return rc;
}

int gtl_hip_host_call(void (*fn)(void *arg), void *arg, void *s)
{
    int was = gtl_hip_enter();
    int rc = gtl_hip_rt.LaunchHostFunc ? HIP(LaunchHostFunc, s, fn, arg)
                                       : add_callback(fn, arg, s);

    gtl_hip_leave(was);
    return rc;
}
