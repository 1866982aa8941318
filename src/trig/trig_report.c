/* SPDX-License-Identifier: BSD-3-Clause */
/* Waits of triggers, as text: for lines about waits, for the hang report,
 * at the end of the library's use, and for memory that is freed too early.
 * Called by the waits of this and other layers, also in a signal handler; it
 * changes nothing. */
#include "base/clock.h"
#include "base/symbol.h"
#include "diag/diag.h"
#include "trig/trig_int.h"

#include <stdio.h>
#include <time.h>

void trig_describe(const struct trig *t, int tag, char *text, size_t size)
{
    uint64_t limit = __atomic_load_n(&t->limit[tag], __ATOMIC_RELAXED);
    unsigned long long n = trig_host_count(t, tag);

    if (t->copies && t->tags[tag].copies)
        limit = trig_copy_limit(t, tag);
    if (!limit)
        snprintf(text, size, "tag %d of a trigger, whose hits the NIC counts",
                 tag);
    else if (limit == UINT64_MAX)
        snprintf(text, size, "tag %d of a trigger: %llu hits so far", tag, n);
    else
        snprintf(text, size, "tag %d of a trigger: %llu hits so far, the next "
                 "operation wants %llu", tag, n, (unsigned long long)limit);
}

/* ---- by the word that counts what has completed ---- */

struct search {
    const void *word;
    char *text;
    size_t size;
    bool found;
};

static void describe_if_its(struct trig *t, void *arg)
{
    struct search *s = arg;
    uintptr_t at = (uintptr_t)s->word - (uintptr_t)t->done;

    if (at >= (uintptr_t)t->n_tags * sizeof *t->done)
        return;
    trig_describe(t, (int)(at / sizeof *t->done), s->text, s->size);
    s->found = true;
}

bool trig_describe_word(const void *word, char *text, size_t size)
{
    struct search s = { word, text, size, false };

    trig_try_visit(false, describe_if_its, &s);
    return s.found;
}

/* ---- operations whose hits have not come ---- */

struct unfinished {
    unsigned long n;
    char first[112];
    void (*first_text)(const struct trig *t, int tag, char *text, size_t size);
};

/* Of the program's, and of tags that do not repeat, whose operations wait when
 * nothing is to be done. */
static void count(struct trig *t, void *arg)
{
    struct unfinished *u = arg;

    for (int i = 0; !t->owner.arg && i < t->n_tags; i++) {
        const struct trig_tag *g = &t->tags[i];

        if (g->repeats || g->completed == g->n_ops)
            continue;
        for (const struct trig_op *op = g->ops; op; op = op->next)
            if (!trig_has_begun(t, op) && !u->n++)
                u->first_text(t, i, u->first, sizeof u->first);
    }
}

/* Of the program's: those that have had their hits and were not sent. */
static void count_unsent(struct trig *t, void *arg)
{
    struct stream_unfinished *left = arg;
    const struct trig_op *op;

    for (op = t->released.first; !t->owner.arg && op; op = op->after)
        if (!left->n++)
            snprintf(left->first, sizeof left->first, "%s, PE %d, tag %d",
                     symbol_public(op->op.call), op->op.pe, op->tag);
}

static void name_call(const struct trig *t, int tag, char *text, size_t size)
{
    const struct trig_op *op = t->tags[tag].ops;

    while (op->next && trig_has_begun(t, op))
        op = op->next;          /* one had not, when it was counted */
    snprintf(text, size, "%s, PE %d, tag %d", symbol_public(op->op.call),
             op->op.pe, tag);
}

struct progress_made {
    bool busy, any;
};

/* Does a tag have operations that were begun, by the NIC or kernels too, and have
 * not ended? */
static bool has_armed(const struct trig *t)
{
    for (int i = 0; i < t->n_tags; i++) {
        const struct trig_tag *g = &t->tags[i];
        unsigned begun = 0;

        if (!g->armed || g->repeats)
            continue;
        for (const struct trig_op *op = g->ops; op; op = op->next)
            begun += trig_has_begun(t, op);
        if (begun > g->completed)
            return true;
    }
    return false;
}

/* Of the program's: does operations that have had their hits, and counts. */
static void end_begun(struct trig *t, void *arg)
{
    struct progress_made *made = arg;

    if (t->owner.arg)
        return;
    trig_scan(t);
    made->any |= trig_step(t, &made->busy);
    made->busy |= trig_is_busy(t);
}

static void end_all(struct trig *t, void *arg)
{
    struct progress_made *made = arg;

    end_begun(t, made);
    made->busy |= !t->owner.arg && has_armed(t);
}

enum { END_S = 10 };                 /* at most */
#define SPIN_NS ((uint64_t)1000000)

void trig_report_unfinished(void)
{
    struct unfinished u = { .first_text = name_call };
    struct stream_unfinished left = { .n = 0 }, unsent = { .n = 0 };
    const struct timespec pause = { 0, 100000 };
    uint64_t began = clock_ns(), waited;
    struct progress_made made;

    do {
        made = (struct progress_made){ .busy = false };
        trig_visit_each(end_all, &made);
        if (made.busy && xport_net)
            made.any |= xport_progress->poll();
        waited = clock_ns() - began;
        if (made.busy && !made.any && waited > SPIN_NS)
            nanosleep(&pause, NULL);
    } while (made.busy && waited < (uint64_t)END_S * 1000000000u);
    trig_visit_each(count_unsent, &unsent);
    stream_unfinished_report(&unsent, "operation of a trigger has had its hits "
                             "and could not be sent", "operations of triggers "
                             "have had their hits and could not be sent", "");
    trig_visit_each(count, &u);
    left.n = u.n;
    snprintf(left.first, sizeof left.first, "%s", u.first);
    stream_unfinished_report(&left, "operation of a trigger waits for hits",
                             "operations of triggers wait for hits",
                             "; shmemx_trig_reset() removes such");
}

static void describe_state(struct line *out)
{
    struct unfinished u = { .first_text = trig_describe };

    trig_try_visit(true, count, &u);
    if (u.n)
        line_addf(out, "%s%lu operation%s of triggers not done: %s",
                  out->n ? "; " : "", u.n, u.n == 1 ? "" : "s", u.first);
}

void trig_report_open(void)
{
    static const struct diag_source source = {
        .part = DIAG_STREAMS, .describe = describe_state
    };

    diag_register(&source);
}

/* ---- memory ---- */

struct visit {
    trig_op_visitor *visit;
    void *arg;
};

static void visit_ops(struct trig *t, void *arg)
{
    const struct visit *v = arg;
    struct progress_made made = { .busy = false };

    if (t->owner.arg)
        return;
    end_begun(t, &made);           /* kernels' copies are counted late */
    for (int i = 0; i < t->n_tags; i++) {
        const struct trig_tag *g = &t->tags[i];

        if (g->repeats || g->completed < g->n_ops)
            for (const struct trig_op *op = g->ops; op; op = op->next)
                v->visit(&op->op, i, v->arg);
    }
}

void trig_visit_ops(trig_op_visitor *visit, void *arg)
{
    struct visit v = { visit, arg };

    trig_visit_each(visit_ops, &v);
}
