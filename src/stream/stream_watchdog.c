/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams that wait for long: the watchdog's and the hang report's source.
 *
 * The watchdog looks at the notes of waits (stream_wait_log.c) and at the
 * operations at the heads of the rings.  A wait that lasts from one check to
 * the next is kept in a list with the time when it was first seen, and is
 * reported with the activity of the PEs that are to end it.
 *
 * No call reports which wait a GPU's stream has come to.  The first of its
 * notes whose word is not raised is taken for it, unless the stream is idle or
 * has been given more to wait for meanwhile, as a stream that goes on is.  The
 * software device reports it.  All but stream_watchdog_close() runs on the
 * diag thread or in the handler of a report. */
#include "stream/stream_wait_log.h"
#include "base/clock.h"
#include "base/env.h"
#include "base/symbol.h"
#include "core/core_describe.h"
#include "core/core_device.h"
#include "core/core_stall.h"
#include "diag/diag.h"
#include "stream/ring/stream_ring.h"
#include "stream/stream_upper.h"
#include "stream/stream_wait.h"

#include <stdlib.h>

#define GET(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)
#define SET(x, v) __atomic_store_n(&(x), v, __ATOMIC_RELAXED)

enum { MOST = 256, REPORTED_MAX = 3 };

/* Seen by a look. */
struct saw {
    const void *of;
    uint64_t turn;              /* which of its waits */
    void *stream;
    int pe;                     /* the PE that is to end it, or -1 */
    bool posted;                 /* of a queue */
    bool goes_on;               /* perhaps it is past; the stream has gone on */
    struct core_waiter what;    /* addr NULL: an operation on other nodes */
};

/* A wait that lasts. */
struct entry {
    struct saw saw;             /* at the first look */
    bool marked, reported;          /* seen at this look; of a line */
    uint64_t from_ns;           /* it is counted; lasting.w's is the first look,
                                 * and one of what a round knows it by */
    struct core_outstanding lasting;
};

/* The diag thread's. */
static struct entry *entries[MOST];
static unsigned n_entries;

static void saw_lasting(const struct saw *saw)
{
    struct entry *e;
    unsigned i;

    for (i = 0; i < n_entries; i++)
        if (entries[i]->saw.of == saw->of && entries[i]->saw.turn == saw->turn)
            break;
    if (i == n_entries) {
        e = n_entries < MOST ? calloc(1, sizeof *e) : NULL;
        if (!e)
            return;
        e->saw = *saw;
        e->lasting.pe = saw->pe;
        e->lasting.reported = &e->reported;
        e->from_ns = e->lasting.w.wait_began_ns = clock_ns();
        entries[n_entries++] = e;
    }
    e = entries[i];
    e->marked = true;
    if (saw->goes_on && !e->reported)
        e->from_ns = clock_ns();
}

static uint64_t lasted(const struct entry *e, uint64_t now)
{
    return now - e->from_ns;
}

/* The object of its wait: a flag, or operations that the NIC does. */
static struct core_waiter what_of(const struct stream_wait_log_entry *n)
{
    if (!n->sym)
        return (struct core_waiter){ .info.call = n->call };
    return (struct core_waiter){
        .addr = n->sym, .bytes = 8, .info.what = CORE_FOR_VALUE,
        .info.cmp = SHMEM_CMP_GE, .info.value = n->least, .info.call = n->call,
        .info.device_only = core_device_only(n->sym)
    };
}

/* The note of what the software device waits for may have been written over,
 * where many waits were enqueued at once: then the flag itself decides. */
static void check_wait_log(struct stream_wait_log *s, uintptr_t key)
{
    uint64_t n = __atomic_load_n(&s->n, __ATOMIC_ACQUIRE), i, least = 0;
    bool guess = !gtl_device.host_streams, found;
    void *stream = stream_wait_log_stream(key);
    struct stream_wait_log_entry was = { .pe = -1 };
    uint64_t *word = NULL;
    bool waits = !guess && gtl->waits_for(stream, &word, &least);

    found = (guess || waits) && stream_wait_log_find(s, key, word, least, &i,
                                                  &was);
    if (!found && waits && n > STREAM_WAIT_LOG_ENTRIES &&
        GET(s->over) < n - STREAM_WAIT_LOG_ENTRIES) {
        was = (struct stream_wait_log_entry){ key,  was.call, word,
                                              word, least,    -1 };
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

static void check_thread_wait(const struct stream_thread_wait *t)
{
    saw_lasting(&(struct saw){
        .of = t->of, .turn = t->turn, .stream = t->stream, .pe = t->pe,
        .what = t->what
    });
}

static void check_ring_head(struct stream_ring *q, const struct stream_op *op)
{
    struct saw saw = { .of = q,
                       .turn = op->seq,
                       .stream = q->handle,
                       .posted = true,
                       .pe = op->kind == STREAM_QUIET ||
                                     op->kind == STREAM_LOCAL_QUIET
                                 ? stream_errors_recent_pe(&q->exec.failed)
                                 : op->pe,
                       .what.info.call = op->call };

    if (op->kind == STREAM_WAIT) {
        saw.what = stream_wait_describe(op->call, op->wait);
        saw.pe = op->wait->whose - 1;
    } else if (q->exec.ctx.net) {
        xport_progress->check_timeouts(q->exec.ctx.net, clock_ns());
    }
    saw_lasting(&saw);
}

/* ---- lines ---- */

static void describe(const struct entry *e, struct line *t, uint64_t now)
{
    const struct core_waiter *what = &e->saw.what;
    char message[192];

    line_addf(t, "stream %p: %s waits for %llu s for ", e->saw.stream,
                  symbol_public(what->info.call),
                  line_seconds(lasted(e, now)));
    if (what->addr &&
        stream_upper->describe_counter(what->addr, message, sizeof message))
        line_addf(t, "%s", message);
    else if (what->addr)
        core_describe_wait(t, what, false);
    else
        line_addf(t, "operations on other nodes");
}

static unsigned streams(void)
{
    unsigned n = 0;

    for (unsigned i = 0, k; i < n_entries; i++) {
        const void *of = entries[i]->saw.stream;

        for (k = 0; k < i && entries[k]->saw.stream != of; k++)
            ;
        n += k == i;
    }
    return n;
}

static void report(struct entry *e, uint64_t now)
{
    struct line t = { .n = 0 };
    struct core_outstanding *l = &e->lasting;

    describe(e, &t, now);
    l->text = t.at;
    l->who = !e->saw.what.addr ? "; with"
             : l->pe >= 0 ? "; to be raised by"
             : core_world.n_pes > 2 ? "; to be raised by one of"
             : "; to be raised perhaps by";
    l->advice = gtl->lockup_hint(streams());
    core_stall_outstanding(l, now);
}

static bool lasts(const struct entry *e, uint64_t now)
{
    return lasted(e, now) > diag_stall_ns;
}

static void end(struct entry *e, uint64_t now)
{
    if (e->reported && env.STALL)
        log_warn(ERR_STALL, "stream %p: %s went on after %llu s", e->saw.stream,
                 symbol_public(e->saw.what.info.call),
                 line_seconds(lasted(e, now)));
    free(e);
}

/* The part of the hang report that is printed at SIGUSR2, or NULL. */
static const struct line *report_part;        /* atomic */

static void describe_report(struct line *out)
{
    const struct line *t = __atomic_load_n(&report_part, __ATOMIC_ACQUIRE);

    if (t)
        line_add(out, t->at);
}

/* For SIGUSR2, whose handler may be reading the one of before. */
static void update_report(uint64_t now)
{
    static struct line texts[2];
    static unsigned turn;
    struct line *t = &texts[++turn % 2];
    unsigned n = n_entries < REPORTED_MAX ? n_entries : REPORTED_MAX;

    t->n = 0;
    for (unsigned i = 0; i < n; i++) {
        line_addf(t, "; ");
        describe(entries[i], t, now);
    }
    if (n_entries > n)
        line_addf(t, "; %u more streams wait", n_entries - n);
    __atomic_store_n(&report_part, n ? t : NULL, __ATOMIC_RELEASE);
}

static void check(uint64_t now)
{
    bool looked;

    if (!__atomic_load_n(&stream_is_open, __ATOMIC_ACQUIRE))
        return;                 /* others' checks go on behind the close */
    stream_wait_log_reads(true);
    for (unsigned i = 0; i < n_entries; i++)
        entries[i]->marked = false;
    if (!gtl_device.host_streams)
        stream_wait_log_query_events();
    for (struct stream_wait_log *s = stream_wait_log_first(); s; s = s->next) {
        uintptr_t key = GET(s->key);

        if (key)
            check_wait_log(s, key);
    }
    stream_wait_visit(check_thread_wait);
    looked = stream_rings_visit_heads(check_ring_head);
    now = clock_ns();         /* the visits may have taken long */
    for (unsigned i = 0; i < n_entries;) {
        struct entry *e = entries[i];

        e->marked |= e->saw.posted && !looked;
        if (!e->marked) {
            end(e, now);
            entries[i] = entries[--n_entries];
        } else {
            i++;
        }
    }
    update_report(now);
    for (unsigned i = 0; i < n_entries; i++)
        if (lasts(entries[i], now))
            report(entries[i], now);
    stream_wait_log_reads(false);
}

/* The process did not run, so it does not know what the others did. */
static void paused(uint64_t gap, uint64_t now)
{
    uint64_t *from;

    for (unsigned i = 0; i < n_entries; i++) {
        from = &entries[i]->from_ns;
        *from = *from + gap < now ? *from + gap : now;
    }
}

static const struct diag_source source = {
    .part = DIAG_STREAMS, .describe = describe_report, .check = check,
    .paused = paused, .statistics = stream_stats_report
};

void stream_watchdog_open(void)
{
    if (!gtl_device.host_streams)       /* before a check makes some */
        stream_wait_log_make_events();
    diag_register(&source);
    diag_watchdog_start();      /* or there is none, and that is all */
}

void stream_watchdog_close(void)
{
    diag_watchdog_call(NULL);
    diag_watchdog_stop();
    stream_wait_log_close();
    __atomic_store_n(&report_part, NULL, __ATOMIC_RELEASE);
    while (n_entries)
        free(entries[--n_entries]);
}
