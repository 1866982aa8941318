/* SPDX-License-Identifier: BSD-3-Clause */
/* shmemx.h - extensions of OpenSHMEM 1.6: names that programs for other
 * libraries, or for older versions of the standard, call. */
#ifndef SHMEMX_H
#define SHMEMX_H

#include "shmem.h"

/* The version of Sluice; shmem.h has that of the specification. */
#define SLUICE_VERSION_MAJOR 0
#define SLUICE_VERSION_MINOR 1
#define SLUICE_VERSION_PATCH 0

/* The PEs of this node, whose host memory this PE accesses by loads and
 * stores. */
#define SHMEMX_TEAM_NODE SHMEM_TEAM_SHARED

/* A hint of shmem_malloc_with_hints: the call does not synchronize.  The
 * program does so before a PE accesses the block of another PE. */
#define SHMEMX_MALLOC_NO_BARRIER 4L

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)
#pragma push_macro("shmem_swap")
#undef shmem_swap
#define SHMEMI_P(f) f
#include "shmemx_decls.h"
#undef SHMEMI_P
#define SHMEMI_P(f) p##f
#include "shmemx_decls.h"
#undef SHMEMI_P
#pragma pop_macro("shmem_swap")
#pragma GCC visibility pop
#ifdef __cplusplus
}
#ifndef SHMEM_STRICT
#include "shmemx_overload.h"
#endif
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#include "shmemx_generic.h"
#endif

#endif
