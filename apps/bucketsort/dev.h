/* SPDX-License-Identifier: BSD-3-Clause */
/* dev.h - the device as the sort uses it: streams and copies are the
 * library's calls for any device; its kernels run by the vendor's calls on a
 * GPU, and by the library's on the software device.
 * Memory is symmetric, in SHMEM_SPACE_DEVICE.  Only the thread that opened
 * the device launches. */
#ifndef BUCKETSORT_DEV_H
#define BUCKETSORT_DEV_H

#include "bucketsort.h"

#include <shmemx_st.h>

#include "dev_gpu.h"
#include "kernels.inc"

#define DEV_KERNEL(name, phases) K_##name,
enum dev_kernel { KERNELS(DEV_KERNEL) DEV_KERNELS };
#undef DEV_KERNEL

struct dev {
    struct job *job;
    shmemx_device_info_t info;
    bool gpu;                   /* else it is the software device */
    unsigned cores;             /* of the software device, for this PE */
    struct dev_gpu kernels;
};

/* The device, and kernels compiled for it.  False: the error is remembered; to
 * be closed in either case. */
bool dev_open(struct job *job, struct dev *out);
void dev_close(struct dev *d);
/* In stream order.  The error is remembered. */
void dev_launch(struct dev *d, shmemx_stream_t s, enum dev_kernel kernel,
                unsigned groups, unsigned items, const struct work *w);
void dev_copy(struct dev *d, shmemx_stream_t s, void *to, const void *from,
              size_t n);
void dev_fill(struct dev *d, shmemx_stream_t s, void *to, int byte, size_t n);
void dev_sync(struct dev *d, shmemx_stream_t s);
bool dev_stream(struct dev *d, shmemx_stream_t *out);

#endif
