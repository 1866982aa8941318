/* SPDX-License-Identifier: BSD-3-Clause */
/* dev_gpu.h - kernels of a program on a GPU, from their text or PTX, by the
 * vendors' calls.  All have one argument, a structure by value.  From one
 * thread, after the library has opened the device. */
#ifndef BUCKETSORT_DEV_GPU_H
#define BUCKETSORT_DEV_GPU_H

enum { DEV_GPU_KERNELS = 48 };

/* name_text and name_ptx: a text of kernels that call the library, from
 * scripts/kernel-text, and what nvcc has made of it, or "". */
#define KI_TEXT(name, text, ptx) \
    __asm__(".pushsection .rodata\n" \
            #name "_text:\n" \
            ".incbin \"" text "\"\n" \
            ".byte 0\n" \
            #name "_ptx:\n" \
            ".incbin \"" ptx "\"\n" \
            ".byte 0\n" \
            ".popsection\n"); \
    extern const char name##_text[] __attribute__((visibility("hidden"))); \
    extern const char name##_ptx[] __attribute__((visibility("hidden")))

struct dev_gpu {
    const char *const *names;   /* of these kernels: */
    int count;
    const char *otherwise;      /* what to do where there is no compiler */
    int hip;                    /* 0: of CUDA */
    void *module, *function[DEV_GPU_KERNELS];
    char said[256];             /* why the last call failed */
};

/* The calls return 0, or -1 with the reason in said.  driver, ordinal: the
 * device's, as shmemx_device_info() has them.  ptx, for CUDA alone, may be "";
 * text, which is compiled if the PTX is not there or of no use, may be NULL. */
int dev_gpu_load(struct dev_gpu *g, const char *driver, int ordinal,
                 const char *ptx, const char *text);
/* Of what is not loaded: nothing. */
void dev_gpu_unload(struct dev_gpu *g);
/* The argument is copied by the call. */
int dev_gpu_launch(struct dev_gpu *g, int kernel, unsigned groups,
                   unsigned items, void *argument, void *stream);

#endif
