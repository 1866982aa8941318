/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations of streams that failed.
 *
 * A failed operation counts as completed, so no stream stays behind it, and its
 * ring remembers it until a host call that waits for it returns the error.  The
 * line is printed with that call, with a quiet of the host if that is sooner,
 * or when the ring goes; of the same PE and cause a call prints few of them.
 * The thread that makes the transport progress records a failure in the middle
 * of other work, so recording takes a lock, fills in the ring's record and does
 * no more. */
#include "stream/stream_int.h"
#include "stream/stream_stats.h"
#include "base/lock.h"
#include "base/symbol.h"
#include "core/core_describe.h"
#include "core/core_misuse.h"
#include "gtl/gtl_default_stream.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { NEWS = 32 };             /* pairs of a PE and a cause */

static struct base_lock lock = LOCK_INIT;
/* The rings with failures that are not returned yet. */
static struct stream_errors *pending GUARDED_BY(lock);
static bool any;                /* atomic: pending is not empty */

/* Has no line named this PE with this cause yet?  Then one does, whatever came
 * before it; of what comes again a call prints few. */
static bool is_news(const struct stream_errors *f) REQUIRES(lock)
{
    static struct {
        int pe;
        char cause[sizeof f->cause];
    } known[NEWS];
    static unsigned n;

    for (unsigned i = 0; i < n; i++)
        if (known[i].pe == f->pe && !strcmp(known[i].cause, f->cause))
            return false;
    if (n == NEWS)
        return false;
    known[n].pe = f->pe;
    memcpy(known[n++].cause, f->cause, sizeof f->cause);
    return true;
}

static void report(const char *call, struct stream_errors *f) REQUIRES(lock)
{
    char who[96] = "PEs of other nodes", more[48] = "", where[40] = "";

    if (f->reported)
        return;
    f->reported = true;
    if (f->pe >= 0)
        core_name_pe(f->pe, who, sizeof who);
    if (f->n > f->n_printed + 1)
        snprintf(more, sizeof more, "; %lu more failed",
                 f->n - f->n_printed - 1);
    f->n_printed = f->n;
    if (!f->of_trigger)
        snprintf(where, sizeof where, "on stream %p ", f->stream);
    if (is_news(f) || !call)
        log_warn(ERR_STREAM, "%s%s%s%s failed: %s, %s: %s%s",
                 call ? symbol_public(call) : "", call ? ": " : "", where,
                 symbol_public(f->call), f->what, who, f->cause, more);
    else
        core_misuse(ERR_STREAM, call, "%s%s failed: %s, %s: %s%s", where,
                    symbol_public(f->call), f->what, who, f->cause, more);
}

/* The host's quiet calls this. */
static void report_all(const char *call)
{
    lock_acquire(&lock);
    for (struct stream_errors *f = pending; f; f = f->next)
        report(call, f);
    lock_release(&lock);
}

static void set_any(void) REQUIRES(lock)
{
    __atomic_store_n(&any, pending != NULL, __ATOMIC_RELEASE);
    __atomic_store_n(&core_quiet_hook, pending ? report_all : NULL,
                     __ATOMIC_RELEASE);
}

/* The call of the last operation for that PE: the transport names the PE of a
 * failure, and no call. */
static const char *call_of(const struct stream_errors *f, int pe)
{
    unsigned at = __atomic_load_n(&f->at, __ATOMIC_RELAXED);
    const char *call, *last = NULL;

    for (unsigned i = 0; i < STREAM_RECENT; i++) {
        unsigned k = (at - 1 - i) % STREAM_RECENT;

        call = __atomic_load_n(&f->recent[k].call, __ATOMIC_RELAXED);
        if (call && (pe < 0 ||
                     __atomic_load_n(&f->recent[k].pe, __ATOMIC_RELAXED) == pe))
            return call;
        last = last ? last : call;
    }
    return last ? last : "an operation";
}

int stream_errors_recent_pe(const struct stream_errors *f)
{
    int pe = -1, one;

    for (unsigned k = 0; k < STREAM_RECENT; k++) {
        if (!__atomic_load_n(&f->recent[k].call, __ATOMIC_RELAXED))
            continue;
        one = __atomic_load_n(&f->recent[k].pe, __ATOMIC_RELAXED);
        if (pe >= 0 && one != pe)
            return -1;
        pe = one;
    }
    return pe;
}

static void forget(struct stream_errors *f) REQUIRES(lock)
{
    f->reported = false;
    f->n = f->n_printed = f->owned = 0;
    f->turn++;
}

void stream_errors_record(struct stream_errors *f, const char *call,
                          const char *what, int pe, const char *cause,
                          unsigned long *turn)
{
    bool first;

    lock_acquire(&lock);
    /* Requests report their own failures: the line is for the others.  One that
     * is printed stays until a call returns it. */
    first = !f->n || f->reported || (f->of_request && !turn);
    f->reported = false;
    if (turn) {
        f->owned++;
        *turn = f->turn;
    }
    f->n++;
    if (first) {
        f->of_request = turn != NULL;
        f->call = call ? call : call_of(f, pe);
        f->what = what;
        f->pe = pe;
        snprintf(f->cause, sizeof f->cause, "%s", cause);
    }
    stream_count(STREAM_FAILED, 1);
    if (!f->listed) {
        f->listed = true;
        f->next = pending;
        pending = f;
        set_any();
    }
    lock_release(&lock);
}

bool stream_errors_unreported(struct stream_errors *f)
{
    bool yes;

    lock_acquire(&lock);
    yes = f->listed && !f->reported;
    lock_release(&lock);
    return yes;
}

static void failed(void *arg, const char *what, int pe, const char *cause)
{
    struct stream_errors *f = arg;

    /* relaxed: the waiter has seen the context's count, which came later. */
    __atomic_store_n(&f->lost_pe, pe, __ATOMIC_RELAXED);
    __atomic_fetch_add(&f->lost, 1, __ATOMIC_RELAXED);
    stream_errors_record(arg, NULL, what, pe, cause, NULL);
}

void stream_errors_init(struct stream_errors *f, void *stream,
                        struct xport_ctx *net)
{
    *f = (struct stream_errors){
        .stream = stream, .turn = 1, .owner = gtl_stream_owner(stream)
    };
    if (net)
        xport_net->ctx_continue_on_error(net, failed, f);
}

void stream_errors_assign(struct stream_errors *f, void *stream)
{
    uint64_t owner = gtl_stream_owner(stream);

    /* Only the thread that starts operations changes them. */
    if (likely(f->stream == stream && f->owner == owner))
        return;
    lock_acquire(&lock);
    f->stream = stream;
    f->owner = owner;
    lock_release(&lock);
}

/* Takes the record off the list. */
static void unlist(struct stream_errors **at) REQUIRES(lock)
{
    struct stream_errors *f = *at;

    *at = f->next;
    f->listed = false;
    forget(f);
    set_any();
}

/* Prints and returns the failures of the stream, or, with f, of that ring. */
static int take(const char *call, void *stream, const struct stream_errors *f)
{
    uint64_t owner = gtl_stream_owner(stream);
    struct stream_errors **at;
    int rc = 0;

    xport_trig->report_failures();
    /* acquire: a failure is recorded before its operation completes. */
    if (likely(!__atomic_load_n(&any, __ATOMIC_ACQUIRE)))
        return 0;
    lock_acquire(&lock);
    for (at = &pending; *at;) {
        if (f ? *at == f
              : (*at)->stream == stream && (*at)->owner == owner) {
            report(call, *at);
            unlist(at);
            rc = -EIO;
        } else {
            at = &(*at)->next;
        }
    }
    lock_release(&lock);
    return rc;
}

int stream_errors_take_stream(const char *call, void *stream)
{
    return take(call, stream, NULL);
}

int stream_errors_take_ring(const char *call, const struct stream_errors *f)
{
    return take(call, NULL, f);
}

static bool knows_all(const struct stream_errors *f)
{
    bool all;

    lock_acquire(&lock);
    all = f->n == f->owned;
    lock_release(&lock);
    return all;
}

int stream_errors_take_unowned(const char *call, const struct stream_errors *f)
{
    xport_trig->report_failures();
    return likely(!__atomic_load_n(&any, __ATOMIC_ACQUIRE)) || knows_all(f)
           ? 0 : take(call, NULL, f);
}

void stream_errors_withdraw(struct stream_errors *f, unsigned long turn)
{
    struct stream_errors **at = &pending;

    lock_acquire(&lock);
    if (f->turn == turn) {
        f->owned--;
        f->n--;
        if (f->n_printed >= f->n) {     /* what is left was printed */
            f->n_printed = f->n;
            f->reported = true;
        }
        while (*at != f)
            at = &(*at)->next;
        if (!f->n)
            unlist(at);
    }
    lock_release(&lock);
}
