/* SPDX-License-Identifier: BSD-3-Clause */
/* kernel.h - what the tests of calls of kernels share.  The kernels are C
 * functions, so the tests need the software device.  A test that includes
 * memory.h before starts the library by memory_begin(), then kernel_open(). */
#ifndef TESTS_KERNEL_KERNEL_H
#define TESTS_KERNEL_KERNEL_H

#include "../t.h"
#include <errno.h>
#include <shmem.h>
#include <shmemx_dev.h>
#include <shmemx_st.h>
#include <string.h>

static T_UNUSED shmemx_dev_t dev;
static T_UNUSED shmemx_stream_t stream;

static T_UNUSED void kernel_open(void)
{
    T_EQ(shmemx_stream_create(&stream), 0);
    T_EQ(shmemx_dev_get(SHMEM_DEVICE_CTX_DEFAULT, &dev), 0);
}

static T_UNUSED void kernel_close(void)
{
    T_EQ(shmemx_stream_destroy(stream), 0);
}

#ifndef TESTS_MEMORY_H
static T_UNUSED int me, n_pes, next, prev;

static T_UNUSED void kernel_begin(void)
{
    shmem_init();
    T_PE(shmem_my_pe());
    me = shmem_my_pe();
    n_pes = shmem_n_pes();
    next = (me + 1) % n_pes;
    prev = (me + n_pes - 1) % n_pes;
    kernel_open();
}

static T_UNUSED int kernel_end(void)
{
    kernel_close();
    shmem_finalize();
    return T_DONE();
}
#endif

/* Launches the grid, and waits until it has ended. */
static T_UNUSED void kernel_run(shmemx_kernel_t body, void *arg,
                                unsigned groups, unsigned items,
                                unsigned phases)
{
    shmemx_grid_t g = { .groups = groups, .items = items, .phases = phases,
                        .resident = groups };

    T_EQ(shmemx_stream_launch(stream, &g, body, arg), 0);
    T_EQ(shmemx_stream_sync(stream), 0);
}

static T_UNUSED void *kernel_room(bool device, size_t size)
{
    void *p = shmem_space_calloc(device ? SHMEM_SPACE_DEVICE
                                        : SHMEM_SPACE_CPU, 1, size);

    T_TRUE(p != NULL);
    return p;
}

#endif
