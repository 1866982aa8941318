#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: a bad argument gives one line that names it, and a nonzero
# exit status.
set -u
. "$(dirname "$0")/osu.inc"

# refused TEXT PROGRAM ARGS...
refused()
{
    text=$1
    shift
    try "$@"
    [ $status -ne 0 ] || fail "$*: exit status 0"
    [ "$(grep -c "^$1: " "$err")" -eq 1 ] ||
        fail "$*: not one line: $(cat "$err")"
    grep -q -- "$text" "$err" || fail "$*: no '$text' in $(cat "$err")"
    [ ! -s "$out" ] || fail "$*: printed $(head -n 1 "$out")"
}

refused 'say heap or global' osu_oshm_put
refused 'argument stack: say heap or global' osu_oshm_get stack
refused 'argument extra: not expected' osu_oshm_put heap extra
refused 'argument heap: not expected' osu_oshm_barrier heap
refused 'option -q: unknown' osu_oshm_put_mr heap -q
refused 'option --colour: unknown' osu_oshm_put heap --colour
refused 'option -m: its value is missing' osu_oshm_put heap -m
refused '-m 8:4: MIN is above MAX' osu_oshm_put heap -m 8:4
refused '-m 2k:1024: MIN is above MAX' osu_oshm_put heap -m 2k:1024
for sizes in 0 : '' k 4g 1kk 8m 4194305 1:99999999999999999999 1q:4; do
    refused 'want .MIN:.MAX in bytes, each from 1 to 4194304, k and m allowed' \
        osu_oshm_put heap -m "$sizes"
done
refused 'has no sizes' osu_oshm_atomics heap -m 4
refused 'number of iterations' osu_oshm_put heap -i 0
refused 'number of iterations' osu_oshm_atomics heap -i 99999999
refused 'warm-up' osu_oshm_put heap -x -1
refused '0 to 9 digits' osu_oshm_put heap --precision 10
refused 'no single' osu_oshm_put_mr heap -T
refused 'global buffers' osu_oshm_put_mr global -m 16777216
refused '-s X: want H .host., D .device. or A' osu_oshm_put heap -s X
refused '-d HD: want H' osu_oshm_get_bw heap -d HD
refused '-d : want H' osu_oshm_atomics heap -d ''
refused 'option -s: its value is missing' osu_oshm_put_mr heap -s
refused 'option -s: this program has no buffers' osu_oshm_barrier -s D
refused 'option -s: both buffers of a collective' osu_oshm_reduce -s D
refused 'option -f: with one placement only' osu_oshm_put heap -s A -f
refused 'option -T: with one placement only' osu_oshm_put heap -d A -T
refused "option -f: this program's rows are full" osu_oshm_put_overlap heap -f
refused 'option -T: this program times no single' osu_oshm_put_overlap heap -T
refused '-x fast: want host, stream or A' osu_oshm_put_on_stream heap -x fast
refused '-x 5: want host' osu_oshm_atomics_on_stream heap --execution 5
refused '-w never: want each or end' osu_oshm_get_on_stream heap -w never
refused 'option -w: this program has no stream' osu_oshm_put heap -w each
refused 'option --execution: this program has no stream' osu_oshm_barrier \
    --execution host
refused '--warmup -1: want a number' osu_oshm_put_bw_on_stream heap --warmup -1

# No device memory, too little of it, or no host memory: each PE ends, near and
# far, with one line.
export SHMEM_DEVICE SHMEM_ENABLE_GPU_SPACE
for far in '' '--ppn 1'; do
    SHMEM_DEVICE=none
    refused 'wants device memory, and this job has none: SHMEM_DEVICE' \
        osu_oshm_put heap -s D
    refused 'wants device memory, and this job has none: SHMEM_DEVICE' \
        osu_oshm_broadcast -d A
    SHMEM_DEVICE=software
    SHMEM_DEVICE_SYMMETRIC_SIZE=1m
    export SHMEM_DEVICE_SYMMETRIC_SIZE
    refused 'in device memory: set SHMEM_DEVICE_SYMMETRIC_SIZE or a smaller' \
        osu_oshm_get_bw heap -d D
    unset SHMEM_DEVICE_SYMMETRIC_SIZE
done
far=
SHMEM_DEVICE=none
refused "wants a device's streams, and this job has none: SHMEM_DEVICE" \
    osu_oshm_put_signal_on_stream heap -x host
SHMEM_DEVICE=software
SHMEM_ENABLE_GPU_SPACE=0
refused 'has none: .*SHMEM_ENABLE_GPU_SPACE 0' osu_oshm_atomics global -d D
unset SHMEM_ENABLE_GPU_SPACE
if ! ldconfig -p | grep -q libcuda.so.1; then
    SHMEM_DEVICE=cuda
    refused 'has none: .*SHMEM_DEVICE=software is one in software' \
        osu_oshm_put heap -s D
fi
unset SHMEM_DEVICE
SHMEM_ENABLE_CPU_SPACE=0
export SHMEM_ENABLE_CPU_SPACE
refused 'wants host memory, and this job has none' osu_oshm_put heap -s H
unset SHMEM_ENABLE_CPU_SPACE
NP=3
refused 'exactly 2' osu_oshm_put heap
refused 'exactly 2' osu_oshm_get_bw heap
refused 'exactly 2' osu_oshm_put_signal_on_stream heap
NP=1
refused 'at least 2' osu_oshm_barrier
refused 'at least 2' osu_oshm_put_mr heap
finish
