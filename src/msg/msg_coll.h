/* SPDX-License-Identifier: BSD-3-Clause */
/* msg_coll.h - collective requests: see msg_coll.c. */
#ifndef MSG_MSG_COLL_H
#define MSG_MSG_COLL_H

#include "stream/stream_int.h"

struct coll;

/* The stream lets the next round begin; waits for it. */
int msg_coll_start(const struct stream_where *w, struct coll *c);
int msg_coll_wait(const struct stream_where *w, const struct coll *c);
/* Has the last round ended?  For the host's wait for that. */
bool msg_coll_completed(const struct coll *c);
/* Is nothing of one that is broken under way? */
bool msg_coll_idle(const struct coll *c);
struct core_waiter msg_coll_waiter(const char *call, const struct coll *c,
                                      void *stream);
/* The call that made it. */
const char *msg_coll_call(const struct coll *c);
/* What waits for that word: "a barrier", or NULL. */
const char *msg_coll_name(const void *word);
/* What each reduction is of, while none is made or freed. */
void msg_coll_visit(void (*visit)(const struct gtl_reduce *r, size_t size,
                                     void *arg), void *arg);
/* It is over, and nobody uses it any more. */
void msg_coll_free(const char *call, struct coll *c);
/* At the end, when its stream and requests are gone. */
void msg_coll_release(struct coll *c);

#endif
