/* SPDX-License-Identifier: BSD-3-Clause */
/* shmemg_decls.h - the prototypes of the draft for GPUs, included by shmemg.h
 * with SHMEMI_P(f) as f and as pf.  No include guard. */

/* Collective, like the calls of shmem_malloc(3), in SHMEM_SPACE_DEVICE. */
void *SHMEMI_P(shmemg_malloc)(size_t size);
void *SHMEMI_P(shmemg_calloc)(size_t count, size_t size);
void *SHMEMI_P(shmemg_align)(size_t alignment, size_t size);
void SHMEMI_P(shmemg_free)(void *ptr);
