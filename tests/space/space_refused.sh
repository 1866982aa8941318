#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: a space that cannot be had is told of in one line that names the
# cause and the variable: unequal arguments, no room, a device switched off
# or absent, or too small.
# Timeout: 60
set -u
: "${BUILD:?the build directory}"
unset SHMEM_DEVICE SHMEM_CHECK
failures=0
cat >told.c <<'END'
#include <errno.h>
#include <shmem.h>
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv)
{
    shmem_space_config_t config = { SHMEM_DEVICE_CPU, 1 << 20, 0 };
    shmem_space_t s;
    int rc = 0, i;

    shmem_init();
    if (argc < 2)
        return 2;
    switch (argv[1][0]) {
    case 'u':                           /* unequal */
        config.size <<= shmem_my_pe() ? 0 : 3;
        shmem_space_create(&config, &s, NULL);
        break;
    case 'f':                           /* full */
        config.size = 600 << 20;
        rc = shmem_space_create(&config, &s, NULL) != -ENOMEM;
        break;
    case 'm':                           /* many */
        config.size = 4096;
        for (i = 0; i < 257 && !rc; i++)
            rc = shmem_space_create(&config, &s, NULL);
        rc = rc != -ENOMEM;
        break;
    case 'o':                           /* off */
        for (i = 0; i < 3; i++)
            rc |= shmem_space_malloc(SHMEM_SPACE_DEVICE, 64) != NULL;
        config.device_type = SHMEM_DEVICE_GPU;
        rc |= shmem_space_create(&config, &s, NULL) != -ENODEV;
        break;
    case 'd':                           /* device memory */
        rc = shmem_space_malloc(SHMEM_SPACE_DEVICE, 64 << 20) != NULL;
        break;
    case 'g':                           /* more of it than a heap's default */
        rc = shmem_space_malloc(SHMEM_SPACE_DEVICE, 1 << 30) != NULL;
        break;
    case 'i':                           /* is it there? */
        rc = shmemx_space_usable(SHMEM_SPACE_GPU) |
             shmemx_space_usable(SHMEM_SPACE_GPU);
    }
    shmem_finalize();
    return rc;
}
END
"$BUILD/bin/oshcc" -std=c99 -o told told.c || exit 1

# says STATUS REGEX VARIABLE=VALUE... -- WORD: one line of two PEs, or $lines
lines=1
says()
{
    status=$1 want=$2
    shift 2
    echo "-- $*" >&2
    timeout -k 5 60 env "$@" >out 2>err
    rc=$?
    cat err >&2
    if [ $rc -ne "$status" ] || [ "$(wc -l <err)" -ne $lines ] ||
        ! grep -qE -e "$want" err; then
        echo "FAIL ($rc): $*: $want" >&2
        failures=$((failures + 1))
    fi
}
run="$BUILD/bin/oshrun"
says 1 'shmem_space_create: .* passed size .*\[S-E-HEAPARG\]' \
    "$run" -n 2 ./told u
says 0 'shmem_space_create: the symmetric heap is full: asked 600 MiB from a multiple of 2 MiB on, used .* of .*; raise SHMEM_SYMMETRIC_SIZE \[S-W-HEAP\]' \
    SHMEM_SYMMETRIC_SIZE=64m "$run" -n 2 ./told f
says 0 'asked 4.0 KiB from a multiple of 2 MiB on, .*SHMEM_SYMMETRIC_SIZE \[S-W-HEAP\]' \
    SHMEM_SYMMETRIC_SIZE=64m "$run" -n 2 ./told m
says 0 'switched off by SHMEM_DEVICE=none \[S-W-DEVICE\]' \
    SHMEM_DEVICE=none "$run" -n 2 ./told o
says 0 'switched off by SHMEM_ENABLE_GPU_SPACE \[S-W-DEVICE\]' \
    SHMEM_ENABLE_GPU_SPACE=0 "$run" -n 2 ./told o
# Heaps of host memory that the machine cannot hold.
says 0 'device heaps of 900 GiB for 2 PEs take .* of the host.s memory, but .*: set a smaller SHMEM_DEVICE_SYMMETRIC_SIZE \[S-W-DEVICE\]' \
    SHMEM_DEVICE=software SHMEM_DEVICE_MEMORY=950g \
    SHMEM_DEVICE_SYMMETRIC_SIZE=900g "$run" -n 2 ./told d
# The bound of the software device: of a heap nobody sized, and of one.
says 0 'full: asked 64.0 MiB, .*; raise SHMEM_DEVICE_MEMORY \(32.0 MiB\) \[S-W-HEAP\]' \
    SHMEM_DEVICE=software SHMEM_DEVICE_MEMORY=32m "$run" -n 2 ./told d
says 0 'full: asked 1.0 GiB, .*; raise SHMEM_DEVICE_SYMMETRIC_SIZE and SHMEM_DEVICE_MEMORY \(32.0 MiB\) \[S-W-HEAP\]' \
    SHMEM_DEVICE=software SHMEM_DEVICE_MEMORY=32m "$run" -n 2 ./told g
says 0 'raise SHMEM_DEVICE_SYMMETRIC_SIZE and SHMEM_DEVICE_MEMORY \(32.0 MiB\)' \
    SHMEM_DEVICE=software SHMEM_DEVICE_MEMORY=32m SHMEM_DEVICE_SYMMETRIC_SIZE=16m \
    "$run" -n 2 ./told d
says 0 'a device heap of 128 MiB is more .*: raise SHMEM_DEVICE_MEMORY \(32.0 MiB\) or set a smaller SHMEM_DEVICE_SYMMETRIC_SIZE' \
    SHMEM_DEVICE=software SHMEM_DEVICE_MEMORY=32m \
    SHMEM_DEVICE_SYMMETRIC_SIZE=128m "$run" -n 2 ./told d
# A driver that is not there: the program may go on, unless it cannot start.
says 0 '^sluice: .*SHMEM_DEVICE=hip: .*\[S-W-DEVICE\]' \
    HIP_VISIBLE_DEVICES=-1 SHMEM_DEVICE=hip "$run" -n 2 ./told i
lines=2
says 1 'the device, which SHMEM_ENABLE_DEVICE_AWARENESS wants at start, cannot be had \[S-E-DEVICE\]' \
    HIP_VISIBLE_DEVICES=-1 SHMEM_DEVICE=hip SHMEM_ENABLE_DEVICE_AWARENESS=1 \
    "$run" -n 2 ./told i
says 1 'SHMEM_ENABLE_CPU_SPACE \[S-E-DEVICE\]' \
    HIP_VISIBLE_DEVICES=-1 SHMEM_DEVICE=hip SHMEM_DEFAULT_SPACE=gpu \
    "$run" -n 2 ./told i
[ $failures -eq 0 ]
