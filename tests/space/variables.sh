#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: each variable of the spaces does what it says, alone and beside
# others, and what cannot be is refused at start with its cause.
# Timeout: 60
set -u
: "${BUILD:?the build directory}"
unset SHMEM_DEVICE
failures=0

check()
{
    if ! "$@"; then
        echo "FAIL: $*" >&2
        failures=$((failures + 1))
    fi
}

cat >report_request.c <<'END'
#include <shmemg.h>
#include <stdio.h>
#include <stdlib.h>
/* ask SIZE: what there is, and whether blocks of that size may be had. */
int main(int argc, char **argv)
{
    size_t size = argc > 1 ? strtoull(argv[1], NULL, 0) : 64;
    int aware, provided = 0, bad;

    if (argc > 2)
        shmem_init_thread((int)strtol(argv[2], NULL, 0), &provided);
    else
        shmem_init();
    aware = argc > 3 && shmem_query_device_awareness();
    bad = (SHMEM_TEAM_GPU == SHMEM_TEAM_INVALID) !=
          (SHMEM_SPACE_GPU == SHMEM_SPACE_INVALID);
    bad += (SHMEM_TEAM_CPU == SHMEM_TEAM_INVALID) !=
           (SHMEM_SPACE_CPU == SHMEM_SPACE_INVALID);
    if (shmem_my_pe() == 0)
        printf("default %s cpu %d gpu %d aware %d provided %d:",
               SHMEM_SPACE_DEFAULT == SHMEM_SPACE_CPU ? "cpu" : "gpu",
               SHMEM_SPACE_CPU != SHMEM_SPACE_INVALID,
               SHMEM_SPACE_GPU != SHMEM_SPACE_INVALID, aware, provided);
    fflush(stdout);
    size = (size_t)(shmem_space_malloc(SHMEM_SPACE_CPU, size) != NULL) |
           (size_t)(shmem_space_malloc(SHMEM_SPACE_GPU, size) != NULL) << 1 |
           (size_t)(shmem_malloc(1) != NULL) << 2;
    if (shmem_my_pe() == 0)
        printf(" cpu %s gpu %s malloc %s\n", size & 1 ? "yes" : "no",
               size & 2 ? "yes" : "no", size & 4 ? "yes" : "no");
    shmem_finalize();
    return bad;
}
END
"$BUILD/bin/oshcc" -std=c99 -o ask report_request.c || exit 1

# ask WORD=VALUE... ARGUMENT...: on two PEs, to out and err
ask()
{
    echo "-- $*" >&2
    timeout -k 5 60 env "$@" >out 2>err
    status=$?
    cat out err >&2
    return $status
}
# asked TEXT WORD=VALUE... ARGUMENT...
asked()
{
    text=$1
    shift
    check ask "$@"
    check grep -qx "default $text" out
}
# refused TEXT WORD=VALUE... ARGUMENT...
refused()
{
    text=$1
    shift
    if ask "$@"; then
        check false
    fi
    check grep -q "^sluice: .*$text" err
}
quiet() { check [ ! -s err ]; }
# off VARIABLE: the line says so, and is the only one.
off()
{
    check grep -q "device is switched off by $1 \[S-W-DEVICE\]" err
    check [ "$(grep -c . err)" -eq 1 ]
}
PATH=$BUILD/bin:$PATH
run='oshrun -n 2 ./ask'
m3=3145728 m5=5242880

# --- Sizes: a block of 3 MiB fits a heap of 4, one of 5 does not. ---
for name in SHMEM_DEVICE_SYMMETRIC_SIZE SHMEM_SYMMETRIC_SIZE_DEVICE \
    SHMEM_SPACE_GPU_SYMMETRIC_SIZE SHMEM_GPU_SYMMETRIC_SIZE; do
    asked 'cpu cpu 1 gpu 1 .* gpu yes malloc yes' $name=4m $run $m3
    quiet
    asked 'cpu cpu 1 gpu 1 .* cpu yes gpu no malloc yes' $name=4m $run $m5
    check grep -q "heap in device memory is full: .* raise $name \[S-W-HEAP\]" err
done
for name in SHMEM_SPACE_CPU_SYMMETRIC_SIZE SHMEM_CPU_SYMMETRIC_SIZE \
    SHMEM_SYMMETRIC_SIZE SMA_SYMMETRIC_SIZE; do
    asked '.* cpu yes gpu yes malloc yes' $name=4m $run $m3
    quiet
    asked '.* cpu no gpu yes malloc yes' $name=4m $run $m5
    check grep -q "raise S.*_SYMMETRIC_SIZE \[S-W-HEAP\]" err
done

# --- Two names at once: the first of the list counts; equal ones are silent. ---
asked '.* gpu yes .*' SHMEM_SYMMETRIC_SIZE_DEVICE=2m \
    SHMEM_DEVICE_SYMMETRIC_SIZE=4m $run $m3
check grep -q 'SHMEM_DEVICE_SYMMETRIC_SIZE and SHMEM_SYMMETRIC_SIZE_DEVICE differ: the former counts \[S-W-ENV\]' err
check [ "$(grep -c . err)" -eq 1 ]
asked '.* gpu yes .*' SHMEM_GPU_SYMMETRIC_SIZE=4m \
    SHMEM_SPACE_GPU_SYMMETRIC_SIZE=4m $run $m3
quiet
asked '.* cpu no .*' SHMEM_SYMMETRIC_SIZE=8m SHMEM_CPU_SYMMETRIC_SIZE=4m $run $m5
check grep -q 'SHMEM_CPU_SYMMETRIC_SIZE and SHMEM_SYMMETRIC_SIZE differ' err
asked 'cpu cpu 1 gpu 0 .* gpu no .*' SHMEM_ENABLE_GPU_SPACE=1 \
    SHMEM_ENABLE_SPACE_GPU=0 $run
check grep -q 'SHMEM_ENABLE_SPACE_GPU and SHMEM_ENABLE_GPU_SPACE differ' err
refused 'SHMEM_GPU_SYMMETRIC_SIZE is "12x"' SHMEM_GPU_SYMMETRIC_SIZE=12x $run

# --- Which spaces there are, and which shmem_malloc takes ---
asked 'cpu cpu 1 gpu 1 .* cpu yes gpu yes malloc yes' SHMEM_ENABLE_GPU_SPACE=1 $run
asked 'cpu cpu 1 gpu 0 .* cpu yes gpu no malloc yes' SHMEM_ENABLE_GPU_SPACE=0 $run
off SHMEM_ENABLE_GPU_SPACE
asked 'cpu cpu 1 gpu 0 .* cpu yes gpu no malloc yes' SHMEM_ENABLE_SPACE_GPU=0 $run
off SHMEM_ENABLE_SPACE_GPU
asked 'cpu cpu 1 gpu 0 .* cpu yes gpu no malloc yes' SHMEM_DEVICE=none $run
off SHMEM_DEVICE=none
asked 'gpu cpu 1 gpu 1 .* cpu yes gpu yes malloc yes' SHMEM_DEFAULT_SPACE=GPU $run
asked 'gpu cpu 0 gpu 1 .* cpu no gpu yes malloc yes' SHMEM_ENABLE_CPU_SPACE=0 $run
asked 'gpu cpu 0 gpu 1 .* cpu no gpu yes malloc yes' SHMEM_ENABLE_SPACE_CPU=no $run
quiet
refused 'no memory space is left: .* SHMEM_ENABLE_GPU_SPACE \[S-E-ENV\]' \
    SHMEM_ENABLE_CPU_SPACE=0 SHMEM_ENABLE_GPU_SPACE=0 $run
refused 'no memory space is left: .* SHMEM_DEVICE=none \[S-E-ENV\]' \
    SHMEM_ENABLE_CPU_SPACE=0 SHMEM_DEVICE=none $run
refused 'SHMEM_DEFAULT_SPACE is gpu, but SHMEM_DEVICE=none switches' \
    SHMEM_DEFAULT_SPACE=gpu SHMEM_DEVICE=none $run
refused 'SHMEM_DEFAULT_SPACE is "disk": want one of cpu|gpu' \
    SHMEM_DEFAULT_SPACE=disk $run

# --- A device that cannot be had: no reason to end, but for the default. ---
asked 'cpu cpu 1 gpu 0 .* cpu yes gpu no malloc yes' \
    SHMEM_DEVICE_SYMMETRIC_SIZE=900t $run
check grep -q 'device heaps\? of 900 TiB .*set a smaller SHMEM_DEVICE_SYMMETRIC_SIZE.*\[S-W-DEVICE\]' err
refused 'device heaps\? of 900 TiB.*SHMEM_GPU_SYMMETRIC_SIZE' \
    SHMEM_GPU_SYMMETRIC_SIZE=900t SHMEM_DEFAULT_SPACE=gpu $run
check grep -q 'shmem_malloc is to take device memory' err

# --- What SHMEM_INFO shows ---
check ask SHMEM_INFO=1 $run
check grep -qE '^device: [^(]+$' out
check grep -qx 'device heap: made when it is first used' out
check ask SHMEM_INFO=1 SHMEM_GPU_SYMMETRIC_SIZE=4m $run
check grep -q '^device heap: 4.0 MiB (4194304 bytes) for each PE, on ' out
check grep -q '^SHMEM_DEVICE_SYMMETRIC_SIZE *auto ' out
check ask SHMEM_INFO=1 SHMEM_DEVICE=software $run
check grep -qE '^device: software device of [0-9]+ cores?$' out
check ask SHMEM_INFO=1 SHMEM_DEVICE=none $run
check grep -qx 'device: none (SHMEM_DEVICE=none)' out
check grep -qx 'device heap: none' out

# --- Bits of shmem_init_thread: 16 host, 32 kernels ---
asked '.* aware 1 provided 19: .* gpu yes .*' $run 64 19 aware
asked '.* aware 1 provided 33: .* gpu yes .*' $run 64 33 aware
asked '.* aware 0 provided 2: .* gpu no .*' SHMEM_DEVICE=none $run 64 18 aware
asked '.* aware 0 provided 3: .*' SHMEM_ENABLE_DEVICE_AWARENESS=0 $run 64 3 aware
asked '.* aware 1 provided 3: .*' SHMEM_ENABLE_DEVICE_AWARENESS=1 $run 64 3 aware

# --- What differs between PEs ---
differ()
{
    refused "not all PEs have the same $1" oshrun -n 2 sh -c \
        "[ \$SLUICE_JOB_PE = 0 ] || export $2; exec ./ask"
}
differ SHMEM_DEFAULT_SPACE SHMEM_DEFAULT_SPACE=gpu
differ SHMEM_ENABLE_CPU_SPACE SHMEM_ENABLE_CPU_SPACE=0
differ SHMEM_ENABLE_GPU_SPACE SHMEM_ENABLE_GPU_SPACE=1
differ SHMEM_ENABLE_GPU_SPACE SHMEM_DEVICE=none
differ SHMEM_DEVICE_SYMMETRIC_SIZE SHMEM_GPU_SYMMETRIC_SIZE=4m
[ "$failures" -eq 0 ]
