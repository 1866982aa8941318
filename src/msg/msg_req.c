/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests that are messages: made, put into a queue, and matched. */
#include "stream/queue/stream_queue.h"
#include "base/clock.h"
#include "core/core_misuse.h"
#include "core/core_describe.h"
#include "core/core_stall.h"
#include "msg/msg_chan.h"
#include "msg/msg_ctrl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int msg_req_create(const struct msg_args *a, struct shmemx_queue *queue,
                        struct shmemx_req **out)
{
    struct queue *q = NULL;
    struct stream_op op;
    struct msg_chan *c;
    int rc;

    if (a->once) {
        q = stream_queue_of(a->call, queue);
        if (!q)
            return -EINVAL;
        stream_queue_reap(q);   /* what is past gives its slot back */
    } else if (!out) {
        return stream_refuse(ERR_NULL, a->call, "no place for the request");
    }
    rc = msg_chan_create(a, &c);
    if (rc)
        return rc;
    op = (struct stream_op){ .kind = STREAM_MESSAGE,
                             .call = a->call,
                             .pe = c->pe,
                             .send = { c, 1, false } };
    rc = stream_req_make(a->call, q, &op, out);
    if (rc)
        msg_chan_free(c);
    return rc;
}

/* ---- matching ---- */

/* NULL, told: it is none that is to be matched. */
static struct msg_chan *chan_at(const char *call, struct shmemx_req *reqs[],
                                int i)
{
    struct req *r = stream_req_at(call, reqs, i);

    if (r && r->chan && !r->once)
        return r->chan;
    if (r)
        core_misuse(ERR_ARG, call, "request %d is none that send_init, "
                    "rsend_init or recv_init made", i);
    return NULL;
}

static int ask_all(const char *call, int n, struct shmemx_req *reqs[])
{
    for (int i = 0; i < n; i++)
        if (!chan_at(call, reqs, i))
            return -EINVAL;
    for (int i = 0; i < n; i++)
        msg_chan_request_match(call, chan_at(call, reqs, i));
    msg_send_all_rts();
    msg_progress(call);
    return 0;
}

static bool is_settled(const struct msg_chan *c)
{
    return msg_chan_state(c) >= MSG_CHAN_MATCHED;
}

/* Of those that have been asked for; a request that was freed is none of
 * them any more. */
static struct msg_chan *chan_of(const struct shmemx_req *req)
{
    struct req *r = stream_handle_find(&stream_reqs, req);

    return r ? r->chan : NULL;
}

/* From the *at-th on. */
static bool all_settled(int n, struct shmemx_req *const reqs[], int *at)
{
    const struct msg_chan *c;

    for (; *at < n; ++*at) {
        c = chan_of(reqs[*at]);
        if (c && !is_settled(c))
            return false;
    }
    return true;
}

void msg_report_failed_match(const char *call, const char *which,
                           const struct msg_chan *c)
{
    if (c->error == -EMSGSIZE && c->sends)
        core_misuse(ERR_SIZE, call, "%sa send of %zu bytes to PE %d, tag %d, "
                    "whose receive has %zu", which, c->len, c->pe, c->tag,
                    c->bytes);
    else if (c->error == -EMSGSIZE)
        core_misuse(ERR_SIZE, call, "%sa receive of %zu bytes from PE %d, tag "
                    "%d, whose send has %zu", which, c->len, c->pe, c->tag,
                    c->bytes);
    else if (c->error == -ENOSPC)
        core_misuse(ERR_HEAP, call, "%s%s PE %d, tag %d: the part of the "
                    "receiver's heap that is the library's own, a 16th of it, "
                    "has no room for messages of %zu bytes: let it receive "
                    "into symmetric memory, or set SHMEM_SYMMETRIC_SIZE",
                    which, c->sends ? "to" : "from", c->pe, c->tag, c->bytes);
    else
        core_misuse(ERR_ARG, call, "%sPE %d freed its end, tag %d, before it "
                    "was matched", which, c->pe, c->tag);
}

/* The first error, a line for each. */
static int result(const char *call, int n, struct shmemx_req *const reqs[])
{
    const struct msg_chan *c;
    char which[32];
    int rc = 0;

    for (int i = 0; i < n; i++) {
        c = chan_of(reqs[i]);
        if (!c || msg_chan_state(c) != MSG_CHAN_FAILED)
            continue;
        rc = rc ? rc : c->error;
        snprintf(which, sizeof which, "request %d: ", i);
        msg_report_failed_match(call, which, c);
    }
    return rc;
}

/* Tells of a wait that lasts: for whom, and how many more. */
static void watch(struct core_outstanding *l, const char *call, int n,
                  struct shmemx_req *const reqs[], int at)
{
    struct line t = { .n = 0 };
    const struct msg_chan *c = chan_of(reqs[at]);
    uint64_t now = clock_ns();
    char unclaimed[96] = "";
    int left = 0;

    if (!core_stall_overdue(l, now) || !c)
        return;
    for (int i = at; i < n; i++)
        left += chan_of(reqs[i]) && !is_settled(chan_of(reqs[i]));
    line_addf(&t, "%s waits for %llu s for the %s of request %d, tag %d",
                  core_public_name(call),
                  line_seconds(now - l->w.since_ns),
                  c->sends ? "receive" : "send", at, c->tag);
    if (left > 1)
        line_addf(&t, ", and %d more", left - 1);
    msg_describe_unexpected(c->pe, unclaimed, sizeof unclaimed);
    line_addf(&t, "%s", unclaimed);
    l->pe = c->pe;
    l->text = t.at;
    l->who = "; to be matched by";
    core_stall_outstanding(l, now);
}

static void await(const char *call, int n, struct shmemx_req *const reqs[])
{
    bool told = false;
    struct core_outstanding l = { .w = { .call = call }, .told = &told };
    struct core_waiter w = msg_ctrl_waiter(call);
    int at = 0;

    while (!all_settled(n, reqs, &at)) {
        if (msg_ctrl_has_incoming()) {
            core_wait_end(&w);
            msg_progress(call);
            w = msg_ctrl_waiter(call);
            continue;
        }
        msg_progress(call);       /* what is under way, or found no room */
        w.silent = true;
        core_wait_step(&w);
        watch(&l, call, n, reqs, at);
    }
    core_wait_end(&w);
    msg_flush_ctrl(call);
}

int msg_match_all(const char *call, int n, struct shmemx_req *reqs[])
{
    int rc;

    core_activity_call(call);
    rc = ask_all(call, n, reqs);
    if (rc)
        return rc;
    await(call, n, reqs);
    return result(call, n, reqs);
}

int msg_imatch_all(const char *call, int n, struct shmemx_req *reqs[],
                      struct shmemx_req **out)
{
    struct shmemx_req **copy;
    struct req *r;
    int rc;

    if (!out)
        return stream_refuse(ERR_NULL, call, "no place for the request");
    copy = malloc((size_t)n * sizeof *copy + 1);
    r = copy ? stream_handle_new(&stream_reqs) : NULL;
    if (!r) {
        free(copy);
        return stream_no_memory(call);
    }
    rc = ask_all(call, n, reqs);
    if (rc) {
        free(copy);
        stream_handle_release(&stream_reqs, stream_handle_of(r));
        return rc;
    }
    if (n)
        memcpy(copy, reqs, (size_t)n * sizeof *copy);
    if (n && !stream_progress_start())    /* the program may do what it likes */
        stream_progress_wake();
    r->once = true;
    r->matches = copy;
    r->n_matches = n;
    *out = stream_handle_of(r);
    msg_progress_or_defer(call);
    return 0;
}

int msg_is_matched(const char *call, struct shmemx_req *req, bool *is)
{
    const struct msg_chan *c = chan_at(call, &req, 0);

    if (!c)
        return -EINVAL;
    msg_progress_or_defer(call);
    *is = c->wanted && msg_chan_state(c) == MSG_CHAN_MATCHED;
    return 0;
}

bool msg_match_completed(const char *call, struct req *r)
{
    int at = 0;

    msg_send_all_rts();
    msg_progress_or_defer(call);
    return all_settled(r->n_matches, r->matches, &at);
}

/* The request is complete then, and its error told. */
int msg_match_wait(const char *call, struct req *r)
{
    int n = r->n_matches;

    msg_send_all_rts();          /* made since it began */
    await(call, n, r->matches);
    r->n_matches = 0;
    return result(call, n, r->matches);
}

void msg_match_free(struct req *r)
{
    free(r->matches);
    r->matches = NULL;
}
