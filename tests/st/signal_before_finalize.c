/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a signal that its stream has reached comes, though the progress
 * thread is late and the program finalizes at once.
 * PEs: 2
 * Ppn: 2/1
 * Timeout: 20
 * Env: SHMEM_FAULT=stream_progress:0.95:1 */
#include "st.h"

static uint64_t word;

int main(void)
{
    shmemx_stream_t s;
    st_begin();
    s = st_make();

    T_EQ(shmemx_signal_add_on_stream(&word, 1, next, s), 0);
    T_EQ(shmemx_stream_sync(s), 0);
    if (me == 0)
        return st_end();
    shmem_signal_wait_until(&word, SHMEM_CMP_GE, 1);
    return st_end();
}
