#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: where a device does not order what a NIC stores in its memory,
# each call that says that data is there flushes it first, by the driver, by
# AMD's register, by a read of the NIC or by the stream's own wait; nothing is
# flushed where no NIC reaches device memory, or the device orders it.
# Timeout: 60
set -u
. "$(dirname "$0")/device.inc"
[ -z "$real" ] || { echo "a stand-in for a NIC reaches no real GPU"; exit 77; }
: >failed
FI_PROVIDER_PATH=$at/fake/cxi
SHMEM_OFI_PROVIDER=cxi
SHMEM_LOG=info:ofi
export FI_PROVIDER_PATH SHMEM_OFI_PROVIDER SHMEM_LOG
unset FI_PROVIDER FAKE_CXI_SOFT FAKE_CXI_NICS FAKE_CXI_DELAY_US \
    FAKE_CXI_SEED FAKE_CXI_HMEM FAKE_CXI_STALE FAKE_CXI_MAX_MSG FAKE_DEVICE_NIC

pes='-n 2 --ppn 1'
# run NAME DEVICE VAR=VALUE...: what is said and called is in NAME, NAME.log.
run()
{
    name=$1 device=$2
    shift 2
    # shellcheck disable=SC2086
    on "$device" env FAKE_DEVICE_LOG="$PWD/$name.log" "$@" \
        "$BUILD/bin/oshrun" $pes "$at/device/$program" >"$name" 2>&1 ||
        { echo "exit status $?: $device $*"; head -n 20 "$name"; } >>failed
}

# flushes NAME: calls of the driver for that, of both PEs.
flushes()
{
    grep -c 'cuFlushGPUDirectRDMAWrites$' "$1.log"
}

# each_way PROGRAM SUFFIX: on devices of each way to flush.
each_way()
{
    program=$1
    run driver"$2" cuda-discrete FAKE_CXI_HMEM=1 &
    run register"$2" hip-discrete FAKE_CXI_HMEM=1 &
    wait
    run read"$2" cuda-discrete FAKE_CXI_HMEM=1 FAKE_DEVICE_NIC=read &
    run neighbour"$2" cuda-coherent FAKE_CXI_HMEM=1 FAKE_DEVICE_NIC=late &
    wait
}

each_way nic_flush_messages _messages
each_way nic_flush ''
# Atomics that processors execute, in a trace and not, and nodes of two PEs.
run processors cuda-discrete FAKE_CXI_HMEM=1 SHMEM_OFI_AMO=message &
run counted cuda-discrete FAKE_CXI_HMEM=1 SHMEM_OFI_AMO=message SHMEM_STATS=1 &
wait
pes='-n 4 --ppn 2'
run two_a_node cuda-discrete FAKE_CXI_HMEM=1
pes='-n 2 --ppn 1'
run ordered cuda-discrete FAKE_CXI_HMEM=1 FAKE_DEVICE_NIC=ordered &
run pieces cuda-discrete &
wait
for name in driver register neighbour; do
    check grep -q 'by the NIC (FI_HMEM), flushed by the driver$' $name
done
check grep -q 'by the NIC (FI_HMEM), flushed by reads of the NIC$' read
check grep -q 'by the NIC (FI_HMEM)$' ordered
check grep -q 'through pinned host memory' pieces
check [ "$(flushes driver)" -gt 40 ]
check [ "$(flushes neighbour)" -gt 40 ]
check [ "$(flushes driver_messages)" -gt 20 ]
check [ "$(flushes read_messages)" -eq 0 ]
check [ "$(flushes read)" -eq 0 ]
check [ "$(flushes ordered)" -eq 0 ]
check [ "$(flushes pieces)" -eq 0 ]
finish
