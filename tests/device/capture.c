/* SPDX-License-Identifier: BSD-3-Clause */
/* While a stream records a graph, no operation gets into it unseen; see
 * capture.sh. */
#include "device.h"
#include <dlfcn.h>
#include <errno.h>
#include <shmemx_st.h>

int main(void)
{
    static long word, flag;
    int (*begin)(void *, int), (*end)(void *, void **);
    long *there, got, count = 0;
    shmemx_queue_t q;
    shmemx_stream_t s;
    void *driver, *graph;

    device_begin(SHMEM_THREAD_SINGLE);
    driver = dlopen("libcuda.so.1", RTLD_NOW);
    T_TRUE(driver != NULL);
    *(void **)&begin = dlsym(driver, "cuStreamBeginCapture_v2");
    *(void **)&end = dlsym(driver, "cuStreamEndCapture");
    there = room_make(DEVICE, sizeof *there);
    store_word(there, 0, sizeof *there);
    T_EQ(shmemx_stream_create(&s), 0);
    shmem_barrier_all();
    /* The queue is there before, as it would be in a program. */
    T_EQ(shmemx_long_p_on_stream(&word, 1, next, s), 0);
    T_EQ(shmemx_quiet_on_stream(s), 0);
    T_EQ(shmemx_stream_sync(s), 0);
    T_EQ(shmemx_queue_create(s, NULL, 0, &q), 0);
    T_EQ(shmemx_enqueue_atomic_add_int64(q, there, 10, next, NULL), 0);
    T_EQ(begin(s, 0), 0);
    T_EQ(shmemx_enqueue_start(q), -ENOTSUP);
    T_EQ(shmemx_long_p_on_stream(&word, 2, next, s), -ENOTSUP);
    T_EQ(shmemx_long_put_on_stream(there, &word, 1, next, s), -ENOTSUP);
    T_EQ(shmemx_long_get_on_stream(&got, there, 1, next, s), -ENOTSUP);
    T_EQ(shmemx_long_atomic_inc_on_stream(there, next, s), -ENOTSUP);
    T_EQ(shmemx_signal_set_on_stream((uint64_t *)there, 3, next, s),
         -ENOTSUP);
    T_EQ(shmemx_long_wait_until_on_stream(&flag, SHMEM_CMP_EQ, 0, s),
         -ENOTSUP);
    T_EQ(shmemx_quiet_on_stream(s), -ENOTSUP);
    T_EQ(shmemx_barrier_all_on_stream(s), -ENOTSUP);
    T_EQ(end(s, &graph), 0);
    T_EQ(shmemx_long_atomic_inc_on_stream(there, next, s), 0);
    T_EQ(shmemx_quiet_on_stream(s), 0);
    /* What was put in before is done once, by the start that succeeds. */
    T_EQ(shmemx_enqueue_start(q), 0);
    T_EQ(shmemx_enqueue_wait(q), 0);
    T_EQ(shmemx_stream_sync(s), 0);
    T_EQ(shmemx_queue_destroy(q), 0);
    shmem_barrier_all();
    load(&count, there, sizeof count);
    T_EQ(count, 11);
    T_EQ(word, 1);
    T_EQ(shmemx_stream_destroy(s), 0);
    room_drop(DEVICE, there);
    return device_end();
}
