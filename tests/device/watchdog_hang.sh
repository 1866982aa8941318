#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: the watchdog reports a GPU's stream that hangs on a message,
# also where it has an event behind earlier waits of the stream.
# Timeout: 60
# Light: it waits for the watchdog
set -u
. "$(dirname "$0")/device.inc"
[ -z "$real" ] || { echo 'skip: the stand-ins do'; exit 77; }

: >failed
hangs()
{
    on "$1" env SHMEM_STALL=2 FAKE_DEVICE_COUNT=2 "$BUILD/bin/oshrun" \
        -n 2 "$at/device/watchdog_hang" >"$1" 2>&1 ||
        { echo "FAIL: $1"; cat "$1"; } >>failed
}
devices='cuda-discrete cuda-coherent'
for device in $devices; do
    start hangs "$device"
done
wait
for device in $devices; do
    grep -q 'PE 0 .*: stream .*: shmemx_.* waits for .*S-W-STALL' "$device" ||
        { echo "FAIL: no line on $device:"; cat "$device"; } >>failed
done
finish
