#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: streams and what is done on them are the same on the stand-ins
# for GPUs' drivers; where a stream can only wait by a kernel that spins, and
# PEs share the device, it is refused.
# Timeout: 150
set -u
. "$(dirname "$0")/../device/device.inc"
all='cuda-discrete hip-discrete hip-coherent'      # the software device: alone
# Handles of streams that are gone are tried, too; a driver of CUDA would crash.
FAKE_DEVICE_DEAD=error
export FAKE_DEVICE_DEAD
each ../st/stream_order
each ../st/onesided
each ../st/barrier_on_stream cuda-discrete
runs='2 4/2'                    # one PE, and each alone, do no call otherwise
each ../st/onesided_all_types cuda-discrete hip-discrete
each ../st/queue_start cuda-discrete
T_SEED=${T_SEED:-1}
export T_SEED
T_SHORT=1
export T_SHORT
runs=2/1
export SHMEM_SYMMETRIC_SIZE=64M         # slots for private memory
for test in match_data match_iteration_order enqueue_send_recv \
    coll_init_results; do
    each ../st/$test cuda-discrete hip-coherent
done
export SHMEM_SYMMETRIC_SIZE=32M
[ -z "$real" ] || finish

extra=FAKE_DEVICE_COUNT=4       # one for each PE
for test in stream_order onesided barrier_on_stream queue_start; do
    job cuda-bare -n 4 "$at/st/$test" &
    job hip-bare -n 2 "$at/st/$test" &
    wait
done
said=$(on cuda-bare "$BUILD/bin/oshrun" -n 2 "$at/st/barrier_on_stream" 2>&1)
check [ -n "$(echo "$said" | grep 'shmemx_barrier_all_on_stream: this device.*2 PEs share')" ]
# HIP's waits are kernels but where the command processor does them.
one=FAKE_DEVICE_COUNT=1
said=$(on hip-discrete env "$one" "$BUILD/bin/oshrun" -n 2 \
    "$at/st/barrier_on_stream" 2>&1)
check [ -n "$(echo "$said" | grep 'shmemx_barrier_all_on_stream: this device.*2 PEs share')" ]
extra="$one GPU_STREAMOPS_CP_WAIT=1 FAKE_DEVICE_WAITS=processor"
job hip-discrete -n 2 "$at/st/barrier_on_stream"
# In coarse-grained memory a thread waits in place of a kernel.
extra=SHMEM_DEVICE_GRAIN=coarse
job hip-discrete -n 2 "$at/st/onesided"
job hip-discrete -n 2 --ppn 1 "$at/st/onesided"
finish
