/* SPDX-License-Identifier: BSD-3-Clause */
/* The state machines of partitions: each goes through the actions of the
 * schedule as its messages arrive.  As the owner of a trigger this is called
 * with the trigger's lock, by the progress thread and by threads that wait; it
 * waits for nothing. */
#include "msg/pcoll/pcoll.h"
#include "base/symbol.h"
#include "coll/coll.h"

#include <stdio.h>
#include <string.h>

/* What a report reads without the lock: of whole words, if not of one moment. */
#define SET(field, v) __atomic_store_n(&(field), v, __ATOMIC_RELAXED)
#define SEEN(field) __atomic_load_n(&(field), __ATOMIC_RELAXED)

/* Bytes that a call combines or copies; a part of them that fits a cache. */
enum { SLICE = 262144, BLOCK = 8192 };

static struct part_counters *counters_of(const struct pcoll *c,
                                         const struct pcoll_action *a)
{
    return part_counters(c->links[a->link].chan);
}

/* ---- messages ---- */

/* For the sender of what is pulled. */
static void fill_ack(struct pcoll *c, const struct pcoll_action *a,
                     int partition)
{
    const struct pcoll_link *l = &c->links[a->link];
    int at = a->send * c->part.n + partition;
    uint64_t *theirs = (uint64_t *)(heap_segs[HEAP_HOST].base +
                                    l->sources[a->message].acks);

    c->sends[at].tag = c->part.n + at;
    c->sends[at].op = (struct stream_op){
        .kind = STREAM_SIGNAL, .call = c->call, .pe = l->chan->pe,
        .message = true, .signal = { theirs + partition, 1, SHMEM_SIGNAL_ADD }
    };
}

static void fill_send(struct pcoll *c, const struct pcoll_action *a,
                      int partition)
{
    const struct pcoll_link *l = &c->links[a->link];
    const struct pcoll_place *to = &l->places[a->message];
    int at = a->send * c->part.n + partition;
    struct trig_op *s = &c->sends[at];
    struct part_counters *theirs =
        (struct part_counters *)l->chan->peer_counters;
    size_t word = (size_t)a->message * (size_t)c->part.n + (size_t)partition;

    s->tag = c->part.n + at;
    s->op = (struct stream_op){
        .kind = STREAM_SIGNAL, .call = c->call, .pe = l->chan->pe,
        .message = true,
        .signal = { &theirs->arrived[word], 1, SHMEM_SIGNAL_SET }
    };
    if (to->flags & PCOLL_PULLS || !to->bytes || a->to)
        return;
    s->op.kind = STREAM_PUT_SIGNAL;
    s->op.len = to->bytes;
    s->op.source = pcoll_at(c, a->from, partition);
    s->op.dest = (char *)heap_segs[to->seg].base + to->offset +
                 (size_t)partition * to->stride;
}

/* Does the receiver acknowledge it? */
static bool waits_for_ack(const struct pcoll *c, const struct pcoll_action *a)
{
    const struct pcoll_place *to = &c->links[a->link].places[a->message];

    return !c->sched.usual && to->flags & PCOLL_PULLS && to->bytes;
}

void pcoll_run_open(struct pcoll *c)
{
    for (int i = 0; i < c->sched.n; i++) {
        const struct pcoll_action *a = &c->sched.actions[i];

        if (a->kind == PCOLL_SEND)
            c->n_acks += waits_for_ack(c, a);
        for (int k = 0; k < c->part.n; k++)
            if (a->kind == PCOLL_SEND)
                fill_send(c, a, k);
            else if (a->acks)
                fill_ack(c, a, k);
    }
}

static bool may_send(const struct pcoll *c, const struct pcoll_action *a)
{
    return part_load(&counters_of(c, a)->counters.started) >= c->iteration;
}

static void submit(struct pcoll *c, struct trig_op *op, int partition)
{
    c->runs[partition].in_flight++;
    c->in_flight++;
    trig_submit(c->of, op);
}

/* False: its receiver has not started the iteration. */
static bool send(struct pcoll *c, const struct pcoll_action *a, int partition)
{
    struct trig_op *s = &c->sends[a->send * c->part.n + partition];

    if (!may_send(c, a))
        return false;
    s->op.signal.value = c->iteration;
    submit(c, s, partition);
    return true;
}

static bool has_arrived(const struct pcoll *c, const struct pcoll_action *a,
                        int partition)
{
    size_t word = (size_t)a->message * (size_t)c->part.n + (size_t)partition;

    return part_load(&counters_of(c, a)->arrived[word]) >= c->iteration;
}

/* ---- combined and copied ---- */

/* By the processor, into a block that stays in cache: n elements from that one
 * on, of what is one's own and all that arrives. */
static void combine_block(const struct pcoll *c, const struct pcoll_action *a,
                          int partition, size_t from, size_t n, char *block)
{
    enum gtl_type type = c->what.type;
    coll_op *op = coll_ops[c->what.op][type < GTL_COMPLEXF
                                       ? (enum coll_type)type
                                       : (enum coll_type)(type + 1)];
    const char *mine = pcoll_at(c, a->with, partition) + from * c->size;

    for (const struct pcoll_action *b = a;; b++) {
        const char *theirs = b->at + (size_t)partition * b->stride +
                             from * c->size;

        if (b->member < c->team->my_pe)
            op(block, theirs, mine, n);
        else
            op(block, mine, theirs, n);
        mine = block;
        if (!b->more)
            return;
    }
}

/* The sends among the actions behind this one. */
static struct pcoll_action *sends_behind(struct pcoll_action *a)
{
    while (a->more)
        a++;
    return a + 1;
}

/* To where it belongs, and to where it is sent.  memmove: for its call, which
 * does not read what it overwrites; a memcpy of so few bytes is made inline. */
static void spread_block(const struct pcoll *c, struct pcoll_action *a,
                         int partition, size_t from, const char *block,
                         size_t n)
{
    const struct pcoll_action *s = sends_behind(a);

    memmove(pcoll_at(c, a->in, partition) + from, block, n);
    for (int i = 0; i < a->n_here; i++, s++)
        memmove(s->to + from + (size_t)partition *
                c->links[s->link].places[s->message].stride, block, n);
}

/* LOCAL is as if its piece had arrived. */
static bool work_by_host(struct pcoll *c, struct pcoll_action *a,
                         int partition)
{
    struct pcoll_run *r = &c->runs[partition];
    size_t bytes = pcoll_bytes(c, a->in), end = r->moved + SLICE, n;
    _Alignas(64) char block[BLOCK];

    if (end > bytes)
        end = bytes;
    for (; r->moved < end; r->moved += n) {
        n = end - r->moved < BLOCK ? end - r->moved : BLOCK;
        if (a->reduces)
            combine_block(c, a, partition, r->moved / c->size, n / c->size,
                          block);
        spread_block(c, a, partition, r->moved, a->reduces ? block
                     : pcoll_at(c, a->from, partition) + r->moved, n);
    }
    if (end < bytes)
        return false;
    r->moved = 0;
    return true;
}

static uint64_t number_of(const struct pcoll *c, const struct pcoll_run *r)
{
    return c->iteration * ((uint64_t)c->sched.n + 1) + (uint64_t)r->at + 1;
}

/* The same enqueued: 0 or an error of the device's. */
static int enqueue(struct pcoll *c, const struct pcoll_action *a,
                   int partition)
{
    struct gtl_reduce r = c->what;
    int rc = 0;

    r.n = pcoll_bytes(c, a->in) / c->size;
    r.out = pcoll_at(c, a->in, partition);
    r.b = pcoll_at(c, a->with, partition);
    xport_flush();              /* what members sent is there for the device */
    if (!a->reduces)
        rc = gtl->copy(r.out, pcoll_at(c, a->from, partition), r.n * c->size,
                       c->stream);
    for (const struct pcoll_action *b = a; a->reduces && !rc; b++) {
        const char *theirs = b->at + (size_t)partition * b->stride;
        const void *mine = r.b;

        r.a = b->member < c->team->my_pe ? theirs : mine;
        r.b = b->member < c->team->my_pe ? mine : theirs;
        rc = r.n ? gtl->reduce(&r, c->stream) : 0;
        r.b = r.out;
        if (!b->more)
            break;
    }
    return rc ? rc : gtl->write64(&c->device_done[partition],
                                  number_of(c, &c->runs[partition]), c->stream);
}

static bool work_on_device(struct pcoll *c, const struct pcoll_action *a,
                           int partition)
{
    struct pcoll_run *r = &c->runs[partition];

    if (!r->on_device) {
        if (enqueue(c, a, partition))
            core_fatal(ERR_DEVICE, c->call, "the device does not combine a "
                       "partition: %s", gtl_error());
        r->on_device = true;
    }
    if (part_load(&c->device_done[partition]) < number_of(c, r))
        return false;
    r->on_device = false;
    return true;
}

/* False: not yet, or not all of it. */
static bool work(struct pcoll *c, struct pcoll_action *a, int partition)
{
    const struct pcoll_action *s = sends_behind(a);

    if (a->after_sends && c->runs[partition].in_flight)
        return false;
    for (int i = 0; i < a->n_here; i++)
        if (!may_send(c, &s[i]))
            return false;
    return c->stream ? work_on_device(c, a, partition)
                     : work_by_host(c, a, partition);
}

/* ---- a partition ---- */

/* One action, or those of one step that combine together, and the sends of the
 * result: how many; 0: it has not ended. */
static int do_action(struct pcoll *c, int partition)
{
    struct pcoll_action *a = &c->sched.actions[c->runs[partition].at];
    struct pcoll_action *s = sends_behind(a);

    if (a->kind == PCOLL_SEND)
        return send(c, a, partition);
    for (struct pcoll_action *b = a; a->kind == PCOLL_RECV && b < s; b++)
        if (!has_arrived(c, b, partition))
            return 0;
    if (a->kind == PCOLL_RECV && !a->reduces)
        return 1;
    if (!work(c, a, partition))
        return 0;
    for (struct pcoll_action *b = a; b < s; b++)
        if (b->acks)
            submit(c, &c->sends[b->send * c->part.n + partition], partition);
    for (int i = 0; i < a->n_here; i++)
        send(c, &s[i], partition);
    return (int)(s - a) + a->n_here;
}

/* Have all others combined the pieces of this partition that stay? */
static bool is_combined(const struct pcoll *c, int partition)
{
    return !c->n_acks || part_load(&c->acks[partition]) >=
                             SEEN(c->iteration) * (uint64_t)c->n_acks;
}

static void end_partition(struct pcoll *c, int partition)
{
    /* release: all of dest comes first. */
    __atomic_store_n(&c->counters->arrived[partition], c->iteration,
                     __ATOMIC_RELEASE);
    c->runs[partition].ended = true;
    SET(c->left, c->left - 1);
}

static bool advance(struct pcoll *c, int partition)
{
    struct pcoll_run *r = &c->runs[partition];
    size_t moved = r->moved;
    bool any = false;
    int n;

    if (c->needs_ready && r->ready < c->iteration)
        return false;
    while (r->at < c->sched.n && (n = do_action(c, partition))) {
        SET(r->at, r->at + n);
        any = true;
    }
    if (r->at < c->sched.n || !is_combined(c, partition))
        return any || r->moved != moved;
    end_partition(c, partition);
    return true;
}

/* ---- an iteration ---- */

static void begin(struct pcoll *c)
{
    SET(c->iteration, c->iteration + 1);
    SET(c->left, c->part.n);
    __atomic_store_n(&c->unseen, c->part.n, __ATOMIC_RELAXED);
    SET(c->first, 0);
    c->next = 0;
    c->hint = -1;
    for (int i = 0; i < c->part.n; i++) {
        SET(c->runs[i].at, 0);
        c->runs[i].ended = false;
    }
}

static void end(struct pcoll *c)
{
    /* release: sources may be written. */
    __atomic_store_n(&c->counters->counters.sent, c->iteration,
                     __ATOMIC_RELEASE);
}

static bool advance_one(struct pcoll *c, int partition)
{
    bool any = !c->runs[partition].ended && advance(c, partition);

    while (c->first < c->part.n && c->runs[c->first].ended)
        SET(c->first, c->first + 1);
    return any;
}

/* Some partitions, in turn: each call takes bounded time, however many there
 * are.  True also if others are to be looked at. */
enum { PER_STEP = 64 };
static bool advance_some(struct pcoll *c)
{
    int n = c->part.n - c->first, unseen = c->unseen ? c->unseen : n;
    bool any = c->hint >= 0 && advance_one(c, c->hint);

    c->hint = -1;
    for (int k = n < PER_STEP ? n : PER_STEP; k > 0 && unseen > 0 && c->left; k--) {
        int i = c->next < c->first ? c->first : c->next;

        c->next = i + 1 < c->part.n ? i + 1 : 0;
        unseen--;
        if (advance_one(c, i)) {
            any = true;
            unseen = n;
        }
    }
    unseen = c->left ? unseen : 0;
    __atomic_store_n(&c->unseen, unseen, __ATOMIC_RELAXED);
    return any || unseen > 0;
}

static bool step(void *arg, bool *busy)
{
    struct pcoll *c = arg;
    bool any = false;
    int left;

    if (c->iteration == c->counters->counters.sent) {
        if (part_load(&c->counters->epoch) > c->iteration)
            begin(c);
        else if (__atomic_load_n(&c->end.seq, __ATOMIC_ACQUIRE) > c->iteration)
            *busy = true;       /* the stream has not come to the start */
        if (c->iteration == c->counters->counters.sent)
            return false;
    }
    left = c->left;
    if (left)
        any = advance_some(c);
    if (!c->left && !c->in_flight) {
        end(c);
        any = true;
    } else {
        *busy = true;
    }
    if (c->left != left || c->iteration == c->counters->counters.sent)
        trig_notify();
    return any;
}

/* A partition is ready, or a send has ended. */
static void completed(void *arg, int tag)
{
    struct pcoll *c = arg;
    int partition = tag % c->part.n;

    if (tag < c->part.n) {
        SET(c->runs[partition].ready, c->runs[partition].ready + 1);
        if (c->hint >= 0)       /* two: all are looked at */
            __atomic_store_n(&c->unseen, c->part.n, __ATOMIC_RELAXED);
        c->hint = partition;
        return;
    }
    c->runs[partition].in_flight--;
    c->in_flight--;
}

static bool may_begin(void *arg, uint64_t iteration)
{
    const struct pcoll *c = arg;

    return part_load(&c->counters->epoch) >= iteration;
}

const struct trig_owner pcoll_owner = {
    .may_begin = may_begin, .completed = completed, .step = step,
    .no_nic = true
};

/* ---- */

static void describe_action(const struct pcoll *c, int partition, char *text,
                            size_t size)
{
    int at = SEEN(c->runs[partition].at);
    const struct pcoll_action *a = &c->sched.actions[at];
    int pe = at < c->sched.n ? core_team_world_pe(c->team, a->member) : -1;

    if (c->needs_ready && SEEN(c->runs[partition].ready) < SEEN(c->iteration))
        snprintf(text, size, "is not ready");
    else if (at == c->sched.n)
        snprintf(text, size, is_combined(c, partition) ? "has ended" :
                 "waits for members that have not combined it");
    else if (a->kind == PCOLL_SEND)
        snprintf(text, size, "waits for PE %d to start", pe);
    else if (a->kind == PCOLL_RECV)
        snprintf(text, size, "waits for a message of PE %d", pe);
    else
        snprintf(text, size, "is copied");
}

/* Unlocked: for a line alone. */
void pcoll_run_describe(const struct pcoll *c, char *text, size_t size)
{
    const char *call = symbol_public(c->call);
    char what[64];
    int i = SEEN(c->first);

    if (i >= c->part.n || part_load(&c->counters->epoch) ==
                              part_load(&c->counters->counters.sent)) {
        snprintf(text, size, "a request of %s, %s", call,
                 i >= c->part.n ? "whose last sends are under way"
                                : "which its stream has not started");
        return;
    }
    describe_action(c, i, what, sizeof what);
    snprintf(text, size, "a request of %s: %d of %d partitions have not "
             "arrived, and number %d, at %d of %d actions, %s", call,
             SEEN(c->left), c->part.n, i, SEEN(c->runs[i].at), c->sched.n,
             what);
}
