/* SPDX-License-Identifier: BSD-3-Clause */
/* xport_trig.c - the trigger table where no NIC has deferred work: no
 * operation can be armed, so the stream layer takes its progress thread.
 * xport_trig is this table until ofi has opened one of its own. */
#include "xport/xport_trig.h"

#include <errno.h>
#include <string.h>

static int not_ready(void)
{
    return -ENOSYS;
}

static int no_open(struct xport_trig **out, bool free,
                   xport_trig_failed *failed, void *arg)
{
    (void)out;
    (void)free;
    (void)failed;
    (void)arg;
    return -ENOSYS;
}

static bool no_close(struct xport_trig *t)
{
    (void)t;
    return true;
}

static void no_post(struct xport_trig *t)
{
    (void)t;
}

static bool can_nothing(const struct xport_trig_op *op)
{
    (void)op;
    return false;
}

static int no_arm(struct xport_trig *t, const struct xport_trig_op *op,
                  uint64_t step)
{
    (void)t;
    (void)op;
    (void)step;
    return -ENOSYS;
}

static int no_flag(struct xport_trig *t, uint64_t *least)
{
    (void)t;
    (void)least;
    return -ENOSYS;
}

static uint64_t *no_word(struct xport_trig *t)
{
    (void)t;
    return NULL;
}

static void no_increment(struct xport_trig *t, uint64_t n)
{
    (void)t;
    (void)n;
}

static uint64_t none_completed(struct xport_trig *t)
{
    (void)t;
    return 0;
}

static void no_progress(void)
{
}

static void no_counts(struct xport_trig_counts *out)
{
    memset(out, 0, sizeof *out);
}

static int no_two_input(struct xport_trig **out, uint64_t *off, uint64_t *word,
                   xport_trig_failed *failed, void *arg)
{
    (void)off;
    (void)word;
    return no_open(out, false, failed, arg);
}

static bool not_released(struct xport_trig *t, uint64_t n)
{
    (void)t;
    (void)n;
    return false;
}

const struct xport_trig_ops xport_trig_none = {
    .name = "", .ready = not_ready, .open = no_open, .close = no_close,
    .can = can_nothing, .arm = no_arm, .flag = no_flag, .word = no_word,
    .doorbell = no_word, .increment = no_increment, .count = none_completed,
    .completed = none_completed,
    .completed_in_order = none_completed, .progress = no_progress,
    .report_failures = no_progress,
    .counts = no_counts, .open_two_input = no_two_input,
    .skip_post = no_post, .is_released = not_released, .skip_done = no_post
};
const struct xport_trig_ops *xport_trig = &xport_trig_none;
