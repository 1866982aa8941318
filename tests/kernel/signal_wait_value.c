/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: the value that a kernel's signal_wait_until returns satisfies the
 * comparison, although the signal changes all the time.
 * PEs: 1
 * Env: SHMEM_DEVICE=software SHMEM_DEVICE_SYMMETRIC_SIZE=16M */
#include "kernel.h"
#include <time.h>

enum { MILLISECONDS = 700 };
static uint64_t signal_;        /* symmetric */
static long wrong, waits;

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Each wait is one of the three scopes. */
static void wait_often(const shmemx_item_t *item, void *unused)
{
    double end = now() + 1e-3 * MILLISECONDS;

    (void)item;
    (void)unused;
    do {
        wrong += shmemx_dev_signal_wait_until(&dev, &signal_, SHMEM_CMP_NE,
                                              0) != 1;
        wrong += shmemx_dev_signal_wait_until_warp(&dev, &signal_,
                                                   SHMEM_CMP_GE, 1) != 1;
        wrong += shmemx_dev_signal_wait_until_block(&dev, &signal_,
                                                    SHMEM_CMP_EQ, 1) != 1;
        waits += 3;
    } while (!wrong && now() < end);
}

T(the_value_satisfies_the_comparison)
{
    shmemx_grid_t g = { .groups = 1, .items = 1, .phases = 1, .resident = 1 };

    T_EQ(shmemx_stream_launch(stream, &g, wait_often, NULL), 0);
    while (shmemx_stream_query(stream) == -EAGAIN)
        for (int i = 0; i < 100; i++)
            shmem_signal_set(&signal_, i % 2 == 0, me);
    T_EQ(shmemx_stream_sync(stream), 0);
    T_TRUE(waits > 0);
    T_EQ(wrong, 0);
}

int main(void)
{
    kernel_begin();
    T_RUN(the_value_satisfies_the_comparison);
    return kernel_end();
}
