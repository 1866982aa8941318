#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: what nvcc makes of the calls of kernels runs, on the stand-in of
# CUDA and where a GPU answers: kernels move, count, signal and meet, near and
# far, also with more requests than a ring has room for.
# Timeout: 300
set -u
. "$(dirname "$0")/../neg/neg.inc"
program=$BUILD/obj/tests/device/kernel_calls most=60

# A bundle brings the PTX.  That of the older architecture is as a quick compiler
# makes it, where nvcc has an option for that.
quick=
! nvcc --help 2>/dev/null | grep -q -e --Ofast-compile || quick=--Ofast-compile=max
for arch in 75 90; do
    made=$BUILD/obj/tests/device/kernel_calls_$arch.ptx
    if [ -e "$made" ]; then
        cp "$made" k$arch.ptx
        continue
    fi
    command -v nvcc >/dev/null || skip 'no nvcc'
    [ $arch -eq 75 ] || quick=
    nvcc -ptx $quick -arch=compute_$arch -Werror all-warnings -I"$SRC/include" \
        -o k$arch.ptx "$SRC/tests/device/kernel_calls.cu" >cc.log 2>&1 ||
        { fail "nvcc, $arch: $(head -n 5 cc.log)"; finish compiled; }
done
export SHMEM_DEVICE=cuda SHMEM_STALL=5

# calls N ARCH WHAT GROUPS THREADS OPTION...
calls()
{
    n=$1 arch=$2 what=$3 groups=$4 threads=$5
    shift 5
    try "$n" "$@" "$program" k"$arch".ptx "$what" "$groups" "$threads"
    [ $status -eq 0 ] && [ ! -s "$err" ] ||
        fail "$n PEs, sm_$arch, $what, $*: status $status: $(head -n 8 "$err" "$out")"
}

if "$bin/shmem_info" --check 2>&1 | grep -q '^PASS  device '; then
    calls 1 90 all 8 256
    calls 2 90 all 8 256
    calls 2 90 host 2 64 --ppn 1        # PEs that share a GPU take turns
    finish 'calls of kernels on a GPU'
fi
LD_LIBRARY_PATH=$BUILD/obj/tests/fake/cuda${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
SHMEM_STALL=60                  # it interprets: 5 s are little under load
for arch in 75 90; do
    calls 1 $arch all 4 32
    calls 2 $arch all 4 64
    calls 2 $arch all 4 32 --ppn 1
done
calls 4 90 all 2 64 --ppn 2
SHMEM_DEVICE_RING_SIZE=64 SHMEM_DEVICE_RINGS=2 calls 2 90 all 8 32 --ppn 1
# On the stand-in for CXI, with a GPU of whose threads a doorbell counts one.
cxi="FI_PROVIDER_PATH=$BUILD/obj/tests/fake/cxi"
try 2 --ppn 1 -x "$cxi" -x SHMEM_OFI_PROVIDER=cxi -x SHMEM_TRIGGER=nic \
    -x SHMEM_STATS=1 "$program" k90.ptx all 4 32
[ $status -eq 0 ] && grep -q 'triggers: .* [1-9][0-9]* by the NIC' "$err" ||
    fail "cxi: status $status: $(grep -v ' -  ' "$err" | head -n 8)"
export FAKE_DEVICE=coherent
calls 2 90 all 4 32
# It has the oldest instructions, and lends no memory, which a line says.
export FAKE_DEVICE=bare
try 2 "$program" k75.ptx all 4 32
[ $status -eq 0 ] && [ "$(wc -l <"$err")" -eq 1 ] ||
    fail "bare: status $status: $(head -n 8 "$err" "$out")"
echo 'skip: no GPU of NVIDIA answers'
finish 'calls of kernels on the stand-in'
