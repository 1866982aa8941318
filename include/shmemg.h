/* SPDX-License-Identifier: BSD-3-Clause */
/* shmemg.h - the host side of the draft of OpenSHMEM for GPUs.
 *
 * shmem_init_thread accepts a device bit together with the thread level, and
 * grants it in *provided; the level alone is *provided & SHMEMX_THREAD_MASK.
 * Device-initiated calls are not granted. */
#ifndef SHMEMG_H
#define SHMEMG_H

#include "shmem.h"
#include "shmem_space.h"
#include "shmemg_const.h"

/* Host calls accept addresses of device memory; kernels make calls. */
#define SHMEM_DEVICE_HOST_INIT 0x10
#define SHMEM_DEVICE_KERNEL_INIT 0x20
#define SHMEMX_THREAD_MASK 3

/* Hints of shmem_malloc_with_hints: allocate in the device heap. */
#define SHMEM_DEVICE_MALLOC_HOST_INIT 0x10L
#define SHMEM_DEVICE_MALLOC_KERNEL_INIT 0x20L

/* Qualifier of each function that kernels call. */
#if defined(__CUDACC__) || defined(__HIPCC__)
#define SHMEMG_DEVICE __device__
#elif defined(SYCL_LANGUAGE_VERSION) && defined(SYCL_EXTERNAL)
#define SHMEMG_DEVICE SYCL_EXTERNAL
#else
#define SHMEMG_DEVICE
#endif

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)
#define SHMEMI_P(f) f
#include "shmemg_decls.h"
#undef SHMEMI_P
#define SHMEMI_P(f) p##f
#include "shmemg_decls.h"
#undef SHMEMI_P
#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
