/* SPDX-License-Identifier: BSD-3-Clause */
/* The control channel: see msg_ctrl.h.  msg_match.c calls it under its lock.
 * No function waits for another PE, except msg_ctrl_drain() at the end. */
#include "msg/msg_ctrl.h"
#include "base/clock.h"
#include "base/symbol.h"
#include "core/core_amo.h"
#include "core/core_stall.h"
#include "core/core_describe.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

enum { ENTRIES = 128, READS = 64 };     /* READS: of other rings, at a time */
/* Messages that have not moved for so long may take any time. */
#define MOVING_NS ((uint64_t)5000000)

struct entry {
    _Alignas(128) struct msg_ctrl msg;
    uint64_t seq;               /* its number + 1, when the message is there */
};
struct ends {
    uint64_t tail;              /* entries that senders have claimed */
    uint64_t head;              /* the owner's: messages taken out */
    uint64_t closed;            /* the owner's: it reads nothing more */
};
struct ring {
    _Alignas(128) struct ends ends;
    struct entry entries[ENTRIES];
    /* The owner's: ends of other rings are fetched to here, since every
     * provider can fetch to the symmetric heap. */
    struct ends fetched[READS];
};
_Static_assert(sizeof(struct entry) == 128, "one message, one signal");

static struct ring *ring;       /* the same address on all PEs */
static uint64_t taken;          /* atomic: its head, as it is or should be */
static uint64_t fetching;       /* a bit for each of fetched that is in use */
static struct core_ctx ctx;     /* of the world, for signals */

struct queued {
    struct queued *next;
    struct msg_ctrl msg;
};

/* Messages of a send queue go in batches.  Each state ends when what it posted
 * has completed; step() walks them. */
enum state {
    IDLE,
    READ_ENDS,                  /* the ends of the peer's ring are fetched */
    ENDS_KNOWN,                 /* they are known, or were not long ago */
    CLAIM,                      /* entries are claimed */
    PUT,                        /* messages are put, each with its seq; or, */
    PUT_ONLY,                   /* where the provider cannot, without; */
    PUT_DONE,                   /* these have arrived, */
    PUT_SEQ,                    /* and the seqs are put */
    COMPLETE                    /* until all have arrived */
};
struct send_queue {
    int pe;
    enum state state;
    bool mapped, separate;      /* separate: PUT_ONLY and PUT_SEQ */
    bool fresh;                 /* seen: nothing was claimed since */
    bool full;                  /* the ring was, and was not read since */
    struct core_ctx ctx;
    struct send_queue *next;
    struct queued *first, **last;
    unsigned n;
    int fetch;                  /* READ_ENDS: the ends arrive in that element
                                 * of fetched, or, -1, in seen */
    struct ends seen, odd;      /* odd: seen before, and impossible */
    uint64_t claimed_at;        /* the tail when entries were claimed */
    unsigned claim, posted, whole;      /* whole: posted with their seqs */
    struct queued *at;          /* the next one to be posted */
    uint64_t moved_ns;
};
static struct send_queue *queues;

int msg_ctrl_reserve(void)
{
    taken = fetching = 0;
    ring = heap_reserve(sizeof *ring, _Alignof(struct ring));
    if (ring)
        return 0;
    log_error(ERR_HEAP, "no room for messages between streams in the reserved "
              "part of the heap");
    return -ENOMEM;
}

int msg_ctrl_open(void)
{
    ctx = core_ctx_own(&core_world);
    return xport_net ? xport_net->ctx_open(&ctx.net, false) : 0;
}

static void free_queue(struct send_queue *q)
{
    struct queued *m;

    while ((m = q->first)) {
        q->first = m->next;
        free(m);
    }
    if (q->ctx.net)
        xport_net->ctx_close(q->ctx.net);
    free(q);
}

void msg_ctrl_close(void)
{
    struct send_queue *q;

    while ((q = queues)) {
        queues = q->next;
        free_queue(q);
    }
    if (ctx.net) {
        xport_net->quiet(ctx.net);
        xport_net->ctx_close(ctx.net);
        ctx.net = NULL;
    }
}

/* ---- posting ---- */

static struct send_queue *queue_to(int pe)
{
    struct send_queue *q = queues;

    while (q && q->pe != pe)
        q = q->next;
    if (q)
        return q;
    q = calloc(1, sizeof *q);
    if (!q)
        return NULL;
    q->ctx = core_ctx_own(&core_world);
    if (xport_net && xport_net->ctx_open(&q->ctx.net, false)) {
        free(q);
        return NULL;
    }
    if (xport_net)
        xport_net->ctx_set_polled(q->ctx.net);
    q->pe = pe;
    q->mapped = xport_is_mapped(pe);
    q->last = &q->first;
    q->next = queues;
    queues = q;
    return q;
}

int msg_ctrl_post(int pe, const struct msg_ctrl *m)
{
    struct send_queue *q = queue_to(pe);
    struct queued *new = q ? malloc(sizeof *new) : NULL;

    if (!new)
        return -ENOMEM;
    new->next = NULL;
    new->msg = *m;
    new->msg.from = core_world.my_pe;
    *q->last = new;
    q->last = &new->next;
    q->n++;
    return 0;
}

/* ---- a send queue: no step waits for its PE, or for room ---- */

static bool is_complete(const struct send_queue *q)
{
    if (q->ctx.net && !xport_net->quiet_test(q->ctx.net))
        return false;
    atomics_tsan_acquire();
    return true;
}

static bool has_credit(const struct send_queue *q)
{
    return q->mapped || xport_net->can_post(q->ctx.net, q->pe);
}

static bool enter(struct send_queue *q, enum state next)
{
    q->state = next;
    return true;
}

static bool fetch_ends(const char *call, struct send_queue *q)
{
    bool shared = !q->mapped && ~fetching;

    q->full = false;
    if (!q->n || !has_credit(q))
        return false;
    q->fetch = shared ? __builtin_ctzll(~fetching) : -1;
    if (shared)
        fetching |= (uint64_t)1 << q->fetch;
    core_get_any_nbi(shared ? &ring->fetched[q->fetch] : &q->seen, &ring->ends,
                     sizeof ring->ends, q->pe, call, &q->ctx);
    return enter(q, READ_ENDS);
}

/* The two numbers were not read at one time, so more than all entries may seem
 * to be claimed.  Both only grow: a pair that is read twice held in between. */
static bool check_ends(const char *call, struct send_queue *q)
{
    const struct ends *e = &q->seen;

    if (q->fetch >= 0) {
        q->seen = ring->fetched[q->fetch];
        fetching &= ~((uint64_t)1 << q->fetch);
    }
    q->fresh = true;
    if (e->tail - e->head > ENTRIES) {
        if (e->tail == q->odd.tail && e->head == q->odd.head)
            core_fatal(ERR_CORRUPT, call, "%" PRIu64 " control messages were "
                       "sent to PE %d and %" PRIu64 " read, of %d at a time: "
                       "the library's words in the symmetric heap of that PE "
                       "were overwritten, as by a put past the end of its "
                       "block; SHMEM_CHECK=1 finds some such puts", e->tail,
                       q->pe, e->head, ENTRIES);
        q->odd = *e;
    }
    return enter(q, ENDS_KNOWN);
}

static bool claim_entries(const char *call, struct send_queue *q)
{
    uint64_t used = q->seen.tail - q->seen.head, cond = q->seen.tail;
    uint64_t room = used < ENTRIES ? ENTRIES - used : 0;

    if (!has_credit(q))
        return false;
    q->claim = q->n < room ? q->n : (unsigned)room;
    if (!q->claim) {
        q->full = q->fresh;
        q->state = IDLE;
        return !q->full;        /* a full ring is read by the next flush */
    }
    q->fresh = false;
    CORE_AMO_NBI(uint64_t, call, &q->ctx, AMO_CSWAP, &ring->ends.tail,
                 cond + q->claim, cond, q->pe,
                 CORE_DO_CSWAP(cond, cond + q->claim), &q->claimed_at);
    return enter(q, CLAIM);
}

static bool post_from(struct send_queue *q, unsigned i, enum state next)
{
    q->at = q->first;
    for (q->posted = 0; q->posted < i; q->posted++)
        q->at = q->at->next;
    return enter(q, next);
}

/* Another PE may have claimed the same entries first. */
static bool check_claim(struct send_queue *q)
{
    bool won = q->claimed_at == q->seen.tail;

    q->seen.tail = q->claimed_at;
    if (!won)
        return enter(q, ENDS_KNOWN);
    q->whole = 0;
    return post_from(q, 0, q->separate ? PUT_ONLY : PUT);
}

/* 0, -EAGAIN or -ENOTSUP. */
static int put_msg(const char *call, struct send_queue *q, struct entry *e,
                   uint64_t seq)
{
    const struct msg_ctrl *m = &q->at->msg;

    if (!q->mapped && q->state == PUT)
        return core_remote_try_put_signal(call, &q->ctx, &e->msg, m, sizeof *m,
                                       &e->seq, seq, SHMEM_SIGNAL_SET, q->pe,
                                       true);
    if (!has_credit(q))
        return -EAGAIN;
    if (q->state == PUT)
        core_put_signal(call, &q->ctx, &e->msg, m, sizeof *m, &e->seq, seq,
                        SHMEM_SIGNAL_SET, q->pe, true);
    else if (q->state == PUT_ONLY)
        core_put_any_nbi(&e->msg, m, sizeof *m, q->pe, call, &q->ctx);
    else
        core_signal(call, &q->ctx, &e->seq, seq, SHMEM_SIGNAL_SET, q->pe);
    return 0;
}

static bool put_msgs(const char *call, struct send_queue *q, enum state next)
{
    for (; q->posted < q->claim; q->posted++, q->at = q->at->next) {
        uint64_t number = q->claimed_at + q->posted;
        int rc = put_msg(call, q, &ring->entries[number % ENTRIES], number + 1);

        if (rc == -ENOTSUP) {
            q->separate = true;
            q->whole = q->posted;
            return enter(q, PUT_ONLY);
        }
        if (rc)
            return false;
    }
    return enter(q, next);
}

static bool free_sent(struct send_queue *q)
{
    q->seen.tail += q->claim;
    for (; q->claim; q->claim--, q->n--) {
        struct queued *m = q->first;

        q->first = m->next;
        free(m);
    }
    if (!q->first)
        q->last = &q->first;
    return enter(q, q->n ? ENDS_KNOWN : IDLE);
}

/* True: the queue has entered another state. */
static bool step(const char *call, struct send_queue *q)
{
    switch (q->state) {
    case IDLE:
        return fetch_ends(call, q);
    case READ_ENDS:
        return is_complete(q) && check_ends(call, q);
    case ENDS_KNOWN:
        return claim_entries(call, q);
    case CLAIM:
        return is_complete(q) && check_claim(q);
    case PUT:
        return put_msgs(call, q, COMPLETE);
    case PUT_ONLY:
        return put_msgs(call, q, PUT_DONE);
    case PUT_DONE:
        return is_complete(q) && post_from(q, q->whole, PUT_SEQ);
    case PUT_SEQ:
        return put_msgs(call, q, COMPLETE);
    case COMPLETE:
        break;
    }
    return is_complete(q) && free_sent(q);
}

bool msg_ctrl_flush(const char *call, bool mapped_only)
{
    uint64_t now = xport_net && queues ? clock_ns() : 0;
    struct send_queue **at = &queues, *q;

    while ((q = *at)) {
        if (!q->moved_ns)
            q->moved_ns = now;
        if (q->mapped || !mapped_only)
            while (step(call, q))
                q->moved_ns = now;
        if (q->n && q->ctx.net)
            xport_progress->check_timeouts(q->ctx.net, now);
        if (q->n) {
            at = &q->next;
        } else {                /* most PEs get one message in all */
            *at = q->next;
            free_queue(q);
        }
    }
    return !queues;
}

bool msg_ctrl_is_moving(void)
{
    uint64_t now = queues ? clock_ns() : 0;

    for (const struct send_queue *q = queues; q; q = q->next)
        if (!q->full && now - q->moved_ns < MOVING_NS)
            return true;
    return false;
}

/* ---- the end ---- */

/* The first queue that this PE's end waits for: a full ring whose owner has
 * stopped reading takes nothing any more. */
static const struct send_queue *first_undrained(void)
{
    const struct send_queue *q = queues;

    while (q && q->full && q->seen.closed)
        q = q->next;
    return q;
}

void msg_ctrl_stop_reading(void)
{
    /* release: the messages before were read. */
    __atomic_store_n(&ring->ends.closed, 1, __ATOMIC_RELEASE);
}

static void report_stall(struct core_outstanding *l, int pe)
{
    struct line t = { .n = 0 };
    uint64_t now = clock_ns();

    if (!core_stall_overdue(l, now))
        return;
    l->pe = pe;
    line_addf(&t, "%s waits for %llu s for control messages to PE %d",
                  symbol_public(l->w.info.call),
                  line_seconds(now - l->w.wait_began_ns), l->pe);
    l->text = t.at;
    core_stall_outstanding(l, now);
}

void msg_ctrl_drain(const char *call)
{
    struct core_waiter w = core_wait_begin(&ring->ends, sizeof ring->ends);
    const struct send_queue *q;
    bool printed = false;
    struct core_outstanding l = { .w = { .info.call = call },
                                  .reported = &printed,
                                  .who = "; held up by" };

    w.info.silent = true;
    msg_ctrl_stop_reading();
    while (!msg_ctrl_flush(call, false) && (q = first_undrained())) {
        core_wait_step(&w);
        report_stall(&l, q->pe);
    }
    core_wait_end(&w);
}

void msg_ctrl_signal(const char *call, uint64_t *word, uint64_t value, int op,
                     int pe)
{
    if (!xport_is_mapped(pe)) {         /* which the quiet below does not cover */
        core_remote_notify(call, &ctx, op == SHMEM_SIGNAL_ADD ? AMO_ADD : AMO_SET,
                           word, value, pe);
        return;
    }
    core_signal(call, &ctx, word, value, op, pe);
    xport_call = call;
    core_quiet(NULL, &ctx);             /* the program's print what failed */
}

/* ---- the owner's side ---- */

static const struct entry *next_entry(void)
{
    return &ring->entries[__atomic_load_n(&taken, __ATOMIC_RELAXED) % ENTRIES];
}

bool msg_ctrl_has_incoming(void)
{
    return ring && __atomic_load_n(&next_entry()->seq, __ATOMIC_ACQUIRE) ==
                       __atomic_load_n(&taken, __ATOMIC_RELAXED) + 1;
}

bool msg_ctrl_take(struct msg_ctrl *out)
{
    if (!msg_ctrl_has_incoming())
        return false;
    atomics_tsan_acquire();
    *out = next_entry()->msg;
    __atomic_store_n(&taken, taken + 1, __ATOMIC_RELAXED);
    /* release: the entry is free for the PEs that post. */
    __atomic_store_n(&ring->ends.head, taken, __ATOMIC_RELEASE);
    return true;
}

struct core_waiter msg_ctrl_waiter(const char *call)
{
    const uint64_t *seq = &next_entry()->seq;

    return CORE_WAIT_VALUE(call, seq, uint64_t, SHMEM_CMP_GE, 0);
}
