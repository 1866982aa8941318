/* SPDX-License-Identifier: BSD-3-Clause */
/* api.h - how the public calls are defined.
 * Each is a strong pshmem_X; API_ALIAS makes the weak shmem_X that a
 * profiling tool may define instead.  Nothing inside calls shmem_X. */
#ifndef API_API_H
#define API_API_H

#include "coll/coll.h"
#include "core/core.h"
#include "core/core_watch.h"
#include "pshmem.h"
#include "shmemx.h"

#define API_ALIAS(f) \
    extern __typeof(p##f) f __attribute__((weak, alias("p" #f)));

#define API_CTX(ctx) core_ctx_of(ctx, __func__)
#define API_DEFAULT (&core_ctx_default)

/* This PE comes to a collective call.  With SHMEM_CHECK, the members of team t
 * compare what they pass: the rest are the members of struct coll_args. */
#define API_MEET(t, code_, call_, ...)                                      \
    do {                                                                    \
        core_watch_enter(call_, t);                                         \
        if (unlikely(core_status.checks))                                   \
            coll_meet(t, &(struct coll_args){                               \
                .code = code_, .call = call_, __VA_ARGS__ });               \
    } while (0)

/* Counts allocation calls from here on. */
void api_heap_open(void);

#endif
