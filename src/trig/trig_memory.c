/* SPDX-License-Identifier: BSD-3-Clause */
/* The words of a trigger that kernels and streams read and store, and that stay
 * for those that are late when the trigger is freed.  Called by trig.c and
 * trig_wait.c; takes no lock of a trigger. */
#include "kernel/kernel_memory.h"
#include "stream/stream_wait_log.h"
#include "trig/trig_int.h"

#include <limits.h>
#include <stdlib.h>

enum { KEPT = 64,
       TRIES = 8 };             /* of those in use, at each that is freed */

struct trig_kept {
    struct list_link link;
    uint64_t *hits, *table;     /* as in struct trig */
    size_t hits_size, table_size;
    struct trig_stream *streams;
    int n_tags;
    unsigned session;           /* between an opening and the close */
};

static unsigned session;        /* atomic */
static struct base_lock lock = LOCK_INIT;
/* Of the triggers freed last, oldest first: a kernel that hits one of these too
 * late stores there, and hits nothing else. */
static struct list_link late GUARDED_BY(lock) = LIST_INIT(late);
static unsigned n_late GUARDED_BY(lock);
/* Of older ones, which streams still use. */
static struct list_link in_use GUARDED_BY(lock) = LIST_INIT(in_use);

/* The hits of the tags, and one word for the waits. */
static size_t stream_size(int n_tags)
{
    return ((size_t)n_tags + 1) * sizeof(uint64_t);
}

/* Has the stream reached the end of all that it was given for the trigger? */
static bool is_done(const struct trig_stream *s, int n_tags)
{
    for (int i = 0; i <= n_tags; i++)
        if (__atomic_load_n(&s->counts[i], __ATOMIC_ACQUIRE) != s->total[i])
            return false;
    return true;
}

/* ---- of a trigger ---- */

bool trig_memory_open(struct trig *t)
{
    size_t n = (size_t)t->n_tags;

    t->kept = calloc(1, sizeof *t->kept);
    if (t->kept)
        t->hits = kernel_pinned_alloc(2 * n * sizeof *t->hits);
    if (!t->hits)
        return false;
    t->done = t->hits + n;
    return true;
}

/* Of a stream that has stored all its counts: these go on from there.  First of
 * those that have been destroyed; the vendor's calls destroy streams that are not
 * known to be, so of many also of another one, which takes one anew. */
static struct trig_stream *take_over(struct trig *t, void *stream, uint64_t id)
{
    enum { MANY = 32 };
    struct trig_stream *s = t->streams;
    int n = 0;

    for (; s && (s->stream || !is_done(s, t->n_tags)); s = s->next)
        n++;
    if (!s && n >= MANY)
        for (s = t->streams; s && !is_done(s, t->n_tags); s = s->next)
            ;
    if (s) {
        s->stream = stream;
        s->id = id;
    }
    return s;
}

static struct trig_stream *add_stream(struct trig *t, void *stream, uint64_t id)
{
    struct trig_stream *s = take_over(t, stream, id);

    if (s)
        return s;
    s = calloc(1, sizeof *s + stream_size(t->n_tags));
    if (!s)
        return NULL;
    s->counts = kernel_pinned_alloc(stream_size(t->n_tags));
    if (!s->counts) {
        free(s);
        return NULL;
    }
    s->stream = stream;
    s->id = id;
    s->next = t->streams;
    /* release: a reader that finds it finds the rest. */
    __atomic_store_n(&t->streams, s, __ATOMIC_RELEASE);
    return s;
}

struct trig_stream *trig_memory_stream(struct trig *t, void *stream,
                                       uint64_t id)
{
    struct trig_stream *s = t->streams;

    while (s && (s->stream != stream || s->id != id))
        s = s->next;
    return s ? s : add_stream(t, stream, id);
}

/* ---- of freed ones ---- */

/* The device of an earlier session may be another one, and is never given its
 * memory again. */
static void release(struct trig_kept *k)
{
    bool closed = k->session != __atomic_load_n(&session, __ATOMIC_RELAXED);
    void (*give)(void *p, size_t size) = closed ? kernel_pinned_unpin
                                                : kernel_pinned_free;
    struct trig_stream *s, *next;

    for (s = k->streams; s; s = next) {
        next = s->next;
        give(s->counts, stream_size(k->n_tags));
        free(s);
    }
    give(k->hits, k->hits_size);
    give(k->table, k->table_size);
    free(k);
}

/* Without the lock, as these may be calls of the driver. */
static void release_all(struct list_link *unused)
{
    struct list_link *pos, *tmp;

    list_each(pos, tmp, unused)
        release(list_entry(pos, struct trig_kept, link));
}

/* No stream has a wait or a hit of it to do, and the watchdog is in no check, in
 * which it may have read a note of a wait just before that was forgotten. */
static bool is_unused(const struct trig_kept *k)
{
    for (const struct trig_stream *s = k->streams; s; s = s->next)
        if (!is_done(s, k->n_tags))
            return false;
    return !stream_wait_log_is_read();
}

/* Of all of the list, or of so many: what is in use goes to the end of in_use. */
static void take_unused(struct list_link *list, int most,
                        struct list_link *unused) REQUIRES(lock)
{
    struct list_link *pos, *tmp, *last = list->prev;

    list_each(pos, tmp, list) {
        struct trig_kept *k = list_entry(pos, struct trig_kept, link);

        if (!most--)
            break;
        list_remove(&k->link);
        list_append(is_unused(k) ? unused : &in_use, &k->link);
        if (pos == last)
            break;
    }
}

static bool has_waited(const struct trig *t)
{
    const struct trig_stream *s = t->streams;

    while (s && !s->total[t->n_tags])
        s = s->next;
    return s;
}

void trig_memory_keep(struct trig *t)
{
    struct trig_kept *k = t->kept;
    struct list_link unused = LIST_INIT(unused);

    if (!k)
        return;
    k->session = __atomic_load_n(&session, __ATOMIC_RELAXED);
    k->n_tags = t->n_tags;
    k->hits = t->hits;
    k->hits_size = 2 * (size_t)t->n_tags * sizeof *t->hits;
    k->table_size = trig_copy_table(t, &k->table);
    k->streams = t->streams;
    if (has_waited(t))
        stream_wait_log_forget(t->hits, k->hits_size);
    lock_acquire(&lock);
    list_append(&late, &k->link);
    if (n_late < KEPT)
        n_late++;
    else
        take_unused(&late, 1, &unused);
    take_unused(&in_use, TRIES, &unused);
    lock_release(&lock);
    release_all(&unused);
}

void trig_memory_close(void)
{
    struct list_link unused = LIST_INIT(unused);

    lock_acquire(&lock);
    n_late = 0;
    take_unused(&late, INT_MAX, &unused);
    take_unused(&in_use, INT_MAX, &unused);
    lock_release(&lock);
    release_all(&unused);
    __atomic_add_fetch(&session, 1, __ATOMIC_RELAXED);
}
