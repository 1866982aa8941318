#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: on CXI the progress thread sleeps while its owner communicates,
# and answers in time when that one computes; a device gets its part of a get,
# too.
# Timeout: 60
# Light: it waits for a thread that sleeps
set -u
. "$(dirname "$0")/fake.inc"
SHMEM_OFI_PROVIDER=cxi
export SHMEM_OFI_PROVIDER
pes() # VARIABLE...
{
    # shellcheck disable=SC2086
    env "$@" timeout -k 5 50 "$BUILD/bin/oshrun" -n 2 --ppn 1 \
        "$BUILD/obj/tests/unit/ofi_wakes" $words >out 2>&1
    check [ $? -eq 0 ]
    cat out
}
words=
pes SHMEM_SYMMETRIC_SIZE=64m
words=device
pes SHMEM_SYMMETRIC_SIZE=64m SHMEM_DEVICE=cuda FAKE_DEVICE=discrete \
    SHMEM_DEVICE_SYMMETRIC_SIZE=16m LD_LIBRARY_PATH="$fake/cuda:$fake/nvrtc"
finish /dev/null
