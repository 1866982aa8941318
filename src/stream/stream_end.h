/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_end.h - ends of channels by handle, and what notes may say of them.
 *
 * Notes lie in symmetric memory, where a stray put may change them: so they
 * name an end by its place in a table of its PE's own, and nothing in them is
 * followed before it is checked here.  A note that cannot be true ends the job
 * with a line.  Threads: one at a time, as the lock of stream_match.c has it. */
#ifndef STREAM_STREAM_END_H
#define STREAM_STREAM_END_H

#include "stream/stream_chan.h"
#include "stream/stream_mail.h"

/* A handle that no other end ever has; 0: no memory. */
uint64_t stream_end_new(struct chan *c);
void stream_end_drop(uint64_t handle);
/* The end with that handle, or NULL. */
struct chan *stream_end_find(uint64_t handle);

/* Of any note, before it is read. */
void stream_end_check(const struct mail_note *n);
/* This PE's end, whose partner sent the note. */
struct chan *stream_end_of(const struct mail_note *n);
/* Of an answer to that sender: where it is to put, and how. */
void stream_end_check_answer(const struct chan *s, const struct mail_note *n);
/* Of one that says that the partner of that end was freed. */
void stream_end_check_gone(const struct chan *c, const struct mail_note *n);

#endif
