/* SPDX-License-Identifier: BSD-3-Clause */
/* shmemg.h - the draft of OpenSHMEM for GPUs.
 *
 * A single source for C and C++, for nvcc and hipcc, and for NVRTC and hiprtc,
 * which have no headers of the host.
 *
 * shmem_init_thread accepts device bits together with the thread level, and
 * grants them in *provided; the level alone is *provided & SHMEMX_THREAD_MASK.
 * shmemg_dev.h has the calls that kernels make. */
#ifndef SHMEMG_H
#define SHMEMG_H

#include "shmemx_dev.h"
#if !defined(__CUDACC_RTC__) && !defined(__HIPCC_RTC__)
#include "shmem.h"
#include "shmem_space.h"
#include "shmemg_const.h"
#endif

/* Host calls accept addresses of device memory; kernels make calls. */
#define SHMEM_DEVICE_HOST_INIT 0x10
#define SHMEM_DEVICE_KERNEL_INIT 0x20
#define SHMEMX_THREAD_MASK 3

/* Hints of shmem_malloc_with_hints: allocate in the device heap. */
#define SHMEM_DEVICE_MALLOC_HOST_INIT 0x10L
#define SHMEM_DEVICE_MALLOC_KERNEL_INIT 0x20L

/* Qualifier of each function that kernels call. */
#if defined(__CUDACC__) || defined(__HIPCC__) || defined(__HIPCC_RTC__)
#define SHMEMG_DEVICE __device__
#elif defined(SYCL_LANGUAGE_VERSION) && defined(SYCL_EXTERNAL)
#define SHMEMG_DEVICE SYCL_EXTERNAL
#else
#define SHMEMG_DEVICE
#endif

#if !defined(__CUDACC_RTC__) && !defined(__HIPCC_RTC__)
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

#include "shmemg_dev.h"

#endif
