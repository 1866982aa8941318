#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: operations on device memory do the same with checked calls, with
# a network that has atomics of its own, with each algorithm of collectives,
# with device memory that one PE cannot share; and a device that has no memory
# for a heap is reported.
# Timeout: 120
set -u
. "$(dirname "$0")/device.inc"
[ -z "$real" ] || { echo 'skip: for stand-ins'; exit 77; }
: >failed

# with DEVICE PROGRAM VARIABLE=VALUE... WORDS...
with()
{
    device=$1 program=$2
    shift 2
    extra=
    while [ "${1#*=}" != "$1" ]; do
        extra="$extra $1"
        shift
    done
    start job "$device" "$@" "$at/$program"
}

for program in pe/rma_sized pe/amo pe/signal pe/wait pe/lock coll/move \
    coll/reduce coll/active_sets device/heap_blocks; do
    with cuda-discrete $program SHMEM_CHECK=1 -n 3
done
for program in coll/move coll/reduce coll/active_sets; do
    with hip-coherent $program SHMEM_CHECK=1 -n 3
done

# Atomics of the NIC beside those of kernels, and on pinned memory.
ln -s "$at/fake/cxi" cxi
cxi='FI_PROVIDER_PATH=cxi SHMEM_OFI_PROVIDER=cxi'
# shellcheck disable=SC2086
for program in pe/amo pe/signal pe/wait pe/lock; do
    with cuda-discrete $program $cxi -n 4 --ppn 2
    with cuda-bare $program $cxi -n 4 --ppn 2
    with hip-coherent $program $cxi -n 4 --ppn 2
done
with cuda-discrete pe/amo SHMEM_OFI_AMO=message -n 4 --ppn 2

# ways BROADCAST COLLECT FCOLLECT ALLTOALL REDUCE SCAN: each word of each variable
# is in a row.
pes='-n 3'
ways()
{
    for program in coll/move coll/reduce coll/active_sets; do
        # shellcheck disable=SC2086
        with cuda-discrete $program "SHMEM_COLL_BROADCAST=$1" \
            "SHMEM_COLL_COLLECT=$2" "SHMEM_COLL_FCOLLECT=$3" \
            "SHMEM_COLL_ALLTOALL=$4" "SHMEM_COLL_REDUCE=$5" \
            "SHMEM_COLL_SCAN=$6" $pes
    done
}
ways pipeline ring bruck bruck ring doubling
ways binomial push ring pairwise doubling pull
ways push pull push pull split doubling
ways pull push pull push pull pull
pes='-n 4 --ppn 2'
ways nodes nodes nodes pull nodes doubling
ways scatter bruck ring bruck halving pull
ways scatter pull push pairwise ring doubling

# All symmetric memory that the program does not name is the device's.
for program in pe/rma_sized coll/move coll/reduce coll/active_sets; do
    with cuda-discrete $program SHMEM_DEFAULT_SPACE=GPU -n 2
done
with cuda-discrete device/heap_blocks SHMEM_DEVICE_SYMMETRIC_SIZE= -n 2
wait
extra=

# fault SITE PROGRAM: on the second of three PEs.
fault()
{
    SITE=$1 on cuda-discrete "$BUILD/bin/oshrun" -n 3 sh -c '
        [ "$SLUICE_JOB_PE" -ne 1 ] || export SHMEM_FAULT="$SITE:1:1"
        exec "$0"' "$at/$2" >said 2>&1
}
fault heap.export device/heap_blocks
check [ $? -eq 0 ]
check grep -q ' PE 1 (.*): device memory cannot be shared between .*\[S-W-DEVICE\]' said
check [ "$(grep -c ' PE [02] .*cannot be shared' said)" -eq 0 ]
fault heap.device pe/amo
check [ $? -ne 0 ]
check grep -q 'a device heap of 16.0 MiB: .*; of the 1.0 GiB of Fake .* are used and .* free: set a smaller SHMEM_DEVICE_SYMMETRIC_SIZE.*\[S-W-DEVICE\]' said
cat said
finish
