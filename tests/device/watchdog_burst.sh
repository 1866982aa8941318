#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: the watchdog reports no wait that is over, also where nothing
# follows a burst of them and their flags do not tell; of the last one of a
# burst, which is not over, it does.
# Light: it waits for what SHMEM_STALL says
# Timeout: 60
set -u
. "$(dirname "$0")/device.inc"
[ -z "$real" ] || { echo 'skip: the stand-ins do'; exit 77; }

# waits DEVICE WORD...: what is said of waits then
waits()
{
    device=$1
    shift
    on "$device" env SHMEM_STALL=2 "$BUILD/bin/oshrun" -n 1 \
        "$at/device/watchdog_burst" "$@" >"said.$device$*" 2>&1 ||
        echo "FAIL: $device $*" >>failed
    grep 'S-W-STALL' "said.$device$*" >"waits.$device$*"
}

devices='cuda-discrete hip-discrete'
for device in $devices; do
    waits "$device" &
    waits "$device" hangs &
done
wait
for device in $devices; do
    check [ ! -s "waits.$device" ]
    check grep -q 'wait_until_on_stream waits for .* to be >= 1 at device heap+0x40' "waits.${device}hangs"
    check [ -z "$(grep -v 'device heap+0x40\|went on' "waits.${device}hangs")" ]
    cat "waits.$device" "waits.${device}hangs"
done
finish
