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

: >failed
for device in cuda-discrete cuda-coherent hip-discrete hip-coherent; do
    for far in '' '--ppn 1'; do
        # shellcheck disable=SC2086
        on "$device" env SHMEM_STALL=1 "$BUILD/bin/oshrun" -n 2 $far \
            "$at/device/capture" >said 2>&1 ||
            { echo "FAIL: $device $far"; cat said; echo >>failed; }
        for call in shmemx_long_wait_until_on_stream \
            shmemx_uint64_wait_until_on_stream; do
            check grep -q "$call: the stream records a graph, in whose second" \
                said
        done
        case $device$far in
            hip*ppn*) check grep -q 'shmemx_long_p_on_stream: .*a wait is a kernel' said ;;
        esac
        check grep -q 'shmemx_stream_sync: stream .* records a graph' said
        case $device$far in
            hip*ppn*) ;;
            *) check grep -q 'launched after shmem_finalize: it is not done' said ;;
        esac
    done
done
finish
