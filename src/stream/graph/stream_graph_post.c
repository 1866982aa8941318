/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations that streams post to the progress thread: each is a host function
 * of the stream, which posts it, and a wait for a flag, which is raised behind
 * the operation on the proxy stream.  Called by stream_graph.c. */
#include "stream/graph/stream_graph_post.h"
#include "base/lock.h"
#include "base/symbol.h"
#include "stream/graph/stream_proxy.h"
#include "stream/ring/stream_ring.h"
#include "stream/stream_stats.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 32 };             /* in a turn, then the rings have theirs */

static struct base_lock lock = LOCK_INIT;
static struct post_slot *first GUARDED_BY(lock);
static struct post_slot **last GUARDED_BY(lock) = &first;
/* Atomic; written under the lock: the next number after each close. */
static uint64_t opening;
static struct base_lock repeating = LOCK_INIT;
static bool rung;               /* atomic */
static bool failed;             /* atomic */

/* ---- memory ---- */

int stream_post_flag_alloc(const struct stream_where *w,
                           enum stream_flag_use use, uint64_t **out)
{
    int rc = stream_flag_alloc(use, out);

    _Static_assert(STREAM_FLAGS == 32768, "the text says so");
    if (rc)
        stream_refuse(ERR_STREAM, w->call, rc == -ENOSPC
                      ? "graphs have 32768 operations for the progress thread: "
                        "destroy some" : "the device reaches no host memory");
    return rc;
}

bool stream_posts_pending(const struct list_link *posts)
{
    const struct list_link *l;
    bool any = false;

    lock_acquire(&lock);
    for (l = posts->next; l != posts && !any; l = l->next)
        any = list_entry(l, struct post_slot, link)->pending;
    lock_release(&lock);
    return any;
}

void stream_posts_free(struct list_link *posts, bool flags)
{
    struct list_link *l, *next;

    list_each(l, next, posts) {
        struct post_slot *s = list_entry(l, struct post_slot, link);

        if (flags && !s->once)
            stream_flag_free(STREAM_FLAG_TOGGLES, s->flag);
        free(s);
    }
}

struct post_slot *stream_post_slot_new(const struct stream_where *w,
                                       stream_replay *repeat, const void *args,
                                       size_t size)
{
    struct post_slot *s = malloc(sizeof *s + size);

    if (!s) {
        stream_no_memory(w->call);
        return NULL;
    }
    *s = (struct post_slot){
        .repeat = repeat, .call = w->call, .opened = stream_posts_generation()
    };
    memcpy(s->args, args, size);
    return s;
}

void stream_post_slot_add(struct list_link *posts, struct post_slot *s)
{
    lock_acquire(&lock);
    list_append(posts, &s->link);
    lock_release(&lock);
}

static void free_one_shot(struct post_slot *s)
{
    lock_acquire(&lock);
    list_remove(&s->link);
    lock_release(&lock);
    free(s);
}

/* ---- what streams post ---- */

static void post(struct post_slot *s) REQUIRES(lock)
{
    if (s->pending++)
        return;
    s->next = NULL;
    *last = s;
    last = &s->next;
    __atomic_store_n(&rung, true, __ATOMIC_RELEASE);
}

static void raise(const struct post_slot *s)
{
    __atomic_store_n(s->flag, s->number, __ATOMIC_RELEASE);
    atomics_full_fence();
    gtl->flags_stored();
}

static void warn_late(const struct post_slot *s)
{
    log_warn(ERR_STREAM, "%s: a graph that records this operation was launched "
             "after shmem_finalize: it is not done",
             symbol_public(s->call));
}

static void warn_overlap(const struct post_slot *s)
{
    log_warn(ERR_STREAM, "%s: two launches of a graph that records this "
             "operation overlap: its streams may go on too early; launch one "
             "when the other has ended, or record two graphs",
             symbol_public(s->call));
}

/* On a thread of the driver, when a stream gets there. */
static void reached(void *arg)
{
    struct post_slot *s = arg;
    bool late, overlaps = false;

    if (__atomic_load_n(&s->dead, __ATOMIC_RELAXED))
        return;
    lock_acquire(&lock);
    late = s->opened != opening;
    if (!late)
        stream_proxy_reached(s->proxy, s->flag, s->number);
    if (!late && !s->once) {
        overlaps = !__atomic_load_n(s->flag, __ATOMIC_ACQUIRE);
        /* Before the wait that comes next; the driver orders the two. */
        __atomic_store_n(s->flag, 0, __ATOMIC_RELEASE);
    }
    if (!late)
        post(s);
    lock_release(&lock);
    if (late) {
        raise(s);
        warn_late(s);
        return;
    }
    if (overlaps)
        warn_overlap(s);
    stream_progress_wake();
}

int stream_post_enqueue(const struct stream_where *w, struct post_slot *s)
{
    uint64_t *flag = s->flag, number = s->number;
    bool once = s->once;
    int rc = gtl->host_call(reached, s, w->stream);

    if (rc) {
        if (once)
            free_one_shot(s);
        return stream_device_rc(w, rc);
    }
    rc = gtl->wait64(flag, number, w->stream);
    if (rc && !once)            /* else it may be freed by now */
        __atomic_store_n(&s->dead, true, __ATOMIC_RELAXED);
    stream_device_rc(w, rc);
    if (!rc)
        gtl->count_ops(w->stream, 1);  /* of each launch, in a graph */
    return rc == -ENOSYS ? -ENOTSUP : rc;
}

/* ---- the progress thread's side ---- */

void stream_posts_notify(void)
{
    __atomic_store_n(&rung, true, __ATOMIC_RELEASE);
}

bool stream_posts_notified(void)
{
    if (likely(!__atomic_load_n(&rung, __ATOMIC_ACQUIRE)))
        return false;
    __atomic_store_n(&rung, false, __ATOMIC_SEQ_CST);
    return true;
}

uint64_t stream_posts_generation(void)
{
    return __atomic_load_n(&opening, __ATOMIC_RELAXED);
}

void stream_posts_fail(void)
{
    __atomic_store_n(&failed, true, __ATOMIC_RELAXED);
}

int stream_posts_failed(void)
{
    return likely(!__atomic_load_n(&failed, __ATOMIC_RELAXED)) ||
           !__atomic_exchange_n(&failed, false, __ATOMIC_RELAXED) ? 0 : -EIO;
}

static struct post_slot *take(unsigned *times)
{
    struct post_slot *s;

    lock_acquire(&lock);
    s = first;
    if (s) {
        first = s->next;
        if (!first)
            last = &first;
        *times = s->pending;
        s->pending = 0;
    }
    lock_release(&lock);
    return s;
}

static void repeat(struct post_slot *s, unsigned times)
{
    struct stream_where w = {
        .call = s->call, .ctx = &core_ctx_default, .stream = s->proxy->stream
    };
    int rc = 0;

    stream_in_graph_launch = !s->once;
    for (unsigned i = 0; i < times && !rc; i++)
        rc = s->repeat(&w, s->args);
    if (!rc)
        rc = stream_device_rc(&w, gtl->write64(s->flag, s->number, w.stream));
    stream_in_graph_launch = false;
    if (rc) {
        stream_posts_fail();
        raise(s);
    }
    stream_count(STREAM_REPEATS, times);
    if (s->once)
        free_one_shot(s);
}

bool stream_posts_advance(void)
{
    struct post_slot *s;
    unsigned times;
    int n = 0;

    lock_acquire(&repeating);
    for (; n < MOST && (s = take(&times)); n++)
        repeat(s, times);
    lock_release(&repeating);
    if (n == MOST)              /* there may be more */
        stream_posts_notify();
    return n;
}

void stream_posts_close(void)
{
    struct post_slot *s;
    unsigned times;

    lock_acquire(&lock);
    __atomic_fetch_add(&opening, 1, __ATOMIC_RELAXED);
    lock_release(&lock);
    lock_acquire(&repeating);
    while ((s = take(&times)))
        raise(s);
    lock_release(&repeating);
    __atomic_store_n(&failed, false, __ATOMIC_RELAXED);
}
