/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a wait stops its stream alone; quiet on another stream and the
 * host's quiet do not wait for what is behind it.
 * PEs: 1 2
 * Ppn: 2/1
 * Timeout: 20 */
#include "st.h"

enum { N = 50000 };

T(a_stream_that_waits_stops_no_other)
{
    static long data[N], here[N], in[2], got;
    shmemx_stream_t stopped = st_make(), free_ = st_make();
    uint64_t *start_flag = st_start_flag(stopped);

    shmem_barrier_all();
    for (int i = 0; i < N; i++)
        here[i] = 100 * me + i;
    T_EQ(shmemx_long_p_on_stream(&in[0], 5, next, stopped), 0);
    T_EQ(shmemx_quiet_on_stream(stopped), 0);
    T_EQ(shmemx_long_put_nbi_on_stream(data, here, N, next, free_), 0);
    T_EQ(shmemx_quiet_on_stream(free_), 0);
    T_EQ(shmemx_long_p_on_stream(&in[1], 6, next, free_), 0);
    T_EQ(shmemx_long_g_on_stream(&got, &data[N - 1], next, free_), 0);
    T_EQ(shmemx_quiet_on_stream(free_), 0);
    T_EQ(shmemx_stream_sync(free_), 0);
    T_EQ(got, 100 * me + N - 1);
    shmem_quiet();
    shmem_barrier_all();
    T_EQ(in[0], 0);
    T_EQ(in[1], 6);
    for (int i = 0; i < N; i += 37)
        T_EQ(data[i], 100 * prev + i);
    T_EQ(shmemx_stream_query(stopped), -EAGAIN);
    T_EQ(shmemx_stream_query(free_), 0);
    shmem_barrier_all();
    st_open(start_flag);
    T_EQ(shmemx_stream_sync(stopped), 0);
    shmem_barrier_all();
    T_EQ(in[0], 5);
    shmem_barrier_all();
    in[0] = in[1] = 0;
    memset(data, 0, sizeof data);
    T_EQ(shmemx_stream_destroy(stopped), 0);
    T_EQ(shmemx_stream_destroy(free_), 0);
    shmem_free(start_flag);
}

int main(void)
{
    st_begin();
    for (int i = 0; i < 5; i++)
        T_RUN(a_stream_that_waits_stops_no_other);
    return st_end();
}
