/* SPDX-License-Identifier: BSD-3-Clause */
/* Records of what streams wait for: see stream_wait_log.h.  Called with each
 * wait that is enqueued, and by the watchdog. */
#include "stream/stream_wait_log.h"
#include "base/atomics.h"
#include "base/lock.h"
#include "core/core_device.h"
#include "diag/diag.h"
#include "gtl/gtl_default_stream.h"
#include "stream/stream.h"

#include <stdlib.h>

enum { BUCKET_BITS = 10, BUCKETS = 1 << BUCKET_BITS, LAST_BITS = 3,
       TRIES = 8,               /* records that are looked at for one to go */
       EVENTS = 64 };           /* for new records */

#define GET(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)
#define SET(x, v) __atomic_store_n(&(x), v, __ATOMIC_RELAXED)

static struct base_lock lock = LOCK_INIT;
static struct stream_wait_log *table[BUCKETS] GUARDED_BY(lock);
static struct list_link used GUARDED_BY(lock) = LIST_INIT(used);
static struct list_link unused GUARDED_BY(lock) = LIST_INIT(unused);
static unsigned n_used GUARDED_BY(lock), n_made GUARDED_BY(lock);
static struct stream_wait_log *all;        /* atomic; written under the lock */
static void *events[EVENTS] GUARDED_BY(lock);
static int n_events;            /* atomic; written under the lock */
/* Where this thread left notes last: a record's key says whether it is still
 * that stream's. */
static __thread struct stream_wait_log *lasts[1 << LAST_BITS];

static uintptr_t key_of(const void *stream)
{
    return (uintptr_t)stream + 1;       /* NULL is a stream, too */
}

static unsigned mix(uintptr_t key, int bits)
{
    return (unsigned)(key * 0x9e3779b97f4a7c15u >> (64 - bits));
}

static struct stream_wait_log **find(uintptr_t key) REQUIRES(lock)
{
    struct stream_wait_log **at = &table[mix(key, BUCKET_BITS)];

    while (*at && (*at)->key != key)
        at = &(*at)->same;
    return at;
}

/* ---- notes ---- */

static const uint64_t *word_of(const struct stream_wait_log_entry *n)
{
    return n->sym ? (const uint64_t *)n->sym : n->word;
}

/* The word is the program's, which need not store it atomically. */
__attribute__((noinline, no_sanitize("thread")))
static bool raised(const struct stream_wait_log_entry *n)
{
    const uint64_t *word = word_of(n);

    return !core_device_only(word) &&
           __atomic_load_n(word, __ATOMIC_ACQUIRE) >= n->least;
}

static struct stream_wait_log_entry read_note(
    const struct stream_wait_log_entry *at)
{
    return (struct stream_wait_log_entry){
        GET(at->of), GET(at->call), GET(at->sym), GET(at->word),
        GET(at->least), GET(at->pe)
    };
}

static uint64_t first_kept(const struct stream_wait_log *s, uint64_t n)
{
    uint64_t i = GET(s->over);

    return n > STREAM_WAIT_LOG_ENTRIES && i < n - STREAM_WAIT_LOG_ENTRIES
               ? n - STREAM_WAIT_LOG_ENTRIES
               : i;
}

bool stream_wait_log_find(struct stream_wait_log *s, uintptr_t key,
                       const uint64_t *word, uint64_t least, uint64_t *i,
                       struct stream_wait_log_entry *out)
{
    uint64_t n = __atomic_load_n(&s->n, __ATOMIC_ACQUIRE), at;
    bool front = true;

    for (at = first_kept(s, n); at < n; at++) {
        *out = read_note(&s->entries[at % STREAM_WAIT_LOG_ENTRIES]);
        if (__atomic_load_n(&s->n, __ATOMIC_ACQUIRE) >=
            at + STREAM_WAIT_LOG_ENTRIES)
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

static void unlink_record(struct stream_wait_log *s) REQUIRES(lock)
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
static bool is_idle(struct stream_wait_log *s)
{
    struct stream_wait_log_entry note;
    uint64_t i;

    return !stream_wait_log_find(s, s->key, NULL, 0, &i, &note);
}

/* Oldest first; one that is in use goes to the end. */
static void make_room(void) REQUIRES(lock)
{
    for (int i = 0; i < TRIES && list_empty(&unused); i++) {
        struct stream_wait_log *s =
            list_entry(used.next, struct stream_wait_log, link);

        if (is_idle(s)) {
            unlink_record(s);
            return;
        }
        list_remove(&s->link);
        list_append(&used, &s->link);
    }
}

static struct stream_wait_log *take(void) REQUIRES(lock)
{
    struct stream_wait_log *s;

    if (list_empty(&unused) && n_used >= STREAM_WAIT_LOGS)
        make_room();
    if (!list_empty(&unused)) {
        s = list_entry(unused.next, struct stream_wait_log, link);
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

/* One, where few are left for others. */
static void take_events(struct stream_wait_log *s) REQUIRES(lock)
{
    unsigned most = n_events > EVENTS / 2 ? STREAM_WAIT_LOG_EVENTS : 1;

    for (unsigned k = GET(s->n_marks); k < most && n_events; k++) {
        SET(n_events, n_events - 1);
        s->marks[k].event = events[n_events];
        /* release: the stream's thread records it. */
        __atomic_store_n(&s->n_marks, k + 1, __ATOMIC_RELEASE);
    }
}

static struct stream_wait_log *record_of(uintptr_t key)
{
    struct stream_wait_log *s;

    lock_acquire(&lock);
    s = *find(key);
    if (!s && (s = take())) {
        SET(s->key, key);
        SET(s->over, GET(s->n));
        s->same = table[mix(key, BUCKET_BITS)];
        table[mix(key, BUCKET_BITS)] = s;
        list_append(&used, &s->link);
        n_used++;
        take_events(s);
    }
    lock_release(&lock);
    lasts[mix(key, LAST_BITS)] = s;
    return s;
}

bool stream_wait_log_add(void *stream, const struct stream_wait_log_entry *note)
{
    uintptr_t key = key_of(stream);
    struct stream_wait_log *s = lasts[mix(key, LAST_BITS)];
    struct stream_wait_log_entry *to;
    uint64_t n;

    if (unlikely(!s || GET(s->key) != key))
        s = record_of(key);
    if (unlikely(!s))
        return false;
    n = GET(s->n);
    to = &s->entries[n % STREAM_WAIT_LOG_ENTRIES];
    SET(to->of, key);
    SET(to->call, note->call);
    SET(to->sym, note->sym);
    SET(to->word, note->word);
    SET(to->least, note->least);
    SET(to->pe, note->pe);
    if (core_device_only(word_of(note)))
        SET(s->unsure, n + 1);
    /* release: a reader that sees the number sees the note. */
    __atomic_store_n(&s->n, n + 1, __ATOMIC_RELEASE);
    return GET(s->n_marks) < STREAM_WAIT_LOG_EVENTS;
}

static void are_past(struct stream_wait_log *s, uint64_t at)
{
    lock_acquire(&lock);
    if (GET(s->over) < at)
        SET(s->over, at);
    lock_release(&lock);
}

/* Where the watchdog cannot see how far streams are, an event is recorded
 * behind each wait, for this may be the last call on the stream.  If the
 * watchdog queries it at the same time, the event reports this wait or an
 * earlier one, and `at` names no later one. */
void stream_watch_enqueued(void *stream, bool ours)
{
    uintptr_t key = key_of(stream);
    struct stream_wait_log *s = lasts[mix(key, LAST_BITS)];
    unsigned n_marks, turn;
    struct stream_wait_log_event *m;
    uint64_t n;

    if (gtl_device.host_streams || !s)
        return;
    /* acquire: read before the key, and so of this stream. */
    n = __atomic_load_n(&s->n, __ATOMIC_ACQUIRE);
    n_marks = __atomic_load_n(&s->n_marks, __ATOMIC_ACQUIRE);
    if (GET(s->key) != key || (ours && GET(s->unsure) < n))
        return;
    if (unlikely(!n_marks)) {   /* rather no line than a wrong one */
        if (GET(s->unsure) == n)
            are_past(s, n);
        return;
    }
    turn = GET(s->turn);
    m = &s->marks[turn % n_marks];
    SET(s->turn, turn + 1);
    if (!gtl->event_record(m->event, stream))
        /* release: after the event. */
        __atomic_store_n(&m->at, n, __ATOMIC_RELEASE);
}

/* Without the lock: a driver that takes its time holds no other thread up.  An
 * event that cannot be asked says nothing.  Notes of a stream before this one
 * are past. */
static void query_record(struct stream_wait_log *s)
{
    unsigned n_marks = __atomic_load_n(&s->n_marks, __ATOMIC_ACQUIRE);
    uint64_t at;

    for (unsigned k = 0; k < n_marks; k++) {
        at = __atomic_load_n(&s->marks[k].at, __ATOMIC_ACQUIRE);
        if (GET(s->over) < at && !gtl->event_query(s->marks[k].event))
            are_past(s, at);
    }
}

void stream_wait_log_make_events(void)
{
    void *event;

    while (GET(n_events) < EVENTS && !gtl->event_create(&event)) {
        lock_acquire(&lock);
        events[n_events] = event;
        SET(n_events, n_events + 1);
        lock_release(&lock);
    }
}

void stream_wait_log_query_events(void)
{
    for (struct stream_wait_log *s = stream_wait_log_first(); s; s = s->next) {
        if (GET(s->key) && GET(s->n_marks) < STREAM_WAIT_LOG_EVENTS) {
            stream_wait_log_make_events();
            lock_acquire(&lock);
            take_events(s);
            lock_release(&lock);
        }
        query_record(s);
    }
    stream_wait_log_make_events();
}

void stream_wait_log_completed(void *stream)
{
    struct stream_wait_log *s = lasts[mix(key_of(stream), LAST_BITS)];

    if (s && GET(s->key) == key_of(stream) && GET(s->over) == GET(s->n))
        return;
    lock_acquire(&lock);
    s = *find(key_of(stream));
    if (s)
        SET(s->over, GET(s->n));
    lock_release(&lock);
}

void stream_wait_log_stream_destroyed(void *stream)
{
    struct stream_wait_log *s;

    lock_acquire(&lock);
    s = *find(key_of(stream));
    if (s)
        unlink_record(s);
    lock_release(&lock);
}

void stream_wait_log_forget(const void *flags, size_t size)
{
    static uint64_t past = UINT64_MAX;

    lock_acquire(&lock);        /* no is_idle() is within a flag */
    for (struct stream_wait_log *s = stream_wait_log_first(); s; s = s->next)
        for (int i = 0; i < STREAM_WAIT_LOG_ENTRIES; i++) {
            struct stream_wait_log_entry *e = &s->entries[i];

            if ((uintptr_t)GET(e->word) - (uintptr_t)flags < size)
                SET(e->sym, NULL), SET(e->word, &past);
        }
    lock_release(&lock);
}

static bool is_read;            /* atomic; the watchdog's */

/* A full fence each: what was forgotten before a thread finds that nothing is
 * read is not found in a later check. */
bool stream_wait_log_is_read(void)
{
    atomics_full_fence();
    return __atomic_load_n(&is_read, __ATOMIC_ACQUIRE);
}

void stream_wait_log_reads(bool begins)
{
    /* release: the reads of a check that ends come before. */
    __atomic_store_n(&is_read, begins, __ATOMIC_RELEASE);
    atomics_full_fence();
}

struct stream_wait_log *stream_wait_log_first(void)
{
    return __atomic_load_n(&all, __ATOMIC_ACQUIRE);
}

void stream_wait_log_close(void)
{
    for (struct stream_wait_log *s = stream_wait_log_first(); s; s = s->next) {
        SET(s->over, GET(s->n));
        while (s->n_marks)
            gtl->event_destroy(s->marks[--s->n_marks].event);
    }
    lock_acquire(&lock);
    while (n_events) {
        SET(n_events, n_events - 1);
        gtl->event_destroy(events[n_events]);
    }
    lock_release(&lock);
}

void stream_wait_log_count(unsigned *now, unsigned *made)
{
    lock_acquire(&lock);
    *now = n_used;
    *made = n_made;
    lock_release(&lock);
}

/* ---- for the calls that enqueue waits ---- */

void stream_watch_add(const struct stream_where *w, const void *sym,
                      uint64_t *word, uint64_t least, int pe)
{
    const struct stream_wait_log_entry note = {
        .call = w->call, .sym = sym, .word = word, .least = least, .pe = pe
    };

    /* No other thread can ask what a thread's own stream has come to. */
    if (unlikely(gtl_is_per_thread(w->stream)))
        return;
    if (unlikely(stream_wait_log_add(w->stream, &note)) &&
        !gtl_device.host_streams && GET(stream_is_open))
        diag_watchdog_call(stream_wait_log_query_events);
}

void stream_synced(void *stream)
{
    if (!gtl_device.host_streams && stream_wait_log_first())
        stream_wait_log_completed(stream);
}
