/* SPDX-License-Identifier: BSD-3-Clause */
/* msg_table.h - receives without a sender and RTS messages without a receive,
 * by PE, tag, and which one it is of those that were made for them.
 * Threads: one at a time, under msg_lock. */
#ifndef MSG_MSG_TABLE_H
#define MSG_MSG_TABLE_H

#include "msg/msg_ctrl.h"

struct msg_chan;

/* Which one it is of those for its PE and tag, from 0; -1: no memory. */
int64_t msg_table_next_number(const struct msg_chan *c);

void msg_table_add_recv(struct msg_chan *r);
/* The receive that this RTS is for, or NULL. */
struct msg_chan *msg_table_take_recv(const struct msg_ctrl *rts);

/* An RTS that came before its receive was made: false, no memory. */
bool msg_table_add_rts(const struct msg_ctrl *rts);
bool msg_table_take_rts(const struct msg_chan *r, struct msg_ctrl *out);
/* Some message of that PE whose receive was not made, or NULL. */
const struct msg_ctrl *msg_table_first_unexpected(int pe);

void msg_table_clear(void);

#endif
