/* SPDX-License-Identifier: BSD-3-Clause */
/* shmemg_const.h - teams and contexts of kernels, for shmemg.h and
 * shmemx_dev.h. */
#ifndef SHMEMG_CONST_H
#define SHMEMG_CONST_H

#include "shmem.h"

/* All PEs; the PEs whose device heaps this PE's device reaches.  Teams for any
 * call, in addition to SHMEM_TEAM_WORLD and SHMEM_TEAM_SHARED. */
#define SHMEM_DEVICE_TEAM_WORLD ((shmem_team_t)3)
#define SHMEM_DEVICE_TEAM_SHARED ((shmem_team_t)4)

/* An option of a context for kernels: it belongs to a device team, and the host
 * only creates and destroys it. */
#define SHMEM_DEVICE_CTX 8L
#define SHMEM_DEVICE_CTX_DEFAULT ((shmem_ctx_t)2)

#endif
