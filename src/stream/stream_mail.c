/* SPDX-License-Identifier: BSD-3-Clause */
#include "stream/stream_mail.h"
#include "core/core_amo.h"

#include <errno.h>
#include <stdlib.h>

enum { PLACES = 128, PEERS = 64 };      /* PEERS: posted to at a time */

struct place {
    _Alignas(128) struct mail_note note;
    uint64_t turn;              /* its number + 1, when the note is there */
};
struct ring {
    _Alignas(128) uint64_t tail;        /* places that were taken */
    uint64_t head;              /* the owner's: notes taken out */
    struct place places[PLACES];
};
_Static_assert(sizeof(struct place) == 128, "one note, one signal");

static struct ring *ring;       /* the same address on all, for operations */
static struct core_ctx ctx;     /* of the world */

/* What waits to be sent to one PE, in order. */
struct letter {
    struct letter *next;
    struct mail_note note;
};
struct outbox {
    int pe;
    struct outbox *next;
    struct letter *first, **last;
    unsigned n;
    /* Of a flush. */
    struct {
        uint64_t tail, head;
    } seen;
    uint64_t was;               /* the tail when we took places */
    unsigned take;
};
static struct outbox *outboxes;

int mail_reserve(void)
{
    ring = heap_reserve(sizeof *ring, _Alignof(struct ring));
    if (ring)
        return 0;
    log_error(ERR_HEAP, "no room for messages between streams in the reserved "
              "part of the heap");
    return -ENOMEM;
}

int mail_open(void)
{
    ctx = (struct core_ctx){ .team = &core_world };
    return xport_far ? xport_far->flow_open(&ctx.flow, false) : 0;
}

static void drop(struct outbox *o)
{
    struct letter *l;

    while ((l = o->first)) {
        o->first = l->next;
        free(l);
    }
    free(o);
}

void mail_close(void)
{
    struct outbox *o;

    while ((o = outboxes)) {
        outboxes = o->next;
        drop(o);
    }
    if (ctx.flow) {
        xport_far->quiet(ctx.flow);
        xport_far->flow_close(ctx.flow);
        ctx.flow = NULL;
    }
}

/* ---- posting ---- */

static struct outbox *outbox_of(int pe)
{
    struct outbox *o = outboxes;

    while (o && o->pe != pe)
        o = o->next;
    if (o)
        return o;
    o = calloc(1, sizeof *o);
    if (!o)
        return NULL;
    o->pe = pe;
    o->last = &o->first;
    o->next = outboxes;
    outboxes = o;
    return o;
}

int mail_post(int pe, const struct mail_note *n)
{
    struct outbox *o = outbox_of(pe);
    struct letter *l = o ? malloc(sizeof *l) : NULL;

    if (!l)
        return -ENOMEM;
    l->next = NULL;
    l->note = *n;
    l->note.from = core_world.my_pe;
    *o->last = l;
    o->last = &l->next;
    o->n++;
    return 0;
}

static void look_for_room(const char *call, struct outbox *list[], int n)
{
    for (int i = 0; i < n; i++)
        core_get_any_nbi(&list[i]->seen, &ring->tail, sizeof list[i]->seen,
                         list[i]->pe, call, &ctx);
    core_quiet(call, &ctx);
}

/* Another PE may be faster: then there are none this time. */
static void take_places(const char *call, struct outbox *list[], int n)
{
    for (int i = 0; i < n; i++) {
        struct outbox *o = list[i];
        uint64_t used = o->seen.tail - o->seen.head, cond = o->seen.tail;
        /* More than all: the two were not read at one time. */
        uint64_t room = used < PLACES ? PLACES - used : 0;

        o->take = o->n < room ? o->n : (unsigned)room;
        o->was = cond + 1;
        if (o->take)
            CORE_AMO_NBI(uint64_t, call, &ctx, XPORT_CSWAP, &ring->tail,
                         cond + o->take, cond, o->pe,
                         CORE_DO_CSWAP(cond, cond + o->take), &o->was);
    }
    core_quiet(call, &ctx);
}

static void put_notes(const char *call, struct outbox *o)
{
    struct letter *l = o->first;

    if (o->was != o->seen.tail)
        o->take = 0;
    for (unsigned i = 0; i < o->take; i++, l = l->next) {
        uint64_t number = o->was + i;
        struct place *p = &ring->places[number % PLACES];

        core_put_signal(call, &ctx, &p->note, &l->note, sizeof l->note,
                        &p->turn, number + 1, SHMEM_SIGNAL_SET, o->pe, true);
    }
}

static void let_sent_go(struct outbox *o)
{
    for (; o->take; o->take--, o->n--) {
        struct letter *l = o->first;

        o->first = l->next;
        free(l);
    }
    if (!o->first)
        o->last = &o->first;
}

static void flush_some(const char *call, struct outbox *list[], int n)
{
    look_for_room(call, list, n);
    take_places(call, list, n);
    for (int i = 0; i < n; i++)
        put_notes(call, list[i]);
    core_quiet(call, &ctx);
    for (int i = 0; i < n; i++)
        let_sent_go(list[i]);
}

bool mail_flush(const char *call, bool near_only)
{
    struct outbox *list[PEERS], **at = &outboxes, *o;
    int n = 0;

    for (o = outboxes; o; o = o->next) {
        if (!o->n || (near_only && !xport_is_near(o->pe)))
            continue;
        list[n++] = o;
        if (n == PEERS || !o->next) {
            flush_some(call, list, n);
            n = 0;
        }
    }
    if (n)
        flush_some(call, list, n);
    while ((o = *at)) {         /* most PEs are written to once */
        if (o->n) {
            at = &o->next;
        } else {
            *at = o->next;
            free(o);
        }
    }
    return !outboxes;
}

void mail_signal(const char *call, uint64_t *word, uint64_t value, int op,
                 int pe)
{
    core_signal(call, &ctx, word, value, op, pe);
    core_quiet(call, &ctx);
}

/* ---- the owner's side ---- */

static const struct place *next_place(void)
{
    return &ring->places[__atomic_load_n(&ring->head, __ATOMIC_RELAXED) %
                         PLACES];
}

bool mail_is_there(void)
{
    return ring && __atomic_load_n(&next_place()->turn, __ATOMIC_ACQUIRE) ==
                       __atomic_load_n(&ring->head, __ATOMIC_RELAXED) + 1;
}

bool mail_take(struct mail_note *out)
{
    if (!mail_is_there())
        return false;
    atomics_heard();
    *out = next_place()->note;
    /* release: its place is free for who posts. */
    __atomic_store_n(&ring->head, ring->head + 1, __ATOMIC_RELEASE);
    return true;
}

struct core_waiter mail_waiter(const char *call)
{
    const uint64_t *turn = &next_place()->turn;

    return CORE_WAIT_VALUE(call, turn, uint64_t, SHMEM_CMP_GE, 0);
}
