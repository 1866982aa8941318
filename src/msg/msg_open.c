/* SPDX-License-Identifier: BSD-3-Clause */
/* The layer opens with the stream layer and closes with it.  api_setup.c calls
 * msg_reserve() and msg_close(), the stream layer calls the functions that
 * msg_reserve() registers with it. */
#include "msg/msg_describe.h"
#include "msg/msg_coll.h"
#include "msg/msg_ctrl.h"
#include "base/clock.h"
#include "kernel/kernel.h"
#include "msg/msg_proto.h"
#include "msg/part/part.h"
#include "msg/pcoll/pcoll.h"
#include "stream/stream_upper.h"
#include "trig/trig.h"

static bool describe_counter(const void *word, char *text, size_t size)
{
    return msg_coll_describe_counter(word, text, size) ||
           msg_describe_counter(word, text, size) ||
           trig_describe_word(word, text, size);
}

static void close_trigger(struct msg_chan *c, void *arg)
{
    (void)arg;
    msg_trig_close(c);
}

/* A partition that was not made ready, or that has not come. */
static void count_unfinished(struct msg_chan *c, void *arg)
{
    struct stream_unfinished *l = arg;

    if (!c->part || c->team || !c->part->by_host || part_is_completed(c))
        return;
    if (!l->n++)
        msg_describe(c, l->first, sizeof l->first);
}

/* Messages on their way have some time. */
#define ARRIVE_NS ((uint64_t)200000000)

static void report_unfinished(void)
{
    struct stream_unfinished left;
    uint64_t until = clock_ns() + ARRIVE_NS;

    do {
        left.n = 0;
        msg_chan_visit(true, count_unfinished, &left);
        if (left.n && xport_net)
            xport_progress->poll();
    } while (left.n && clock_ns() < until);
    stream_unfinished_report(&left, "partitioned message was started and has "
                             "not ended",
                             "partitioned messages were started and have not "
                             "ended", "; shmemx_req_wait() comes before");
}

/* No stream runs any more; other PEs may still send control messages. */
static void close_channels(bool opened)
{
    report_unfinished();
    if (!opened) {
        msg_ctrl_stop_reading();
        return;
    }
    msg_chan_visit(true, close_trigger, NULL);
    msg_ctrl_drain("shmem_finalize");
    msg_ctrl_close();
}

int msg_reserve(void)
{
    static const struct stream_upper_ops ops = {
        .open = msg_ctrl_open, .close = close_channels,
        .progress = msg_progress_or_defer, .poll = msg_poll,
        .describe_counter = describe_counter
    };

    stream_upper = &ops;
    kernel_names.partition = describe_counter;
    return msg_ctrl_reserve();
}

void msg_close(void)
{
    pcoll_close();
    msg_match_close();
    msg_coll_close();
    pcoll_sched_close();
}
