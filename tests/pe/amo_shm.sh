#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: atomics of the provider shm lose no update and write into no
# message, where they are asked for.
# Timeout: 60
set -u
: "${BUILD:?the build directory}"
env SHMEM_OFI_PROVIDER=shm SHMEM_OFI_AMO=nic SHMEM_LOG=info:ofi \
    "$BUILD/bin/oshrun" -n 4 --ppn 2 "$BUILD/obj/tests/pe/amo_mixed" \
    >said 2>&1 || { head -n 20 said; exit 1; }
grep -q 'atomics by the provider' said || { cat said; exit 1; }
