/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: what is behind a wait that never ends is not done by
 * shmem_finalize, whatever the wait is for.
 * PEs: 1 2
 * Ppn: 2/1
 * Timeout: 20 */
#include "st.h"

int main(void)
{
    static long done, word[2000], one = 1;
    static int never;
    shmemx_stream_t s[2];

    st_begin();
    for (int k = 0; k < 2; k++) {
        s[k] = st_make();
        T_EQ(shmemx_int_wait_until_on_stream(&never, SHMEM_CMP_NE, 0, s[k]),
             0);
        T_EQ(shmemx_stream_copy(s[k], &done, &one, sizeof done), 0);
        for (int i = 0; i < 2000; i++)
            T_EQ(shmemx_long_p_on_stream(&word[i], 1, next, s[k]), 0);
        T_EQ(shmemx_stream_query(s[k]), -EAGAIN);
    }
    shmem_barrier_all();
    shmem_finalize();
    T_EQ(done, 0);
    return T_DONE();
}
