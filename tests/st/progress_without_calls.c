/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: what is enqueued advances while the host calls nothing.
 * PEs: 1 2
 * Ppn: 2/1
 * Timeout: 30 */
#include "st.h"
#include <unistd.h>

enum { ROUNDS = 50, N = 40000 };

static void notify(void *arg)
{
    __atomic_store_n((int *)arg, 1, __ATOMIC_RELEASE);
}

T(streams_play_by_themselves)
{
    static long in[N], back[N];
    static uint64_t sig;
    static int over;
    long *ball = calloc(N, sizeof *ball), sum = -1, *count;
    shmemx_stream_t s = st_make();

    count = st_room(false, sizeof *count);
    for (int i = 0; i < N; i++)
        ball[i] = me + i;
    shmem_barrier_all();
    for (int r = 1; r <= ROUNDS; r++) {
        T_EQ(shmemx_long_put_signal_nbi_on_stream(
                 in, ball, N, &sig, 1, SHMEM_SIGNAL_ADD, next, s), 0);
        T_EQ(shmemx_signal_wait_until_on_stream(NULL, &sig, SHMEM_CMP_GE,
                                                (uint64_t)r, s), 0);
        T_EQ(shmemx_long_atomic_inc_on_stream(count, 0, s), 0);
        T_EQ(shmemx_quiet_on_stream(s), 0);
    }
    T_EQ(shmemx_long_get_on_stream(back, in, N, next, s), 0);
    T_EQ(shmemx_long_atomic_fetch_on_stream(&sum, count, 0, s), 0);
    T_EQ(shmemx_stream_call(s, notify, &over), 0);
    /* From here on nothing but the kernel is called. */
    for (int i = 0; i < 4000; i++) {
        if (__atomic_load_n(&over, __ATOMIC_ACQUIRE))
            break;
        usleep(5000);
    }
    T_EQ(__atomic_load_n(&over, __ATOMIC_ACQUIRE), 1);
    T_EQ(shmemx_stream_query(s), 0);
    T_TRUE(sum >= ROUNDS && sum <= ROUNDS * n_pes);
    for (int i = 0; i < N; i += 31) {
        T_EQ(in[i], prev + i);
        T_EQ(back[i], me + i);
    }
    shmem_barrier_all();
    T_EQ(shmemx_stream_destroy(s), 0);
    shmem_free(count);
    free(ball);
}

int main(void)
{
    st_begin();
    T_RUN(streams_play_by_themselves);
    return st_end();
}
