/* SPDX-License-Identifier: BSD-3-Clause */
/* Times of what a GPU does in its streams, for SHMEM_TRACE: a table of calls in
 * front of the driver's, which puts an event before and behind each operation and
 * later reads their times.  gtl.c opens it where a trace is recorded; else no
 * call passes here.  The streams of the software device record themselves. */
#include "gtl/gtl_int.h"
#include "base/clock.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* STEPS: operations under way that have events; further ones are not recorded.
 * BASE_NS: a record of the base takes no longer, else it is made again, in all
 * BASE_TRIES times at most. */
enum { STEPS = 1024, ROWS = 64, SECOND_NS = 1000000000, BASE_TRIES = 10,
       BASE_NS = 100000 };

struct step {
    void *from, *to;            /* NULL: not made yet */
    struct trace_what what;
    struct step *next;
};

/* Operations that a stream has under way, in its order. */
struct row {
    void *stream;
    struct trace_ring *ring;    /* NULL: the trace has no room for it */
    struct step *first, *last;
};

static struct {
    struct base_lock lock;
    const struct gtl_ops *driver;       /* NULL: closed */
    struct gtl_ops table;               /* the driver's, but for some */
    struct step *steps MEMBER_GUARDED_BY(lock);
    struct step *unused MEMBER_GUARDED_BY(lock);
    struct row rows[ROWS] MEMBER_GUARDED_BY(lock);
    unsigned n_rows MEMBER_GUARDED_BY(lock);
    unsigned turn MEMBER_GUARDED_BY(lock);      /* of rows, to be read */
    /* The event that others are timed by, and when it was.  The driver gives
     * times as float, so that it is replaced by a later one now and then. */
    void *base MEMBER_GUARDED_BY(lock);
    uint64_t base_ns MEMBER_GUARDED_BY(lock);
} t = { .lock = LOCK_INIT };

/* ---- times ---- */

static bool time_of(void *e, uint64_t *ns) REQUIRES(t.lock)
{
    int64_t since;

    if (t.driver->timer_ns(t.base, e, &since))
        return false;
    *ns = (uint64_t)((int64_t)t.base_ns + since);
    return true;
}

static void give(struct step *p) REQUIRES(t.lock)
{
    p->next = t.unused;
    t.unused = p;
}

static void record(struct row *r, struct step *p) REQUIRES(t.lock)
{
    uint64_t begin, end;
    void *old = t.base;

    if (!time_of(p->from, &begin) || !time_of(p->to, &end))
        return;
    if (r->ring)
        trace_row_span(r->ring, &p->what, begin, end);
    if (end > t.base_ns + SECOND_NS) {
        t.base = p->to;
        t.base_ns = end;
        p->to = old;
    }
}

static void read_row(struct row *r) REQUIRES(t.lock)
{
    struct step *p;

    while ((p = r->first) && !t.driver->event_query(p->to)) {
        r->first = p->next;
        record(r, p);
        give(p);
    }
}

static struct row *row_of(void *s) REQUIRES(t.lock)
{
    struct row *r = t.rows;
    char name[32];

    while (r < t.rows + t.n_rows && r->stream != s)
        r++;
    if (r == t.rows + ROWS)
        return NULL;
    if (r == t.rows + t.n_rows) {
        snprintf(name, sizeof name, "stream %p", s);
        *r = (struct row){ .stream = s, .ring = trace_row(name) };
        t.n_rows++;
    }
    return r;
}

/* ---- an operation ---- */

static struct step *take(void) REQUIRES(t.lock)
{
    struct step *p = t.unused;

    if (!p)
        return NULL;
    if (!p->from && t.driver->timer_create(&p->from))
        return NULL;
    if (!p->to && t.driver->timer_create(&p->to))
        return NULL;
    t.unused = p->next;
    return p;
}

/* NULL: it is not recorded.  A captured operation has no time of its own. */
static struct step *begin(void *s)
{
    struct step *p = NULL;

    if (t.driver->is_capturing(s))
        return NULL;
    lock_acquire(&t.lock);
    if (t.n_rows) {
        read_row(&t.rows[t.turn++ % t.n_rows]);
        read_row(row_of(s) ? row_of(s) : t.rows);
    }
    p = take();
    lock_release(&t.lock);
    if (!p || !t.driver->event_record(p->from, s))
        return p;
    lock_acquire(&t.lock);
    give(p);
    lock_release(&t.lock);
    return NULL;
}

static int end(struct step *p, int rc, const struct trace_what *w, void *s)
{
    struct row *r;

    if (!p)
        return rc;
    if (!rc && !t.driver->event_record(p->to, s)) {
        p->what = *w;
        p->next = NULL;
        lock_acquire(&t.lock);
        r = row_of(s);
        if (!r)
            give(p);
        else if (r->first)
            r->last = r->last->next = p;
        else
            r->first = r->last = p;
        lock_release(&t.lock);
        return 0;
    }
    lock_acquire(&t.lock);
    give(p);
    lock_release(&t.lock);
    return rc;
}

/* at: the flag that the operation stores last, or waits for; NULL: several. */
static struct trace_what what(const char *name, const void *at, size_t bytes)
{
    struct trace_what w = { .name = name, .kind = TRACE_STREAM,
                            .at = TRACE_NOWHERE, .bytes = bytes };

    if (at)
        trace_place(at, &w.at, &w.pe);
    if (w.pe)
        w.role = TRACE_STORES;
    return w;
}

/* ---- the calls ---- */

/* Only where p is known does the driver's call run between two events. */
#define TIMED(s, call, ...)                                                 \
    do {                                                                    \
        struct trace_what w_ = __VA_ARGS__;                                 \
        struct step *p_ = begin(s);                                         \
        int rc_ = t.driver->call;                                           \
        return end(p_, rc_, &w_, s);                                        \
    } while (0)

static int timed_copy(void *to, const void *from, size_t n, void *s)
{
    TIMED(s, copy(to, from, n, s), what("copy", to, n));
}

static int timed_copy_blocks(void *to, const void *from,
                             const struct gtl_blocks *b, void *s)
{
    TIMED(s, copy_blocks(to, from, b, s),
          what("copy of blocks", to, b->len * b->count));
}

static int timed_fill(void *to, int byte, size_t n, void *s)
{
    TIMED(s, fill(to, byte, n, s), what("fill", to, n));
}

static int timed_amo(const struct gtl_amo *a, void *s)
{
    TIMED(s, amo(a, s), what("atomic", a->word, (size_t)a->size));
}

static int timed_reduce(const struct gtl_reduce *r, void *s)
{
    TIMED(s, reduce(r, s), what("reduction", NULL, 0));
}

static int timed_write64(uint64_t *word, uint64_t value, void *s)
{
    TIMED(s, write64(word, value, s), what("write", word, sizeof *word));
}

static int timed_wait64(uint64_t *word, uint64_t least, void *s)
{
    struct trace_what w = what("wait", word, sizeof *word);

    w.role = TRACE_SEES;
    TIMED(s, wait64(word, least, s), w);
}

static int timed_batch(const struct gtl_batch *b, void *s)
{
    TIMED(s, batch(b, s), what("batch", NULL, 0));
}

static int timed_peer_copy(const struct gtl_peer_copy *p, void *s)
{
    TIMED(s, peer_copy(p, s), what("copy by two streams", NULL, 0));
}

static int timed_host_call(void (*fn)(void *arg), void *arg, void *s)
{
    TIMED(s, host_call(fn, arg, s), what("host function", NULL, 0));
}

static int timed_graph_launch(void *graph, void *s)
{
    TIMED(s, graph_launch(graph, s), what("graph", NULL, 0));
}

/* ---- opening and closing ---- */

/* The moment of an event is known to half the time that its record took.  It is
 * recorded again where this thread was held up; the last record counts. */
static bool find_base(const struct gtl_ops *d) REQUIRES(t.lock)
{
    uint64_t before, took = BASE_NS + 1;
    void *s = NULL;
    bool found;

    if (d->timer_create(&t.base))
        return false;
    found = !d->stream_create(GTL_NORMAL, &s);
    for (int i = 0; found && i < BASE_TRIES && took > BASE_NS; i++) {
        before = clock_ns();
        found = !d->event_record(t.base, s) && !d->stream_sync(s);
        took = clock_ns() - before;
        t.base_ns = before + took / 2;
    }
    if (s)
        d->stream_destroy(s);
    if (!found)
        d->event_destroy(t.base);
    return found;
}

static bool open_steps(const struct gtl_ops *d) REQUIRES(t.lock)
{
    t.steps = calloc(STEPS, sizeof *t.steps);
    if (!t.steps || !find_base(d)) {
        free(t.steps);
        return false;
    }
    t.unused = NULL;
    for (int i = 0; i < STEPS; i++)
        give(&t.steps[i]);
    t.n_rows = t.turn = 0;
    return true;
}

const struct gtl_ops *gtl_trace_open(const struct gtl_ops *driver, bool itself)
{
    bool opened;

    if (!trace_is_recorded() || !trace_file() || itself)
        return driver;
    lock_acquire(&t.lock);
    opened = open_steps(driver);
    lock_release(&t.lock);
    if (!opened) {
        log_info(LOG_GTL, "the trace has no times of streams: %s", gtl_error());
        return driver;
    }
    t.driver = driver;
    t.table = *driver;
    t.table.copy = timed_copy;
    t.table.copy_blocks = timed_copy_blocks;
    t.table.fill = timed_fill;
    t.table.amo = timed_amo;
    t.table.reduce = timed_reduce;
    t.table.write64 = timed_write64;
    t.table.wait64 = timed_wait64;
    t.table.batch = timed_batch;
    t.table.peer_copy = timed_peer_copy;
    t.table.host_call = timed_host_call;
    t.table.graph_launch = timed_graph_launch;
    return &t.table;
}

void gtl_trace_close(void)
{
    if (!t.driver)
        return;
    lock_acquire(&t.lock);
    for (unsigned i = 0; i < t.n_rows; i++)
        read_row(&t.rows[i]);
    for (int i = 0; i < STEPS; i++) {
        if (t.steps[i].from)
            t.driver->event_destroy(t.steps[i].from);
        if (t.steps[i].to)
            t.driver->event_destroy(t.steps[i].to);
    }
    t.driver->event_destroy(t.base);
    free(t.steps);
    t.steps = t.unused = NULL;
    t.n_rows = 0;
    t.driver = NULL;
    lock_release(&t.lock);
}
