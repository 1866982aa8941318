#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: the driver for NVIDIA's devices does its work on the stand-in for
# libcuda, in each personality, and says what is wrong where it cannot.
# Timeout: 180
# Light: its programs wait half of the time
set -u
at=$BUILD/obj/tests
unset FAKE_DEVICE FAKE_DEVICE_LOG FAKE_DEVICE_FAIL FAKE_DEVICE_COUNT \
    FAKE_DEVICE_MEMORY FAKE_DEVICE_DRIVER FAKE_DEVICE_QUEUES \
    CUDA_LAUNCH_BLOCKING CUDA_DEVICE_MAX_CONNECTIONS
SHMEM_DEVICE=cuda
export SHMEM_DEVICE
failures=0

check()
{
    if ! "$@"; then
        echo "FAIL: $*" >&2
        failures=$((failures + 1))
    fi
}

# on WORD=VALUE... PROGRAM...: with the stand-in
on()
{
    LD_LIBRARY_PATH=$at/fake/cuda env "$@"
}

# refused TEXT WORD=VALUE...: opening the device fails and says so
refused()
{
    text=$1
    shift
    on "$@" "$at/unit/gtl_cuda" 2>err
    check [ $? -eq 3 ]
    check grep -q "SHMEM_DEVICE=cuda: $text .*\[S-W-DEVICE\]\$" err
    cat err >&2
}

for is in discrete coherent bare; do
    check on FAKE_DEVICE=$is "$at/unit/gtl_cuda"
    check on FAKE_DEVICE=$is "$at/unit/gtl"
    check on FAKE_DEVICE=$is "$at/unit/gtl_stream"
    check on FAKE_DEVICE=$is "$at/unit/gtl_reduce"
    check on FAKE_DEVICE=$is "$at/unit/gtl_peer_copy"
    check on FAKE_DEVICE=$is "$at/unit/gtl_graph"

    # While a stream waits, no operation allocates, waits for a stream, or is
    # the first of its kind.
    rm -f log
    check on FAKE_DEVICE=$is FAKE_DEVICE_LOG=log "$at/unit/gtl_cuda" path
    sed -n '/BEGIN/,/END/p' log >between
    check grep -q cuMemcpyAsync between
    if grep -E 'waits|Sync|Alloc|Free|Module|Register|Create|Destroy' between |
        grep -v 'cuMemcpyAsync waits: pageable'; then
        check false
    fi
done
check on FAKE_DEVICE_QUEUES=8 "$at/unit/gtl_cuda"

# A driver of CUDA 11.0, which lacks the calls that came later: here, they have
# another name.
mkdir early
sed 's/cuFlushGPUDirectRDMAWrites/cuFlushGPUdirectrdmaWrites/g
     s/cuStreamWriteValue64_v2/cuStreamwritevalue64_v2/g
     s/cuStreamWaitValue64_v2/cuStreamwaitvalue64_v2/g
     s/cuStreamBatchMemOp_v2/cuStreambatchmemop_v2/g
     s/cuMemGetHandleForAddressRange/cuMemGethandleforaddressrange/g
     s/cuStreamGetId/cuStreamgetid/g
     s/cuStreamGetCaptureInfo_v2/cuStreamgetcaptureinfo_v2/g
     s/cuUserObjectCreate/cuUserobjectcreate/g
     s/cuGraphInstantiateWithFlags/cuGraphinstantiatewithflags/g
     s/cuDeviceGetUuid_v2/cuDevicegetuuid_v2/g
     s/cuStreamGetCtx_v2/cuStreamgetctx_v2/g' \
    "$at/fake/cuda/libcuda.so.1" >early/libcuda.so.1
LD_LIBRARY_PATH=early FAKE_DEVICE_DRIVER=11000 FAKE_DEVICE_LOG=early/log \
    "$at/unit/gtl_cuda"
check [ $? -eq 0 ]
check grep -q cuLaunchKernel early/log
if grep -E 'Value64|StreamGetId|Uuid_v2|AddressRange' early/log; then
    check false
fi

refused 'cuInit: no CUDA-capable device is detected, CUDA_ERROR_NO_DEVICE (100)' \
    FAKE_DEVICE_COUNT=0
refused 'cuInit: system has unsupported .*, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (803)' \
    FAKE_DEVICE_FAIL=cuInit:803
refused 'cuDriverGetVersion: the NVIDIA driver is for CUDA 10.2, 11.0 is the oldest that serves (10020)' \
    FAKE_DEVICE_DRIVER=10020
refused 'cuMemAlloc: out of memory, CUDA_ERROR_OUT_OF_MEMORY (2)' \
    FAKE_DEVICE_MEMORY=4096
refused 'cuModuleLoadDataEx: .*fatal   : as FAKE_DEVICE_FAIL has it (.*)' \
    FAKE_DEVICE=bare FAKE_DEVICE_FAIL=cuModuleLoadDataEx:218
refused 'cuDeviceGetUuid: .* device .*' FAKE_DEVICE_FAIL=cuDeviceGetUuid:101

# An empty library under that name stands for a driver that is too old to have
# all calls.
mkdir old && echo 'int old;' >old.c
if cc -shared -fPIC -o old/libcuda.so.1 old.c; then
    LD_LIBRARY_PATH=old "$at/unit/gtl_cuda" 2>err
    check [ $? -eq 3 ]
    check grep -q 'lacks a call: the NVIDIA driver is older than CUDA 11.0' err
fi

# Only where there is none: an absent driver, and the answer of auto.
if ! ldconfig -p | grep -q 'libcuda\.so\.1'; then
    LD_LIBRARY_PATH='' "$at/unit/gtl_cuda" 2>err
    check [ $? -eq 3 ]
    check grep -q 'dlopen libcuda.so.1: the NVIDIA driver is not installed' err
fi
# Without the compiler, what takes no kernel goes on.
check on FAKE_DEVICE_FAIL=cuModuleLoadDataEx:221 "$at/unit/gtl_cuda" 2>err
check grep -q 'no kernels .* JIT compiler library not found.*S-W-DEVICE' err
on CUDA_LAUNCH_BLOCKING=1 FAKE_DEVICE_LOG=log "$at/unit/gtl_cuda" path 2>err
check grep -q 'CUDA_LAUNCH_BLOCKING=1: .*\[S-W-DEVICE\]' err
[ "$failures" -eq 0 ]
