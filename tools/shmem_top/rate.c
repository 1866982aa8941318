/* SPDX-License-Identifier: BSD-3-Clause */
/* rate.c - what the last two answers of a PE say of the time between them.
 * Called by table.c and list.c. */
#include "top.h"

#include <stdlib.h>
#include <string.h>

/* The row of the same call and PEs in the earlier answer, or NULL. */
static const struct profile_row *row_before(const struct pe *p,
                                            const struct profile_row *r)
{
    for (uint32_t i = 0; i < p->before.n_rows; i++)
        if (p->before.rows[i].peers == r->peers &&
            !strcmp(p->before.rows[i].call, r->call))
            return &p->before.rows[i];
    return NULL;
}

static struct profile_row since_before(const struct pe *p,
                                       const struct profile_row *r)
{
    const struct profile_row *b = row_before(p, r);
    struct profile_row d = *r;

    if (b && b->count <= r->count) {
        d.count -= b->count;
        d.bytes -= b->bytes;
        d.ns -= b->ns;
        d.waited_ns -= b->waited_ns;
    }
    return d;
}

static double seconds_of(const struct pe *p)
{
    return p->answered && p->before.at_ns && p->now.at_ns > p->before.at_ns
           ? (double)(p->now.at_ns - p->before.at_ns) / 1e9 : 0;
}

struct rates rates_of(const struct pe *p)
{
    struct rates r = { .seconds = seconds_of(p) };
    struct profile_row d;

    if (r.seconds <= 0)
        return r;
    r.cpu = (double)(p->cpu_ns - p->cpu_before_ns) / 1e9 / r.seconds;
    for (uint32_t i = 0; i < p->now.n_rows; i++) {
        d = since_before(p, &p->now.rows[i]);
        r.calls += (double)d.count / r.seconds;
        /* Of a collective call: what went over the network. */
        if (d.peers == PROFILE_NO_PE)
            d.peers = PROFILE_NETWORK;
        r.bytes[d.peers] += (double)d.bytes / r.seconds;
        r.in_calls += (double)d.ns / 1e9 / r.seconds;
        r.waiting += (double)d.waited_ns / 1e9 / r.seconds;
    }
    return r;
}

static struct share *share_named(struct share *all, unsigned *n, unsigned most,
                                 const char *call)
{
    unsigned i = 0;

    while (i < *n && strcmp(all[i].call, call))
        i++;
    if (i == most)
        return NULL;
    if (i == *n) {
        all[i] = (struct share){ 0 };
        memcpy(all[i].call, call, PROFILE_CALL);
        ++*n;
    }
    return &all[i];
}

static int longest_first(const void *a, const void *b)
{
    const struct share *x = a, *y = b;

    return x->ns < y->ns ? 1 : x->ns > y->ns ? -1 : 0;
}

unsigned shares_of(const struct pe *p, const struct pe *end,
                   struct share out[TOP_CALLS])
{
    struct share all[STATUS_ROWS], *s;
    struct profile_row d;
    unsigned n = 0;
    double seconds;

    for (; p < end; p++) {
        seconds = seconds_of(p);
        for (uint32_t i = 0; seconds > 0 && i < p->now.n_rows; i++) {
            d = since_before(p, &p->now.rows[i]);
            s = d.count ? share_named(all, &n, STATUS_ROWS, d.call) : NULL;
            if (!s)
                continue;
            s->count += (double)d.count / seconds;
            s->ns += (double)d.ns / seconds;
        }
    }
    qsort(all, n, sizeof *all, longest_first);
    n = n < TOP_CALLS ? n : TOP_CALLS;
    memcpy(out, all, n * sizeof *all);
    return n;
}
