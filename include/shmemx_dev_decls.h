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
