/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: shmem_finalize ends although a stream waits for what never
 * comes, and says how many operations sit behind that.
 * PEs: 2
 * Launch: --ppn 1
 * Timeout: 20
 * Expect: 30 operations were enqueued .*\[S-W-STREAM\] */
#include "st.h"

int main(void)
{
    static long word[30];
    shmemx_stream_t s;
    uint64_t *start_flag;

    st_begin();
    s = st_make();
    start_flag = st_start_flag(s);
    for (int i = 0; i < 30; i++)
        T_EQ(shmemx_long_p_on_stream(&word[i], 1, next, s), 0);
    T_EQ(shmemx_stream_query(s), -EAGAIN);
    shmem_barrier_all();
    T_EQ(*start_flag, 0);
    return st_end();
}
