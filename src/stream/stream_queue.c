/* SPDX-License-Identifier: BSD-3-Clause */
/* Queues of armed operations, one for each stream that needs one.
 *
 * One thread at a time arms, and who holds the queue does: the agent, or the
 * stream's own thread on the software device.  The operations of a queue lie in
 * a ring of chunks that grows, so nobody is ever held up.  A queue belongs to
 * the stream's number, which no other stream ever has: when its handle comes
 * back with another number, the stream is gone, and the queue goes when it is
 * empty. */
#include "stream/stream_queue.h"
#include "base/clock.h"
#include "base/env.h"
#include "base/lock.h"
#include "base/mem.h"
#include "stream/stream_batch.h"
#include "stream/stream_chan.h"
#include "stream/stream_mail.h"
#include "stream/stream_watch.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { QUEUES = 4096 };
#define UNKNOWN UINT64_MAX      /* of a stream that records a graph */

static struct base_lock lock = LOCK_INIT;
static struct stream_queue *queues GUARDED_BY(lock);
/* Of an opening that is over: streams of the software device may still come to
 * what is armed there. */
static struct stream_queue *abandoned GUARDED_BY(lock);
static struct stream_words *words;      /* [QUEUES] */
static bool pinned GUARDED_BY(lock);    /* the device knows of them */
static uint32_t spare[QUEUES] GUARDED_BY(lock);
static unsigned n_spare GUARDED_BY(lock);
/* The thread's last, as long as no queue of a stream has gone meanwhile:
 * drivers that do not number streams give a number again with the handle. */
static __thread struct {
    uint64_t id, era;
    struct stream_queue *queue;
} last __attribute__((tls_model("initial-exec")));
bool stream_is_open;
static bool queued;             /* atomic: a queue has been made */
static uint64_t era = 1;        /* atomic: another one when a queue has gone */

static bool is_last(uint64_t id)
{
    return last.id == id &&
           last.era == __atomic_load_n(&era, __ATOMIC_RELAXED);
}

static void next_era(void)
{
    __atomic_fetch_add(&era, 1, __ATOMIC_RELAXED);
}

/* ---- the side of who does ---- */

/* Whoever holds it is about to let it go. */
static void hold_for_good(struct stream_queue *q)
{
    while (!stream_queue_hold(q))
        sched_yield();
}

bool stream_queues_advance(bool *armed, bool *busy)
{
    bool any = false, nic = false;

    *busy |= chan_look();
    *busy |= stream_nic_gates_busy();
    lock_acquire(&lock);
    for (struct stream_queue *q = queues; q; q = q->next) {
        any |= stream_nic_advance(q, &nic);
        if (!stream_queue_hold(q))      /* who does will ring */
            continue;
        while (stream_queue_step(q, armed, busy))
            any = true;
        any |= stream_sends_advance(q);
        if (q->n_sends || !stream_queue_idle(q))
            *busy = true;
        stream_queue_let_go(q);
    }
    lock_release(&lock);
    if (nic)
        xport_trig->progress();
    *busy |= nic;
    return any;
}

bool stream_queues_look(stream_look *look)
{
    const struct stream_op *op;
    bool all = true;

    if (!lock_try(&lock))
        return false;
    for (struct stream_queue *q = queues; q; q = q->next) {
        if (!stream_queue_hold(q)) {
            all = false;
            continue;
        }
        op = q->begun ? stream_queue_head(q) : NULL;
        if (op)
            look(q, op);
        stream_queue_let_go(q);
    }
    lock_release(&lock);
    return all;
}

uint64_t stream_armed_ops(void)
{
    uint64_t n = 0;

    lock_acquire(&lock);
    for (struct stream_queue *q = queues; q; q = q->next)
        n += __atomic_load_n(&q->armed, __ATOMIC_RELAXED);
    lock_release(&lock);
    return n;
}

/* ---- queues ---- */

static bool soft_empty(const struct stream_queue *q)
{
    return __atomic_load_n(&q->ended, __ATOMIC_ACQUIRE) ==
           __atomic_load_n(&q->armed, __ATOMIC_RELAXED);
}

static bool empty(const struct stream_queue *q)
{
    return soft_empty(q) && stream_nic_idle(&q->nic) &&
           !__atomic_load_n(&q->n_sends, __ATOMIC_ACQUIRE);
}

static void close_flow(struct stream_queue *q)
{
    stream_nic_close(&q->nic);
    if (q->ctx.flow) {
        xport_far->quiet(q->ctx.flow);
        xport_far->flow_close(q->ctx.flow);
        q->ctx.flow = NULL;
    }
    stream_fail_take(NULL, &q->failed);
}

static void queue_free(struct stream_queue *q) REQUIRES(lock)
{
    struct chunk *c = q->in, *next;

    hold_for_good(q);
    stream_stats_gone(q);
    close_flow(q);
    spare[n_spare++] = (uint32_t)(q->words - words);
    do {
        next = c->next;
        free(c);
        c = next;
    } while (c != q->in);
    free(q);
}

bool stream_queue_gone(const struct stream_queue *q)
{
    uint64_t id = q->id;

    return id != UNKNOWN &&
           (gtl->stream_check(q->handle, &id) == -EINVAL || id != q->id);
}

/* Those of streams that are gone. */
static void sweep(void) REQUIRES(lock)
{
    struct stream_queue **at = &queues, *q;

    while ((q = *at)) {
        if (!q->batch && empty(q) && stream_queue_gone(q)) {
            *at = q->next;
            next_era();
            queue_free(q);
        } else {
            at = &q->next;
        }
    }
}

/* When the device opens, and not with the first queue: a stream may wait then,
 * and the driver for that stream.  The memory stays for good: streams that
 * nobody waited for may look at it. */
static void open_words(void)
{
    size_t size = QUEUES * sizeof *words;
    void *p, *seen;

    lock_acquire(&lock);
    if (!words) {
        p = mmap(NULL, size, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        words = p == MAP_FAILED ? NULL : p;
        for (n_spare = 0; words && n_spare < QUEUES; n_spare++)
            spare[n_spare] = QUEUES - 1 - n_spare;
    }
    if (words && !gtl->pin(words, size, GTL_PIN_MEMORY, &seen)) {
        pinned = seen == words;
        if (!pinned)
            gtl->unpin(words);
    }
    if (!pinned)
        log_info(LOG_STREAM, "%zu bytes of host memory cannot be pinned: "
                 "streams do what the device reaches, and no more", size);
    lock_release(&lock);
}

static int queue_new(void *handle, uint64_t id, struct stream_queue **out)
    REQUIRES(lock)
{
    struct stream_queue *q;
    struct chunk *c;
    int rc;

    if (!pinned)
        return -ENODEV;
    if (!n_spare)
        return -ENOSPC;
    q = aligned_alloc(64, sizeof *q);
    c = stream_chunk_new();
    if (!q || !c) {
        rc = -ENOMEM;
        goto free_both;
    }
    *q = (struct stream_queue){
        .handle = handle, .id = id, .ctx.team = &core_world, .in = c, .out = c,
        .words = &words[spare[n_spare - 1]]
    };
    c->next = c;
    q->last_send = &q->sends;
    /* A stream may still look at what these words were raised to for the
     * queue before, so they go on from there. */
    q->armed = q->ended = q->fired = q->words->fire > q->words->done
                                     ? q->words->fire : q->words->done;
    rc = xport_far ? xport_far->flow_open(&q->ctx.flow, false) : 0;
    if (rc)
        goto free_both;
    stream_fail_open(&q->failed, handle, q->ctx.flow);
    stream_stats_made(q);
    n_spare--;
    q->next = queues;
    queues = q;
    __atomic_store_n(&queued, true, __ATOMIC_RELAXED);
    *out = q;
    return 0;
free_both:
    free(c);
    free(q);
    return rc;
}

static struct stream_queue *find(uint64_t id) REQUIRES(lock)
{
    struct stream_queue *q = queues;

    while (q && (q->id != id || q->batch))
        q = q->next;
    return q;
}

int stream_queue_open(void *stream, uint64_t id, struct stream_queue **out)
{
    struct stream_queue *q;
    int rc;

    lock_acquire(&lock);
    sweep();
    rc = queue_new(stream, id, &q);
    if (!rc) {
        q->batch = true;
        *out = q;
    }
    lock_release(&lock);
    return rc ? rc : stream_agent_open();
}

bool stream_queue_empty(const struct stream_queue *q)
{
    return empty(q);
}

void stream_queue_settle(const struct stream_queue *q)
{
    while (__atomic_load_n(&q->n_sends, __ATOMIC_ACQUIRE))
        sched_yield();
}

void stream_queue_give_up(struct stream_queue *q)
{
    hold_for_good(q);
    __atomic_store_n(&q->armed, q->fired, __ATOMIC_RELEASE);
    stream_queue_let_go(q);
    __atomic_store_n(&q->nic.armed, q->nic.let_go, __ATOMIC_RELEASE);
}

void stream_queue_close(struct stream_queue *q)
{
    struct stream_queue **at;

    lock_acquire(&lock);
    for (at = &queues; *at && *at != q; at = &(*at)->next)
        ;
    if (*at) {
        *at = q->next;
        queue_free(q);
    }
    lock_release(&lock);
}

static int queue_of(void *handle, uint64_t id, struct stream_queue **out)
{
    struct stream_queue *q;
    uint64_t now;
    int rc = 0;

    lock_acquire(&lock);
    q = find(id);
    if (!q) {
        sweep();
        rc = queue_new(handle, id, &q);
    }
    now = era;
    lock_release(&lock);
    if (!rc)
        rc = stream_agent_open();
    if (rc)                     /* it is asked for again */
        return rc;
    last.id = id;
    last.era = now;
    last.queue = *out = q;
    return 0;
}

/* ---- for a stream ---- */

const char *stream_queue_lacks(int rc)
{
    _Static_assert(QUEUES == 4096, "the text says so");
    return rc == -ENOSPC ? "4096 queues and streams with queues are in use"
           : rc == -EINVAL || rc == -ENODEV ? gtl_error() : strerror(-rc);
}

int stream_no_queue(const struct stream_where *w, int rc)
{
    if (rc == -EBUSY)
        return stream_told(w, rc);
    stream_refuse(ERR_STREAM, w->call, "stream %p: %s", w->stream,
                  stream_queue_lacks(rc));
    return rc;
}

int stream_queue_find(const struct stream_where *w, struct stream_queue **out)
{
    struct stream_queue *q = last.queue;
    uint64_t id;
    int rc;

    rc = gtl->stream_check(w->stream, &id);
    if (!rc && unlikely(!is_last(id)))
        rc = queue_of(w->stream, id, &q);
    if (unlikely(rc))
        return stream_no_queue(w, rc);
    *out = q;
    return 0;
}

/* What the stream has let go is under way, and no more of its; of a batch that
 * could not be started, nobody waits for the rest. */
static bool holds(const struct stream_queue *q)
{
    bool soft = q->batch ? __atomic_load_n(&q->ended, __ATOMIC_ACQUIRE) <
                               q->fired : !soft_empty(q);

    return soft || (!stream_nic_idle(&q->nic) &&
                    gtl->stream_query(q->handle) == -EAGAIN);
}

bool stream_pending(void *stream)
{
    bool is = gtl_owes(stream);
    uint64_t id;

    if (is || gtl->stream_check(stream, &id))
        return is;
    lock_acquire(&lock);
    for (struct stream_queue *q = queues; q && !is; q = q->next)
        is = (q->id == id || (q->id == UNKNOWN && q->handle == stream)) &&
             holds(q);
    lock_release(&lock);
    return is;
}

bool stream_used(void *stream)
{
    uint64_t id;
    bool is;

    if (!__atomic_load_n(&queued, __ATOMIC_RELAXED))
        return false;
    if (gtl->stream_check(stream, &id))
        return true;            /* arming will tell */
    if (is_last(id))
        return true;
    lock_acquire(&lock);
    is = find(id) != NULL;
    lock_release(&lock);
    return is;
}

/* By who holds it. */
static void count_left(struct stream_queue *q, struct stream_left *l)
{
    const struct stream_op *op = stream_queue_head(q);

    l->n += q->armed - q->ended + stream_nic_left(&q->nic) + q->n_sends;
    if (q->sends)
        stream_left_note_message(l, q->sends->send.call, q->sends);
    if (op)
        stream_left_note(l, op);
}

static void drop_all(struct stream_left *left)
{
    lock_acquire(&lock);
    while (queues) {
        struct stream_queue *q = queues;

        queues = q->next;
        if (empty(q)) {
            queue_free(q);
            continue;
        }
        hold_for_good(q);
        count_left(q, left);
        /* No GPU waits for what never comes; the software device drops what is
         * behind a wait. */
        if (!gtl_is_software())
            __atomic_store_n(&q->words->done, q->armed, __ATOMIC_RELEASE);
        stream_stats_gone(q);
        close_flow(q);
        q->next = abandoned;
        abandoned = q;
    }
    if (pinned)
        gtl->unpin(words);
    pinned = false;
    __atomic_store_n(&queued, false, __ATOMIC_RELAXED);
    next_era();
    lock_release(&lock);
}

int stream_reserve(void)
{
    return mail_reserve();
}

int stream_open(void)
{
    static struct base_lock opening = LOCK_INIT;
    int rc = 0;

    lock_acquire(&opening);
    if (!stream_is_open)
        rc = stream_reach_open();
    if (!rc && !stream_is_open) {
        rc = mail_open();
        if (rc)
            stream_reach_close();
    }
    if (!rc && !stream_is_open) {
        open_words();
        xport_trig->ready();
        stream_wait_open();
        stream_watch_open();
        /* release: who sees it sees the rest. */
        __atomic_store_n(&stream_is_open, true, __ATOMIC_RELEASE);
    }
    lock_release(&opening);
    return rc;
}

/* What the device's threads do now has to end while there is the memory that
 * they do it in.  A kernel may never end.  Gives what they drop. */
static uint64_t await_halt(void)
{
    struct core_waiter w = {
        .addr = (const void *)heap_segs[HEAP_HOST].base, .bytes = 1,
        .what = CORE_FOR_STREAM, .call = "shmem_finalize"
    };
    uint64_t start = clock_ns(), most = (uint64_t)env.TIMEOUT * 1000000000u;
    uint64_t ops;

    while (!gtl_halted(&ops)) {
        core_wait_step(&w);
        if (most && clock_ns() - start > most)
            core_fatal(ERR_STALL, "shmem_finalize", "a kernel, copy or call on "
                       "a stream has not ended for %ld s (SHMEM_TIMEOUT)",
                       env.TIMEOUT);
    }
    core_wait_end(&w);
    return ops;
}

static void close_streams(void)
{
    struct stream_left left = { .n = 0 }, staged;

    stream_is_open = false;
    stream_watch_close();
    gtl_halt();
    stream_wait_close();
    left.n = await_halt();
    stream_wait_drop();
    stream_agent_close();
    drop_all(&left);
    staged = stream_batch_drop_all();
    stream_left_tell(&left, "operation was enqueued that its stream has not "
                     "reached", "operations were enqueued that their streams "
                     "have not reached", "; synchronise streams before, and of "
                     "messages start both ends");
    stream_left_tell(&staged, "operation was put into a queue that no start "
                     "followed", "operations were put into queues that no "
                     "start followed", "");
    chan_close_gates();
    mail_close();
    stream_reach_close();
}

void stream_close(void)
{
    if (stream_is_open)
        close_streams();
    stream_stats_tell();
}
