/* SPDX-License-Identifier: BSD-3-Clause */
/* Waits of streams, as the calls that enqueue them leave them for the watchdog:
 * a note for each wait, which costs a few stores, and a list of the
 * software device's threads that wait.  Called with each wait of a stream; it
 * reports nothing (stream_watchdog.c does) and allocates only with the first
 * note of a stream. */
#include "stream/stream_watch.h"
#include "base/lock.h"
#include "diag/diag.h"
#include "gtl/gtl_default_stream.h"
#include "stream/stream.h"
#include "stream/stream_wait_log.h"

#define GET(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)
#define SET(x, v) __atomic_store_n(&(x), v, __ATOMIC_RELAXED)

static struct base_lock lock = LOCK_INIT;
static struct list_link waiting GUARDED_BY(lock) = LIST_INIT(waiting);
static struct base_lock start_lock = LOCK_INIT;
static bool may_start GUARDED_BY(start_lock);
static bool open;               /* atomic: the watchdog checks streams */

void stream_watch_add(const struct stream_where *w, const void *sym,
                      uint64_t *word, uint64_t least, int pe)
{
    const struct stream_wait_log_entry note = {
        .call = w->call, .sym = sym, .word = word, .least = least, .pe = pe
    };

    /* No other thread can ask what a thread's own stream has come to. */
    if (unlikely(gtl_is_per_thread(w->stream)))
        return;
    if (unlikely(!GET(open)))
        stream_watch_start();
    if (unlikely(stream_wait_log_add(w->stream, &note)) &&
        !gtl_device.host_streams && GET(open))
        diag_watchdog_call(stream_wait_log_query_events);
}

void stream_watch_enqueued(void *stream, bool ours)
{
    if (!gtl_device.host_streams)
        stream_wait_log_record_event(stream, ours);
}

void stream_synced(void *stream)
{
    if (!gtl_device.host_streams && GET(open))
        stream_wait_log_completed(stream);
}

void stream_watch_begin(struct stream_thread_wait *o)
{
    if (unlikely(!GET(open)))
        stream_watch_start();
    lock_acquire(&lock);
    list_append(&waiting, &o->link);
    lock_release(&lock);
}

void stream_watch_end(struct stream_thread_wait *o)
{
    lock_acquire(&lock);
    list_remove(&o->link);
    lock_release(&lock);
}

void stream_watch_visit(void (*visit)(const struct stream_thread_wait *o))
{
    struct list_link *l, *next;

    lock_acquire(&lock);
    list_each(l, next, &waiting)
        visit(list_entry(l, struct stream_thread_wait, link));
    lock_release(&lock);
}

void stream_watch_open(void)
{
    lock_acquire(&start_lock);
    may_start = true;
    lock_release(&start_lock);
    if (!gtl_device.host_streams)
        stream_wait_log_make_events();
}

void stream_watch_start(void)
{
    lock_acquire(&start_lock);
    if (may_start && !open) {   /* streams may still come to waits at the end */
        diag_watchdog_start();  /* or there is none, and that is all */
        SET(open, true);
    }
    lock_release(&start_lock);
}

void stream_watch_close(void)
{
    bool was;

    lock_acquire(&start_lock);
    was = open;
    may_start = false;
    SET(open, false);
    lock_release(&start_lock);
    diag_watchdog_call(NULL);
    if (was)
        diag_watchdog_stop();
    stream_wait_log_close();
}
