#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: what goes wrong on the device, in its heap, its compilers, its
# exchange or on a PE that dies, is said in one line.
# Light: short jobs, which end early
# Timeout: 300
set -u
. "$(dirname "$0")/bucketsort.inc"
. "$SRC/tests/apps/device.inc"

# --- No device ---

SHMEM_DEVICE=none
run 2 --keys 1000 -i 1 --variant all
grep -q '^# GA_ variants are left out: no device; see SHMEM_DEVICE$' "$out" ||
    fail "all without a device: $(cat "$out")"
[ "$(grep -c '^  [HG]A_' "$out")" -eq 2 ] || fail "rows: $(cat "$out")"
refused 1 'no device: .*SHMEM_DEVICE, or use --variant HA_HI,HA_HI_OMP .*B-E-DEVICE' \
    2 --keys 1000 -i 1 --variant GA_HI
refused 1 'no device.*B-E-DEVICE' 2 --keys 1000 --local device
SHMEM_DEVICE=software

export SHMEM_ENABLE_CPU_SPACE=0
refused 1 'unset SHMEM_ENABLE_CPU_SPACE .*B-E-HEAP' 2 --keys 1000 -i 1
unset SHMEM_ENABLE_CPU_SPACE

# --- Options ---

refused 2 '--table here: say host or device .*USAGE' 2 --table here
refused 2 '--counters: *its value is missing.*USAGE\|option --counters' 2 --counters
refused 2 '--local auto: say host or device .*USAGE' 2 --local auto
refused 2 '--streams 17: say a number from 1 to 16 .*USAGE' 2 --streams 17
refused 2 '--streams does not go with --generate .*USAGE' 2 --streams 2 \
    --generate f --type u32 --count 3

# --- The compilers ---

# Where nvcc was there at build time, the driver takes its PTX.
export FAKE_NVRTC=1
[ -s "$BUILD/obj/apps/bucketsort/kernels.ptx" ] || with_device cuda-discrete refused 1 \
    'kernels for Fake .*: the compiler: sort(1): error: as FAKE_NVRTC says .*DEVICE' \
    2 --keys 1000 -i 1 --variant GA_HI
unset FAKE_NVRTC
with_device cuda-discrete run 2 --keys 1000 -i 1 --variant GA_HI

# --- Room ---

# heap TEXT ARGS...: the program's one line has TEXT; the library may warn.
heap()
{
    text=$1
    shift
    try 2 "$@"
    grep '^bucketsort: ' "$err" >"$dir/own"
    [ $status -eq 1 ] && [ "$(wc -l <"$dir/own")" -eq 1 ] &&
        grep -q -e "$text.*\[B-E-HEAP\]\$" "$dir/own" ||
        fail "$*: status $status, said '$(head -n 5 "$err")'"
}
SHMEM_DEVICE_SYMMETRIC_SIZE=4M
heap 'device heap per PE: set SHMEM_DEVICE_SYMMETRIC_SIZE=[0-9]*M' \
    --keys 1m -i 1 --variant GA_HI
# What it says is enough.
SHMEM_DEVICE_SYMMETRIC_SIZE=$(sed 's/.*SYMMETRIC_SIZE=\([0-9]*M\).*/\1/' "$dir/own")
run 2 --keys 1m -i 1 --variant all --streams 4
SHMEM_DEVICE_SYMMETRIC_SIZE=4M
heap 'chunk buffers need .* bytes of device heap .*--chunk ' \
    --keys 300k -i 1 --variant GA_HI_Stream --streams 8
heap 'slots need .* bytes of device heap .*another --chunk' \
    --keys 300k -i 1 --variant GA_ST --chunk 300
heap 'lines of keys need .* bytes of device heap .*smaller --chunk' \
    --keys 362k -i 1 --variant GA_KI
SHMEM_DEVICE_SYMMETRIC_SIZE=32M
for variant in GA_HI GA_HI_Stream GA_HI_OMP GA_ST GA_KI GA_KT; do
    refused 1 'keys came for its table of .*: raise --table-factor.*TABLE' 4 \
        --keys 1000 --table-factor 0.01 -i 1 --variant $variant --chunk 64
done

# --- Faults of the exchange ---

found()
{
    with "put:$1" 1 refused 1 'B-E-VERIFY' 3 --variant "$2" --keys 500 -i 1 \
        --threads 2
}
for variant in GA_HI GA_HI_Stream GA_HI_OMP; do
    found 1:flip $variant
    found 2:dup $variant
    found 1:none $variant
done

# --- A PE that is killed ---

for variant in GA_HI GA_HI_Stream GA_HI_OMP; do
    begin=$(now)
    with put:3:kill 1 try 3 --keys 5000 -i 1 --chunk 512 --variant $variant
    ms=$(($(now) - begin))
    [ $status -eq 137 ] || fail "$variant, PE 1 killed: status $status"
    in_time $ms 3000 || fail "$variant, PE 1 killed: the job took $ms ms"
    [ "$(wc -l <"$err")" -eq 1 ] &&
        grep -q '^oshrun: PE 1 (.*) was killed by signal 9' "$err" ||
        fail "$variant, PE 1 killed: said '$(head -n 5 "$err")'"
done
finish 'what goes wrong on devices'
