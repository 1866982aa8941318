/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a stream with armed operations ahead is not destroyed, one that
 * has run is; one that is gone is refused, and another that takes its place is not mistaken for it.
 * PEs: 2
 * Far: 2/1
 * Reject: were enqueued */
#include "st.h"

T(armed_work_keeps_a_stream)
{
    static long in;
    shmemx_stream_t s = st_make();
    uint64_t *gate = st_gate(s);
    bool armed = !shmem_ptr(&in, next);

    shmem_barrier_all();
    T_EQ(shmemx_long_p_on_stream(&in, 4, next, s), 0);
    if (armed)
        T_EQ(shmemx_stream_destroy(s), -EBUSY);
    T_EQ(shmemx_quiet_on_stream(s), 0);
    st_open(gate);
    T_EQ(shmemx_stream_sync(s), 0);
    T_EQ(shmemx_stream_destroy(s), 0);
    T_EQ(shmemx_stream_destroy(s), -EINVAL);
    T_EQ(shmemx_long_p_on_stream(&in, 9, next, s), -EINVAL);
    T_EQ(shmemx_long_wait_until_on_stream(&in, SHMEM_CMP_EQ, 9, s), -EINVAL);
    T_EQ(shmemx_stream_sync(s), -EINVAL);
    shmem_barrier_all();
    T_EQ(in, 4);
    shmem_barrier_all();
    in = 0;
    shmem_free(gate);
}

T(started_work_keeps_a_stream)
{
    static long in, out = 6;
    shmemx_stream_t s = st_make();
    uint64_t *gate = st_gate(s);
    bool armed = !shmem_ptr(&in, next);
    shmemx_queue_t q;

    T_EQ(shmemx_queue_create(s, NULL, 0, &q), 0);
    T_EQ(shmemx_enqueue_putmem(q, &in, &out, sizeof in, next, NULL), 0);
    T_EQ(shmemx_enqueue_start(q), 0);
    if (armed)
        T_EQ(shmemx_stream_destroy(s), -EBUSY);
    st_open(gate);
    T_EQ(shmemx_queue_wait(q), 0);
    T_EQ(shmemx_queue_destroy(q), 0);
    T_EQ(shmemx_stream_destroy(s), 0);
    shmem_barrier_all();
    T_EQ(in, 6);
    shmem_barrier_all();
    shmem_free(gate);
}

/* A step that only begins something is past before that has ended. */
T(a_stream_that_has_run_is_destroyed)
{
    enum { N = 1 << 17 };
    static long in[N], out[N];

    for (int i = 0; i < 5; i++) {
        shmemx_stream_t s = st_make();

        T_EQ(shmemx_long_put_nbi_on_stream(in, out, N, next, s), 0);
        T_EQ(shmemx_stream_sync(s), 0);
        T_EQ(shmemx_stream_destroy(s), 0);
    }
    shmem_barrier_all();
}

/* More streams in all than there are queues at a time. */
T(queues_of_streams_that_are_gone_serve_others)
{
    static long in[5000];

    memset(in, 0, sizeof in);
    shmem_barrier_all();
    for (int i = 0; i < 5000; i++) {
        shmemx_stream_t s = st_make();

        T_EQ(shmemx_long_p_on_stream(&in[i], i + 1, next, s), 0);
        T_EQ(shmemx_quiet_on_stream(s), 0);
        T_EQ(shmemx_stream_sync(s), 0);
        T_EQ(shmemx_stream_destroy(s), 0);
    }
    shmem_barrier_all();
    for (int i = 0; i < 5000; i++)
        T_EQ(in[i], i + 1);
}

int main(void)
{
    st_begin();
    T_RUN(armed_work_keeps_a_stream);
    T_RUN(started_work_keeps_a_stream);
    T_RUN(a_stream_that_has_run_is_destroyed);
    T_RUN(queues_of_streams_that_are_gone_serve_others);
    return st_end();
}
