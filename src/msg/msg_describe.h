/* SPDX-License-Identifier: BSD-3-Clause */
/* msg_describe.h - messages as lines and reports name them. */
#ifndef MSG_MSG_DESCRIBE_H
#define MSG_MSG_DESCRIBE_H

#include "msg/msg_int.h"

/* A line's name for the message whose completion is that word.  False: it is
 * no message's, or that is not known just now. */
bool msg_describe_counter(const void *word, char *text, size_t size);
/* Appends what that PE sends and nothing here receives, if that is known just
 * now, and the call that would receive it. */
void msg_describe_unexpected(int pe, char *text, size_t size);
/* "send to PE 1, tag 7" */
void msg_describe(const struct msg_chan *c, char *text, size_t size);
/* Reports why it has no partner; which: "request 3: " or "". */
void msg_report_failed(const char *call, const char *which,
                       const struct msg_chan *c);

#endif
