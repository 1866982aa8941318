/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a stream whose handle was another one's, on a driver that has no
 * other name for streams, has a queue of its own
 * (tests/st/stream_handle_reused runs this so).
 * PEs: 2
 * Ppn: 2/1 */
#include "st.h"

static long in;

static void put(shmemx_stream_t s, long value)
{
    static long out;

    out = value;
    T_EQ(shmemx_long_put_on_stream(&in, &out, 1, next, s), 0);
    T_EQ(shmemx_quiet_on_stream(s), 0);
    T_EQ(shmemx_stream_sync(s), 0);
    shmem_barrier_all();
    T_EQ(in, value);
    shmem_barrier_all();
}

T(the_handle_of_one_that_is_gone_serves_another)
{
    shmemx_stream_t other = st_make(), first = st_make(), second;
    shmemx_queue_t q;

    put(first, 1);
    T_EQ(shmemx_stream_destroy(first), 0);
    T_EQ(shmemx_queue_create(other, NULL, 0, &q), 0);   /* first's goes */
    second = st_make();
    if (getenv("FAKE_DEVICE_AGAIN"))
        T_EQ(second, first);
    put(second, 2);
    T_EQ(shmemx_queue_destroy(q), 0);
    put(second, 3);
    T_EQ(shmemx_stream_destroy(second), 0);
    T_EQ(shmemx_stream_destroy(other), 0);
}

int main(void)
{
    st_begin();
    T_RUN(the_handle_of_one_that_is_gone_serves_another);
    return st_end();
}
