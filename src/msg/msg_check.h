/* SPDX-License-Identifier: BSD-3-Clause */
/* msg_check.h - ends of channels by handle, and what notes may say of them.
 *
 * Notes lie in symmetric memory, where a stray put may change them: so they
 * name an end by its place in a table of its PE's own, and nothing in them is
 * followed before it is checked here.  A note that cannot be true ends the job
 * with a line.  Threads: one at a time, as the lock of msg_match.c has it. */
#ifndef MSG_MSG_CHECK_H
#define MSG_MSG_CHECK_H

#include "msg/msg_chan.h"
#include "msg/msg_ctrl.h"

/* A handle that no other end ever has; 0: no memory. */
uint64_t msg_handle_new(struct msg_chan *c);
void msg_handle_release(uint64_t handle);
/* The end with that handle, or NULL. */
struct msg_chan *msg_handle_find(uint64_t handle);

/* Of any note, before it is read. */
void msg_check_ctrl(const struct msg_ctrl *n);
/* This PE's end, whose partner sent the note. */
struct msg_chan *msg_chan_of_ctrl(const struct msg_ctrl *n);
/* Of an answer to that sender: where it is to put, and how. */
void msg_check_rtr(const struct msg_chan *s, const struct msg_ctrl *n);
/* Of one that says that the partner of that end was freed. */
void msg_check_fin(const struct msg_chan *c, const struct msg_ctrl *n);

#endif
