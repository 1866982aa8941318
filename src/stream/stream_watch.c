/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams that wait for long.
 *
 * Who enqueues a wait leaves a note of it, a few stores, and a thread looks at
 * the notes and at what the agent does a few times in SHMEM_STALL seconds: what
 * lasts from one look to the next is kept in a list with the time when it was
 * first seen, and told of with what those do who are to end it.
 *
 * Which wait a GPU's stream has come to nobody knows.  The first of its notes
 * whose word is not raised is taken for it, unless the stream is idle or has
 * been given more to wait for meanwhile, as one that goes on is.  The software
 * device does know. */
#include "stream/graph/stream_graph.h"
#include "stream/stream_watch.h"
#include "base/clock.h"
#include "base/env.h"
#include "base/lock.h"
#include "base/thread.h"
#include "core/core_device.h"
#include "core/core_describe.h"
#include "core/core_stall.h"
#include "gtl/gtl_default_stream.h"
#include "stream/stream_upper.h"
#include "stream/stream_wait_notes.h"
#include "stream/ring/stream_ring.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LOOKS = 8, MOST = 256, SHOWN = 3 };
/* Later than that, or than another look, and this PE was not running: its
 * waits are not counted then, as it cannot tell what the others did. */
#define GAP_NS ((uint64_t)500000000)

/* Seen by a look. */
struct saw {
    const void *of;
    uint64_t turn;
    void *stream;
    int pe;                     /* who is to end it, or -1 */
    bool armed;                 /* of a queue */
    bool goes_on;               /* perhaps it is past; the stream has gone on */
    struct core_waiter what;    /* addr NULL: an operation on other nodes */
};

/* What lasts. */
struct entry {
    const void *of;
    uint64_t turn;              /* which of its waits */
    bool marked, told;          /* seen at this look; of a line */
    bool armed;
    void *stream;
    struct core_waiter what;    /* for words; without addr: an operation */
    uint64_t from_ns;           /* it is counted; lasting.w's is the first look,
                                 * and one of what a round knows it by */
    struct core_outstanding lasting;
};

static struct base_lock lock = LOCK_INIT;
static struct list_link own GUARDED_BY(lock) = LIST_INIT(own);

static struct base_lock start_lock = LOCK_INIT;
static bool runs GUARDED_BY(start_lock), may_run GUARDED_BY(start_lock);
static pthread_t thread;
static pthread_mutex_t stop_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t stopped;
static bool stop, events_due;   /* under stop_lock */
static bool calls;              /* atomic: events_due is, or will be */
static bool open;               /* atomic: waits are watched */

/* The thread's. */
static struct entry *entries[MOST];
static unsigned n_entries;

/* ---- what is watched ---- */

#define GET(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)
#define SET(x, v) __atomic_store_n(&(x), v, __ATOMIC_RELAXED)

/* The thread makes events. */
static void call_for_events(void)
{
    if (__atomic_exchange_n(&calls, true, __ATOMIC_RELAXED))
        return;
    pthread_mutex_lock(&stop_lock);
    events_due = true;
    if (!stop)
        pthread_cond_signal(&stopped);
    pthread_mutex_unlock(&stop_lock);
}

void stream_watch_add(const struct stream_where *w, const void *sym,
                      uint64_t *word, uint64_t least, int pe)
{
    const struct stream_note note = {
        .call = w->call, .sym = sym, .word = word, .least = least, .pe = pe
    };

    /* No other thread can ask what a thread's own stream has come to. */
    if (unlikely(gtl_is_per_thread(w->stream)))
        return;
    if (unlikely(!GET(open)))
        stream_watch_start();
    if (unlikely(stream_notes_add(w->stream, &note)) &&
        !gtl_device.host_streams &&
        GET(open))
        call_for_events();
}

void stream_watch_enqueued(void *stream)
{
    if (!gtl_device.host_streams)
        stream_notes_mark(stream, false);
}

void stream_watch_enqueued_internal(void *stream)
{
    if (!gtl_device.host_streams)
        stream_notes_mark(stream, true);
}

void stream_synced(void *stream)
{
    if (!gtl_device.host_streams && GET(open))
        stream_notes_past(stream);
}

void stream_watch_begin(struct stream_thread_wait *o)
{
    if (unlikely(!GET(open)))
        stream_watch_start();
    lock_acquire(&lock);
    list_append(&own, &o->link);
    lock_release(&lock);
}

void stream_watch_end(struct stream_thread_wait *o)
{
    lock_acquire(&lock);
    list_remove(&o->link);
    lock_release(&lock);
}

/* ---- a look ---- */

static void saw_lasting(const struct saw *saw)
{
    struct entry *e;
    unsigned i;

    for (i = 0; i < n_entries; i++)
        if (entries[i]->of == saw->of && entries[i]->turn == saw->turn)
            break;
    if (i == n_entries) {
        e = n_entries < MOST ? calloc(1, sizeof *e) : NULL;
        if (!e)
            return;
        e->of = saw->of;
        e->turn = saw->turn;
        e->stream = saw->stream;
        e->armed = saw->armed;
        e->what = saw->what;
        e->lasting.pe = saw->pe;
        e->lasting.told = &e->told;
        e->from_ns = e->lasting.w.since_ns = clock_ns();
        entries[n_entries++] = e;
    }
    e = entries[i];
    e->marked = true;
    if (saw->goes_on && !e->told)
        e->from_ns = clock_ns();
}

static uint64_t lasted(const struct entry *e, uint64_t now)
{
    return now - e->from_ns;
}

/* What it waits for: a word, or operations that the NIC does. */
static struct core_waiter what_of(const struct stream_note *n)
{
    if (!n->sym)
        return (struct core_waiter){ .call = n->call };
    return (struct core_waiter){
        .addr = n->sym, .bytes = 8, .what = CORE_FOR_VALUE,
        .cmp = SHMEM_CMP_GE, .value = n->least, .call = n->call,
        .foreign = core_device_only(n->sym)
    };
}

/* The note of what the software device waits for may have been written over,
 * where many waits were enqueued at once: then the word has to tell. */
static void look_at_notes(struct stream_notes *s, uintptr_t key)
{
    uint64_t n = __atomic_load_n(&s->n, __ATOMIC_ACQUIRE), i, least = 0;
    bool guess = !gtl_device.host_streams, found;
    void *stream = stream_notes_stream(key);
    struct stream_note was = { .pe = -1 };
    uint64_t *word = NULL;
    bool waits = !guess && gtl->waits_for(stream, &word, &least);

    found = (guess || waits) && stream_notes_find(s, key, word, least, &i,
                                                  &was);
    if (!found && waits && n > STREAM_NOTES &&
        GET(s->over) < n - STREAM_NOTES) {
        was = (struct stream_note){ key, was.call, word, word, least, -1 };
        i = (uintptr_t)word + least;
        found = true;
    }
    if (found)
        saw_lasting(&(struct saw){
            .of = s, .turn = i, .stream = stream, .pe = was.pe,
            .goes_on = guess && n != GET(s->seen),
            .what = what_of(&was)
        });
    SET(s->seen, n);
}

static void look_at_own(const struct stream_thread_wait *o)
{
    saw_lasting(&(struct saw){
        .of = o, .turn = o->turn, .stream = o->stream, .pe = o->pe,
        .what = o->what
    });
}

static void look_at_op(struct stream_ring *q, const struct stream_op *op)
{
    struct saw saw = { .of = q,
                       .turn = op->ticket,
                       .stream = q->handle,
                       .armed = true,
                       .pe = op->kind == STREAM_QUIET ||
                                     op->kind == STREAM_LOCAL_QUIET
                                 ? stream_errors_recent_pe(&q->failed)
                                 : op->pe,
                       .what.call = op->call };

    if (op->kind == STREAM_WAIT) {
        saw.what = stream_wait_describe(op->call, op->wait);
        saw.pe = op->wait->whose - 1;
    } else if (q->ctx.flow) {
        xport_progress->check_timeouts(q->ctx.flow, clock_ns());
    }
    saw_lasting(&saw);
}

/* ---- lines ---- */

static void describe(const struct entry *e, struct line *t, uint64_t now)
{
    char message[192];

    line_addf(t, "stream %p: %s waits for %llu s for ", e->stream,
                  core_public_name(e->what.call),
                  line_seconds(lasted(e, now)));
    if (e->what.addr &&
        stream_upper()->describe_word(e->what.addr, message, sizeof message))
        line_addf(t, "%s", message);
    else if (e->what.addr)
        core_describe_wait(t, &e->what, false);
    else
        line_addf(t, "operations on other nodes");
}

static unsigned streams(void)
{
    unsigned n = 0;

    for (unsigned i = 0, k; i < n_entries; i++) {
        for (k = 0; k < i && entries[k]->stream != entries[i]->stream; k++)
            ;
        n += k == i;
    }
    return n;
}

static void tell(struct entry *e, uint64_t now)
{
    struct line t = { .n = 0 };
    struct core_outstanding *l = &e->lasting;

    describe(e, &t, now);
    l->text = t.at;
    l->who = !e->what.addr ? "; with"
             : l->pe >= 0 ? "; to be raised by"
             : core_world.n_pes > 2 ? "; to be raised by one of"
             : "; to be raised, it may be, by";
    l->advice = gtl->lockup_hint(streams());
    core_stall_outstanding(l, now);
}

static bool lasts(const struct entry *e, uint64_t now)
{
    return lasted(e, now) > diag_stall_ns;
}

static void end(struct entry *e, uint64_t now)
{
    if (e->told && env.STALL)
        log_warn(ERR_STALL, "stream %p: %s went on after %llu s", e->stream,
                 core_public_name(e->what.call),
                 line_seconds(lasted(e, now)));
    free(e);
}

/* The part of the hang report that is printed at SIGUSR2, or NULL. */
static const struct line *shown;        /* atomic */

static void describe_report(struct line *out)
{
    const struct line *t = __atomic_load_n(&shown, __ATOMIC_ACQUIRE);

    if (t)
        line_add(out, t->at);
}

static const struct diag_source source = {
    .part = DIAG_STREAMS, .describe = describe_report
};

/* For SIGUSR2, whose handler may be reading the one of before. */
static void show(uint64_t now)
{
    static struct line texts[2];
    static unsigned turn;
    struct line *t = &texts[++turn % 2];
    unsigned n = n_entries < SHOWN ? n_entries : SHOWN;

    t->n = 0;
    for (unsigned i = 0; i < n; i++) {
        line_addf(t, "; ");
        describe(entries[i], t, now);
    }
    if (n_entries > n)
        line_addf(t, "; %u more streams wait", n_entries - n);
    __atomic_store_n(&shown, n ? t : NULL, __ATOMIC_RELEASE);
}

static void look(void)
{
    struct list_link *l, *next;
    uint64_t now;
    bool looked;

    for (unsigned i = 0; i < n_entries; i++)
        entries[i]->marked = false;
    if (!gtl_device.host_streams)
        stream_notes_look();
    for (struct stream_notes *s = stream_notes_first(); s; s = s->next) {
        uintptr_t key = GET(s->key);

        if (key)
            look_at_notes(s, key);
    }
    lock_acquire(&lock);
    list_each(l, next, &own)
        look_at_own(list_entry(l, struct stream_thread_wait, link));
    lock_release(&lock);
    looked = stream_rings_visit(look_at_op);
    now = clock_ns();
    for (unsigned i = 0; i < n_entries;) {
        struct entry *e = entries[i];

        e->marked |= e->armed && !looked;
        if (!e->marked) {
            end(e, now);
            entries[i] = entries[--n_entries];
        } else {
            i++;
        }
    }
    show(now);
    for (unsigned i = 0; i < n_entries; i++)
        if (lasts(entries[i], now))
            tell(entries[i], now);
}

/* ---- the thread ---- */

static bool sleep_until_stopped(uint64_t ns)
{
    uint64_t at = clock_ns() + ns;
    struct timespec t = { (time_t)(at / 1000000000u),
                          (long)(at % 1000000000u) };
    bool is;
    int rc = 0;

    pthread_mutex_lock(&stop_lock);
    while (!stop && rc != ETIMEDOUT) {
        if (events_due) {
            events_due = false;
            pthread_mutex_unlock(&stop_lock);
            SET(calls, false);
            stream_notes_look();
            pthread_mutex_lock(&stop_lock);
            continue;
        }
        rc = pthread_cond_timedwait(&stopped, &stop_lock, &t);
    }
    is = stop;
    pthread_mutex_unlock(&stop_lock);
    return is;
}

static void forget_gap(uint64_t gap, uint64_t now)
{
    uint64_t *from;

    for (unsigned i = 0; i < n_entries; i++) {
        from = &entries[i]->from_ns;
        *from = *from + gap < now ? *from + gap : now;
    }
}

static void *run(void *arg)
{
    uint64_t every = diag_stall_ns / LOOKS, last = clock_ns(), now, late;
    uint64_t most = every < GAP_NS ? every : GAP_NS;

    while (!sleep_until_stopped(every)) {
        now = clock_ns();
        late = now - last - every;
        if (late > most)
            forget_gap(late, now);
        last = now;
        look();
    }
    return arg;
}

void stream_watch_open(void)
{
    lock_acquire(&start_lock);
    may_run = true;
    lock_release(&start_lock);
    diag_register(&source);
    if (!gtl_device.host_streams)
        stream_notes_open();
}

void stream_watch_start(void)
{
    pthread_condattr_t attr;

    lock_acquire(&start_lock);
    if (may_run && !runs) {     /* streams may still come to waits at the end */
        pthread_condattr_init(&attr);
        pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
        pthread_cond_init(&stopped, &attr);
        pthread_condattr_destroy(&attr);
        stop = false;
        runs = !thread_start(&thread, run, NULL);
        SET(open, true);        /* or there is none, and that is all */
    }
    lock_release(&start_lock);
}

void stream_watch_close(void)
{
    bool was;

    lock_acquire(&start_lock);
    was = runs;
    runs = may_run = false;
    SET(open, false);
    lock_release(&start_lock);
    if (was) {
        pthread_mutex_lock(&stop_lock);
        stop = true;
        pthread_cond_signal(&stopped);
        pthread_mutex_unlock(&stop_lock);
        pthread_join(thread, NULL);
        pthread_cond_destroy(&stopped);
    }
    __atomic_store_n(&shown, NULL, __ATOMIC_RELEASE);
    while (n_entries)
        free(entries[--n_entries]);
    stream_notes_close();
}
