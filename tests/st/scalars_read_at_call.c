/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: numbers are taken at the call: what the program does with its
 * variables afterwards changes nothing, and results go to host or device
 * memory.
 * PEs: 1 2
 * Ppn: 2/1 */
#include "st.h"

T(the_call_has_taken_what_it_needs)
{
    static long in[4], src[2] = { 7, 8 }, out[2];
    static int small[2];
    static long double wide;
    static uint64_t sig[2];
    shmemx_stream_t s = st_make();
    uint64_t *start_flag = st_start_flag(s), add = 3, cmp = 3;
    long *there = st_room(true, 2 * sizeof *there), v = 5, cond = 0, seen[2];
    long double w = 2.5L;
    int pes[] = { next }, k = 11;
    size_t n = 1, stride = 1;

    shmem_barrier_all();
    T_EQ(shmemx_long_p_on_stream(&in[0], v, next, s), 0);
    T_EQ(shmemx_longdouble_p_on_stream(&wide, w, next, s), 0);
    T_EQ(shmemx_int_atomic_add_on_stream(&small[0], k, next, s), 0);
    T_EQ(shmemx_long_put_on_stream(&in[1], src, n, next, s), 0);
    T_EQ(shmemx_long_iput_on_stream(&in[2], src, (ptrdiff_t)stride, 1, n,
                                    next, s), 0);
    T_EQ(shmemx_long_atomic_compare_swap_on_stream(there, &in[3], cond, v,
                                                   next, s), 0);
    T_EQ(shmemx_long_atomic_fetch_on_stream(there + 1, &in[3], next, s), 0);
    T_EQ(shmemx_signal_add_on_stream(&sig[0], add, next, s), 0);
    T_EQ(shmemx_signal_wait_until_on_stream(NULL, &sig[0], SHMEM_CMP_EQ, cmp,
                                            s), 0);
    T_EQ(shmemx_pe_quiet_on_stream(pes, 1, s), 0);
    v = cond = 99;
    w = -1;
    k = pes[0] = 77;
    n = 2;
    stride = 9;
    add = cmp = 44;
    shmem_barrier_all();
    st_open(start_flag);
    T_EQ(shmemx_stream_copy(s, seen, there, sizeof seen), 0);
    T_EQ(shmemx_stream_sync(s), 0);
    shmem_barrier_all();
    T_EQ(in[0], 5);
    T_TRUE(wide == 2.5L);
    T_EQ(small[0], 11);
    T_EQ(in[1], 7);
    T_EQ(in[2], 7);
    T_EQ(in[3], 5);
    T_EQ(seen[0], 0);
    T_EQ(seen[1], 5);
    T_EQ(sig[0], 3);
    T_EQ(out[0] + small[1] + v + cond + k + (long)(n + stride + add + cmp),
         99 + 99 + 77 + 11 + 88);
    T_TRUE(w == -1);
    shmem_barrier_all();
    T_EQ(shmemx_stream_destroy(s), 0);
    shmem_free(start_flag);
    shmem_free(there);
}

int main(void)
{
    st_begin();
    T_RUN(the_call_has_taken_what_it_needs);
    return st_end();
}
