/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: what a NIC or the device can do takes no thread of the library:
 * it is done while the progress thread polls nothing (tests/st/nic runs
 * this so).
 * PEs: 1 2
 * Ppn: 2/1 */
#include "st.h"

enum { ROUNDS = 60, N = 100 };

T(operations_end_without_the_progress_thread)
{
    static long in[N], out[N], back[N], was, count;
    static uint64_t sig;
    shmemx_stream_t s = st_make();

    memset(in, 0, sizeof in);
    sig = 0;
    count = 0;
    shmem_barrier_all();
    for (int r = 1; r <= ROUNDS; r++) {
        for (int i = 0; i < N; i++)
            out[i] = r * 1000 + i;
        T_EQ(shmemx_long_put_signal_on_stream(in, out, N, &sig, 1,
                                              SHMEM_SIGNAL_ADD, next, s), 0);
        T_EQ(shmemx_long_atomic_fetch_add_on_stream(&was, &count, 1, next, s),
             0);
        T_EQ(shmemx_quiet_on_stream(s), 0);
        T_EQ(shmemx_long_get_on_stream(back, in, N, next, s), 0);
        T_EQ(shmemx_stream_sync(s), 0);
        T_EQ(was, r - 1);
        for (int i = 0; i < N; i++)
            T_EQ(back[i], r * 1000 + i);
    }
    shmem_signal_wait_until(&sig, SHMEM_CMP_EQ, ROUNDS);
    T_EQ(in[N - 1], ROUNDS * 1000 + N - 1);
    shmem_barrier_all();
    T_EQ(shmemx_stream_destroy(s), 0);
}

/* Of each kind: ready, eager, and those that wait for both ends. */
T(messages_arrive_without_the_progress_thread)
{
    static char in[3][65536], out[3][65536];
    const size_t bytes[] = { sizeof in[0], 64, sizeof in[0] };
    shmemx_stream_t s = st_make();
    shmemx_req_t r[6];
    shmemx_queue_t q;

    T_EQ(shmemx_queue_create(s, NULL, 0, &q), 0);
    for (int i = 0; i < 3; i++) {
        T_EQ(shmemx_recv_init(in[i], bytes[i], prev, i, &r[i]), 0);
        T_EQ((i ? shmemx_send_init : shmemx_rsend_init)(
                 out[i], bytes[i], next, i, &r[3 + i]), 0);
    }
    T_EQ(shmemx_matchall(6, r), 0);
    for (int k = 1; k <= ROUNDS; k++) {
        for (int i = 0; i < 3; i++)
            memset(out[i], k + i + me, bytes[i]);
        T_EQ(shmemx_enqueue_startall(q, 3, r), 0);
        T_EQ(shmemx_stream_sync(s), 0);
        shmem_barrier_all();
        T_EQ(shmemx_enqueue_startall(q, 3, &r[3]), 0);
        T_EQ(shmemx_enqueue_waitall(q, 6, r), 0);
        T_EQ(shmemx_stream_sync(s), 0);
        for (int i = 0; i < 3; i++) {
            T_EQ(in[i][0], (char)(k + i + prev));
            T_EQ(in[i][bytes[i] - 1], (char)(k + i + prev));
        }
    }
    for (int i = 0; i < 6; i++)
        T_EQ(shmemx_req_free(&r[i]), 0);
    shmem_barrier_all();
    T_EQ(shmemx_queue_destroy(q), 0);
    T_EQ(shmemx_stream_destroy(s), 0);
}

int main(void)
{
    st_begin();
    T_RUN(operations_end_without_the_progress_thread);
    T_RUN(messages_arrive_without_the_progress_thread);
    return st_end();
}
