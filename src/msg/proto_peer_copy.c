/* SPDX-License-Identifier: BSD-3-Clause */
/* The peer copy protocol: on one node, where both devices reach both buffers
 * and the counters, the stream that comes second to an iteration moves the
 * data, and neither waits for the other.  gtl->peer_copy() is that step of a
 * stream. msg_req.c calls these functions. */
#include "msg/msg_int.h"
#include "msg/msg_ctrl.h"
#include "msg/msg_proto.h"
#include "stream/stream_stats.h"

/* This end's part: its device reaches its own buffer, and the counters of both,
 * which need no atomics of the network.  Its kernels do not wait, so PEs may
 * share the device. */
static bool device_pairs(const struct msg_chan *c)
{
    return gtl_device.kernels && c->dev_counters &&
           xport_is_mapped(c->pe) &&
           stream_device_address(core_world.my_pe, c->buf, c->bytes) &&
           stream_device_address(c->pe, c->counters, sizeof *c->counters);
}

uint32_t msg_peer_copy_segments(const struct msg_chan *s)
{
    uint32_t flags = 0;

    if (s->ready || s->one_shot || !s->bytes || !device_pairs(s))
        return 0;
    for (int seg = 0; seg < HEAP_SEGS; seg++)
        if (heap_segs[seg].size &&
            stream_device_address(s->pe, (const void *)heap_segs[seg].base, 1))
            flags |= (uint32_t)MSG_RTS_PEER_COPY << seg;
    return flags;
}

bool msg_peer_copy_usable(const struct msg_chan *r, const struct msg_ctrl *rts)
{
    int seg = heap_find(r->buf, r->bytes);

    return seg >= 0 && rts->flags & (uint32_t)MSG_RTS_PEER_COPY << seg &&
           rts->seg >= 0 && device_pairs(r) &&
           stream_device_address(r->pe, msg_ctrl_addr(rts), r->bytes);
}

static bool offered(const struct msg_chan *s, const struct msg_ctrl *rtr)
{
    return !rtr->slots && rtr->seg >= 0 &&
           msg_peer_copy_segments(s) & (uint32_t)MSG_RTS_PEER_COPY << rtr->seg;
}

/* Wakes threads of either PE that sleep until an iteration has completed. */
static void wake_both(void *arg)
{
    const struct msg_chan *c = arg;

    core_wake((struct core_target){ (uintptr_t)c->dev_counters, core_ctl },
              sizeof *c->dev_counters);
    core_wake((struct core_target){ (uintptr_t)c->dev_peer_counters,
                                  core_peer_ctl(c->pe) },
              sizeof *c->dev_peer_counters);
}

/* The partner's message says where its buffer is. */
static void open_copies(struct msg_chan *c, const struct msg_ctrl *m)
{
    struct msg_counters *sender, *receiver;
    void *own = (void *)stream_device_address(core_world.my_pe, c->buf,
                                              c->bytes);
    void *peer = (void *)stream_device_address(c->pe, msg_ctrl_addr(m),
                                               c->bytes);

    c->dev_peer_counters =
        (void *)stream_device_address(c->pe, c->peer_counters, sizeof *sender);
    sender = c->sends ? c->dev_counters : c->dev_peer_counters;
    receiver = c->sends ? c->dev_peer_counters : c->dev_counters;
    for (unsigned odd = 0; odd < 2; odd++)
        c->copies[odd] = (struct gtl_peer_copy){
            .arrivals = &receiver->turns, .arrival = &c->dev_counters->turn_was,
            .to = c->sends ? peer : own, .from = c->sends ? own : peer,
            .n = c->bytes,
            .flags = { msg_arrived_counter(receiver, odd), &sender->sent },
            .wake = wake_both, .arg = c
        };
}

/* The same on both streams, once each in an iteration. */
static int start(const struct msg_batch *b, struct msg_chan *c, uint64_t seq)
{
    void *stream = b->where->stream;
    int rc = stream_device_rc(b->where, gtl->peer_copy(&c->copies[seq % 2],
                                                       stream));

    if (!rc) {
        stream_count(STREAM_BY_DEVICE, 1);
        gtl->count_ops(stream, 1);
    }
    return rc;
}

const struct msg_proto msg_proto_peer_copy = {
    .matched = "matched: peer copy",
    .send = { .start = start, .counter = msg_sent_counter },
    .recv = { .start = start, .counter = msg_recv_counter },
    .copy_out = msg_copy_nothing, .release = msg_copy_nothing,
    .finish = msg_finish_nothing,
    .open = open_copies,
    .offered = offered
};
