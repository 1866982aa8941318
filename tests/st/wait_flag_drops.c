/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a wait of a stream that was satisfied has ended, although the
 * signal drops before the stream's thread wakes: the stream does what follows.
 * PEs: 1
 * Env: SHMEM_DEVICE=software */
#include "st.h"

enum { STREAMS = 8, ROUNDS = 100 };

static uint64_t signal_;

static void pause_ms(void *ms)
{
    usleep(1000 * *(unsigned *)ms);
}

T(a_wait_ends_although_its_signal_drops)
{
    static unsigned ms = 2;
    static char bytes[STREAMS];
    shmemx_stream_t waiting[STREAMS], storing = st_make();

    signal_ = 0;
    memset(bytes, 0, sizeof bytes);
    for (int i = 0; i < STREAMS; i++) {
        waiting[i] = st_make();
        T_EQ(shmemx_signal_wait_until_on_stream(NULL, &signal_, SHMEM_CMP_GE,
                                                1, waiting[i]), 0);
        T_EQ(shmemx_stream_fill(waiting[i], &bytes[i], 7, 1), 0);
    }
    /* Now the waiting threads sleep. */
    T_EQ(shmemx_stream_call(storing, pause_ms, &ms), 0);
    T_EQ(shmemx_signal_set_on_stream(&signal_, 1, 0, storing), 0);
    T_EQ(shmemx_signal_set_on_stream(&signal_, 0, 0, storing), 0);
    T_EQ(shmemx_stream_call(storing, pause_ms, &ms), 0);
    T_EQ(shmemx_signal_set_on_stream(&signal_, 1, 0, storing), 0);
    T_EQ(shmemx_stream_sync(storing), 0);
    for (int i = 0; i < STREAMS; i++) {
        T_EQ(shmemx_stream_sync(waiting[i]), 0);
        T_EQ(bytes[i], 7);
        T_EQ(shmemx_stream_destroy(waiting[i]), 0);
    }
    T_EQ(shmemx_stream_destroy(storing), 0);
}

int main(void)
{
    st_begin();
    for (int i = 0; i < ROUNDS; i++)
        T_RUN(a_wait_ends_although_its_signal_drops);
    return st_end();
}
