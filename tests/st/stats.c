/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: with SHMEM_STATS each PE says at finalize what its streams did.
 * PEs: 2
 * Env: SHMEM_STATS=1 SHMEM_DEVICE=software
 * Expect: ^sluice: PE 0 \([^ ]*\): streams: 13 operations by the device, 0 posted, 0 triggered, 0 completed, 0 by the NIC, 0 declined, 0 failed; 1 start, 1 wait; at most 0 posted in a ring, 1 ring, 0 entries
 * Expect: ^sluice: PE 1 \([^ ]*\): streams: 13 operations by the device
 * Timeout: 30 */
#include "st.h"

enum { PUTS = 10, STAGED = 3, N = 3 };   /* words alone are atomics of a NIC */

int main(void)
{
    static long out[N];
    long *in;
    shmemx_queue_t q;
    shmemx_stream_t s;
    uint64_t *start_flag;

    st_begin();
    s = st_make();
    in = st_room(false, sizeof *in * N);
    T_EQ(shmemx_queue_create(s, NULL, 0, &q), 0);
    start_flag = st_start_flag(s);
    for (int i = 0; i < PUTS; i++)
        T_EQ(shmemx_long_put_nbi_on_stream(in, out, N, next, s), 0);
    T_EQ(shmemx_quiet_on_stream(s), 0);
    for (int i = 0; i < STAGED; i++)
        T_EQ(shmemx_enqueue_putmem(q, in, out, sizeof out, next, NULL), 0);
    T_EQ(shmemx_enqueue_start(q), 0);
    T_EQ(shmemx_enqueue_wait(q), 0);
    st_open(start_flag);
    T_EQ(shmemx_stream_sync(s), 0);
    T_EQ(shmemx_queue_wait(q), 0);
    T_EQ(shmemx_queue_destroy(q), 0);
    T_EQ(shmemx_stream_destroy(s), 0);
    shmem_barrier_all();
    shmem_free(start_flag);
    shmem_free(in);
    return st_end();
}
