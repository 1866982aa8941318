/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: 10,000 operations may be armed behind one wait; none blocks the
 * host, all are done, in order.
 * PEs: 1 2
 * Ppn: 2/1
 * Timeout: 30 */
#include "st.h"

enum { N = 10000 };

T(ten_thousand_wait_for_their_turn)
{
    static long in[N], count, was[N], last;
    static int small;
    shmemx_stream_t s = st_make();
    uint64_t *start_flag = st_start_flag(s);

    shmem_barrier_all();
    for (int i = 0; i < N; i++)
        switch (i % 4) {
        case 0:
            T_EQ(shmemx_long_p_on_stream(&in[i], i + 1, next, s), 0);
            break;
        case 1:
            T_EQ(shmemx_long_atomic_fetch_inc_on_stream(&was[i], &count, next,
                                                        s), 0);
            break;
        case 2:
            /* Another way than the word of a device's own. */
            T_EQ(shmemx_int_wait_until_on_stream(&small, SHMEM_CMP_EQ, 0, s),
                 0);
            break;
        default:
            T_EQ(shmemx_long_p_on_stream(&last, i, next, s), 0);
            T_EQ(shmemx_fence_on_stream(s), 0);
        }
    T_EQ(shmemx_quiet_on_stream(s), 0);
    T_EQ(shmemx_stream_query(s), -EAGAIN);
    T_EQ(count, 0);
    shmem_barrier_all();
    st_open(start_flag);
    T_EQ(shmemx_stream_sync(s), 0);
    shmem_barrier_all();
    T_EQ(last, N - 1);
    T_EQ(count, N / 4);
    for (int i = 0; i < N; i += 4)
        T_EQ(in[i], i + 1);
    for (int i = 1; i < N; i += 4)
        T_EQ(was[i], i / 4);
    shmem_barrier_all();
    memset(in, 0, sizeof in);
    count = last = 0;
    T_EQ(shmemx_stream_destroy(s), 0);
    shmem_free(start_flag);
}

int main(void)
{
    st_begin();
    T_RUN(ten_thousand_wait_for_their_turn);
    T_RUN(ten_thousand_wait_for_their_turn);
    return st_end();
}
