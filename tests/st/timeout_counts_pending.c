/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: only while something is under way does SHMEM_TIMEOUT count, also
 * where a stream waited long before for what the NIC did.
 * Light: it sleeps
 * PEs: 2
 * Ppn: 2/1
 * Env: SHMEM_STALL=1 SHMEM_TIMEOUT=2
 * Timeout: 20 */
#include "st.h"
#include <signal.h>

enum { N = 1 << 13 };
static long in[N], out[N], word, pid;
static shmemx_stream_t s;

static void stop(pid_t peer)
{
    T_EQ(kill(peer, SIGSTOP), 0);
    usleep(20000);              /* until it has */
}

/* What was enqueued lasts as long as the peer is stopped. */
static void end_late(pid_t peer)
{
    usleep(500000);
    kill(peer, SIGCONT);
    T_EQ(shmemx_stream_sync(s), 0);
}

static void wait_twice(pid_t peer)
{
    T_EQ(shmemx_long_iput_on_stream(in, out, 1, 1, 4, next, s), 0);
    T_EQ(shmemx_stream_sync(s), 0);
    stop(peer);
    T_EQ(shmemx_long_p_on_stream(&word, 1, next, s), 0);
    T_EQ(shmemx_quiet_on_stream(s), 0);
    end_late(peer);
    sleep(3);
    stop(peer);
    T_EQ(shmemx_long_get_on_stream(out, in, N, next, s), 0);
    end_late(peer);
}

T(time_in_which_nothing_was_under_way_does_not_count)
{
    s = st_make();
    pid = getpid();
    shmem_barrier_all();
    if (me == 0 && !shmem_ptr(&word, next))
        wait_twice((pid_t)shmem_long_g(&pid, next));
    shmem_barrier_all();
    T_EQ(shmemx_stream_destroy(s), 0);
}

int main(void)
{
    st_begin();
    T_RUN(time_in_which_nothing_was_under_way_does_not_count);
    return st_end();
}
