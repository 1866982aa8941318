/* SPDX-License-Identifier: BSD-3-Clause */
/* The ready protocol: the program says that the receive was started before the
 * send, so the sender's stream puts at once.  msg_req.c calls it; a receiver
 * has nothing to start. */
#include "msg/msg_int.h"
#include "msg/msg_proto.h"

const struct msg_proto msg_proto_ready = {
    .matched = "matched: ready",
    .ready = true,
    .send = { .start = msg_start_put, .counter = msg_no_counter },
    .recv = { .start = msg_start_nothing, .counter = msg_recv_counter },
    .copy_out = msg_copy_slot, .release = msg_copy_nothing,
    .finish = msg_finish_slot,
    .open = msg_open_put,
    .offered = msg_offered_always
};
