/* SPDX-License-Identifier: BSD-3-Clause */
/* ptx.h - executes PTX as nvcc emits it: modules, their variables and their
 * kernels.  ptx_int.h has what its files share. */
#ifndef FAKE_CUDA_PTX_H
#define FAKE_CUDA_PTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ptx_module;
struct ptx_kernel;

/* A module's text, with its variables in memory of that device.  -EINVAL, and a
 * line on stderr that also stands in why: the text has what this does not know;
 * -ENOMEM: no room for its variables. */
int ptx_load(const char *text, int device, char *why, size_t room,
             struct ptx_module **out);
void ptx_unload(struct ptx_module *m);
/* NULL: the module has none of that name. */
const struct ptx_kernel *ptx_kernel(const struct ptx_module *m,
                                    const char *name);
/* False: no variable has that name. */
bool ptx_variable(const struct ptx_module *m, const char *name, uint64_t *at,
                  size_t *size);

enum { PTX_THREADS = 1024, PTX_PROCESSORS = 8, PTX_RESIDENT = 2048,
       PTX_SHARED = 48 << 10, PTX_SHARED_MOST = 227 << 10 };
/* Bytes of a kernel's arguments, and how many threads a block of it may have
 * at most: in want[], of each dimension, what it must have, or 0. */
size_t ptx_params_size(const struct ptx_kernel *k);
unsigned ptx_most_threads(const struct ptx_kernel *k, unsigned want[3]);
/* Bytes of shared memory that the text declares, and of local memory. */
size_t ptx_shared_size(const struct ptx_kernel *k);
size_t ptx_local_size(const struct ptx_kernel *k);
/* Blocks of so many threads that one processor runs side by side. */
unsigned ptx_blocks_each(unsigned threads, size_t shared);

struct ptx_dim {
    unsigned x, y, z;
};
struct ptx_launch {
    const struct ptx_kernel *kernel;
    struct ptx_dim grid, block;
    size_t shared;              /* bytes of dynamic shared memory */
    bool together;              /* all blocks are there at once */
    int device;
    unsigned char *params;      /* ptx_params_size() */
};
/* Copies arguments as the kernel declares them. */
void ptx_params(const struct ptx_kernel *k, void **args, unsigned char *out);

/* What ptx_run() returns for faults, beside -EFAULT. */
enum { PTX_MISALIGNED = 125, PTX_TRAP = 5, PTX_ASSERT = 132,
       PTX_NO_ATOMICS = 18 };
/* All threads of a grid, on the thread of a stream: 0 or -errno, after a line
 * on stderr. */
int ptx_run(const struct ptx_launch *l);

#endif
