/* SPDX-License-Identifier: BSD-3-Clause */
/* dev_gpu.h - kernels of a program on a GPU, from their text or PTX, by the
 * vendors' calls.  All have one argument, a structure by value.  From one
 * thread, after the library has opened the device. */
#ifndef BUCKETSORT_DEV_GPU_H
#define BUCKETSORT_DEV_GPU_H

enum { DEV_GPU_KERNELS = 48 };

struct dev_gpu {
    const char *const *names;   /* of these kernels: */
    int count;
    const char *otherwise;      /* what to do where there is no compiler */
    void *module, *function[DEV_GPU_KERNELS];
    char said[256];             /* why the last call failed */
};

/* 0, or -1 with the reason in said.  ptx may be "", or text NULL. */
int dev_cuda_load(struct dev_gpu *g, int ordinal, const char *ptx,
                  const char *text);
int dev_hip_load(struct dev_gpu *g, int ordinal, const char *text);
void dev_cuda_unload(struct dev_gpu *g);
void dev_hip_unload(struct dev_gpu *g);
/* The argument is copied by the call. */
int dev_cuda_launch(struct dev_gpu *g, int kernel, unsigned groups,
                    unsigned items, void *argument, void *stream);
int dev_hip_launch(struct dev_gpu *g, int kernel, unsigned groups,
                   unsigned items, void *argument, void *stream);

#endif
