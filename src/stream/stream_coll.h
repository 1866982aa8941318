/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_coll.h - collective requests: see stream_coll.c. */
#ifndef STREAM_STREAM_COLL_H
#define STREAM_STREAM_COLL_H

#include "stream/stream_int.h"

struct coll;

/* The stream lets the next round begin; waits for it. */
int stream_coll_start(const struct stream_where *w, struct coll *c);
int stream_coll_wait(const struct stream_where *w, const struct coll *c);
/* Has the last round ended?  For the host's wait for that. */
bool stream_coll_completed(const struct coll *c);
/* Is nothing of one that is broken under way? */
bool stream_coll_idle(const struct coll *c);
struct core_waiter stream_coll_waiter(const char *call, const struct coll *c,
                                      void *stream);
/* The call that made it. */
const char *stream_coll_call(const struct coll *c);
/* What waits for that word: "a barrier", or NULL. */
const char *stream_coll_name(const void *word);
/* What each reduction is of, while none is made or freed. */
void stream_coll_visit(void (*visit)(const struct gtl_reduce *r, size_t size,
                                     void *arg), void *arg);
/* It is over, and nobody uses it any more. */
void stream_coll_free(const char *call, struct coll *c);
/* At the end, when its stream and requests are gone. */
void stream_coll_release(struct coll *c);

#endif
