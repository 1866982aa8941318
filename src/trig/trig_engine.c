/* SPDX-License-Identifier: BSD-3-Clause */
/* Releases operations and does them: reads counts, gives the operations that
 * they have reached to the host's executor, and counts completions.  Called
 * with the trigger's lock, by a thread that hits, waits or posts, and by the
 * poller below on the progress thread.  A step waits for nothing. */
#include "base/clock.h"
#include "base/env.h"
#include "core/core_device.h"
#include "progress/progress.h"
#include "trig/trig_int.h"

#include <sched.h>
#include <stdlib.h>

enum { STEPS = 64, ISSUED_MOST = 256 };

struct trig_counts trig_counts;

/* ---- counts ---- */

uint64_t trig_host_count(const struct trig *t, int tag)
{
    /* acquire: stores before the hit are visible. */
    uint64_t n = __atomic_load_n(&t->hits[tag], __ATOMIC_ACQUIRE) +
                 __atomic_load_n(&t->host_hits[tag], __ATOMIC_ACQUIRE);
    const struct trig_stream *s;

    for (s = __atomic_load_n(&t->streams, __ATOMIC_ACQUIRE); s; s = s->next)
        n += __atomic_load_n(&s->counts[tag], __ATOMIC_ACQUIRE);
    return n;
}

uint64_t trig_count(const struct trig *t, int tag)
{
    const struct trig_tag *g = &t->tags[tag];
    uint64_t here = trig_host_count(t, tag), nic;

    if (!g->nic)
        return here + g->beyond;
    /* Hits that are still to be forwarded belong to it, and the NIC may not have
     * counted those that were. */
    nic = xport_trig->count(g->nic) + here - g->forwarded;
    return nic > here + g->beyond ? nic : here + g->beyond;
}

/* One that is armed with the NIC or with kernels begins when the count gets
 * there. */
bool trig_has_begun(const struct trig *t, const struct trig_op *op)
{
    const struct trig_tag *g = &t->tags[op->tag];

    return op->released && (!g->armed || trig_count(t, op->tag) >=
                                             g->base + op->threshold);
}

static void append(struct trig_list *l, struct trig_op *op)
{
    op->after = NULL;
    *l->end = op;
    l->end = &op->after;
}

static struct trig_op *take_first(struct trig_list *l)
{
    struct trig_op *op = l->first;

    l->first = op->after;
    if (!l->first)
        l->end = &l->first;
    return op;
}

static void queue_released(struct trig *t, struct trig_op *op)
{
    trig_counted(&trig_counts.by_host);
    append(&t->released, op);
    t->n_released++;
}

void trig_submit(struct trig *t, struct trig_op *op)
{
    queue_released(t, op);
}

/* To the NIC or to kernels, or in the list of what the processor does. */
static void release(struct trig *t, struct trig_tag *g, bool armed)
{
    struct trig_op *op = g->next;

    op->released = true;
    trig_trace(t, !armed ? "operation released"
                  : g->nic ? "operation armed with the NIC"
                           : "operation armed with kernels", op->tag,
               op->threshold, op->op.pe);
    if (!armed)
        queue_released(t, op);
    t->n_waiting--;
    /* One that was posted late stands before others that are released. */
    while (g->next && g->next->released)
        g->next = g->next->next;
}

static bool may_begin(const struct trig *t, const struct trig_tag *g)
{
    return likely(!t->owner.may_begin) ||
           t->owner.may_begin(t->owner.arg, g->base / g->period + 1);
}

bool trig_is_held(const struct trig *t, int tag)
{
    return unlikely(t->owner.may_begin != NULL) && t->tags[tag].next &&
           trig_host_count(t, tag) >=
               __atomic_load_n(&t->limit[tag], __ATOMIC_RELAXED);
}

void trig_check(struct trig *t, int tag)
{
    struct trig_tag *g = &t->tags[tag];
    enum trig_armed armed;
    uint64_t limit;

    if (g->nic)
        trig_nic_forward(t, tag);
    do {
        /* Each hit of the host is forwarded. */
        limit = g->nic ? 0 : g->next ? g->base + g->next->threshold - g->beyond
                : UINT64_MAX;
        /* seq_cst: a hit reads the limit after it has added, so either this
         * count has the hit, or the hit finds this limit. */
        __atomic_store_n(&t->limit[tag], limit, __ATOMIC_SEQ_CST);
        atomics_full_fence();
        if (!g->next || !may_begin(t, g))
            return;
        armed = g->nic ? trig_nic_arm(t, g->next)
                : g->copies ? trig_copy_arm(t, g->next) : TRIG_NEVER;
        /* Without room the processor does it, too, once it has its hits: those
         * that take the room may wait for hits that come after it. */
        if (armed != TRIG_ARMED &&
            trig_count(t, tag) < g->base + g->next->threshold)
            return;
        release(t, g, armed == TRIG_ARMED);
    } while (true);
}

void trig_arm_again(struct trig *t, int tag)
{
    struct trig_tag *g = &t->tags[tag];

    for (struct trig_op *op = g->ops; op; op = op->next)
        op->released = false;
    g->base += g->period;
    g->completed = 0;
    g->next = g->ops;
    t->n_waiting += g->n_ops;
    trig_check(t, tag);
}

bool trig_scan_tags(struct trig *t, int from, int end)
{
    bool held = false;

    if (!t->n_waiting && !t->n_nic_tags)
        return false;
    for (int i = from; i < end; i++) {
        uint64_t limit = t->limit[i];

        if (likely(limit == UINT64_MAX || trig_host_count(t, i) < limit))
            continue;
        trig_check(t, i);
        held |= trig_is_held(t, i);
    }
    return held;
}

bool trig_scan(struct trig *t)
{
    return trig_scan_tags(t, 0, t->n_tags);
}

/* ---- completion ---- */

static void complete_tag(struct trig *t, int tag)
{
    struct trig_tag *g = &t->tags[tag];
    uint64_t *done = &t->done[tag];

    /* release: stores of the operation come first. */
    __atomic_store_n(done, *done + 1, __ATOMIC_RELEASE);
    if (++g->completed == g->n_ops && g->repeats)
        trig_arm_again(t, tag);
}

void trig_complete(struct trig *t, int tag)
{
    if (likely(tag < t->n_tags)) {
        trig_trace(t, "operation completed", tag, t->done[tag] + 1, -1);
        complete_tag(t, tag);
    }
    if (t->owner.completed)
        t->owner.completed(t->owner.arg, tag);
}

/* Kernels and streams that wait for `done` look at once. */
void trig_notify(void)
{
    atomics_full_fence();
    gtl->flags_stored();
    if (__atomic_load_n(&core_ctl->wait_to, __ATOMIC_RELAXED))
        core_wake_sleepers(core_ctl);
}

static bool complete_all(struct trig *t, bool *busy)
{
    if (!t->n_issued)
        return false;
    if (!stream_exec_net_idle(&t->exec)) {
        *busy = true;
        return false;
    }
    t->exec.reads = false;
    atomics_full_fence();
    xport_flush();
    for (; t->n_issued; t->n_issued--)
        trig_complete(t, take_first(&t->issued)->tag);
    return true;
}

/* ---- issue ---- */

/* The first one that is released: has it been issued? */
static bool issue(struct trig *t, bool *any)
{
    struct trig_op *op = t->released.first;

    if (!t->exec.begun)
        stream_errors_note_op(&t->exec.failed, &op->op);
    return stream_exec_step(&t->exec, &op->op, false, any);
}

/* Atomics and signals may be the network's for mapped PEs, too. */
static bool is_done(const struct trig *t, const struct stream_op *op)
{
    bool moves = op->kind == STREAM_PUT || op->kind == STREAM_GET;

    return xport_is_mapped(op->pe) && (moves || stream_exec_net_idle(&t->exec));
}

static bool step_released(struct trig *t, bool *busy)
{
    bool any = false, completed = false;
    struct trig_op *op;

    for (int i = 0; i < STEPS && t->n_released; i++) {
        if (t->n_issued >= ISSUED_MOST || !issue(t, &any)) {
            *busy = true;
            break;
        }
        any = true;
        op = take_first(&t->released);
        t->n_released--;
        if (is_done(t, &op->op)) {
            xport_flush();
            trig_complete(t, op->tag);
            completed = true;
        } else {
            append(&t->issued, op);
            t->n_issued++;
        }
        if (t->exec.part.copied)
            break;
    }
    completed |= complete_all(t, busy);
    if (t->n_nic_tags)
        completed |= trig_nic_reap(t);
    if (t->n_copies)
        completed |= trig_copy_reap(t);
    if (completed)
        trig_notify();
    *busy |= t->n_released != 0;
    return any || completed;
}

/* A completion may make the trigger's owner submit more. */
bool trig_step(struct trig *t, bool *busy)
{
    bool any = false, more;
    int turns = 0;

    do {
        more = t->owner.step && t->owner.step(t->owner.arg, busy);
        more |= step_released(t, busy);
        any |= more;
    } while (more && t->owner.step && ++turns < STEPS);
    return any;
}

/* ---- the poller ---- */

static uint64_t turn(struct progress_poller *p,
                     const struct progress_turn *at);

static struct progress_poller poller = { .turn = turn };
static struct base_lock all_lock = LOCK_INIT;
static struct list_link all GUARDED_BY(all_lock) = LIST_INIT(all);
static uint64_t advanced_ns;    /* the progress thread's */

static bool is_attended(const struct trig *t)
{
    return __atomic_load_n(&t->attended, __ATOMIC_RELAXED) != 0;
}

/* trig_wake_delayed() relies on it: the progress thread comes back when it is
 * time, also if a thread attends to the trigger now. */
static bool note_delay(const struct trig *t, uint64_t now, uint64_t *delayed)
{
    uint64_t at = __atomic_load_n(&t->delayed_ns, __ATOMIC_RELAXED);

    if (now >= at)
        return false;
    *delayed = at < *delayed ? at : *delayed;
    return true;
}

/* *delayed: the time at which it is the progress thread's. */
static bool is_others(const struct trig *t, uint64_t now, uint64_t *delayed)
{
    bool delays = note_delay(t, now, delayed);

    return is_attended(t) ? !trig_is_busy(t) : delays;
}

/* waits: hits may come that no thread announces, those of a GPU. */
static bool step_all(uint64_t now, bool *busy, bool *waits, uint64_t *delayed)
{
    struct list_link *pos, *tmp;
    bool any = false;
    struct trig *t;

    lock_acquire(&all_lock);
    list_each(pos, tmp, &all) {
        t = list_entry(pos, struct trig, link);
        if (!lock_try(&t->lock)) {
            /* A hit may have found it so; a thread that waits looks again. */
            *busy |= !is_attended(t);
            note_delay(t, now, delayed);
            continue;
        }
        if (!t->owner.step || !is_others(t, now, delayed)) {
            *waits |= trig_scan(t);
            any |= trig_step(t, busy);
            *waits |= t->n_armed || (t->n_waiting && (t->n_nic_tags ||
                                     !gtl_device.host_streams));
        }
        lock_release(&t->lock);
    }
    lock_release(&all_lock);
    return any;
}

static uint64_t turn(struct progress_poller *p, const struct progress_turn *at)
{
    bool busy = false, waits = false;
    uint64_t now, delayed = PROGRESS_WHEN_WOKEN;
    bool any = step_all(at->now_ns, &busy, &waits, &delayed);

    (void)p;
    if (busy && xport_net)
        any |= xport_progress->poll();
    now = clock_ns();
    if (any) {
        advanced_ns = now;
        return PROGRESS_AGAIN;
    }
    if (busy || waits)
        return progress_back_off(now - advanced_ns, core_status.oversubscribed,
                                 env.ST_SPIN != 0);
    return delayed == PROGRESS_WHEN_WOKEN ? delayed : delayed > now ? delayed - now
           : PROGRESS_AGAIN;
}

/* Threads between the two, by the period in which they have begun.  Atomic. */
static unsigned late[2], period;

struct trig *trig_late_begin(void *trig, unsigned *begun)
{
    *begun = __atomic_load_n(&period, __ATOMIC_RELAXED) & 1;
    /* seq_cst: pairs with the fence of await_hits(). */
    __atomic_fetch_add(&late[*begun], 1, __ATOMIC_SEQ_CST);
    return handle_find(&trig_table, trig);
}

void trig_late_end(unsigned begun)
{
    __atomic_fetch_sub(&late[begun], 1, __ATOMIC_RELEASE);
}

void trig_late_await(void)
{
    static struct base_lock one = LOCK_INIT;
    unsigned old;

    lock_acquire(&one);
    /* Both: a thread that was slow to begin counts in a period that is over. */
    for (int i = 0; i < 2; i++) {
        old = __atomic_fetch_add(&period, 1, __ATOMIC_SEQ_CST) & 1;
        while (__atomic_load_n(&late[old], __ATOMIC_ACQUIRE))
            sched_yield();
    }
    lock_release(&one);
}

static void forget_stream(struct trig *t, void *stream)
{
    for (struct trig_stream *s = t->streams; s; s = s->next)
        if (s->stream == stream)
            s->stream = NULL;
}

void trig_stream_destroyed(void *stream)
{
    trig_visit_each(forget_stream, stream);
}

void trig_try_visit(bool locks, trig_visitor *visit, void *arg)
{
    struct list_link *pos, *tmp;

    if (!lock_try(&all_lock))
        return;
    list_each(pos, tmp, &all) {
        struct trig *t = list_entry(pos, struct trig, link);

        if (!locks) {
            visit(t, arg);
        } else if (lock_try(&t->lock)) {
            visit(t, arg);
            lock_release(&t->lock);
        }
    }
    lock_release(&all_lock);
}

/* The handles of those that there are, and how many: NULL where there are none, or
 * no memory. */
static void **handles(size_t *n)
{
    struct list_link *pos, *tmp;
    void **is;

    *n = 0;
    lock_acquire(&all_lock);
    list_each(pos, tmp, &all)
        ++*n;
    is = *n ? malloc(*n * sizeof *is) : NULL;
    *n = 0;
    list_each(pos, tmp, &all)
        if (is)
            is[(*n)++] = handle_of_object(list_entry(pos, struct trig, link));
    lock_release(&all_lock);
    return is;
}

/* A thread that has a trigger's lock may wait for another trigger, so the list's is
 * not held. */
void trig_visit_each(trig_visitor *visit, void *arg)
{
    size_t n;
    void **is = handles(&n);
    unsigned begun;

    for (size_t i = 0; i < n; i++) {
        struct trig *t = trig_late_begin(is[i], &begun);

        if (t) {
            lock_acquire(&t->lock);
            visit(t, arg);
            lock_release(&t->lock);
        }
        trig_late_end(begun);
    }
    free(is);
}

void trig_wake(void)
{
    progress_wake(&poller);
}

/* Long enough for a thread that makes partitions ready, and then waits. */
enum { DELAY_NS = 50000 };
void trig_wake_delayed(struct trig *t)
{
    uint64_t now = clock_ns();

    if (__atomic_load_n(&t->delayed_ns, __ATOMIC_RELAXED) > now)
        return;                 /* it comes then */
    __atomic_store_n(&t->delayed_ns, now + DELAY_NS, __ATOMIC_RELAXED);
    progress_wake(&poller);
}

int trig_engine_open(void)
{
    advanced_ns = clock_ns();
    return progress_register(&poller);
}

void trig_engine_close(void)
{
    progress_unregister(&poller);
}

void trig_engine_add(struct trig *t)
{
    lock_acquire(&all_lock);
    list_append(&all, &t->link);
    lock_release(&all_lock);
}

void trig_engine_remove(struct trig *t)
{
    lock_acquire(&all_lock);
    list_remove(&t->link);
    lock_release(&all_lock);
}
