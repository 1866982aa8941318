/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that the program gives back while requests use it.  The API's free
 * calls call it; it walks all requests of this PE, and frees nothing. */
#include "msg/msg_describe.h"
#include "core/core_misuse.h"
#include "msg/msg_coll.h"
#include "msg/pcoll/pcoll.h"
#include "trig/trig.h"

#include <stdio.h>

struct range {
    uintptr_t from;
    size_t size;
    unsigned users;
    char first[64];
};

static bool overlaps(const struct range *g, const void *p, size_t len)
{
    return len && (uintptr_t)p < g->from + g->size &&
           g->from < (uintptr_t)p + len;
}

/* A one-shot message need not be freed: it is over with its iteration.  A
 * receive without slots is sent, as its partner knows of it, before it comes. */
static bool is_over(const struct msg_chan *c)
{
    const uint64_t *end = c->sends || c->slots ? &c->counters->sent
                                               : &c->counters->arrived[1];

    return c->one_shot && __atomic_load_n(end, __ATOMIC_RELAXED);
}

/* Channels of collective requests are reported as these. */
static void find_channel(struct msg_chan *c, void *arg)
{
    struct range *g = arg;
    size_t n;

    if (c->freed || c->tag < 0 || msg_chan_state(c) == MSG_CHAN_FAILED ||
        !overlaps(g, c->buf, c->len) || is_over(c))
        return;
    c->buf_freed = true;
    if (g->users++)
        return;
    n = (size_t)snprintf(g->first, sizeof g->first, "a ");
    msg_describe(c, g->first + n, sizeof g->first - n);
}

static void find_reduction(const struct gtl_reduce *r, size_t size, void *arg)
{
    struct range *g = arg;

    if ((overlaps(g, r->a, r->n * size) || overlaps(g, r->out, r->n * size)) &&
        !g->users++)
        snprintf(g->first, sizeof g->first, "a reduction's request");
}

/* Its two buffers, as those of a reduction. */
static void find_collective(struct msg_chan *c, void *arg)
{
    const struct pcoll *p = pcoll_of_end(c);

    for (int i = SHMEMX_SOURCE; p && i <= SHMEMX_DEST; i++)
        find_reduction(&(struct gtl_reduce){ .out = p->base[i],
                                             .a = p->base[i],
                                             .n = pcoll_extent(p, i) }, 1, arg);
}

static void find_put(const struct stream_op *op, void *arg)
{
    struct range *g = arg;
    bool word = op->kind == STREAM_PUT_SIGNAL &&
                overlaps(g, op->signal.addr, sizeof *op->signal.addr);

    if ((word || overlaps(g, op->source, op->len) ||
         overlaps(g, op->dest, op->len)) && !g->users++)
        snprintf(g->first, sizeof g->first, "a request of a put to PE %d",
                 op->pe);
}

static void find_triggered(const struct stream_op *op, int tag, void *arg)
{
    struct range *g = arg;
    bool amo = op->kind == STREAM_AMO, signals = op->kind == STREAM_SIGNAL ||
                                                 op->kind == STREAM_PUT_SIGNAL;
    bool uses = amo ? overlaps(g, op->amo.sym, op->amo.size) ||
                      overlaps(g, op->amo.fetch, op->amo.fetch ? op->amo.size
                                                               : 0)
                    : overlaps(g, op->dest, op->len) ||
                      (!op->value && overlaps(g, op->source, op->len));

    uses |= signals && overlaps(g, op->signal.addr, sizeof *op->signal.addr);
    if (uses && !g->users++)
        snprintf(g->first, sizeof g->first, "an operation of a trigger, tag %d, "
                 "PE %d", tag, op->pe);
}

void msg_memory_freed(const char *call, const void *p, size_t size)
{
    struct range g = { .from = (uintptr_t)p, .size = size };
    char more[32] = "";

    msg_chan_visit(true, find_channel, &g);
    msg_coll_visit(find_reduction, &g);
    msg_chan_visit(true, find_collective, &g);
    stream_req_visit(find_put, &g);
    trig_visit_ops(find_triggered, &g);
    if (!g.users)
        return;
    if (g.users > 1)
        snprintf(more, sizeof more, " and %u more", g.users - 1);
    core_misuse(ERR_FREE, call, "%zu bytes at %p are in use: %s%s; they are "
                "freed all the same: free requests or reset triggers before their "
                "buffers", size,
                p, g.first, more);
}
