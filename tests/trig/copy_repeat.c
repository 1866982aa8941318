/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: with SHMEMX_TRIG_COPY a tag begins to repeat while a kernel does
 * its operation and another kernel hits: each hit is one operation.
 * PEs: 1
 * Env: SHMEM_DEVICE=software SHMEM_DEVICE_SYMMETRIC_SIZE=16M */
#include "trig.h"
#include <unistd.h>

enum { ROUNDS = 5, BYTES = 64 << 20, PAUSE_US = 2000 };

static void hit(const shmemx_item_t *item, void *unused)
{
    (void)item;
    (void)unused;
    shmemx_dev_trigger(&hits, 0, 1);
}

static void pause_(void *unused)
{
    (void)unused;
    usleep(PAUSE_US);
}

/* The second kernel hits while the host is in shmemx_trig_repeat() and the copy
 * of the first one goes on, if the machine is neither too slow nor too fast. */
T(a_tag_begins_to_repeat_during_its_copy)
{
    const shmemx_trig_config_t copy = { SHMEMX_TRIG_COPY };
    const shmemx_grid_t one = { .groups = 1, .items = 1, .phases = 1 };
    char *there = shmem_malloc(BYTES), *here = shmem_malloc(BYTES);
    uint64_t *sum = shmem_calloc(1, sizeof *sum);
    shmemx_stream_t second;

    T_TRUE(there && here && sum);
    memset(here, 1, BYTES);
    T_EQ(shmemx_trig_create(SHMEM_CTX_DEFAULT, 1, &copy, SHMEMX_TRIG_ENGINE,
                            &trig), 0);
    T_EQ(shmemx_trig_dev(trig, &hits), 0);
    T_EQ(shmemx_stream_create(&second), 0);
    T_EQ(shmemx_trig_put_signal(trig, 0, 1, there, here, BYTES, sum, 1,
                                SHMEM_SIGNAL_ADD, me), 0);
    T_EQ(shmemx_stream_launch(stream, &one, hit, NULL), 0);
    usleep(PAUSE_US);
    T_EQ(shmemx_stream_call(second, pause_, NULL), 0);
    T_EQ(shmemx_stream_launch(second, &one, hit, NULL), 0);
    T_EQ(shmemx_trig_repeat(trig, 0), 0);
    T_EQ(shmemx_trig_wait(trig, 0, 2), 0);
    T_EQ(shmemx_stream_sync(stream), 0);
    T_EQ(shmemx_stream_sync(second), 0);
    T_EQ(done(0), 2);
    T_EQ(*sum, 2);
    T_EQ(shmemx_trig_reset(trig, 0), 0);
    T_EQ(shmemx_trig_free(&trig), 0);
    T_EQ(shmemx_stream_destroy(second), 0);
    shmem_free(sum);
    shmem_free(here);
    shmem_free(there);
}

int main(void)
{
    kernel_begin();
    for (int i = 0; i < ROUNDS; i++)
        T_RUN(a_tag_begins_to_repeat_during_its_copy);
    return kernel_end();
}
