/* SPDX-License-Identifier: BSD-3-Clause */
/* The recorder of SHMEM_TRACE: rings of events in a file that this PE maps.
 * Every layer calls it at its events; it knows none of them, hands them to the
 * profile and to profilers, too, prints nothing after the start, and leaves the
 * reading of the file to trace_merge.c. */
#include "base/trace.h"
#include "base/clock.h"
#include "base/env.h"
#include "base/fd.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/profile.h"
#include "base/symbol.h"
#include "base/trace_merge.h"
#include "base/trace_ranges.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

bool trace_on hot_data;         /* atomic, */
bool trace_records;             /* and this */

static void no_place(const void *p, uint64_t *at, int *pe)
{
    (void)p;
    *at = TRACE_NOWHERE;
    *pe = 0;
}

void (*trace_place)(const void *p, uint64_t *at, int *pe) = no_place;

enum { RINGS = 256 };           /* threads that record at a time */
static struct {
    struct base_lock lock;
    int fd MEMBER_GUARDED_BY(lock);
    struct trace_file *file;
    struct trace_ring *rings[RINGS] MEMBER_GUARDED_BY(lock);
    bool taken[RINGS] MEMBER_GUARDED_BY(lock);
    /* Atomic, by hash; the lock is held to store one.  The place is the name's
     * number, and 0 that of names for which there is no room. */
    const char *names[TRACE_NAMES];
    uint32_t events;            /* of a ring: a power of two */
    unsigned run;               /* atomic: starts so far */
} trace = { .lock = LOCK_INIT, .fd = -1 };

/* Of this thread, in that run. */
static __thread struct {
    struct trace_ring *ring;
    unsigned run;
} own;

static pthread_key_t leave_key;
static bool has_key;

/* ---- rings ---- */

/* A thread ends: the next one of this run has its ring.  mark: the run and the
 * place. */
static void leave_ring(void *mark)
{
    uintptr_t m = (uintptr_t)mark;

    lock_acquire(&trace.lock);
    if (m / RINGS == __atomic_load_n(&trace.run, __ATOMIC_RELAXED))
        trace.taken[m % RINGS] = false;
    lock_release(&trace.lock);
}

/* 0, or the error: a page that the file system had no room for would end the
 * program. */
static int make_room(off_t at, uint64_t size)
{
    int rc;

    do {
        rc = posix_fallocate(trace.fd, at, (off_t)size);
    } while (rc == EINTR);
    return rc;
}

static struct trace_ring *map_ring(int place) REQUIRES(trace.lock)
{
    uint64_t size = trace_ring_size(trace.events);
    off_t at = (off_t)(TRACE_HEAD + (uint64_t)place * size);
    void *p;

    if (trace.fd < 0 || make_room(at, size))
        return NULL;
    p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, trace.fd, at);
    if (p == MAP_FAILED)
        return NULL;
    /* release: a reader of the file finds the ring. */
    __atomic_store_n(&trace.file->rings, place + 1, __ATOMIC_RELEASE);
    return p;
}

static int unused_place(void) REQUIRES(trace.lock)
{
    int place = 0;

    while (place < RINGS && trace.taken[place])
        place++;
    return place;
}

static struct trace_ring *take_place(int *out)
{
    struct trace_ring *r = NULL;
    int place;

    lock_acquire(&trace.lock);
    place = trace.file ? unused_place() : RINGS;
    if (place < RINGS) {
        if (!trace.rings[place])
            trace.rings[place] = map_ring(place);
        r = trace.rings[place];
        trace.taken[place] = r != NULL;
    }
    lock_release(&trace.lock);
    *out = place;
    return r;
}

static struct trace_ring *take_ring(void)
{
    int place;
    struct trace_ring *r = take_place(&place);

    own.run = __atomic_load_n(&trace.run, __ATOMIC_RELAXED);
    own.ring = r;
    if (!r)
        return NULL;
    r->thread = (uint32_t)syscall(SYS_gettid);
    if (pthread_getname_np(pthread_self(), r->name, sizeof r->name))
        r->name[0] = '\0';
    if (has_key)
        pthread_setspecific(leave_key, (void *)((uintptr_t)own.run * RINGS +
                                                (uintptr_t)place));
    return r;
}

static struct trace_ring *ring_of_thread(void)
{
    if (likely(own.run == __atomic_load_n(&trace.run, __ATOMIC_RELAXED)))
        return own.ring;
    return take_ring();
}

/* ---- names ---- */

/* True: the place has that name now. */
static bool store_name(unsigned place, const char *name)
{
    const char *is;

    lock_acquire(&trace.lock);
    is = trace.names[place];
    if (!is) {
        snprintf(trace.file->names[place], TRACE_NAME, "%s",
                 symbol_public(name));
        /* release: pairs with number_of(). */
        __atomic_store_n(&trace.names[place], name, __ATOMIC_RELEASE);
        is = name;
    }
    lock_release(&trace.lock);
    return is == name;
}

static uint16_t number_of(const char *name)
{
    uint64_t hash = (uintptr_t)name * 0x9e3779b97f4a7c15u;
    unsigned place = (unsigned)(hash >> 32);
    const char *is;

    for (unsigned i = 0; i < TRACE_NAMES; i++) {
        place = (place + 1) % TRACE_NAMES;
        if (!place)
            continue;
        is = __atomic_load_n(&trace.names[place], __ATOMIC_ACQUIRE);
        if (likely(is == name) || (!is && store_name(place, name)))
            return (uint16_t)place;
    }
    return 0;
}

/* ---- events ---- */

static struct trace_event *record_in(struct trace_ring *r,
                                     const struct trace_what *w, uint64_t begin,
                                     uint64_t end)
{
    struct trace_event *e;

    if (unlikely(!r))
        return NULL;
    e = &r->events[r->count & (trace.events - 1)];
    /* The reader of a killed PE's file finds the event whole or not at all. */
    __atomic_store_n(&e->used, 0, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    e->begin_ns = begin;
    __atomic_store_n(&e->end_ns, end, __ATOMIC_RELAXED);
    e->at = w->at;
    e->bytes = w->bytes;
    e->arg[0] = w->arg[0];
    e->arg[1] = w->arg[1];
    e->pe = w->pe - 1;
    e->thread = r->thread;
    e->kind = (uint8_t)w->kind;
    e->role = (uint8_t)w->role;
    e->name = number_of(w->name);
    __atomic_store_n(&e->used, 1, __ATOMIC_RELEASE);
    __atomic_store_n(&r->count, r->count + 1, __ATOMIC_RELEASE);
    return e;
}

static struct trace_event *record(const struct trace_what *w, uint64_t begin,
                                  uint64_t end)
{
    return record_in(ring_of_thread(), w, begin, end);
}

/* The system numbers threads below. */
enum { ROW_THREAD = 1 << 30 };

struct trace_ring *trace_row(const char *name)
{
    int place;
    struct trace_ring *r = take_place(&place);

    if (!r)
        return NULL;
    r->thread = ROW_THREAD + (uint32_t)place;
    snprintf(r->name, sizeof r->name, "%s", name);
    return r;
}

void trace_row_span(struct trace_ring *row, const struct trace_what *w,
                    uint64_t begin_ns, uint64_t end_ns)
{
    record_in(row, w, begin_ns, end_ns);
}

/* Of a thread that has no ring, for the end of its range. */
static struct trace_event unrecorded = { .end_ns = 1 };

struct trace_event *trace_begin(const struct trace_what *w)
{
    struct trace_event *e;
    uint64_t now;

    if (trace_ranges)
        trace_ranges->push(symbol_public(w->name));
    now = clock_ns();
    if (profile_is_on())
        profile_enter(w, now);
    e = record(w, now, 0);
    return e ? e : &unrecorded;
}

void trace_end(struct trace_event *e)
{
    uint64_t now;

    if (!e)
        return;
    now = clock_ns();
    /* A shorter event has an end: its ring came round to this place. */
    if (!__atomic_load_n(&e->end_ns, __ATOMIC_RELAXED))
        __atomic_store_n(&e->end_ns, now, __ATOMIC_RELAXED);
    if (profile_is_on())
        profile_leave(now);
    if (trace_ranges)
        trace_ranges->pop();
}

void trace_mark(const struct trace_what *w)
{
    uint64_t now = clock_ns();

    if (trace_ranges)
        trace_ranges->mark(symbol_public(w->name));
    record(w, now, now);
}

void trace_span_since(const struct trace_what *w, uint64_t begin_ns)
{
    uint64_t now = clock_ns();

    record(w, begin_ns, now);
    if (profile_is_on())
        profile_span(w, begin_ns, now);
}

/* ---- start and end ---- */

static void unmap_all(void) REQUIRES(trace.lock)
{
    for (int i = 0; i < RINGS; i++) {
        if (trace.rings[i])
            munmap(trace.rings[i], trace_ring_size(trace.events));
        trace.rings[i] = NULL;
        trace.taken[i] = false;
    }
    memset(trace.names, 0, sizeof trace.names);
    if (trace.file)
        munmap(trace.file, TRACE_HEAD);
    trace.file = NULL;
}

static int open_file(const char *path, int pe, int n_pes) REQUIRES(trace.lock)
{
    struct trace_file *f;
    int rc;

    /* Another job that writes there keeps its own. */
    unlink(path);
    trace.fd = fd_keep(open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (trace.fd < 0)
        return -errno;
    rc = make_room(0, TRACE_HEAD);
    if (rc)
        return -rc;
    f = mmap(NULL, TRACE_HEAD, PROT_READ | PROT_WRITE, MAP_SHARED, trace.fd, 0);
    if (f == MAP_FAILED)
        return -errno;
    f->pe = (uint32_t)pe;
    f->n_pes = (uint32_t)n_pes;
    f->ring_events = trace.events;
    f->event_size = sizeof(struct trace_event);
    snprintf(f->host, sizeof f->host, "%s", log_host());
    memcpy(f->magic, TRACE_MAGIC, sizeof TRACE_MAGIC);
    trace.file = f;
    return 0;
}

static void close_fd(void) REQUIRES(trace.lock)
{
    if (trace.fd >= 0)
        close(trace.fd);
    trace.fd = -1;
}

void trace_name(char name[TRACE_PATH], const char *file, unsigned run)
{
    if (run > 1)
        snprintf(name, TRACE_PATH, "%s-%u", file, run);
    else
        snprintf(name, TRACE_PATH, "%s", file);
}

unsigned trace_run(void)
{
    return __atomic_load_n(&trace.run, __ATOMIC_RELAXED);
}

/* True: this PE has a file. */
static bool start_file(int pe, int n_pes)
{
    char name[TRACE_PATH], path[TRACE_PATH + 16];
    unsigned run = trace_run() + 1;
    int rc;

    trace_name(name, env.TRACE, run);
    snprintf(path, sizeof path, "%s.%d", name, pe);
    if (pe == 0)
        trace_merge_remove(name, (uint32_t)n_pes);
    if (!has_key)
        has_key = !pthread_key_create(&leave_key, leave_ring);
    lock_acquire(&trace.lock);
    unmap_all();
    for (trace.events = 1; trace.events < (uint32_t)env.TRACE_EVENTS;)
        trace.events *= 2;
    rc = open_file(path, pe, n_pes);
    if (rc)
        close_fd();
    lock_release(&trace.lock);
    /* Rings of the last run are no one's any more. */
    __atomic_store_n(&trace.run, run, __ATOMIC_RELAXED);
    if (!rc)
        return true;
    errno = -rc;
    log_warn(ERR_TRACE, "SHMEM_TRACE: this PE is not traced: %s: %m", path);
    return false;
}

static bool start_without_file(void)
{
    lock_acquire(&trace.lock);
    unmap_all();
    lock_release(&trace.lock);
    __atomic_store_n(&trace.run, trace_run() + 1, __ATOMIC_RELAXED);
    return false;
}

void trace_start(int pe, int n_pes)
{
    bool on = env.TRACE[0] ? start_file(pe, n_pes) : start_without_file();

    if (env.TRACE_RANGES)
        on |= trace_ranges_open();
    __atomic_store_n(&trace_records, on, __ATOMIC_RELAXED);
    profile_stop();
    if (env.STATS.on)
        profile_start();
    __atomic_store_n(&trace_on, on || env.STATS.on, __ATOMIC_RELAXED);
}

void (*trace_switched)(bool on);

/* The profile of SHMEM_STATS counts in any case; with a trace, counting goes on.
 */
void trace_count(bool on)
{
    if (env.STATS.on)
        return;
    if (on)
        profile_resume();
    if (__atomic_load_n(&trace_records, __ATOMIC_RELAXED))
        return;
    __atomic_store_n(&trace_on, on, __ATOMIC_RELAXED);
    if (trace_switched)
        trace_switched(on);
}

struct trace_file *trace_file(void)
{
    return trace_is_on() ? trace.file : NULL;
}

/* For other nodes, which read the files and map nothing of this node. */
static void write_back(void) REQUIRES(trace.lock)
{
    for (int i = 0; i < RINGS; i++)
        if (trace.rings[i])
            msync(trace.rings[i], trace_ring_size(trace.events), MS_SYNC);
}

/* The maps stay until the next start: another thread may be about to end an
 * event. */
void trace_stop(bool several_nodes)
{
    if (!trace_is_on())
        return;
    __atomic_store_n(&trace_on, false, __ATOMIC_RELAXED);
    trace_ranges_close();
    if (!trace.file)
        return;
    lock_acquire(&trace.lock);
    if (several_nodes)
        write_back();
    /* release: a reader that finds it closed finds its events. */
    __atomic_store_n(&trace.file->closed, 1, __ATOMIC_RELEASE);
    if (several_nodes)
        msync(trace.file, TRACE_HEAD, MS_SYNC);
    close_fd();
    lock_release(&trace.lock);
}

void trace_forget(void)
{
    __atomic_store_n(&trace_on, false, __ATOMIC_RELAXED);
}
