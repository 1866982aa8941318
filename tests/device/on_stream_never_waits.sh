#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: no call on a stream, not even the first, and no end of a trigger
# or a partitioned message waits for the device, allocates, pins or frees memory
# there, loads anything, or runs a kernel for the first time.
# Timeout: 60
set -u
. "$(dirname "$0")/device.inc"
[ -z "$real" ] || { echo 'skip: only stand-ins tell what they are called for'; exit 77; }

FI_PROVIDER_PATH=$at/fake/cxi
export FI_PROVIDER_PATH
: >failed
for device in cuda-discrete cuda-coherent cuda-bare hip-discrete hip-bare \
    hip-coherent; do
    for far in '' '--ppn 1' nic; do
        # There both PEs would be on one device, whose streams may not wait.
        [ "${device#*-}$far" != 'bare--ppn 1' ] || continue
        [ "${device#*-}$far" != barenic ] || continue
        rm -f log
        extra=
        [ "${device#*-}" != bare ] || extra=FAKE_DEVICE_COUNT=2
        FAKE_DEVICE_LOG=$PWD/log
        export FAKE_DEVICE_LOG
        if [ "$far" = nic ]; then
            far='--ppn 1'
            extra=SHMEM_OFI_PROVIDER=cxi
        fi
        # shellcheck disable=SC2086
        check job "$device" -n 2 $far "$at/device/on_stream_never_waits"
        check [ "$(grep -c ' BEGIN$' log)" -eq 2 ]
        awk '$2 == "BEGIN" { on[$1] = 1; next }
             $2 == "END" { on[$1] = 0 }
             on[$1] { $1 = ""; print }' log >calls
        check [ -s calls ]
        if grep -E 'Alloc|Malloc|Free|ModuleLoad|ModuleGet|Register|Create|Destroy' calls ||
            grep -E 'Sync|Ipc|Retain|Init|Peer|first|waits' calls; then
            echo "FAIL: $device $far: calls of the driver that take their time"
            failures=$((failures + 1))
        fi
    done
done
finish
