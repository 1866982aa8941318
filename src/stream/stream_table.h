/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_table.h - receives and the notes of senders, by PE, tag, and which
 * one it is of those that were made for them.
 * Threads: one at a time, as the lock of stream_match.c has it. */
#ifndef STREAM_STREAM_TABLE_H
#define STREAM_STREAM_TABLE_H

#include "stream/stream_chan.h"
#include "stream/stream_mail.h"

/* Which one it is of those for its PE and tag, from 0; -1: no memory. */
int64_t table_count(const struct chan *c);

/* A receive that waits for its sender, and whose sender this note is. */
void table_put_receive(struct chan *r);
struct chan *table_take_receive(const struct mail_note *n);

/* A note that came before its receive was made: false, no memory. */
bool table_put_note(const struct mail_note *n);
bool table_take_note(const struct chan *r, struct mail_note *out);
/* Some message of that PE whose receive was not made, or NULL. */
const struct mail_note *table_unclaimed(int pe);

void table_clear(void);

#endif
