/* SPDX-License-Identifier: BSD-3-Clause */
/* api.h - how the public calls are defined.
 * Each is a strong pshmem_X; API_ALIAS makes the weak shmem_X that a
 * profiling tool may define instead.  Nothing inside calls shmem_X. */
#ifndef API_API_H
#define API_API_H

#include "core/core.h"
#include "pshmem.h"

#define API_ALIAS(f) \
    extern __typeof(p##f) f __attribute__((weak, alias("p" #f)));

#define API_CTX(ctx) core_ctx_of(ctx, __func__)
#define API_DEFAULT (&core_ctx_default)

/* Counts allocation calls from here on. */
void api_heap_open(void);

#endif
