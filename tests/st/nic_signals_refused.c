/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: puts whose signals the NIC refuses go by a thread, and take none
 * of the NIC's counters with them: later puts with signals are the NIC's.
 * PEs: 2
 * Ppn: 2/1
 * Env: SHMEM_OFI_PROVIDER=cxi FI_PROVIDER_PATH=$BUILD/obj/tests/fake/cxi
 * Env: FAKE_CXI_REFUSE=1 FAKE_CXI_ERRORS_COUNT=0 SHMEM_STATS=1
 * Expect: PE 0 .*: streams: (220 operations by the device|.* 20 by the NIC), */
#include "st.h"

/* More than a PE has counters for signals. */
enum { REFUSED = 200, MORE = 20 };

static long to[REFUSED], from[REFUSED];
static uint64_t sig[REFUSED], sum;

T(refused_signals_leave_the_counters)
{
    shmemx_stream_t s = st_make();

    for (int i = 0; i < REFUSED && me == 0; i++) {
        from[i] = 1000 + i;
        T_EQ(shmemx_long_put_signal_on_stream(&to[i], &from[i], 1, &sig[i],
                                              7, SHMEM_SIGNAL_SET, next, s), 0);
    }
    T_EQ(shmemx_quiet_on_stream(s), 0);
    T_EQ(shmemx_stream_sync(s), 0);
    shmem_barrier_all();
    for (int i = 0; i < REFUSED && me == 1; i++) {
        T_EQ(to[i], 1000 + i);
        T_EQ(sig[i], 7);
    }
    shmem_barrier_all();
    T_EQ(shmemx_stream_destroy(s), 0);
}

T(later_signals_are_the_nics)
{
    shmemx_stream_t s = st_make();

    for (int i = 0; i < MORE && me == 0; i++) {
        from[i] = 2000 + i;
        T_EQ(shmemx_long_put_signal_on_stream(&to[i], &from[i], 1, &sum, 1,
                                              SHMEM_SIGNAL_ADD, next, s), 0);
    }
    T_EQ(shmemx_quiet_on_stream(s), 0);
    T_EQ(shmemx_stream_sync(s), 0);
    shmem_barrier_all();
    for (int i = 0; i < MORE && me == 1; i++)
        T_EQ(to[i], 2000 + i);
    T_EQ(sum, me == 1 ? MORE : 0);
    T_EQ(shmemx_stream_destroy(s), 0);
}

int main(void)
{
    st_begin();
    T_RUN(refused_signals_leave_the_counters);
    T_RUN(later_signals_are_the_nics);
    return st_end();
}
