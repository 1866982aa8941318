/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: what a stream releases while the thread that looks for long
 * waits holds its queue is done all the same.
 * Light: most of its time it waits
 * PEs: 2
 * Launch: --ppn 1
 * Env: SHMEM_STALL=1 SHMEM_FAULT=stream_poll:1:1
 * Timeout: 60 */
#include "st.h"

#include <unistd.h>

enum { N = 4096, PUTS = 60 };

static long in[N], out[N];

/* The thread looks eight times in SHMEM_STALL seconds, 50 ms each. */
T(what_is_let_go_during_a_look_is_done)
{
    shmemx_stream_t s = st_make();
    bool ended = true;

    for (int i = 0; i < PUTS && ended; i++) {
        T_EQ(shmemx_long_put_nbi_on_stream(in, out, N, next, s), 0);
        T_EQ(shmemx_quiet_on_stream(s), 0);
        ended = st_ends(s);
        T_TRUE(ended);
        usleep(20000 + i % 7 * 3000);
    }
    shmem_barrier_all();
    T_EQ(shmemx_stream_destroy(s), 0);
}

int main(void)
{
    st_begin();
    T_RUN(what_is_let_go_during_a_look_is_done);
    return st_end();
}
