/* SPDX-License-Identifier: BSD-3-Clause */
/* Tags whose operation a kernel does itself: the thread, warp or block whose hit
 * reaches the limit copies, within the node (shmemx_dev_trig.h).  No thread of
 * this PE has a part in that; it only counts, when it looks.  Called with the
 * trigger's lock.
 *
 * Only kernels hit such triggers.  The host publishes a limit that the count
 * has not reached; the hit that passes it copies.  Where the count passes it
 * while the host publishes, the hit may have missed it: each hit says when it
 * has decided, so the host waits for those that it sees, and releases the
 * operation to its own executor if none has taken it.  Kernels alone make
 * atomics on these words: atomics of many devices do not hold for the
 * processor. */
#include "trig/trig_int.h"
#include "core/core_misuse.h"
#include "kernel/kernel_memory.h"

#include <errno.h>
#include <sched.h>

static uint64_t load(const shmemi_u64 *word)
{
    return __atomic_load_n((const uint64_t *)word, __ATOMIC_ACQUIRE);
}

static void store(shmemi_u64 *word, uint64_t value)
{
    __atomic_store_n((uint64_t *)word, value, __ATOMIC_RELEASE);
}

static size_t table_size(const struct trig *t)
{
    return (size_t)t->n_tags * sizeof *t->copies;
}

int trig_copy_open(struct trig *t)
{
    t->copies = kernel_pinned_alloc(table_size(t));
    if (!t->copies)
        return -ENOMEM;
    for (int i = 0; i < t->n_tags; i++)
        t->copies[i].limit = SHMEMI_DEV_TRIG_NEVER;
    return 0;
}

size_t trig_copy_table(const struct trig *t, uint64_t **out)
{
    *out = (uint64_t *)t->copies;
    return t->copies ? table_size(t) : 0;
}

/* Do kernels reach both ends? */
static bool can_copy(const struct stream_op *op)
{
    bool signals = op->kind == STREAM_PUT_SIGNAL || op->kind == STREAM_SIGNAL;

    if (op->kind == STREAM_GET)
        return stream_device_address(op->pe, op->source, op->len) &&
               stream_device_reaches(op->dest, op->len);
    if (!signals && (op->kind != STREAM_PUT || op->value))
        return false;
    /* A request would come to its end behind the tag's count. */
    if (signals && (!stream_kernel_atomics(heap_find(op->signal.addr, 8)) ||
                    !stream_device_address_amo(op->pe, op->signal.addr,
                                               sizeof *op->signal.addr)))
        return false;
    return op->kind == STREAM_SIGNAL || !op->len ||
           (stream_device_address(op->pe, op->dest, op->len) &&
            stream_device_reaches(op->source, op->len));
}

int trig_copy_use(const char *call, struct trig *t, const struct trig_op *op)
{
    struct trig_tag *g = &t->tags[op->tag];

    if (!t->copies)
        return 0;
    if (!g->n_ops)
        g->copies = can_copy(&op->op);
    else if (g->copies)
        return core_misuse(ERR_ARG, call, "tag %d has an operation: with "
                           "SHMEMX_TRIG_COPY a tag has one", op->tag);
    return 0;
}

/* ---- limits ---- */

/* Has each hit taken the operation or left it?  decided is read first: a later
 * hit may decide before an earlier one, so that a count of hits from before
 * says nothing. */
static bool all_decided(const struct trig *t, int tag)
{
    uint64_t decided = load(&t->copies[tag].decided);

    return decided == load((shmemi_u64 *)&t->hits[tag]);
}

static void await_decisions(const struct trig *t, int tag)
{
    while (!all_decided(t, tag))
        sched_yield();
}

/* The same, or until a kernel has taken the operation with that limit, for which
 * it may need this thread: true then. */
static bool await_taken(const struct trig *t, int tag, uint64_t limit)
{
    const struct shmemi_dev_trig_copy *c = &t->copies[tag];

    while (load(&c->limit) == limit && !all_decided(t, tag))
        sched_yield();
    return load(&c->limit) != limit;
}

static void describe(const struct stream_op *op, struct shmemi_dev_trig_copy *c)
{
    bool signals = op->kind == STREAM_PUT_SIGNAL || op->kind == STREAM_SIGNAL;

    c->dest = op->dest;
    c->source = op->source;
    c->bytes = op->kind == STREAM_SIGNAL ? 0 : op->len;
    c->gets = op->kind == STREAM_GET;
    c->signal_addr = signals ? (shmemi_u64 *)op->signal.addr : NULL;
    c->signal = signals ? op->signal.value : 0;
    c->signal_op = signals ? op->signal.op : 0;
    c->pe = op->pe;
}

enum trig_armed trig_copy_arm(struct trig *t, const struct trig_op *op)
{
    struct trig_tag *g = &t->tags[op->tag];
    struct shmemi_dev_trig_copy *c = &t->copies[op->tag];
    uint64_t limit = g->base + op->threshold;

    if (load((shmemi_u64 *)&t->hits[op->tag]) >= limit)
        return TRIG_NEVER;
    describe(&op->op, c);
    c->period = g->repeats ? g->period : 0;
    g->by_kernel = load((shmemi_u64 *)&t->done[op->tag]);
    store(&c->limit, limit);
    /* seq_cst: a hit that this look misses finds the limit. */
    atomics_full_fence();
    if (load((shmemi_u64 *)&t->hits[op->tag]) >= limit &&
        !await_taken(t, op->tag, limit)) {
        store(&c->limit, SHMEMI_DEV_TRIG_NEVER);
        return TRIG_NEVER;
    }
    g->armed = 1;
    t->n_copies++;
    return TRIG_ARMED;
}

static void disarm(struct trig *t, struct trig_tag *g)
{
    g->armed = 0;
    t->n_copies--;
}

/* A kernel that repeats arms before it counts. */
static bool reap_tag(struct trig *t, int tag)
{
    struct trig_tag *g = &t->tags[tag];
    uint64_t done = load((shmemi_u64 *)&t->done[tag]);
    uint64_t more = done - g->by_kernel;

    if (!g->armed || !more)
        return false;
    g->by_kernel = done;
    __atomic_fetch_add(&trig_counts.by_kernel, more, __ATOMIC_RELAXED);
    if (t->copies[tag].period) {
        g->base += more * g->period;
        return true;
    }
    disarm(t, g);
    g->completed = 1;
    if (g->repeats)
        trig_arm_again(t, tag);
    return true;
}

bool trig_copy_reap(struct trig *t)
{
    bool any = false;

    for (int i = 0; t->n_copies && i < t->n_tags; i++)
        any |= t->tags[i].copies && reap_tag(t, i);
    return any;
}

/* No kernel has it then: a copy under way ends first, and counts. */
static void withdraw(struct trig *t, int tag)
{
    struct shmemi_dev_trig_copy *c = &t->copies[tag];

    do {
        store(&c->limit, SHMEMI_DEV_TRIG_NEVER);
        atomics_full_fence();
        await_decisions(t, tag);
    } while (load(&c->limit) != SHMEMI_DEV_TRIG_NEVER);
}

void trig_copy_leave(struct trig *t, int tag)
{
    struct trig_tag *g = &t->tags[tag];

    if (!g->copies)
        return;
    withdraw(t, tag);
    reap_tag(t, tag);
    if (g->armed)
        disarm(t, g);
    g->copies = false;
}

void trig_copy_repeat(struct trig *t, int tag)
{
    struct trig_tag *g = &t->tags[tag];

    if (!g->copies || !g->armed || t->copies[tag].period)
        return;
    withdraw(t, tag);
    if (reap_tag(t, tag))
        return;                 /* which has armed it again */
    disarm(t, g);
    g->ops->released = false;
    g->next = g->ops;
    t->n_waiting++;
    trig_check(t, tag);
}

uint64_t trig_copy_limit(const struct trig *t, int tag)
{
    uint64_t limit = load(&t->copies[tag].limit);

    return limit >= SHMEMI_DEV_TRIG_BUSY ? UINT64_MAX : limit;
}

int trig_copy_refuse(const char *call)
{
    core_misuse(ERR_ARG, call, "the trigger has SHMEMX_TRIG_COPY: only kernels "
                "hit it");
    return -ENOTSUP;
}
