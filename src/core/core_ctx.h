/* SPDX-License-Identifier: BSD-3-Clause */
/* core_ctx.h - contexts are made and destroyed; core.h has what uses them.
 * Threads: any. */
#ifndef CORE_CORE_CTX_H
#define CORE_CORE_CTX_H

#include "core/core_team.h"

#include <stdint.h>

/* Numbers the threads for private contexts made from now on; NULL: POSIX
 * threads.  At any time, also while the library is not open. */
void core_ctx_identify(uint64_t (*id)(void));
/* 0 or -ENOMEM, logged. */
int core_ctx_create(struct core_team *team, long options, shmem_ctx_t *out);
void core_ctx_destroy(shmem_ctx_t ctx, const char *call);
/* May inline code access memory of the node by itself from here on?  Not while
 * accesses are recorded. */
void core_ctx_switch_direct(bool direct);
/* The contexts of a team that goes; private ones stay their thread's. */
void core_ctx_destroy_team(const struct core_team *team);
/* At the end of the library: contexts the program left behind.  They are
 * complete. */
void core_ctx_destroy_all(void);

#endif
