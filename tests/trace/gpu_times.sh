#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: a trace has what a GPU does in its streams, with the device's times,
# a row for each stream: on the stand-ins of CUDA and HIP; nothing of a graph that
# is recorded; and the program's results stay.
# Timeout: 120
. "$(dirname "$0")/trace.inc"

program traced <<'C'
#include <shmemx_st.h>
enum { N = 4096 };

int main(void)
{
    shmemx_stream_t a, b;
    uint64_t *flag, one = 1, *host;
    long *data;
    int me, n;

    shmem_init();
    me = shmem_my_pe();
    n = shmem_n_pes();
    data = shmem_space_calloc(SHMEM_SPACE_DEVICE, 2 * N, sizeof *data);
    flag = shmem_calloc(2, sizeof *flag);
    host = shmem_malloc(N * sizeof *host);
    if (!data || !flag || !host || shmemx_stream_create(&a) ||
        shmemx_stream_create(&b))
        return 1;
    shmem_barrier_all();
    /* b waits for what a stores 0.3 s later. */
    shmemx_signal_wait_until_on_stream(NULL, flag, SHMEM_CMP_GE, 1, b);
    shmemx_stream_copy(b, host, data + N, N * sizeof *host);
    usleep(300000);
    shmemx_stream_fill(a, data, 0x11, N * sizeof *data);
    shmemx_long_put_on_stream(data + N, data, N, me, a);
    shmemx_ulong_atomic_set_on_stream((unsigned long *)flag, one, me, a);
    shmemx_stream_sync(a);
    shmemx_stream_sync(b);
    for (int i = 0; i < N; i++)
        if (host[i] != 0x1111111111111111)
            printf("PE %d of %d: wrong\n", me, n);
    shmemx_stream_destroy(a);
    shmemx_stream_destroy(b);
    shmem_finalize();
    return 0;
}
C

for vendor in cuda hip; do
    export SHMEM_DEVICE=$vendor FAKE_DEVICE_COUNT=2 FAKE_DEVICE=discrete
    LD_LIBRARY_PATH="$BUILD/obj/tests/fake/$vendor:$BUILD/obj/tests/fake/nvrtc:$BUILD/obj/tests/fake/hiprtc"
    export LD_LIBRARY_PATH
    rm -f t.json*
    try 2 ./traced
    [ $status -eq 0 ] && [ ! -s "$out" ] ||
        fail "$vendor: status $status: $(cat "$out" "$err")"
    [ -s t.json ] || { fail "$vendor: no trace: $(cat "$err")"; continue; }
    well_formed
    steps='[$e[] | select(.ph == "X" and .cat == "stream")]'
    for name in copy fill wait; do
        has $name '.cat == "stream" and .dur >= 0'
    done
    # Both streams of both PEs have rows, which bear the streams' names.
    holds 'rows' "($steps | map([.pid, .tid]) | unique) as \$rows
        | ([\$e[] | select(.ph == \"M\" and .name == \"thread_name\" and
            (.args.name | startswith(\"stream \"))) | [.pid, .tid]]) as \$named
        | (\$rows | length) >= 4 and (\$rows - \$named | length) == 0"
    # What waited, waited, and a stream does one thing at a time.
    holds 'the wait' "any(${steps}[]; .name == \"wait\" and .dur > 200000)"
    holds 'order' "all($steps | group_by([.pid, .tid])[]; sort_by(.ts) as \$s
        | all(range(1; \$s | length); \$s[.].ts + 2 >= \$s[. - 1].ts + \$s[. - 1].dur))"
    # On the clock of the host: the wait ended between the call of the store that
    # it was for and the end of the host's wait for the stream.
    holds 'clocks' "all(${steps}[] | select(.name == \"wait\" and .dur > 200000); . as \$w
        | (\$e | map(select(.pid == \$w.pid and .name == \"shmemx_ulong_atomic_set_on_stream\").ts) | min) as \$call
        | (\$e | map(select(.pid == \$w.pid and .name == \"shmemx_stream_sync\") | .ts + .dur) | max) as \$sync
        | \$w.ts + \$w.dur > \$call - 500 and \$w.ts + \$w.dur < \$sync + 500)"
done

# Streams that record graphs, and the streams' own tests, do what they did.
unset SHMEM_TRACE_EVENTS
export SHMEM_DEVICE_SYMMETRIC_SIZE=16M SHMEM_SYMMETRIC_SIZE=32M T_MEMORY=device
for program in device/on_stream st/graph part/collectives; do
    [ -x "$BUILD/obj/tests/$program" ] || continue
    rm -f t.json*
    SHMEM_DEVICE=cuda LD_LIBRARY_PATH="$BUILD/obj/tests/fake/cuda:$BUILD/obj/tests/fake/nvrtc" \
        try 2 "$BUILD/obj/tests/$program"
    [ $status -eq 0 ] || fail "$program, traced: $(head -n 5 "$out" "$err")"
done
finish 'times of a GPU'
