/* SPDX-License-Identifier: BSD-3-Clause */
/* Who looks for whom: see msg_table.h. */
#include "msg/msg_table.h"

#include <stdlib.h>

enum { BUCKETS = 1024 };

struct early {
    struct early *next;
    struct msg_ctrl note;
};
/* Those that were made for a PE and tag. */
struct made {
    struct made *next;
    int pe, tag;
    bool sends, once;
    uint32_t n;
};

static struct msg_chan *waiting[BUCKETS];
static struct early *early[BUCKETS];
static struct made *made[BUCKETS];

static unsigned bucket_of(int pe, int tag, uint32_t number, bool once)
{
    uint64_t h = (uint64_t)(unsigned)pe << 32 | (unsigned)tag;

    h = (h ^ (uint64_t)number << 13 ^ once) * 0x9e3779b97f4a7c15u;
    return (unsigned)(h >> 54);
}
_Static_assert(BUCKETS == 1 << (64 - 54), "of the hash");

static bool is_once(const struct msg_ctrl *n)
{
    return n->flags & MSG_RTS_ONE_SHOT;
}

static bool fit(const struct msg_chan *r, const struct msg_ctrl *n)
{
    return r->pe == n->from && r->tag == n->tag && r->team == n->team &&
           r->number == n->number && r->once == is_once(n);
}

int64_t msg_table_next_number(const struct msg_chan *c)
{
    struct made **at = &made[bucket_of(c->pe, c->tag, c->sends, c->once)], *m;

    for (m = *at; m; m = m->next)
        if (m->pe == c->pe && m->tag == c->tag && m->sends == c->sends &&
            m->once == c->once)
            return m->n++;
    m = malloc(sizeof *m);
    if (!m)
        return -1;
    *m = (struct made){
        *at, c->pe, c->tag, c->sends, c->once, 1
    };
    *at = m;
    return 0;
}

void msg_table_add_recv(struct msg_chan *r)
{
    unsigned b = bucket_of(r->pe, r->tag, r->number, r->once);

    r->next = waiting[b];
    waiting[b] = r;
}

struct msg_chan *msg_table_take_recv(const struct msg_ctrl *n)
{
    struct msg_chan **at = &waiting[bucket_of(n->from, n->tag, n->number,
                                          is_once(n))];
    struct msg_chan *r;

    while ((r = *at) && !fit(r, n))
        at = &r->next;
    if (r)
        *at = r->next;
    return r;
}

bool msg_table_add_rts(const struct msg_ctrl *n)
{
    unsigned b = bucket_of(n->from, n->tag, n->number, is_once(n));
    struct early *e = malloc(sizeof *e);

    if (!e)
        return false;
    *e = (struct early){ early[b], *n };
    early[b] = e;
    return true;
}

bool msg_table_take_rts(const struct msg_chan *r, struct msg_ctrl *out)
{
    struct early **at = &early[bucket_of(r->pe, r->tag, r->number, r->once)];
    struct early *e;

    while ((e = *at) && !fit(r, &e->note))
        at = &e->next;
    if (!e)
        return false;
    *at = e->next;
    *out = e->note;
    free(e);
    return true;
}

const struct msg_ctrl *msg_table_first_unexpected(int pe)
{
    for (unsigned b = 0; b < BUCKETS; b++)
        for (const struct early *e = early[b]; e; e = e->next)
            if (e->note.from == pe && e->note.tag >= 0 &&
                !(e->note.flags & MSG_RTS_CANCELLED))
                return &e->note;
    return NULL;
}

void msg_table_clear(void)
{
    for (unsigned b = 0; b < BUCKETS; b++) {
        struct early *e;
        struct made *m;

        while ((e = early[b])) {
            early[b] = e->next;
            free(e);
        }
        while ((m = made[b])) {
            made[b] = m->next;
            free(m);
        }
        waiting[b] = NULL;
    }
}
