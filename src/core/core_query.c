/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the activity records of off-node PEs, with gets that no thread waits
 * for, and has these PEs look for messages that were lost.  Called by core_stall.c only.  The replies lie in the reserved part of
 * the heap, and an endpoint context of their own keeps the gets apart from the
 * program's order and completion. */
#include "core/core_query.h"
#include "core/core.h"
#include "rt/rt.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define NO_VALUE UINT64_MAX

enum { GET_VALUE = 1, GET_ACTIVITY = 2 };
static struct xport_ctx *net;
static struct core_query queries[CORE_QUERIES];
static struct core_reply *replies;

int core_query_open(void)
{
    if (rt_job.n_local == rt_job.n_pes)
        return 0;
    replies = heap_reserve(CORE_QUERIES * sizeof *replies,
                           _Alignof(struct core_reply));
    if (replies)
        return 0;
    log_error(ERR_HEAP, "the replies of off-node PEs do not fit the reserved "
              "part of the heap");
    return -ENOMEM;
}

/* Have the replies to all sent parts come? */
static bool nothing_due(const struct core_query *q)
{
    const struct core_reply *r = q->reply;

    /* acquire: the transport may have stored it on another thread. */
    return (q->unsent & GET_VALUE ||
            __atomic_load_n(&r->value, __ATOMIC_ACQUIRE) != NO_VALUE) &&
           (q->unsent & GET_ACTIVITY ||
            __atomic_load_n(&r->activity.pid, __ATOMIC_ACQUIRE) != 0);
}

bool core_query_answered(const struct core_query *q)
{
    return !q->unsent && nothing_due(q);
}

struct core_query *core_query_find(int pe)
{
    for (int i = 0; i < CORE_QUERIES; i++)
        if (queries[i].open && queries[i].pe == pe)
            return &queries[i];
    return NULL;
}

/* Never waits: other threads may want the lock, and a lost PE is found by the
 * thread that holds it. */
static int get(void *dest, const void *sym, size_t len, int pe)
{
    int seg = heap_find(sym, len);
    struct xport_addr at = {
        .pe = pe, .seg = seg, .off = (uintptr_t)sym - heap_segs[seg].base
    };

    return xport_net->try_get(net, dest, &at, len);
}

static void send(struct core_query *q, uint64_t now)
{
    struct core_reply *r = q->reply;
    int rc = 0;

    if (q->busy)
        q->since_ns = now;
    if (q->unsent & GET_VALUE) {
        rc = get(&r->value, q->sym, sizeof r->value, q->pe);
        if (!rc)
            q->unsent &= ~(unsigned)GET_VALUE;
    }
    if (!rc && q->unsent & GET_ACTIVITY) {
        rc = get(&r->activity, &core_ctl->activity, sizeof r->activity, q->pe);
        if (!rc)
            q->unsent &= ~(unsigned)GET_ACTIVITY;
    }
    q->busy = rc == -EBUSY;
}

void core_query_send(uint64_t now)
{
    for (int i = 0; i < CORE_QUERIES; i++)
        if (queries[i].open && queries[i].unsent)
            send(&queries[i], now);
}

void core_query_start(int pe, const void *sym, uint64_t now)
{
    int i = 0;

    while (i < CORE_QUERIES && queries[i].open)
        i++;
    /* On an endpoint, and so a connection, of its own: elsewhere the answer
     * would stand behind the data of a long transfer. */
    if (i == CORE_QUERIES || (!net && xport_net->ctx_open(&net, true)))
        return;
    replies[i] = (struct core_reply){ .value = sym ? NO_VALUE : 0 };
    queries[i] = (struct core_query){
        .open = true, .pe = pe, .since_ns = now, .sym = sym,
        .unsent = GET_ACTIVITY | (sym ? GET_VALUE : 0), .reply = &replies[i]
    };
    send(&queries[i], now);
    xport_net->probe(pe);
}

int core_query_lost(uint64_t now, uint64_t most_ns)
{
    const struct core_query *q;

    for (int i = 0; i < CORE_QUERIES; i++) {
        q = &queries[i];
        if (q->open && !core_query_answered(q) && !q->busy &&
            now - q->since_ns > most_ns)
            return q->pe;
    }
    return -1;
}

void core_query_extend(uint64_t ns)
{
    for (int i = 0; i < CORE_QUERIES; i++)
        queries[i].since_ns += ns;
}

static bool something_due(void)
{
    for (int i = 0; i < CORE_QUERIES; i++)
        if (queries[i].open && !nothing_due(&queries[i]))
            return true;
    return false;
}

void core_query_close(void)
{
    if (!net)
        return;
    for (int ms = 0; something_due() && ms < 1000; ms++) {
        usleep(1000);
        xport_progress->poll();
    }
    if (!something_due()) {     /* else the context stays */
        xport_net->quiet(net);
        xport_net->ctx_close(net);
    }
    net = NULL;
    /* The next session begins without queries. */
    memset(queries, 0, sizeof queries);
}
