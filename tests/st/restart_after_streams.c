/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: the library may be started again after streams were used, also
 * where some had work left, and ends at once each time.
 * PEs: 1 2
 * Ppn: 2/1
 * Timeout: 30 */
#include "st.h"

enum { ROUNDS = 12 };

int main(void)
{
    for (int r = 0; r < ROUNDS; r++) {
        static long in;
        shmemx_stream_t s, left;
        uint64_t *start_flag;

        st_begin();
        in = 0;
        s = st_make();
        left = st_make();
        start_flag = st_start_flag(left);
        shmem_barrier_all();
        if (r & 1)
            T_EQ(shmemx_long_p_on_stream(&in, -1, next, left), 0);
        T_EQ(shmemx_long_p_on_stream(&in, r + 1, next, s), 0);
        T_EQ(shmemx_quiet_on_stream(s), 0);
        T_EQ(shmemx_stream_sync(s), 0);
        shmem_barrier_all();
        T_EQ(in, r + 1);
        T_EQ(*start_flag, 0);
        shmem_finalize();
    }
    return T_DONE();
}
