/* SPDX-License-Identifier: BSD-3-Clause */
/* msg_check.h - ends of channels by handle, and the checks of control messages.
 *
 * Control messages lie in symmetric memory, where a stray put may change them:
 * so a message names an end by its place in a table of that PE, and nothing in
 * it is used before it is checked here.  A message that cannot be true ends
 * the job with a line.  Threads: one at a time, under msg_lock. */
#ifndef MSG_MSG_CHECK_H
#define MSG_MSG_CHECK_H

#include "msg/msg_ctrl.h"

struct msg_chan;

/* A handle that no other end ever has; 0: no memory. */
uint64_t msg_handle_new(struct msg_chan *c);
void msg_handle_release(uint64_t handle);
/* The end with that handle, or NULL. */
struct msg_chan *msg_handle_find(uint64_t handle);

/* Of any message, before it is read. */
void msg_check_ctrl(const struct msg_ctrl *m);
/* This PE's end, whose partner sent the message. */
struct msg_chan *msg_chan_of_ctrl(const struct msg_ctrl *m);
/* Of an RTR to that sender: where it is to put, and by which protocol. */
void msg_check_rtr(const struct msg_chan *s, const struct msg_ctrl *m);
/* Of a FIN of the partner of that end. */
void msg_check_fin(const struct msg_chan *c, const struct msg_ctrl *m);

#endif
