/* SPDX-License-Identifier: BSD-3-Clause */
/* msg_coll.h - collective requests: see msg_coll.c. */
#ifndef MSG_MSG_COLL_H
#define MSG_MSG_COLL_H

#include "core/core.h"
#include "gtl/gtl.h"

struct shmemx_req;

/* Of all members of a team, which call it in the same order.  r->a is the
 * source, r->out the dest; size: of an element; NULL, 0: it is a barrier.
 * wrong: 0, or why this member refuses, logged: then none gets a request. */
int msg_coll_init(const char *call, struct core_team *t,
                  const struct gtl_reduce *r, size_t size, int wrong,
                  struct shmemx_req **out);
/* Each reduction's memory, while none is made or freed. */
void msg_coll_visit(void (*visit)(const struct gtl_reduce *r, size_t size,
                                  void *arg), void *arg);
/* A line's name for the request that completes with that word.  False: none
 * does. */
bool msg_coll_describe_counter(const void *word, char *text, size_t size);
void msg_coll_close(void);

#endif
