#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: with many seconds in SHMEM_STALL, where the watchdog looks seldom,
# a stream's wait is reported also while another thread waits in a call: each
# searches for the PE that it waits for.
# Light: it waits for what SHMEM_STALL says
# Timeout: 60
set -u
. "$(dirname "$0")/../neg/neg.inc"
most=50

program both <<'C'
#include <shmemx_st.h>
int main(void)
{
    static uint64_t far, got;
    static long word;
    shmemx_stream_t s;
    int rc;

    shmem_init();
    rc = shmemx_stream_create(&s);
    shmem_barrier_all();
    if (shmem_my_pe() == 0) {
        rc |= shmemx_signal_wait_until_on_stream(&got, &far, SHMEM_CMP_NE, 0,
                                                 s);
        shmem_long_wait_until(&word, SHMEM_CMP_NE, 0);
    } else {
        usleep(16000000);
        shmem_uint64_p(&far, 1, 0);
        shmem_long_p(&word, 1, 0);
    }
    rc |= shmemx_stream_sync(s);
    shmem_finalize();
    return rc != 0;
}
C

SHMEM_STALL=10 SHMEM_DEVICE=software try 2 --ppn 1 ./both
ended 0 'two waits'
for call in 'stream 0x[0-9a-f]+: shmemx_signal_wait_until_on_stream' \
    shmem_long_wait_until; do
    grep -qE "^sluice: PE 0 \\([^ ]+\\): $call waits for 1[0-9] s .* \\[S-W-STALL\\]" \
        "$err" || fail "no line of $call: $(cat "$err")"
done
finish 'two waits of a PE'
