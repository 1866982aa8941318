/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of messages and partitions in a trace.  The other files of the layer
 * call it at the states of a channel's end; it changes none. */
#include "msg/msg_int.h"

/* One for the iteration of both ends: the sender's handle is known to both. */
static uint64_t message_number(const struct msg_chan *c, uint64_t seq)
{
    uint64_t sender = (uint64_t)(c->sends ? core_world.my_pe : c->pe);
    uint64_t handle = c->sends ? c->handle : c->peer_handle;
    uint64_t h = (handle ^ sender << 32) * 0x9e3779b97f4a7c15u;

    h = (h ^ h >> 29 ^ seq) * 0xbf58476d1ce4e5b9u;
    return h ^ h >> 32;
}

void msg_trace(const struct msg_chan *c, const char *what, enum trace_role role,
               uint64_t seq)
{
    const struct trace_what w = {
        .name = what, .kind = TRACE_MESSAGE, .role = role, .pe = c->pe + 1,
        .at = role == TRACE_ALONE ? TRACE_NOWHERE : message_number(c, seq),
        .bytes = c->bytes, .arg = { c->tag, (int64_t)seq }
    };

    /* The library's own messages are steps of a collective. */
    if (!c->team)
        trace_mark(&w);
}

void msg_trace_start(const struct msg_chan *c)
{
    if (c->sends)
        msg_trace(c, "send started", TRACE_SENDS, c->seq);
    else
        msg_trace(c, "receive started", TRACE_ALONE, c->seq);
}

void msg_trace_partition(const struct msg_chan *c, const char *what,
                         int partition, size_t bytes)
{
    const struct trace_what w = {
        .name = what, .kind = TRACE_PARTITION, .pe = c->pe + 1,
        .at = TRACE_NOWHERE, .bytes = bytes, .arg = { partition, c->tag }
    };

    if (!c->team)
        trace_mark(&w);
}
