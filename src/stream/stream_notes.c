/* SPDX-License-Identifier: BSD-3-Clause */
/* Records of what streams wait for: see stream_notes.h.  Called with each wait
 * that is enqueued, and by the watchdog. */
#include "stream/stream_notes.h"
#include "base/lock.h"
#include "core/core_device.h"
#include "gtl/gtl.h"

#include <errno.h>
#include <stdlib.h>

enum { BUCKET_BITS = 10, BUCKETS = 1 << BUCKET_BITS, LAST_BITS = 3,
       TRIES = 8 };             /* records that are looked at for one to go */

#define GET(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)
#define SET(x, v) __atomic_store_n(&(x), v, __ATOMIC_RELAXED)

static struct base_lock lock = LOCK_INIT;
static struct stream_notes *table[BUCKETS] GUARDED_BY(lock);
static struct list_link used GUARDED_BY(lock) = LIST_INIT(used);
static struct list_link unused GUARDED_BY(lock) = LIST_INIT(unused);
static unsigned n_used GUARDED_BY(lock), n_made GUARDED_BY(lock);
static struct stream_notes *all;        /* atomic; written under the lock */
/* Where this thread left notes last: a record's key says whether it is still
 * that stream's. */
static __thread struct stream_notes *lasts[1 << LAST_BITS]
    __attribute__((tls_model("initial-exec")));

static uintptr_t key_of(const void *stream)
{
    return (uintptr_t)stream + 1;       /* NULL is a stream, too */
}

static unsigned mix(uintptr_t key, int bits)
{
    return (unsigned)(key * 0x9e3779b97f4a7c15u >> (64 - bits));
}

static struct stream_notes **find(uintptr_t key) REQUIRES(lock)
{
    struct stream_notes **at = &table[mix(key, BUCKET_BITS)];

    while (*at && (*at)->key != key)
        at = &(*at)->same;
    return at;
}

/* ---- notes ---- */

/* The word is the program's, which need not store it atomically. */
__attribute__((noinline, no_sanitize("thread")))
static bool raised(const struct stream_note *n)
{
    const uint64_t *word = n->sym ? (const uint64_t *)n->sym : n->word;

    return !core_foreign(word) &&
           __atomic_load_n(word, __ATOMIC_ACQUIRE) >= n->least;
}

static struct stream_note read_note(const struct stream_note *at)
{
    return (struct stream_note){
        GET(at->of), GET(at->call), GET(at->sym), GET(at->word),
        GET(at->least), GET(at->pe)
    };
}

static uint64_t first_kept(const struct stream_notes *s, uint64_t n)
{
    uint64_t i = GET(s->over);

    return n > STREAM_NOTES && i < n - STREAM_NOTES ? n - STREAM_NOTES : i;
}

bool stream_notes_find(struct stream_notes *s, uintptr_t key,
                       const uint64_t *word, uint64_t least, uint64_t *i,
                       struct stream_note *out)
{
    uint64_t n = __atomic_load_n(&s->n, __ATOMIC_ACQUIRE), at;
    bool front = true;

    for (at = first_kept(s, n); at < n; at++) {
        *out = read_note(&s->notes[at % STREAM_NOTES]);
        if (__atomic_load_n(&s->n, __ATOMIC_ACQUIRE) >= at + STREAM_NOTES)
            continue;           /* another one is being written there */
        if (out->of != key || raised(out)) {
            if (front)
                SET(s->over, at + 1);
            continue;
        }
        front = false;
        if (!word || (out->word == word && out->least == least))
            break;
    }
    *i = at;
    return at < n;
}

/* ---- records ---- */

static void unlink_record(struct stream_notes *s) REQUIRES(lock)
{
    *find(s->key) = s->same;
    /* relaxed: its stream's thread, if any, finds another one. */
    SET(s->key, 0);
    SET(s->over, GET(s->n));
    list_remove(&s->link);
    list_append(&unused, &s->link);
    n_used--;
}

/* Nothing is waited for.  A note that a thread leaves just now is lost, if the
 * record goes: it names its stream. */
static bool is_idle(struct stream_notes *s)
{
    struct stream_note note;
    uint64_t i;

    return !stream_notes_find(s, s->key, NULL, 0, &i, &note);
}

/* Oldest first; one that is in use goes to the end. */
static void make_room(void) REQUIRES(lock)
{
    for (int i = 0; i < TRIES && list_empty(&unused); i++) {
        struct stream_notes *s = list_entry(used.next, struct stream_notes,
                                            link);

        if (is_idle(s)) {
            unlink_record(s);
            return;
        }
        list_remove(&s->link);
        list_append(&used, &s->link);
    }
}

static struct stream_notes *take(void) REQUIRES(lock)
{
    struct stream_notes *s;

    if (list_empty(&unused) && n_used >= STREAM_RECORDS)
        make_room();
    if (!list_empty(&unused)) {
        s = list_entry(unused.next, struct stream_notes, link);
        list_remove(&s->link);
        return s;
    }
    s = calloc(1, sizeof *s);
    if (s) {
        n_made++;
        s->next = all;
        /* release: the watchdog follows the list without the lock. */
        __atomic_store_n(&all, s, __ATOMIC_RELEASE);
    }
    return s;
}

static struct stream_notes *record_of(uintptr_t key)
{
    struct stream_notes *s;

    lock_acquire(&lock);
    s = *find(key);
    if (!s && (s = take())) {
        SET(s->key, key);
        SET(s->over, GET(s->n));
        s->same = table[mix(key, BUCKET_BITS)];
        table[mix(key, BUCKET_BITS)] = s;
        list_append(&used, &s->link);
        n_used++;
    }
    lock_release(&lock);
    lasts[mix(key, LAST_BITS)] = s;
    return s;
}

void stream_notes_add(void *stream, const struct stream_note *note)
{
    uintptr_t key = key_of(stream);
    struct stream_notes *s = lasts[mix(key, LAST_BITS)];
    struct stream_note *to;
    uint64_t n;

    if (unlikely(!s || GET(s->key) != key))
        s = record_of(key);
    if (unlikely(!s))
        return;
    n = GET(s->n);
    to = &s->notes[n % STREAM_NOTES];
    SET(to->of, key);
    SET(to->call, note->call);
    SET(to->sym, note->sym);
    SET(to->word, note->word);
    SET(to->least, note->least);
    SET(to->pe, note->pe);
    /* release: who sees the number sees the note. */
    __atomic_store_n(&s->n, n + 1, __ATOMIC_RELEASE);
}

void stream_notes_mark(void *stream)
{
    uintptr_t key = key_of(stream);
    struct stream_notes *s = lasts[mix(key, LAST_BITS)];

    /* acquire: the watchdog has made the event, or is done with it. */
    if (!s || GET(s->key) != key ||
        __atomic_load_n(&s->mark, __ATOMIC_ACQUIRE) != STREAM_MARK_FREE ||
        gtl->event_record(s->event, stream))
        return;
    s->mark_of = key;
    s->mark_at = GET(s->n);
    /* release: the watchdog sees which. */
    __atomic_store_n(&s->mark, STREAM_MARK_SET, __ATOMIC_RELEASE);
}

static void mark_is_past(struct stream_notes *s)
{
    lock_acquire(&lock);
    if (s->mark_of == s->key && GET(s->over) < s->mark_at)
        SET(s->over, s->mark_at);
    lock_release(&lock);
}

/* The watchdog's alone until it is free: a driver that takes its time holds no
 * other thread up.  An event that cannot be asked says nothing. */
static void look(struct stream_notes *s)
{
    enum stream_mark mark = __atomic_load_n(&s->mark, __ATOMIC_ACQUIRE);
    int rc;

    if (mark == STREAM_MARK_FREE || (mark == STREAM_MARK_NONE && !GET(s->key)))
        return;
    rc = mark == STREAM_MARK_NONE ? gtl->event_create(&s->event)
                                  : gtl->event_query(s->event);
    if (rc == -EAGAIN || (rc && mark == STREAM_MARK_NONE))
        return;
    if (!rc && mark == STREAM_MARK_SET)
        mark_is_past(s);
    /* release: the stream's thread records the event. */
    __atomic_store_n(&s->mark, STREAM_MARK_FREE, __ATOMIC_RELEASE);
}

void stream_notes_look(void)
{
    for (struct stream_notes *s = stream_notes_first(); s; s = s->next)
        look(s);
}

void stream_notes_past(void *stream)
{
    struct stream_notes *s = lasts[mix(key_of(stream), LAST_BITS)];

    if (s && GET(s->key) == key_of(stream) && GET(s->over) == GET(s->n))
        return;
    lock_acquire(&lock);
    s = *find(key_of(stream));
    if (s)
        SET(s->over, GET(s->n));
    lock_release(&lock);
}

void stream_notes_drop(void *stream)
{
    struct stream_notes *s;

    lock_acquire(&lock);
    s = *find(key_of(stream));
    if (s)
        unlink_record(s);
    lock_release(&lock);
}

struct stream_notes *stream_notes_first(void)
{
    return __atomic_load_n(&all, __ATOMIC_ACQUIRE);
}

void stream_notes_close(void)
{
    for (struct stream_notes *s = stream_notes_first(); s; s = s->next) {
        SET(s->over, GET(s->n));
        if (s->mark != STREAM_MARK_NONE)
            gtl->event_destroy(s->event);
        s->mark = STREAM_MARK_NONE;
    }
}

void stream_notes_count(unsigned *now, unsigned *made)
{
    lock_acquire(&lock);
    *now = n_used;
    *made = n_made;
    lock_release(&lock);
}
