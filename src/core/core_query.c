/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/core_query.h"
#include "core/core.h"
#include "rt/rt.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define NO_WORD UINT64_MAX

enum { GET_WORD = 1, GET_DOING = 2 };
static struct xport_ep *flow;
static struct core_query asks[CORE_QUERIES];
static struct core_reply *answers;

int core_query_open(void)
{
    if (rt_job.n_local == rt_job.n_pes)
        return 0;
    answers = heap_reserve(CORE_QUERIES * sizeof *answers,
                           _Alignof(struct core_reply));
    if (answers)
        return 0;
    log_error(ERR_HEAP, "no room for what far PEs answer in the reserved part "
              "of the heap");
    return -ENOMEM;
}

/* What was sent of it: has all of that come? */
static bool nothing_due(const struct core_query *a)
{
    const struct core_reply *r = a->answer;

    /* acquire: the transport may have stored it on another thread. */
    return (a->unsent & GET_WORD ||
            __atomic_load_n(&r->word, __ATOMIC_ACQUIRE) != NO_WORD) &&
           (a->unsent & GET_DOING ||
            __atomic_load_n(&r->doing.pid, __ATOMIC_ACQUIRE) != 0);
}

bool core_query_answered(const struct core_query *a)
{
    return !a->unsent && nothing_due(a);
}

struct core_query *core_query_find(int pe)
{
    for (int i = 0; i < CORE_QUERIES; i++)
        if (asks[i].open && asks[i].pe == pe)
            return &asks[i];
    return NULL;
}

/* Never waits: others may want the lock, and what is waited for here may be
 * that the watch tells who is lost. */
static int get(void *dest, const void *sym, size_t len, int pe)
{
    int seg = heap_find(sym, len);
    struct xport_addr at = {
        .pe = pe, .seg = seg, .off = (uintptr_t)sym - heap_segs[seg].base
    };

    return xport_net->try_get(flow, dest, &at, len);
}

static void send(struct core_query *a, uint64_t now)
{
    struct core_reply *r = a->answer;
    int rc = 0;

    if (a->busy)
        a->since_ns = now;
    if (a->unsent & GET_WORD) {
        rc = get(&r->word, a->word, sizeof r->word, a->pe);
        if (!rc)
            a->unsent &= ~(unsigned)GET_WORD;
    }
    if (!rc && a->unsent & GET_DOING) {
        rc = get(&r->doing, &core_ctl->doing, sizeof r->doing, a->pe);
        if (!rc)
            a->unsent &= ~(unsigned)GET_DOING;
    }
    a->busy = rc == -EBUSY;
}

void core_query_send(uint64_t now)
{
    for (int i = 0; i < CORE_QUERIES; i++)
        if (asks[i].open && asks[i].unsent)
            send(&asks[i], now);
}

void core_query(int pe, const void *word, uint64_t now)
{
    int i = 0;

    while (i < CORE_QUERIES && asks[i].open)
        i++;
    if (i == CORE_QUERIES ||
        (!flow && xport_net->ep_open(&flow, false)))
        return;
    answers[i] = (struct core_reply){ .word = word ? NO_WORD : 0 };
    asks[i] = (struct core_query){ .open = true, .pe = pe, .since_ns = now,
                                  .unsent = GET_DOING | (word ? GET_WORD : 0),
                                  .word = word, .answer = &answers[i] };
    send(&asks[i], now);
}

int core_query_lost(uint64_t now, uint64_t most_ns)
{
    for (int i = 0; i < CORE_QUERIES; i++)
        if (asks[i].open && !core_query_answered(&asks[i]) && !asks[i].busy &&
            now - asks[i].since_ns > most_ns)
            return asks[i].pe;
    return -1;
}

void core_query_extend(uint64_t ns)
{
    for (int i = 0; i < CORE_QUERIES; i++)
        asks[i].since_ns += ns;
}

static bool something_due(void)
{
    for (int i = 0; i < CORE_QUERIES; i++)
        if (asks[i].open && !nothing_due(&asks[i]))
            return true;
    return false;
}

void core_query_close(void)
{
    if (!flow)
        return;
    for (int ms = 0; something_due() && ms < 1000; ms++) {
        usleep(1000);
        xport_net->progress();
    }
    if (!something_due()) {     /* else the flow stays */
        xport_net->quiet(flow);
        xport_net->ep_close(flow);
    }
    flow = NULL;
    /* The next session begins without questions. */
    memset(asks, 0, sizeof asks);
}
