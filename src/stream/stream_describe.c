/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of requests for lines, and the report of operations that are never
 * done.  The files of queues and rings call it. */
#include "base/symbol.h"
#include "stream/queue/stream_queue.h"
#include "stream/ring/stream_task.h"

#include <stdio.h>

struct req_name stream_req_name(const struct req *r)
{
    struct req_name n;

    r->ops->name(r, n.text, sizeof n.text);
    return n;
}

/* ---- what is never done ---- */

void stream_unfinished_add_task(struct stream_unfinished *l,
                                const struct stream_task *t, const char *call)
{
    if (!l->first[0])
        t->ops->describe(t, call, l->first, sizeof l->first);
}

void stream_unfinished_add_call(struct stream_unfinished *l, const char *call,
                                int pe)
{
    if (!l->first[0])
        snprintf(l->first, sizeof l->first, "%s, PE %d",
                 symbol_public(call), pe);
}

void stream_unfinished_add(struct stream_unfinished *l,
                           const struct stream_op *op)
{
    if (op->kind == STREAM_MESSAGE)
        stream_unfinished_add_task(l, op->task.task, op->call);
    else if (!l->first[0] && op->kind >= STREAM_FENCE &&
             !(op->kind == STREAM_QUIET && op->for_nic))
        snprintf(l->first, sizeof l->first, "%s", symbol_public(op->call));
    else
        stream_unfinished_add_call(l, op->call, op->pe);
}

void stream_unfinished_report(const struct stream_unfinished *l,
                              const char *one, const char *more,
                              const char *end)
{
    bool is_one = l->n == 1;

    if (l->n)
        log_warn(ERR_STREAM, "shmem_finalize: %lu %s%s%s: %s never done%s",
                 l->n, is_one ? one : more, !l->first[0] ? ""
                 : is_one ? ", " : ", one of them ", l->first,
                 is_one ? "it is" : "they are", end);
}
