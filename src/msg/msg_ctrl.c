/* SPDX-License-Identifier: BSD-3-Clause */
#include "msg/msg_ctrl.h"
#include "base/clock.h"
#include "core/core_amo.h"
#include "core/core_describe.h"
#include "core/core_stall.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

enum { PLACES = 128, LOOKS = 64 };     /* LOOKS: at rings, at a time */
/* Notes that have not moved for so long may take any time. */
#define LIVELY_NS ((uint64_t)5000000)

struct place {
    _Alignas(128) struct msg_ctrl note;
    uint64_t turn;              /* its number + 1, when the note is there */
};
struct ends {
    uint64_t tail;              /* places that were taken */
    uint64_t head;              /* the owner's: notes taken out */
    uint64_t closed;            /* the owner's: it takes no more */
};
struct ring {
    _Alignas(128) struct ends ends;
    struct place places[PLACES];
    /* The owner's: ends of other rings come here, as every provider can. */
    struct ends looks[LOOKS];
};
_Static_assert(sizeof(struct place) == 128, "one note, one signal");

static struct ring *ring;       /* the same address on all, for operations */
static uint64_t taken;          /* atomic: what its head is, or should be */
static uint64_t looking;        /* a bit for each of looks that is in use */
static struct core_ctx ctx;     /* of the world, for signals */

/* What waits to be sent to one PE, in order. */
struct letter {
    struct letter *next;
    struct msg_ctrl note;
};

/* Notes of an outbox go in turns; each phase is over when what it posted is. */
enum phase {
    REST,
    LOOK,                       /* the ring's ends are read */
    KNOWN,                      /* they are known, or were not long ago */
    TAKE,                       /* places are taken */
    PUT,                        /* notes are posted, each with its turn; or, */
    APART,                      /* where the provider cannot, without; */
    CAME,                       /* these have come, */
    TURNS,                      /* and the turns are posted */
    SENT                        /* until all have come */
};
struct outbox {
    int pe;
    enum phase phase;
    bool near, apart;
    bool fresh;                 /* seen: nothing was taken since */
    bool full;                  /* the ring was, and was not looked at since */
    struct core_ctx ctx;
    struct outbox *next;
    struct letter *first, **last;
    unsigned n;
    int look;                   /* LOOK: the ends come there, or to seen: -1 */
    struct ends seen, odd;      /* odd: seen before, and impossible */
    uint64_t was;               /* the tail when we took places */
    unsigned take, posted, whole;       /* whole: posted with their turns */
    struct letter *at;          /* the next one to be posted */
    uint64_t moved_ns;
};
static struct outbox *outboxes;

int msg_ctrl_reserve(void)
{
    taken = looking = 0;
    ring = heap_reserve(sizeof *ring, _Alignof(struct ring));
    if (ring)
        return 0;
    log_error(ERR_HEAP, "no room for messages between streams in the reserved "
              "part of the heap");
    return -ENOMEM;
}

int msg_ctrl_open(void)
{
    ctx = (struct core_ctx){ .team = &core_world };
    return xport_net ? xport_net->ep_open(&ctx.flow, false) : 0;
}

static void drop(struct outbox *o)
{
    struct letter *l;

    while ((l = o->first)) {
        o->first = l->next;
        free(l);
    }
    if (o->ctx.flow)
        xport_net->ep_close(o->ctx.flow);
    free(o);
}

void msg_ctrl_close(void)
{
    struct outbox *o;

    while ((o = outboxes)) {
        outboxes = o->next;
        drop(o);
    }
    if (ctx.flow) {
        xport_net->quiet(ctx.flow);
        xport_net->ep_close(ctx.flow);
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
    o->ctx = (struct core_ctx){ .team = &core_world };
    if (xport_net && xport_net->ep_open(&o->ctx.flow, false)) {
        free(o);
        return NULL;
    }
    if (xport_net)
        xport_net->ep_set_polled(o->ctx.flow);
    o->pe = pe;
    o->near = xport_is_mapped(pe);
    o->last = &o->first;
    o->next = outboxes;
    outboxes = o;
    return o;
}

int msg_ctrl_post(int pe, const struct msg_ctrl *n)
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

/* ---- an outbox: no step waits for that PE, or for room ---- */

static bool is_over(const struct outbox *o)
{
    if (o->ctx.flow && !xport_net->quiet_test(o->ctx.flow))
        return false;
    atomics_tsan_acquire();
    return true;
}

static bool has_room(const struct outbox *o)
{
    return o->near || xport_net->can_post(o->ctx.flow, o->pe);
}

static bool go(struct outbox *o, enum phase next)
{
    o->phase = next;
    return true;
}

static bool look_for_places(const char *call, struct outbox *o)
{
    bool shared = !o->near && ~looking;

    o->full = false;
    if (!o->n || !has_room(o))
        return false;
    o->look = shared ? __builtin_ctzll(~looking) : -1;
    if (shared)
        looking |= (uint64_t)1 << o->look;
    core_get_any_nbi(shared ? &ring->looks[o->look] : &o->seen, &ring->ends,
                     sizeof ring->ends, o->pe, call, &o->ctx);
    return go(o, LOOK);
}

/* The two were not read at one time, so more than all may seem to be taken;
 * but both only grow: what is read twice was so in between. */
static bool check_ends(const char *call, struct outbox *o)
{
    const struct ends *e = &o->seen;

    if (o->look >= 0) {
        o->seen = ring->looks[o->look];
        looking &= ~((uint64_t)1 << o->look);
    }
    o->fresh = true;
    if (e->tail - e->head > PLACES) {
        if (e->tail == o->odd.tail && e->head == o->odd.head)
            core_fatal(ERR_CORRUPT, call, "%" PRIu64 " notes were sent to PE "
                       "%d and %" PRIu64 " read, of %d at a time: the "
                       "library's words in the symmetric heap of that PE were "
                       "overwritten, as by a put past the end of its block; "
                       "SHMEM_CHECK=1 finds some such puts", e->tail, o->pe,
                       e->head, PLACES);
        o->odd = *e;
    }
    return go(o, KNOWN);
}

static bool take_places(const char *call, struct outbox *o)
{
    uint64_t used = o->seen.tail - o->seen.head, cond = o->seen.tail;
    uint64_t room = used < PLACES ? PLACES - used : 0;

    if (!has_room(o))
        return false;
    o->take = o->n < room ? o->n : (unsigned)room;
    if (!o->take) {
        o->full = o->fresh;
        o->phase = REST;
        return !o->full;        /* or in the next flush */
    }
    o->fresh = false;
    CORE_AMO_NBI(uint64_t, call, &o->ctx, XPORT_CSWAP, &ring->ends.tail,
                 cond + o->take, cond, o->pe,
                 CORE_DO_CSWAP(cond, cond + o->take), &o->was);
    return go(o, TAKE);
}

static bool post_from(struct outbox *o, unsigned i, enum phase next)
{
    o->at = o->first;
    for (o->posted = 0; o->posted < i; o->posted++)
        o->at = o->at->next;
    return go(o, next);
}

/* Another PE may have been faster. */
static bool have_taken(struct outbox *o)
{
    bool ours = o->was == o->seen.tail;

    o->seen.tail = o->was;
    if (!ours)
        return go(o, KNOWN);
    o->whole = 0;
    return post_from(o, 0, o->apart ? APART : PUT);
}

/* 0, -EAGAIN or -ENOTSUP. */
static int put_note(const char *call, struct outbox *o, struct place *p,
                    uint64_t turn)
{
    const struct msg_ctrl *n = &o->at->note;

    if (!o->near && o->phase == PUT)
        return core_remote_try_put_signal(call, &o->ctx, &p->note, n, sizeof *n,
                                          &p->turn, turn, SHMEM_SIGNAL_SET,
                                          o->pe, true);
    if (!has_room(o))
        return -EAGAIN;
    if (o->phase == PUT)
        core_put_signal(call, &o->ctx, &p->note, n, sizeof *n, &p->turn, turn,
                        SHMEM_SIGNAL_SET, o->pe, true);
    else if (o->phase == APART)
        core_put_any_nbi(&p->note, n, sizeof *n, o->pe, call, &o->ctx);
    else
        core_signal(call, &o->ctx, &p->turn, turn, SHMEM_SIGNAL_SET, o->pe);
    return 0;
}

static bool put_notes(const char *call, struct outbox *o, enum phase next)
{
    for (; o->posted < o->take; o->posted++, o->at = o->at->next) {
        uint64_t number = o->was + o->posted;
        int rc = put_note(call, o, &ring->places[number % PLACES], number + 1);

        if (rc == -ENOTSUP) {
            o->apart = true;
            o->whole = o->posted;
            return go(o, APART);
        }
        if (rc)
            return false;
    }
    return go(o, next);
}

static bool free_sent(struct outbox *o)
{
    o->seen.tail += o->take;
    for (; o->take; o->take--, o->n--) {
        struct letter *l = o->first;

        o->first = l->next;
        free(l);
    }
    if (!o->first)
        o->last = &o->first;
    return go(o, o->n ? KNOWN : REST);
}

/* Did anything come of it? */
static bool step(const char *call, struct outbox *o)
{
    switch (o->phase) {
    case REST:
        return look_for_places(call, o);
    case LOOK:
        return is_over(o) && check_ends(call, o);
    case KNOWN:
        return take_places(call, o);
    case TAKE:
        return is_over(o) && have_taken(o);
    case PUT:
        return put_notes(call, o, SENT);
    case APART:
        return put_notes(call, o, CAME);
    case CAME:
        return is_over(o) && post_from(o, o->whole, TURNS);
    case TURNS:
        return put_notes(call, o, SENT);
    case SENT:
        break;
    }
    return is_over(o) && free_sent(o);
}

bool msg_ctrl_flush(const char *call, bool near_only)
{
    uint64_t now = xport_net && outboxes ? clock_ns() : 0;
    struct outbox **at = &outboxes, *o;

    while ((o = *at)) {
        if (!o->moved_ns)
            o->moved_ns = now;
        if (o->near || !near_only)
            while (step(call, o))
                o->moved_ns = now;
        if (o->n && o->ctx.flow)
            xport_progress->check_timeouts(o->ctx.flow, now);
        if (o->n) {
            at = &o->next;
        } else {                /* most PEs are written to once */
            *at = o->next;
            drop(o);
        }
    }
    return !outboxes;
}

bool msg_ctrl_is_moving(void)
{
    uint64_t now = outboxes ? clock_ns() : 0;

    for (const struct outbox *o = outboxes; o; o = o->next)
        if (!o->full && now - o->moved_ns < LIVELY_NS)
            return true;
    return false;
}

/* The first outbox that the end of this PE waits for: not one whose ring is
 * full and whose owner ends, too. */
static const struct outbox *awaited(void)
{
    const struct outbox *o = outboxes;

    while (o && o->full && o->seen.closed)
        o = o->next;
    return o;
}

void msg_ctrl_stop_reading(void)
{
    /* release: what was read before is read. */
    __atomic_store_n(&ring->ends.closed, 1, __ATOMIC_RELEASE);
}

static void watch(struct core_outstanding *l, int pe)
{
    struct line t = { .n = 0 };
    uint64_t now = clock_ns();

    if (!core_stall_overdue(l, now))
        return;
    l->pe = pe;
    line_addf(&t, "%s waits for %llu s for control messages to PE %d",
                  core_public_name(l->w.call),
                  line_seconds(now - l->w.since_ns), l->pe);
    l->text = t.at;
    core_stall_outstanding(l, now);
}

void msg_ctrl_drain(const char *call)
{
    struct core_waiter w = core_wait_begin(&ring->ends, sizeof ring->ends);
    const struct outbox *o;
    bool printed = false;
    struct core_outstanding l = { .w = { .call = call }, .told = &printed,
                                  .who = "; held up by" };

    w.silent = true;
    msg_ctrl_stop_reading();
    while (!msg_ctrl_flush(call, false) && (o = awaited())) {
        core_wait_step(&w);
        watch(&l, o->pe);
    }
    core_wait_end(&w);
}

void msg_ctrl_signal(const char *call, uint64_t *word, uint64_t value, int op,
                 int pe)
{
    core_signal(call, &ctx, word, value, op, pe);
    core_quiet(call, &ctx);
}

/* ---- the owner's side ---- */

static const struct place *next_place(void)
{
    return &ring->places[__atomic_load_n(&taken, __ATOMIC_RELAXED) % PLACES];
}

bool msg_ctrl_has_incoming(void)
{
    return ring && __atomic_load_n(&next_place()->turn, __ATOMIC_ACQUIRE) ==
                       __atomic_load_n(&taken, __ATOMIC_RELAXED) + 1;
}

bool msg_ctrl_take(struct msg_ctrl *out)
{
    if (!msg_ctrl_has_incoming())
        return false;
    atomics_tsan_acquire();
    *out = next_place()->note;
    __atomic_store_n(&taken, taken + 1, __ATOMIC_RELAXED);
    /* release: its place is free for the PEs that post. */
    __atomic_store_n(&ring->ends.head, taken, __ATOMIC_RELEASE);
    return true;
}

struct core_waiter msg_ctrl_waiter(const char *call)
{
    const uint64_t *turn = &next_place()->turn;

    return CORE_WAIT_VALUE(call, turn, uint64_t, SHMEM_CMP_GE, 0);
}
