/* SPDX-License-Identifier: BSD-3-Clause */
/* The op ring of a stream, found or made, and those of queues.
 *
 * A ring belongs to the stream's number, which no other stream ever has.  When
 * the stream is destroyed, or its handle comes back with another number, the
 * ring is retired, and the progress thread frees it once it is empty.  The
 * handle in a ring is never given to a GPU's driver, for its stream may be
 * gone.  Called by enqueues, queues and graphs; only the first one of a stream
 * takes the list's lock, allocates, or waits for counters. */
#include "base/lock.h"
#include "gtl/gtl_default_stream.h"
#include "stream/ring/stream_ring.h"
#include "stream/ring/stream_ring_list.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

enum { BUCKET_BITS = 10, BUCKETS = 1 << BUCKET_BITS,
       SLEEPS = 10000,          /* until a ring is freed: a second */
       MOST_SWEPT = 64 };       /* rings of streams that may exist */

/* The rings of streams, by handle; no retired one. */
static struct stream_ring *table[BUCKETS] GUARDED_BY(stream_rings_lock);
/* The last rings that this thread has found.  An entry is stale once the ring
 * of a stream has gone: drivers that do not number streams may give a number
 * again together with the handle. */
enum { LAST = 8 };
struct last {
    uint64_t id, generation;
    struct stream_ring *ring;
};
static __thread struct last recent[LAST];
static uint64_t generation = 1; /* atomic: another one when a ring has gone */

static uint64_t mix(uint64_t x)
{
    return x * 0x9e3779b97f4a7c15u;
}

static struct last *recent_of(uint64_t id)
{
    return &recent[mix(id) >> 61];
}
_Static_assert(LAST == 1 << (64 - 61), "of the hash");

static bool is_recent(const struct last *l, uint64_t id)
{
    return l->id == id &&
           l->generation == __atomic_load_n(&generation, __ATOMIC_RELAXED);
}

static struct stream_ring **bucket_of(const void *handle)
    REQUIRES(stream_rings_lock)
{
    return &table[mix((uintptr_t)handle) >> (64 - BUCKET_BITS)];
}

static void next_generation(void)
{
    __atomic_fetch_add(&generation, 1, __ATOMIC_RELAXED);
}

/* The ring of a handle, whatever its stream's number; of a handle that means
 * another stream in each thread, that thread's. */
static struct stream_ring **find(const void *handle, uint64_t owner)
    REQUIRES(stream_rings_lock)
{
    struct stream_ring **at = bucket_of(handle);

    while (*at && ((*at)->handle != handle || (*at)->owner != owner))
        at = &(*at)->same;
    return at;
}

/* Its stream is no more: the progress thread frees it when it is empty. */
static void retire(struct stream_ring **at) REQUIRES(stream_rings_lock)
{
    struct stream_ring *q = *at;

    *at = q->same;
    next_generation();
    __atomic_store_n(&q->gone, true, __ATOMIC_RELEASE);
}

/* That stream's, or NULL; another one's, whose handle this was, is gone. */
static struct stream_ring *find_live(void *handle, uint64_t id, bool *retires)
    REQUIRES(stream_rings_lock)
{
    struct stream_ring **at = find(handle, gtl_stream_owner(handle));

    if (*at && (*at)->id != id) {
        retire(at);
        *retires = true;
        return NULL;
    }
    return *at;
}

/* ---- streams that are destroyed ---- */

static void forget(const void *stream, uint64_t owner)
{
    struct list_link *l, *next;
    struct stream_ring **at;
    bool is;

    lock_acquire(&stream_rings_lock);
    at = find(stream, owner);
    is = *at != NULL;
    if (is)
        retire(at);
    list_each(l, next, &stream_rings) {
        struct stream_ring *q = list_entry(l, struct stream_ring, link);

        if (q->for_queue && q->handle == stream && q->owner == owner)
            __atomic_store_n(&q->stream_destroyed_here, true, __ATOMIC_RELAXED);
    }
    lock_release(&stream_rings_lock);
    if (is)
        stream_progress_wake();
}

void stream_ring_retire(void *stream)
{
    forget(stream, gtl_stream_owner(stream));
}

/* A thread's own stream ends with it. */
static pthread_key_t owners;
static pthread_once_t owners_once = PTHREAD_ONCE_INIT;
static bool owners_end;

static void owner_ends(void *owner)
{
    if (__atomic_load_n(&stream_is_open, __ATOMIC_ACQUIRE))
        forget((void *)(uintptr_t)GTL_PER_THREAD, (uintptr_t)owner);
}

static void make_owners(void)
{
    owners_end = !pthread_key_create(&owners, owner_ends);
}

static int watch_owner(uint64_t owner)
{
    if (likely(!owner))
        return 0;
    pthread_once(&owners_once, make_owners);
    return owners_end
        ? -pthread_setspecific(owners, (void *)(uintptr_t)owner) : -EAGAIN;
}

/* ---- making rings ---- */

/* Only the software device's driver can be asked about the handle of a stream
 * that is gone.  So with a GPU an empty ring is freed even if its stream is
 * there, which gets another ring with its next operation; but not with several
 * threads, of which one may be about to use the ring. */
static bool may_retire(struct stream_ring *q)
{
    uint64_t id = q->id;

    if (q->for_queue || q->kept ||
        __atomic_load_n(&q->gone, __ATOMIC_RELAXED) || !stream_ring_empty(q))
        return false;
    if (gtl_device.host_streams)
        return id != STREAM_ID_UNKNOWN &&
               (gtl->stream_check(q->handle, &id) == -EINVAL || id != q->id);
    return core_status.thread_level < SHMEM_THREAD_MULTIPLE &&
           stream_ring_net_idle(q) &&
           !stream_errors_unreported(&q->exec.failed);
}

/* Once places run out: some, oldest first.  False: none will be free. */
static bool sweep(void)
{
    struct stream_ring *q;
    bool skips = false, any = false;
    int n = 0;

    for (q = stream_rings_next(NULL, &skips); q;
         q = stream_rings_next(q, &skips)) {
        any |= __atomic_load_n(&q->gone, __ATOMIC_RELAXED);
        if (n == MOST_SWEPT || !may_retire(q))
            continue;
        any = true;
        lock_acquire(&stream_rings_lock);
        if (*find(q->handle, q->owner) == q) {
            retire(find(q->handle, q->owner));
            n += !gtl_device.host_streams;
        }
        lock_release(&stream_rings_lock);
    }
    stream_progress_wake();
    return any;
}

/* Where counters have run out, the progress thread may free some, which takes
 * its time on a busy machine. */
static int make(void *handle, uint64_t id, struct stream_ring **out)
{
    const struct timespec delay = { 0, 100000 };
    int rc = stream_ring_new(handle, id, out);

    if (rc != -ENOSPC)
        return rc;
    if (!sweep())
        return rc;
    for (int i = 0; i < SLEEPS && rc == -ENOSPC; i++) {
        nanosleep(&delay, NULL);
        rc = stream_ring_new(handle, id, out);
    }
    return rc;
}

int stream_ring_create(void *stream, uint64_t id, struct stream_ring **out)
{
    struct stream_ring *q;
    int rc = watch_owner(gtl_stream_owner(stream));

    rc = rc ? rc : make(stream, id, &q);
    if (rc)
        return rc;
    q->for_queue = true;
    lock_acquire(&stream_rings_lock);
    stream_ring_enlist(q);
    lock_release(&stream_rings_lock);
    *out = q;
    return stream_progress_start();
}

/* Another thread may have made one meanwhile. */
static void add(struct stream_ring **out) REQUIRES(stream_rings_lock)
{
    struct stream_ring *q = *out, **at = find(q->handle, q->owner);

    if (*at && (*at)->id == q->id) {
        *out = *at;
        return;
    }
    q->same = *bucket_of(q->handle);
    *bucket_of(q->handle) = q;
    stream_ring_enlist(q);
}

static int make_for_stream(void *handle, uint64_t id, struct stream_ring **out)
{
    struct stream_ring *mine;
    int rc = make(handle, id, &mine);

    if (rc)
        return rc;
    *out = mine;
    lock_acquire(&stream_rings_lock);
    add(out);
    lock_release(&stream_rings_lock);
    if (*out != mine)
        stream_ring_delete(mine);
    return 0;
}

static int find_or_make(void *handle, uint64_t id, struct stream_ring **out)
{
    struct last *l = recent_of(id);
    struct stream_ring *q;
    bool retires = false;
    uint64_t now;
    int rc = 0;

    lock_acquire(&stream_rings_lock);
    q = find_live(handle, id, &retires);
    now = __atomic_load_n(&generation, __ATOMIC_RELAXED);
    lock_release(&stream_rings_lock);
    if (retires)
        stream_progress_wake();
    if (!q)
        rc = watch_owner(gtl_stream_owner(handle));
    if (!rc && !q)
        rc = make_for_stream(handle, id, &q);
    if (!rc)
        rc = stream_progress_start();
    if (rc)                     /* it is asked for again */
        return rc;
    *l = (struct last){ id, now, q };
    *out = q;
    return 0;
}

/* ---- for a stream ---- */

const char *stream_ring_error_text(int rc)
{
    _Static_assert(STREAM_RINGS == 4096, "the text says so");
    return rc == -ENOSPC ? "4096 queues and streams with operations for the "
                           "progress thread or the NIC are in use"
           : rc == -EINVAL || rc == -ENODEV || rc == -EIO ? gtl_error()
                                                          : strerror(-rc);
}

int stream_ring_refuse(const struct stream_where *w, int rc)
{
    stream_refuse(ERR_STREAM, w->call, "stream %p: %s", w->stream,
                  stream_ring_error_text(rc));
    return rc;
}

int stream_ring_of(const struct stream_where *w, struct stream_ring **out)
{
    const struct last *l;
    uint64_t id;
    int rc;

    rc = gtl->stream_check(w->stream, &id);
    if (unlikely(rc))
        return rc == -EBUSY ? rc : stream_ring_refuse(w, rc);
    l = recent_of(id);
    if (likely(is_recent(l, id))) {
        *out = l->ring;
        return 0;
    }
    rc = find_or_make(w->stream, id, out);
    return rc ? stream_ring_refuse(w, rc) : 0;
}

bool stream_has_ring(void *stream)
{
    struct stream_ring **at;
    uint64_t id;
    bool is;
    int rc;

    if (!__atomic_load_n(&stream_rings_exist, __ATOMIC_RELAXED))
        return false;
    rc = gtl->stream_check(stream, &id);
    if (rc && rc != -EBUSY)
        return true;            /* the enqueue reports it */
    if (is_recent(recent_of(id), id))
        return true;
    lock_acquire(&stream_rings_lock);
    at = find(stream, gtl_stream_owner(stream));
    is = *at && (*at)->id == id;
    lock_release(&stream_rings_lock);
    return is;
}

void stream_ring_table_clear(void)
{
    lock_acquire(&stream_rings_lock);
    memset(table, 0, sizeof table);
    lock_release(&stream_rings_lock);
    __atomic_store_n(&stream_rings_exist, false, __ATOMIC_RELAXED);
    next_generation();
}
