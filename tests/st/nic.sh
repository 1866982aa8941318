#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: far operations that the NIC does when the stream lets them go are
# the same as those that a thread does, also where it has room for few of them.
# On the stand-in for CXI, which the device triggers itself, and on sockets,
# where a thread passes it on.  Failures of a NIC's may count towards thresholds
# (rule 1) or not (rule 0).
# Timeout: 300
set -u
. "$(dirname "$0")/../device/device.inc"
unset SHMEM_TRIGGER SHMEM_TRIGGER_DEPTH FAKE_CXI_SOFT
FI_PROVIDER_PATH=$at/fake/cxi
T_SEED=${T_SEED:-1}
export T_SEED FI_PROVIDER_PATH

# nic PROVIDER DEPTH DEVICE N PPN TEST: DEPTH entries for the PEs of each node
rule=0
nic()
{
    job "$3" -n "$4" --ppn "$5" env SHMEM_TRIGGER=nic \
        SHMEM_OFI_PROVIDER="$1" FAKE_CXI_DEPTH=$(($2 * $4 / $5)) \
        FAKE_CXI_ERRORS_COUNT=$rule \
        SHMEM_TRIGGER_DEPTH="$([ "$1" = cxi ] || echo "$2")" "$at/st/$6"
}

start nic cxi 500 host 2 1 onesided
start nic cxi 16 host 2 1 queue_start
start nic cxi 16 host 2 1 kernel_order
start nic sockets 5 host 2 1 queue_start
start nic cxi 16 host 3 1 barrier_on_stream
start nic cxi 500 cuda-discrete 2 1 queue_start
start nic cxi 500 host 2 1 finalize_before_stream_runs
start nic sockets 5 host 2 1 fence_nic_and_thread
# Matched messages, few of them.
T_SHORT=1
T_LONG=0.1
export T_SHORT T_LONG
start nic cxi 16 host 2 1 match_data
start nic cxi 500 host 2 1 message_too_long
start nic cxi 500 host 2 1 match_iteration_order
start nic cxi 16 host 2 1 match_mismatch
start nic cxi 500 host 4 2 match_persistent   # notes of a node go by the NIC

rule=1
start nic cxi 16 host 2 1 kernel_order
start nic cxi 500 host 2 1 match_data
rule=0

# No two-input triggers: regions count twice and late, or the NIC does not see
# what the processor stores to one where the NIC has no room.
extra='FAKE_CXI_REGION=2 FAKE_CXI_REGION_LATE_US=3000'
start nic cxi 500 host 2 1 match_data
extra=FAKE_CXI_STALE=1
start nic cxi 16 host 2 1 match_data
extra=

# Long ones are the agent's here.
start job host -n 2 --ppn 1 env SHMEM_OFI_PROVIDER=cxi FAKE_CXI_MAX_MSG=4096 \
    SHMEM_STALL=1 SHMEM_TIMEOUT=2 "$at/st/timeout_counts_pending"

# No thread of the library has a part in it, where failures do not count: else
# one sends the signals.  Where one has, nothing ends.
start job host -n 2 --ppn 1 env SHMEM_FAULT=stream_progress:1:1 SHMEM_OFI_PROVIDER=cxi \
    FAKE_CXI_ERRORS_COUNT=0 "$at/st/nic_without_progress_thread"
start job host -n 2 env SHMEM_FAULT=stream_progress:1:1 \
    "$at/st/nic_without_progress_thread"

# All else only where it is asked for: it takes minutes.
if [ "${T_NIC:-}" = all ]; then
    SHMEM_SYMMETRIC_SIZE=64M            # slots for private memory
    export FAKE_DEVICE_DEAD=error       # as tests/st/drivers.sh
    for rule in 0 1; do
        for test in restart_after_streams wait_stops_one_stream match_data \
            coll_init_results stream_destroy onesided_all_types \
            fence_nic_and_thread finalize_running_kernel finalize_endless_wait \
            generic_names stream_handle_reused finalize_before_stream_runs \
            finalize_pending_messages many_operations match_persistent \
            match_threads barrier_on_stream match_mismatch no_thread \
            enqueue_send_recv onesided kernel_order match_serves_others \
            progress_without_calls queue_start stream_records_freed \
            match_iterations scalars_read_at_call thread_signal_mask \
            match_heap_use step_completion stream_threads message_too_long \
            match_iteration_order graph graph_ops resident_threads \
            stream_order signal_sizes signal_before_finalize default_stream \
            fork_after_streams peer_copy stats_protocols doorbell \
            doorbell_two_threads; do
            start nic cxi 16 host 2 1 $test
            start nic cxi 500 host 2 1 $test
        done
        start nic cxi 16 host 4 2 onesided
        start nic cxi 500 host 4 2 barrier_on_stream
        start nic cxi 16 hip-discrete 2 1 queue_start
        start nic cxi 500 hip-coherent 2 1 onesided_all_types
        start nic cxi 500 cuda-discrete 2 1 onesided
        start nic cxi 500 cuda-discrete 2 1 match_data
        start nic cxi 16 hip-coherent 2 1 match_iteration_order
        start nic cxi 500 host 4 2 match_persistent
    done
    rule=0
    for test in match_data match_iteration_order enqueue_send_recv \
        match_iterations match_threads onesided_all_types; do
        start nic sockets 5 host 2 1 $test
        start nic sockets 500 host 2 1 $test
    done
fi

# It is the NIC that does it: each PE says so.
said=$(on host env SHMEM_OFI_PROVIDER=cxi SHMEM_LOG=info:ofi \
    "$BUILD/bin/oshrun" -n 2 --ppn 1 "$at/st/kernel_order" 2>&1)
check [ "$(echo "$said" | grep -c 'deferred work: [0-9]* entries of cxi')" \
    -eq 2 ]
finish
