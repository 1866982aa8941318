#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: between nodes device memory goes through pieces of pinned host
# memory, and whatever takes that way keeps its order and its bytes, however
# many use it, on each provider, also where it has no room; a PE that is killed
# meanwhile ends the job.
# Timeout: 150
set -u
. "$(dirname "$0")/device.inc"
: >failed
program=$at/device/off_node

for device in ${real:-cuda-discrete hip-discrete software}; do
    job "$device" -n 2 --ppn 1 "$program" &
done
wait
device=${real:-cuda-discrete}
# More PEs than the target has pieces for, and those of a node beside others.
job "$device" -n 6 --ppn 1 "$program" &
job "$device" -n 4 --ppn 2 "$program" &
wait
for extra in SHMEM_FAULT=ofi.again:0.3:5 SHMEM_OFI_PROVIDER=shm \
    SHMEM_OFI_PROVIDER=sockets; do
    job "$device" -n 2 --ppn 1 "$program" &
done
wait
extra=

# killed WORD: no hang, and the line says who.
killed()
{
    status=0
    on "$device" "$BUILD/bin/oshrun" -n 2 --ppn 1 "$at/device/off_node_killed" \
        "$1" >killed 2>&1 || status=$?
    check [ "$status" -eq 137 ]
    check grep -q 'PE 1 .* was killed by signal 9 .*\[S-E-PEDIED\]' killed
    cat killed
}
killed busy
killed idle
finish
