/* SPDX-License-Identifier: BSD-3-Clause */
/* The matching table: see msg_table.h.  msg_match.c calls it; it sends
 * nothing. */
#include "msg/msg_table.h"
#include "msg/msg_int.h"

#include <stdlib.h>

enum { BUCKET_BITS = 10, BUCKETS = 1 << BUCKET_BITS };

/* An RTS without its receive. */
struct unexpected {
    struct unexpected *next;
    struct msg_ctrl rts;
};
/* How many were made for a PE and tag. */
struct counter {
    struct counter *next;
    int pe, tag;
    bool sends, one_shot;
    uint32_t n;
};

static struct msg_chan *recvs[BUCKETS];
static struct unexpected *unexpected[BUCKETS];
/* They stay until the end, one for each tag that was ever used: so the table
 * grows. */
static struct {
    struct counter **at;
    unsigned bits;              /* 2^bits buckets; 0: none yet */
    size_t n;
} counters;

static uint64_t hash(int pe, int tag, uint32_t number, bool one_shot)
{
    uint64_t h = (uint64_t)(unsigned)pe << 32 | (unsigned)tag;

    return (h ^ (uint64_t)number << 13 ^ one_shot) * 0x9e3779b97f4a7c15u;
}

static unsigned bucket_of(int pe, int tag, uint32_t number, bool one_shot)
{
    return (unsigned)(hash(pe, tag, number, one_shot) >> (64 - BUCKET_BITS));
}

static bool is_one_shot(const struct msg_ctrl *rts)
{
    return rts->flags & MSG_RTS_ONE_SHOT;
}

static bool match(const struct msg_chan *r, const struct msg_ctrl *rts)
{
    return r->pe == rts->from && r->tag == rts->tag && r->team == rts->team &&
           r->number == rts->number && r->one_shot == is_one_shot(rts);
}

static struct counter **counter_bucket(int pe, int tag, bool sends,
                                       bool one_shot)
{
    return &counters.at[hash(pe, tag, sends, one_shot) >> (64 - counters.bits)];
}

/* Without memory for more buckets the lists get longer; false: there are none.
 */
static bool room_for_counter(void)
{
    struct counter **was = counters.at, *m;
    unsigned bits = counters.bits;

    if (was && counters.n < (size_t)1 << bits)
        return true;
    counters.bits = was ? bits + 1 : BUCKET_BITS;
    counters.at = calloc((size_t)1 << counters.bits, sizeof *was);
    if (!counters.at) {
        counters.at = was;
        counters.bits = bits;
        return was;
    }
    for (size_t b = 0; was && b < (size_t)1 << bits; b++) {
        while ((m = was[b])) {
            struct counter **to = counter_bucket(m->pe, m->tag, m->sends,
                                                 m->one_shot);

            was[b] = m->next;
            m->next = *to;
            *to = m;
        }
    }
    free(was);
    return true;
}

int64_t msg_table_next_number(const struct msg_chan *c)
{
    struct counter **at, *m;

    if (!room_for_counter())
        return -1;
    at = counter_bucket(c->pe, c->tag, c->sends, c->one_shot);
    for (m = *at; m; m = m->next)
        if (m->pe == c->pe && m->tag == c->tag && m->sends == c->sends &&
            m->one_shot == c->one_shot)
            return m->n++;
    m = malloc(sizeof *m);
    if (!m)
        return -1;
    *m = (struct counter){ *at, c->pe, c->tag, c->sends, c->one_shot, 1 };
    *at = m;
    counters.n++;
    return 0;
}

void msg_table_add_recv(struct msg_chan *r)
{
    unsigned b = bucket_of(r->pe, r->tag, r->number, r->one_shot);

    r->next = recvs[b];
    recvs[b] = r;
}

struct msg_chan *msg_table_take_recv(const struct msg_ctrl *rts)
{
    struct msg_chan **at = &recvs[bucket_of(rts->from, rts->tag, rts->number,
                                            is_one_shot(rts))];
    struct msg_chan *r;

    while ((r = *at) && !match(r, rts))
        at = &r->next;
    if (r)
        *at = r->next;
    return r;
}

bool msg_table_add_rts(const struct msg_ctrl *rts)
{
    unsigned b = bucket_of(rts->from, rts->tag, rts->number, is_one_shot(rts));
    struct unexpected *u = malloc(sizeof *u);

    if (!u)
        return false;
    *u = (struct unexpected){ unexpected[b], *rts };
    unexpected[b] = u;
    return true;
}

bool msg_table_take_rts(const struct msg_chan *r, struct msg_ctrl *out)
{
    struct unexpected **at = &unexpected[bucket_of(r->pe, r->tag, r->number,
                                                   r->one_shot)];
    struct unexpected *u;

    while ((u = *at) && !match(r, &u->rts))
        at = &u->next;
    if (!u)
        return false;
    *at = u->next;
    *out = u->rts;
    free(u);
    return true;
}

const struct msg_ctrl *msg_table_first_unexpected(int pe)
{
    for (unsigned b = 0; b < BUCKETS; b++)
        for (const struct unexpected *u = unexpected[b]; u; u = u->next)
            if (u->rts.from == pe && u->rts.tag >= 0 &&
                !(u->rts.flags & MSG_RTS_CANCELLED))
                return &u->rts;
    return NULL;
}

void msg_table_clear(void)
{
    struct unexpected *u;
    struct counter *m;

    for (unsigned b = 0; b < BUCKETS; b++) {
        while ((u = unexpected[b])) {
            unexpected[b] = u->next;
            free(u);
        }
        recvs[b] = NULL;
    }
    for (size_t b = 0; counters.at && b < (size_t)1 << counters.bits; b++) {
        while ((m = counters.at[b])) {
            counters.at[b] = m->next;
            free(m);
        }
    }
    free(counters.at);
    counters.at = NULL;
    counters.n = 0;
}
