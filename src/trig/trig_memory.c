/* SPDX-License-Identifier: BSD-3-Clause */
/* The words of a trigger that kernels and streams read and store, and that stay
 * for those that are late when the trigger is freed.  Called by trig.c and
 * trig_wait.c; takes no lock of a trigger. */
#include "kernel/kernel_memory.h"
#include "stream/stream_wait_log.h"
#include "trig/trig_int.h"

#include <stdlib.h>

/* Of freed triggers, oldest first: a kernel that hits one of these too late
 * stores there, and hits nothing else. */
enum { KEPT = 64,
       TRIES = 8 };             /* of the oldest, at each trigger that is freed */

struct trig_kept {
    struct list_link link;
    uint64_t *hits, *table;     /* as in struct trig */
    size_t hits_size, table_size;
    struct trig_stream *streams;
    int n_tags;
    uint64_t check;             /* as stream_wait_log_check() said */
};

static struct base_lock lock = LOCK_INIT;
static struct list_link all GUARDED_BY(lock) = LIST_INIT(all);
static unsigned n_kept GUARDED_BY(lock);

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

/* Of a stream that has been destroyed, and that has stored all its counts: these
 * go on from there. */
static struct trig_stream *take_over(struct trig *t, void *stream, uint64_t id)
{
    struct trig_stream *s = t->streams;

    while (s && (s->stream || !is_done(s, t->n_tags)))
        s = s->next;
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

struct trig_stream *trig_memory_stream(struct trig *t, void *stream)
{
    struct trig_stream *s = t->streams;
    uint64_t id = 0;

    gtl->stream_check(stream, &id);
    while (s && (s->stream != stream || s->id != id))
        s = s->next;
    return s ? s : add_stream(t, stream, id);
}

/* ---- of freed ones ---- */

static void release(struct trig_kept *k) REQUIRES(lock)
{
    struct trig_stream *s, *next;

    for (s = k->streams; s; s = next) {
        next = s->next;
        kernel_pinned_free(s->counts, stream_size(k->n_tags));
        free(s);
    }
    kernel_pinned_free(k->hits, k->hits_size);
    kernel_pinned_free(k->table, k->table_size);
    list_remove(&k->link);
    n_kept--;
    free(k);
}

/* No stream has a wait or a hit of it to do, and the watchdog, which may have
 * read a note of a wait just before it was forgotten, has ended that check. */
static bool is_unused(const struct trig_kept *k)
{
    bool done = k->check % 2 == 0 || k->check != stream_wait_log_check();

    for (const struct trig_stream *s = k->streams; done && s; s = s->next)
        done = is_done(s, k->n_tags);
    return done;
}

void trig_memory_keep(struct trig *t)
{
    struct trig_kept *k = t->kept;
    struct list_link *pos, *tmp;
    int tries = TRIES;

    if (!k)
        return;
    k->n_tags = t->n_tags;
    k->hits = t->hits;
    k->hits_size = 2 * (size_t)t->n_tags * sizeof *t->hits;
    k->table_size = trig_copy_table(t, &k->table);
    k->streams = t->streams;
    if (t->streams)
        stream_wait_log_forget(t->hits, k->hits_size);
    k->check = stream_wait_log_check();
    lock_acquire(&lock);
    list_append(&all, &k->link);
    n_kept++;
    list_each(pos, tmp, &all) {
        struct trig_kept *old = list_entry(pos, struct trig_kept, link);

        if (n_kept <= KEPT || !tries--)
            break;
        if (is_unused(old))
            release(old);
    }
    lock_release(&lock);
}

void trig_memory_close(void)
{
    struct list_link *pos, *tmp;

    lock_acquire(&lock);
    list_each(pos, tmp, &all)
        release(list_entry(pos, struct trig_kept, link));
    lock_release(&lock);
}
