#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: a PE tells its device of the host memory of those PEs only that
# its streams put to, so that the registrations of a node grow with its PEs and
# not with their square; and a device that does not take a peer's leaves it to
# the progress thread.
# Timeout: 60
set -u
. "$(dirname "$0")/device.inc"
[ -z "$real" ] || { echo 'skip: only stand-ins tell what they are called for'; exit 77; }

# pins DEVICE N: registrations of N PEs.
pins()
{
    rm -f "log.$1.$2"
    extra=FAKE_DEVICE_LOG=$PWD/log.$1.$2 job "$1" -n "$2" \
        "$at/device/host_registrations"
    grep -c 'HostRegister' "log.$1.$2"
}

for device in cuda-discrete hip-discrete; do
    two=$(pins $device 2) four=$(pins $device 4)
    echo "$device: $two registrations of 2 PEs, $four of 4"
    check [ "$four" -eq $((2 * two)) ]
done
extra=
job cuda-discrete -n 2 "$at/device/host_registrations" refused
finish
