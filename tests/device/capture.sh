#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: operations on a stream that records a graph are done by each
# launch of it, or refused by name without harm to the capture, which no thread
# of the library ends.
# Timeout: 60
# Light: it waits most of the time
set -u
. "$(dirname "$0")/device.inc"
[ -z "$real" ] || { echo 'skip: the stand-ins are strict'; exit 77; }

# records DEVICE [OPTIONS]: what is said is in a file of these names.
records()
{
    file="$*"
    device=$1
    shift
    on "$device" env SHMEM_STALL=1 "$BUILD/bin/oshrun" -n 2 "$@" \
        "$at/device/capture" >"$file" 2>&1 ||
        { echo "FAIL: $file"; cat "$file"; } >>failed
}
: >failed
devices='cuda-discrete cuda-coherent hip-discrete hip-coherent'
for device in $devices; do
    start records "$device"
    start records "$device" --ppn 1
done
wait
for device in $devices; do
    for said in "$device" "$device --ppn 1"; do
        for call in shmemx_long_wait_until_on_stream \
            shmemx_uint64_wait_until_on_stream; do
            check grep -q "$call: the stream records a graph, in whose second" \
                "$said"
        done
        case $said in
            hip*ppn*) check grep -q 'shmemx_long_p_on_stream: .*a wait is a kernel' "$said" ;;
        esac
        check grep -q 'shmemx_stream_sync: stream .* records a graph' "$said"
        case $said in
            hip*ppn*) ;;
            *) check grep -q 'launched after shmem_finalize: it is not done' "$said" ;;
        esac
    done
done
finish
