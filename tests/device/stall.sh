#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: a wait for device memory that lasts says so, and what it says of
# a word or a lock there is read by the device, or not at all.
# Light: it waits for what SHMEM_STALL says
# Timeout: 60
set -u
. "$(dirname "$0")/device.inc"
SHMEM_STALL=1
export SHMEM_STALL
: >failed

# reported FILE REGEX
reported()
{
    check grep -qE "$2.* \[S-W-STALL\]" "$1"
}

# stalled FILE DEVICE WORDS...
stalled()
{
    file=$1 device=$2
    shift 2
    on "$device" "$BUILD/bin/oshrun" -n 3 "$@" "$at/device/stall" \
        >"$file" 2>&1 || echo "exit status $?" >>"$file"
}

for device in ${real:-cuda-discrete cuda-bare}; do
    stalled near "$device" &
    stalled far "$device" --ppn 1
    wait
    for said in near far; do
        reported $said 'shmem_uint64_wait_until waits for [1-4] s for .* to be == 7 at device heap\+0x0'
        reported $said 'shmem_uint64_wait_until_all waits for [1-4] s for 3 values .* at device heap\+0x0'
        reported $said 'shmem_set_lock waits for [1-4] s for the lock at device heap\+0x40'
        check [ -z "$(grep 'exit status' $said)" ]
        cat $said
    done
    reported near 'the lock at device heap.*, held by PE [0-2] \(this node'
done
finish
