#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: on CXI the progress thread sleeps while its owner communicates,
# and answers in time when that one computes.
# Timeout: 60
set -u
. "$(dirname "$0")/fake.inc"
SHMEM_OFI_PROVIDER=cxi
export SHMEM_OFI_PROVIDER
pes() # VARIABLE...
{
    env "$@" timeout -k 5 50 "$BUILD/bin/oshrun" -n 2 --ppn 1 \
        "$BUILD/obj/tests/unit/ofi_wakes" >out 2>&1
    check [ $? -eq 0 ]
    cat out
}
pes SHMEM_SYMMETRIC_SIZE=64m
finish /dev/null
