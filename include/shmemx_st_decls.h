/* SPDX-License-Identifier: BSD-3-Clause */
/* shmemx_st_decls.h - the prototypes of streams, included by shmemx_st.h with
 * SHMEMI_P(f) as f and as pf.  No include guard.
 *
 * All are local and give 0 or a negative errno: -ENODEV, there is no device;
 * -EINVAL, an argument is wrong; -EIO, the device failed.  SHMEM_LOG=debug
 * says more.  Threads: two on one stream are ordered by the program. */

int SHMEMI_P(shmemx_device_info)(shmemx_device_info_t *info);

/* Independent of the default stream. */
int SHMEMI_P(shmemx_stream_create)(shmemx_stream_t *stream);
/* What is enqueued still runs.  Not for streams of the vendor's making. */
int SHMEMI_P(shmemx_stream_destroy)(shmemx_stream_t stream);
/* Returns when all that is enqueued has run. */
int SHMEMI_P(shmemx_stream_sync)(shmemx_stream_t stream);
/* -EAGAIN: some of it has not run yet. */
int SHMEMI_P(shmemx_stream_query)(shmemx_stream_t stream);

/* In stream order; what they are given by address lives until then. */

/* Between any two places in host and device memory that do not overlap. */
int SHMEMI_P(shmemx_stream_copy)(shmemx_stream_t stream, void *dest,
                                 const void *source, size_t bytes);
int SHMEMI_P(shmemx_stream_fill)(shmemx_stream_t stream, void *dest, int byte,
                                 size_t bytes);
/* fn runs on a thread of the device's driver and calls neither that nor this
 * library. */
int SHMEMI_P(shmemx_stream_call)(shmemx_stream_t stream, void (*fn)(void *),
                                 void *arg);
/* Runs body for every item of *grid, which may go when this returns.  On the
 * software device alone: -ENODEV on a GPU. */
int SHMEMI_P(shmemx_stream_launch)(shmemx_stream_t stream,
                                   const shmemx_grid_t *grid,
                                   shmemx_kernel_t body, void *arg);
