/* SPDX-License-Identifier: BSD-3-Clause */
/* shmemx.h - what Sluice has beyond OpenSHMEM 1.6: here names that programs
 * written for other libraries, or for older versions, call. */
#ifndef SHMEMX_H
#define SHMEMX_H

#include "shmem.h"

/* The product's version; shmem.h tells that of the specification. */
#define SLUICE_VERSION_MAJOR 0
#define SLUICE_VERSION_MINOR 1
#define SLUICE_VERSION_PATCH 0

/* The PEs of this node: those whose host memory this PE reaches by loads and
 * stores. */
#define SHMEMX_TEAM_NODE SHMEM_TEAM_SHARED

/* A hint of shmem_malloc_with_hints: the call does not synchronise.  The
 * program does, before a PE touches the block of another one. */
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
