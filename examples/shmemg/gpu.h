/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu.h - what the programs of this folder share; not an example itself.
 *
 * ../example.h makes a program for CUDA, for HIP and for the software device of
 * a single source.  Here a kernel has one thread, as in the draft's programs:
 *
 *   start(bit)          initializes with a device bit, which has to be granted
 *   RUN(name, arg)      runs the kernel, and waits until it has ended
 *   to_host(to, from, n), to_device(to, from, n)
 *                       copy between the host's memory and the device's */
#ifndef EXAMPLES_SHMEMG_GPU_H
#define EXAMPLES_SHMEMG_GPU_H

#include "../example.h"
#include <shmemg.h>

static shmemx_stream_t stream;

static inline void start(int bit)
{
    int provided = 0;
#ifdef GPU
    shmemx_device_info_t device;
#endif

    TRY(shmem_init_thread(SHMEM_THREAD_SINGLE | bit, &provided));
    if (!(provided & bit)) {
        fprintf(stderr, "this library or machine does not grant %#x\n", bit);
        shmem_global_exit(1);
    }
#ifdef GPU
    TRY(shmemx_device_info(&device));
    TRY(GPU(SetDevice)(device.ordinal));
#endif
    TRY(shmemx_stream_create(&stream));
}

#define RUN(name, arg)                                                      \
    do {                                                                    \
        LAUNCH(stream, name, 1, arg);                                       \
        TRY(shmemx_stream_sync(stream));                                    \
    } while (0)

static inline void to_host(void *to, const void *from, size_t n)
{
    TRY(shmemx_stream_copy(stream, to, from, n));
    TRY(shmemx_stream_sync(stream));
}

static inline void to_device(void *to, const void *from, size_t n)
{
    to_host(to, from, n);
}

/* In the device heap, at the same place on all PEs; zeros. */
static inline void *symmetric(size_t n)
{
    void *p = shmemg_calloc(1, n);

    if (!p)
        shmem_global_exit(1);
    return p;
}

static inline int right_of(int pe, int n_pes)
{
    return (pe + 1) % n_pes;
}

static inline int left_of(int pe, int n_pes)
{
    return (pe + n_pes - 1) % n_pes;
}

#endif
