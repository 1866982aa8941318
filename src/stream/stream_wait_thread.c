/* SPDX-License-Identifier: BSD-3-Clause */
/* Waits of the software device, whose streams are threads of this process.
 *
 * A condition that is no wait of the device's own is polled by the stream's
 * thread, which is woken like any waiter.  Where there are off-node PEs that
 * thread also polls before a wait of the device's own, and takes over for a
 * while what the start before has left under way: the network advances by the
 * threads that wait.  Called by stream_wait.c and by the executors. */
#include "base/clock.h"
#include "base/fault.h"
#include "base/list.h"
#include "base/lock.h"
#include "stream/ring/stream_ring.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Atomic.  A thread that watches counts itself before it reads closing. */
static bool closing;
static unsigned watching;

/* So long a stream waits as the program's threads do, which poll the network,
 * before its device waits. */
#define BRIEF_NS ((uint64_t)1000000)
/* And so long it does what the progress thread would, SPIN_NS without giving
 * its processor away. */
#define LEFT_NS ((uint64_t)200000)
#define SPIN_NS ((uint64_t)2000)

struct software {
    struct list_link link;      /* of those ahead, or of those that wait */
    const char *call;
    void *stream;
    struct stream_wait wait;
    uint64_t turn;              /* of those that wait */
    size_t n;                   /* of flags that are waited for briefly */
    struct gtl_flag flags[];
};

static struct base_lock lock = LOCK_INIT;
static uint64_t turns GUARDED_BY(lock);     /* waits that were polled for */
/* Those that no stream has come past; apart, for there may be many, those whose
 * threads poll. */
static struct list_link ahead GUARDED_BY(lock) = LIST_INIT(ahead);
static struct list_link waiting GUARDED_BY(lock) = LIST_INIT(waiting);

static void free_wait(struct software *s)
{
    lock_acquire(&lock);
    list_remove(&s->link);
    lock_release(&lock);
    free(s);
}

static void move_to_waiting(struct software *s)
{
    lock_acquire(&lock);
    s->turn = ++turns;
    list_remove(&s->link);
    list_append(&waiting, &s->link);
    lock_release(&lock);
}

/* False: we close before it is over. */
static bool watch_until_over(struct software *s)
{
    struct core_waiter w = stream_wait_describe(s->call, &s->wait);
    bool over = stream_wait_satisfied(&s->wait);

    if (over)
        return true;
    w.info.silent = true;
    move_to_waiting(s);
    while (!(over = stream_wait_satisfied(&s->wait)) &&
           !__atomic_load_n(&closing, __ATOMIC_RELAXED))
        core_wait_step(&w);
    core_wait_end(&w);
    return over;
}

static bool is_there(const struct gtl_flag *w)
{
    return __atomic_load_n(w->word, __ATOMIC_ACQUIRE) >= w->value;
}

static bool all_there(const struct software *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (!is_there(&s->flags[i]))
            return false;
    return true;
}

static bool may_continue(uint64_t ns)
{
    return (ns < LEFT_NS || fault_hit(FAULT_STREAM_PROGRESS) ||
            fault_hit(FAULT_STREAM_KEEP)) &&
           !__atomic_load_n(&closing, __ATOMIC_RELAXED);
}

/* This thread advances operations that the start before has left under way, for
 * a while: to wake the progress thread costs more than their work. */
static void advance_left(const struct software *s)
{
    uint64_t start = clock_ns(), ns = 0;

    while (stream_ring_has_deferred() && !all_there(s) && may_continue(ns)) {
        if (stream_ring_progress_deferred() || xport_progress->poll())
            continue;
        ns = clock_ns() - start;
        if (ns > SPIN_NS || core_status.oversubscribed)
            sched_yield();
        else
            atomics_pause();
    }
}

/* False: we close.  The device's waits follow. */
static bool watch_briefly(const struct software *s)
{
    uint64_t until = clock_ns() + BRIEF_NS;
    bool closes = false;

    for (size_t i = 0; i < s->n && !closes; i++) {
        struct core_waiter w = CORE_WAIT_VALUE(s->call, s->flags[i].word,
                                               uint64_t, SHMEM_CMP_GE,
                                               s->flags[i].value);

        w.info.silent = true;
        while (!is_there(&s->flags[i]) && clock_ns() <= until && !closes) {
            core_wait_step(&w);
            closes = __atomic_load_n(&closing, __ATOMIC_RELAXED);
        }
        core_wait_end(&w);
    }
    return !closes;
}

static void watch(void *arg)
{
    struct software *s = arg;

    if (s->n && stream_ring_has_deferred())
        advance_left(s);
    if (stream_ring_has_deferred()) {
        stream_ring_defer(NULL);
        stream_progress_wake();
    }
    /* seq_cst, as in stream_wait_close: one of the two sees the other. */
    __atomic_fetch_add(&watching, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&closing, __ATOMIC_SEQ_CST) ||
        !(s->n ? watch_briefly(s) : watch_until_over(s)))
        gtl->cancel_rest();
    free_wait(s);
    /* release: stream_wait_close comes after all of this. */
    __atomic_fetch_sub(&watching, 1, __ATOMIC_RELEASE);
}

void stream_wait_visit(void (*visit)(const struct stream_thread_wait *t))
{
    struct list_link *l, *next;

    lock_acquire(&lock);
    list_each(l, next, &waiting) {
        const struct software *s = list_entry(l, struct software, link);

        visit(&(struct stream_thread_wait){
            .of = s, .turn = s->turn, .stream = s->stream,
            .pe = s->wait.whose - 1,
            .what = stream_wait_describe(s->call, &s->wait)
        });
    }
    lock_release(&lock);
}

bool stream_wait_is_next(void)
{
    return gtl->calls_next(watch);
}

/* NULL, reported: no memory. */
static struct software *software_new(const struct stream_where *w, size_t n)
{
    struct software *s = malloc(sizeof *s + n * sizeof *s->flags);

    if (!s) {
        stream_no_memory(w->call);
        return NULL;
    }
    s->call = w->call;
    s->stream = w->stream;
    s->n = n;
    return s;
}

static int watch_in_stream(const struct stream_where *w, struct software *s)
{
    int rc;

    lock_acquire(&lock);
    list_append(&ahead, &s->link);
    lock_release(&lock);
    rc = stream_device_rc(w, gtl->host_call(watch, s, w->stream));
    if (rc)
        free_wait(s);
    return rc;
}

int stream_wait_on_thread(const struct stream_where *w,
                          const struct stream_wait *c)
{
    struct software *s = software_new(w, 0);

    if (!s)
        return -ENOMEM;
    s->wait = *c;
    return watch_in_stream(w, s);
}

int stream_wait_poll_first(const struct stream_where *w,
                           const struct gtl_flag *flags, size_t n)
{
    struct software *s;

    if (!gtl_device.host_streams || !xport_net)
        return 0;
    s = software_new(w, n);
    if (!s)
        return -ENOMEM;
    memcpy(s->flags, flags, n * sizeof *flags);
    return watch_in_stream(w, s);
}

void stream_wait_open(void)
{
    __atomic_store_n(&closing, false, __ATOMIC_RELAXED);
}

/* They look again after 5 ms at most. */
void stream_wait_close(void)
{
    static const struct timespec while_ = { 0, 200000 };

    __atomic_store_n(&closing, true, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&watching, __ATOMIC_SEQ_CST))
        nanosleep(&while_, NULL);
}

void stream_wait_free_pending(void)
{
    lock_acquire(&lock);
    while (!list_empty(&ahead)) {
        struct software *s = list_entry(ahead.next, struct software, link);

        list_remove(&s->link);
        free(s);
    }
    lock_release(&lock);
}
