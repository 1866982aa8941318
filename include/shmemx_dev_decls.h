/* SPDX-License-Identifier: BSD-3-Clause */
/* shmemx_dev_decls.h - what the host calls for kernels that communicate,
 * included by shmemx_dev.h with SHMEMI_P(f) as f and as pf.  No include
 * guard. */

/* Fills the state for kernels of this PE's device, of SHMEM_DEVICE_CTX_DEFAULT
 * or of a context made with SHMEM_DEVICE_CTX.  The first call opens the
 * device, and is local.  0; -ENODEV: there is no device; -EINVAL: no such
 * context; -ENOMEM. */
int SHMEMI_P(shmemx_dev_get)(shmem_ctx_t ctx, shmemx_dev_t *dev);
/* The state of SHMEM_DEVICE_CTX_DEFAULT, for kernels of the software device and
 * for the host.  Never NULL; without a device, or outside of the library's
 * use, calls with it end the job with a line. */
const shmemx_dev_t *SHMEMI_P(shmemx_dev_default)(void);
/* Can this grid wait for itself: are all its groups resident at once?  0;
 * -ENOSPC, with a line, if they are not; -EINVAL: sizes of 0; -ENODEV. */
int SHMEMI_P(shmemx_launch_check)(unsigned groups, unsigned items,
                                  size_t shared);
/* Fills the state of the default context in a module that the program has
 * loaded, a CUmodule or hipModule_t whose source includes shmemg.h: before its
 * first kernel that communicates.  The library writes to it until
 * shmemx_module_finalize() or shmem_finalize.  0; -ENOENT: the module has no
 * such state; -EINVAL: NULL, or headers of another release; -ENODEV; -ENOSYS: a
 * device without modules; -ENOMEM.  Each with a line. */
int SHMEMI_P(shmemx_module_init)(void *module);
/* Empties it again: before the module is unloaded.  -EINVAL: not initialized. */
int SHMEMI_P(shmemx_module_finalize)(void *module);
/* symbol returns 0 and the address, on the current device, of a state like
 * that, which has so many bytes; the library calls it as kernels may
 * communicate, or at once.  shmemg.h makes these calls for code compiled for
 * CUDA's or HIP's runtime API, also before shmem_init. */
void SHMEMI_P(shmemx_dev_register)(int (*symbol)(void **address), size_t size);
void SHMEMI_P(shmemx_dev_unregister)(int (*symbol)(void **address));
