/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: shmem_finalize waits for a kernel that runs in symmetric memory,
 * drops what is behind it or behind a wait, be it done by the device or not,
 * and says how much that is of communication, and how much no start
 * released.
 * PEs: 2
 * Ppn: 2/1
 * Timeout: 20
 * Expect: 40 operations were enqueued .*\[S-W-STREAM\]
 * Expect: 3 operations were put into queues .*\[S-W-STREAM\] */
#include "st.h"

static int began, ended;        /* began: atomic */

static void take_long(const shmemx_item_t *item, void *word)
{
    (void)item;
    __atomic_store_n(&began, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < 100; i++) {
        usleep(1000);
        ++*(volatile long *)word;
    }
    ended++;
}

int main(void)
{
    static long to[30], from[30], copied, one = 1;
    static uint64_t signal;
    shmemx_grid_t grid = { .groups = 1, .items = 1, .phases = 1 };
    shmemx_stream_t s[2];
    shmemx_queue_t q;
    long *word;

    st_begin();
    word = st_room(true, sizeof *word);
    for (int k = 0; k < 2; k++) {
        s[k] = st_make();
        T_EQ(shmemx_long_put_on_stream(to, from, 30, next, s[k]), 0);
        T_EQ(shmemx_stream_sync(s[k]), 0);      /* that is no part of it */
    }
    T_EQ(shmemx_queue_create(s[0], NULL, 0, &q), 0);
    st_start_flag(s[0]);
    T_EQ(shmemx_enqueue_putmem(q, to, from, 8, next, NULL), 0);
    T_EQ(shmemx_enqueue_putmem(q, to, from, 8, next, NULL), 0);
    for (int i = 0; i < 20; i++) {
        T_EQ(shmemx_long_p_on_stream(&to[i], 1, next, s[0]), 0);
        T_EQ(shmemx_long_put_signal_on_stream(to, from, 30, &signal, 1,
                                              SHMEM_SIGNAL_ADD, next, s[0]),
             0);
    }
    T_EQ(shmemx_stream_copy(s[0], &copied, &one, sizeof one), 0);
    T_EQ(shmemx_enqueue_putmem(q, to, from, 8, next, NULL), 0);
    shmem_barrier_all();
    T_EQ(shmemx_stream_launch(s[1], &grid, take_long, word), 0);
    while (!__atomic_load_n(&began, __ATOMIC_ACQUIRE))
        usleep(1000);
    shmem_finalize();
    T_EQ(ended, 1);
    T_EQ(copied, 0);
    T_EQ(signal, 0);
    return T_DONE();
}
