#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: nvcc compiles the calls of kernels, and where a GPU answers, they
# move, count, signal and meet as on the software device, near and far.
# Timeout: 300
set -u
. "$(dirname "$0")/../neg/neg.inc"
most=60

program=$BUILD/obj/tests/kernel/gpu_calls       # of a bundle
if [ ! -x "$program" ]; then
    command -v nvcc >/dev/null || skip 'no nvcc'
    sanitized && skip 'nvcc is tested without a sanitizer'
    program=./gpu_calls
    OSH_CC=nvcc "$bin/oshcc" -O2 -gencode arch=compute_75,code=compute_75 \
        -gencode arch=compute_90,code=compute_90 -Werror all-warnings -x cu \
        "$SRC/tests/kernel/gpu_calls.cu" -o "$program" >cc.log 2>&1 || {
        fail "nvcc: $(head -n 5 cc.log)"
        finish compiled
    }
fi
export SHMEM_DEVICE=cuda SHMEM_STALL=5 SHMEM_TIMEOUT=20
"$bin/shmem_info" --check 2>&1 | grep -q '^PASS  device ' || {
    echo 'skip: no GPU of NVIDIA answers'
    finish 'compiled by nvcc'
}

# calls N ARGUMENT OPTION...: no line says that something is wrong.
calls()
{
    n=$1 what=$2
    shift 2
    try "$n" "$@" "$program" "$what"
    [ $status -eq 0 ] && ! grep -v ' 0 wrong$' "$out" ||
        fail "$n PEs $*: status $status: $(head -n 8 "$err" "$out")"
}
calls 1 all
calls 2 all
calls 2 host --ppn 1            # a GPU that PEs share copies seldom
finish 'calls of kernels on a GPU'
