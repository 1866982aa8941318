/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a stream with communication ahead is not destroyed, one that has
 * run is; one that is gone is refused by all calls, and another that takes its
 * place is not mistaken for it; its queues go, with what was not started.
 * PEs: 2
 * Ppn: 2/1
 * Reject: were enqueued|were put into */
#include "st.h"

T(communication_ahead_keeps_a_stream)
{
    static long in;
    shmemx_stream_t s = st_make();
    uint64_t *start_flag = st_start_flag(s);

    shmem_barrier_all();
    T_EQ(shmemx_long_p_on_stream(&in, 4, next, s), 0);
    T_EQ(shmemx_stream_destroy(s), -EBUSY);
    T_EQ(shmemx_quiet_on_stream(s), 0);
    st_open(start_flag);
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
    shmem_free(start_flag);
}

T(a_started_queue_keeps_a_stream)
{
    static long in, out = 4;
    shmemx_stream_t s = st_make();
    uint64_t *start_flag = st_start_flag(s);
    shmemx_queue_t q;

    shmem_barrier_all();
    T_EQ(shmemx_queue_create(s, NULL, 0, &q), 0);
    T_EQ(shmemx_enqueue_putmem(q, &in, &out, sizeof in, next, NULL), 0);
    T_EQ(shmemx_enqueue_start(q), 0);
    T_EQ(shmemx_stream_destroy(s), -EBUSY);
    st_open(start_flag);
    T_EQ(shmemx_stream_sync(s), 0);
    T_EQ(shmemx_stream_destroy(s), 0);
    T_EQ(shmemx_queue_wait(q), 0);
    T_EQ(shmemx_queue_destroy(q), 0);
    shmem_barrier_all();
    T_EQ(in, 4);
    shmem_free(start_flag);
}

/* A large one, which waits for both ends. */
T(a_started_message_keeps_a_stream)
{
    static char in[65536], out[65536];
    shmemx_stream_t s = st_make();
    uint64_t *start_flag = st_start_flag(s);
    shmemx_req_t r[2];
    shmemx_queue_t q;

    memset(out, 6, sizeof out);
    T_EQ(shmemx_queue_create(s, NULL, 0, &q), 0);
    T_EQ(shmemx_recv_init(in, sizeof in, prev, 0, &r[0]), 0);
    T_EQ(shmemx_send_init(out, sizeof out, next, 0, &r[1]), 0);
    T_EQ(shmemx_matchall(2, r), 0);
    T_EQ(shmemx_enqueue_startall(q, 2, r), 0);
    T_EQ(shmemx_stream_destroy(s), -EBUSY);
    T_EQ(shmemx_enqueue_waitall(q, 2, r), 0);
    st_open(start_flag);
    T_EQ(shmemx_stream_sync(s), 0);
    T_EQ(in[0], 6);
    T_EQ(in[sizeof in - 1], 6);
    T_EQ(shmemx_req_free(&r[0]), 0);
    T_EQ(shmemx_req_free(&r[1]), 0);
    T_EQ(shmemx_queue_destroy(q), 0);
    T_EQ(shmemx_stream_destroy(s), 0);
    shmem_barrier_all();
    shmem_free(start_flag);
}

/* Also where nothing would be done. */
T(a_stream_that_is_gone_is_refused)
{
    static long in[4], out[4];
    shmemx_stream_t s = st_make();

    T_EQ(shmemx_stream_destroy(s), 0);
    T_EQ(shmemx_quiet_on_stream(s), -EINVAL);
    T_EQ(shmemx_fence_on_stream(s), -EINVAL);
    T_EQ(shmemx_ctx_quiet_on_stream(SHMEM_CTX_DEFAULT, s), -EINVAL);
    T_EQ(shmemx_pe_quiet_on_stream(&next, 1, s), -EINVAL);
    T_EQ(shmemx_long_put_on_stream(in, out, 0, next, s), -EINVAL);
    T_EQ(shmemx_long_get_on_stream(out, in, 0, next, s), -EINVAL);
    T_EQ(shmemx_long_iput_on_stream(in, out, 1, 1, 0, next, s), -EINVAL);
    T_EQ(shmemx_barrier_all_on_stream(s), -EINVAL);
    T_EQ(shmemx_sync_all_on_stream(s), -EINVAL);
    T_EQ(shmemx_stream_copy(s, NULL, NULL, 0), -EINVAL);
    T_EQ(shmemx_stream_fill(s, NULL, 0, 0), -EINVAL);
    shmem_barrier_all();
}

T(a_queue_goes_after_its_stream)
{
    static long in, out;
    shmemx_stream_t s = st_make();
    shmemx_queue_t q;
    shmemx_req_t r;

    T_EQ(shmemx_queue_create(s, NULL, 0, &q), 0);
    T_EQ(shmemx_enqueue_putmem(q, &in, &out, sizeof in, next, &r), 0);
    T_EQ(shmemx_enqueue_putmem(q, &in, &out, sizeof in, next, NULL), 0);
    T_EQ(shmemx_queue_destroy(q), -EBUSY);
    T_EQ(shmemx_stream_destroy(s), 0);
    T_EQ(shmemx_enqueue_putmem(q, &in, &out, sizeof in, next, NULL), -EINVAL);
    T_EQ(shmemx_enqueue_start(q), -EINVAL);
    T_EQ(shmemx_enqueue_wait(q), -EINVAL);
    T_EQ(shmemx_enqueue_startall(q, 0, NULL), -EINVAL);
    T_EQ(shmemx_enqueue_waitall(q, 0, NULL), -EINVAL);
    T_EQ(shmemx_queue_wait(q), 0);
    T_EQ(shmemx_queue_destroy(q), 0);
    T_EQ(shmemx_req_free(&r), 0);
    shmem_barrier_all();
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

static void nothing(void *arg)
{
    (void)arg;
}

/* The thread of the one before may not have come to its end. */
T(a_new_stream_has_nothing_to_do)
{
    enum { STREAMS = 20000 };
    long busy = 0;

    for (int i = 0; i < STREAMS; i++) {
        shmemx_stream_t s = st_make();

        busy += shmemx_stream_query(s) != 0;
        T_EQ(shmemx_stream_call(s, nothing, NULL), 0);
        T_EQ(shmemx_stream_sync(s), 0);
        T_EQ(shmemx_stream_destroy(s), 0);
    }
    T_EQ(busy, 0);
}

int main(void)
{
    st_begin();
    T_RUN(communication_ahead_keeps_a_stream);
    T_RUN(a_started_queue_keeps_a_stream);
    T_RUN(a_started_message_keeps_a_stream);
    T_RUN(a_stream_that_is_gone_is_refused);
    T_RUN(a_queue_goes_after_its_stream);
    T_RUN(a_stream_that_has_run_is_destroyed);
    T_RUN(queues_of_streams_that_are_gone_serve_others);
    T_RUN(a_new_stream_has_nothing_to_do);
    return st_end();
}
