/* SPDX-License-Identifier: BSD-3-Clause */
/* msg_table.h - receives and the notes of senders, by PE, tag, and which
 * one it is of those that were made for them.
 * Threads: one at a time, as the lock of msg_match.c has it. */
#ifndef MSG_MSG_TABLE_H
#define MSG_MSG_TABLE_H

#include "msg/msg_chan.h"
#include "msg/msg_ctrl.h"

/* Which one it is of those for its PE and tag, from 0; -1: no memory. */
int64_t msg_table_next_number(const struct msg_chan *c);

/* A receive that waits for its sender, and whose sender this note is. */
void msg_table_add_recv(struct msg_chan *r);
struct msg_chan *msg_table_take_recv(const struct msg_ctrl *n);

/* A note that came before its receive was made: false, no memory. */
bool msg_table_add_rts(const struct msg_ctrl *n);
bool msg_table_take_rts(const struct msg_chan *r, struct msg_ctrl *out);
/* Some message of that PE whose receive was not made, or NULL. */
const struct msg_ctrl *msg_table_first_unexpected(int pe);

void msg_table_clear(void);

#endif
