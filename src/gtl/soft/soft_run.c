/* SPDX-License-Identifier: BSD-3-Clause */
/* soft_run.c - executes the commands of a stream of the software device, one
 * after another.  Only the stream's thread (soft_stream.c) calls it. */
#include "gtl/soft/soft_stream.h"
#include "base/copy.h"
#include "base/trace.h"

#include <string.h>

/* Pieces of a word's size are single stores, for readers may poll; of words
 * that are aligned, the thread sanitizer knows it too. */
#define MOVE(bits)                                                          \
    typedef uint##bits##_t __attribute__((may_alias)) word_u##bits;         \
    static void move##bits(void *to, const void *from)                      \
    {                                                                       \
        const word_u##bits *f = from;                                       \
                                                                            \
        __atomic_store_n((word_u##bits *)to,                                \
                         __atomic_load_n(f, __ATOMIC_RELAXED),              \
                         __ATOMIC_RELAXED);                                 \
    }
MOVE(8)
MOVE(16)
MOVE(32)
MOVE(64)

static void move(void *to, const void *from, size_t n)
{
    uintptr_t low = (uintptr_t)to | (uintptr_t)from;

    if (n == 8 && low % 8 == 0)
        move64(to, from);
    else if (n == 4 && low % 4 == 0)
        move32(to, from);
    else if (n == 2 && low % 2 == 0)
        move16(to, from);
    else if (n == 1)
        move8(to, from);
    else
        copy_bytes(to, from, n);
}

static void fill_bytes(void *to, int byte, size_t n)
{
    uint64_t word;

    if (n > sizeof word) {
        memset(to, byte, n);
        return;
    }
    memset(&word, byte, sizeof word);
    move(to, &word, n);
}

static void copy_blocks(char *to, const char *from, const struct gtl_blocks *b)
{
    for (size_t i = 0; i < b->count; i++) {
        move(to, from, b->len);
        to += b->to_stride;
        from += b->from_stride;
    }
}

static void run_amo(const struct gtl_amo *a)
{
    uint64_t was = gtl_amo_apply(a);
    uint32_t half = (uint32_t)was;

    if (a->result)
        move(a->result, a->size == 8 ? (void *)&was : (void *)&half,
             (size_t)a->size);
}

static bool run_wait(const struct gtl_soft_command *c, uint32_t *futex)
{
    if (!gtl_soft_wait_word(c->word, c->value, futex))
        return false;
    if (c->kind == SOFT_WAIT && !c->joined)
        gtl_soft_charge_cost(SOFT_COST_WAIT);
    return true;
}

static void run_put(const struct gtl_soft_command *c)
{
    if (c->n) {
        gtl_soft_charge_cost(SOFT_COST_COPY);
        move(c->to, c->from, c->n);
    }
    if (!c->flag.word)
        return;
    if (!c->joined)
        gtl_soft_charge_cost(SOFT_COST_WRITE);
    __atomic_store_n(c->flag.word, c->flag.value, __ATOMIC_RELEASE);
}

/* Release: the buffer of this end; acquire: that of the other one. */
static void run_peer_copy(const struct gtl_peer_copy *p)
{
    uint64_t was;

    atomics_tsan_release();
    was = __atomic_fetch_add(p->arrivals, 1, __ATOMIC_ACQ_REL);
    atomics_tsan_acquire();
    if (was % 2 == 0)
        return;
    gtl_soft_charge_cost(SOFT_COST_COPY);
    move(p->to, p->from, p->n);
    atomics_tsan_release();
    for (int i = 0; i < 2; i++)
        __atomic_store_n(p->flags[i], was / 2 + 1, __ATOMIC_RELEASE);
    if (p->wake)
        p->wake(p->arg);
}

/* On a GPU strided copies and atomics are kernels. */
static enum gtl_soft_cost cost_of(enum gtl_soft_command_kind kind)
{
    switch (kind) {
    case SOFT_COPY:
    case SOFT_FILL:
        return SOFT_COST_COPY;
    case SOFT_WRITE:
        return SOFT_COST_WRITE;
    case SOFT_CALL:
        return SOFT_COST_CALL;
    case SOFT_DOORBELL:
        return SOFT_COST_DOORBELL;
    default:
        return SOFT_COST_LAUNCH;
    }
}

/* Of the thread's stream. */
static __thread bool rest_cancelled;

void gtl_soft_cancel_rest(void)
{
    rest_cancelled = true;
}

static bool run(const struct gtl_soft_command *c, struct gtl_soft_stream *s)
{
    if (c->kind == SOFT_WAIT || c->kind == SOFT_EVENT)
        return run_wait(c, &s->waits);
    if (c->kind == SOFT_PUT) {
        run_put(c);
        return true;
    }
    gtl_soft_charge_cost(cost_of(c->kind));
    switch (c->kind) {
    case SOFT_COPY:
        move(c->to, c->from, c->n);
        break;
    case SOFT_BLOCKS:
        copy_blocks(c->to, c->from, &c->blocks);
        break;
    case SOFT_FILL:
        fill_bytes(c->to, c->byte, c->n);
        break;
    case SOFT_AMO:
        run_amo(&c->amo);
        break;
    case SOFT_WRITE:
        __atomic_store_n(c->word, c->value, __ATOMIC_RELEASE);
        break;
    case SOFT_PEER_COPY:
        run_peer_copy(c->peer_copy);
        break;
    case SOFT_CALL:
    case SOFT_DOORBELL:
        c->fn(c->arg);
        return !rest_cancelled;
    case SOFT_LAUNCH:
        gtl_soft_grid_run(c, &s->share);
        break;
    case SOFT_REDUCE:
        gtl_soft_reduce_run(c);
        break;
    default:
        break;
    }
    return true;
}

static const char *const names[] = {
    [SOFT_COPY] = "copy", [SOFT_PUT] = "put", [SOFT_BLOCKS] = "copy of blocks",
    [SOFT_FILL] = "fill", [SOFT_AMO] = "atomic", [SOFT_WRITE] = "write",
    [SOFT_WAIT] = "wait", [SOFT_EVENT] = "event",
    [SOFT_PEER_COPY] = "copy by two streams", [SOFT_CALL] = "host function",
    [SOFT_DOORBELL] = "doorbell", [SOFT_LAUNCH] = "kernel",
    [SOFT_REDUCE] = "reduction"
};

/* The place of an event: the flag that it stores last, or waits for. */
static const void *place_of(const struct gtl_soft_command *c, size_t *len)
{
    *len = sizeof(uint64_t);
    switch (c->kind) {
    case SOFT_WAIT:
    case SOFT_EVENT:
    case SOFT_WRITE:
        return c->word;
    case SOFT_AMO:
        return c->amo.word;
    case SOFT_PUT:
        if (c->flag.word)
            return c->flag.word;
        *len = c->n;
        return c->to;
    case SOFT_COPY:
    case SOFT_FILL:
        *len = c->n;
        return c->to;
    default:
        *len = 0;
        return NULL;
    }
}

/* Stores to another PE's memory and waits may be the ends of arrows. */
static struct trace_event *begin_event(const struct gtl_soft_command *c)
{
    struct trace_what w = { .name = names[c->kind], .kind = TRACE_STREAM,
                            .at = TRACE_NOWHERE };
    const void *at = place_of(c, &w.bytes);

    if (at)
        trace_place(at, &w.at, &w.pe);
    if (c->kind == SOFT_PUT && c->flag.word)
        w.arg[0] = (int64_t)c->n;
    if (c->kind == SOFT_WAIT)
        w.role = TRACE_SEES;
    else if (w.pe)
        w.role = TRACE_STORES;
    return trace_begin(&w);
}

bool gtl_soft_run(const struct gtl_soft_command *c, struct gtl_soft_stream *s)
{
    struct trace_event *e = trace_is_recorded() ? begin_event(c) : NULL;
    bool goes_on = run(c, s);

    if (unlikely(e != NULL))
        trace_end(e);
    return goes_on;
}
