/* SPDX-License-Identifier: BSD-3-Clause */
/* shmemx_match() and its kin: calls that match requests, and the requests of
 * those that return at once.  The API calls it.  msg_match.c does the matching
 * itself, for this and for all other calls. */
#include "msg/msg_describe.h"
#include "base/clock.h"
#include "base/symbol.h"
#include "core/core_misuse.h"
#include "core/core_describe.h"
#include "core/core_stall.h"
#include "msg/msg_ctrl.h"
#include "msg/part/part.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The object of a match request; n is 0 when its result has been reported. */
struct match {
    int n;
    struct shmemx_req *reqs[];
};
static const struct stream_req_ops match_ops;

static bool is_message(const struct req *r)
{
    return r->ops == &msg_req_ops || r->ops == &part_req_ops;
}

/* NULL, logged: it is no request that is to be matched. */
static struct msg_chan *need_chan(const char *call, struct shmemx_req *reqs[],
                                  int i)
{
    struct req *r = stream_req_at(call, reqs, i);

    if (r && is_message(r) && !r->once)
        return r->object;
    if (r)
        core_misuse(ERR_ARG, call, "request %d is none that send_init, "
                    "rsend_init, recv_init, psend_init or precv_init made", i);
    return NULL;
}

static int request_all(const char *call, int n, struct shmemx_req *reqs[])
{
    for (int i = 0; i < n; i++)
        if (!need_chan(call, reqs, i))
            return -EINVAL;
    for (int i = 0; i < n; i++)
        msg_chan_request_match(call, need_chan(call, reqs, i));
    msg_announce_all();
    msg_progress(call);
    return 0;
}

static bool is_decided(const struct msg_chan *c)
{
    return msg_chan_state(c) >= MSG_CHAN_MATCHED;
}

/* Of a request of the list; one that was freed since is NULL. */
static struct msg_chan *chan_of(const struct shmemx_req *req)
{
    struct req *r = handle_find(&stream_reqs, req);

    return r && is_message(r) ? r->object : NULL;
}

/* From the *at-th on. */
static bool all_decided(int n, struct shmemx_req *const reqs[], int *at)
{
    const struct msg_chan *c;

    for (; *at < n; ++*at) {
        c = chan_of(reqs[*at]);
        if (c && !is_decided(c))
            return false;
    }
    return true;
}

/* The first error, a line for each. */
static int report_result(const char *call, int n,
                         struct shmemx_req *const reqs[])
{
    const struct msg_chan *c;
    char which[32];
    int rc = 0;

    for (int i = 0; i < n; i++) {
        c = chan_of(reqs[i]);
        if (!c || msg_chan_state(c) != MSG_CHAN_FAILED)
            continue;
        if (!rc)            /* those are for the line */
            rc = c->error == -EPROTOTYPE || c->error == -EDOM ? -EINVAL
                                                              : c->error;
        snprintf(which, sizeof which, "request %d: ", i);
        msg_report_failed(call, which, c);
    }
    return rc;
}

/* A line about a wait that lasts: the partner, and how many more. */
static void report_stall(struct core_outstanding *l, const char *call, int n,
                         struct shmemx_req *const reqs[], int at)
{
    struct line t = { .n = 0 };
    const struct msg_chan *c = chan_of(reqs[at]);
    uint64_t now = clock_ns();
    char unexpected[96] = "";
    int left = 0;

    if (!core_stall_overdue(l, now) || !c)
        return;
    for (int i = at; i < n; i++)
        left += chan_of(reqs[i]) && !is_decided(chan_of(reqs[i]));
    line_addf(&t, "%s waits for %llu s for the %s of request %d, tag %d",
                  symbol_public(call),
                  line_seconds(now - l->w.wait_began_ns),
                  c->sends ? "receive" : "send", at, c->tag);
    if (left > 1)
        line_addf(&t, ", and %d more", left - 1);
    msg_describe_unexpected(c->pe, unexpected, sizeof unexpected);
    line_addf(&t, "%s", unexpected);
    l->pe = c->pe;
    l->text = t.at;
    l->who = "; to be matched by";
    core_stall_outstanding(l, now);
}

static void await_all(const char *call, int n, struct shmemx_req *const reqs[])
{
    bool printed = false;
    struct core_outstanding l = { .w = { .info.call = call },
                                  .reported = &printed };
    struct core_waiter w = msg_ctrl_waiter(call);
    int at = 0;

    while (!all_decided(n, reqs, &at)) {
        if (msg_ctrl_has_incoming()) {
            core_wait_end(&w);
            msg_progress(call);
            w = msg_ctrl_waiter(call);
            continue;
        }
        msg_progress(call);     /* what is under way, or found no room */
        w.info.silent = true;
        core_wait_step(&w);
        report_stall(&l, call, n, reqs, at);
    }
    core_wait_end(&w);
    msg_flush_ctrl(call);
}

int msg_match_all(const char *call, int n, struct shmemx_req *reqs[])
{
    int rc;

    core_activity_call(call);
    rc = request_all(call, n, reqs);
    if (rc)
        return rc;
    await_all(call, n, reqs);
    return report_result(call, n, reqs);
}

int msg_is_matched(const char *call, struct shmemx_req *req, bool *is)
{
    const struct msg_chan *c = need_chan(call, &req, 0);

    if (!c)
        return -EINVAL;
    msg_progress_or_defer(call);
    *is = c->requested && msg_chan_state(c) == MSG_CHAN_MATCHED;
    return 0;
}

/* ---- match requests ---- */

int msg_imatch_all(const char *call, int n, struct shmemx_req *reqs[],
                   struct shmemx_req **out)
{
    struct stream_req_args r = { .ops = &match_ops };
    struct match *m;
    int rc;

    if (!out)
        return stream_refuse(ERR_NULL, call, "no place for the request");
    m = malloc(sizeof *m + (size_t)n * sizeof *reqs);
    if (!m)
        return stream_no_memory(call);
    m->n = n;
    if (n)
        memcpy(m->reqs, reqs, (size_t)n * sizeof *reqs);
    r.object = m;
    rc = request_all(call, n, reqs);
    if (!rc)
        rc = stream_req_create(call, &r, out);
    if (rc) {
        free(m);
        return rc;
    }
    /* The program may make no further call until they are matched. */
    if (n && !stream_progress_start())
        stream_progress_wake();
    msg_progress_or_defer(call);
    return 0;
}

/* The requests that were made since it began are asked for, too. */
static int await_match(const char *call, struct req *r)
{
    struct match *m = r->object;
    int n = m->n;

    msg_announce_all();
    await_all(call, n, m->reqs);
    m->n = 0;
    return report_result(call, n, m->reqs);
}

static int test_match(const char *call, struct req *r, bool *is)
{
    const struct match *m = r->object;
    int at = 0;

    msg_announce_all();
    msg_progress_or_defer(call);
    *is = all_decided(m->n, m->reqs, &at);
    return *is ? await_match(call, r) : 0;
}

static int refuse_start(const struct stream_where *w, const struct req *r,
                        int i)
{
    return stream_refuse(ERR_ARG, w->call, "request %d (%s) is none that was "
                         "made by an init call", i, stream_req_name(r).text);
}

static const char *busy(const struct req *r)
{
    const struct match *m = r->object;

    return m->n ? "has not been waited for" : NULL;
}

static void free_match(struct req *r)
{
    free(r->object);
}

static void name(const struct req *r, char *text, size_t size)
{
    (void)r;
    snprintf(text, size, "a match");
}

static const struct stream_req_ops match_ops = {
    .own_counters = false, .check_start = refuse_start,
    .start = stream_req_no_step, .started = stream_req_no_call,
    .wait = { stream_req_no_step, stream_req_no_step, stream_req_no_step },
    .completed = stream_req_is_completed, .waiter = stream_req_no_waiter,
    .finish = stream_req_no_call, .error = stream_req_no_error,
    .is_running = stream_req_not_running, .busy = busy, .free = free_match,
    .close = free_match, .name = name, .test = test_match, .await = await_match
};
