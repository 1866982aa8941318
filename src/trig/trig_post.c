/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations are posted with their tag, armed again and forgotten.  Called by
 * api; a posted operation whose threshold has been reached is begun at once. */
#include "trig/trig_int.h"
#include "core/core_misuse.h"

#include <errno.h>
#include <stdlib.h>

/* Behind those with the same threshold. */
static void insert(struct trig_tag *g, struct trig_op *op)
{
    struct trig_op **at = &g->ops;

    while (*at && (*at)->threshold <= op->threshold)
        at = &(*at)->next;
    op->next = *at;
    *at = op;
    g->n_ops++;
    g->period = op->threshold > g->period ? op->threshold : g->period;
}

static void arm(struct trig *t, struct trig_op *op)
{
    struct trig_tag *g = &t->tags[op->tag];

    if (!g->next || op->threshold < g->next->threshold)
        g->next = op;
}

static int refuse_repeats(const char *call, int tag)
{
    core_misuse(ERR_ARG, call, "tag %d repeats: shmemx_trig_reset() ends that",
                tag);
    return -EBUSY;
}

/* An operation without a kind, where all has been found right that does not
 * depend on its kind.  0 or an error. */
static int new_op(const struct trig_where *at, struct trig *t,
                  struct trig_op **out)
{
    struct trig_op *op;

    *out = NULL;
    if (!t || !trig_has_tag(at->call, t, at->tag))
        return -EINVAL;
    if (at->threshold > INT64_MAX)
        return core_misuse(ERR_ARG, at->call, "threshold %llu exceeds 2^63 - 1",
                           (unsigned long long)at->threshold);
    *out = op = calloc(1, sizeof *op);
    if (!op)
        return stream_no_memory(at->call);
    op->tag = at->tag;
    op->threshold = at->threshold;
    return 0;
}

static int post(const char *call, struct trig *t, struct trig_op *op)
{
    bool busy = false;
    int rc;

    op->op.waits = op->op.kind == STREAM_AMO && op->op.waits;
    lock_acquire(&t->lock);
    if (t->tags[op->tag].repeats) {
        lock_release(&t->lock);
        return refuse_repeats(call, op->tag);
    }
    rc = trig_copy_use(call, t, op);
    if (rc) {
        lock_release(&t->lock);
        return rc;
    }
    trig_trace(t, "operation posted", op->tag, op->threshold, op->op.pe);
    trig_nic_use(t, op);
    insert(&t->tags[op->tag], op);
    arm(t, op);
    t->n_waiting++;
    trig_check(t, op->tag);
    trig_step(t, &busy);
    lock_release(&t->lock);
    trig_wake();
    return 0;
}

/* MAKE fills op_->op, for w_: 0 or an error. */
#define POST(MAKE)                                                          \
    struct trig *t_ = trig_find(at->call, at->trig);                        \
    struct trig_op *op_;                                                    \
    struct stream_where w_;                                                 \
    int rc_ = new_op(at, t_, &op_);                                         \
                                                                            \
    if (rc_)                                                                \
        return rc_;                                                         \
    w_ = (struct stream_where){ .call = at->call, .ctx = &t_->ctx };        \
    (void)w_;                                                               \
    rc_ = MAKE;                                                             \
    if (!rc_)                                                               \
        rc_ = post(at->call, t_, op_);                                      \
    if (rc_)                                                                \
        free(op_);                                                          \
    return rc_

int trig_put(const struct trig_where *at, void *dest, const void *source,
             size_t bytes, const struct stream_signal *s, int pe)
{
    POST(stream_make_put(&w_, dest, source, bytes, 1, s, pe, &op_->op));
}

int trig_get(const struct trig_where *at, void *dest, const void *source,
             size_t bytes, int pe)
{
    POST(stream_make_get(&w_, dest, source, bytes, 1, pe, &op_->op));
}

int trig_signal(const struct trig_where *at, const struct stream_signal *s,
                int pe)
{
    POST(stream_make_signal(&w_, s, pe, &op_->op));
}

int trig_amo(const struct trig_where *at, const struct stream_amo *a, int pe)
{
    POST(stream_make_amo(&w_, a, pe, &op_->op));
}

int trig_op(const struct trig_where *at, const struct stream_op *op)
{
    POST((op_->op = *op, 0));
}

/* ---- once more ---- */

/* all: of all tags.  One without operations is left as it is; that it repeats is
 * for those that it has. */
static int check_rearm(const char *call, const struct trig *t, int tag, bool all,
                       bool repeat)
{
    const struct trig_tag *g = &t->tags[tag];

    if (!g->n_ops && (all || !repeat))
        return 0;
    if (!g->n_ops)
        return core_misuse(ERR_ARG, call, "tag %d has no operation: post it "
                           "before", tag);
    if (g->repeats)
        return refuse_repeats(call, tag);
    if (repeat && !g->period)
        return core_misuse(ERR_ARG, call, "tag %d has threshold 0 alone: it "
                           "would repeat without an end", tag);
    if (g->completed < g->n_ops && !repeat) {
        core_misuse(ERR_ARG, call, "%u of %u operations of tag %d have not "
                    "completed", g->n_ops - g->completed, g->n_ops, tag);
        return -EBUSY;
    }
    return 0;
}

static void rearm_tag(struct trig *t, int tag, bool repeat)
{
    struct trig_tag *g = &t->tags[tag];

    if (!g->n_ops)
        return;
    g->repeats = repeat;
    if (g->completed == g->n_ops)
        trig_arm_again(t, tag);
    else if (repeat)
        trig_copy_repeat(t, tag);
}

int trig_rearm(const char *call, struct shmemx_trig *trig, int tag,
               bool repeat)
{
    struct trig *t = trig_find(call, trig);
    bool all = tag == SHMEMX_TRIG_ALL, busy = false;
    int rc = 0, from = all ? 0 : tag, end;

    if (!t || (!all && !trig_has_tag(call, t, tag)))
        return -EINVAL;
    end = all ? t->n_tags : tag + 1;
    lock_acquire(&t->lock);
    trig_scan_tags(t, from, end);
    trig_step(t, &busy);
    /* All tags or none. */
    for (int i = from; !rc && i < end; i++)
        rc = check_rearm(call, t, i, all, repeat);
    for (int i = from; !rc && i < end; i++)
        rearm_tag(t, i, repeat);
    trig_step(t, &busy);
    lock_release(&t->lock);
    trig_wake();
    return rc;
}

/* ---- forgotten ---- */

/* Has an operation begun that has not completed? */
static bool is_busy(const struct trig *t, int tag)
{
    const struct trig_tag *g = &t->tags[tag];
    unsigned begun = 0;

    for (const struct trig_op *op = g->ops; op; op = op->next)
        begun += trig_has_begun(t, op);
    return begun > g->completed;
}

/* Hits for which completed operations waited are used up. */
static void reset_tag(struct trig *t, int tag)
{
    struct trig_tag *g = &t->tags[tag];
    uint64_t count = trig_count(t, tag), used = 0;
    struct trig_op *op;

    trig_nic_leave(t, tag);
    trig_copy_leave(t, tag);
    while ((op = g->ops)) {
        g->ops = op->next;
        t->n_waiting -= !op->released;
        if (op->released && count >= g->base + op->threshold)
            used = op->threshold;
        free(op);
    }
    g->base += used;
    g->next = NULL;
    g->n_ops = g->completed = 0;
    g->period = 0;
    g->repeats = false;
}

int trig_reset(const char *call, struct shmemx_trig *trig, int tag)
{
    struct trig *t = trig_find(call, trig);
    bool all = tag == SHMEMX_TRIG_ALL, busy = false;
    int rc = 0, from = all ? 0 : tag, end;

    if (!t || (!all && !trig_has_tag(call, t, tag)))
        return -EINVAL;
    end = all ? t->n_tags : tag + 1;
    lock_acquire(&t->lock);
    trig_scan_tags(t, from, end);       /* what has its hits is done */
    trig_step(t, &busy);
    for (int i = from; !rc && i < end; i++)
        if (is_busy(t, i)) {
            core_misuse(ERR_FREE, call, "an operation of tag %d is under way: "
                        "wait for it first", i);
            rc = -EBUSY;
        }
    for (int i = from; !rc && i < end; i++) {
        reset_tag(t, i);
        trig_check(t, i);
    }
    lock_release(&t->lock);
    return rc;
}
