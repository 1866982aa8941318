/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: each rule of msg_select.c's table selects its protocol and its
 * landing, by size, memory and route, up to its limit and no further, and a
 * message that finds no landing slots falls through to the next rule; and no
 * protocol lacks an operation. */
#include "unit.h"

#include "core/core.h"
#include "heap/heap_int.h"
#include "msg/msg_ctrl.h"
#include "msg/msg_int.h"
#include "msg/msg_proto.h"
#include "stream/stream_int.h"
#include "xport/xport_route.h"

#include <errno.h>

enum {
    PEER = 1, PES = 2, POOL = 1 << 18, POOL_END = POOL + (1 << 18),
    ON_NODE_LIMIT = 1000, OFF_NODE_LIMIT = 3000
};

static struct xport_route routes[PES];
static char *memory;            /* the heap: buffers, then the pool */
static char private_buffer[8192];

/* The receiver's end and its sender's RTS, as a case has them. */
static struct msg_counters *counters;
static struct msg_chan chan;
static struct msg_ctrl rts;

static void on_node(bool mapped)
{
    routes[PEER].map[HEAP_HOST] = mapped ? (uintptr_t)memory : 0;
}

/* A symmetric buffer of that many bytes, of a persistent send. */
static void begin(size_t bytes, bool mapped)
{
    on_node(mapped);
    gtl_device.host_streams = false;
    gtl_device.kernels = true;
    msg_eager_limit.on_node = ON_NODE_LIMIT;
    msg_eager_limit.off_node = OFF_NODE_LIMIT;
    chan = (struct msg_chan){
        .pe = PEER, .proto = MSG_PROTOS, .buf = memory, .bytes = bytes,
        .counters = counters, .dev_counters = counters
    };
    rts = (struct msg_ctrl){ .bytes = bytes, .seg = HEAP_HOST };
}

static void offer_peer_copy(void)
{
    rts.flags |= (uint32_t)MSG_RTS_PEER_COPY << HEAP_HOST;
}

/* Which protocol, and how many slots it lands in; the slots are given back. */
static void selects(enum msg_proto_id proto, unsigned slots, int line)
{
    int rc = msg_select_proto(&chan, &rts);
    char where[32];

    snprintf(where, sizeof where, "line %d", line);
    if (rc || chan.proto != proto || chan.slots != slots)
        fprintf(stderr, "%s: protocol %d, %u slots; rc %d\n", where,
                (int)chan.proto, chan.slots, rc);
    T_EQ(rc, 0);
    T_EQ((int)chan.proto, (int)proto);
    T_EQ(chan.slots, slots);
    if (chan.slots && T_NE(chan.landing, chan.buf)) {
        T_LE(chan.bytes, chan.slot_size);
        heap_pool_free(chan.landing);
    }
}
#define SELECTS(proto, slots) selects(MSG_PROTO_##proto, slots, __LINE__)

T(one_shot_messages_keep_the_landing_they_have)
{
    for (int mapped = 0; mapped < 2; mapped++) {
        begin(100, mapped);
        chan.one_shot = true;
        rts.flags = MSG_RTS_READY | MSG_RTS_TRIGGER;
        offer_peer_copy();
        chan.landing = private_buffer;
        SELECTS(ONE_SHOT, 0);
        T_EQ(chan.landing, private_buffer);
    }
}

T(ready_sends_of_any_size_land_in_the_buffer)
{
    static const size_t sizes[] = { 0, 1, ON_NODE_LIMIT, OFF_NODE_LIMIT + 1 };

    for (int mapped = 0; mapped < 2; mapped++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            begin(sizes[i], mapped);
            rts.flags = MSG_RTS_READY | MSG_RTS_TRIGGER;
            offer_peer_copy();
            SELECTS(READY, 0);
            T_EQ(chan.landing, chan.buf);
            begin(sizes[i], mapped);
            rts.flags = MSG_RTS_READY;
            chan.buf = private_buffer;
            SELECTS(READY, sizes[i] ? 1 : 0);
        }
}

T(short_messages_of_this_node_are_eager)
{
    begin(ON_NODE_LIMIT, true);
    offer_peer_copy();          /* a rule that comes later */
    SELECTS(EAGER, 2);
    begin(1, true);
    SELECTS(EAGER, 2);
    begin(ON_NODE_LIMIT, true);
    chan.buf = private_buffer;
    SELECTS(EAGER, 2);
    begin(ON_NODE_LIMIT + 1, true);
    SELECTS(RNDV, 0);
}

T(short_messages_between_nodes_are_eager)
{
    begin(OFF_NODE_LIMIT, false);
    rts.flags = MSG_RTS_TRIGGER;        /* a rule that comes later */
    SELECTS(EAGER, 2);
    begin(ON_NODE_LIMIT + 1, false);
    SELECTS(EAGER, 2);
    begin(OFF_NODE_LIMIT + 1, false);
    SELECTS(RNDV, 0);
}

T(an_empty_message_is_eager_and_has_no_slot)
{
    for (int mapped = 0; mapped < 2; mapped++) {
        begin(0, mapped);
        msg_eager_limit.on_node = msg_eager_limit.off_node = 0;
        SELECTS(EAGER, 0);
        begin(1, mapped);
        msg_eager_limit.on_node = msg_eager_limit.off_node = 0;
        SELECTS(RNDV, 0);
    }
}

/* Where both devices reach both buffers and the counters. */
T(long_messages_of_this_node_are_peer_copies)
{
    begin(ON_NODE_LIMIT + 1, true);
    offer_peer_copy();
    SELECTS(PEER_COPY, 0);
    T_EQ(chan.landing, chan.buf);
    begin(ON_NODE_LIMIT + 1, true);
    offer_peer_copy();
    gtl_device.host_streams = true;     /* a rule that comes later */
    SELECTS(PEER_COPY, 0);
}

T(without_what_it_needs_there_is_no_peer_copy)
{
    begin(ON_NODE_LIMIT + 1, true);     /* the sender does not offer it */
    SELECTS(RNDV, 0);
    begin(ON_NODE_LIMIT + 1, true);     /* its buffer is private */
    offer_peer_copy();
    rts.seg = -1;
    SELECTS(RNDV, 0);
    begin(ON_NODE_LIMIT + 1, true);     /* the receiver's is */
    offer_peer_copy();
    chan.buf = private_buffer;
    SELECTS(RNDV, 1);
    begin(ON_NODE_LIMIT + 1, true);     /* the device has no kernels */
    offer_peer_copy();
    gtl_device.kernels = false;
    SELECTS(RNDV, 0);
    begin(ON_NODE_LIMIT + 1, true);     /* it does not reach the counters */
    offer_peer_copy();
    chan.dev_counters = NULL;
    SELECTS(RNDV, 0);
    begin(OFF_NODE_LIMIT + 1, false);   /* the sender is on another node */
    offer_peer_copy();
    SELECTS(RNDV, 0);
}

T(streams_of_the_host_are_eager_where_they_cannot_copy)
{
    begin(ON_NODE_LIMIT + 1, true);
    gtl_device.host_streams = true;
    SELECTS(EAGER, 2);
    begin(OFF_NODE_LIMIT + 1, false);
    gtl_device.host_streams = true;
    SELECTS(RNDV, 0);
}

T(long_messages_to_a_trigger_are_put_by_the_nic)
{
    begin(OFF_NODE_LIMIT + 1, false);
    rts.flags = MSG_RTS_TRIGGER;
    SELECTS(TRIG, 0);
    T_EQ(chan.landing, chan.buf);
    begin(OFF_NODE_LIMIT + 1, false);
    rts.flags = MSG_RTS_TRIGGER;
    chan.buf = private_buffer;
    SELECTS(TRIG, 1);
    begin(ON_NODE_LIMIT + 1, true);     /* only between nodes */
    rts.flags = MSG_RTS_TRIGGER;
    SELECTS(RNDV, 0);
}

T(all_else_is_a_rendezvous)
{
    begin(OFF_NODE_LIMIT + 1, false);
    SELECTS(RNDV, 0);
    T_EQ(chan.landing, chan.buf);
    begin(OFF_NODE_LIMIT + 1, false);
    chan.buf = private_buffer;
    SELECTS(RNDV, 1);
}

/* Two slots find no room, one or the buffer serves; else no rule is left. */
T(without_room_for_its_slots_the_next_rule_is_taken)
{
    void *taken = heap_pool_alloc(POOL_END - POOL - 1536);

    T_NE(taken, NULL);
    begin(ON_NODE_LIMIT, true);
    chan.buf = private_buffer;
    SELECTS(RNDV, 1);
    begin(OFF_NODE_LIMIT, false);
    rts.flags = MSG_RTS_TRIGGER;
    SELECTS(TRIG, 0);
    begin(OFF_NODE_LIMIT, false);
    chan.buf = private_buffer;
    T_EQ(msg_select_proto(&chan, &rts), -ENOSPC);
    T_EQ((int)chan.proto, (int)MSG_PROTOS);
    heap_pool_free(taken);
}

/* How many of its operations are empty. */
static int empty_slots(const struct msg_proto *p)
{
    return !p->send.start + !p->send.counter + !p->recv.start +
           !p->recv.counter + !p->copy_out + !p->release + !p->finish +
           !p->open + !p->offered;
}

T(every_protocol_has_its_row_and_fills_its_table)
{
    for (int i = 0; i < MSG_PROTOS; i++) {
        const struct msg_proto *p = msg_protos[i];

        if (!T_TRUE(p != NULL))
            fprintf(stderr, "msg_proto.c: no row for protocol %d\n", i);
        else if (!T_TRUE(p->matched && !empty_slots(p)))
            fprintf(stderr, "protocol %d has an empty slot: msg_..._nothing() "
                    "or msg_no_counter() fills it\n", i);
    }
}

int main(void)
{
    memory = mmap(NULL, POOL_END, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        perror("mmap");
        return 1;
    }
    heap_segs[HEAP_HOST] = (struct heap_seg){ (uintptr_t)memory, POOL_END };
    heap_pool_open(POOL, POOL_END);
    counters = heap_pool_alloc(sizeof *counters);
    routes[0].map[HEAP_HOST] = (uintptr_t)memory;
    xport_routes = routes;
    gtl_device.host_streams = true;     /* all host memory is reached */
    stream_address_open();
    T_RUN(every_protocol_has_its_row_and_fills_its_table);
    T_RUN(one_shot_messages_keep_the_landing_they_have);
    T_RUN(ready_sends_of_any_size_land_in_the_buffer);
    T_RUN(short_messages_of_this_node_are_eager);
    T_RUN(short_messages_between_nodes_are_eager);
    T_RUN(an_empty_message_is_eager_and_has_no_slot);
    T_RUN(long_messages_of_this_node_are_peer_copies);
    T_RUN(without_what_it_needs_there_is_no_peer_copy);
    T_RUN(streams_of_the_host_are_eager_where_they_cannot_copy);
    T_RUN(long_messages_to_a_trigger_are_put_by_the_nic);
    T_RUN(all_else_is_a_rendezvous);
    T_RUN(without_room_for_its_slots_the_next_rule_is_taken);
    heap_pool_close();
    return T_DONE();
}
