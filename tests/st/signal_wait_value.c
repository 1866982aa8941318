/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: the value that a stream's wait for a signal stores satisfies the
 * comparison, although the signal changes all the time.  Of the comparisons
 * that no device makes itself.
 * PEs: 1
 * Env: SHMEM_DEVICE=software */
#include "st.h"

enum { WAITS = 500, ROUNDS = 10 };
static uint64_t signal_, values[WAITS];

T(the_value_satisfies_the_comparison)
{
    shmemx_stream_t s = st_make();
    int wrong = 0;

    for (int i = 0; i < WAITS; i++)
        T_EQ(shmemx_signal_wait_until_on_stream(&values[i], &signal_,
                                                SHMEM_CMP_NE, 0, s), 0);
    while (shmemx_stream_query(s) == -EAGAIN)
        for (int i = 0; i < 100; i++)
            shmem_signal_set(&signal_, i % 2 == 0, me);
    T_EQ(shmemx_stream_sync(s), 0);
    for (int i = 0; i < WAITS; i++)
        wrong += values[i] != 1;
    T_EQ(wrong, 0);
    T_EQ(shmemx_stream_destroy(s), 0);
}

int main(void)
{
    st_begin();
    for (int i = 0; i < ROUNDS; i++)
        T_RUN(the_value_satisfies_the_comparison);
    return st_end();
}
