#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: where a provider says that its NIC reaches device memory, this
# is tried by moving bytes there and back, and then used; where it does not
# work, or says nothing of the sort, the pieces of host memory serve, and a
# line says which of them and why.
# Timeout: 90
set -u
. "$(dirname "$0")/device.inc"
[ -z "$real" ] || { echo "a stand-in for a NIC reaches no real GPU"; exit 77; }
: >failed
FI_PROVIDER_PATH=$at/fake/cxi
SHMEM_OFI_PROVIDER=cxi
SHMEM_LOG=info:ofi
export FI_PROVIDER_PATH SHMEM_OFI_PROVIDER SHMEM_LOG
unset FI_PROVIDER FAKE_CXI_SOFT FAKE_CXI_NICS FAKE_CXI_NO_VNI \
    FAKE_CXI_DELAY_US FAKE_CXI_SEED FAKE_CXI_INTERFACE FAKE_CXI_HMEM \
    FAKE_CXI_DEPTH FAKE_CXI_CNTRS FAKE_CXI_FLUSH_MS FAKE_CXI_LOG \
    FAKE_CXI_MAX_MSG FAKE_DEVICE_NIC

# via REGEX DEVICE PROGRAM [VAR=VALUE...]: that is said, and all is right.
via()
{
    regex=$1 device=$2 program=$3
    shift 3
    file=${program#*/}.$device.$(echo "$*" | tr -dc '[:alnum:]')
    on "$device" env "$@" "$BUILD/bin/oshrun" -n 2 --ppn 1 \
        "$at/$program" >"$file" 2>&1 ||
        echo "exit status $?: $device $program $*" >>failed
    grep -qE "device memory of other nodes: $regex" "$file" ||
        echo "not said for $device $program $*: $regex" >>failed
    [ ! -s failed ] || head -n 20 "$file" >>failed
}

nic='by the NIC \(FI_HMEM\)$'
driver='by the NIC \(FI_HMEM\), flushed by the driver$'
read='by the NIC \(FI_HMEM\), flushed by reads of the NIC$'
host='through pinned host memory'
ordered=FAKE_DEVICE_NIC=ordered
for program in device/off_node pe/rma_sized pe/amo; do
    start via "$nic" cuda-discrete $program FAKE_CXI_HMEM=1 $ordered
done
# What is left of a long put is short, and must not go inline; and parts are no
# longer than messages.
start via "$nic" cuda-discrete device/off_node FAKE_CXI_HMEM=1 FAKE_CXI_MAX_MSG=60494 \
    $ordered
start via "$host .*the provider does not reach device memory" cuda-coherent pe/rma_sized
start via "$host .*SHMEM_OFI_HMEM is 0" cuda-coherent pe/rma_sized FAKE_CXI_HMEM=1 \
    SHMEM_OFI_HMEM=0
# It says that it can, and one PE's cannot.
start via "$host .*write there and read it back" cuda-coherent device/off_node FAKE_CXI_HMEM=1 \
    SHMEM_FAULT=ofi.hmem:1:1
start via "$host .*(another PE|write there)" cuda-coherent pe/rma_sized FAKE_CXI_HMEM=1 \
    SHMEM_FAULT=ofi.hmem:0.4:3
# What a NIC stores there is flushed where the device does not order it.
for program in device/off_node pe/rma_sized pe/amo pe/signal pe/wait pe/lock \
    coll/move coll/reduce coll/active_sets device/on_stream; do
    start via "$driver" cuda-discrete $program FAKE_CXI_HMEM=1
    start via "$driver" hip-discrete $program FAKE_CXI_HMEM=1
done
for program in device/off_node pe/amo pe/signal pe/wait pe/lock; do
    start via "$read" cuda-discrete $program FAKE_CXI_HMEM=1 FAKE_DEVICE_NIC=read
done
start via "$host .*the provider does not reach" hip-discrete pe/rma_sized \
    SHMEM_OFI_PROVIDER='tcp;ofi_rxm'
finish
