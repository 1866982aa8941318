#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: a wait for device memory that lasts says so, and what it says of
# a word or a lock there is read by the device, or not at all.
# Timeout: 60
set -u
. "$(dirname "$0")/device.inc"
SHMEM_STALL=1
export SHMEM_STALL
: >failed

# told REGEX
told()
{
    check grep -qE "$1.* \[S-W-STALL\]" said
}

# stalled DEVICE WORDS...
stalled()
{
    device=$1
    shift
    on "$device" "$BUILD/bin/oshrun" -n 3 "$@" "$at/device/stall" >said 2>&1
    check [ $? -eq 0 ]
    told 'shmem_uint64_wait_until waits for 1 s for .* to be == 7 at device heap\+0x0'
    told 'shmem_uint64_wait_until_all waits for 1 s for 3 values .* at device heap\+0x0'
    told 'shmem_set_lock waits for 1 s for the lock at device heap\+0x40'
    cat said
}

for device in ${real:-cuda-discrete cuda-bare}; do
    stalled "$device"
    told 'the lock at device heap.*, held by PE [0-2] \(this node'
    stalled "$device" --ppn 1
done
finish
