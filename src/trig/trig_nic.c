/* SPDX-License-Identifier: BSD-3-Clause */
/* Tags whose operations the NIC does by itself: the count is a counter of the
 * NIC's, and each operation is armed with it in the order of thresholds.  Hits
 * of the host, streams and kernels are forwarded; only the kernels of a
 * partitioned message store theirs to the counter's doorbell.  An operation that the NIC does not take is
 * released by the count as the processor reads it.  Called with the trigger's
 * lock; waits for nothing. */
#include "trig/trig_int.h"

#include <errno.h>
#include <string.h>

/* Of all triggers, also those that the NIC keeps behind a tag: streams want
 * counters of the NIC, too.  Atomic. */
enum { TAGS_MOST = 32 };
static int tags_used;

void trig_nic_close(void)
{
    __atomic_store_n(&tags_used, 0, __ATOMIC_RELAXED);
}

static bool take_place(void)
{
    if (__atomic_add_fetch(&tags_used, 1, __ATOMIC_RELAXED) <= TAGS_MOST)
        return true;
    __atomic_sub_fetch(&tags_used, 1, __ATOMIC_RELAXED);
    return false;
}

static void failed(void *arg, const char *call, const char *what, int pe,
                   const char *cause)
{
    stream_errors_record(arg, call, what, pe, cause, NULL);
}

/* For kernels; no address: they add to a word of the host, as where it cannot be
 * copied. */
static void set_doorbell(struct trig *t, int tag, uint64_t *doorbell)
{
    uint64_t at = (uintptr_t)doorbell;

    if (!t->doorbells)
        return;
    if (gtl_device.host_streams)
        __atomic_store_n(&t->doorbells[tag], at, __ATOMIC_RELEASE);
    else
        gtl_copy_now(&t->doorbells[tag], &at, sizeof at);
}

void trig_nic_use(struct trig *t, const struct trig_op *op)
{
    struct trig_tag *g = &t->tags[op->tag];
    struct xport_trig_op x;

    if (g->nic || g->no_nic || g->n_ops || !t->may_use_nic ||
        xport_is_mapped(op->op.pe) || !stream_nic_translate(&op->op, &x) ||
        xport_trig->ready() || !xport_trig->can(&x))
        return;
    if (!take_place()) {
        trig_counted(&trig_counts.no_counter);
        return;
    }
    if (xport_trig->open(&g->nic, true, failed, &t->exec.failed)) {
        g->nic = NULL;
        __atomic_sub_fetch(&tags_used, 1, __ATOMIC_RELAXED);
        trig_counted(&trig_counts.no_counter);
        return;
    }
    g->due = g->forwarded = g->nic_done = 0;
    t->nic_tags[t->n_nic_tags++] = op->tag;
    if (g->beyond)              /* of the counter that it had before */
        xport_trig->increment(g->nic, g->beyond);
    set_doorbell(t, op->tag, xport_trig->doorbell(g->nic));
}

void trig_nic_forward(struct trig *t, int tag)
{
    struct trig_tag *g = &t->tags[tag];
    uint64_t n = trig_host_count(t, tag);

    if (n == g->forwarded)
        return;
    xport_trig->increment(g->nic, n - g->forwarded);
    g->forwarded = n;
}

enum trig_armed trig_nic_arm(struct trig *t, struct trig_op *op)
{
    struct trig_tag *g = &t->tags[op->tag];
    uint64_t at = g->base + op->threshold;
    struct xport_trig_op x;
    int rc;

    if (at < g->due || xport_is_mapped(op->op.pe) ||
        !stream_nic_translate(&op->op, &x) || !xport_trig->can(&x))
        return TRIG_NEVER;
    rc = xport_trig->arm(g->nic, &x, at - g->due);
    if (rc == -EAGAIN)
        return TRIG_FULL;
    if (rc)                     /* one has failed, and it takes no more */
        return TRIG_NEVER;
    stream_errors_note_op(&t->exec.failed, &op->op);
    trig_counted(&trig_counts.by_nic);
    g->due = at;
    g->armed++;
    t->n_armed++;
    return TRIG_ARMED;
}

bool trig_nic_reap(struct trig *t)
{
    bool any = false;

    if (t->n_armed)
        xport_trig->progress();
    for (unsigned i = 0; i < t->n_nic_tags; i++) {
        struct trig_tag *g = &t->tags[t->nic_tags[i]];

        /* One may be armed again by the completion of another one. */
        for (; g->nic && g->nic_done < xport_trig->completed(g->nic); any = true) {
            g->nic_done++;
            g->armed--;
            t->n_armed--;
            trig_complete(t, t->nic_tags[i]);
        }
    }
    return any;
}

void trig_nic_leave(struct trig *t, int tag)
{
    struct trig_tag *g = &t->tags[tag];
    unsigned i = 0;
    uint64_t n;

    if (!g->nic)
        return;
    set_doorbell(t, tag, NULL);
    /* Hits that were not forwarded start nothing any more, and count all the
     * same.  Of those that were, the NIC may not have counted all yet. */
    n = xport_trig->count(g->nic);
    if (n > g->forwarded && n - g->forwarded > g->beyond)
        g->beyond = n - g->forwarded;
    if (xport_trig->close(g->nic))
        __atomic_sub_fetch(&tags_used, 1, __ATOMIC_RELAXED);
    g->nic = NULL;
    t->n_armed -= g->armed;
    g->armed = 0;
    while (t->nic_tags[i] != tag)
        i++;
    t->nic_tags[i] = t->nic_tags[--t->n_nic_tags];
}
