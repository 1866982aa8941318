/* SPDX-License-Identifier: BSD-3-Clause */
/* soft_stream.c - streams of the software device: their threads, the ring by
 * which commands get to them, and the table of all streams.  soft_ops.c fills
 * the ring and soft_run.c does what is in it. */
#include "gtl/soft/soft_stream.h"
#include "gtl/soft/soft_graph.h"
#include "base/clock.h"
#include "base/futex.h"
#include "base/lock.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>

static struct base_lock lock = LOCK_INIT;
struct gtl_soft_stream *gtl_soft_streams[GTL_SOFT_STREAMS];
static unsigned n_streams GUARDED_BY(lock);
static struct gtl_soft_stream *unused GUARDED_BY(lock);
static uint64_t n_made GUARDED_BY(lock);
static bool is_forked_child;             /* a child that fork() made */

/* ---- the thread's side ---- */

/* Waits for a command; false: the device closes.  The futex stands alone here,
 * since the signal of an event count is a locked instruction, and an enqueue
 * has none: gtl_soft_heavy_fence() orders both sides. */
static bool wait_for_work(struct gtl_soft_stream *s)
{
    uint64_t start = clock_ns();
    bool more;

    for (;;) {
        more = __atomic_load_n(&s->tail, __ATOMIC_ACQUIRE) != s->done;
        if (more || __atomic_load_n(&gtl_soft_closing, __ATOMIC_ACQUIRE))
            break;
        if (gtl_soft_backoff(start))
            continue;
        __atomic_store_n(&s->sleeps, 1, __ATOMIC_RELAXED);
        gtl_soft_heavy_fence();
        if (__atomic_load_n(&s->tail, __ATOMIC_ACQUIRE) == s->done &&
            !__atomic_load_n(&gtl_soft_closing, __ATOMIC_ACQUIRE))
            futex_wait(&s->sleeps, 1, 0, FUTEX_OF_PROCESS);
        __atomic_store_n(&s->sleeps, 0, __ATOMIC_RELAXED);
    }
    return more;
}

static const struct gtl_soft_command *next_command(struct gtl_soft_stream *s)
{
    if (s->out_at == CHUNK) {
        s->out = s->out->next;
        s->out_at = 0;
    }
    return &s->out->commands[s->out_at++];
}

/* Publishes the count. */
static void finish(struct gtl_soft_stream *s, uint64_t done)
{
    __atomic_store_n(&s->done, done, __ATOMIC_RELEASE);
    atomics_full_fence();       /* a thread that begins to wait later sees it */
    if (unlikely(s->done >= __atomic_load_n(&s->sync_at, __ATOMIC_RELAXED))) {
        __atomic_store_n(&s->sync_at, UINT64_MAX, __ATOMIC_RELAXED);
        __atomic_fetch_add(&s->beat, 1, __ATOMIC_RELEASE);
        futex_wake_all(&s->beat, FUTEX_OF_PROCESS);
    }
    gtl_soft_check_waits_if_any();
}

/* A destroyed stream has done its work.  Two chunks stay for the next. */
static void release_stream(struct gtl_soft_stream *s)
{
    struct chunk *c;

    while ((c = s->out->next->next) != s->out) {
        s->out->next->next = c->next;
        free(c);
    }
    lock_acquire(&lock);
    s->next_free = unused;
    unused = s;
    lock_release(&lock);
}

static bool is_stopping(const struct gtl_soft_stream *s)
{
    return unlikely(__atomic_load_n(&gtl_soft_stopping, __ATOMIC_ACQUIRE)) &&
           !s->own;
}

/* This command, and with it all that follow, are not done. */
static void cancel(const struct gtl_soft_command *c, struct gtl_soft_stream *s)
{
    if (!s->cancelled)
        s->ops_kept = c->ops;
    s->cancelled = true;
    s->kernels_dropped += c->kind == SOFT_LAUNCH;
}

/* Of the stream, or of the launch of a graph, also of what is dropped; at: the
 * commands before.  The next user of a stream finds that it has none left. */
static void end_marker(const struct gtl_soft_command *c,
                       struct gtl_soft_stream *s, uint64_t at)
{
    if (c->kind != SOFT_END) {
        gtl_soft_graph_ended(c->arg);
        return;
    }
    finish(s, at + 1);
    release_stream(s);
}

/* The thread's stream, and how many of its commands were begun. */
static __thread struct {
    struct gtl_soft_stream *s;
    uint64_t begun;
} this_thread;

bool gtl_soft_calls_next(void (*fn)(void *arg))
{
    struct gtl_soft_stream *s = this_thread.s;
    const struct gtl_soft_command *c;

    if (!s || __atomic_load_n(&s->tail, __ATOMIC_ACQUIRE) == this_thread.begun)
        return false;
    c = s->out_at == CHUNK ? &s->out->next->commands[0]
                           : &s->out->commands[s->out_at];
    return c->kind == SOFT_CALL && c->fn == fn;
}

static void *run(void *arg)
{
    struct gtl_soft_stream *s = arg;
    const struct gtl_soft_command *c;
    uint64_t tail, at = s->done;

    this_thread.s = s;
    prctl(PR_SET_NAME, "sluice-stream", 0, 0, 0);
    prctl(PR_SET_TIMERSLACK, 1000, 0, 0, 0);
    while (wait_for_work(s)) {
        tail = __atomic_load_n(&s->tail, __ATOMIC_ACQUIRE);
        while (at != tail) {
            c = next_command(s);
            this_thread.begun = at + 1;
            if (unlikely(c->kind >= SOFT_END))
                end_marker(c, s, at);
            else if (unlikely(s->cancelled) || is_stopping(s) ||
                     !gtl_soft_run(c, s))
                cancel(c, s);
            if (++at == tail || !c->more)
                finish(s, at);
        }
    }
    return NULL;
}

/* ---- the caller's side ---- */

struct chunk *gtl_soft_chunk(void)
{
    struct chunk *c = aligned_alloc(64, sizeof *c);

    if (c)
        c->end = 0;
    else
        gtl_fail(-ENOMEM, "commands of a stream", "out of memory", ENOMEM);
    return c;
}

int gtl_soft_stream_start(struct gtl_soft_stream *s)
{
    struct chunk *a, *b;
    int rc;

    if (s->runs)
        return 0;
    a = gtl_soft_chunk();
    b = gtl_soft_chunk();
    rc = a && b ? 0 : -ENOMEM;
    if (rc)
        goto free_both;
    a->next = b;
    b->next = a;
    s->in = s->out = a;
    s->in_at = s->out_at = 0;
    s->sleeps = 0;
    s->sync_at = UINT64_MAX;
    s->cancelled = false;
    s->kernels_dropped = 0;
    s->share = (struct gtl_soft_resident_share){ 0 };
    rc = gtl_soft_thread(&s->thread, run, s);
    if (rc)
        goto free_both;
    s->runs = s->plain = true;
    return 0;
free_both:
    free(a);
    free(b);
    return rc;
}

/* The next chunk of the ring, if the thread has left it: it is past its end.
 * Else a new one. */
static int grow(struct gtl_soft_stream *s)
{
    struct chunk *c = s->in->next;

    s->in->end = s->filled;
    if (__atomic_load_n(&s->done, __ATOMIC_ACQUIRE) <= c->end) {
        c = gtl_soft_chunk();
        if (!c)
            return -ENOMEM;
        c->next = s->in->next;
        s->in->next = c;
    }
    s->in = c;
    s->in_at = 0;
    return 0;
}

int gtl_soft_fail_handle(void)
{
    return is_forked_child ? gtl_fail(-ENODEV, "software device",
                             "a forked child has no streams", 0)
                  : gtl_fail(-EINVAL, "software device",
                             "not a stream, or already destroyed", 0);
}

static void publish(struct gtl_soft_stream *s)
{
    if (s->tail == s->filled)
        return;
    __atomic_store_n(&s->tail, s->filled, __ATOMIC_RELEASE);
    gtl_soft_light_fence();     /* it sees the command, or we see it sleep */
    if (unlikely(__atomic_load_n(&s->sleeps, __ATOMIC_RELAXED))) {
        __atomic_store_n(&s->sleeps, 0, __ATOMIC_RELAXED);
        futex_wake_all(&s->sleeps, FUTEX_OF_PROCESS);
    }
}

int gtl_soft_begin(void *handle, struct gtl_soft_stream **out,
                   struct gtl_soft_command **command)
{
    struct gtl_soft_stream *s = gtl_soft_find(handle);
    int rc = 0;

    if (unlikely(!s))
        return gtl_soft_fail_handle();
    if (unlikely(!s->plain))
        rc = s->graph ? gtl_soft_graph_next_chunk(s, &s)
                      : gtl_soft_stream_start(s);
    else if (unlikely(s->in_at == CHUNK))
        rc = grow(s);
    if (unlikely(rc)) {
        publish(s);           /* of a command that wanted more */
        return rc;
    }
    *out = s;
    *command = &s->in->commands[s->in_at];
    (*command)->ops = s->ops;
    (*command)->more = (*command)->joined = false;
    return 0;
}

void gtl_soft_commit(struct gtl_soft_stream *s)
{
    bool more = s->in->commands[s->in_at++].more;

    s->filled++;
    if (!more)
        publish(s);
}

/* Chunks that it has put into the ring stay there. */
int gtl_soft_enqueue(struct gtl_soft_stream *s, uint64_t n,
                     void (*next)(struct gtl_soft_command *out, void *arg),
                     void *arg)
{
    struct chunk *in = s->in;
    unsigned in_at = s->in_at;
    int rc = 0;

    for (uint64_t i = 0; i < n && !rc; i++) {
        if (s->in_at == CHUNK)
            rc = grow(s);
        if (!rc) {
            next(&s->in->commands[s->in_at++], arg);
            s->filled++;
        }
    }
    if (rc) {
        s->in = in;
        s->in_at = in_at;
        s->filled = s->tail;
    }
    publish(s);
    return rc;
}

void *gtl_soft_scratch(struct gtl_soft_stream *s)
{
    void *p;

    if (s->scratch)
        return s->scratch;
    p = mmap(NULL, GTL_SOFT_SCRATCH, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p != MAP_FAILED)
        s->scratch = p;
    return s->scratch;
}

int gtl_soft_launch_ready(struct gtl_soft_stream *s,
                          const struct shmemx_grid *g, uint64_t resident,
                          void **scratch)
{
    *scratch = g->scratch ? gtl_soft_scratch(s) : NULL;
    if (g->scratch && !*scratch)
        return gtl_fail(-ENOMEM, "launch", "no memory for scratch", ENOMEM);
    if (g->groups > 1)
        gtl_soft_grid_open();
    return resident ? gtl_soft_grid_reserve(&s->share, gtl_soft_residents(g),
                                            resident) : 0;
}

/* ---- streams as such ---- */

static int stream_new(struct gtl_soft_stream **out) REQUIRES(lock)
{
    struct gtl_soft_stream *s;

    if (n_streams == GTL_SOFT_STREAMS)
        return gtl_fail(-ENOSPC, "stream_create", "4095 streams are in use",
                        ENOSPC);
    s = aligned_alloc(64, sizeof *s);
    if (!s)
        return gtl_fail(-ENOMEM, "stream_create", "out of memory", ENOMEM);
    *s = (struct gtl_soft_stream){ .place = n_streams };
    __atomic_store_n(&gtl_soft_streams[n_streams++], s, __ATOMIC_RELEASE);
    *out = s;
    return 0;
}

static void assign_id(struct gtl_soft_stream *s) REQUIRES(lock)
{
    __atomic_store_n(&s->handle, ++n_made * GTL_SOFT_STREAMS + s->place,
                     __ATOMIC_RELEASE);
}

int gtl_soft_stream_open(void)
{
    struct gtl_soft_stream *s = gtl_soft_streams[0];
    int rc = 0;

    lock_acquire(&lock);
    gtl_soft_closing = gtl_soft_stopping = false;
    is_forked_child = false;
    gtl_soft_fence_open();
    if (!s)
        rc = stream_new(&s);
    if (!rc)
        assign_id(s);
    lock_release(&lock);
    return rc;
}

static void free_chunks(struct gtl_soft_stream *s)
{
    struct chunk *c = s->in, *next;

    do {
        next = c->next;
        free(c);
        c = next;
    } while (c != s->in);
    s->in = s->out = NULL;
    s->runs = s->plain = false;
    if (s->scratch)
        munmap(s->scratch, GTL_SOFT_SCRATCH);
    s->scratch = NULL;
}

/* Closes all streams.  Commands that wait for nothing still run.  No call uses
 * the device any more, but threads of streams may retire them. */
void gtl_soft_stream_close(void)
{
    unsigned n, i;

    lock_acquire(&lock);
    n = n_streams;
    for (i = 0; i < n; i++)
        __atomic_store_n(&gtl_soft_streams[i]->handle, 0, __ATOMIC_RELEASE);
    lock_release(&lock);
    __atomic_store_n(&gtl_soft_closing, true, __ATOMIC_RELEASE);
    atomics_full_fence();
    gtl_soft_check_waits();
    for (i = 0; i < n; i++) {
        struct gtl_soft_stream *s = gtl_soft_streams[i];

        if (gtl_soft_graph_of(s))
            gtl_soft_graph_invalidate(s);
        if (!s->runs)
            continue;
        __atomic_store_n(&s->sleeps, 0, __ATOMIC_RELAXED);
        futex_wake_all(&s->sleeps, FUTEX_OF_PROCESS);
        pthread_join(s->thread, NULL);
        free_chunks(s);
    }
    lock_acquire(&lock);
    unused = NULL;
    for (i = n; i-- > 1; ) {
        gtl_soft_streams[i]->next_free = unused;
        unused = gtl_soft_streams[i];
    }
    lock_release(&lock);
}

/* The child has the tables but no threads.  Their work is not done there; their
 * chunks, half used, are left. */
void gtl_soft_stream_fork(enum gtl_soft_fork when)
    LOCK_ATTR(no_thread_safety_analysis)
{
    if (when == SOFT_FORK_BEFORE) {
        lock_acquire(&lock);
        return;
    }
    for (unsigned i = 0; when == SOFT_FORK_CHILD && i < n_streams; i++) {
        struct gtl_soft_stream *s = gtl_soft_streams[i];

        is_forked_child = true;
        s->handle = 0;
        s->runs = s->plain = false;
        s->graph = NULL;
        s->done = s->tail;
    }
    lock_release(&lock);
}

int gtl_soft_stream_create(enum gtl_priority priority, void **out)
{
    struct gtl_soft_stream *s;
    int rc = 0;

    if (is_forked_child)
        return gtl_soft_fail_handle();
    lock_acquire(&lock);
    s = unused;
    if (s)
        unused = s->next_free;
    else
        rc = stream_new(&s);
    if (!rc) {
        s->own = priority == GTL_URGENT;        /* the library's are */
        assign_id(s);
        *out = (void *)s->handle;
    }
    lock_release(&lock);
    return rc;
}

void gtl_soft_stream_destroy(void *handle)
{
    struct gtl_soft_stream *s = gtl_soft_find(handle);
    struct gtl_soft_command *c;

    if (!handle || !s)
        return;
    if (gtl_soft_graph_of(s))
        gtl_soft_graph_invalidate(s);
    if (!s->runs) {
        lock_acquire(&lock);
        __atomic_store_n(&s->handle, 0, __ATOMIC_RELEASE);
        s->next_free = unused;
        unused = s;
        lock_release(&lock);
        return;
    }
    if (gtl_soft_begin(handle, &s, &c))
        return;                 /* out of memory: it is there until close */
    c->kind = SOFT_END;
    __atomic_store_n(&s->handle, 0, __ATOMIC_RELEASE);
    gtl_soft_commit(s);
}

int gtl_soft_stream_check(void *handle, uint64_t *id)
{
    struct gtl_soft_stream *s = gtl_soft_find(handle);

    if (!s)
        return gtl_soft_fail_handle();
    *id = __atomic_load_n(&s->handle, __ATOMIC_RELAXED);
    return gtl_soft_graph_of(s) ? gtl_soft_fail_capturing("stream_check") : 0;
}

void gtl_soft_stop_streams(void)
{
    __atomic_store_n(&gtl_soft_stopping, true, __ATOMIC_RELEASE);
    atomics_full_fence();
    gtl_soft_check_waits();
}

bool gtl_soft_streams_stopped(uint64_t *ops)
{
    uint64_t n = 0;
    bool all = true;

    lock_acquire(&lock);
    for (unsigned i = 0; i < n_streams && all; i++) {
        struct gtl_soft_stream *s = gtl_soft_streams[i];

        if (s->own || !s->runs)
            continue;
        all = gtl_soft_reached(s, __atomic_load_n(&s->tail, __ATOMIC_ACQUIRE));
        n += all && s->cancelled ? s->ops - s->ops_kept + s->kernels_dropped
                                 : 0;
    }
    lock_release(&lock);
    *ops = n;
    return all;
}
