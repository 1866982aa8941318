/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting in the library: for the end of an operation, for room, for a queue
 * that takes a post.  A wait polls the queues, yields, then sleeps, and
 * says so when it lasts.  It ends the job after SHMEM_TIMEOUT if one PE is to
 * answer, and after twice that and SHMEM_STALL if several may be meant.  The
 * progress thread asks can_post() first, so it waits here only where another
 * thread has taken the room since, or where the provider still answers
 * -FI_EAGAIN. */
#include "ofi/net/ofi_int.h"
#include "base/clock.h"
#include "base/env.h"

#include <sched.h>
#include <time.h>

enum { OFTEN = 4, POLLS_PER_CLOCK = 64, SLEEP_NS = 50000 };
#define YIELD_AFTER_NS 20000u
#define SLEEP_AFTER_NS 2000000u
#define GAP_NS 500000000u

/* In a trace: a wait that was not quick is over. */
void ofi_trace_waited(const struct ofi_wait *w)
{
    const struct trace_what what = {
        .name = w->room ? "waits for room of the network"
                        : "waits for the network",
        .kind = TRACE_WAIT, .pe = w->wait.pe + 1, .at = TRACE_NOWHERE
    };

    trace_span_since(&what, w->wait.since_ns - w->gaps_ns);
}

/* What it waits for may stand behind a long transfer: it comes nearer as often as
 * there are fewer operations under way on the endpoint than ever since the wait
 * began.  Other threads and replies may add some, which gives no more time. */
static void note_progress(struct ofi_wait *w, const struct ofi_ep *e,
                          uint64_t now)
{
    uint64_t n = __atomic_load_n(&e->in_flight, __ATOMIC_RELAXED);

    if (n >= w->in_flight)
        return;
    w->moved_ns = now;
    w->in_flight = n;
}

static void check_clock(struct ofi_wait *w, const struct ofi_ep *e)
{
    const struct timespec pause = { .tv_nsec = SLEEP_NS };
    uint64_t now = clock_ns(), gap, waited, most;

    if (!w->wait.since_ns) {
        w->in_flight = __atomic_load_n(&e->in_flight, __ATOMIC_RELAXED);
        w->wait.since_ns = w->wait.examined_ns = w->wait.printed_ns =
            w->last_ns = w->moved_ns = now;
    }
    /* While this PE was stopped no peer kept it waiting. */
    gap = now - w->last_ns > GAP_NS ? now - w->last_ns : 0;
    w->gaps_ns += gap;
    w->wait.since_ns += gap;
    w->wait.examined_ns += gap;
    w->wait.printed_ns += gap;
    w->moved_ns += gap;
    w->last_ns = now;
    note_progress(w, e, now);
    waited = now - w->wait.since_ns;
    if (waited > SLEEP_AFTER_NS) {
        xport_wait_stalled(&w->wait);
        nanosleep(&pause, NULL);
    } else if (waited > YIELD_AFTER_NS) {
        sched_yield();
    }
    most = (uint64_t)env.TIMEOUT * 1000000000u;
    /* Without a single peer, allow core_stall.c time to find the silent one. */
    if (w->wait.pe < 0)
        most = 2 * most + (env.STALL ? (uint64_t)env.STALL : 10) * 1000000000u;
    if (env.TIMEOUT && waited > most && now - w->moved_ns > most)
        ofi_fatal_timeout(w, waited);
}

/* Other endpoints of this PE may hold what a peer waits for before it answers:
 * requests, and replies whose buffers are received into again.  No other thread
 * polls them as long as this one does. */
void ofi_wait_step(struct ofi_wait *w, struct ofi_ep *e)
{
    bool waits = ofi_ep_is_busy(e), seldom = ++w->polls % OFTEN == 0;
    int n = 0;

    /* For the end of an operation, or for the answer to a message; asking for
     * one shows what there is of the other, too. */
    if (waits || (seldom && e != ofi.eps[0]))
        n = ofi_ep_poll(e);
    if (!waits || seldom)
        n += ofi_poll_incoming();
    if (seldom && e != ofi.eps[0] && ofi_ep_is_busy(ofi.eps[0]))
        n += ofi_ep_poll(ofi.eps[0]);   /* replies that keep their buffers */
    n += ofi_run_work();
    ofi_progress_note_poll();
    if (n)
        return;
    if (__atomic_load_n(&xport_oversubscribed, __ATOMIC_RELAXED))
        sched_yield();
    if (++w->steps % (w->wait.since_ns ? OFTEN : POLLS_PER_CLOCK) == 0)
        ofi_progress();
    /* Where cores are short the peer may need this one. */
    if (w->wait.since_ns || w->steps % POLLS_PER_CLOCK == 0)
        check_clock(w, e);
}

/* Operations to any PE may be what is under way. */
void ofi_wait_window(struct xport_ctx *f)
{
    struct ofi_wait w = { .wait = { .pe = -1, .likely_pe = -1 }, .room = true };

    while (__atomic_load_n(&f->ep->in_flight, __ATOMIC_RELAXED) >= ofi.window)
        ofi_wait_step(&w, f->ep);
    ofi_wait_end(&w);
}

bool ofi_post_retry(long rc, struct ofi_wait *w, struct xport_ctx *f)
{
    if (likely(!rc)) {
        ofi_wait_end(w);
        return false;
    }
    if (rc != -FI_EAGAIN) {
        ofi_op_error(f, w->what, w->wait.pe, rc, NULL);
        ofi_wait_end(w);
        w->failed = true;
        return false;
    }
    /* Operations without an entry may still fill a queue of the NIC's. */
    if (!ofi_ep_is_busy(f->ep))
        ofi_ep_poll(f->ep);
    ofi_wait_step(w, f->ep);
    return true;
}

void ofi_wait_op(struct ofi_op *op, struct xport_ctx *f)
{
    struct ofi_wait w = { .wait.pe = op->pe };

    /* acquire: data of the operation are there. */
    while (!__atomic_load_n(&op->state, __ATOMIC_ACQUIRE))
        ofi_wait_step(&w, f->ep);
    ofi_wait_end(&w);
    ofi_ctx_completed(f);
}
