/* SPDX-License-Identifier: BSD-3-Clause */
/* The op rings: one for each stream that has operations for the NIC or the
 * host, and one for each queue of the program.
 *
 * One thread at a time posts, and the holder of a ring's lock steps it: the
 * progress thread, or the stream's own thread on the software device.  The
 * operations lie in chunks, of which there are as many as were needed at a
 * time, so an enqueue never waits for room.  A ring belongs to the stream's
 * number, which no other stream ever has.  When the stream is destroyed, or
 * its handle comes back with another number, the ring is retired, and the
 * progress thread frees it once it is empty.  The handle in a ring is never
 * given to a GPU's driver, for its stream may be gone.
 *
 * The layer's lock is for the list and the table alone: no thread holds it for
 * longer than it takes to follow some pointers, so a call on one stream never
 * waits for a transfer of another one.  A ring that is locked stays in the
 * list.  Called by stream_op.c, by queues, by graphs and by the progress
 * thread; nothing here waits for the network but a ring's end. */
#include "stream/ring/stream_ring.h"
#include "base/fault.h"
#include "base/lock.h"
#include "gtl/gtl_default_stream.h"
#include "stream/queue/stream_queue.h"
#include "stream/stream_upper.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BUCKET_BITS = 10, BUCKETS = 1 << BUCKET_BITS,
       STEPS = 32,              /* of a queue before the next one's turn */
       SLEEPS = 100,              /* until one is freed */
       MOST_SWEPT = 64 };       /* of streams that may be there */
#define UNKNOWN UINT64_MAX      /* of a stream that records a graph */

static struct base_lock lock = LOCK_INIT;
static struct list_link queues GUARDED_BY(lock) = LIST_INIT(queues);
/* Those that belong to a stream, by its handle; none that is gone. */
static struct stream_ring *table[BUCKETS] GUARDED_BY(lock);
/* Of an opening that is over: streams of the software device may still come to
 * what is posted there. */
static struct list_link abandoned GUARDED_BY(lock) = LIST_INIT(abandoned);
/* The thread's last ones, as long as no queue of a stream has gone meanwhile:
 * drivers that do not number streams give a number again with the handle. */
enum { LAST = 8 };
struct last {
    uint64_t id, generation;
    struct stream_ring *queue;
};
static __thread struct last recent[LAST]
    __attribute__((tls_model("initial-exec")));
static bool queued;             /* atomic: a queue has been made */
static uint64_t generation = 1;  /* atomic: another one when a queue has gone */
/* What a start has left of its queue to the wait behind it, on the thread of a
 * stream; if no queue was freed since. */
static __thread struct {
    struct stream_ring *queue;
    uint64_t freed;
} deferred __attribute__((tls_model("initial-exec")));
static uint64_t freed GUARDED_BY(lock);

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

static struct stream_ring **bucket_of(const void *handle) REQUIRES(lock)
{
    return &table[mix((uintptr_t)handle) >> (64 - BUCKET_BITS)];
}

static void next_generation(void)
{
    __atomic_fetch_add(&generation, 1, __ATOMIC_RELAXED);
}

/* The thread that holds the lock releases it soon. */
static void lock_ring(struct stream_ring *q)
{
    while (!stream_ring_trylock(q))
        sched_yield();
}

/* ---- queues ---- */

static bool host_empty(const struct stream_ring *q)
{
    return __atomic_load_n(&q->completed, __ATOMIC_ACQUIRE) ==
           __atomic_load_n(&q->posted, __ATOMIC_RELAXED);
}

static bool empty(const struct stream_ring *q)
{
    return host_empty(q) && stream_nic_idle(&q->nic) &&
           !__atomic_load_n(&q->n_tasks, __ATOMIC_ACQUIRE);
}

static void close_flow(struct stream_ring *q)
{
    stream_nic_close(&q->nic);
    if (q->ctx.flow) {
        xport_net->quiet(q->ctx.flow);
        xport_net->ep_close(q->ctx.flow);
        q->ctx.flow = NULL;
    }
    stream_errors_take_ring(NULL, &q->failed);
}

static void free_memory(struct stream_ring *q)
{
    struct stream_ring_chunk *c = q->in, *next;

    do {
        next = c->next;
        free(c);
        c = next;
    } while (c != q->in);
    free(q->bounce);
    free(q);
}

/* It is in no table; no stream waits for what it may have under way. */
static void queue_free(struct stream_ring *q)
{
    lock_ring(q);
    lock_acquire(&lock);
    list_remove(&q->link);
    freed++;
    lock_release(&lock);
    stream_stats_ring_destroyed(q);
    close_flow(q);
    stream_counters_free(q->counters);
    free_memory(q);
}

/* ---- the table ---- */

/* The queue of a handle, whatever its stream's number; of a handle that means
 * another stream in each thread, that thread's. */
static struct stream_ring **find(const void *handle, uint64_t owner)
    REQUIRES(lock)
{
    struct stream_ring **at = bucket_of(handle);

    while (*at && ((*at)->handle != handle || (*at)->owner != owner))
        at = &(*at)->same;
    return at;
}

/* Its stream is no more: the progress thread frees it when it is empty. */
static void retire(struct stream_ring **at) REQUIRES(lock)
{
    struct stream_ring *q = *at;

    *at = q->same;
    next_generation();
    __atomic_store_n(&q->gone, true, __ATOMIC_RELEASE);
}

/* That stream's, or NULL; another one's, whose handle this was, is gone. */
static struct stream_ring *find_live(void *handle, uint64_t id, bool *retires)
    REQUIRES(lock)
{
    struct stream_ring **at = find(handle, gtl_stream_owner(handle));

    if (*at && (*at)->id != id) {
        retire(at);
        *retires = true;
        return NULL;
    }
    return *at;
}

static void forget(const void *stream, uint64_t owner)
{
    struct list_link *l, *next;
    struct stream_ring **at;
    bool is;

    lock_acquire(&lock);
    at = find(stream, owner);
    is = *at != NULL;
    if (is)
        retire(at);
    list_each(l, next, &queues) {
        struct stream_ring *q = list_entry(l, struct stream_ring, link);

        if (q->for_queue && q->handle == stream && q->owner == owner)
            __atomic_store_n(&q->stream_destroyed_here, true, __ATOMIC_RELAXED);
    }
    lock_release(&lock);
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

/* By who holds it. */
static bool is_over(const struct stream_ring *q)
{
    return __atomic_load_n(&q->gone, __ATOMIC_ACQUIRE) && empty(q) &&
           stream_ring_net_idle(q);
}


/* ---- passes over all ---- */

/* The first queue behind q, or of all, that no thread held, and that the
 * caller holds now; q is released.  *skips: some were held. */
static struct stream_ring *next_locked(struct stream_ring *q, bool *skips)
{
    struct stream_ring *next = NULL;
    struct list_link *l;

    lock_acquire(&lock);
    for (l = q ? q->link.next : queues.next; l != &queues && !next;
         l = l->next) {
        next = list_entry(l, struct stream_ring, link);
        if (!stream_ring_trylock(next)) {
            next = NULL;
            *skips = true;
        }
    }
    if (q)
        stream_ring_unlock(q);
    lock_release(&lock);
    return next;
}

/* Not so many that others wait long. */
static bool step_some(struct stream_ring *q, bool *posted, bool *busy)
{
    bool any = false;

    for (int i = 0; i < STEPS && stream_ring_step(q, posted, busy); i++) {
        any = true;
        if (q->part.copied)
            break;
    }
    return any;
}

static bool advance(struct stream_ring *q, bool *posted, bool *busy)
{
    bool nic = false, any = stream_nic_forward(q, &nic);

    any |= step_some(q, posted, busy);
    any |= stream_tasks_progress(q);
    if (nic || q->n_tasks || !stream_ring_net_idle(q))
        *busy = true;
    if (nic)
        xport_trig->progress();
    return any;
}

bool stream_ring_has_deferred(void)
{
    return deferred.queue != NULL;
}

void stream_ring_defer(struct stream_ring *q)
{
    lock_acquire(&lock);
    deferred.queue = q;
    deferred.freed = freed;
    lock_release(&lock);
}

/* NULL: another thread has it, or may have freed it.  If it was another queue
 * that was freed, this one is the progress thread's now. */
static struct stream_ring *trylock_deferred(void)
{
    struct stream_ring *q = NULL;
    bool any_freed;

    lock_acquire(&lock);
    any_freed = deferred.freed != freed;
    if (any_freed)
        deferred.queue = NULL;
    else if (deferred.queue && stream_ring_trylock(deferred.queue))
        q = deferred.queue;
    lock_release(&lock);
    if (any_freed)
        stream_progress_wake();
    return q;
}

bool stream_ring_progress_deferred(void)
{
    bool posted = false, busy = false, any = false;
    struct stream_ring *q = trylock_deferred();

    if (!q)
        return false;
    any = step_some(q, &posted, &busy);
    any |= stream_tasks_progress(q);
    if (q->completed >= q->counters->trigger && !q->n_tasks)
        deferred.queue = NULL;
    stream_ring_unlock(q);
    return any;
}

bool stream_rings_progress(bool *posted, bool *busy)
{
    bool any = false, skips = false;
    struct stream_ring *q, *gone = NULL;

    *busy |= stream_upper()->poll();
    *busy |= stream_nic_triggers_busy();
    for (q = next_locked(NULL, &skips); q; q = next_locked(q, &skips)) {
        if (gone)
            queue_free(gone);
        any |= advance(q, posted, busy);
        /* It deferred the list when there is a next one to go on from. */
        gone = is_over(q) ? q : NULL;
    }
    if (gone)
        queue_free(gone);
    /* Who holds it rings if it needs to, but not for the NIC's. */
    *busy |= skips && xport_trig != &xport_trig_none;
    return any;
}

/* A test has it take long. */
static void delay_visit(void)
{
    const struct timespec delay = { 0, 50000000 };

    if (fault_hit(FAULT_STREAM_POLL))
        nanosleep(&delay, NULL);
}

bool stream_rings_visit_heads(stream_ring_visitor *visit)
{
    const struct stream_op *op;
    bool skips = false, held = false;
    struct stream_ring *q;

    for (q = next_locked(NULL, &skips); q; q = next_locked(q, &skips)) {
        op = q->begun ? stream_ring_head(q) : NULL;
        if (op)
            visit(q, op);
        delay_visit();
        held = true;
    }
    /* The progress thread may have skipped a ring that was locked here. */
    if (held)
        stream_progress_wake();
    return !skips;
}

bool stream_ring_transfer_due(struct stream_ring *q)
{
    const struct stream_op *op = stream_ring_head(q);

    return op && op->kind < STREAM_FENCE &&
           __atomic_load_n(&q->counters->trigger, __ATOMIC_ACQUIRE) >= op->seq;
}

bool stream_rings_transfer_due(void)
{
    struct stream_ring *q;
    bool owe = false;

    for (q = next_locked(NULL, &owe); q; q = next_locked(q, &owe))
        owe |= stream_ring_transfer_due(q);
    if (owe)
        stream_progress_wake(); /* it may have forwarded one by that was held */
    return owe;
}

uint64_t stream_posted_ops(void)
{
    struct list_link *l, *next;
    uint64_t n = 0;

    lock_acquire(&lock);
    list_each(l, next, &queues) n += __atomic_load_n(
        &list_entry(l, struct stream_ring, link)->posted, __ATOMIC_RELAXED);
    lock_release(&lock);
    return n;
}

/* ---- queues ---- */

bool stream_ring_stream_destroyed(const struct stream_ring *q)
{
    return __atomic_load_n(&q->stream_destroyed_here, __ATOMIC_RELAXED);
}

/* The handle of a stream that is gone is nothing that a driver could be asked
 * about, but for ours.  So an empty queue goes, also of a stream that is there:
 * another one is made when it needs one.  With several threads one of them may
 * be about to use it. */
static bool may_retire(struct stream_ring *q)
{
    uint64_t id = q->id;

    if (q->for_queue || q->kept ||
        __atomic_load_n(&q->gone, __ATOMIC_RELAXED) || !empty(q))
        return false;
    if (gtl_device.host_streams)
        return id != UNKNOWN &&
               (gtl->stream_check(q->handle, &id) == -EINVAL || id != q->id);
    return core_status.thread_level < SHMEM_THREAD_MULTIPLE &&
           stream_ring_net_idle(q) && !stream_errors_unreported(&q->failed);
}

/* Once places run out: some, oldest first. */
static void sweep(void)
{
    struct stream_ring *q;
    bool skips = false;
    int n = 0;

    for (q = next_locked(NULL, &skips); q; q = next_locked(q, &skips)) {
        if (n == MOST_SWEPT || !may_retire(q))
            continue;
        lock_acquire(&lock);
        if (*find(q->handle, q->owner) == q) {
            retire(find(q->handle, q->owner));
            n += !gtl_device.host_streams;
        }
        lock_release(&lock);
    }
    stream_progress_wake();
}

/* The progress thread may be about to free some. */
static int alloc_counters(struct stream_counters **out)
{
    const struct timespec delay = { 0, 100000 };
    int rc;

    rc = stream_counters_alloc(out);
    if (rc != -ENOSPC)
        return rc;
    sweep();
    for (int i = 0; i < SLEEPS && rc == -ENOSPC; i++) {
        nanosleep(&delay, NULL);
        rc = stream_counters_alloc(out);
    }
    return rc;
}

struct stream_ring_chunk *stream_ring_chunk_new(void)
{
    struct stream_ring_chunk *c = malloc(sizeof *c);

    if (c)
        c->end = 0;
    return c;
}

static int queue_new(void *handle, uint64_t id, struct stream_ring **out)
{
    struct stream_counters *place;
    struct stream_ring *q;
    struct stream_ring_chunk *c;
    int rc = alloc_counters(&place);

    if (rc)
        return rc;
    q = aligned_alloc(64, sizeof *q);
    c = stream_ring_chunk_new();
    if (!q || !c) {
        rc = -ENOMEM;
        goto free_both;
    }
    *q = (struct stream_ring){
        .handle = handle, .id = id, .owner = gtl_stream_owner(handle),
        .ctx.team = &core_world, .in = c, .out = c, .counters = place
    };
    c->next = c;
    q->last_task = &q->tasks;
    /* A stream may still look at what these words were raised to for the
     * queue before, so they go on from there. */
    q->posted = q->completed = q->triggered =
        q->counters->trigger > q->counters->completed ? q->counters->trigger
                                                      : q->counters->completed;
    rc = xport_net ? xport_net->ep_open(&q->ctx.flow, false) : 0;
    if (rc)
        goto free_both;
    stream_errors_init(&q->failed, handle, q->ctx.flow);
    stream_stats_ring_created(q);
    *out = q;
    return 0;
free_both:
    free(c);
    free(q);
    stream_counters_free(place);
    return rc;
}

static void enlist(struct stream_ring *q) REQUIRES(lock)
{
    list_append(&queues, &q->link);
    __atomic_store_n(&queued, true, __ATOMIC_RELAXED);
}

int stream_ring_create(void *stream, uint64_t id, struct stream_ring **out)
{
    struct stream_ring *q;
    int rc = watch_owner(gtl_stream_owner(stream));

    rc = rc ? rc : queue_new(stream, id, &q);
    if (rc)
        return rc;
    q->for_queue = true;
    lock_acquire(&lock);
    enlist(q);
    lock_release(&lock);
    *out = q;
    return stream_progress_start();
}

bool stream_ring_empty(const struct stream_ring *q)
{
    return empty(q);
}

void stream_ring_keep(struct stream_ring *q)
{
    q->kept = true;
}

void stream_ring_await_messages(const struct stream_ring *q)
{
    while (__atomic_load_n(&q->n_tasks, __ATOMIC_ACQUIRE))
        sched_yield();
}

void stream_ring_cancel(struct stream_ring *q)
{
    lock_ring(q);
    __atomic_store_n(&q->posted, q->triggered, __ATOMIC_RELEASE);
    stream_ring_unlock(q);
    stream_progress_wake();        /* it may have forwarded this one by */
    __atomic_store_n(&q->nic.posted, q->nic.released, __ATOMIC_RELEASE);
}

void stream_ring_destroy(struct stream_ring *q)
{
    if (stream_is_open)         /* else it went with all others */
        queue_free(q);
}

/* Another thread may have made one meanwhile. */
static void add(struct stream_ring **out) REQUIRES(lock)
{
    struct stream_ring *q = *out, **at = find(q->handle, q->owner);

    if (*at && (*at)->id == q->id) {
        *out = *at;
        return;
    }
    q->same = *bucket_of(q->handle);
    *bucket_of(q->handle) = q;
    enlist(q);
}

static void discard(struct stream_ring *q)
{
    stream_stats_ring_destroyed(q);
    close_flow(q);
    stream_counters_free(q->counters);
    free_memory(q);
}

static int make(void *handle, uint64_t id, struct stream_ring **out)
{
    struct stream_ring *mine;
    int rc = queue_new(handle, id, &mine);

    if (rc)
        return rc;
    *out = mine;
    lock_acquire(&lock);
    add(out);
    lock_release(&lock);
    if (*out != mine)
        discard(mine);
    return 0;
}

static int queue_of(void *handle, uint64_t id, struct stream_ring **out)
{
    struct last *l = recent_of(id);
    struct stream_ring *q;
    bool retires = false;
    uint64_t now;
    int rc = 0;

    lock_acquire(&lock);
    q = find_live(handle, id, &retires);
    now = __atomic_load_n(&generation, __ATOMIC_RELAXED);
    lock_release(&lock);
    if (retires)
        stream_progress_wake();
    if (!q)
        rc = watch_owner(gtl_stream_owner(handle));
    if (!rc && !q)
        rc = make(handle, id, &q);
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
    return rc == -ENOSPC ? "4096 queues and streams with queues are in use"
           : rc == -EINVAL || rc == -ENODEV ? gtl_error() : strerror(-rc);
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
        *out = l->queue;
        return 0;
    }
    rc = queue_of(w->stream, id, out);
    return rc ? stream_ring_refuse(w, rc) : 0;
}

/* Of a queue's ring only what its stream releases will complete: the rest of a
 * start that failed in the middle never does. */
static bool holds(const struct stream_ring *q)
{
    return q->for_queue
               ? __atomic_load_n(&q->completed, __ATOMIC_ACQUIRE) < q->triggered
               : !host_empty(q);
}

/* *nic: that of one has more to do, if the stream has. */
static bool any_holds(const void *stream, uint64_t id, bool *nic)
{
    struct list_link *l, *next;
    bool is = false;

    lock_acquire(&lock);
    list_each(l, next, &queues) {
        const struct stream_ring *q = list_entry(l, struct stream_ring, link);

        if (q->id != id && (q->id != UNKNOWN || q->handle != stream))
            continue;
        is |= holds(q);
        *nic |= !stream_nic_idle(&q->nic);
    }
    lock_release(&lock);
    return is;
}

bool stream_pending(void *stream)
{
    bool is = gtl->owes_ops(stream), nic = false;
    uint64_t id;

    if (is || gtl->stream_check(stream, &id))
        return is;
    return any_holds(stream, id, &nic) ||
           (nic && gtl->stream_query(stream) == -EAGAIN);
}

bool stream_has_ring(void *stream)
{
    struct stream_ring **at;
    uint64_t id;
    bool is;
    int rc;

    if (!__atomic_load_n(&queued, __ATOMIC_RELAXED))
        return false;
    rc = gtl->stream_check(stream, &id);
    if (rc && rc != -EBUSY)
        return true;            /* the enqueue reports it */
    if (is_recent(recent_of(id), id))
        return true;
    lock_acquire(&lock);
    at = find(stream, gtl_stream_owner(stream));
    is = *at && (*at)->id == id;
    lock_release(&lock);
    return is;
}

/* Those that only wait for operations of the NIC's. */
static uint64_t count_behind(const struct stream_ring *q)
{
    const struct stream_ring_chunk *c = q->out;
    unsigned at = q->out_at;
    uint64_t n = 0;

    for (uint64_t k = q->completed; k < q->posted; k++) {
        if (at == STREAM_CHUNK_OPS) {
            c = c->next;
            at = 0;
        }
        n += c->ops[at].kind == STREAM_QUIET && c->ops[at].for_nic;
        at++;
    }
    return n;
}

/* By who holds it. */
static void count_left(struct stream_ring *q, struct stream_unfinished *l)
{
    const struct stream_op *op = stream_ring_head(q);
    uint64_t nic = stream_nic_outstanding(&q->nic);

    l->n += q->posted - q->completed - count_behind(q) + nic + q->n_tasks;
    if (q->tasks)
        stream_unfinished_add_task(l, q->tasks, q->tasks->call);
    if (op)
        stream_unfinished_add(l, op);
    if (nic)
        stream_unfinished_add_call(l, q->nic.call, q->nic.pe);
}

/* Streams of the software device may still come to what is posted there. */
static void abandon(struct stream_ring *q, struct stream_unfinished *left)
{
    lock_ring(q);
    count_left(q, left);
    /* No GPU waits for what never comes; the software device drops what is
     * behind a wait. */
    if (!gtl_device.host_streams)
        __atomic_store_n(&q->counters->completed, q->posted, __ATOMIC_RELEASE);
    stream_stats_ring_destroyed(q);
    close_flow(q);
    lock_acquire(&lock);
    list_remove(&q->link);
    list_append(&abandoned, &q->link);
    lock_release(&lock);
}

static struct stream_ring *any_queue(void)
{
    struct stream_ring *q = NULL;

    lock_acquire(&lock);
    if (!list_empty(&queues))
        q = list_entry(queues.next, struct stream_ring, link);
    lock_release(&lock);
    return q;
}

void stream_rings_close(struct stream_unfinished *left)
{
    struct stream_ring *q;

    lock_acquire(&lock);
    memset(table, 0, sizeof table);
    lock_release(&lock);
    while ((q = any_queue())) {
        if (empty(q))
            queue_free(q);
        else
            abandon(q, left);
    }
    __atomic_store_n(&queued, false, __ATOMIC_RELAXED);
    next_generation();
}

/* ---- for files that know no ring from inside ---- */

struct stream_counters *stream_ring_counters(struct stream_ring *q)
{
    return q->counters;
}

struct stream_nic *stream_ring_nic(struct stream_ring *q)
{
    return &q->nic;
}

struct stream_errors *stream_ring_errors(struct stream_ring *q)
{
    return &q->failed;
}
