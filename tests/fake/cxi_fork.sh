#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: where the kernel takes from a forked child what a NIC of
# Slingshot maps, that is nothing of the program's or of malloc's.
# Timeout: 60
set -u
. "$(dirname "$0")/fake.inc"
unset SHMEM_TRIGGER SHMEM_TRIGGER_DEPTH
SHMEM_OFI_PROVIDER=cxi
FAKE_CXI_FORK=1
export SHMEM_OFI_PROVIDER FAKE_CXI_FORK
# forked VARIABLE...: in far PEs
forked()
{
    env "$@" timeout -k 5 50 "$BUILD/bin/oshrun" -n 2 --ppn 1 \
        "$BUILD/obj/tests/st/fork_after_streams" >out 2>&1
    check [ $? -eq 0 ]
    cat out
}
forked SHMEM_SYMMETRIC_SIZE=64m SHMEM_DEVICE=software
forked SHMEM_SYMMETRIC_SIZE=64m SHMEM_DEVICE=software FAKE_CXI_ERRORS_COUNT=1
finish /dev/null
