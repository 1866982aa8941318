/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: shmem_finalize ends although a stream gets to its operations
 * only while it runs or later, and the library may be started again.
 * PEs: 2
 * Ppn: 2/1
 * Timeout: 20 */
#include "st.h"

static void take_long(void *arg)
{
    (void)arg;
    usleep(200000);
}

int main(void)
{
    for (int r = 0; r < 2; r++) {
        static long word;
        shmemx_stream_t s;

        st_begin();
        word = 0;
        s = st_make();
        shmem_barrier_all();
        T_EQ(shmemx_long_p_on_stream(&word, 1, next, s), 0);
        T_EQ(shmemx_stream_sync(s), 0);
        T_EQ(shmemx_stream_call(s, take_long, NULL), 0);
        for (int i = 0; i < 5; i++)
            T_EQ(shmemx_long_atomic_inc_on_stream(&word, next, s), 0);
        shmem_finalize();
    }
    return T_DONE();
}
