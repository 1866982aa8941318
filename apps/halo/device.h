/* SPDX-License-Identifier: BSD-3-Clause */
/* device.h - a stream, and the kernels of a program on it: one text for CUDA,
 * HIP and the software device. */
#ifndef HALO_DEVICE_H
#define HALO_DEVICE_H

#include <shmemx_st.h>
#include <stdbool.h>

#include "../bucketsort/dev_gpu.h"

struct kernel {
    const char *name;           /* as compilers of GPUs know it */
    shmemx_kernel_t soft;
};

struct device {
    shmemx_device_info_t info;
    bool gpu;                   /* else it is the software device */
    bool by_host;               /* no stream: the calling thread runs kernels */
    unsigned cores;             /* of the software device, for this PE */
    shmemx_stream_t stream;
    const struct kernel *kernels;
    const struct persistent *persistent;
    struct dev_gpu on_gpu, persistent_on_gpu;
};

/* Kernels that call the library: one for a whole run, and one that packs. */
enum { K_RUN, K_PACK, CALLING_KERNELS };
struct persistent {
    struct kernel kernel[CALLING_KERNELS];
    const char *text, *ptx;     /* by KI_TEXT */
};

/* text: that of apps/halo/kernels.inc, and of the program's behind it.  False:
 * there is no device memory, PE 0 has said so. */
bool device_open(struct device *d, const struct kernel *kernels, int count,
                 const char *text);
void device_close(struct device *d);
/* The same device as the host alone uses it, which reaches its memory: it is the
 * software device. */
struct device device_by_host(const struct device *d);
/* In stream order, with so many items to share.  What arg points to stays as
 * it is until the kernel has run. */
void device_launch(struct device *d, int kernel, size_t items, void *arg);
/* NULL, or why they do not run here. */
const char *device_open_persistent(struct device *d,
                                   const struct persistent *kernels);
/* Groups of one of them, which wait for each other: so many, or for 0 as there are cores.
 * On the software device 1, after a line of the library, if so many are not
 * resident at once; on a GPU at most those that are. */
unsigned device_resident(const struct device *d, unsigned groups);
/* Launches one with as many groups as device_resident() returned.  arg points to
 * so many bytes, and stays as it is until the kernel has run. */
void device_persist(struct device *d, int kernel, unsigned groups, void *arg);
void device_copy(struct device *d, void *to, const void *from, size_t bytes);
void device_sync(struct device *d);

/* The text of a program's kernels, under this name. */
#define KERNEL_TEXT(name, path) \
    __asm__(".pushsection .rodata\n" \
            #name ":\n" \
            ".incbin \"apps/halo/kernels.inc\"\n" \
            ".incbin \"" path "\"\n" \
            ".byte 0\n" \
            ".popsection\n"); \
    extern const char name[] __attribute__((visibility("hidden")))

/* For lists X(name) of kernels: their bodies and their rows of the table. */
#define SOFT_KERNEL(name) \
    static void soft_##name(const shmemx_item_t *it, void *arg) \
    { \
        const struct coord s = { it->group, it->item, it->groups, \
                                it->items }; \
        name(arg, &s); \
    }
#define KERNEL_ROW(name) { "halo_" #name, soft_##name },

#endif
