/* SPDX-License-Identifier: BSD-3-Clause */
/* pshmem.h - the profiling names of OpenSHMEM 1.6: pshmem_X is shmem_X, and
 * shmem_X is weak, so a tool may define it and call pshmem_X. */
#ifndef PSHMEM_H
#define PSHMEM_H

#include "shmem.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)
#define SHMEMI_P(f) p##f
#include "shmem_decls.h"
#undef SHMEMI_P
#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
