/* SPDX-License-Identifier: BSD-3-Clause */
/* The members that a request sends to or receives from: a channel for each, and
 * the places where messages arrive, which the receiver gives the sender.
 * Called by pcoll.c while a request is made. */
#include "msg/pcoll/pcoll.h"
#include "core/core_rma.h"

#include <stdlib.h>

/* ---- counted ---- */

/* Does the executor that combines reach that member's source and dest? */
static bool reaches(const struct pcoll *c, int member)
{
    int pe = core_team_world_pe(c->team, member);
    bool all = true;

    for (int i = SHMEMX_SOURCE; i <= SHMEMX_DEST && all; i++)
        all = !pcoll_extent(c, i) ||
              (c->stream ? stream_device_address(pe, c->base[i], 1)
                         : xport_ptr(pe, c->base[i], 1));
    return all && xport_is_mapped(pe);
}

static bool pulls(const struct pcoll *c, const struct pcoll_action *a)
{
    return a->reduces && a->stays && reaches(c, a->member);
}

static struct pcoll_link *link_of(struct pcoll *c, int member, bool out)
{
    struct pcoll_link *l;

    for (int i = 0; i < c->n_links; i++)
        if (c->links[i].member == member && c->links[i].out == out)
            return &c->links[i];
    l = &c->links[c->n_links++];
    *l = (struct pcoll_link){ .member = member, .out = out };
    return l;
}

static bool is_at(const struct pcoll *c, shmemx_piece_t p, const char *at)
{
    return pcoll_bytes(c, p) && pcoll_at(c, p, 0) == at;
}

/* Does an earlier action send the piece that this one writes? */
static bool is_sent_before(const struct pcoll *c, int at)
{
    const struct pcoll_action *a = &c->sched.actions[at], *s;

    for (s = c->sched.actions; s < a; s++)
        if (s->kind == PCOLL_SEND && is_at(c, s->from, pcoll_at(c, a->in, 0)))
            return true;
    return false;
}

/* The sender may write what is pulled when its partition has ended: in a
 * schedule of the program's it may end before it is combined. */
static bool acks(const struct pcoll *c, const struct pcoll_action *a)
{
    return a->kind == PCOLL_RECV && !c->sched.usual && pulls(c, a) &&
           pcoll_bytes(c, a->in);
}

static void link_action(struct pcoll *c, int at)
{
    struct pcoll_action *a = &c->sched.actions[at];
    struct pcoll_link *l;

    if (a->kind == PCOLL_LOCAL) {
        a->at = pcoll_at(c, a->from, 0);
        a->stride = c->each;
    } else {
        l = link_of(c, a->member, a->kind == PCOLL_SEND);
        a->link = (int)(l - c->links);
        a->message = l->n++;
    }
    a->acks = acks(c, a);
    if (a->kind == PCOLL_SEND || a->acks)
        a->send = c->n_sends++;
    if (a->kind == PCOLL_LOCAL || (a->kind == PCOLL_RECV && a->reduces))
        a->after_sends = is_sent_before(c, at);
}

int pcoll_link_actions(struct pcoll *c)
{
    size_t most = 2 * (size_t)c->team->n_pes, n = (size_t)c->sched.n;

    c->links = calloc((n < most ? n : most) + 1, sizeof *c->links);
    if (!c->links)
        return stream_no_memory(c->call);
    for (int i = 0; i < c->sched.n; i++)
        link_action(c, i);
    /* Here, before the members agree: a match that one of them cannot begin
     * would not end on the others. */
    c->reqs = calloc((size_t)c->n_links + 1, sizeof *c->reqs);
    return c->reqs ? 0 : stream_no_memory(c->call);
}

/* A number that no other pair and count is likely to have. */
static uint64_t mix(uint64_t from, uint64_t to, uint64_t n)
{
    uint64_t x = from << 42 ^ to << 21 ^ n;

    x = (x ^ x >> 31) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 29) * 0x94d049bb133111ebu;
    return x ^ x >> 32;
}

uint64_t pcoll_link_balance(const struct pcoll *c)
{
    uint64_t me = (uint64_t)c->team->my_pe, sum = 0;

    for (const struct pcoll_link *l = c->links; l < c->links + c->n_links; l++)
        sum += l->out ? mix(me, (uint64_t)l->member, (uint64_t)l->n)
                      : -mix((uint64_t)l->member, me, (uint64_t)l->n);
    return sum;
}

uint64_t pcoll_link_count(const struct pcoll *c, int member, bool out)
{
    for (const struct pcoll_link *l = c->links; l < c->links + c->n_links; l++)
        if (l->member == member && l->out == out)
            return (uint64_t)l->n;
    return 0;
}

/* ---- where messages arrive ---- */

static bool uses(const struct pcoll *c, const struct pcoll_action *a,
                 const char *at)
{
    return (a->kind != PCOLL_RECV && is_at(c, a->from, at)) ||
           (a->kind != PCOLL_SEND && is_at(c, a->in, at)) ||
           (a->kind != PCOLL_SEND && a->reduces && is_at(c, a->with, at));
}

/* A piece to combine arrives where the result belongs, if no data are there
 * that are needed. */
static bool lands_there(const struct pcoll *c, int i)
{
    const struct pcoll_action *a = &c->sched.actions[i], *s;
    const char *at = pcoll_at(c, a->in, 0);
    bool alone = !a->more && (!i || !a[-1].more);

    if (!alone || is_at(c, a->with, at))
        return false;
    for (s = c->sched.actions; s < a; s++)
        if (uses(c, s, at))
            return false;
    return true;
}

static bool needs_room(const struct pcoll *c, int i)
{
    const struct pcoll_action *a = &c->sched.actions[i];

    return a->kind == PCOLL_RECV && a->reduces && !pulls(c, a) &&
           !lands_there(c, i);
}

size_t pcoll_link_room(const struct pcoll *c)
{
    size_t sum = 0;

    for (int i = 0; i < c->sched.n; i++)
        if (needs_room(c, i) &&
            __builtin_add_overflow(sum, (size_t)c->part.n * pcoll_bytes(
                                   c, c->sched.actions[i].in), &sum))
            return SIZE_MAX;            /* more than there is */
    return sum;
}

static void set_address(struct pcoll_place *p, const void *at, size_t stride)
{
    p->seg = heap_find(at, 1);
    p->offset = p->seg < 0 ? 0 : (uintptr_t)at - heap_segs[p->seg].base;
    p->stride = stride;
}

/* This end's address and size of each message. */
static void fill_places(struct pcoll *c)
{
    size_t at = 0;

    for (int i = 0; i < c->sched.n; i++) {
        struct pcoll_action *a = &c->sched.actions[i];
        bool sends = a->kind == PCOLL_SEND;
        shmemx_piece_t piece = sends ? a->from : a->in;
        size_t bytes = pcoll_bytes(c, piece);
        struct pcoll_place *p;

        if (a->kind == PCOLL_LOCAL)
            continue;
        p = (sends ? c->links[a->link].sources : c->links[a->link].places) +
            a->message;
        *p = (struct pcoll_place){ .bytes = bytes,
                                   .flags = a->stays ? PCOLL_STAYS : 0 };
        if (sends && c->acks)
            p->acks = (uintptr_t)c->acks - heap_segs[HEAP_HOST].base;
        if (!sends && a->reduces && pulls(c, a)) {
            p->flags |= PCOLL_PULLS;
        } else if (!needs_room(c, i)) {
            a->at = pcoll_at(c, piece, 0);
            a->stride = c->each;
            set_address(p, a->at, c->each);
        } else {
            a->at = c->room + at;
            a->stride = bytes;
            set_address(p, a->at, bytes);
            at += bytes * (size_t)c->part.n;
        }
    }
}

/* ---- channels ---- */

/* Its partitions are those of all messages, but what arrives does not arrive
 * there: its buffer is the table. */
static int open_link(struct pcoll *c, struct pcoll_link *l)
{
    size_t n = (size_t)l->n, all = n * (size_t)c->part.n;
    size_t table = 2 * n * sizeof *l->places;
    struct msg_args a = {
        .call = c->call, .sends = l->out, .len = table,
        .pe = core_team_world_pe(c->team, l->member), .tag = -1,
        .team = c->team->id, .number = c->number,
        .partitions = (int)all
    };
    struct shmemx_req **req = &c->reqs[l - c->links];
    int rc;

    if (all > INT32_MAX)
        return stream_no_memory(c->call);
    l->places = l->out ? calloc(2 * n, sizeof *l->places)
                       : heap_pool_alloc(table);
    if (!l->places)
        return l->out ? stream_no_memory(c->call)
                      : stream_no_pool_memory(c->call, table);
    l->sources = l->places + n;
    a.buf = l->places;
    rc = msg_req_create(&a, NULL, req);
    if (!rc)
        l->chan = ((struct req *)handle_find(&stream_reqs, *req))->object;
    return rc;
}

int pcoll_link_open(struct pcoll *c)
{
    int rc = 0;

    for (int i = 0; i < c->n_links && !rc; i++)
        rc = open_link(c, &c->links[i]);
    if (!rc)
        fill_places(c);
    return rc;
}

/* The receiver's table is where the channel lands. */
void pcoll_link_exchange(struct pcoll *c)
{
    for (struct pcoll_link *l = c->links; l < c->links + c->n_links; l++) {
        size_t size = (size_t)l->n * sizeof *l->places;

        if (!l->out)
            continue;
        core_get_any(l->places, l->chan->landing, size, l->chan->pe, c->call,
                     &core_ctx_default);
        core_put_any(l->chan->landing + size, l->sources, size, l->chan->pe,
                     c->call, &core_ctx_default);
    }
    core_quiet(c->call, &core_ctx_default);
}

/* Do the sender and the receiver agree on a message? */
static int compare(const struct pcoll *c, const struct pcoll_link *l, int i)
{
    const struct pcoll_place *to = &l->places[i], *from = &l->sources[i];
    int pe = core_team_world_pe(c->team, l->member);
    const char *what = l->out ? "to" : "from";

    if (to->bytes != from->bytes)
        return stream_refuse(ERR_SIZE, c->call, "message %d %s PE %d: %llu "
                             "bytes are sent, %llu are received", i, what, pe,
                             (unsigned long long)from->bytes,
                             (unsigned long long)to->bytes);
    if ((to->flags ^ from->flags) & PCOLL_STAYS)
        return stream_refuse(ERR_ARG, c->call, "message %d %s PE %d: its "
                             "sender and its receiver differ in `stays`", i,
                             what, pe);
    if (to->flags & PCOLL_PULLS && to->bytes && from->seg < 0)
        return stream_refuse(ERR_ADDR, c->call, "message %d %s PE %d: what "
                             "stays and is combined is not symmetric memory",
                             i, what, pe);
    if (!(to->flags & PCOLL_PULLS) && to->bytes && to->seg < 0)
        return stream_refuse(ERR_ADDR, c->call, "message %d %s PE %d: dest is "
                             "not symmetric memory", i, what, pe);
    return 0;
}

/* Where the receiver that pulls finds it. */
static int set_pulled(struct pcoll *c, struct pcoll_action *a)
{
    const struct pcoll_link *l = &c->links[a->link];
    const struct pcoll_place *from = &l->sources[a->message];
    int pe = core_team_world_pe(c->team, a->member);
    const char *sym;

    if (!(l->places[a->message].flags & PCOLL_PULLS) || !from->bytes)
        return 0;
    sym = (const char *)heap_segs[from->seg].base + from->offset;
    a->at = (char *)(c->stream ? stream_device_address(pe, sym, 1)
                               : xport_ptr(pe, sym, 1));
    a->stride = from->stride;
    return a->at ? 0 : stream_refuse(ERR_ADDR, c->call, "the buffers of PE %d "
                                     "are in another space than here", pe);
}

/* Where the processor can store what a member sends, or NULL. */
static char *mapped_place(const struct pcoll *c, const struct pcoll_action *a)
{
    const struct pcoll_link *l = &c->links[a->link];
    const struct pcoll_place *to = &l->places[a->message];

    if (c->stream || !to->bytes || to->flags & PCOLL_PULLS)
        return NULL;
    return (char *)xport_ptr(l->chan->pe, (const char *)
                             heap_segs[to->seg].base + to->offset, 1);
}

/* The sends behind what combines, of the same piece. */
static void find_sends(const struct pcoll *c, struct pcoll_action *a)
{
    const struct pcoll_action *end = c->sched.actions + c->sched.n;
    struct pcoll_action *s = a;

    while (s->more)
        s++;
    for (s++; s < end && s->kind == PCOLL_SEND &&
         s->from.buffer == a->in.buffer && s->from.piece == a->in.piece; s++) {
        s->to = mapped_place(c, s);
        if (!s->to)
            return;
        a->n_here++;
    }
}

int pcoll_link_compare(struct pcoll *c)
{
    struct pcoll_action *a = c->sched.actions;
    int rc = 0;

    for (int k = 0; k < c->n_links && !rc; k++)
        for (int i = 0; i < c->links[k].n && !rc; i++)
            rc = compare(c, &c->links[k], i);
    for (int i = 0; i < c->sched.n && !rc; i++, a++)
        if (a->kind == PCOLL_RECV && a->reduces)
            rc = set_pulled(c, a);
    for (int i = 0; i < c->sched.n && !rc; i++)
        if (c->sched.actions[i].kind != PCOLL_SEND && c->sched.actions[i].reduces)
            find_sends(c, &c->sched.actions[i]);
    return rc;
}

void pcoll_link_close(const char *call, struct pcoll *c)
{
    for (struct pcoll_link *l = c->links; l && l < c->links + c->n_links; l++) {
        if (l->chan)
            stream_req_free(call, c->reqs[l - c->links]);
        if (!l->out && l->places)
            heap_pool_free(l->places);
    }
}
