#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: the device heap takes memory as it is used, near and far, by each
# kind of handle, where the driver, the NIC and all PEs can have it so; else all
# of it at once, and a line says why.
# Timeout: 180
set -u
. "$(dirname "$0")/device.inc"
FI_PROVIDER_PATH=$at/fake/cxi
export FI_PROVIDER_PATH
unset FI_PROVIDER FAKE_CXI_SOFT FAKE_CXI_NICS FAKE_CXI_NO_VNI \
    FAKE_CXI_DELAY_US FAKE_CXI_SEED FAKE_CXI_INTERFACE FAKE_CXI_HMEM \
    FAKE_CXI_DEPTH FAKE_CXI_CNTRS FAKE_CXI_FLUSH_MS FAKE_CXI_LOG \
    FAKE_CXI_MAX_MSG
# Four PEs of a GPU, and the processor's pinned memory in place of it.
heap=SHMEM_DEVICE_SYMMETRIC_SIZE=${T_HEAP:-256M}
program=$at/device/heap_grow
each=$one_each
[ -z "$real" ] || each=

# says REGEX DEVICE WORDS... PROGRAM: the job is right, and says that.
says()
{
    regex=$1 device=$2
    shift 2
    file=said.$(echo "$device$*" | cksum | tr -dc '[:alnum:]')
    # shellcheck disable=SC2086
    on "$device" env $each $heap SHMEM_LOG=info:heap,api,gtl,ofi "$@" \
        >"$file" 2>&1 || echo "exit status $?: $device $*" >>failed
    grep -qE "$regex" "$file" || echo "not said by $device $*: $regex" >>failed
    [ ! -s failed ] || head -n 30 "$file" >>failed
}

oshrun=$BUILD/bin/oshrun
grown='device heap: [0-9]+ of [0-9]+ bytes have memory'
if [ -n "$real" ]; then
    says 'device heap of ' "$real" "$oshrun" -n 2 "$program"
    finish
fi
says "$grown" cuda-discrete "$oshrun" -n 2 "$program" &
says "$grown" cuda-coherent "$oshrun" -n 4 --ppn 2 "$program" &
wait
# The NIC gets a new region for each size, and other PEs its key.
nic="env FAKE_CXI_HMEM=1 SHMEM_OFI_PROVIDER=cxi"
# shellcheck disable=SC2086
says "$grown" cuda-discrete $nic "$oshrun" -n 2 --ppn 1 "$program" &
# shellcheck disable=SC2086
says "$grown" cuda-discrete $nic FAKE_DEVICE_FABRIC=1 "$oshrun" -n 3 --ppn 2 \
    "$program" &
wait
says 'by file descriptors or fabric handles' cuda-discrete env FAKE_DEVICE_FABRIC=1 "$oshrun" -n 2 \
    "$program" &
says 'by file descriptors$' cuda-discrete env FAKE_DEVICE_FABRIC=refused \
    "$oshrun" -n 2 "$program" &
wait
# No descriptor arrives: the other handle serves.
says "$grown" cuda-discrete env FAKE_DEVICE_FABRIC=1 SHMEM_FAULT=sm.pass:1 \
    "$oshrun" -n 3 "$program" &
wait

# All at once.
small=SHMEM_DEVICE_SYMMETRIC_SIZE=16M
whole="env $small"
says 'SHMEM_DEVICE_VMM is 0' cuda-discrete $whole SHMEM_DEVICE_VMM=0 "$oshrun" \
    -n 2 "$at/pe/rma_sized" &
says 'manages no virtual memory' cuda-discrete $whole FAKE_DEVICE_VMM=0 \
    "$oshrun" -n 2 "$at/pe/rma_sized" &
wait
says 'NICs do not reach such memory' cuda-discrete $whole FAKE_DEVICE_VMM=nordma \
    "$oshrun" -n 2 "$at/pe/rma_sized" &
says 'older than CUDA 12.1' cuda-discrete $whole FAKE_DEVICE_DRIVER=12000 \
    "$oshrun" -n 2 "$at/pe/rma_sized" &
wait
# Another PE cannot open it, or a NIC does not reach it; and then other memory
# serves, if any does.
says 'not all PEs of a node can open it' cuda-discrete $whole \
    FAKE_DEVICE_FAIL=cuMemImportFromShareableHandle:801 "$oshrun" -n 4 \
    "$at/pe/rma_sized" &
says 'the device heap lies in pinned host memory' cuda-discrete $whole \
    SHMEM_FAULT=heap.export:1:2 "$oshrun" -n 4 "$at/pe/rma_sized" &
wait
# shellcheck disable=SC2086
says 'by the NIC.*flushed by the driver' cuda-discrete $nic \
    $small SHMEM_FAULT=ofi.hmem:0.25:16 "$oshrun" -n 2 --ppn 1 \
    "$at/pe/rma_sized" &

# A provider that registers one mapping at a time.
# shellcheck disable=SC2086
says 'by the NIC.*flushed by the driver' cuda-discrete $nic $small \
    FAKE_CXI_HMEM=2 "$oshrun" -n 2 --ppn 1 "$at/pe/rma_sized" &
# shellcheck disable=SC2086
says 'a NIC does not reach memory that grows' cuda-discrete $nic $small \
    FAKE_CXI_HMEM=2 "$oshrun" -n 3 --ppn 2 "$at/pe/rma_sized" &
wait

# The device is smaller than the heap may become.
says 'device heap cannot grow from .* to .*out of memory' \
    cuda-discrete env FAKE_DEVICE_MEMORY=104857600 "$oshrun" -n 2 "$program" full &
# shellcheck disable=SC2086
says 'device heap cannot grow from .* to .*out of memory' \
    cuda-discrete $nic FAKE_DEVICE_MEMORY=104857600 "$oshrun" -n 2 --ppn 1 \
    "$program" full &
wait
# And one PE fails now and then, in each step.
for fault in heap.device:0.2:5 heap.export:0.15:5 sm.pass:0.05:3; do
    says "$grown" cuda-discrete env SHMEM_FAULT=$fault "$oshrun" -n 4 \
        "$program" faults &
done
wait
# shellcheck disable=SC2086
says "$grown" cuda-discrete $nic SHMEM_FAULT=ofi.grow:0.5:6 "$oshrun" -n 2 \
    --ppn 1 "$program" faults &
wait
finish
