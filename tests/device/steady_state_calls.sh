#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: once a program has used device memory, no put, get, atomic,
# signal, wait or reduction there allocates, pins, opens or loads anything, or
# runs a kernel for the first time; nothing at all is asked of the driver where
# the processor may do it.
# Timeout: 60
set -u
. "$(dirname "$0")/device.inc"
[ -z "$real" ] || { echo 'skip: only stand-ins tell what they are called for'; exit 77; }

# between FILE: what each PE's driver was called for meanwhile.
between()
{
    awk '$2 == "BEGIN" { on[$1] = 1; next }
         $2 == "END" { on[$1] = 0 }
         on[$1] { $1 = ""; print }' "$1"
}

: >failed
for device in cuda-discrete cuda-coherent cuda-bare hip-discrete hip-bare \
    hip-coherent; do
    for far in '' '--ppn 1'; do
        rm -f log
        FAKE_DEVICE_LOG=$PWD/log
        export FAKE_DEVICE_LOG
        # shellcheck disable=SC2086
        check job "$device" -n 2 $far "$at/device/steady_state_calls"
        check [ "$(grep -c ' BEGIN$' log)" -eq 2 ]
        between log >calls
        case $device in
            *-discrete) check grep -q 'LaunchKernel' calls ;;
            *-bare | hip-coherent) check [ ! -s calls ] ;;
        esac
        if grep -E 'Alloc|Malloc|Free|ModuleLoad|ModuleGet|Register|Create' \
            calls || grep -E 'Destroy|Ipc|Retain|Init|Peer|first' calls; then
            echo "FAIL: $device $far: calls of the driver that take their time"
            failures=$((failures + 1))
        fi
    done
done
finish
