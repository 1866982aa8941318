#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: SHMEM_ENABLE_DEVICE_AWARENESS=0 holds when the device heap is
# open, too: the query is 0, SHMEM_DEVICE_HOST_INIT is not granted, and each
# call that gets private memory of the device says so in a line.
# Timeout: 60
set -u
. "$(dirname "$0")/device.inc"
extra=SHMEM_ENABLE_DEVICE_AWARENESS=0
line='(source|dest|fetch) 0x[0-9a-f]+ is memory of the device that is not symmetric, and SHMEM_ENABLE_DEVICE_AWARENESS=0 excludes such buffers: (unset it|not enqueued) \[S-[EW]-DEVICE\]'

# ends DEVICE WHAT WORDS...: with the line, which names the call.
ends()
{
    device=$1 what=$2
    shift 2
    # shellcheck disable=SC2086
    said=$(on "$device" env $extra "$BUILD/bin/oshrun" "$@" \
        "$at/device/device_awareness_off" "$what" 2>&1)
    rc=$?
    case $what in
        *:on_stream) check [ "$rc" -eq 0 ] ;;
        *) check [ "$rc" -ne 0 ] ;;
    esac
    echo "$said" | grep -qE "shmem[a-z0-9_]*: $line" && return
    echo "FAIL ($rc): $device: $what $*" >>failed
    echo "$said" | head -n 20 >>failed
}

job "${real:-software}" -n 2 "$at/device/device_awareness_off" none
for device in ${real:-cuda-discrete hip-discrete cuda-bare}; do
    job "$device" -n 2 "$at/device/device_awareness_off" none
    job "$device" -n 2 --ppn 1 "$at/device/device_awareness_off" none
    for how in put on_stream; do
        ends "$device" host:$how -n 1
        ends "$device" device:$how -n 1
    done
done
for how in putmem put_nbi iput get getmem get_nbi iget put_signal \
    put_signal_nbi fetch_nbi; do
    ends "${real:-cuda-discrete}" host:$how -n 1
    ends "${real:-cuda-discrete}" device:$how -n 1
done
for how in put put_nbi iput get iget put_signal fetch_nbi on_stream; do
    ends "${real:-hip-discrete}" host:$how -n 2 --ppn 1
    ends "${real:-cuda-discrete}" device:$how -n 2 --ppn 1
done
finish
