/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a fence keeps the order of what two engines do: the progress
 * thread what the NIC had no room for, and the NIC what comes after that.
 * PEs: 2
 * Ppn: 2/1 */
#include "st.h"

enum { N = 1 << 19, ROUNDS = 12, ALL = 40 };
static long in[N], out[N], word[ALL];
static uint64_t sig;

/* So much is armed that there is room for no more. */
static uint64_t *fill(shmemx_stream_t s)
{
    uint64_t *start_flag = st_start_flag(s);

    for (int i = 0; i < ALL; i++)
        T_EQ(shmemx_long_p_on_stream(&word[i], 1, next, s), 0);
    return start_flag;
}

T(a_signal_behind_a_fence_follows_what_was_before)
{
    shmemx_stream_t s = st_make(), other = st_make();
    int late = 0;

    for (uint64_t r = 1; r <= ROUNDS; r++) {
        uint64_t *room = fill(other), *start_flag = st_start_flag(s);

        for (int i = 0; i < N; i++)
            out[i] = (long)r;
        shmem_barrier_all();
        T_EQ(shmemx_long_put_nbi_on_stream(in, out, N, next, s), 0);
        T_EQ(shmemx_fence_on_stream(s), 0);
        st_open(room);
        T_EQ(shmemx_quiet_on_stream(other), 0);
        T_EQ(shmemx_stream_sync(other), 0);
        T_EQ(shmemx_signal_set_on_stream(&sig, r, next, s), 0);
        st_open(start_flag);
        shmem_signal_wait_until(&sig, SHMEM_CMP_GE, r);
        late += in[N - 1] != (long)r;
        T_EQ(shmemx_quiet_on_stream(s), 0);
        T_EQ(shmemx_stream_sync(s), 0);
        shmem_barrier_all();
        shmem_free(room);
        shmem_free(start_flag);
    }
    T_EQ(late, 0);
    T_EQ(shmemx_stream_destroy(s), 0);
    T_EQ(shmemx_stream_destroy(other), 0);
}

int main(void)
{
    st_begin();
    T_RUN(a_signal_behind_a_fence_follows_what_was_before);
    return st_end();
}
